// Package blobtest is the conformance suite of [blob.Driver], with one subtest per clause of the contract. The test
// file of a driver calls [Run] with a [Harness]. The package may import blob, media and testing.
package blobtest

import (
	"bytes"
	"context"
	"io"
	"testing"

	"atelier/media"
	"atelier/media/blob"
)

// Harness creates drivers for the suite.
type Harness struct {
	// New returns an empty driver. Required.
	New func(t *testing.T) blob.Driver
	// Second returns another driver on the same place, as a second process would have; nil if the place cannot be
	// shared.
	Second func(t *testing.T, d blob.Driver) blob.Driver
	// Full returns a driver with space for n bytes of uploads, and a function that adds space for n more bytes, also
	// for uploads that have begun; nil if the place cannot be full.
	Full func(t *testing.T, n int) (d blob.Driver, more func(n int))
	// Damage replaces the stored bytes of a blob; nil if they cannot be changed from outside.
	Damage func(t *testing.T, d blob.Driver, id media.Digest, data []byte)
	// Leftovers returns the number of unfinished uploads; nil if they leave no trace.
	Leftovers func(t *testing.T, d blob.Driver) int
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, Harness)
		off  bool
	}{
		{"empty", testEmpty, false},
		{"put and get", testPutGet, false},
		{"dedupe", testDedupe, false},
		{"wrong hash", testWrongHash, h.Damage == nil},
		{"ranges", testRanges, false},
		{"list order", testListOrder, false},
		{"delete twice", testDeleteTwice, false},
		{"delete under a reader", testDeleteUnderReader, false},
		{"concurrent put of the same bytes", testConcurrentPut, false},
		{"cancel", testCancel, false},
		{"delete old", testDeleteOld, false},
		{"truncated read", testTruncated, h.Damage == nil},
		{"leftovers of a crash", testLeftovers, h.Leftovers == nil},
		{"two processes", testTwoProcesses, h.Second == nil},
		{"disk full", testDiskFull, h.Full == nil},
		{"room comes again", testRoomComes, h.Full == nil},
	} {
		if c.off {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, h)
		})
	}
}

// Data returns n pseudo-random bytes that depend on seed.
func Data(n int, seed uint64) []byte {
	b := make([]byte, n)
	x := seed*2862933555777941757 + 3037000493
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x >> 32 & 0xff)
	}
	return b
}

func store(t *testing.T, d blob.Driver) *blob.Store {
	t.Helper()
	s, err := blob.New(blob.Config{Driver: d})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s *blob.Store, data []byte) blob.Info {
	t.Helper()
	i, err := s.Put(t.Context(), bytes.NewReader(data))
	if err != nil {
		t.Fatalf("put: %v", err)
	}
	if want := media.DigestOf(data); i.Digest != want || i.SizeBytes != int64(len(data)) {
		t.Fatalf("put gave %s, %d bytes; want %s, %d", i.Digest, i.SizeBytes, want, len(data))
	}
	return i
}

func get(t *testing.T, s *blob.Store, id media.Digest) []byte {
	t.Helper()
	r, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return b
}

func wantCode(t *testing.T, what string, err error, want media.Code) {
	t.Helper()
	if got := media.CodeOf(err); got != want {
		t.Fatalf("%s: code %q (%v), want %q", what, got, err, want)
	}
}

func count(t *testing.T, s *blob.Store) int {
	t.Helper()
	n := 0
	for _, err := range s.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// cancelled returns a context that has ended.
func cancelled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
