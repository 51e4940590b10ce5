package question

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// query writes one statement over a view.
type query struct {
	v        *view
	postgres bool
	used     []bool
}

func newQuery(v *view, postgres bool) *query {
	return &query{v: v, postgres: postgres, used: make([]bool, len(v.tables))}
}

// ident quotes a name.
func ident(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// table quotes the name of a table; a schema in front of it keeps its point.
func table(name string) string {
	schema, rest, ok := strings.Cut(name, ".")
	if !ok || strings.ContainsAny(name, " ") {
		return ident(name)
	}
	return ident(schema) + "." + ident(rest)
}

// literal quotes a text.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// mark stands before a column until it is known whether tables are joined.
const mark = "\x00"

// col is a column as an expression.
func (q *query) col(f *field) string {
	if f.less {
		return "(" + q.col(f.factors[0]) + " - " + q.col(f.factors[1]) + ")"
	}
	if f.factors != nil {
		return "(" + q.col(f.factors[0]) + " * " + q.col(f.factors[1]) + ")"
	}
	if f.names != nil {
		return "(" + q.col(f.names[0]) + " || ' ' || " + q.col(f.names[1]) + ")"
	}
	c := q.plain(f)
	if !f.clock() {
		return c
	}
	// As text of one length, times are in their order; DNF is none.
	padded := "substr('000000000000' || " + c + ", -12)"
	if q.postgres {
		padded = "right('000000000000' || " + c + ", 12)"
	}
	return "CASE WHEN " + c + " LIKE '%:%' THEN " + padded + " END"
}

// plain is a column as it is stored.
func (q *query) plain(f *field) string {
	for t := f.table; t >= 0; t = q.v.on[t].from {
		q.used[t] = true
	}
	return mark + strconv.Itoa(f.table) + "." + ident(f.Name)
}

// date is the first n characters of a date: 4 for the year, 7 for the month, 10 for the day.
func (q *query) date(f *field, n int) string {
	return fmt.Sprintf("substr(CAST(%s AS TEXT), 1, %d)", q.col(f), n)
}

// bucket is the unit of time that a row falls into.
func (q *query) bucket(f *field, unit string) string {
	if !f.dated() {
		return q.col(f)
	}
	switch unit {
	case "year":
		return q.date(f, 4)
	case "quarter":
		return fmt.Sprintf("%s || '-Q' || CAST((CAST(substr(CAST(%s AS TEXT), 6, 2) AS INTEGER) + 2) / 3 AS TEXT)", q.date(f, 4), q.col(f))
	case "month":
		return q.date(f, 7)
	case "hour":
		return fmt.Sprintf("substr(CAST(%s AS TEXT), 12, 2)", q.col(f))
	case "weekday":
		if q.postgres {
			return fmt.Sprintf("CAST(EXTRACT(DOW FROM %s) AS INTEGER)", q.col(f))
		}
		return fmt.Sprintf("CAST(strftime('%%w', %s) AS INTEGER)", q.col(f))
	}
	return q.date(f, 10)
}

// from is the FROM clause with the tables that are used, and the WHERE clause.
func (q *query) from(filters []filter, more ...string) string {
	var conds []string
	for _, f := range filters {
		conds = append(conds, f.cond(q))
	}
	conds = append(conds, more...)
	out := " FROM " + table(q.v.tables[0].Name)
	if u := q.v.tables[0].union; u != "" {
		out = " FROM (" + u + ")"
		if !q.joined() {
			out += " AS every_year"
		}
	}
	if q.joined() {
		out += " AS t0"
		for i, j := range q.v.on {
			if i > 0 && q.used[i] {
				out += fmt.Sprintf(" LEFT JOIN %s AS t%d ON t%d.%s = t%d.%s", table(q.v.tables[i].Name), i, j.from, ident(j.ownKey), i, ident(j.otherKey))
			}
		}
	}
	if len(conds) > 0 {
		out += " WHERE " + strings.Join(conds, " AND ")
	}
	return out
}

func (q *query) joined() bool {
	for _, u := range q.used[1:] {
		if u {
			return true
		}
	}
	return false
}

// finish writes the columns with the names of their tables where there are several.
func (q *query) finish(statement string) string {
	for i := range q.v.tables {
		name := ""
		if q.joined() {
			name = fmt.Sprintf("t%d.", i)
		}
		statement = strings.ReplaceAll(statement, mark+strconv.Itoa(i)+".", name)
	}
	return statement
}

// paths are the files of the tables that are used.
func (q *query) paths() []string {
	var out []string
	for i, t := range q.v.tables {
		if i > 0 && !q.used[i] {
			continue
		}
		p := t.Path
		if p == "" {
			p = t.Name
		} else if t.Sheet != "" {
			p += " (" + t.Sheet + ")"
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// aggregate is an aggregate of a column: sum, avg, min, max, median.
func (q *query) aggregate(how string, f *field) string {
	return strings.ToUpper(how) + "(" + q.col(f) + ")"
}

// filter is one condition with its words for readers.
type filter struct {
	field *field
	cond  func(q *query) string
	text  string
	// total is the condition that keeps to the rows of all categories together.
	total  bool
	at     int    // the token that it comes from
	when   string // a time in words for the sentence: in March 2024
	values []string
	period *period
	// equal says that all rows have the same number.
	equal bool
	// number says that a number is compared.
	number bool
}

// valueFilter keeps the rows with one of some values.
func valueFilter(f *field, values []string, not bool) filter {
	var quoted []string
	for _, v := range values {
		quoted = append(quoted, literal(v))
	}
	text := strings.Join(values, ", ")
	if not {
		text = "≠ " + text
	}
	return filter{field: f, values: values, text: f.label() + ": " + text, cond: func(q *query) string {
		op := " = " + quoted[0]
		if len(quoted) > 1 {
			op = " IN (" + strings.Join(quoted, ", ") + ")"
		}
		if not {
			return "NOT " + q.col(f) + op
		}
		return q.col(f) + op
	}}
}

// boolFilter keeps the rows in which a column of truths is what it shall be.
func boolFilter(f *field, want bool) filter {
	if !f.boolean() {
		var values []string
		for _, v := range f.Values {
			if s, ok := v.(string); ok && truth(s) == want && (truth(s) || untruth(s)) {
				values = append(values, s)
			}
		}
		return valueFilter(f, values, false)
	}
	word := "FALSE"
	text := "= no"
	if want {
		word, text = "TRUE", "= yes"
	}
	return filter{field: f, text: f.label() + " " + text, cond: func(q *query) string { return q.col(f) + " = " + word }}
}

func truth(s string) bool {
	switch fold(strings.TrimSpace(s)) {
	case "yes", "y", "ja", "j", "true", "oui", "x", "wahr":
		return true
	}
	return false
}

func untruth(s string) bool {
	switch fold(strings.TrimSpace(s)) {
	case "no", "n", "nein", "false", "non", "falsch":
		return true
	}
	return false
}

// numberFilter compares a column with a number.
func numberFilter(f *field, op string, n float64) filter {
	v := strconv.FormatFloat(n, 'f', -1, 64)
	return filter{field: f, number: true, equal: op == "=", text: f.label() + " " + op + " " + v, cond: func(q *query) string { return q.col(f) + " " + op + " " + v }}
}

// fieldFilter compares two columns.
func fieldFilter(f *field, op string, g *field) filter {
	return filter{field: f, text: f.label() + " " + op + " " + g.label(), cond: func(q *query) string { return q.col(f) + " " + op + " " + q.col(g) }}
}

// nullFilter keeps the rows without a value; for a number of unusable ones see Column.Unusable.
func nullFilter(f *field, none string) filter {
	return filter{field: f, text: f.label() + ": " + none, cond: func(q *query) string { return q.col(f) + " IS NULL" }}
}

// knownFilter keeps the rows with a value.
func knownFilter(f *field) filter {
	return filter{field: f, cond: func(q *query) string { return q.col(f) + " IS NOT NULL" }}
}
