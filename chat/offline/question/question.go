// Package question reads a question in English or German against the tables that a
// research described, and plans the one SQL statement that answers it: a total, a mean, a
// ranking, a count, a share, a change, a value at a time, a list or a lookup. Every content
// word of the question has to name a table, a column, a value, a time or an operation;
// a question with a word that names nothing is not answered.
//
// It runs no statement and knows no chat: the caller asks the statements that a Reading
// names and reads again with their results. It has no errors: what cannot be answered is a
// Reading with a reason. It imports the standard library only.
package question

import (
	"slices"
	"strings"
)

// Language is the language of a question and of its answer.
type Language string

// The languages that questions are read in.
const (
	English Language = "en"
	German  Language = "de"
)

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
	// union is the statement that puts the files of several years together; see unite.
	union string
}

// Column is one column of a Table.
type Column struct {
	Name string `json:"name"`
	// Type is integer, number, text, date, datetime or boolean.
	Type string `json:"type"`
	Unit string `json:"unit"`
	// Missing and Unusable count the rows without a value and with one that does not fit the type.
	Missing        int64    `json:"missing"`
	Unusable       int64    `json:"unusable"`
	Distinct       int64    `json:"distinct"`
	DistinctCapped bool     `json:"distinctCapped"`
	Min            any      `json:"min"`
	Max            any      `json:"max"`
	Values         []any    `json:"values"`
	UnusableValues []string `json:"unusableValues"`
}

// Result is the answer to one statement.
type Result struct {
	Statement string   `json:"statement"`
	Columns   []string `json:"columns"`
	Rows      [][]any  `json:"rows"`
	RowCount  int64    `json:"rowCount"`
	Truncated bool     `json:"truncated"`
}

// Source is what a question is asked of.
type Source struct {
	Tables []Table
	// Postgres selects the dialect of the few expressions that differ from SQLite's.
	Postgres bool
	// Results are the answers to the statements asked so far.
	Results []Result
}

// result gives the answer to a statement.
func (s *Source) result(statement string) (Result, bool) {
	for _, r := range s.Results {
		if same(r.Statement, statement) {
			return r, true
		}
	}
	return Result{}, false
}

// same compares statements without regard to white space.
func same(a, b string) bool {
	return strings.Join(strings.Fields(strings.TrimRight(a, "; \n")), " ") == strings.Join(strings.Fields(strings.TrimRight(b, "; \n")), " ")
}

// Reading is what became of one part of a question.
type Reading struct {
	// Part is the part as it is asked.
	Part string
	// Ask are the statements that have to be asked before the part is answered.
	Ask []string
	// Answer is there when all statements are answered and the part is.
	Answer *Answer
	// Unknown are the content words that name nothing in the sources.
	Unknown []string
	// Why is the reason of a part that is not answered: ReasonUnknown, ReasonAmbiguous …
	Why Reason
}

// Reason says why a part is not answered by tables.
type Reason string

// The reasons.
const (
	// ReasonUnknown: words of the question name nothing in the sources.
	ReasonUnknown Reason = "unknown"
	// ReasonBeyond: the question asks for causes, forecasts or opinions.
	ReasonBeyond Reason = "beyond"
	// ReasonAmbiguous: the question fits several columns or tables with different answers.
	ReasonAmbiguous Reason = "ambiguous"
	// ReasonUnclear: the words are known and make no question that is understood.
	ReasonUnclear Reason = "unclear"
	// ReasonEmpty: the query finds no row.
	ReasonEmpty Reason = "empty"
)

// Answer is the answer to one part of a question.
type Answer struct {
	// Sentences state the answer; the first has the figure that was asked for.
	Sentences []string
	// Heading names the result in a few words.
	Heading string
	// Result is the query that the figures come from.
	Result Result
	// Paths are the files, or tables of a database, that were queried.
	Paths []string
	// Columns are the headings of Result for readers, Cells its rows written for them.
	Columns []string
	Cells   [][]string
	// Rows is how many rows Cells would have if it held all.
	Rows int
	// Chart is the one chart of the result; nil for a single value.
	Chart *Chart
	// figure says that the first cell of the result is all that the answer says.
	figure bool
}

// Chart is a chart of exactly the values of a result.
type Chart struct {
	// Kind is bar or line.
	Kind   string
	Title  string
	Labels []string
	Series []Series
	Unit   string
	XLabel string
	YLabel string
}

// Series is one series of a chart; nil is a gap.
type Series struct {
	Name   string
	Values []*float64
}

// said says whether the answer has a column for every content word of a request for a name,
// or is not known yet.
func (r *Reading) said(text string, lang Language) bool {
	if r.Answer == nil {
		return len(r.Ask) > 0
	}
	lex := newLexicon()
	for _, t := range tokens(text, lang) {
		if lex.small(t) || asking[t.fold] {
			continue
		}
		if !slices.ContainsFunc(r.Answer.Result.Columns, func(c string) bool {
			return slices.ContainsFunc(splitName(c), func(w string) bool { return sameWord(t, token{fold: w, stem: stem(w)}) })
		}) {
			return false
		}
	}
	return true
}

// asking are the verbs of a request for a name.
var asking = folded("give state name tell include mention nenne nenn gib nennen angeben please bitte")

// Read reads a question, part by part. With the results of all statements that its
// readings name under Ask it answers them.
func Read(task string, src Source) []Reading {
	lang := LanguageOf(task)
	lex := newLexicon()
	views := src.views(lex) // and the tables of several years become one
	var out []Reading
	for _, p := range parts(task) {
		if p.onward() && len(out) > 0 {
			continue // the answer before it says that too
		}
		if p.follows && len(out) > 0 && ofExtreme(lex, out[len(out)-1].Part, p.text, lang) {
			if !out[len(out)-1].said(p.text, lang) {
				out = append(out, Reading{Part: p.text, Why: ReasonUnclear})
			}
			continue
		}
		if p.names && len(out) > 0 && out[len(out)-1].said(p.text, lang) {
			continue
		}
		r := reader{lex: lex, lang: lang, src: &src, views: views}
		out = append(out, r.read(p.text))
	}
	return out
}
