package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// Query builds one statement over a view.
type Query struct {
	View     *schema.View
	postgres bool
	used     []bool
}

// NewQuery returns a statement that uses no table yet.
func NewQuery(v *schema.View, postgres bool) *Query {
	return &Query{View: v, postgres: postgres, used: make([]bool, len(v.Tables))}
}

// mark precedes a column until it is known whether tables are joined.
const mark = "\x00"

// Col returns a column as an expression.
func (q *Query) Col(f *schema.Field) string {
	switch {
	case f.Product():
		return "(" + q.Col(f.Parts[0]) + " * " + q.Col(f.Parts[1]) + ")"
	case f.Parts != nil:
		return "(" + q.Col(f.Parts[0]) + " || ' ' || " + q.Col(f.Parts[1]) + ")"
	}
	for t := f.Table; t >= 0; t = q.View.On[t].From {
		q.used[t] = true
	}
	return mark + strconv.Itoa(f.Table) + "." + schema.QuotedName(f.Name)
}

// Date returns the first n characters of a date: 4 for the year, 7 for the month, 10 for the day.
func (q *Query) Date(f *schema.Field, n int) string {
	return fmt.Sprintf("substr(CAST(%s AS TEXT), 1, %d)", q.Col(f), n)
}

// Bucket returns the unit of time that a row falls into.
func (q *Query) Bucket(f *schema.Field, unit string) string {
	if !f.Dated() {
		return q.Col(f)
	}
	switch unit {
	case "year":
		return q.Date(f, 4)
	case "quarter":
		return fmt.Sprintf("%s || '-Q' || CAST((CAST(substr(CAST(%s AS TEXT), 6, 2) AS INTEGER) + 2) / 3 AS TEXT)", q.Date(f, 4), q.Col(f))
	case "month":
		return q.Date(f, 7)
	case "hour":
		return fmt.Sprintf("substr(CAST(%s AS TEXT), 12, 2)", q.Col(f))
	case "weekday":
		if q.postgres {
			return fmt.Sprintf("CAST(EXTRACT(DOW FROM %s) AS INTEGER)", q.Col(f))
		}
		return fmt.Sprintf("CAST(strftime('%%w', %s) AS INTEGER)", q.Col(f))
	}
	return q.Date(f, 10)
}

// From returns the FROM clause with the tables that are used, and the WHERE clause.
func (q *Query) From(filters []Filter, more ...string) string {
	var conds []string
	for _, f := range filters {
		conds = append(conds, f.Condition(q))
	}
	conds = append(conds, more...)
	out := " FROM " + schema.QuotedTable(q.View.Tables[0].Name)
	if q.joined() {
		out += " AS t0"
		for i, j := range q.View.On {
			if i > 0 && q.used[i] {
				out += fmt.Sprintf(" LEFT JOIN %s AS t%d ON t%d.%s = t%d.%s", schema.QuotedTable(q.View.Tables[i].Name), i, j.From, schema.QuotedName(j.OwnKey), i, schema.QuotedName(j.OtherKey))
			}
		}
	}
	if len(conds) > 0 {
		out += " WHERE " + strings.Join(conds, " AND ")
	}
	return out
}

func (q *Query) joined() bool { return slices.Contains(q.used[1:], true) }

// Finish qualifies the columns with their tables if several are joined.
func (q *Query) Finish(statement string) string {
	for i := range q.View.Tables {
		name := ""
		if q.joined() {
			name = fmt.Sprintf("t%d.", i)
		}
		statement = strings.ReplaceAll(statement, mark+strconv.Itoa(i)+".", name)
	}
	return statement
}

// Paths returns the files of the tables that are used.
func (q *Query) Paths() []string {
	var out []string
	for i, t := range q.View.Tables {
		if i > 0 && !q.used[i] {
			continue
		}
		if !slices.Contains(out, t.Source()) {
			out = append(out, t.Source())
		}
	}
	return out
}

