package file

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"atelier/action"
	"atelier/media"

	"github.com/google/go-cmp/cmp"
)

func TestReadText(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file, content string
		title, text   string
		format        string
		warn          string
	}{
		"plain":        {"a.txt", "one\r\ntwo", "", "one\ntwo", "text", ""},
		"markdown":     {"a.md", "intro\n# The Title #\n\nbody", "The Title", "intro\n# The Title #\n\nbody", "markdown", ""},
		"bom":          {"a.txt", "\xef\xbb\xbfword", "", "word", "text", ""},
		"latin-1":      {"a.txt", "caf\xe9 \x81", "", "café �", "text", "2 bytes were read as Windows-1252"},
		"utf-16":       {"a.txt", "\xff\xfec\x00\xe9\x00=\xd8\x00\xde", "", "cé😀", "text", ""},
		"utf-16 be":    {"a.txt", "\xfe\xff\x00c\x00a", "", "ca", "text", ""},
		"empty":        {"a.txt", "", "", "", "", "empty"},
		"blank":        {"a.csv", " \n\n", "", "", "", "empty"},
		"yaml":         {"a.yaml", "a: 1\n", "", "a: 1\n", "text", ""},
		"no extension": {"README", "words", "", "words", "text", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := readOne(t, test.file, test.content)
			if r.Kind != "text" || r.Text == nil || r.Truncated {
				t.Fatalf("reading: %+v", r)
			}
			if diff := cmp.Diff([]string{test.title, test.text, test.format}, []string{r.Title, *r.Text, r.Format}); diff != "" {
				t.Error(diff)
			}
			if test.warn != "" && !r.warned(test.warn) || test.warn == "" && len(r.Warnings) > 0 {
				t.Errorf("warnings %q, want %q", r.Warnings, test.warn)
			}
		})
	}
}

