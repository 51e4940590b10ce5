package folder_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"atelier/internal/folder"
	"atelier/ledger"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
)

// textStore stores texts and returns records of them.
type textStore struct {
	t     *testing.T
	blobs *blob.Store
}

func newTextStore(t *testing.T) textStore {
	t.Helper()
	blobs, err := blob.New(blob.Config{Driver: memblob.New()})
	if err != nil {
		t.Fatal(err)
	}
	return textStore{t, blobs}
}

func (s textStore) file(name, text string) ledger.Record {
	s.t.Helper()
	info, err := s.blobs.Put(s.t.Context(), strings.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	return ledger.Record{Output: named(name, info.Digest)}
}

func named(name string, d media.Digest) media.Output {
	return media.NewOutput(media.Blob{Digest: d, Facts: media.Facts{MIMEType: "text/plain"}}, media.Meta{FileName: name})
}

// TestFolderOfARun: each file is there once under a unique name; equal files share a folder, the only one.
func TestFolderOfARun(t *testing.T) {
	t.Parallel()
	s := newTextStore(t)
	store := folder.Store{Dir: filepath.Join(t.TempDir(), "files"), Blobs: s.blobs}
	records := []ledger.Record{s.file("a.csv", "one"), s.file("a.csv", "two"), s.file("a.csv", "one"), s.file("a.csv", "three"), s.file("../b.md", "four")}
	dirs := make([]string, 8)
	var wg sync.WaitGroup
	for i := range dirs {
		wg.Go(func() {
			dir, names, err := store.Materialize(t.Context(), records)
			if got := strings.Join(names, ", "); err != nil || got != "a.csv, a (2).csv, a.csv, a (3).csv, _b.md" {
				t.Errorf("%s, %v", got, err)
			}
			dirs[i] = dir
		})
	}
	wg.Wait()
	for _, dir := range dirs {
		if dir != dirs[0] {
			t.Errorf("two folders: %s, %s", dir, dirs[0])
		}
	}
	for name, want := range map[string]string{"a.csv": "one", "a (2).csv": "two", "a (3).csv": "three", "_b.md": "four"} {
		if got, err := os.ReadFile(filepath.Join(dirs[0], name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for dir, want := range map[string]int{dirs[0]: 4, store.Dir: 1} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != want {
			t.Errorf("%s has %d entries, %v", dir, len(entries), err)
		}
	}
}

// TestFolderIsWholeOrNot: a file without bytes, or a location that cannot be written, leaves no folder behind.
func TestFolderIsWholeOrNot(t *testing.T) {
	t.Parallel()
	s := newTextStore(t)
	store := folder.Store{Dir: t.TempDir(), Blobs: s.blobs}
	gone := ledger.Record{Output: named("gone.txt", media.DigestOf([]byte("never stored")))}
	if _, _, err := store.Materialize(t.Context(), []ledger.Record{s.file("a.txt", "a"), gone}); media.CodeOf(err) != media.CodeNotFound {
		t.Errorf("a file without bytes: %v", err)
	}
	if entries, err := os.ReadDir(store.Dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	store.Dir = filepath.Join(blocked, "below")
	if _, _, err := store.Materialize(t.Context(), []ledger.Record{s.file("a.txt", "a")}); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("below a file: %v", err)
	}
}

// TestNames: names have no path separators, control characters and leading dots, and at most 150 bytes.
func TestNames(t *testing.T) {
	t.Parallel()
	d := media.DigestOf([]byte("x"))
	usual := folder.NameOf(named("", d))
	for given, want := range map[string]string{
		"Jahresbericht 2025.pdf":          "Jahresbericht 2025.pdf",
		`..\..\etc/passwd`:                "_.._etc_passwd",
		".hidden":                         "hidden",
		" ... ":                           usual,
		"a\x00b\nc\x7f":                   "a_b_c_",
		"C:evil":                          "C_evil",
		"bad\xff.csv":                     "bad_.csv",
		strings.Repeat("n", 200) + ".csv": strings.Repeat("n", 146) + ".csv",
		strings.Repeat("é", 100):          strings.Repeat("é", 75),
		"x." + strings.Repeat("e", 200):   "x." + strings.Repeat("e", 148),
	} {
		if got := folder.NameOf(named(given, d)); got != want {
			t.Errorf("%.40q becomes %q, want %q", given, got, want)
		}
	}
	if usual == "" || strings.HasPrefix(usual, ".") {
		t.Errorf("a file without a name is called %q", usual)
	}
}
