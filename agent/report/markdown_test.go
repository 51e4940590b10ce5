package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/agent/report"
	"atelier/media"
)

// TestMarkdownDropsActiveLinks: no link in a Markdown file by an agent executes code or carries its own document,
// however it is written; all other text passes byte for byte.
func TestMarkdownDropsActiveLinks(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	const plain = "# A report\n\nSee [data: a word](https://example.com/data:x), <https://example.com>, <mailto:a@b.c> and `javascript:` in 5 < 6.\n\n[1]: https://example.com/javascript:\n"
	for in, want := range map[string]string{
		plain:                             plain,
		"[a](javascript:alert(1))":        "[a](#removed(1))",
		"![a]( data:text/html;base64,PA)": "![a]( #removed)",
		"[a](<JaVaScRiPt:alert`1`>)":      "[a](<#removed>)",
		"[a](javascript&colon;x)":         "[a](#removed)",
		"[a](&#106;avascript:x)":          "[a](#removed)",
		"[a](java\\script:x)":             "[a](#removed)",
		"<javascript:x>":                  "<#removed>",
		"> [a]: vbscript:x \"t\"":         "> [a]: #removed \"t\"",
		"[a]:\ndata:text/html,x":          "[a]:\n#removed",
		"<a href=\"java\tscript:x\">":     "<a href=\"#removed\">",
		"<a HREF = ' data:text/html,x'>":  "<a HREF = '#removed'>",
		"<img src=javascript:x>":          "<img src=#removed>",
	} {
		stored, err := s.codec.Store(t.Context(), strings.NewReader(in), "text/markdown")
		if err != nil {
			t.Fatal(err)
		}
		o := media.NewOutput(stored, media.Meta{})
		dir := t.TempDir()
		paths, err := report.Files(t.Context(), dir, []media.Output{o}, s.codec)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, paths[o.Ref].Path))
		if err != nil || string(b) != want {
			t.Errorf("%q became %q, want %q, %v", in, b, want, err)
		}
	}
}
