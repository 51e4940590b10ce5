package table

import (
	"path"
	"strconv"
	"strings"
	"unicode"

	"atelier/action/file"
)

// names assigns tables names that are SQL identifiers and unique without regard to case.
type names map[string]bool

// of returns the name of a table, from the path of its file and its sheet. If the file's name is taken, it adds the
// folders before it.
func (n names) of(file, sheet string) string {
	base := strings.TrimSuffix(path.Base(file), path.Ext(file))
	name := identifier(join(base, sheet))
	if n[strings.ToLower(name)] && path.Dir(file) != "." {
		name = identifier(join(strings.ReplaceAll(path.Dir(file), "/", "_")+"_"+base, sheet))
	}
	return n.unique(name)
}

// unique adds a number to a name that is taken.
func (n names) unique(name string) string {
	base := name
	for i := 2; n[strings.ToLower(name)]; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	n[strings.ToLower(name)] = true
	return name
}

func join(base, sheet string) string {
	if sheet == "" {
		return base
	}
	return base + "_" + sheet
}

// identifier writes a name with letters, digits and single underscores.
func identifier(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('_')
		}
		gap = false
		b.WriteRune(r)
	}
	name := file.Clip(b.String(), 60)
	name = strings.TrimSuffix(name, "…")
	switch {
	case name == "":
		return "table_1"
	case name[0] >= '0' && name[0] <= '9' || strings.HasPrefix(strings.ToLower(name), "sqlite_"):
		return "t_" + name
	case keywords[strings.ToUpper(name)]:
		return name + "_table"
	}
	return name
}

// keywords are SQL keywords that are likely names of files.
var keywords = wordSet(`ADD ALL ALTER ANALYZE AND AS ASC BETWEEN BY CASE CHECK COLUMN COMMIT CREATE CROSS CURRENT DEFAULT DELETE DESC
	DISTINCT DROP EACH ELSE END ESCAPE EXCEPT EXISTS FILTER FOR FROM FULL GROUP GROUPS HAVING IF IN INDEX INNER INSERT
	INTERSECT INTO IS JOIN KEY LEFT LIKE LIMIT MATCH NOT NOTHING NULL OF OFFSET ON OR ORDER OTHERS OUTER OVER
	PARTITION PLAN PRIMARY RANGE REFERENCES REPLACE RIGHT ROW ROWS SELECT SET TABLE TEMP THEN TO TRANSACTION TRIGGER UNION
	UNIQUE UPDATE USING VALUES VIEW VIRTUAL WHEN WHERE WINDOW WITH WITHOUT`)

// quote quotes a name for SQL.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
