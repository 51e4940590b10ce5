//go:build !postgres || !unix

package run_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"atelier/ledger/sqlite"
	"atelier/run/durable"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// template are the files of a ledger and an engine that have their tables: with the race
// detector, making them takes longer than most tests.
var template = sync.OnceValues(func() (files map[string][]byte, err error) {
	dir, err := os.MkdirTemp("", "atelier-run-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := sqlite.Open(context.Background(), sqlite.Config{Path: filepath.Join(dir, "a.db")})
	if err != nil {
		return nil, err
	}
	engine, err := durable.Open(context.Background(), engineConfig(filepath.Join(dir, "a.db")))
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := errors.Join(engine.Close(context.Background()), s.Close()); err != nil {
		return nil, err
	}
	files = map[string][]byte{}
	for _, name := range []string{"a.db", "engine.db"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		files[name] = b
	}
	return files, nil
})

// furnish puts them at the path of a ledger that there is not yet.
func furnish(tb testing.TB, path string) {
	tb.Helper()
	if _, err := os.Stat(path); err == nil {
		return
	}
	files, err := template()
	must(tb, err)
	must(tb, os.WriteFile(path, files["a.db"], 0o600))
	must(tb, os.WriteFile(engineConfig(path).Path, files["engine.db"], 0o600))
}

// openStore opens the ledger of a path.
func openStore(tb testing.TB, path string) store {
	tb.Helper()
	furnish(tb, path)
	s, err := sqlite.Open(tb.Context(), sqlite.Config{Path: path, Logger: slog.New(slog.DiscardHandler)})
	must(tb, err)
	return s
}

// engineConfig is where the engine beside a ledger is.
func engineConfig(path string) durable.Config {
	return durable.Config{Path: filepath.Join(filepath.Dir(path), "engine.db")}
}

// dump is all that ledger and engine hold, by where.
func (h *house) dump(tb testing.TB) map[string]string {
	tb.Helper()
	all := map[string]string{}
	for _, file := range []string{"a.db", "a.db-wal", "engine.db", "engine.db-wal"} {
		b, err := os.ReadFile(filepath.Join(filepath.Dir(h.path), file))
		if os.IsNotExist(err) {
			continue // there is no engine, or nothing is left in its log
		}
		must(tb, err)
		all[file] = string(b)
	}
	return all
}

// occupy lets nobody write events until release is called, as another process that
// writes just now.
func (h *house) occupy(tb testing.TB) (release func()) {
	tb.Helper()
	db, err := sql.Open("sqlite", h.path+"?_pragma=busy_timeout(10000)&_txlock=immediate")
	must(tb, err)
	tb.Cleanup(func() { _ = db.Close() }) // it wrote nothing
	tx, err := db.BeginTx(tb.Context(), nil)
	must(tb, err)
	return func() { _ = tx.Rollback() }
}
