package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"atelier/action"
	"atelier/action/file"
	"atelier/media"
)

const (
	// maxTables is the maximum number of tables listed.
	maxTables = 1000
	// maxCount is the largest number of rows that is counted exactly.
	maxCount = 1_000_000
	// countTime limits the counting of rows in one description.
	countTime = 5 * time.Second
	// sampleTime limits the reading of one table's sample rows.
	sampleTime = 2 * time.Second
	// maxOutcome is the maximum size of one result in a prompt, in characters of JSON.
	maxOutcome = 12_000
	// maxMeasured is the maximum number of tables analysed and shown with sample rows.
	maxMeasured = 30
	// sampleRows is the number of sample rows of a table.
	sampleRows = 3
)

// table is a table or view as models see it.
type table struct {
	Name string `json:"name"`
	from string // the name as SQL
	// Kind is table or view.
	Kind string `json:"kind"`
	// Rows is the number of rows, if known; Note describes its precision.
	Rows       *int64   `json:"rowCount,omitempty"`
	Note       string   `json:"rowCountNote,omitempty"`
	Comment    string   `json:"comment,omitempty"`
	Columns    []column `json:"columns,omitempty"`
	References []string `json:"references,omitempty"`
	// SampleRows are the first rows.
	SampleRows [][]any  `json:"sampleRows,omitempty"`
	Notes      []string `json:"notes,omitempty"`
}

// column is one column of a table. Facts that were not measured are nil.
type column struct {
	Name string `json:"name"`
	// Type is integer, number, text, date, datetime or boolean; DatabaseType is the name of the type in the database.
	Type         string `json:"type"`
	DatabaseType string `json:"databaseType,omitempty"`
	// Key reports whether the column is part of the primary key.
	Key     bool   `json:"key,omitempty"`
	Missing *int64 `json:"missing,omitempty"`
	// Distinct is the number of distinct values, at most 1,000; DistinctCapped reports whether there are more.
	Distinct       *int64 `json:"distinct,omitempty"`
	DistinctCapped bool   `json:"distinctCapped,omitempty"`
	Min            any    `json:"min,omitempty"`
	Max            any    `json:"max,omitempty"`
	// Values are the most frequent values of a text or boolean column.
	Values []string `json:"values,omitempty"`
}

func (d *Database) describeAction() action.Action {
	return action.Action{
		Name: "Describe Database",
		Description: "Describes the tables of the database: columns with type, range, values and missing cells, keys, row counts and sample rows. " +
			"Use it before Query Database.",
		Tags: []string{"database", action.TagSource},
		Params: []action.Param{
			{Name: "Table", Description: "The name of one table. The default is all tables."},
			{Name: "engine", Direction: action.Output, ValueType: action.Other, Description: "The SQL dialect: SQLite or PostgreSQL."},
			{Name: "tables", Direction: action.Output, ValueType: action.Other, Description: "name, kind, rowCount, columns, references, sampleRows and notes of each table."},
			{Name: "totalCount", Direction: action.Output, Type: "integer", Description: "The number of tables."},
		},
		Run: d.describe,
	}
}

// describe runs Describe Database.
func (d *Database) describe(run context.Context, c *action.Call) (action.Result, error) {
	ctx, cancel := context.WithTimeout(run, d.cfg.Timeout)
	defer cancel()
	var all, tables []table
	err := d.read(ctx, func(tx *sql.Tx) (err error) {
		if all, err = d.engine.describe(ctx, tx); err != nil {
			return err
		}
		if tables, err = pick(all, c.Text("Table")); err != nil {
			return err
		}
		counting, stop := context.WithTimeout(ctx, countTime)
		defer stop()
		d.count(counting, tx, tables)
		return nil
	})
	if err != nil {
		return action.Result{}, err
	}
	tables = slices.Clone(tables)
	shown := tables[:min(len(tables), maxMeasured)]
	d.measure(ctx, shown)
	for i := range shown {
		d.sample(ctx, &shown[i])
	}
	if err := run.Err(); err != nil {
		return action.Result{}, err
	}
	return d.described(tables, len(all)), nil
}

