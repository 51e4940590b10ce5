package fileblob

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func newDirect(t *testing.T, flags int) *directFile {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		t.Fatal(err)
	}
	return synced(f).(*directFile)
}

// fillCache occupies all places of the channel ahead.
func fillCache(t *testing.T) {
	t.Helper()
	for range cap(ahead) {
		ahead <- struct{}{}
	}
	t.Cleanup(func() {
		for range cap(ahead) {
			<-ahead
		}
	})
}

func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(n)})
	_, _ = r.Read(b)
	return b
}

// TestEverySize writes files in writes of odd lengths. It changes package state, so the tests of this file do not run
// in parallel.
func TestEverySize(t *testing.T) { //nolint:paralleltest // see above
	everySize(t)
	fillCache(t)
	everySize(t)
	if len(ahead) != cap(ahead) { // only the places of crowd
		t.Errorf("%d places taken", len(ahead))
	}
}

func everySize(t *testing.T) {
	t.Helper()
	for _, n := range []int{0, 1, pieceBytes - 1, pieceBytes, pieceBytes + 1, longBytes - 1, longBytes, longBytes + 1, 2 * longBytes, 5*longBytes + 4096, 2<<20 + 77} {
		f := newDirect(t, os.O_RDWR)
		want := noise(n)
		for rest := want; len(rest) > 0; {
			part := min(len(rest), 40_001)
			if m, err := f.Write(rest[:part]); m != part || err != nil {
				t.Fatalf("Write: %d, %v", m, err)
			}
			rest = rest[part:]
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v; want %d", len(got), err, n)
		}
	}
}

// TestRefusedDirectWrite writes from memory that the kernel refuses for direct writes, as on a file system without
// direct writes.
func TestRefusedDirectWrite(t *testing.T) { //nolint:paralleltest // as above
	fillCache(t)
	f := newDirect(t, os.O_RDWR)
	want := noise(3*pieceBytes + 5)
	f.pieces = pieces
	odd := make([]byte, pieceBytes+1)[1:]
	f.piece = odd
	if _, err := f.Write(want); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	f.piece = nil // it must not return to the pool
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if f.mode != cached {
		t.Log("this file system takes direct writes from any address: the way back was not tried")
	}
}

// TestFailedWriteStays: the next call and Sync return a failure from the background.
func TestFailedWriteStays(t *testing.T) { //nolint:paralleltest // as above
	f := newDirect(t, os.O_RDONLY)
	var err error
	for range 8 {
		if _, err = f.Write(noise(longBytes)); err != nil {
			break
		}
	}
	if !errors.Is(err, syscall.EBADF) {
		t.Errorf("Write: %v", err)
	}
	if again := f.Sync(); again != err { //nolint:errorlint // the identical error
		t.Errorf("Sync: %v, want %v", again, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if len(ahead) != 0 {
		t.Error("the place was not given back")
	}
}

// TestWritesAfterAFullDisk: data that a full disk refused is written when there is room, complete and in order,
// whatever piece it was in.
func TestWritesAfterAFullDisk(t *testing.T) { //nolint:paralleltest // as above
	afterFullDisk(t)
	fillCache(t)
	afterFullDisk(t)
}

func afterFullDisk(t *testing.T) {
	t.Helper()
	for _, before := range []int{0, 1, pieceBytes, longBytes} {
		for _, n := range []int{1, pieceBytes, longBytes, longBytes + 9, 2*longBytes + 5} {
			f := newDirect(t, os.O_RDWR)
			want := noise(before + n + longBytes)
			if _, err := f.Write(want[:before]); err != nil {
				t.Fatal(err)
			}
			f.wait()
			full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			disk := f.File
			f.File = full
			at, failed := before, error(nil)
			for at < before+n && failed == nil {
				var m int
				m, failed = f.Write(want[at : before+n])
				at += m
			}
			if failed == nil {
				failed = f.Sync()
			}
			if !errors.Is(failed, syscall.ENOSPC) {
				t.Fatalf("%d after %d: %v", n, before, failed)
			}
			if _, err := f.Write(nil); err != nil && !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("still full: %v", err)
			}
			f.File = disk
			if f.mode == cached { // the mode is that of the other file
				if err := f.flags(os.O_RDWR); err != nil {
					t.Fatal(err)
				}
			}
			for at < len(want) {
				m, err := f.Write(want[at:])
				if at += m; err != nil {
					t.Fatalf("%d after %d, with room: %v", n, before, err)
				}
			}
			if err := errors.Join(f.Sync(), f.Close(), full.Close()); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d after %d: %d bytes of %d, %v", n, before, len(got), len(want), err)
			}
		}
	}
	if len(ahead) != 0 && len(ahead) != cap(ahead) {
		t.Error("a place was not given back")
	}
}
