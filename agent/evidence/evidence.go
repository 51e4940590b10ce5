// Package evidence compares the numbers of a report with the content of the sources: the cells of query results, and
// the numbers in other text. It scans text for numbers ([Scan]), collects what actions returned and people wrote
// ([Set]), and determines for each number whether the evidence contains it ([Set.Trace]).
//
// It compares only numbers: it does not interpret sentences and calls no model. It returns no errors; anything that
// cannot be read as a number is not evidence. It imports only the standard library and internal/pattern.
package evidence

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Names of the texts from people.
const (
	Task         = "task"
	Input        = "input"
	Conversation = "conversation"
	Answer       = "answer"
)

// Limits of the stored evidence. Anything beyond them is not evidence.
const (
	// MaxRows is the maximum number of rows stored per query result.
	MaxRows = 1000
	// maxNumbers is the maximum number of different numbers stored per source.
	maxNumbers = 20_000
)

// Set is the evidence of one run tree. Its zero value is empty. It is not safe for concurrent use.
type Set struct {
	// Queries are the executed statements, each once, in order.
	Queries []Query
	// Texts are the other sources, by name, in order of first use.
	Texts []Text

	years   map[int]bool // years in the dates of any source
	derived []candidate  // values derived from two cells, computed by the first Trace
	sparse  bool         // so few numbers that accidental matches of derived values are unlikely
	ready   bool
}

// Query is a statement with the numbers of its result.
type Query struct {
	// Statement is the SQL text.
	Statement string
	// Tables are the tables that the statement reads.
	Tables []Table
	// Columns are the names of the result's columns.
	Columns []string
	// Rows are the cells; a cell without a number is NaN.
	Rows [][]float64

	textNumbers numbers   // numbers of text cells and of the statement, and the row count
	factors     []float64 // for each column: the value of one unit ("in million")
	percent     []bool    // for each column: whether its name indicates percent
	cells       int       // number of cells with numbers
}

// Table is a table that a query reads.
type Table struct {
	Name string `json:"name"`
	// Path is the file from which the table was read; empty for a database.
	Path string `json:"path"`
}

// Text is a source of text.
type Text struct {
	// Name is the file, address or action from which the text comes.
	Name string

	numbers numbers
}

// numbers holds the values of a text, each once.
type numbers struct {
	list []value
	seen map[value]bool
}

// value is a number in a source.
type value struct {
	v float64
	// percent reports whether the source wrote it with a percent sign.
	percent bool
}

func (n *numbers) add(v value) {
	if n.seen[v] || len(n.list) >= maxNumbers || math.IsNaN(v.v) || math.IsInf(v.v, 0) {
		return
	}
	if n.seen == nil {
		n.seen = map[value]bool{}
	}
	n.seen[v] = true
	n.list = append(n.list, v)
}

// result is the shape of a query's outputs.
type result struct {
	Statement string   `json:"statement"`
	Columns   []any    `json:"columns"`
	Rows      [][]any  `json:"rows"`
	RowCount  *float64 `json:"rowCount"`
	Tables    []Table  `json:"tables"`
}

// AddResult adds the outputs of an action, a JSON object, as evidence. An object with statement, columns and rows is a
// query. The numbers of any other object are stored under the path, url or title in the outputs, or else under name.
func (s *Set) AddResult(name string, outputs json.RawMessage) {
	var r result
	if err := json.Unmarshal(outputs, &r); err == nil && r.Statement != "" && len(r.Columns) > 0 && r.Rows != nil {
		s.addQuery(r)
		return
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(outputs))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return
	}
	if m, ok := v.(map[string]any); ok {
		for _, key := range []string{"path", "url", "title"} {
			if t, ok := m[key].(string); ok && strings.TrimSpace(t) != "" {
				name = strings.TrimSpace(t)
				break
			}
		}
	}
	s.AddValue(name, v)
}

// AddText adds the numbers of a text as evidence.
func (s *Set) AddText(name, text string) {
	s.scan(&s.text(name).numbers, text)
}

