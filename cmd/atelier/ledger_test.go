package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// openLedger opens the database of an environment while its owner may use it.
func (p *testEnv) openLedger() *sql.DB {
	p.t.Helper()
	driver, source := "sqlite", filepath.Join(p.data, "atelier.db")+"?_pragma=busy_timeout(10000)"
	if p.env["ATELIER_DATABASE_URL"] != "" {
		driver, source = "pgx", p.env["ATELIER_DATABASE_URL"]
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = db.Close() }) // read only
	return db
}

// ledgerDump returns all content of the ledger: the SQLite file with its log, or every row of every PostgreSQL table.
func (p *testEnv) ledgerDump() []byte {
	p.t.Helper()
	var dump bytes.Buffer
	if p.env["ATELIER_DATABASE_URL"] == "" {
		for _, name := range []string{"atelier.db", "atelier.db-wal"} {
			b, err := os.ReadFile(filepath.Join(p.data, name))
			if err != nil && !os.IsNotExist(err) {
				p.t.Fatal(err)
			}
			dump.Write(b)
		}
		return dump.Bytes()
	}
	db := p.openLedger()
	for _, table := range textColumn(p.t, db, `SELECT table_schema || '.' || table_name FROM information_schema.tables
		WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`) {
		for _, row := range textColumn(p.t, db, fmt.Sprintf("SELECT t::text FROM %s t", table)) {
			dump.WriteString(table + " " + row + "\n")
		}
	}
	return dump.Bytes()
}

// textColumn returns the rows of a result of one column.
func textColumn(t *testing.T, db *sql.DB, query string, args ...any) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports errors
	var values []string
	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return values
}

// TestBadDatabase: an invalid URL, or one where no server answers, is reported without its password, and nothing is
// written elsewhere.
func TestBadDatabase(t *testing.T) {
	t.Parallel()
	for url, c := range map[string]struct {
		code int
		says string
	}{
		"atelier.db":                           {exitInput, "URL is invalid"},
		"mysql://ann:sesame@db.example.com/a":  {exitInput, "URL is invalid"},
		"postgres://ann:sesame@127.0.0.1:1/a":  {exitProvider, "PostgreSQL a on 127.0.0.1:1 does not answer"},
		"postgres://ann:sesame@127.0.0.1:x1/a": {exitInput, "URL is invalid"},
	} {
		p := newTestEnv(t)
		p.removeData()
		p.env["ATELIER_DATABASE_URL"] = url
		for _, args := range [][]string{{"media", "list"}, {"generate", "a fox"}, {"run", "sage", "hello"}} {
			o := p.atelier(args...)
			o.checkRefused(t, c.code, "ATELIER_DATABASE_URL")
			o.checkRefused(t, c.code, c.says)
			if strings.Contains(o.stderr, "sesame") {
				t.Errorf("%s shows the password:\n%s", url, o.stderr)
			}
		}
		if o := p.atelier("doctor"); o.code != exitInput || !strings.Contains(o.stdout, c.says) || strings.Contains(o.stdout, "sesame") {
			t.Errorf("doctor: exit %d\n%s", o.code, o.stdout)
		}
		if _, err := os.Stat(filepath.Join(p.data, "atelier.db")); err == nil {
			t.Errorf("%s: a ledger was made in the data folder instead", url)
		}
	}
}
