//go:build !postgres

package main

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

func runTests(m *testing.M) int { return m.Run() }

// template is a data folder whose databases have their tables: with the race detector,
// making them takes longer than most tests.
var template = sync.OnceValues(func() (string, error) {
	dir, err := binaries()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "data")
	store, err := sqlite.Open(context.Background(), sqlite.Config{Path: filepath.Join(dir, "atelier.db")})
	if err != nil {
		return "", err
	}
	engine, err := durable.Open(context.Background(), durable.Config{Path: filepath.Join(dir, "engine.db")})
	if err != nil {
		return "", errors.Join(err, store.Close())
	}
	return dir, errors.Join(engine.Close(context.Background()), store.Close())
})

// newDatabase gives a data folder databases with tables, as a second command finds them.
func newDatabase(t *testing.T, data string) string {
	t.Helper()
	from, err := template()
	if err == nil {
		err = os.MkdirAll(data, 0o700)
	}
	for _, name := range []string{"atelier.db", "engine.db"} {
		var b []byte
		if err == nil {
			b, err = os.ReadFile(filepath.Join(from, name))
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(data, name), b, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return ""
}

// emptyDatabase leaves the ledger in the data folder.
func emptyDatabase(*testing.T) string { return "" }

// tags are the build tags of this test binary.
const tags = ""
