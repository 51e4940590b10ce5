//go:build unix

package relay_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/journal"
	"atelier/relay"
)

func TestIDs(t *testing.T) {
	t.Parallel()
	r := open(t, t.TempDir())
	for _, id := range []string{"", "-a", "_", "a/b", "../a", "a.b", "a~2", "ä", "a b", strings.Repeat("a", 129)} {
		if r.Prepare(id) == nil {
			t.Errorf("%q can be prepared", id)
		}
		fate(t, r, id, journal.FateUnknown)
		r.Forget(id) // harmless
		ctx := journal.WithCarried(t.Context(), &journal.Carried{ID: id})
		if o := ask(r.Transport(nil), post(t, ctx, "http://127.0.0.1:1/", "")); o.Err == nil || o.Sent {
			t.Errorf("%q is sent: %+v", id, o)
		}
	}
	for _, id := range []string{"a", "A-1_b", strings.Repeat("a", 128)} {
		if err := r.Prepare(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
		if err := r.Prepare(id); !errors.Is(err, os.ErrExist) {
			t.Errorf("%q is prepared twice: %v", id, err)
		}
	}
	fate(t, r, "never-heard-of", journal.FateUnknown)
}

func TestConfig(t *testing.T) {
	t.Parallel()
	if _, err := relay.New(relay.Config{}); err == nil || !strings.Contains(err.Error(), "Config.Folder") {
		t.Errorf("no folder: %v", err)
	}
	folder := filepath.Join(t.TempDir(), "made", "on", "the", "way")
	r, err := relay.New(relay.Config{Folder: folder, Program: filepath.Join(folder, "missing")})
	if err != nil {
		t.Fatal(err)
	}
	if r.Prepare("a") == nil {
		t.Error("a call is prepared without a process")
	}
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info.Mode(), err)
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
}
