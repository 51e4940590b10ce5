//go:build postgres && unix

package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/internal/pgtest"
	"atelier/run/runtest"
)

// runTests runs every test of the command line with its ledger on a real server.
func runTests(m *testing.M) int { return pgtest.Main(m) }

// tags are the build tags of this test binary.
const tags = "postgres"

// newDatabase returns a new database with tables, as a second command finds it.
func newDatabase(t *testing.T, _ string) string {
	t.Helper()
	return runtest.CopyDatabase(t)
}

// emptyDatabase returns a new database without tables.
func emptyDatabase(t *testing.T) string {
	t.Helper()
	return pgtest.Database(t)
}

// anotherMachine returns an environment with its own data folder that shares the database and the blobs.
func anotherMachine(t *testing.T, p *testEnv) *testEnv {
	t.Helper()
	m := *p
	m.data, m.env = filepath.Join(t.TempDir(), "data"), maps.Clone(p.env)
	m.env["ATELIER_DATA"] = m.data
	err := errors.Join(os.MkdirAll(filepath.Join(p.data, "blobs"), 0o700), os.MkdirAll(m.data, 0o700))
	if err = errors.Join(err, os.Symlink(filepath.Join(p.data, "blobs"), filepath.Join(m.data, "blobs"))); err != nil {
		t.Fatal(err)
	}
	return &m
}

// TestDoctorShowsDatabase: the ledger is in the database that the variable names.
func TestDoctorShowsDatabase(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.must("generate", "a fox", "--size", "64x64")
	if o := p.must("doctor"); !strings.Contains(o.stdout, "PostgreSQL test_") {
		t.Errorf("doctor prints\n%s", o.stdout)
	}
	if n := len(p.mediaList().Items); n != 1 {
		t.Errorf("%d items listed", n)
	}
	p.env["ATELIER_DATABASE_URL"] = emptyDatabase(t)
	if n := len(p.mediaList().Items); n != 0 {
		t.Errorf("%d items listed in another database", n)
	}
}

// TestDatabaseGoes: the server stops while a run waits for pictures; commands say so, and the stored picture is kept.
func TestDatabaseGoes(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	p, s := connected(t)
	p.env["ATELIER_DATABASE_URL"] = server.Database(t)
	s.chat.Answer = answersInOrder(threePictures(t), done(t, "Here."))
	p.env["ATELIER_IMAGE_MODEL"] = "GPT Image 2"
	slowAfter(s)
	proc := p.start("run", "sage", "draw three pictures")
	eventually(t, "the first picture", func() bool { return len(p.mediaList().Items) >= 1 })
	server.Stop()
	p.atelier("media", "list").checkRefused(t, exitProvider, "ATELIER_DATABASE_URL")
	if err := proc.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	proc.wait()
	server.Restart(t)
	if n := len(p.mediaList().Items); n != 1 {
		t.Errorf("%d items listed, want 1", n)
	}
	p.must("media", "verify")
}
