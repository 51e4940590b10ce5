package fileblob

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/blobtest"
)

func open(t *testing.T, dir string) *Driver {
	t.Helper()
	d, err := New(dir)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// fullFile is a file on a disk with limited space.
type fullFile struct {
	file
	room *limitedSpace
}

func (f *fullFile) Write(p []byte) (int, error) {
	m, err := f.file.Write(p[:f.room.take(int64(len(p)))])
	if err == nil && m < len(p) {
		err = &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
	}
	return m, err
}

func harness() blobtest.Harness {
	fold := func(d blob.Driver) string { return d.(*Driver).dir }
	return blobtest.Harness{
		New:    func(t *testing.T) blob.Driver { t.Helper(); return open(t, t.TempDir()) },
		Second: func(t *testing.T, d blob.Driver) blob.Driver { t.Helper(); return open(t, fold(d)) },
		Full: func(t *testing.T, n int) (blob.Driver, func(int)) {
			t.Helper()
			d := open(t, t.TempDir())
			r := newLimitedSpace(int64(n))
			r.hold(d)
			return d, func(n int) { r.free.Add(int64(n)) }
		},
		Damage: func(t *testing.T, d blob.Driver, id media.Digest, data []byte) {
			t.Helper()
			if err := os.WriteFile(d.(*Driver).path(id), data, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		Leftovers: func(t *testing.T, d blob.Driver) int {
			t.Helper()
			e, err := os.ReadDir(filepath.Join(fold(d), tmpFolder))
			if err != nil {
				t.Fatal(err)
			}
			return len(e)
		},
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, harness())
}

func TestNewExplainsBadFolders(t *testing.T) {
	t.Parallel()
	f := filepath.Join(t.TempDir(), "a-file")
	if err := os.WriteFile(f, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", f, filepath.Join(f, "below")} {
		if _, err := New(dir); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("New(%q): %v, want code invalid", dir, err)
		}
	}
}

func TestForeignFilesAreNotBlobs(t *testing.T) {
	t.Parallel()
	d := open(t, t.TempDir())
	s, err := blob.New(blob.Config{Driver: d})
	if err != nil {
		t.Fatal(err)
	}
	i, err := s.Put(t.Context(), bytes.NewReader([]byte("ours")))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"notes.txt", filepath.Join(i.Digest.Hex()[:2], "zz.blob")} {
		if err := os.WriteFile(filepath.Join(d.dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := d.List(t.Context(), media.Digest{}, 10)
	if err != nil || len(list) != 1 || list[0].Digest != i.Digest {
		t.Fatalf("list: %v, %v", list, err)
	}
}

func TestUploadSurvivesTidiedFolder(t *testing.T) {
	t.Parallel()
	d := open(t, t.TempDir())
	if err := os.RemoveAll(filepath.Join(d.dir, tmpFolder)); err != nil {
		t.Fatal(err)
	}
	s, err := blob.New(blob.Config{Driver: d})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), bytes.NewReader([]byte("again"))); err != nil {
		t.Fatal(err)
	}
}

func TestDeleteInTidiedFolder(t *testing.T) {
	t.Parallel()
	d := open(t, t.TempDir())
	s, err := blob.New(blob.Config{Driver: d})
	if err != nil {
		t.Fatal(err)
	}
	i, err := s.Put(t.Context(), bytes.NewReader([]byte("private")))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(d.dir, tmpFolder)); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), i.Digest); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(d.path(i.Digest)); !os.IsNotExist(err) {
		t.Errorf("the blob is still there: %v", err)
	}
}

func BenchmarkPut(b *testing.B) {
	d, err := New(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	s, err := blob.New(blob.Config{Driver: d})
	if err != nil {
		b.Fatal(err)
	}
	data := blobtest.Data(2_000_000, 1)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		data[0]++
		if _, err := s.Put(b.Context(), bytes.NewReader(data)); err != nil {
			b.Fatal(err)
		}
	}
}

// fullSync is a file whose Sync fails a number of times, in the write of buffered data or in the sync itself.
type fullSync struct {
	file
	op    string
	times int
}

func (f *fullSync) Sync() error {
	if f.times--; f.times >= 0 {
		return &os.PathError{Op: f.op, Path: f.Name(), Err: syscall.ENOSPC}
	}
	return f.file.Sync()
}

// TestCommitWaitsForRoom: a commit that found no space can be tried again. After a failed sync, a second sync does not
// store the file, because it does not know what is missing.
func TestCommitWaitsForRoom(t *testing.T) {
	t.Parallel()
	for op, stored := range map[string]bool{"write": true, "sync": false} {
		h := harness()
		d := open(t, t.TempDir())
		d.create = func(dir string) (file, error) {
			f, err := d.createTemp(dir)
			return &fullSync{f, op, 1}, err
		}
		s, err := blob.New(blob.Config{Driver: d})
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.Create(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		data := blobtest.Data(9_000, 3)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Commit(t.Context()); media.CodeOf(err) != media.CodeDiskFull {
			t.Errorf("%s: %v", op, err)
		}
		if _, err := w.Commit(t.Context()); (err == nil) != stored {
			t.Errorf("%s again: %v", op, err)
		}
		w.Abort()
		if err := s.Verify(t.Context(), media.DigestOf(data)); (err == nil) != stored || h.Leftovers(t, d) > 0 {
			t.Errorf("%s: %v, %d files remain", op, err, h.Leftovers(t, d))
		}
	}
}

// lateFull is a file on a disk that turns out to be full while its writer is being cancelled, or when the file is
// closed, as on a network file system.
type lateFull struct {
	file
	sync, close func() error
}

func (f *lateFull) Sync() error {
	if f.sync != nil {
		return f.sync()
	}
	return f.file.Sync()
}

func (f *lateFull) Close() error {
	err := f.file.Close()
	if f.close != nil && err == nil {
		err = f.close()
	}
	return err
}

// TestCancelledOnFullDisk: a commit that finds no space and whose context has ended leaves nothing behind.
func TestCancelledOnFullDisk(t *testing.T) {
	t.Parallel()
	h, d := harness(), open(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	closed := false
	d.create = func(dir string) (file, error) {
		f, err := d.createTemp(dir)
		return &lateFull{
			file:  f,
			sync:  func() error { cancel(); return &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC} },
			close: func() error { closed = true; return nil },
		}, err
	}
	s, err := blob.New(blob.Config{Driver: d})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(ctx, bytes.NewReader([]byte("paid for"))); err == nil {
		t.Error("no error on a full disk")
	}
	if n := h.Leftovers(t, d); n > 0 || !closed {
		t.Errorf("%d files remain, closed %t", n, closed)
	}
}

// TestFullAtClose: what a failed close did not write is missing for ever, so a second commit must not store the file.
func TestFullAtClose(t *testing.T) {
	t.Parallel()
	d := open(t, t.TempDir())
	d.create = func(dir string) (file, error) {
		f, err := d.createTemp(dir)
		return &lateFull{file: f, close: func() error {
			return errors.Join(os.Truncate(f.Name(), 3), &os.PathError{Op: "close", Path: f.Name(), Err: syscall.ENOSPC})
		}}, err
	}
	s, err := blob.New(blob.Config{Driver: d})
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if _, err := w.Write([]byte("a whole picture")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if i, err := w.Commit(t.Context()); media.CodeOf(err) != media.CodeDiskFull {
			t.Errorf("commit: %+v, %v; verify: %v", i, err, s.Verify(t.Context(), i.Digest))
		}
	}
}
