// Package answer writes the SQL statement of a plan, and states its result in sentences, a
// table and a chart in the language of the question. It returns no errors: a result that
// answers nothing has a Reason. It imports plan and packages that plan imports.
package answer

import (
	"atelier/chat/offline/question/schema"
)

const (
	// maxBars is the maximum number of bars of a chart that a reader can distinguish.
	maxBars = 12
	// maxSeries is the maximum number of lines of a chart.
	maxSeries = 4
	// maxRows limits the table of a result in a report.
	maxRows = 12
)

// Answer is the answer to one part of a question.
type Answer struct {
	// Sentences state the answer; the first contains the figure that was asked for.
	Sentences []string `json:"sentences"`
	// Heading names the result in a few words.
	Heading string `json:"heading"`
	// Result is the query that the figures come from.
	Result schema.Result `json:"-"`
	// Paths are the files, or tables of a database, that were queried.
	Paths []string `json:"paths"`
	// Columns are the headings of Result for readers; Cells are its rows as text.
	Columns []string   `json:"columns,omitempty"`
	Cells   [][]string `json:"cells,omitempty"`
	// Rows is the number of rows that Cells would have if it held all.
	Rows int `json:"rows"`
	// Chart is the only chart of the result; nil for a single value.
	Chart *Chart `json:"chart,omitempty"`
	// OnlyFigure means that the first cell of the result is the whole answer.
	OnlyFigure bool `json:"-"`
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

// Series is one series of a chart; a nil value is a gap.
type Series struct {
	Name   string
	Values []*float64
}
