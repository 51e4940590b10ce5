package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// fits is how many rows of a table are read as they are; larger ones are summed up.
const fits = 1000

// schema is what Describe Database says.
type schema struct {
	Engine string    `json:"engine"`
	Tables []dbTable `json:"tables"`
}

type dbTable struct {
	Name       string     `json:"name"`
	Kind       string     `json:"kind"`
	RowCount   *int64     `json:"rowCount"`
	Columns    []dbColumn `json:"columns"`
	References []string   `json:"references"`
}

type dbColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Key  bool   `json:"key"`
}

// rows is how many rows the table has, or else was read.
func (t dbTable) rows(read int64) int64 {
	if t.RowCount != nil {
		return *t.RowCount
	}
	return read
}

// choose ranks tables: what the task names, then those with numbers, then large ones.
func (s schema) choose(task string) []dbTable {
	want := words(task)
	score := func(t dbTable) int {
		n := 0
		text := t.Name
		for _, c := range t.Columns {
			text += " " + c.Name
			if c.numeric() && !c.Key {
				n += 2
			}
		}
		for _, w := range unique(words(human(text))) {
			if slices.Contains(want, w) {
				n += 10
			}
		}
		if t.RowCount != nil && *t.RowCount > 20 {
			n += 3
		}
		return n
	}
	out := slices.DeleteFunc(slices.Clone(s.Tables), func(t dbTable) bool {
		return len(t.Columns) == 0 || t.RowCount != nil && *t.RowCount == 0 || s.isLookup(t)
	})
	slices.SortStableFunc(out, func(a, b dbTable) int { return cmp.Compare(score(b), score(a)) })
	return out[:min(mostTables, len(out))]
}

// isLookup tells a table that only names what others refer to.
func (s schema) isLookup(t dbTable) bool {
	if _, ok := t.measure(); ok {
		return false
	}
	return slices.ContainsFunc(s.Tables, func(o dbTable) bool {
		return slices.ContainsFunc(o.References, func(r string) bool { return strings.Contains(r, " → "+t.Name+"(") })
	})
}

// query reads a small table and sums up a large one: its measure over time and by a
// group, as far as it has them.
func (s schema) query(t dbTable) string {
	from := quote(t.Name) + " AS t"
	if t.RowCount != nil && *t.RowCount <= fits {
		return "SELECT t.* FROM " + from
	}
	measure, ok := t.measure()
	if !ok {
		return fmt.Sprintf("SELECT t.* FROM %s LIMIT %d", from, fits)
	}
	how := "sum"
	if rateLike(measure) {
		how = "avg"
	}
	value := fmt.Sprintf("%s(t.%s) AS %s", how, quote(measure), quote(measure))
	group, join := s.group(t)
	if date, ok := t.date(); ok {
		parts := []string{s.year(date) + " AS year"}
		if group != "" {
			parts = append(parts, group)
		}
		return fmt.Sprintf("SELECT %s, %s FROM %s%s GROUP BY %s ORDER BY 1 LIMIT %d", strings.Join(parts, ", "), value, from, join, ordinals(len(parts)), fits)
	}
	if group != "" {
		return fmt.Sprintf("SELECT %s, %s FROM %s%s GROUP BY 1 ORDER BY 2 DESC LIMIT 50", group, value, from, join)
	}
	return fmt.Sprintf("SELECT t.* FROM %s LIMIT %d", from, fits)
}

func ordinals(n int) string { return []string{"", "1", "1, 2"}[n] }

// quote makes a name safe; a schema in front of it keeps its dot.
func quote(name string) string {
	parts := strings.SplitN(name, ".", 2)
	for i, p := range parts {
		parts[i] = `"` + strings.ReplaceAll(p, `"`, `""`) + `"`
	}
	return strings.Join(parts, ".")
}

