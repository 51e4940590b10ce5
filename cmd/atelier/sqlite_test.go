//go:build !postgres

package main

import (
	"os"
	"path/filepath"
	"testing"

	"atelier/run/runtest"
)

func runTests(m *testing.M) int { return m.Run() }

// newDatabase creates databases with tables in a data folder, as a second command finds them.
func newDatabase(t *testing.T, data string) string {
	t.Helper()
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	runtest.CopyFiles(t, filepath.Join(data, "atelier.db"), filepath.Join(data, "engine.db"))
	return ""
}

// emptyDatabase returns no URL, so that the ledger is in the data folder.
func emptyDatabase(*testing.T) string { return "" }

// tags are the build tags of this test binary.
const tags = ""

// anotherMachine returns the same environment: SQLite supports one machine.
func anotherMachine(_ *testing.T, p *testEnv) *testEnv { return p }
