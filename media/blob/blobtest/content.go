package blobtest

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"atelier/media"
)

func testEmpty(t *testing.T, h Harness) {
	t.Helper()
	s := store(t, h.New(t))
	id := media.DigestOf([]byte("nothing here"))
	_, err := s.Open(t.Context(), id)
	wantCode(t, "open of a missing blob", err, media.CodeNotFound)
	_, err = s.Stat(t.Context(), id)
	wantCode(t, "stat of a missing blob", err, media.CodeNotFound)
	wantCode(t, "verify of a missing blob", s.Verify(t.Context(), id), media.CodeNotFound)
	if n := count(t, s); n != 0 {
		t.Fatalf("an empty store lists %d blobs", n)
	}
	put(t, s, nil) // an empty blob is valid
	if b := get(t, s, media.DigestOf(nil)); len(b) != 0 {
		t.Fatalf("the empty blob has %d bytes", len(b))
	}
}

func testPutGet(t *testing.T, h Harness) {
	t.Helper()
	s := store(t, h.New(t))
	for _, n := range []int{1, 4095, 4096, 64<<10 + 1, 1 << 20} {
		data := Data(n, 2)
		i := put(t, s, data)
		if !bytes.Equal(get(t, s, i.Digest), data) {
			t.Fatalf("%d bytes came back changed", n)
		}
		st, err := s.Stat(t.Context(), i.Digest)
		if err != nil || st.SizeBytes != int64(n) || st.ModTime.IsZero() {
			t.Fatalf("stat of %d bytes: %+v, %v", n, st, err)
		}
		if err := s.Verify(t.Context(), i.Digest); err != nil {
			t.Fatal(err)
		}
	}
}

func testDedupe(t *testing.T, h Harness) {
	t.Helper()
	s := store(t, h.New(t))
	data := Data(10_000, 1)
	first := put(t, s, data)
	second := put(t, s, data)
	if first.Digest != second.Digest || count(t, s) != 1 {
		t.Fatalf("the same bytes twice make %d blobs", count(t, s))
	}
}

func testWrongHash(t *testing.T, h Harness) {
	t.Helper()
	d := h.New(t)
	s := store(t, d)
	data := Data(9_000, 3)
	i := put(t, s, data)
	data[5000] ^= 1
	h.Damage(t, d, i.Digest, data)
	wantCode(t, "verify of changed bytes", s.Verify(t.Context(), i.Digest), media.CodeCorrupt)
	data[5000] ^= 1
	put(t, s, data)
	if err := s.Verify(t.Context(), i.Digest); err != nil {
		t.Fatalf("putting the true bytes again does not repair the blob: %v", err)
	}
}

func testTruncated(t *testing.T, h Harness) {
	t.Helper()
	d := h.New(t)
	s := store(t, d)
	data := Data(9_000, 4)
	i := put(t, s, data)
	h.Damage(t, d, i.Digest, data[:8_999])
	r, err := s.Open(t.Context(), i.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = io.ReadAll(r)
	wantCode(t, "read of a shortened blob", err, media.CodeCorrupt)
}

func testRanges(t *testing.T, h Harness) {
	t.Helper()
	s := store(t, h.New(t))
	data := Data(10_000, 5)
	i := put(t, s, data)
	for _, c := range []struct{ offset, length, from, to int64 }{
		{0, -1, 0, 10_000},
		{0, 0, 0, 0},
		{0, 1, 0, 1},
		{9_999, 1, 9_999, 10_000},
		{9_999, 50, 9_999, 10_000},
		{10_000, -1, 10_000, 10_000},
		{20_000, -1, 10_000, 10_000},
		{20_000, 5, 10_000, 10_000},
		{100, 4_000, 100, 4_100},
	} {
		r, err := s.OpenRange(t.Context(), i.Digest, c.offset, c.length)
		if err != nil {
			t.Fatalf("range %d+%d: %v", c.offset, c.length, err)
		}
		b, err := io.ReadAll(r)
		if cerr := r.Close(); err != nil || cerr != nil || !bytes.Equal(b, data[c.from:c.to]) {
			t.Fatalf("range %d+%d gave %d bytes, %v, %v", c.offset, c.length, len(b), err, cerr)
		}
	}
	for _, c := range [][2]int64{{-1, 5}, {0, -2}} {
		_, err := s.OpenRange(t.Context(), i.Digest, c[0], c[1])
		wantCode(t, "impossible range", err, media.CodeInvalid)
	}
	_, err := s.OpenRange(t.Context(), media.DigestOf([]byte("none")), 0, 1)
	wantCode(t, "range of a missing blob", err, media.CodeNotFound)
}

func testListOrder(t *testing.T, h Harness) {
	t.Helper()
	d := h.New(t)
	s := store(t, d)
	var want []string
	for n := range 50 {
		want = append(want, put(t, s, Data(10, uint64(n+1))).Digest.String())
	}
	slices.Sort(want)
	for _, limit := range []int{1, 7, 50, 1000} {
		var got []string
		var after media.Digest
		for {
			page, err := d.List(t.Context(), after, limit)
			if err != nil || len(page) > limit {
				t.Fatalf("limit %d: %d blobs, %v", limit, len(page), err)
			}
			if len(page) == 0 {
				break
			}
			for _, i := range page {
				got = append(got, i.Digest.String())
			}
			after = page[len(page)-1].Digest
		}
		if !slices.Equal(got, want) {
			t.Fatalf("limit %d:\n got %s\nwant %s", limit, strings.Join(got, " "), strings.Join(want, " "))
		}
	}
}

func testConcurrentPut(t *testing.T, h Harness) {
	t.Helper()
	d := h.New(t)
	s := store(t, d)
	data := Data(100_000, 6)
	var wg sync.WaitGroup
	errs := make(chan error, 16)
	for range cap(errs) {
		wg.Go(func() {
			i, err := s.Put(t.Context(), bytes.NewReader(data))
			if err == nil {
				err = s.Verify(t.Context(), i.Digest)
			}
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, s); n != 1 {
		t.Fatalf("%d blobs, want 1", n)
	}
	if h.Leftovers != nil && h.Leftovers(t, d) != 0 {
		t.Fatal("finished uploads left something behind")
	}
}
