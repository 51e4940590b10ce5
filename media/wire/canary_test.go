package wire

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"atelier/media"
)

// containsPart reports whether text contains a part of an image: 48 characters of its base64 at any alignment, or 32 of
// its bytes.
func containsPart(text string, img []byte) bool {
	for shift := range 3 {
		b64 := std(img[shift:])
		for i := 0; i+48 <= len(b64); i += 48 {
			if strings.Contains(text, b64[i:i+48]) {
				return true
			}
		}
	}
	for i := 0; i+32 <= len(img); i += 64 {
		if bytes.Contains([]byte(text), img[i:i+32]) {
			return true
		}
	}
	return false
}

// TestCanary checks that no part of a picture remains in the output, in errors or in debug output. Large pictures
// arrive in every form, small ones only where they are declared.
func TestCanary(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, func(cfg *Config) { cfg.Limits.Pixels = 100 })
	declared := LiftOptions{Fields: Fields{Media: []string{"b64_json"}}}
	for _, img := range [][]byte{png(66_000, 5, 5), png(66_000, 50, 50), png(70, 5, 5)} {
		var said []string
		note := func(out string, items []Lifted, err error) {
			said = append(said, out, fmt.Sprintf("%v %+v %#v", items, items, items), fmt.Sprint(err))
		}
		docs := []string{`{"b64_json":"%s"}`, `{"b64_json":"data:image/png;base64,%s"}`, `{"x":"data:image/png;base64,%s"}`}
		if len(img) > 100 {
			docs = append(docs, `{"x":"%s"}`, `{"x":"see %s there"}`, `{"x":"{\"y\":\"%s\"}"}`, `{"x":"a\n%s\nb"}`, "data: {\"x\":\"%s\"}\n\n", `{"x":"%s\ntext"}`)
		}
		for _, wrap := range docs {
			for _, escape := range escapes {
				doc := fmt.Sprintf(wrap, escape(std(img)))
				for _, chunk := range []int{5, 4096} {
					out, items, err := lift(t, c, doc, chunk, declared)
					note(out, items, err)
					out, items, err = lift(t, c, doc[:len(doc)-len(doc)/3], chunk, declared) // truncated
					note(out, items, err)
				}
				if len(img) > 100 || strings.Contains(wrap, "data:") {
					out, items := c.LiftString(scoped(t), doc, ValueOptions{})
					note(out, items, nil)
				}
				out, items := c.LiftString(scoped(t), escape(std(img)), ValueOptions{Declared: true})
				note(out, items, nil)
				note(media.ErrorText(doc), nil, nil)
				if len(img) > 100 || strings.Contains(wrap, "data:") {
					note(NameMedia(doc), nil, nil)
				}
			}
		}
		b, err := c.Store(t.Context(), io.MultiReader(bytes.NewReader(img)), "image/png")
		note(fmt.Sprintf("%+v", b), nil, err)
		for _, s := range said {
			if containsPart(s, img) {
				t.Fatalf("parts of a picture of %d bytes are in %s", len(img), clipped(s))
			}
		}
	}
}
