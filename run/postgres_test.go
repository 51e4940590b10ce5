//go:build postgres && unix

package run_test

import (
	"database/sql"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // to inspect the database
	"go.uber.org/goleak"

	"atelier/internal/pgtest"
	"atelier/ledger/postgres"
	"atelier/run/durable"
	"atelier/run/runtest"
)

// With the build tag postgres, every test of runs has its ledger and its engine on a real server.
func TestMain(m *testing.M) {
	code := pgtest.Main(m)
	if err := goleak.Find(); err != nil && code == 0 {
		_, _ = fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// databases maps paths of ledgers to the databases that replace them.
var databases sync.Map

func databaseOf(path string) string {
	url, _ := databases.Load(path)
	text, _ := url.(string)
	return text
}

// openStore opens the ledger of a path.
func openStore(tb testing.TB, path string) store {
	tb.Helper()
	if databaseOf(path) == "" {
		databases.Store(path, runtest.CopyDatabase(tb))
	}
	s, err := postgres.Open(tb.Context(), postgres.Config{URL: databaseOf(path)})
	must(tb, err)
	return s
}

// engineConfig returns the configuration of the engine beside a ledger.
func engineConfig(path string) durable.Config {
	return durable.Config{DatabaseURL: databaseOf(path)}
}

func (h *testService) database(tb testing.TB) *sql.DB {
	tb.Helper()
	db, err := sql.Open("pgx", databaseOf(h.path))
	must(tb, err)
	tb.Cleanup(func() { _ = db.Close() }) // it wrote nothing
	return db
}

// dump returns the content of ledger and engine, by schema.
func (h *testService) dump(tb testing.TB) map[string]string {
	tb.Helper()
	db, all := h.database(tb), map[string]string{}
	for table, schema := range tablesOf(tb, db) {
		all[schema] += rowsOf(tb, db, table)
	}
	return all
}

// tablesOf returns the tables of a database with their schemas.
func tablesOf(tb testing.TB, db *sql.DB) map[string]string {
	tb.Helper()
	rows, err := db.QueryContext(tb.Context(), `SELECT table_schema, quote_ident(table_schema) || '.' || quote_ident(table_name)
		FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`)
	must(tb, err)
	defer func() { _ = rows.Close() }() // rows.Err reports errors
	tables := map[string]string{}
	for rows.Next() {
		var schema, table string
		must(tb, rows.Scan(&schema, &table))
		tables[table] = schema
	}
	must(tb, rows.Err())
	return tables
}

// rowsOf returns every value of a table; bytes are unchanged.
func rowsOf(tb testing.TB, db *sql.DB, table string) string {
	tb.Helper()
	rows, err := db.QueryContext(tb.Context(), "SELECT * FROM "+table)
	must(tb, err)
	defer func() { _ = rows.Close() }() // rows.Err reports errors
	names, err := rows.Columns()
	must(tb, err)
	var text strings.Builder
	for rows.Next() {
		values := make([]any, len(names))
		for i := range values {
			values[i] = new(any)
		}
		must(tb, rows.Scan(values...))
		for _, v := range values {
			switch t := (*v.(*any)).(type) {
			case []byte:
				text.Write(t)
			default:
				fmt.Fprint(&text, t)
			}
			text.WriteByte('\n')
		}
	}
	must(tb, rows.Err())
	return text.String()
}

// blockWrites blocks writes of events until release is called, like another process that is writing.
func (h *testService) blockWrites(tb testing.TB) (release func()) {
	tb.Helper()
	tx, err := h.database(tb).BeginTx(tb.Context(), nil)
	must(tb, err)
	_, err = tx.ExecContext(tb.Context(), "LOCK TABLE run_events IN ACCESS EXCLUSIVE MODE")
	must(tb, err)
	return func() { _ = tx.Rollback() }
}
