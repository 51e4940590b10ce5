package database

import (
	"cmp"
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

// Table is a table or view as models see it.
type Table struct {
	Name string `json:"name"`
	from string // the name as SQL
	// Path, Sheet and Title tell where the table of a file comes from.
	Path  string `json:"path,omitempty"`
	Sheet string `json:"sheet,omitempty"`
	Title string `json:"title,omitempty"`
	// Kind is table or view; empty for files.
	Kind string `json:"kind,omitempty"`
	// Rows is the number of rows, if known; Note describes its precision.
	Rows       *int64   `json:"rowCount,omitempty"`
	Note       string   `json:"rowCountNote,omitempty"`
	Comment    string   `json:"comment,omitempty"`
	Columns    []Column `json:"columns,omitempty"`
	References []string `json:"references,omitempty"`
	// SampleRows are the first rows.
	SampleRows [][]any  `json:"sampleRows,omitempty"`
	Notes      []string `json:"notes,omitempty"`
}

// Column is one column of a table. Facts that were not measured are nil.
type Column struct {
	Name string `json:"name"`
	// Type is integer, number, text, date, datetime or boolean; DatabaseType is the name of the type in the database.
	Type         string `json:"type"`
	DatabaseType string `json:"databaseType,omitempty"`
	// Key reports whether the column is part of the primary key.
	Key bool `json:"key,omitempty"`
	// Unit is the unit of the numbers of a file.
	Unit    string `json:"unit,omitempty"`
	Missing *int64 `json:"missing,omitempty"`
	// Unusable is the number of cells of a file that do not fit the type; UnusableValues are some of them.
	Unusable       *int64   `json:"unusable,omitempty"`
	UnusableValues []string `json:"unusableValues,omitempty"`
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
			{Name: "moreTables", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "The names of the tables that are not described: describe one with Table."},
		},
		Run: d.describe,
	}
}

// describe runs Describe Database.
func (d *Database) describe(run context.Context, c *action.Call) (action.Result, error) {
	ctx, cancel := context.WithTimeout(run, d.cfg.Timeout)
	defer cancel()
	var all, tables []Table
	err := d.read(ctx, func(tx *sql.Tx) (err error) {
		if all, err = d.engine.describe(ctx, tx); err != nil {
			return err
		}
		if tables, err = Pick(all, c.Text("Table")); err != nil {
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
		d.Sample(ctx, &shown[i], sampleRows)
	}
	if err := run.Err(); err != nil {
		return action.Result{}, err
	}
	return d.described(tables, len(all)), nil
}

// count counts the rows of tables without an estimate, up to maxCount, until ctx ends.
func (d *Database) count(ctx context.Context, tx *sql.Tx, tables []Table) {
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

// Pick returns the table that a name or path selects, the tables of a path, or all tables if name is empty. An unknown name
// is [media.CodeNotFound], and the error lists the existing ones.
func Pick(all []Table, name string) ([]Table, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return all, nil
	}
	const quotes = "\"`[]"
	for _, is := range []func(Table) bool{
		func(t Table) bool { return t.Name == name },
		func(t Table) bool { return strings.EqualFold(strings.Trim(t.Name, quotes), strings.Trim(name, quotes)) },
		func(t Table) bool { return strings.EqualFold(t.Path, strings.Trim(name, quotes)) },
	} {
		if i := slices.IndexFunc(all, is); i >= 0 {
			return slices.DeleteFunc(slices.Clone(all[i:]), func(t Table) bool { return !is(t) }), nil
		}
	}
	e := media.Errorf(media.CodeNotFound, "table %q does not exist", clip(name, 80))
	e.Retryable = true
	for _, t := range all[:min(50, len(all))] {
		e.Valid = append(e.Valid, t.Name)
	}
	if len(e.Valid) > 0 {
		e.Message += ": the tables are " + strings.Join(e.Valid[:min(20, len(e.Valid))], ", ")
	}
	return nil, e
}

// Sample adds the first rows of a table. A table that cannot be read, such as a view over a missing table, or not in
// time, gets a note instead.
func (d *Database) Sample(ctx context.Context, t *Table, rows int) {
	ctx, cancel := context.WithTimeout(ctx, sampleTime)
	defer cancel()
	var r Rows
	err := d.read(ctx, func(tx *sql.Tx) (err error) {
		r, err = d.fetch(ctx, tx, "SELECT * FROM "+cmp.Or(t.from, d.engine.quote(t.Name)), rows)
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

// described formats tables within the size limit of a prompt.
func (d *Database) described(tables []Table, total int) action.Result {
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
	AddTables(&res, tables)
	return res
}

// AddTables adds the descriptions of tables to a result, within the size limit of a prompt.
func AddTables(res *action.Result, tables []Table) {
	full, named := fit(tables)
	res.Outputs["tables"] = full
	if len(named) > 0 {
		res.Outputs["moreTables"] = named
		res.Message += fmt.Sprintf("; %d are described, the others only named: use Table to describe one", len(full))
	}
}

// details are the maximum numbers of a table's sample rows, of a column's values and of columns that are described, from
// much detail to little.
var details = [][3]int{{5, 24, 200}, {3, 12, 100}, {2, 5, 60}, {1, 3, 60}}

// fit describes many tables in less detail, within the size limit of a prompt. If a prompt cannot hold all of them even
// then, it only names the rest.
func fit(tables []Table) (described []Table, named []string) {
	for _, detail := range details {
		described = []Table{}
		room := maxOutcome
		for _, t := range tables {
			t = t.brief(detail)
			if room -= length(t); room < 0 {
				break
			}
			described = append(described, t)
		}
		if len(described) == len(tables) {
			return described, nil
		}
	}
	described = described[:len(described)*3/4] // room for the names
	if len(described) == 0 {
		described = append(described, tables[0].brief(details[len(details)-1]))
	}
	room := maxOutcome / 4
	for _, t := range tables[len(described):] {
		if room -= len([]rune(t.Name)) + 3; room < 0 {
			return described, append(named, "…")
		}
		named = append(named, t.Name)
	}
	return described, named
}

// brief returns the table with less detail.
func (t Table) brief(detail [3]int) Table {
	rows, values, columns := detail[0], detail[1], detail[2]
	if more := len(t.Columns) - columns; more > 0 {
		t.Notes = append(slices.Clone(t.Notes), fmt.Sprintf("%d more columns are not described, the last is %q", more, t.Columns[len(t.Columns)-1].Name))
	}
	t.Columns = slices.Clone(t.Columns[:min(columns, len(t.Columns))])
	for i := range t.Columns {
		c := &t.Columns[i]
		c.Values = c.Values[:min(values, len(c.Values))]
	}
	t.SampleRows = slices.Clone(t.SampleRows[:min(rows, len(t.SampleRows))])
	for i, row := range t.SampleRows {
		t.SampleRows[i] = row[:min(columns, len(row))]
	}
	return t
}

// length returns the size of a value in a prompt, in characters of JSON.
func length(v any) int {
	b, _ := json.Marshal(v) // texts, finite numbers, booleans and null
	return len([]rune(string(b)))
}

// Querier is *sql.DB or *sql.Tx.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// List returns all rows of a program's own query.
func List[T any](ctx context.Context, db Querier, query string, scan func(func(...any) error) (T, error), args ...any) (out []T, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
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

func scanColumn(scan func(...any) error) (c Column, err error) {
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
