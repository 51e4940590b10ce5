package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
)

// discard is a driver that discards its input, so that benchmarks measure lifting and hashing only.
type discard struct{}

var _ blob.Driver = discard{}

type dropped struct{}

func (discard) Create(context.Context) (blob.Upload, error)                   { return dropped{}, nil }
func (discard) Delete(context.Context, media.Digest, time.Time) (bool, error) { return true, nil }
func (discard) Sweep(context.Context, time.Time) (int, error)                 { return 0, nil }
func (dropped) Write(p []byte) (int, error)                                   { return len(p), nil }
func (dropped) Commit(context.Context, media.Digest) error                    { return nil }
func (dropped) Abort() error                                                  { return nil }
func (discard) Stat(context.Context, media.Digest) (blob.Info, error) {
	return blob.Info{}, media.Errorf(media.CodeNotFound, "nothing is kept")
}

func (discard) Open(context.Context, media.Digest, int64, int64) (io.ReadCloser, error) {
	return nil, media.Errorf(media.CodeNotFound, "nothing is kept")
}

func (discard) List(context.Context, media.Digest, int) ([]blob.Info, error) { return nil, nil }

func benchCodec(b *testing.B, d blob.Driver) *Codec {
	b.Helper()
	s, err := blob.New(blob.Config{Driver: d})
	if err != nil {
		b.Fatal(err)
	}
	c, err := NewCodec(Config{Blobs: s, Keys: testKeys(), Limits: Limits{ImageBytes: -1}})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func drain(tb testing.TB, r io.ReadCloser, buf []byte) {
	tb.Helper()
	for {
		if _, err := r.Read(buf); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			tb.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		tb.Fatal(err)
	}
}

func BenchmarkLift(b *testing.B) {
	image := func(n int) string { return `{"created":1,"data":[{"b64_json":"` + std(png(n, 64, 64)) + `"}]}` }
	for _, k := range []struct {
		name, doc string
	}{
		{"2MB", image(2_000_000)},
		{"100MB", image(100_000_000)},
		{"escaped", strings.ReplaceAll(image(2_000_000), "/", `\/`)},
		{"chat", strings.Repeat(`data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"word \"x\""},"finish_reason":null}]}`+"\n\n", 20_000)},
		{"prose", `{"text":"` + strings.Repeat("It was the best of times, it was the worst of times. ", 40_000) + `"}`},
	} {
		b.Run(k.name, func(b *testing.B) {
			c := benchCodec(b, discard{})
			buf := make([]byte, 32<<10)
			b.SetBytes(int64(len(k.doc)))
			b.ReportAllocs()
			for b.Loop() {
				drain(b, c.LiftReader(b.Context(), io.NopCloser(strings.NewReader(k.doc)), LiftOptions{Scope: scope}), buf)
			}
		})
	}
}

func BenchmarkLower(b *testing.B) {
	for _, k := range []struct {
		name string
		n    int
	}{{"2MB", 2_000_000}, {"100MB", 100_000_000}} {
		b.Run(k.name, func(b *testing.B) {
			c := benchCodec(b, memblob.New())
			m := store(b, c, png(k.n, 64, 64))
			body := []byte(`{"x":"data:image/png;base64,` + c.Token(scope, m, VariantStd) + `"}`)
			buf := make([]byte, 64<<10)
			b.SetBytes(VariantStd.length(m.SizeBytes))
			b.ReportAllocs()
			for b.Loop() {
				l, err := c.Lower(b.Context(), scope, body)
				if err != nil {
					b.Fatal(err)
				}
				drain(b, l.Open(), buf)
			}
		})
	}
}

func BenchmarkToken(b *testing.B) {
	c := benchCodec(b, discard{})
	tok := c.Token(scope, media.Blob{Digest: media.DigestOf(nil), SizeBytes: 2_000_000, Facts: media.Facts{MIMEType: "image/png"}}, VariantStd)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := c.Parse(scope, tok); err != nil {
			b.Fatal(err)
		}
	}
}

// TestMemoryPerItem checks that lifting an item of 48 MB allocates at most 1 MiB in total.
func TestMemoryPerItem(t *testing.T) { //nolint:paralleltest // it measures allocation in the whole process
	s, err := blob.New(blob.Config{Driver: discard{}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewCodec(Config{Blobs: s, Keys: testKeys()})
	if err != nil {
		t.Fatal(err)
	}
	part := []byte(std(png(3_000_000, 64, 64)))
	buf := make([]byte, 32<<10)
	run := func() {
		readers := []io.Reader{strings.NewReader(`{"b64_json":"`)}
		for range 16 {
			readers = append(readers, bytes.NewReader(part))
		}
		readers = append(readers, strings.NewReader(`"}`))
		drain(t, c.LiftReader(t.Context(), io.NopCloser(io.MultiReader(readers...)), LiftOptions{Scope: scope}), buf)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Fatalf("a 48 MB item allocated %d bytes in all", got)
	}
}