// AddValue adds the numbers of a JSON value as evidence: numbers, and numbers in strings and keys.
func (s *Set) AddValue(name string, v any) {
	s.walk(&s.text(name).numbers, v)
}

// text returns the source with a name, and creates it if necessary.
func (s *Set) text(name string) *Text {
	s.ready = false
	i := slices.IndexFunc(s.Texts, func(t Text) bool { return t.Name == name })
	if i < 0 {
		s.Texts = append(s.Texts, Text{Name: name})
		i = len(s.Texts) - 1
	}
	return &s.Texts[i]
}

func (s *Set) walk(into *numbers, v any) {
	switch t := v.(type) {
	case string:
		s.scan(into, t)
	case json.Number:
		if f, err := t.Float64(); err == nil {
			s.number(into, f)
		}
	case float64:
		s.number(into, t)
	case int:
		s.number(into, float64(t))
	case int64:
		s.number(into, float64(t))
	case []any:
		for _, e := range t {
			s.walk(into, e)
		}
	case map[string]any:
		for k, e := range t {
			s.scan(into, k)
			s.walk(into, e)
		}
	}
}

func (s *Set) number(into *numbers, f float64) {
	into.add(value{v: f})
	if y, ok := asYear(f); ok {
		s.year(y)
	}
}

func (s *Set) year(y int) {
	if s.years == nil {
		s.years = map[int]bool{}
	}
	s.years[y] = true
}

// scan stores the numbers of a text, and the years in its dates.
func (s *Set) scan(into *numbers, text string) {
	if !strings.ContainsFunc(text, isDigit) {
		return
	}
	found, years := scan(text)
	for _, n := range found {
		sign := 1.0
		if n.sign < 0 {
			sign = -1
		}
		for _, r := range n.readings {
			for _, f := range n.factors() {
				into.add(value{v: r.value * f * sign, percent: n.Percent})
			}
		}
		if y, ok := n.year(); ok {
			s.year(y)
		}
	}
	for _, y := range years {
		s.year(y)
	}
}

// addQuery stores a query once; the same statement on the same tables has the same result.
func (s *Set) addQuery(r result) {
	s.ready = false
	if slices.ContainsFunc(s.Queries, func(q Query) bool { return q.Statement == r.Statement && slices.Equal(q.Tables, r.Tables) }) {
		return
	}
	q := Query{Statement: r.Statement, Tables: r.Tables}
	for _, c := range r.Columns {
		name, _ := c.(string) // otherwise an object with the name
		if m, ok := c.(map[string]any); ok {
			name, _ = m["name"].(string)
		}
		q.Columns = append(q.Columns, name)
		s.scan(&q.textNumbers, name)
		q.factors = append(q.factors, factorOf(name))
		q.percent = append(q.percent, percentName().MatchString(name))
	}
	s.scan(&q.textNumbers, r.Statement)
	if r.RowCount != nil {
		q.textNumbers.add(value{v: *r.RowCount})
	}
	for _, row := range r.Rows[:min(len(r.Rows), MaxRows)] {
		q.Rows = append(q.Rows, s.cells(&q, row))
	}
	s.Queries = append(s.Queries, q)
}

func (s *Set) cells(q *Query, row []any) []float64 {
	cells := make([]float64, min(len(row), len(q.Columns)))
	for i := range cells {
		cells[i] = math.NaN()
		switch t := row[i].(type) {
		case float64:
			cells[i] = t
			q.cells++
			if y, ok := asYear(t); ok {
				s.year(y)
			}
		case string:
			if f, err := strconv.ParseFloat(t, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
				cells[i] = f // databases return exact decimals as text
				q.cells++
				continue
			}
			s.scan(&q.textNumbers, t)
		}
	}
	return cells
}

// Source returns the files that a query reads, or the names of tables without a file.
func (q Query) Source() string {
	var names []string
	for _, t := range q.Tables {
		if n := cmp.Or(t.Path, t.Name); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}
