package database

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"atelier/action"
	"atelier/media/probe"
)

func (d *Database) queryAction() action.Action {
	return action.Action{
		Name: "Query Database",
		Description: fmt.Sprintf("Runs one SELECT on the database (%s) and returns its rows and the statement. "+
			"Aggregate, filter and sort in SQL: at most %d rows are read.", d.engine.about().name, d.cfg.MaxRows),
		Tags:   []string{"database", action.TagSource},
		Params: QueryParams("One SELECT in the dialect of the database."),
		Run: func(ctx context.Context, c *action.Call) (action.Result, error) {
			r, err := d.Query(ctx, c.Text("SQL"))
			if err != nil {
				return action.Result{}, err
			}
			return r.Result(), nil
		},
	}
}

// QueryParams returns the parameters of an action that returns [Rows.Result].
func QueryParams(sql string) []action.Param {
	return []action.Param{
		{Name: "SQL", Required: true, Description: sql},
		{Name: "statement", Direction: action.Output, ValueType: action.Other, Description: "The statement that returned the rows."},
		{Name: "columns", Direction: action.Output, ValueType: action.Other, Description: "The names of the columns."},
		{Name: "rows", Direction: action.Output, ValueType: action.Other, Description: "The rows, as many as fit: numbers, text and null."},
		{Name: "rowCount", Direction: action.Output, Type: "integer", Description: "The number of rows read."},
		{Name: "truncated", Direction: action.Output, Type: "boolean", Description: "Whether the query has more rows than were read."},
		{Name: "warnings", Direction: action.Output, ValueType: action.Other, Description: "What was truncated or omitted."},
	}
}

// Query returns the rows of one SELECT, within the timeout and the row limit of [Config].
func (d *Database) Query(ctx context.Context, sql string) (Rows, error) {
	text, err := statement(sql, d.engine.about())
	if err != nil {
		return Rows{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Timeout)
	defer cancel()
	var r Rows
	err = d.read(ctx, func(tx *stdsql.Tx) (err error) {
		r, err = d.fetch(ctx, tx, text, d.cfg.MaxRows)
		return err
	})
	r.statement = strings.TrimSpace(text)
	return r, err
}

// Rows are the result of a query.
type Rows struct {
	statement string
	names     []string
	moreNames int     // columns beyond maxColumns
	rows      [][]any // string, int64, float64, bool or nil
	more      bool
}

// maxColumns is the maximum number of columns read from a result.
const maxColumns = 100

// maxHeld is the size of text, in bytes, after which no more rows are read.
const maxHeld = 32 << 20

// fetch reads at most limit rows.
func (d *Database) fetch(ctx context.Context, tx *stdsql.Tx, text string, limit int) (Rows, error) {
	rows, err := tx.QueryContext(ctx, d.engine.wrap(text, limit+1))
	if err != nil {
		return Rows{}, err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports errors
	names, err := rows.Columns()
	if err != nil {
		return Rows{}, err
	}
	types, err := rows.ColumnTypes()
	if err != nil {
		return Rows{}, err
	}
	width, held := len(names)-d.engine.about().extra, 0
	r := Rows{moreNames: max(0, width-maxColumns)}
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
			return Rows{}, err
		}
		row := make([]any, width)
		for i, v := range values[:width] {
			row[i] = d.plain(v, types[i].DatabaseTypeName())
			if s, ok := row[i].(string); ok {
				held += len(s)
			}
		}
		r.rows = append(r.rows, row)
	}
	return r, rows.Err()
}

// maxCell is the maximum length of one text, in characters.
const maxCell = 6000

// plain converts a driver's value to one that JSON and people can read. Binary data is replaced with its type and size.
// databaseType is the type of the column.
func (d *Database) plain(v any, databaseType string) any {
	switch v := v.(type) {
	case nil, int64:
		return v
	case bool:
		if d.engine.about().boolLiterals {
			return v
		}
		return map[bool]int64{true: 1}[v] // as in SQLite
	case float64:
		if databaseType == "FLOAT4" {
			return number(strconv.FormatFloat(v, 'g', -1, 32))
		}
		return number(strconv.FormatFloat(v, 'g', 15, 64)) // without the noise of binary fractions: 0.1 + 0.2 is 0.3
	case time.Time:
		v = v.UTC()
		if h, m, s := v.Clock(); h+m+s+v.Nanosecond() == 0 {
			return v.Format(time.DateOnly)
		}
		return v.Format(time.DateTime + ".999999")
	case string:
		whole, decimals, _ := strings.Cut(v, ".")
		if decimals = strings.TrimRight(decimals, "0"); databaseType == "NUMERIC" && len(whole)+len(decimals) <= 15 {
			return number(v)
		}
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

// number returns the number that a text names. JSON has no infinity and no NaN, so these are text, as in SQL.
func number(text string) any {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case err != nil || math.IsNaN(f):
		return text
	}
	return f
}

// shown returns the first rows that fit into budget characters, with texts cut to most characters, and the number of
// cut texts.
func (r Rows) shown(most, budget int) (out [][]any, cut int) {
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

// maxStatement is the maximum length of the statement in a result, in characters.
const maxStatement = 4000

// Result formats the statement and its rows within the size limit of a prompt.
func (r Rows) Result() action.Result {
	statement := r.statement
	if utf8.RuneCountInString(statement) > maxStatement {
		statement = string([]rune(statement)[:maxStatement]) + "…"
	}
	res := action.Result{Message: fmt.Sprintf("%d rows", len(r.rows)), Outputs: map[string]any{
		"statement": statement, "columns": r.names, "rowCount": len(r.rows), "truncated": r.more,
	}}
	switch {
	case len(r.rows) == 0:
		res.Message = "The query returned no rows"
	case r.more:
		res.Message = fmt.Sprintf("The first %d rows; there are more: aggregate, filter or sort in SQL", len(r.rows))
	case len(r.rows) == 1:
		res.Message = "1 row"
	}
	var warnings []string
	if r.moreNames > 0 {
		warnings = append(warnings, fmt.Sprintf("%d more columns are omitted: name the columns that you need", r.moreNames))
	}
	// A few rows fit even with long texts.
	rows, cut := r.shown(max(20, maxCell/max(1, min(3, len(r.rows))*len(r.names))), maxOutcome)
	if cut > 0 {
		warnings = append(warnings, fmt.Sprintf("%d long texts are truncated: select parts of them with substr()", cut))
	}
	if len(rows) < len(r.rows) {
		warnings = append(warnings, fmt.Sprintf("%d of the %d rows are shown: aggregate in SQL", len(rows), len(r.rows)))
	}
	res.Outputs["rows"] = rows
	if len(warnings) > 0 {
		res.Outputs["warnings"] = warnings
		res.Warnings = warnings
	}
	return res
}
