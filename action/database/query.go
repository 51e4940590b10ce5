package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"atelier/action"
	"atelier/action/file"
	"atelier/probe"
)

func (d *Database) queryAction() action.Action {
	out := func(name, description string) action.Param {
		return action.Param{Name: name, Direction: action.Output, ValueType: action.Other, Description: description}
	}
	return action.Action{
		Name: "Query Database",
		Description: fmt.Sprintf("Runs one SELECT on the database (%s) and gives rows and a table profile with totals and series that are ready for a chart. "+
			"Aggregate in SQL: at most %d rows are read.", d.engine.about().name, d.cfg.MaxRows),
		Tags: []string{"database"},
		Params: []action.Param{
			{Name: "SQL", Direction: action.Input, ValueType: action.Scalar, Required: true, Description: "One SELECT in the dialect of the database."},
			out("columns", "The names of the columns."),
			out("rows", "The rows, as many as fit."),
			{Name: "rowCount", Direction: action.Output, ValueType: action.Scalar, Type: "integer", Description: "How many rows were read."},
			{Name: "truncated", Direction: action.Output, ValueType: action.Scalar, Type: "boolean", Description: "Whether the query has more rows than were read."},
			out("table", "rowCount, columns, series and totals of the rows read."),
			out("warnings", "What was cut or left out."),
		},
		Run: d.query,
	}
}

// query runs Query Database.
func (d *Database) query(ctx context.Context, c *action.Call) (action.Result, error) {
	text, err := statement(c.Text("SQL"), d.engine.about())
	if err != nil {
		return action.Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Timeout)
	defer cancel()
	var r records
	err = d.read(ctx, func(tx *sql.Tx) (err error) {
		r, err = d.fetch(ctx, tx, text, d.cfg.MaxRows)
		return err
	})
	if err != nil {
		return action.Result{}, err
	}
	return r.result(ctx)
}

// records are the rows of a result.
type records struct {
	names     []string
	moreNames int     // columns beyond maxColumns
	rows      [][]any // string, int64, float64, bool or nil
	more      bool
}

// maxColumns is how many columns of a result are read.
const maxColumns = 100

// maxHeld bounds the characters of all rows that are held.
const maxHeld = 32 << 20

// fetch reads up to limit rows.
func (d *Database) fetch(ctx context.Context, tx *sql.Tx, text string, limit int) (records, error) {
	rows, err := tx.QueryContext(ctx, d.engine.wrap(text, limit+1))
	if err != nil {
		return records{}, err
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	names, err := rows.Columns()
	if err != nil {
		return records{}, err
	}
	width, held := len(names)-d.engine.about().extra, 0
	r := records{moreNames: max(0, width-maxColumns)}
	width = min(width, maxColumns)
	for _, n := range names[:width] {
		r.names = append(r.names, clip(n, 60))
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if len(r.rows) == limit || held > maxHeld {
			r.more = true
			break
		}
		if err := rows.Scan(into...); err != nil {
			return records{}, err
		}
		row := make([]any, width)
		for i, v := range values[:width] {
			row[i] = plain(v)
			if s, ok := row[i].(string); ok {
				held += len(s)
			}
		}
		r.rows = append(r.rows, row)
	}
	return r, rows.Err()
}

// maxCell is how much of one text is kept, in characters.
const maxCell = 6000

// plain turns a driver's value into one that JSON and people can read. Bytes are
// named, never shown.
func plain(v any) any {
	switch v := v.(type) {
	case nil, int64, bool:
		return v
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return v
	case time.Time:
		return stamp(v)
	case string:
		return clip(v, maxCell)
	case []byte:
		if t := probe.Head(v).MIMEType; t != "" && t != "application/json" && t != "text/html" {
			return fmt.Sprintf("<%s %d bytes>", t, len(v))
		}
		if utf8.Valid(v) && len(v) < maxValue {
			return clip(string(v), maxCell)
		}
		return fmt.Sprintf("<%d bytes>", len(v))
	}
	return clip(fmt.Sprint(v), maxCell)
}

// stamp writes a time as short as it is exact.
func stamp(t time.Time) string {
	if h, m, s := t.Clock(); h == 0 && m == 0 && s == 0 && t.Nanosecond() == 0 {
		return t.Format(time.DateOnly)
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

// cell writes a value for the profile.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return fmt.Sprint(v)
}

// shown gives the first rows that fit into budget characters, texts cut to most, and
// how many texts were cut.
func (r records) shown(most, budget int) (out [][]any, cut int) {
	out = [][]any{}
	for _, row := range r.rows {
		short := make([]any, len(row))
		for i, v := range row {
			short[i] = v
			if s, ok := v.(string); ok && utf8.RuneCountInString(s) > most {
				short[i] = clip(s, most)
				cut++
			}
		}
		n := length(short) + 1
		if n > budget && len(out) > 0 {
			return out, cut
		}
		budget -= n
		out = append(out, short)
	}
	return out, cut
}

// result writes rows and their profile so that a prompt can bear them.
func (r records) result(ctx context.Context) (action.Result, error) {
	res := action.Result{Message: fmt.Sprintf("%d rows", len(r.rows)), Outputs: map[string]any{
		"columns": r.names, "rowCount": len(r.rows), "truncated": r.more,
	}}
	switch {
	case len(r.rows) == 0:
		res.Message = "The query gives no rows"
	case r.more:
		res.Message = fmt.Sprintf("The first %d rows; there are more: aggregate, filter or sort in SQL", len(r.rows))
	case len(r.rows) == 1:
		res.Message = "1 row"
	}
	var warnings []string
	if r.moreNames > 0 {
		warnings = append(warnings, fmt.Sprintf("%d more columns are left out: name those that you need", r.moreNames))
	}
	// A few rows fit whatever their texts are.
	rows, cut := r.shown(max(20, maxCell/max(1, min(3, len(r.rows))*len(r.names))), maxOutcome/2)
	if cut > 0 {
		warnings = append(warnings, fmt.Sprintf("%d long texts are cut: ask for parts of them with substr()", cut))
	}
	if len(rows) < len(r.rows) {
		warnings = append(warnings, fmt.Sprintf("%d of the %d rows are shown; the table profile is made of all of them", len(rows), len(r.rows)))
	}
	if len(r.rows) > 1 && len(r.names) > 0 {
		t, notes, err := r.profile(ctx)
		if err != nil {
			return action.Result{}, err
		}
		warnings = append(warnings, notes...)
		for step := 0; length(t) > maxOutcome/2 && t.Shrink(step); step++ {
		}
		if res.Outputs["table"], err = tree(t); err != nil {
			return action.Result{}, err
		}
	}
	res.Outputs["rows"] = rows
	if len(warnings) > 0 {
		res.Outputs["warnings"] = warnings
		res.Warnings = warnings
	}
	return res, nil
}

func (r records) profile(ctx context.Context) (*file.Table, []string, error) {
	cells := make([][]string, len(r.rows))
	for i, row := range r.rows {
		cells[i] = make([]string, len(row))
		for k, v := range row {
			cells[i][k] = cell(v)
		}
	}
	return file.Profile(ctx, r.names, cells)
}

// tree is a value as plain JSON.
func tree(v any) (out any, err error) {
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	return out, err
}
