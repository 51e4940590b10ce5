package database

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier/action"
)

// made makes an SQLite file from SQL and gives its path.
func made(t testing.TB, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sales of ünits.db")
	db, err := sql.Open("sqlite", "file:"+strings.ReplaceAll(path, " ", "%20"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// sales is a small real schema.
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

func open(t testing.TB, cfg Config) *Database {
	t.Helper()
	d, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// ask runs Query Database.
func (d *Database) ask(t testing.TB, q string) (action.Result, error) {
	t.Helper()
	return d.query(t.Context(), &action.Call{Params: map[string]any{"SQL": q}})
}

// must runs a query that has to succeed, and checks what it costs.
func (d *Database) must(t testing.TB, q string) answer {
	t.Helper()
	res, err := d.ask(t, q)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	b, err := json.Marshal(res.Outputs)
	if err != nil {
		t.Fatal(err)
	}
	if n := len([]rune(string(b))); n > maxOutcome+1000 {
		t.Errorf("%.60s: outcome of %d characters, at most %d", q, n, maxOutcome)
	}
	a := answer{Message: res.Message}
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// answer is what models get.
type answer struct {
	Message   string `json:"-"`
	Columns   []string
	Rows      [][]any
	RowCount  int
	Truncated bool
	Warnings  []string
	Table     *struct {
		RowCount int
		X        string
		GroupBy  string
		Measure  string
		Series   []struct {
			Name   string
			Points [][2]any
		}
	}
}

func (a answer) String() string { return fmt.Sprintf("%v %v %s", a.Columns, a.Rows, a.Message) }

// soon is a limit that endless queries run into.
const soon = 100 * time.Millisecond
