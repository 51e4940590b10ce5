package file

import (
	"bytes"
	"context"
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
		"latin-1":      {"a.txt", "caf\xe9 \x81", "", "café �", "text", "2 bytes were read as Latin-1"},
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
	// Lines longer than any buffer, with characters of two bytes at odd places.
	text := strings.Repeat("aé漢😀", 60_000) + "\nend"
	f, _ := folder(t, map[string]string{"a.txt": text})
	runes := []rune(text)
	for _, offset := range []int{0, 1, 7999, 65_535, 65_536, 200_000, len(runes) - 5} {
		res, err := f.call(t, map[string]any{"Path": "a.txt", "Offset": float64(offset), "Limit": 500.0})
		if err != nil {
			t.Fatal(err)
		}
		r := back(t, res)
		want := string(runes[offset:min(len(runes), offset+500)])
		if *r.Text != want || r.TotalChars != len(runes) || r.Offset != offset || r.Truncated != (offset+500 < len(runes)) {
			t.Errorf("offset %d: %d characters of %d, truncated %v", offset, len([]rune(*r.Text)), r.TotalChars, r.Truncated)
		}
	}
	res, err := f.call(t, map[string]any{"Path": "a.txt", "Offset": 9e8})
	if r := back(t, res); err != nil || *r.Text != "" || !r.warned("behind the end") {
		t.Errorf("behind the end: %v %+v", err, r)
	}
	res, err = f.call(t, map[string]any{"Path": "a.txt", "Limit": 1e6})
	if r := back(t, res); err != nil || !r.Truncated || !r.warned("Limit was lowered") || len([]rune(*r.Text)) != 10_000 {
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
	// Every character costs six in JSON, so less than the limit fits.
	text := strings.Repeat("\x1b", 9000)
	f, _ := folder(t, map[string]string{"a.txt": text})
	res, err := f.call(t, map[string]any{"Path": "a.txt"})
	if err != nil {
		t.Fatal(err)
	}
	r := back(t, res)
	if !r.Truncated || len(*r.Text) >= 8000 || len(*r.Text) < 500 {
		t.Errorf("%d characters, truncated %v", len(*r.Text), r.Truncated)
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

// A page carries its pictures in tags; only one beyond all measure ends the reading.
func TestReadHTMLWithLargePictures(t *testing.T) {
	t.Parallel()
	page := func(n int) string {
		return `<p>before</p><img alt="x" src="data:image/png;base64,` + strings.Repeat("iVBORw0K", n/8) + `"><p>after</p>`
	}
	got := readOne(t, "a.html", page(6<<20))
	if got.Text == nil || *got.Text != "before\n\nafter" || len(got.Warnings) != 0 {
		t.Errorf("6 MiB: %.200v, %q", got.Text, got.Warnings)
	}
	got = readOne(t, "a.html", page(maxToken+1))
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
	if r.Kind != "image" || r.MimeType != "image/png" || r.Width != 30 || r.Height != 20 || r.SizeBytes != int64(pic.Len()) || r.Text != nil || r.Table != nil {
		t.Errorf("picture with a table's name: %+v", r)
	}
	if r := readOne(t, "a.docx", "PK\x03\x04\x14\x00\x06\x00"); r.Kind != "binary" || r.Text != nil {
		t.Errorf("archive: %+v", r)
	}
	if r := readOne(t, "a.txt", "\x00\x01\x02\x03"); r.Kind != "binary" || r.MimeType != "application/octet-stream" || !r.warned("is not text") {
		t.Errorf("binary: %+v", r)
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
	for name, test := range map[string]struct {
		content string
		rows    int
		columns []string
		warn    string
	}{
		"records":       {`[{"year":2001,"v":1.5},{"year":2002,"v":2,"extra":{"deep":{"x":true}}}]`, 2, []string{"year", "v", "extra.deep.x"}, ""},
		"nested array":  {`{"meta":{"a":1,"b":[1,2]},"data":{"rows":[{"a":"x"},{"a":"y"},{"a":null}]},"z":[1]}`, 3, []string{"a"}, "$.data.rows"},
		"lines":         {"{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n", 3, []string{"a"}, ""},
		"arrays inside": {`[{"a":1,"c":[1,[2,3]]},{"a":2,"c":[]}]`, 2, []string{"a", "c"}, ""},
		"odd name":      {`{"a.b":[{"x":1},{"x":2}],"c":[{"y":1},{"y":2}]}`, 2, []string{"y"}, "$.c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := readOne(t, "a.json", test.content)
			if r.Kind != "table" || r.Table.RowCount != test.rows {
				t.Fatalf("reading: %+v", r)
			}
			var names []string
			for _, c := range r.Table.Columns {
				names = append(names, c.Name)
			}
			if diff := cmp.Diff(test.columns, names); diff != "" {
				t.Error(diff)
			}
			if test.warn != "" && !r.warned(test.warn) {
				t.Errorf("warnings %q, want %q", r.Warnings, test.warn)
			}
		})
	}
}

func TestReadJSONThatIsNoTable(t *testing.T) {
	t.Parallel()
	r := readOne(t, "a.json", `{"name":"x","sizes":[1,2,3],"on":true,"none":null,"deep":{"n":1}}`)
	if r.Kind != "text" || r.Format != "json" || !strings.Contains(*r.Text, `"sizes"`) {
		t.Fatalf("reading: %+v", r)
	}
	want := []string{"$.name: text", "$.sizes[]: number", "$.sizes: array of 3", "$.on: true or false", "$.none: null", "$.deep.n: number"}
	if diff := cmp.Diff(want, r.Outline); diff != "" {
		t.Error(diff)
	}
	for name, content := range map[string]string{
		"cut": `[{"a":1},{"a":`, "prose": `{"a": what}`, "deep": strings.Repeat("[", 5000), "trailing": `{"a":1}}`,
	} {
		if r := readOne(t, "a.json", content); r.Kind != "text" || !r.warned("broken near byte") || *r.Text == "" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
