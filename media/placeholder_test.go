package media

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/emmansun/base64"
)

const someRef = Ref("img-7k3m9q2x")

// replaced resolves s with every ref replaced by <REF>, reading it in pieces of n bytes.
func replaced(tb testing.TB, s string, n int) string {
	tb.Helper()
	var out strings.Builder
	err := Resolve(&out, &pieces{s: s, n: n}, func(w io.Writer, r Ref) error {
		_, err := io.WriteString(w, "<"+string(r)+">")
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

// pieces returns at most n bytes per read.
type pieces struct {
	s string
	n int
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.s == "" {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.n)], p.s)
	p.s = p.s[n:]
	return n, nil
}

func TestResolveReplacesAtAnyBoundary(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                          "",
		"no mark":                   "no mark",
		"${media:img-7k3m9q2x}":     "<img-7k3m9q2x>",
		"a ${media:img-7k3m9q2x} b": "a <img-7k3m9q2x> b",
		"${media:img-7k3m9q2x}${media:doc-00000000}": "<img-7k3m9q2x><doc-00000000>",
		"$${media:img-7k3m9q2x}":                     "${media:img-7k3m9q2x}",
		"$$${media:img-7k3m9q2x}":                    "$${media:img-7k3m9q2x}",
		"$ $$ ${ ${media ${media: $":                 "$ $$ ${ ${media ${media: $",
		"${media:img-7k3m9q2x":                       "${media:img-7k3m9q2x",
		"${media:image_1}":                           "${media:image_1}",
		"${media:img-7K3M9Q2X}":                      "${media:img-7K3M9Q2X}",
		"${media:img-7k3m9q2i}":                      "${media:img-7k3m9q2i}",
		"${media:img-7k3m9q2x ${media:aud-7k3m9q2x}": "${media:img-7k3m9q2x <aud-7k3m9q2x>",
		"src=\"${media:vid-7k3m9q2x}\" x":            "src=\"<vid-7k3m9q2x>\" x",
		"${${media:img-7k3m9q2x}}":                   "${<img-7k3m9q2x>}",
	} {
		for _, n := range []int{1, 2, 3, 7, 21, 22, 4096} {
			if got := replaced(t, in, n); got != want {
				t.Errorf("%q in pieces of %d: got %q, want %q", in, n, got, want)
			}
		}
	}
}

func TestResolveAcrossBuffers(t *testing.T) {
	t.Parallel()
	for _, pad := range []int{64<<10 - 30, 64<<10 - 21, 64<<10 - 10, 64<<10 - 1, 64 << 10, 200_000} {
		text := strings.Repeat("x", pad)
		if got, want := replaced(t, text+someRef.Placeholder()+text, 1<<20), text+"<"+string(someRef)+">"+text; got != want {
			t.Errorf("after %d bytes: %d bytes, want %d", pad, len(got), len(want))
		}
	}
}

func TestResolveStopsOnErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	text := "a" + someRef.Placeholder()
	keep := func(w io.Writer, r Ref) error { _, err := io.WriteString(w, string(r)); return err }
	if err := Resolve(io.Discard, strings.NewReader(text), func(io.Writer, Ref) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("resolver: %v", err)
	}
	if err := Resolve(io.Discard, io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), keep); !errors.Is(err, broken) {
		t.Errorf("reader: %v", err)
	}
	if err := Resolve(failing{broken}, strings.NewReader(text), keep); !errors.Is(err, broken) {
		t.Errorf("writer: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestRefsAndBadRefs(t *testing.T) {
	t.Parallel()
	text := "${media:img-7k3m9q2x} $${media:doc-00000000} ${media:image_1} ${media:img-7k3m9q2x} ${media:aud-11111111} ${media:} ${media:img-7k3m9q2x' $${media:literal}"
	if got, want := Refs(text), []Ref{"img-7k3m9q2x", "aud-11111111"}; !slices.Equal(got, want) {
		t.Errorf("refs %v, want %v", got, want)
	}
	if got, want := BadRefs(text), []string{"image_1", "", "img-7k3m9q2x (without its closing brace)"}; !slices.Equal(got, want) {
		t.Errorf("bad refs %q, want %q", got, want)
	}
}

// FuzzResolve: text without placeholders passes byte for byte, and pieces of any size produce the same result.
func FuzzResolve(f *testing.F) {
	f.Add("a ${media:img-7k3m9q2x} b", 3)
	f.Add("$$${media:", 1)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = max(1, n%5000)
		whole := replaced(t, s, 1<<20)
		if got := replaced(t, s, n); got != whole {
			t.Fatalf("pieces of %d: %q, whole: %q", n, got, whole)
		}
		if !strings.Contains(s, placeholderOpen) && whole != s {
			t.Fatalf("%q became %q", s, whole)
		}
		if got := ResolveString(s, func(r Ref) string { return "<" + string(r) + ">" }); got != whole {
			t.Fatalf("ResolveString %q, Resolve %q", got, whole)
		}
	})
}

// BenchmarkResolve100 resolves 100 placeholders of 1.5 MB each in a report of 10 MB and writes it to a file, encoding
// the items as base64 on the fly.
func BenchmarkResolve100(b *testing.B) {
	item := make([]byte, 1_500_000)
	for i := range item {
		item[i] = byte(i * 7)
	}
	para := strings.Repeat("words of a report, ", 10_000_000/100/19) + someRef.Placeholder()
	report := strings.Repeat(para, 100)
	out, err := os.CreateTemp(b.TempDir(), "report")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	raw, text := make([]byte, 48<<10), make([]byte, 64<<10)
	b.SetBytes(int64(len(report) + 100*len(item)*4/3))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := out.Seek(0, io.SeekStart); err != nil {
			b.Fatal(err)
		}
		err := Resolve(out, strings.NewReader(report), func(w io.Writer, _ Ref) error {
			src := bytes.NewReader(item)
			for {
				n, err := io.ReadFull(src, raw)
				base64.StdEncoding.Encode(text, raw[:n])
				if _, werr := w.Write(text[:base64.StdEncoding.EncodedLen(n)]); werr != nil {
					return werr
				}
				if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
					return nil
				}
				if err != nil {
					return err
				}
			}
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
