//go:build !postgres

package main

import (
	"os"
	"path/filepath"
	"testing"

	"atelier/run/runtest"
)

func runTests(m *testing.M) int { return m.Run() }

// newDatabase gives a data folder databases with tables, as a second command finds them.
func newDatabase(t *testing.T, data string) string {
	t.Helper()
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	runtest.CopyFiles(t, filepath.Join(data, "atelier.db"), filepath.Join(data, "engine.db"))
	return ""
}

// emptyDatabase leaves the ledger in the data folder.
func emptyDatabase(*testing.T) string { return "" }

// tags are the build tags of this test binary.
const tags = ""

// anotherMachine is the data folder itself: on SQLite there is one machine.
func anotherMachine(_ *testing.T, p *place) *place { return p }
