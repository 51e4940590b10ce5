package resolve

import (
	"io"
	"testing"
)

func TestTagsAreFollowedAcrossChunks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct{ inside, address bool }{
		`<img src="`: {true, true}, `<img alt="a > b" src='`: {true, true}, `<img alt = "x>y" title=`: {true, true}, `<p>E=`: {},
		`<p>a < b and c="`: {}, `<p title=don't>it's="`: {}, `<!-- x="`: {}, `[x](`: {address: true}, `<<b>x`: {}, `<<b `: {inside: true},
		`<p title="a" >"`: {}, `<p title="see `: {inside: true}, `</p>="`: {}, `<p title="a>b`: {inside: true}, `<a href="x" src = "`: {inside: true},
	} {
		for size := 1; size <= len(text); size++ {
			w := &tailWriter{w: io.Discard}
			for b := []byte(text); len(b) > 0; b = b[min(size, len(b)):] {
				if _, err := w.Write(b[:min(size, len(b))]); err != nil {
					t.Fatal(err)
				}
			}
			if w.tags.inside != want.inside || w.inAddress() != want.address {
				t.Errorf("%q in chunks of %d: inside %v, address %v", text, size, w.tags.inside, w.inAddress())
			}
		}
	}
}
