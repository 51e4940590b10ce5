package fileblob

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"atelier/blob"
	"atelier/blob/blobtest"
	"atelier/media"
)

func open(t *testing.T, dir string) *Driver {
	t.Helper()
	d, err := New(dir)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// fullFile has room for so many bytes.
type fullFile struct {
	file
	room int
}

func (f *fullFile) Write(p []byte) (int, error) {
	n := min(len(p), f.room)
	f.room -= n
	m, err := f.file.Write(p[:n])
	if err == nil && n < len(p) {
		err = &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
	}
	return m, err
}

func harness() blobtest.Harness {
	fold := func(d blob.Driver) string { return d.(*Driver).dir }
	return blobtest.Harness{
		New:    func(t *testing.T) blob.Driver { t.Helper(); return open(t, t.TempDir()) },
		Second: func(t *testing.T, d blob.Driver) blob.Driver { t.Helper(); return open(t, fold(d)) },
		Full: func(t *testing.T, n int) blob.Driver {
			t.Helper()
			d := open(t, t.TempDir())
			d.create = func(dir string) (file, error) {
				f, err := d.createTemp(dir)
				return &fullFile{file: f, room: n}, err
			}
			return d
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

func TestConformanceWithoutSync(t *testing.T) {
	t.Parallel()
	h := harness()
	h.Full = nil
	h.New = func(t *testing.T) blob.Driver {
		t.Helper()
		d, err := Open(Config{Dir: t.TempDir(), NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	blobtest.Run(t, h)
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
