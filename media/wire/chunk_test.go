package wire

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestBrokenItemsAtAnyChunking: items with random folds, spaces, cuts and errors have the same result however the
// stream is split.
func TestBrokenItemsAtAnyChunking(t *testing.T) {
	t.Parallel()
	items := []string{std(wholePNG(1_500)), std(wholePNG(1_500)), std(blobNoise(900))}
	marks := []string{
		`\n`, `\r\n`, " ", "!", `\"`, `\\`, `\u00e9`, "\n", "\ndata: ", "=", "==", "Done", "1024x768", `\t`, `{\"b64_json\":\"`, `\"}`,
	}
	docs := []string{
		`{"b64_json":"%"}`, `{"text":"%"}`, `{"text":"data:image/png;base64,%"}`, `{"s":"{\"b64_json\":\"%\",\"n\":1}"}`,
		"data: {\"b64_json\":\"%\"}\n\ndata: {}\n\n",
	}
	r := rand.New(rand.NewPCG(1, 2))
	o := LiftOptions{Fields: Fields{Media: []string{"b64_json"}}}
	c := newTestCodec(t, nil)
	for range 2_000 {
		text := items[r.IntN(len(items))]
		for range r.IntN(5) {
			at := r.IntN([]int{40, len(text)}[r.IntN(2)])
			text = text[:at] + marks[r.IntN(len(marks))] + text[at:]
		}
		doc := strings.Replace(docs[r.IntN(len(docs))], "%", text, 1)
		want, all, err := lift(t, c, doc, 1<<20, o)
		for _, chunk := range []int{1, 2 + r.IntN(60), 300} {
			if out, got, failed := lift(t, c, doc, chunk, o); out != want || len(got) != len(all) || (err == nil) != (failed == nil) {
				t.Fatalf("in chunks of %d: %v, not %v, of %q:\n got %q\nwant %q", chunk, failed, err, doc, out, want)
			}
		}
	}
}
