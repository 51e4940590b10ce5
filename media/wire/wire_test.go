package wire

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/blobtest"
	"atelier/media/blob/memblob"
)

const scope = "run-1"

func testKeys() []Key {
	return []Key{{ID: "k1", Secret: []byte("deployment key of 32 bytes......")}}
}

func newTestCodec(tb testing.TB, change func(*Config)) *Codec {
	tb.Helper()
	s, err := blob.New(blob.Config{Driver: memblob.New()})
	if err != nil {
		tb.Fatal(err)
	}
	cfg := Config{Blobs: s, Keys: testKeys()}
	if change != nil {
		change(&cfg)
	}
	c, err := NewCodec(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func scoped(tb testing.TB) context.Context {
	tb.Helper()
	return media.WithScope(tb.Context(), media.Scope{Tree: scope})
}

// png returns n bytes: a valid PNG header of the given size, followed by noise.
func png(n, width, height int) []byte {
	b := append([]byte("\x89PNG\r\n\x1a\n"), 0, 0, 0, 13)
	ihdr := append([]byte("IHDR"), binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(width)), uint32(height))...)
	ihdr = append(ihdr, 8, 2, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(append(b, ihdr...), crc32.ChecksumIEEE(ihdr))
	b = append(b, blobtest.Data(max(0, n-len(b)), uint64(n))...)
	return b[:n]
}

func std(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// pieces returns its text in chunks of n bytes.
type pieces struct {
	r io.Reader
	n int
}

func (p *pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(p.n, len(b))]) }
func (p *pieces) Close() error               { return nil }

func chunked(s string, n int) io.ReadCloser { return &pieces{r: strings.NewReader(s), n: n} }

var chunkSizes = []int{1, 2, 3, 7, 4096, 1 << 20}

// lift passes a text through the codec and returns the output and the items.
func lift(tb testing.TB, c *Codec, doc string, chunk int, o LiftOptions) (string, []Lifted, error) {
	tb.Helper()
	var got []Lifted
	o.OnLift = func(l Lifted) { got = append(got, l) }
	r := c.LiftReader(scoped(tb), chunked(doc, chunk), o)
	out, err := io.ReadAll(r)
	if cerr := r.Close(); cerr != nil {
		tb.Fatal(cerr)
	}
	return string(out), got, err
}

func stored(tb testing.TB, c *Codec, d media.Digest) []byte {
	tb.Helper()
	r, err := c.Open(tb.Context(), d)
	if err != nil {
		tb.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func store(tb testing.TB, c *Codec, b []byte) media.Blob {
	tb.Helper()
	m, err := c.Store(tb.Context(), bytes.NewReader(b), "")
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func count(tb testing.TB, c *Codec) int {
	tb.Helper()
	n := 0
	for _, err := range c.cfg.Blobs.All(tb.Context()) {
		if err != nil {
			tb.Fatal(err)
		}
		n++
	}
	return n
}

// clipped shortens text for failure messages.
func clipped(s string) string {
	if len(s) > 600 {
		return s[:600] + "…"
	}
	return s
}

func wantCode(tb testing.TB, what string, err error, want media.Code) {
	tb.Helper()
	if got := media.CodeOf(err); got != want {
		tb.Fatalf("%s: code %q (%v), want %q", what, got, err, want)
	}
}
