//go:build !postgres || !unix

package run_test

import (
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"atelier/ledger/sqlite"
	"atelier/run/durable"
	"atelier/run/runtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// openStore opens the ledger of a path.
func openStore(tb testing.TB, path string) store {
	tb.Helper()
	if _, err := os.Stat(path); err != nil {
		runtest.CopyFiles(tb, path, engineConfig(path).Path)
	}
	s, err := sqlite.Open(tb.Context(), sqlite.Config{Path: path, Logger: slog.New(slog.DiscardHandler)})
	must(tb, err)
	return s
}

// engineConfig returns the configuration of the engine beside a ledger.
func engineConfig(path string) durable.Config {
	return durable.Config{Path: filepath.Join(filepath.Dir(path), "engine.db")}
}

// dump returns the content of the files of ledger and engine, by name.
func (h *testService) dump(tb testing.TB) map[string]string {
	tb.Helper()
	all := map[string]string{}
	for _, file := range []string{"a.db", "a.db-wal", "engine.db", "engine.db-wal"} {
		b, err := os.ReadFile(filepath.Join(filepath.Dir(h.path), file))
		if os.IsNotExist(err) {
			continue // there is no engine, or its log is empty
		}
		must(tb, err)
		all[file] = string(b)
	}
	return all
}

// blockWrites blocks writes of events until release is called, like another process that is writing.
func (h *testService) blockWrites(tb testing.TB) (release func()) {
	tb.Helper()
	db, err := sql.Open("sqlite", h.path+"?_pragma=busy_timeout(10000)&_txlock=immediate")
	must(tb, err)
	tb.Cleanup(func() { _ = db.Close() }) // it wrote nothing
	tx, err := db.BeginTx(tb.Context(), nil)
	must(tb, err)
	return func() { _ = tx.Rollback() }
}
