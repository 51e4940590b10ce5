package blobtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"atelier/media"
)

func testDeleteTwice(t *testing.T, h Harness) {
	t.Helper()
	s := store(t, h.New(t))
	i := put(t, s, []byte("soon gone"))
	for range 2 {
		if err := s.Delete(t.Context(), i.Digest); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Stat(t.Context(), i.Digest)
	wantCode(t, "stat after delete", err, media.CodeNotFound)
}

func testDeleteUnderReader(t *testing.T, h Harness) {
	t.Helper()
	s := store(t, h.New(t))
	data := Data(200_000, 7)
	i := put(t, s, data)
	r, err := s.Open(t.Context(), i.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := s.Delete(t.Context(), i.Digest); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(b, data) {
		t.Fatalf("the open reader gave %d bytes, %v", len(b), err)
	}
}

// failing is a reader that returns some bytes and then an error.
type failing struct {
	n   int
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.n == 0 {
		return 0, f.err
	}
	n := min(f.n, len(p))
	f.n -= n
	return n, nil
}

func testCancel(t *testing.T, h Harness) {
	t.Helper()
	d := h.New(t)
	s := store(t, d)
	_, err := s.Put(cancelled(t), bytes.NewReader([]byte("too late")))
	wantCode(t, "put under a cancelled context", err, media.CodeCancelled)

	w, err := s.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(Data(70_000, 8)); err != nil {
		t.Fatal(err)
	}
	_, err = w.Commit(cancelled(t))
	wantCode(t, "commit under a cancelled context", err, media.CodeCancelled)

	broken := errors.New("source broke")
	if _, err := s.Put(t.Context(), &failing{n: 70_000, err: broken}); !errors.Is(err, broken) {
		t.Fatalf("put of a broken source: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = s.Put(ctx, io.MultiReader(bytes.NewReader(Data(70_000, 9)), stopper(cancel), bytes.NewReader(Data(70_000, 9))))
	wantCode(t, "put cancelled half way", err, media.CodeCancelled)

	if n := count(t, s); n != 0 {
		t.Fatalf("cancelled puts left %d blobs", n)
	}
	if h.Leftovers != nil && h.Leftovers(t, d) != 0 {
		t.Fatal("cancelled puts left unfinished uploads")
	}
}

// stopper is a reader that cancels a context and returns no bytes.
type stopper context.CancelFunc

func (s stopper) Read([]byte) (int, error) {
	s()
	return 0, io.EOF
}

func testDeleteOld(t *testing.T, h Harness) {
	t.Helper()
	d := h.New(t)
	s := store(t, d)
	i := put(t, s, []byte("orphan"))
	if deleted, err := d.Delete(t.Context(), i.Digest, time.Now().Add(-time.Hour)); err != nil || deleted { //nolint:forbidigo // the clock of the drivers
		t.Fatalf("the driver, a young blob: %t, %v", deleted, err)
	}
	if deleted, err := s.DeleteOld(t.Context(), i.Digest, time.Now().Add(-time.Hour)); err != nil || deleted { //nolint:forbidigo // the clock of the drivers
		t.Fatalf("a young blob: %t, %v", deleted, err)
	}
	if _, err := s.Stat(t.Context(), i.Digest); err != nil {
		t.Fatalf("the young blob is gone: %v", err)
	}
	for _, want := range []bool{true, false} {
		if deleted, err := s.DeleteOld(t.Context(), i.Digest, time.Now().Add(time.Hour)); err != nil || deleted != want { //nolint:forbidigo // the clock of the drivers
			t.Fatalf("an old blob: %t, %v; want %t", deleted, err, want)
		}
	}
	_, err := s.Stat(t.Context(), i.Digest)
	wantCode(t, "stat after delete", err, media.CodeNotFound)
}

func testLeftovers(t *testing.T, h Harness) {
	t.Helper()
	d := h.New(t)
	u, err := d.Create(t.Context()) // the upload never ends, as after a crash
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.Write([]byte("half a picture")); err != nil {
		t.Fatal(err)
	}
	s := store(t, d)
	if n := count(t, s); n != 0 {
		t.Fatalf("an unfinished upload is listed: %d", n)
	}
	put(t, s, []byte("the store goes on"))
	if n, err := d.Sweep(t.Context(), time.Unix(0, 0)); err != nil || n != 0 {
		t.Fatalf("sweep took %d young uploads, %v", n, err)
	}
	if n, err := s.Sweep(t.Context(), -time.Hour); err != nil || n != 1 || h.Leftovers(t, d) != 0 {
		t.Fatalf("sweep: %d, %v; %d left", n, err, h.Leftovers(t, d))
	}
	if n := count(t, s); n != 1 {
		t.Fatalf("%d blobs after the sweep, want 1", n)
	}
}

func testTwoProcesses(t *testing.T, h Harness) {
	t.Helper()
	d := h.New(t)
	one, two := store(t, d), store(t, h.Second(t, d))
	data := Data(50_000, 11)
	i := put(t, one, data)
	if !bytes.Equal(get(t, two, i.Digest), data) {
		t.Fatal("the second process reads other bytes")
	}
	put(t, two, data)
	if count(t, one) != 1 || count(t, two) != 1 {
		t.Fatal("the same bytes by two processes make two blobs")
	}
	if err := two.Delete(t.Context(), i.Digest); err != nil {
		t.Fatal(err)
	}
	_, err := one.Open(t.Context(), i.Digest)
	wantCode(t, "open after the other process deleted", err, media.CodeNotFound)
}

func testDiskFull(t *testing.T, h Harness) {
	t.Helper()
	d, _ := h.Full(t, 100_000)
	s := store(t, d)
	small := put(t, s, Data(50_000, 12))
	_, err := s.Put(t.Context(), bytes.NewReader(Data(200_000, 13)))
	wantCode(t, "put on a full disk", err, media.CodeDiskFull)
	if n := count(t, s); n != 1 {
		t.Fatalf("%d blobs after a full disk, want 1", n)
	}
	if err := s.Verify(t.Context(), small.Digest); err != nil {
		t.Fatal(err)
	}
	if h.Leftovers != nil && h.Leftovers(t, d) != 0 {
		t.Fatal("the failed put keeps its space")
	}
}

func testRoomComes(t *testing.T, h Harness) {
	t.Helper()
	d, more := h.Full(t, 100_000)
	s := store(t, d)
	data := Data(200_000, 14)
	w, err := s.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	n, err := w.Write(data)
	wantCode(t, "write on a full disk", err, media.CodeDiskFull)
	more(len(data))
	if m, err := w.Write(data[n:]); err != nil || n+m != len(data) {
		t.Fatalf("with room: %d of %d bytes, %v", n+m, len(data), err)
	}
	i, err := w.Commit(t.Context())
	if err != nil || i.Digest != media.DigestOf(data) {
		t.Fatalf("commit: %+v, %v", i, err)
	}
	if !bytes.Equal(get(t, s, i.Digest), data) {
		t.Fatal("other bytes were stored")
	}
}
