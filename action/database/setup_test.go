package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier/action"
)

// createFile creates an SQLite file from SQL and returns its path.
func createFile(tb testing.TB, statements ...string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "sales of ünits.db")
	db, err := sql.Open("sqlite", "file:"+strings.ReplaceAll(path, " ", "%20"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			tb.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		tb.Fatal(err)
	}
	return path
}

// sales returns a small realistic schema.
func sales() []string {
	return []string{
		`CREATE TABLE region (id INTEGER PRIMARY KEY, name TEXT NOT NULL)`,
		`CREATE TABLE sale (day DATE, region_id INTEGER REFERENCES region(id), amount REAL, note TEXT, photo BLOB)`,
		`CREATE VIEW by_region AS SELECT r.name, sum(s.amount) AS amount FROM sale s JOIN region r ON r.id = s.region_id GROUP BY 1`,
		`INSERT INTO region VALUES (1, 'North'), (2, 'South')`,
		`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i < 3999)
			INSERT INTO sale SELECT date('2020-01-01', (i/2)||' days'), i%2+1, i%100, NULL, NULL FROM n`,
	}
}

func open(tb testing.TB, cfg Config) *Database {
	tb.Helper()
	d, err := Open(tb.Context(), cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = d.Close() })
	return d
}

// ask runs Query Database.
func (d *Database) ask(tb testing.TB, q string) (action.Result, error) {
	tb.Helper()
	return d.run(tb.Context(), q)
}

// run does what the action does.
func (d *Database) run(ctx context.Context, q string) (action.Result, error) {
	return d.queryAction().Run(ctx, &action.Call{Params: map[string]any{"SQL": q}})
}

// must runs a query that must succeed, and checks its size.
func (d *Database) must(tb testing.TB, q string) answer {
	tb.Helper()
	res, err := d.ask(tb, q)
	if err != nil {
		tb.Fatalf("%s: %v", q, err)
	}
	b, err := json.Marshal(res.Outputs)
	if err != nil {
		tb.Fatal(err)
	}
	if n := len([]rune(string(b))); n > maxOutcome+maxStatement+1000 {
		tb.Errorf("%.60s: outcome of %d characters, at most %d", q, n, maxOutcome)
	}
	a := answer{Message: res.Message}
	if err := json.Unmarshal(b, &a); err != nil {
		tb.Fatal(err)
	}
	return a
}

// answer is the output as models get it.
type answer struct {
	Message   string `json:"-"`
	Columns   []string
	Rows      [][]any
	RowCount  int
	Truncated bool
	Warnings  []string
	Statement string
}

func (a answer) String() string { return fmt.Sprintf("%v %v %s", a.Columns, a.Rows, a.Message) }

// shortLimit is a limit that endless queries exceed.
const shortLimit = 100 * time.Millisecond
