package charset

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

func TestReader(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in, want string
		repaired int
	}{
		"UTF-8":            {"Größe €", "Größe €", 0},
		"mark":             {"\xef\xbb\xbfa", "a", 0},
		"Windows-1252":     {"Gr\xf6\xdfe \x80 \x93x\x94", "Größe € “x”", 5},
		"UTF-16":           {"\xff\xfea\x00\xac\x20", "a€", 0},
		"big-endian":       {"\xfe\xff\x00a\x20\xac", "a€", 0},
		"UTF-16, no mark":  {"a\x00b\x00c\x00\n\x00", "abc\n", 0},
		"surrogates":       {"\xff\xfe\x3d\xd8\x00\xde", "😀", 0},
		"cut in a letter":  {"a\xc3", "aÃ", 1},
		"empty":            {"", "", 0},
		"long, then a bad": {strings.Repeat("ä", 70_000) + "\xe4", strings.Repeat("ä", 70_001), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
				u := NewReader(r)
				got, err := io.ReadAll(u)
				if err != nil || string(got) != c.want || u.Repaired() != c.repaired {
					t.Errorf("%.40q, %d repaired, %v; want %.40q, %d", got, u.Repaired(), err, c.want, c.repaired)
				}
			}
		})
	}
}

func TestBinary(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{"text\n": false, "\x00\x01\x02": true, "a\x00b\x00c\x00d\x00": false, "\xff\xfea\x00": false, "\x1b[31mred": false, "\x01\x02\x03\x04": true} {
		if got := Binary([]byte(in)); got != want {
			t.Errorf("%q: binary %v", in, got)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("a\x00b\x00"))
	f.Add([]byte("\xff\xfe\x3d\xd8"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := io.ReadAll(NewReader(strings.NewReader(string(b))))
		if err != nil || !utf8.Valid(got) {
			t.Errorf("%q: %v", got, err)
		}
	})
}
