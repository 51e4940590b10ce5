package blob_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
)

func newStore(t *testing.T, limit int64) *blob.Store {
	t.Helper()
	s, err := blob.New(blob.Config{Driver: memblob.New(), MaxBytes: limit})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNewWantsADriver(t *testing.T) {
	t.Parallel()
	if _, err := blob.New(blob.Config{}); media.CodeOf(err) != media.CodeInvalid {
		t.Fatalf("got %v", err)
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	s := newStore(t, 100)
	if _, err := s.Put(t.Context(), bytes.NewReader(make([]byte, 100))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), bytes.NewReader(make([]byte, 101))); media.CodeOf(err) != media.CodeTooLarge {
		t.Fatalf("101 bytes of 100: %v", err)
	}
	free := newStore(t, -1)
	if _, err := free.Put(t.Context(), bytes.NewReader(make([]byte, 101))); err != nil {
		t.Fatal(err)
	}
}

func TestZeroDigestIsInvalid(t *testing.T) {
	t.Parallel()
	s := newStore(t, 0)
	_, open := s.Open(t.Context(), media.Digest{})
	_, part := s.OpenRange(t.Context(), media.Digest{}, 0, 1)
	_, stat := s.Stat(t.Context(), media.Digest{})
	for _, err := range []error{open, part, stat, s.Delete(t.Context(), media.Digest{})} {
		if media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("got %v, want invalid", err)
		}
	}
}

func TestWriterEndsOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t, 0)
	w, err := s.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	data := bytes.Repeat([]byte("0123456789"), 1000)
	for part := range bytes.SplitSeq(data, []byte("5")) {
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if h := w.Head(); len(h) < 4096 || string(h[:9]) != "012346789" {
		t.Fatalf("head has %d bytes", len(h))
	}
	if _, err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if _, err := w.Commit(t.Context()); media.CodeOf(err) != media.CodeInvalid {
		t.Fatalf("second commit: %v", err)
	}
	if _, err := w.Write([]byte("x")); err == nil {
		t.Fatal("write after commit succeeds")
	}
}

func TestAbortedWriterStoresNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t, 0)
	w, err := s.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if _, err := w.Commit(t.Context()); err == nil {
		t.Fatal("commit after abort succeeds")
	}
	for i := range s.All(t.Context()) {
		t.Fatalf("found %v", i)
	}
}

func TestBrokenSourceIsReportedAsItIs(t *testing.T) {
	t.Parallel()
	s := newStore(t, 0)
	r, w := io.Pipe()
	go func() { w.CloseWithError(io.ErrUnexpectedEOF) }()
	if _, err := s.Put(t.Context(), r); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("got %v", err)
	}
}

// TestWrappedEndIsAnError: only io.EOF itself is the end of a source. An error that wraps it means a part is missing.
func TestWrappedEndIsAnError(t *testing.T) {
	t.Parallel()
	s := newStore(t, 0)
	r, w := io.Pipe()
	go func() {
		_, err := w.Write([]byte("half a pict"))
		w.CloseWithError(errors.Join(errors.New("connection lost"), err, io.EOF))
	}()
	if _, err := s.Put(t.Context(), r); err == nil {
		t.Fatal("a part of a source was stored")
	}
}
