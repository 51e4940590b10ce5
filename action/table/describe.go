package table

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"atelier/action"
	"atelier/action/file"
	"atelier/media"
)

// maxOutcome is the maximum size of one result in a prompt, in characters of JSON.
const maxOutcome = 12_000

// tableView is a table as models see it.
type tableView struct {
	Name       string       `json:"name"`
	Path       string       `json:"path"`
	Sheet      string       `json:"sheet,omitempty"`
	Title      string       `json:"title,omitempty"`
	RowCount   int          `json:"rowCount"`
	Columns    []columnView `json:"columns"`
	SampleRows [][]any      `json:"sampleRows"`
	Notes      []string     `json:"notes,omitempty"`
}

// columnView is a column as models see it.
type columnView struct {
	Name           string   `json:"name"`
	Type           Type     `json:"type"`
	Unit           string   `json:"unit,omitempty"`
	Missing        int      `json:"missing"`
	Unusable       int      `json:"unusable"`
	UnusableValues []string `json:"unusableValues,omitempty"`
	Distinct       int      `json:"distinct"`
	DistinctCapped bool     `json:"distinctCapped,omitempty"`
	Min            any      `json:"min,omitempty"`
	Max            any      `json:"max,omitempty"`
	Values         []string `json:"values,omitempty"`
}

// describe runs Describe Tables.
func (t *Tables) describe(ctx context.Context, c *action.Call) (action.Result, error) {
	l, err := t.load(ctx, c.Progress)
	if err != nil {
		return action.Result{}, err
	}
	defer t.release(l)
	chosen, err := l.pick(c.Text("Table"))
	if err != nil {
		return action.Result{}, err
	}
	views, named := fit(chosen)
	res := action.Result{
		Message: counted(len(l.tables), "table", "tables"),
		Outputs: map[string]any{"tables": views, "totalCount": len(l.tables)},
	}
	if len(named) > 0 {
		res.Outputs["moreTables"] = named
		res.Message += fmt.Sprintf("; %d are described, the others only named: use Table to describe one", len(views))
	}
	if len(l.notRead) > 0 {
		res.Outputs["notRead"] = l.notRead[:min(50, len(l.notRead))]
		res.Message += "; " + counted(len(l.notRead), "file is not a table", "files are not tables")
	}
	if len(l.tables) == 0 {
		res.Message = "The folder contains no tables (CSV, TSV, JSON, JSONL, Excel); use List Files"
	}
	return res, nil
}

// pick returns the requested table, or the tables of the requested file.
func (l *loaded) pick(name string) ([]*table, error) {
	name = strings.Trim(strings.TrimSpace(name), "\"`[]")
	if name == "" {
		return l.tables, nil
	}
	var of []*table
	for _, tb := range l.tables {
		switch {
		case strings.EqualFold(tb.name, name):
			return []*table{tb}, nil
		case strings.EqualFold(tb.path, name):
			of = append(of, tb)
		}
	}
	if len(of) > 0 {
		return of, nil
	}
	e := media.Errorf(media.CodeNotFound, "table %q does not exist: the tables are %s", file.Clip(name, 80), strings.Join(l.tableNames(20), ", "))
	e.Retryable, e.Valid = true, l.tableNames(50)
	return nil, e
}

// tableNames returns the names of the first most tables.
func (l *loaded) tableNames(most int) []string {
	out := []string{}
	for _, tb := range l.tables[:min(most, len(l.tables))] {
		out = append(out, tb.name)
	}
	return out
}

// fit describes many tables in less detail. If a prompt cannot hold all of them even then, it only names the rest.
func fit(tables []*table) (views []tableView, named []string) {
	const details = 4
	for detail := range details {
		views = []tableView{}
		room := maxOutcome
		for _, tb := range tables {
			v := tb.view(detail)
			b, _ := json.Marshal(v) // texts and finite numbers do not fail
			if room -= utf8.RuneCount(b); room < 0 {
				break
			}
			views = append(views, v)
		}
		if len(views) == len(tables) {
			return views, nil
		}
	}
	views = views[:len(views)*3/4] // room for the names
	if len(views) == 0 {
		views = append(views, tables[0].view(details-1))
	}
	room := maxOutcome / 4
	for _, tb := range tables[len(views):] {
		if room -= len([]rune(tb.name)) + 3; room < 0 {
			return views, append(named, "…")
		}
		named = append(named, tb.name)
	}
	return views, named
}

// view describes a table; each step of detail, starting at 0, shows less.
func (tb *table) view(detail int) tableView {
	v := tableView{Name: tb.name, Path: tb.path, Sheet: tb.sheet, Title: tb.title, RowCount: tb.rows, SampleRows: [][]any{}, Notes: tb.notes}
	rows := []int{sampleRows, 3, 2, 1}[detail]
	values := []int{maxValues, 12, 5, 3}[detail]
	most := []int{200, 100, 60, 60}[detail]
	for _, c := range tb.columns[:min(most, len(tb.columns))] {
		v.Columns = append(v.Columns, c.view(values))
	}
	if more := len(tb.columns) - len(v.Columns); more > 0 {
		v.Notes = append(slices.Clone(tb.notes), fmt.Sprintf("%d more columns are not described, the last is %q", more, tb.columns[len(tb.columns)-1].name))
	}
	for _, row := range tb.sample[:min(rows, len(tb.sample))] {
		short := make([]any, min(most, len(row)))
		for i := range short {
			short[i] = row[i]
			if s, ok := row[i].(string); ok {
				short[i] = file.Clip(s, 80)
			}
		}
		v.SampleRows = append(v.SampleRows, short)
	}
	return v
}

func (c *column) view(values int) columnView {
	v := columnView{
		Name: c.name, Type: c.kind, Unit: c.unit, Missing: c.missing, Unusable: c.unusable, UnusableValues: c.shown,
		Distinct: len(c.counts), DistinctCapped: c.capped, Min: c.low, Max: c.high,
	}
	if c.kind != Text && c.kind != Boolean {
		return v
	}
	// The most frequent ones.
	all := slices.SortedFunc(maps.Keys(c.counts), func(a, b any) int {
		return cmp.Or(cmp.Compare(c.counts[b], c.counts[a]), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	for _, s := range all[:min(values, len(all))] {
		v.Values = append(v.Values, file.Clip(fmt.Sprint(s), 60))
	}
	return v
}
