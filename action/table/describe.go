package table

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"atelier/action"
	"atelier/action/database"
	"atelier/action/file"
)

// describe runs Describe Tables.
func (t *Tables) describe(ctx context.Context, c *action.Call) (action.Result, error) {
	l, err := t.load(ctx, c.Progress)
	if err != nil {
		return action.Result{}, err
	}
	defer t.release(l)
	chosen, err := database.Pick(l.views, c.Text("Table"))
	if err != nil {
		return action.Result{}, err
	}
	res := action.Result{Message: counted(len(l.tables), "table", "tables"), Outputs: map[string]any{"totalCount": len(l.tables)}}
	database.AddTables(&res, chosen)
	if len(l.notRead) > 0 {
		res.Outputs["notRead"] = l.notRead[:min(50, len(l.notRead))]
		res.Message += "; " + counted(len(l.notRead), "file is not a table", "files are not tables")
	}
	if len(l.tables) == 0 {
		res.Message = "The folder contains no tables (CSV, TSV, JSON, JSONL, Excel); use List Files"
	}
	return res, nil
}

// tableNames returns the names of the first most tables.
func (l *loaded) tableNames(most int) []string {
	out := []string{}
	for _, tb := range l.tables[:min(most, len(l.tables))] {
		out = append(out, tb.name)
	}
	return out
}

// view describes the table for models, without sample rows.
func (tb *table) view() database.Table {
	rows := int64(tb.rows)
	v := database.Table{Name: tb.name, Path: tb.path, Sheet: tb.sheet, Title: tb.title, Rows: &rows, Notes: tb.notes}
	for _, c := range tb.columns {
		v.Columns = append(v.Columns, c.view())
	}
	return v
}

func (c *column) view() database.Column {
	missing, unusable, distinct := int64(c.missing), int64(c.unusable), int64(len(c.counts))
	v := database.Column{
		Name: c.name, Type: string(c.kind), Unit: c.unit, Missing: &missing, Unusable: &unusable, UnusableValues: c.shown,
		Distinct: &distinct, DistinctCapped: c.capped, Min: c.low, Max: c.high,
	}
	if c.kind != Text && c.kind != Boolean {
		return v
	}
	// The most frequent ones.
	all := slices.SortedFunc(maps.Keys(c.counts), func(a, b any) int {
		if n := cmp.Compare(c.counts[b], c.counts[a]); n != 0 {
			return n
		}
		return compare(a, b)
	})
	for _, s := range all[:min(maxValues, len(all))] {
		v.Values = append(v.Values, file.Clip(fmt.Sprint(s), 60))
	}
	return v
}
