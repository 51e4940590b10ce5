package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier/internal/sim"

	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/fileblob"
)

// TestUnnamedBytesAreCollected: bytes without a record are deleted a week after they were stored; nothing else is.
func TestUnnamedBytesAreCollected(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.must("generate", "a lighthouse", "--model", "offline", "--size", "64x64", "-o", filepath.Join(p.dir, "one.png"))
	named := p.blobFiles()
	old, young := p.stray(t, "old bytes"), p.stray(t, "young bytes")
	makeOld(t, old)
	for _, f := range named {
		makeOld(t, f)
	}
	if got := read[collected](p, "media", "gc", "--dry-run", "--json"); got.Deleted != 1 || got.Young != 1 || got.FreedBytes != int64(len("old bytes")) || !got.DryRun {
		t.Errorf("a dry run: %+v", got)
	}
	if _, err := os.Stat(old); err != nil {
		t.Errorf("a dry run deleted: %v", err)
	}
	if got := read[collected](p, "media", "gc", "--json"); got.Deleted != 1 {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("the stray bytes are still there: %v", err)
	}
	for _, f := range append(named, young) {
		if _, err := os.Stat(f); err != nil {
			t.Errorf("deleted: %v", err)
		}
	}
}

// TestPreviewsLeaveTheDisk: a stored picture replaces its previews; without one, only the last preview is kept.
func TestPreviewsLeaveTheDisk(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	fox := []string{"generate", "a fox", "-m", "GPT Image 2", "--partials"}
	if o := p.onTerminal(append(fox, "-n", "2", "-o", filepath.Join(p.dir, "fox.png"))...); o.code != exitOK || !strings.Contains(o.stderr, "preview 1 of picture 1") {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	if files := p.blobFiles(); len(files) != 2 {
		t.Errorf("%d stored, want the 2 pictures", len(files))
	}
	s.images.Inject(sim.Injection{Fault: sim.FaultPartialsThenError})
	if o := p.atelier(fox...); o.code != exitProvider {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	if files, items := p.blobFiles(), p.mediaList().Items; len(files) != 3 || len(items) != 3 {
		t.Errorf("%d stored and %d listed, want the 2 pictures and the last preview", len(files), len(items))
	}
	p.must("media", "verify")
}

// TestALedgerThatKnowsNothingDeletesNothing: a ledger that knows none of the stored bytes, because it is new or of
// another folder, deletes nothing.
func TestALedgerThatKnowsNothingDeletesNothing(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.must("generate", "a lighthouse", "--model", "offline", "--size", "64x64", "-o", filepath.Join(p.dir, "one.png"))
	for _, f := range p.blobFiles() {
		makeOld(t, f)
	}
	before := len(p.blobFiles())
	other := newTestEnv(t)
	other.must("models", "list")
	if err := os.RemoveAll(filepath.Join(other.data, "blobs")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(other.data, "blobs"), os.DirFS(filepath.Join(p.data, "blobs"))); err != nil {
		t.Fatal(err)
	}
	for _, f := range other.blobFiles() {
		makeOld(t, f)
	}
	if o := other.atelier("media", "gc"); o.code == exitOK || !strings.Contains(o.stderr, "Nothing was deleted") {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	other.must("generate", "a hill", "--model", "offline", "--size", "64x64") // which the new ledger knows
	if o := other.atelier("media", "gc"); o.code == exitOK || !strings.Contains(o.stderr, "Nothing was deleted") {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	if after := len(other.blobFiles()); after != before+1 {
		t.Errorf("%d files, before it were %d", after, before)
	}
}

// TestAnotherLedgerInTheFolder: a collection by a PostgreSQL ledger deletes nothing while the folder still has the SQLite
// ledger that was used before.
func TestAnotherLedgerInTheFolder(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.must("generate", "a lighthouse", "--model", "offline", "--size", "64x64")
	makeOld(t, p.stray(t, "old bytes"))
	makeOld(t, p.blobFiles()[0])
	w := &world{ctx: t.Context(), env: p.getenv}
	err := w.withStores(func(s *stores) error {
		s.Config.DatabaseURL = "postgres://127.0.0.1/other"
		if err := os.WriteFile(s.Config.LedgerFile(), nil, 0o600); p.env["ATELIER_DATABASE_URL"] != "" && err != nil {
			return err
		}
		_, unused, err := s.unusedBlobs(t.Context(), time.Now())
		if len(unused) > 0 || !strings.Contains(err.Error(), "another ledger") {
			t.Errorf("%v, %v", unused, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// stray stores bytes without a record and returns their file.
func (p *testEnv) stray(t *testing.T, text string) string {
	t.Helper()
	driver, err := fileblob.New(filepath.Join(p.data, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	store, err := blob.New(blob.Config{Driver: driver})
	if err != nil {
		t.Fatal(err)
	}
	info, err := store.Put(t.Context(), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return p.blobPath(t, info.Digest)
}

// makeOld makes a file older than the grace period.
func makeOld(t *testing.T, name string) {
	t.Helper()
	then := time.Now().Add(-blob.DefaultGrace - time.Hour)
	if err := os.Chtimes(name, then, then); err != nil {
		t.Fatal(err)
	}
}

// blobFiles returns the files that hold stored bytes.
func (p *testEnv) blobFiles() (names []string) {
	p.t.Helper()
	err := filepath.WalkDir(filepath.Join(p.data, "blobs"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return names
}

// TestCollectionThatFails: a collection that fails in the middle has removed the bytes that it deleted from the
// inventory, so that nothing counts as missing.
func TestCollectionThatFails(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.must("generate", "a lighthouse", "--model", "offline", "--size", "64x64")
	unused := p.stray(t, "old bytes")
	p.sql(t, "INSERT INTO blobs (digest, size_bytes, mime_type, state, created_at, updated_at) SELECT '"+media.DigestOf([]byte("old bytes")).String()+
		"', 9, 'text/plain', state, created_at, updated_at FROM blobs")
	stuck := filepath.Join(p.data, "blobs", "ff", strings.Repeat("f", 64)+".blob") // a folder that cannot be deleted
	if err := os.MkdirAll(filepath.Join(stuck, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	makeOld(t, unused)
	makeOld(t, stuck)
	if o := p.atelier("media", "gc"); o.code == exitOK || !strings.Contains(o.stderr, "delete blob") {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	var listed int
	if err := p.openLedger().QueryRow("SELECT COUNT(*) FROM blobs").Scan(&listed); err != nil || listed != 1 {
		t.Errorf("the inventory has %d blobs, want 1; %v", listed, err)
	}
}

// TestMissingBytesAreFound: media verify reports bytes that a record needs and the store does not have, for example after
// an incomplete restore, and not those of a deleted item.
func TestMissingBytesAreFound(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	made := read[generated](p, "generate", "a lighthouse", "--model", "offline", "--size", "64x64", "--json").Slots[0].Output
	if err := os.Remove(p.blobFiles()[0]); err != nil {
		t.Fatal(err)
	}
	if o := p.atelier("media", "verify"); o.code != exitInternal || !strings.Contains(o.stdout, made.Digest.String()+"  blob") || !strings.Contains(o.stdout, "1 bad") {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	p.must("media", "rm", string(made.Ref))
	p.must("media", "verify")
}
