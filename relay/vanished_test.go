package relay_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"atelier/journal"
)

// vanish replaces or removes the file of the program that runs.
func (o order) vanish() error {
	err := os.Remove(o.Program)
	if err == nil && o.Replace != "" {
		err = os.WriteFile(o.Program, []byte(o.Replace), 0o700)
	}
	return err
}

// TestTheProgramIsGone: a program whose file was removed, or replaced by another version, while it
// runs begins its relay all the same, where the system lets it.
func TestTheProgramIsGone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		return
	}
	for _, replaced := range []string{"", "#!/bin/false\n"} {
		h := hold(t)
		p := begin(t, order{Folder: t.TempDir(), URL: h.URL, Do: "call", Program: named(t), Replace: replaced})
		p.until(t, "prepared")
		<-h.came
		close(h.let)
		p.until(t, "answered")
	}
}

// named gives the program of the test one more name. A copy could not always be begun: who begins
// another process at that moment has it open.
func named(t *testing.T) string {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(filepath.Dir(own), "named-") //nolint:usetesting // On the same disk.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "program")
	if err := os.Link(own, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTheTemporaryFolderIsGone: then the socket is where others are.
func TestTheTemporaryFolderIsGone(t *testing.T) {
	t.Parallel()
	h := hold(t)
	folder := t.TempDir()
	p := begin(t, order{Folder: folder, URL: h.URL, Do: "call", Temporary: filepath.Join(t.TempDir(), "gone")})
	p.until(t, "prepared")
	<-h.came
	p.kill()
	close(h.let)
	r := open(t, folder)
	fate(t, r, theCall, journal.FateAnswered)
	if o := ask(r.Transport(nil), post(t, recalled(t, theCall), h.URL, "")); o.Err != nil || o.Body != workDone {
		t.Errorf("%+v", o)
	}
}