func TestReadTextInPieces(t *testing.T) {
	t.Parallel()
	// Lines longer than any buffer, with multibyte characters at odd offsets.
	text := strings.Repeat("aé漢😀", 60_000) + "\nend"
	f, _ := folder(t, map[string]string{"a.txt": text})
	runes := []rune(text)
	for _, offset := range []int{0, 1, 7999, 65_535, 65_536, 200_000, len(runes) - 5} {
		res, err := f.call(t, map[string]any{"Path": "a.txt", "Offset": float64(offset), "Limit": 500.0})
		if err != nil {
			t.Fatal(err)
		}
		r := decoded(t, res)
		want := string(runes[offset:min(len(runes), offset+500)])
		if *r.Text != want || r.TotalChars != len(runes) || r.Offset != offset || r.Truncated != (offset+500 < len(runes)) {
			t.Errorf("offset %d: %d characters of %d, truncated %v", offset, len([]rune(*r.Text)), r.TotalChars, r.Truncated)
		}
	}
	res, err := f.call(t, map[string]any{"Path": "a.txt", "Offset": 9e8})
	if r := decoded(t, res); err != nil || *r.Text != "" || !r.warned("past the end") {
		t.Errorf("past the end: %v %+v", err, r)
	}
	res, err = f.call(t, map[string]any{"Path": "a.txt", "Limit": 1e6})
	if r := decoded(t, res); err != nil || !r.Truncated || !r.warned("Limit was reduced") || len([]rune(*r.Text)) != 10_000 {
		t.Errorf("limit: %v %v", err, r.Warnings)
	}
	for _, bad := range []map[string]any{{"Path": "a.txt", "Offset": -1.0}, {"Path": "a.txt", "Limit": 0.0}} {
		if _, err := f.call(t, bad); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

func TestReadOnAfterAShrunkPiece(t *testing.T) {
	t.Parallel()
	// Every character takes six in JSON, so fewer than the limit fit.
	text := strings.Repeat("\x1b", 9000)
	f, _ := folder(t, map[string]string{"a.txt": text})
	res, err := f.call(t, map[string]any{"Path": "a.txt"})
	if err != nil {
		t.Fatal(err)
	}
	r := decoded(t, res)
	if !r.Truncated || len(*r.Text) >= 8000 || len(*r.Text) < 500 {
		t.Errorf("%d characters, truncated %v", len(*r.Text), r.Truncated)
	}
	if want := fmt.Sprintf("continue with Offset=%d", len(*r.Text)); !strings.HasSuffix(res.Message, want) {
		t.Errorf("%q, want %q", res.Message, want)
	}
}

func TestReadHTML(t *testing.T) {
	t.Parallel()
	page := `<!doctype html><html><head><title> A
	 page </title><style>p{color:red}</style><script>var x = "<p>no</p>";</script></head>
	<body><h1>Head<b>ing</b></h1><p>One&nbsp;<i>two</i>,
	three &amp; four.<br>five<script>no()</script></p><!-- no --><ul><li>a</li><li>b</li></ul>
	<table><tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2</td></tr></table><pre>a
  b</pre><noscript>no</noscript><svg><title>no</title><text>no</text></svg>last</body></html>`
	r := readOne(t, "a.html", page)
	want := "# Heading\n\nOne two, three & four.\nfive\n\n- a\n- b\n\nx | y |\n1 | 2 |\n\na\n  b\n\nlast"
	got := strings.ReplaceAll(strings.ReplaceAll(*r.Text, "\u00a0", " "), " | \n", " |\n")
	got = strings.ReplaceAll(got, " |  ", " | ")
	if r.Title != "A page" || r.Format != "html" {
		t.Errorf("title %q, format %q", r.Title, r.Format)
	}
	if diff := cmp.Diff(want, strings.ReplaceAll(got, " | \n", " |\n")); diff != "" {
		t.Error(diff)
	}
	if r := readOne(t, "b.htm", "<title>T</title><p>no head tags <b>at all"); *r.Text != "no head tags at all" || r.Title != "T" {
		t.Errorf("fragment: %+v", r)
	}
}

// TestReadHTMLWithFewEndTags: those of cells are optional, and a drawing may end in its own tag.
func TestReadHTMLWithFewEndTags(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		"<table><tr><td>12<td>34<tr><th>5<th>6</table>": "12 | 34\n5 | 6",
		`<p>before</p><svg class="icon"/><p>after</p>`:  "before\n\nafter",
	} {
		if got := readOne(t, "a.html", page); *got.Text != want {
			t.Errorf("%s is %q, not %q", page, *got.Text, want)
		}
	}
}

// A page may hold pictures of any size in its tags; reading ends only at an extremely long tag that is not a picture.
func TestReadHTMLWithLargePictures(t *testing.T) {
	t.Parallel()
	page := func(n int) string {
		return `<p>before</p><img alt="x" src="data:image/png;base64,` + strings.Repeat("iVBORw0K", n/8) + `"><p>after</p>`
	}
	for _, n := range []int{6 << 20, maxToken + 1} {
		if got := readOne(t, "a.html", page(n)); got.Text == nil || *got.Text != "before\n\nafter" || len(got.Warnings) != 0 {
			t.Errorf("%d bytes: %.200v, %q", n, got.Text, got.Warnings)
		}
	}
	got := readOne(t, "a.html", `<p>before</p><img src="a.png" alt="`+strings.Repeat("no media ", maxToken/8)+`"><p>after</p>`)
	if got.Text == nil || *got.Text != "before" || !got.warned("larger than 16 MiB") {
		t.Errorf("beyond: %.200v, %q", got.Text, got.Warnings)
	}
}

func TestReadBinary(t *testing.T) {
	t.Parallel()
	var pic bytes.Buffer
	if err := png.Encode(&pic, image.NewGray(image.Rect(0, 0, 30, 20))); err != nil {
		t.Fatal(err)
	}
	r := readOne(t, "a.csv", pic.String())
	if r.Kind != "image" || r.MimeType != "image/png" || r.Width != 30 || r.Height != 20 || r.SizeBytes != int64(pic.Len()) || r.Text != nil {
		t.Errorf("picture with a table's name: %+v", r)
	}
	if r := readOne(t, "a.txt", "\x00\x01\x02\x03"); r.Kind != "binary" || r.MimeType != "application/octet-stream" || !r.warned("is not text") {
		t.Errorf("binary: %+v", r)
	}
}

// TestReadTextAboutPDF: a text that mentions the mark of a PDF is not a damaged PDF.
func TestReadTextAboutPDF(t *testing.T) {
	t.Parallel()
	text := "# PDF\n\nA file begins with %PDF-1.7 and ends with %%EOF.\n"
	if r := readOne(t, "a.md", text); r.Format != "markdown" || r.Text == nil || *r.Text != text {
		t.Errorf("%+v", r)
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	f, _ := folder(t, map[string]string{"a.txt": "x", "a.csv": "a,b\n1,2\n", "a.json": `[{"a":1},{"a":2}]`, "a.html": "<p>x"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"a.txt", "a.csv", "a.html"} {
		_, err := f.read(ctx, &action.Call{Params: map[string]any{"Path": name, "Limit": 10.0}})
		if media.CodeOf(err) != media.CodeCancelled {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadJSON(t *testing.T) {
	t.Parallel()
	f, _ := folder(t, map[string]string{"a.json": `{"name":"x"}`})
	res, err := f.call(t, map[string]any{"Path": "a.json"})
	if err != nil {
		t.Fatal(err)
	}
	if r := decoded(t, res); r.Kind != "text" || r.Format != "json" || *r.Text != `{"name":"x"}` || !strings.Contains(res.Message, "Describe Tables") {
		t.Errorf("reading: %+v, %s", r, res.Message)
	}
}

func TestReadTablePoints(t *testing.T) {
	t.Parallel()
	csv := "a,b\n" + strings.Repeat("1,2\n", 5000)
	f, _ := folder(t, map[string]string{"a.csv": csv, "b.xlsx": "PK\x03\x04"})
	res, err := f.call(t, map[string]any{"Path": "a.csv"})
	if err != nil {
		t.Fatal(err)
	}
	if r := decoded(t, res); r.Kind != "table" || *r.Text != csv[:tableChars] || !r.Truncated || !strings.Contains(res.Message, "use Describe Tables and Query Tables") {
		t.Errorf("reading: %+v, %s", r, res.Message)
	}
	res, err = f.call(t, map[string]any{"Path": "b.xlsx"})
	if r := decoded(t, res); err != nil || r.Kind != "table" || r.Text != nil || !strings.Contains(res.Message, "use Describe Tables") {
		t.Errorf("workbook: %v %+v, %s", err, r, res.Message)
	}
}
