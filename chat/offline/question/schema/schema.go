// Package schema determines what questions can name in tables: the columns with their
// words; keys, measures, times and amounts of money; and the tables that keys refer to. It
// returns no errors. Of the packages of question, it imports only speech.
package schema

import (
	"cmp"
	"strings"
)

// QuotedName returns a name as a quoted SQL identifier.
func QuotedName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// QuotedTable quotes the name of a table; the dot after a schema stays unquoted.
func QuotedTable(name string) string {
	schema, rest, ok := strings.Cut(name, ".")
	if !ok || strings.ContainsAny(name, " ") {
		return QuotedName(name)
	}
	return QuotedName(schema) + "." + QuotedName(rest)
}

// Table is a table as Describe Tables and Describe Database describe it.
type Table struct {
	// Name is the table's name in SQL.
	Name string `json:"name"`
	// Path is the file that the table comes from; empty for a database.
	Path string `json:"path"`
	// Sheet is the sheet of a workbook.
	Sheet string `json:"sheet"`
	// Title is the text above the header in the file.
	Title    string   `json:"title"`
	RowCount int64    `json:"rowCount"`
	Columns  []Column `json:"columns"`
	Notes    []string `json:"notes"`
}

// Source returns the file of a table, with its sheet, or the name of a database table.
func (t *Table) Source() string {
	switch {
	case t.Path == "":
		return t.Name
	case t.Sheet != "":
		return t.Path + " (" + t.Sheet + ")"
	}
	return t.Path
}

// Column is one column of a Table.
type Column struct {
	Name string `json:"name"`
	// Type is integer, number, text, date, datetime or boolean.
	Type string `json:"type"`
	Unit string `json:"unit"`
	// Missing and Unusable count the rows without a value and those whose value does not fit the type.
	Missing        int64    `json:"missing"`
	Unusable       int64    `json:"unusable"`
	Distinct       int64    `json:"distinct"`
	DistinctCapped bool     `json:"distinctCapped"`
	Min            any      `json:"min"`
	Max            any      `json:"max"`
	Values         []any    `json:"values"`
	UnusableValues []string `json:"unusableValues"`
}

// Result is the result of one statement.
type Result struct {
	Statement string   `json:"statement"`
	Columns   []string `json:"columns"`
	Rows      [][]any  `json:"rows"`
	RowCount  int64    `json:"rowCount"`
	Truncated bool     `json:"truncated"`
}

// Source is the data that a question is asked about.
type Source struct {
	Tables []Table
	// Postgres selects the dialect of the few expressions that differ from SQLite's.
	Postgres bool
	// Results are the results of the statements executed so far.
	Results []Result
}

// Result returns the result of a statement, if there is one.
func (s *Source) Result(statement string) (Result, bool) {
	for _, r := range s.Results {
		head, cut := strings.CutSuffix(r.Statement, "…") // the actions cut a long statement in their results
		if SameStatement(r.Statement, statement) || cut && strings.HasPrefix(statement, head) {
			return r, true
		}
	}
	return Result{}, false
}

// SameStatement reports whether two statements are equal, ignoring white space and final semicolons.
func SameStatement(a, b string) bool {
	return strings.Join(strings.Fields(strings.TrimRight(a, "; \n")), " ") == strings.Join(strings.Fields(strings.TrimRight(b, "; \n")), " ")
}

// Figure returns a cell of a row as a number; false if the row is too short or the cell is not a number.
func Figure(row []any, i int) (float64, bool) {
	if i >= len(row) {
		return 0, false
	}
	return NumberOf(row[i])
}

// CompareCells compares two cells: texts, by their letters, come before numbers, by size.
func CompareCells(x, y any) int {
	a, ok := NumberOf(x)
	b, ok2 := NumberOf(y)
	s, isText := x.(string)
	t, isText2 := y.(string)
	switch dates := len(s) > 7 && len(t) > 7 && strings.Contains(s, "-"); {
	case isText && isText2 && (dates || !ok || !ok2):
		return strings.Compare(s, t)
	case ok && ok2:
		return cmp.Compare(a, b)
	case ok:
		return 1
	case ok2:
		return -1
	}
	return 0
}