func (c dbColumn) numeric() bool {
	t := strings.ToLower(c.Type)
	return slices.ContainsFunc([]string{"int", "real", "num", "dec", "float", "double", "money"}, func(s string) bool { return strings.Contains(t, s) }) &&
		!strings.Contains(t, "interval") && !strings.Contains(t, "point")
}

func (c dbColumn) textual() bool {
	t := strings.ToLower(c.Type)
	return strings.Contains(t, "char") || strings.Contains(t, "text") || strings.Contains(t, "clob")
}

// measure is the first number that is no key and no reference.
func (t dbTable) measure() (string, bool) {
	for _, c := range t.Columns {
		n := strings.ToLower(c.Name)
		if c.numeric() && !c.Key && !t.refers(c.Name) && n != "id" && !strings.HasSuffix(n, "_id") && !strings.HasSuffix(c.Name, "Id") && n != "year" {
			return c.Name, true
		}
	}
	return "", false
}

func (t dbTable) refers(column string) bool {
	return slices.ContainsFunc(t.References, func(r string) bool {
		from, _, _ := strings.Cut(r, " → ")
		return strings.Trim(from, `()" `) == column
	})
}

// date is the first date, or a column of years.
func (t dbTable) date() (dbColumn, bool) {
	for _, c := range t.Columns {
		k, n := strings.ToLower(c.Type), strings.ToLower(c.Name)
		if strings.Contains(k, "date") || strings.Contains(k, "timestamp") || n == "year" || c.textual() && (n == "date" || n == "day" || strings.HasSuffix(n, "_at") || strings.HasSuffix(n, "_date")) {
			return c, true
		}
	}
	return dbColumn{}, false
}

// year writes the year of a date in the database's dialect.
func (s schema) year(c dbColumn) string {
	col := "t." + quote(c.Name)
	switch {
	case strings.EqualFold(c.Name, "year"):
		return col
	case s.Engine == "PostgreSQL":
		return "to_char(" + col + "::timestamp, 'YYYY')"
	}
	return "strftime('%Y', " + col + ")"
}

// group finds a column with few values: the name of what is referred to, else a text
// whose name says that it sorts the rows.
func (s schema) group(t dbTable) (column, join string) {
	for _, r := range t.References {
		from, to, _ := strings.Cut(r, " → ")
		target, key, _ := strings.Cut(strings.TrimSuffix(to, ")"), "(")
		i := slices.IndexFunc(s.Tables, func(o dbTable) bool { return o.Name == strings.Trim(target, `"`) })
		if i < 0 || key == "" || s.Tables[i].RowCount == nil || *s.Tables[i].RowCount > 20 {
			continue
		}
		k := slices.IndexFunc(s.Tables[i].Columns, dbColumn.textual)
		if k < 0 || strings.ContainsAny(from+key, ",") {
			continue
		}
		return fmt.Sprintf("g.%s AS %s", quote(s.Tables[i].Columns[k].Name), quote(s.Tables[i].Name)),
			fmt.Sprintf(" JOIN %s AS g ON g.%s = t.%s", quote(s.Tables[i].Name), quote(strings.Trim(key, `"`)), quote(strings.Trim(from, `()" `)))
	}
	for _, c := range t.Columns {
		if c.textual() && slices.ContainsFunc(words(human(c.Name)), func(w string) bool {
			return slices.Contains([]string{"type", "kind", "category", "categor", "region", "country", "source", "status", "group", "sector", "class", "channel", "product", "fuel", "department", "segment"}, w)
		}) {
			return "t." + quote(c.Name), ""
		}
	}
	return "", ""
}

// rateLike tells measures whose sum means nothing.
func rateLike(name string) bool {
	return slices.ContainsFunc(strings.Fields(strings.ToLower(human(name))), func(w string) bool {
		for _, begin := range []string{"rate", "price", "temp", "avg", "mean", "share", "percent", "pct", "level", "score", "ratio", "rating", "age"} {
			if strings.HasPrefix(w, begin) {
				return true
			}
		}
		return false
	})
}
