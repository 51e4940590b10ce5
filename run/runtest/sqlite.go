// Package runtest provides tests of runs with databases that contain the tables of ledger and engine. Creating these
// takes longer than most tests, especially with the race detector, so they are created once per process and copied.
//
// An error ends the test. It may import the ledgers, run/durable, run/lease and internal/pgtest.
package runtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"atelier/ledger/sqlite"
	"atelier/run/durable"
	"atelier/run/lease"
)

// files contains the bytes of a ledger and an engine on SQLite.
type files struct{ ledger, engine []byte }

var made = sync.OnceValues(func() (f files, err error) { //nolint:gochecknoglobals // made once
	dir, err := os.MkdirTemp("", "atelier-run-")
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, ledger, engine := context.Background(), filepath.Join(dir, "ledger.db"), filepath.Join(dir, "engine.db")
	s, err := sqlite.Open(ctx, sqlite.Config{Path: ledger})
	if err != nil {
		return f, err
	}
	e, err := durable.Open(ctx, durable.Config{Path: engine, Leases: lease.NewKeeper(s)})
	if err != nil {
		return f, errors.Join(err, s.Close())
	}
	if err := errors.Join(e.Close(ctx), s.Close()); err != nil {
		return f, err
	}
	if f.ledger, err = os.ReadFile(ledger); err != nil { //nolint:gosec // a name of our own making
		return f, err
	}
	f.engine, err = os.ReadFile(engine) //nolint:gosec // a name of our own making
	return f, err
})

// Folder creates a data folder that contains a ledger and an engine on SQLite with their tables.
func Folder(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	CopyFiles(tb, filepath.Join(dir, "atelier.db"), filepath.Join(dir, "engine.db"))
	return dir
}

// CopyFiles creates a ledger and an engine on SQLite at the given paths, in existing folders.
func CopyFiles(tb testing.TB, ledger, engine string) {
	tb.Helper()
	f, err := made()
	if err == nil {
		err = errors.Join(os.WriteFile(ledger, f.ledger, 0o600), os.WriteFile(engine, f.engine, 0o600))
	}
	if err != nil {
		tb.Fatal(err)
	}
}