// count counts the rows of tables without an estimate, up to maxCount, until ctx ends.
func (d *Database) count(ctx context.Context, tx *sql.Tx, tables []table) {
	for i, t := range tables {
		if t.Kind != "table" || t.Rows != nil {
			continue
		}
		var n int64
		q := fmt.Sprintf("SELECT count(*) FROM (SELECT 1 FROM %s LIMIT %d) AS bounded", t.from, maxCount+1) //nolint:gosec // the name is quoted
		switch err := tx.QueryRowContext(ctx, q).Scan(&n); {
		case err != nil: // unknown
		case n > maxCount:
			tables[i].Note = fmt.Sprintf("more than %d rows", maxCount)
		default:
			tables[i].Rows = &n
		}
	}
}

// pick returns the requested table, or all tables if name is empty.
func pick(all []table, name string) ([]table, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return all, nil
	}
	i := slices.IndexFunc(all, func(t table) bool { return t.Name == name })
	if i < 0 {
		i = slices.IndexFunc(all, func(t table) bool { return strings.EqualFold(strings.Trim(t.Name, `"`), strings.Trim(name, "\"`[]")) })
	}
	if i >= 0 {
		return all[i : i+1], nil
	}
	e := media.Errorf(media.CodeNotFound, "table %q does not exist in the database", clip(name, 80))
	e.Retryable = true
	for _, t := range all[:min(20, len(all))] {
		e.Valid = append(e.Valid, t.Name)
	}
	if len(e.Valid) > 0 {
		e.Message += "; the tables are " + strings.Join(e.Valid, ", ")
	}
	return nil, e
}

// sample adds the first rows of a table. A table that cannot be read, such as a view over a missing table, or not in
// time, gets a note instead.
func (d *Database) sample(ctx context.Context, t *table) {
	ctx, cancel := context.WithTimeout(ctx, sampleTime)
	defer cancel()
	var r Rows
	err := d.read(ctx, func(tx *sql.Tx) (err error) {
		r, err = d.fetch(ctx, tx, "SELECT * FROM "+t.from, sampleRows)
		return err
	})
	switch {
	case ctx.Err() != nil:
		t.Notes = append(t.Notes, "its rows could not be read in time: query them with SQL")
	case err != nil:
		t.Notes = append(t.Notes, "its rows are not readable: "+clip(err.Error(), 120))
	default:
		t.SampleRows, _ = r.shown(80, maxOutcome/4)
	}
}

// described formats tables within the size limit of a prompt. If there are too many, it only names the later ones.
func (d *Database) described(tables []table, total int) action.Result {
	res := action.Result{
		Message: fmt.Sprintf("%s database with %d tables", d.engine.about().name, total),
		Outputs: map[string]any{"engine": d.engine.about().name, "totalCount": total},
	}
	if total == 1 {
		res.Message = d.engine.about().name + " database with 1 table"
	}
	if total == maxTables {
		res.Warnings = append(res.Warnings, fmt.Sprintf("only the first %d tables are listed", maxTables))
	}
	size, full, named := 0, []table{}, []string{}
	for _, t := range tables {
		n := length(t)
		if len(full) > 0 && size+n > maxOutcome || len(named) > 0 {
			named = append(named, t.Name)
			continue
		}
		size += n
		full = append(full, t)
	}
	res.Outputs["tables"] = full
	if len(named) > 0 {
		if len(named) > 200 {
			named = append(named[:200], "…")
		}
		res.Outputs["moreTables"] = named
		res.Message += fmt.Sprintf("; %d are described, the others only named: use Table to describe one", len(full))
	}
	return res
}

// length returns the size of a value in a prompt, in characters of JSON.
func length(v any) int {
	b, err := json.Marshal(v)
	if err != nil {
		return maxOutcome
	}
	return len([]rune(string(b)))
}

// list returns all rows of an internal query.
func list[T any](ctx context.Context, tx *sql.Tx, query string, scan func(func(...any) error) (T, error), args ...any) (out []T, err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports errors
	for rows.Next() {
		v, err := scan(rows.Scan)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

func scanColumn(scan func(...any) error) (c column, err error) {
	err = scan(&c.Name, &c.DatabaseType, &c.Key)
	c.Type = kindOf(c.DatabaseType)
	return c, err
}

func scanText(scan func(...any) error) (s string, err error) { return s, scan(&s) }

// clip shortens text and replaces media with its name.
func clip(s string, n int) string { return file.Clip(s, n) }

func refused(words string) error {
	return media.Errorf(media.CodeForbidden, "the database is read-only (%s): use one SELECT", words)
}