// Aggregate returns an aggregate of a column: sum, avg, min, max, median.
func (q *Query) Aggregate(how string, f *schema.Field) string {
	return strings.ToUpper(how) + "(" + q.Col(f) + ")"
}

// Filter is one condition with its text for readers.
type Filter struct {
	Field     *schema.Field
	Condition func(q *Query) string
	Text      string
	// Total means that the condition selects or excludes the rows of all categories together.
	Total  bool
	at     int    // the token that it comes from
	Time   string // a time in words for the sentence: in March 2024
	values []string
	Period *speech.Period
	// not means that the rows with the values are excluded.
	not bool
	// Null means that the rows have no value.
	Null  bool
	limit string // the comparison of the column with a number: >, <=
}

// restricts reports whether a condition says which rows are meant, other than by their time.
func (f Filter) restricts() bool { return !f.Total && f.Period == nil && f.Text != "" }

// valueFilter keeps the rows with one of some values; with not, it excludes them.
func (p *explanation) valueFilter(f *schema.Field, values []string, not bool) Filter {
	var quoted []string
	for _, v := range values {
		quoted = append(quoted, speech.QuotedText(v))
	}
	text := ": "
	if not {
		text = p.Say(" other than ", " außer ")
	}
	return Filter{Field: f, values: values, not: not, Text: f.Label() + text + strings.Join(values, ", "), Condition: func(q *Query) string {
		op := " = " + quoted[0]
		if len(quoted) > 1 {
			op = " IN (" + strings.Join(quoted, ", ") + ")"
		}
		if not {
			return "NOT " + q.Col(f) + op
		}
		return q.Col(f) + op
	}}
}

// boolFilter keeps the rows in which a column of yes and no has the wanted value.
func (p *explanation) boolFilter(f *schema.Field, want bool) Filter {
	if !f.Boolean() {
		var values []string
		for _, v := range f.Values {
			if s, ok := v.(string); ok && truth(s) == want && (truth(s) || untruth(s)) {
				values = append(values, s)
			}
		}
		return p.valueFilter(f, values, false)
	}
	word, text := "FALSE", p.Say(" = no", " = nein")
	if want {
		word, text = "TRUE", p.Say(" = yes", " = ja")
	}
	return Filter{Field: f, Text: f.Label() + text, Condition: func(q *Query) string { return q.Col(f) + " = " + word }}
}

var truths, untruths = speech.Folded("yes y ja j true oui x wahr"), speech.Folded("no n nein false non falsch")

func truth(s string) bool { return truths[speech.Fold(strings.TrimSpace(s))] }

func untruth(s string) bool { return untruths[speech.Fold(strings.TrimSpace(s))] }

// numberFilter compares a column with a number.
func numberFilter(f *schema.Field, op string, n float64) Filter {
	v := strconv.FormatFloat(n, 'f', -1, 64)
	return Filter{Field: f, limit: op, Text: f.Label() + " " + op + " " + v, Condition: func(q *Query) string { return q.Col(f) + " " + op + " " + v }}
}

// fieldFilter compares two columns.
func fieldFilter(f *schema.Field, op string, g *schema.Field) Filter {
	return Filter{Field: f, Text: f.Label() + " " + op + " " + g.Label(), Condition: func(q *Query) string { return q.Col(f) + " " + op + " " + q.Col(g) }}
}

// nullFilter keeps the rows without a value; for the number of unusable values see Column.Unusable.
func nullFilter(f *schema.Field, none string) Filter {
	return Filter{Field: f, Null: true, Text: f.Label() + ": " + none, Condition: func(q *Query) string { return q.Col(f) + " IS NULL" }}
}

// knownFilter keeps the rows with a value.
func knownFilter(f *schema.Field, some string) Filter {
	return Filter{Field: f, Text: f.Label() + ": " + some, Condition: func(q *Query) string { return q.Col(f) + " IS NOT NULL" }}
}
