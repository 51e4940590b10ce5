// Package runtest gives tests of runs databases for ledger and engine that have their tables: making
// them takes longer than most tests, with the race detector above all, so they are made once in a
// process and copied.
//
// An error ends the test. It may import the ledgers, the engine and internal/pgtest.
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
)

// files are the bytes of a ledger and an engine on SQLite.
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
	e, err := durable.Open(ctx, durable.Config{Path: engine})
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

// CopyFiles makes a ledger and an engine on SQLite at these paths, in folders that there are.
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
