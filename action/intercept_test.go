package action

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"net/url"
	"strings"
	"testing"

	"atelier/media"

	"github.com/google/go-cmp/cmp"
)

// closer is a reader that records whether it was closed.
type closer struct {
	io.Reader
	closed bool
}

func (c *closer) Close() error { c.closed = true; return nil }

func fold(s string, sep string) string {
	var lines []string
	for ; len(s) > 76; s = s[76:] {
		lines = append(lines, s[:76])
	}
	return strings.Join(append(lines, s), sep)
}

func TestDeclaredBinaryAtAnySize(t *testing.T) {
	t.Parallel()
	for size, pic := range map[string][]byte{"70 bytes": tiny(t), "64 KiB": noise(t, 160, 140, 1)} {
		std := b64(pic)
		output := func() media.Output {
			return media.Output{URL: "data:image/png;base64," + std, Label: "A label"}
		}
		ptr := output()
		values := map[string]struct {
			format BinaryFormat
			value  any
		}{
			"base64":               {FormatBase64String, std},
			"base64 unpadded url":  {FormatBase64String, base64.RawURLEncoding.EncodeToString(pic)},
			"base64 folded":        {FormatBase64String, fold(std, "\n")},
			"base64 escaped slash": {FormatBase64String, strings.ReplaceAll(std, "/", `\/`)},
			"base64 array":         {FormatBase64String, []any{std}},
			"base64 strings":       {FormatBase64String, []string{std}},
			"data url":             {FormatDataURL, "data:image/png;base64," + std},
			"bytes":                {FormatBytes, pic},
			"bytes array":          {FormatBytes, [][]byte{pic}},
			"reader":               {FormatReader, bytes.NewReader(pic)},
			"output by data url":   {FormatMediaOutput, output()},
			"output pointer":       {FormatMediaOutput, &ptr},
			"outputs":              {FormatMediaOutput, []media.Output{output()}},
			"map with data":        {FormatMediaOutput, map[string]any{"data": std, "mimeType": "image/png"}},
			"map with bytes":       {FormatMediaOutput, map[string]any{"data": pic, "mime_type": "image/png", "label": "x"}},
			"array of maps":        {"", []any{map[string]any{"b64_json": std}}},
			"nested source":        {FormatMediaOutput, map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png", "data": std}}},
			"struct":               {FormatMediaOutput, struct{ Picture []byte }{pic}},
			"struct with json tags": {FormatMediaOutput, struct {
				B64 string `json:"b64_json"`
			}{std}},
			"bytes for base64":   {FormatBase64String, pic},
			"base64 for bytes":   {FormatBytes, std},
			"base64 for reader":  {FormatReader, std},
			"data url for bytes": {FormatBytes, "data:image/png;base64," + std},
			"reader for output":  {FormatMediaOutput, bytes.NewReader(pic)},
			"raw string":         {FormatBytes, string(pic)},
			"raw json":           {FormatMediaOutput, json.RawMessage(`{"data":"` + std + `"}`)},
		}
		for name, v := range values {
			t.Run(size+"/"+name, func(t *testing.T) {
				t.Parallel()
				p := Param{Name: "Images", Direction: Output, ValueType: Binary, Format: v.format}
				r := newTestRegistry(t, nil, outputAction(p, v.value))
				out := r.run(t, "Give", nil)
				if !out.Success || len(out.Media) != 1 {
					t.Fatalf("%d items: %+v", len(out.Media), out)
				}
				o := out.Media[0]
				r.checkContent(t, o, pic)
				checkNoMedia(t, out, pic)
				if o.MIMEType != "image/png" || o.ID == "" || o.Origin.Source != "Give" || o.Origin.AgentPath != "root/child" || o.Origin.Direction != "output" {
					t.Errorf("item: %+v", o)
				}
				if len(r.recorder.items) != 1 || r.recorder.early {
					t.Errorf("records %d, in the set before its record: %v", len(r.recorder.items), r.recorder.early)
				}
				if _, ok := r.set.Lookup(o.Ref); !ok {
					t.Error("the item is not in the set")
				}
				if b, _ := json.Marshal(out.Outputs); !strings.Contains(string(b), `"refId":"`+string(o.Ref)+`"`) {
					t.Errorf("outputs show no ref: %s", b)
				}
			})
		}
	}
}

func TestFormatThatDoesNotFitWarns(t *testing.T) {
	t.Parallel()
	pic := tiny(t)
	for name, test := range map[string]struct {
		format BinaryFormat
		value  any
		warn   bool
	}{
		"fits":            {FormatBytes, pic, false},
		"base64 as bytes": {FormatBytes, b64(pic), true},
		"text":            {FormatBase64String, "no picture today", true},
		"number":          {FormatMediaOutput, 7.0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestRegistry(t, nil, outputAction(Param{Name: "Image", Direction: Output, ValueType: Binary, Format: test.format}, test.value))
			out := r.run(t, "Give", nil)
			if got := len(out.Warnings) > 0 && strings.Contains(out.Warnings[0], "as declared"); got != test.warn {
				t.Errorf("warnings %q, want one: %v", out.Warnings, test.warn)
			}
			checkNoMedia(t, out, pic)
		})
	}
}

func TestSingleObjectForAnArrayBecomesOne(t *testing.T) {
	t.Parallel()
	pic := tiny(t)
	p := Param{Name: "Images", Direction: Output, ValueType: Binary, IsArray: true}
	r := newTestRegistry(t, nil, outputAction(p, map[string]any{"data": pic, "mimeType": "image/png"}))
	out := r.run(t, "Give", nil)
	list, ok := out.Outputs["Images"].([]any)
	if !ok || len(list) != 1 || len(out.Media) != 1 {
		t.Fatalf("Images is %v", out.Outputs["Images"])
	}
}

func TestDetectionOfUndeclaredMedia(t *testing.T) {
	t.Parallel()
	pic := noise(t, 160, 140, 2)
	std := b64(pic)
	inJSON, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"image": std, "n": 3}}})
	type part struct {
		Kind string `json:"kind"`
		Raw  []byte `json:"raw"`
		skip int
	}
	values := map[string]any{
		"base64":              std,
		"url-safe":            base64.URLEncoding.EncodeToString(pic),
		"unpadded":            base64.RawStdEncoding.EncodeToString(pic),
		"folded":              fold(std, "\r\n"),
		"data url":            "data:image/png;base64," + std,
		"data url in html":    `<p>x</p><img src="data:image/png;base64,` + std + `"><p>y</p>`,
		"markdown":            "![a](data:image/png;base64," + std + ") and text",
		"base64 in prose":     "Here it is: " + std + " as you wished.",
		"json in a string":    string(inJSON),
		"nested":              map[string]any{"a": []any{map[string]any{"b": std}}},
		"bytes":               pic,
		"reader":              bytes.NewReader(pic),
		"mcp block":           map[string]any{"type": "image", "data": std, "mimeType": "image/png"},
		"openai block":        map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64," + std}},
		"struct":              part{"x", pic, 0},
		"pointer to struct":   &part{"x", pic, 0},
		"raw json":            json.RawMessage(inJSON),
		"error value":         errors.New("bad picture " + std),
		"map of strings":      map[string]string{"a": std},
		"raw bytes in a text": string(pic),
	}
	for name, v := range values {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := outputAction(Param{Name: "Data", Direction: Output, ValueType: Other}, v)
			r := newTestRegistry(t, nil, a)
			out := r.run(t, "Give", nil)
			checkNoMedia(t, out, pic)
			if len(out.Media) != 1 {
				t.Fatalf("%d items, outputs %v, warnings %v", len(out.Media), out.Outputs, out.Warnings)
			}
			r.checkContent(t, out.Media[0], pic)
			if b, _ := json.Marshal(out.Outputs); !strings.Contains(string(b), string(out.Media[0].Ref)) {
				t.Errorf("outputs lost the item: %s", b)
			}
		})
	}
}

func TestTextAroundMediaStays(t *testing.T) {
	t.Parallel()
	one, two := noise(t, 30, 30, 3), noise(t, 30, 30, 4)
	text := `<h1>A</h1><img src="data:image/png;base64,` + b64(one) + `"> between <img src='data:image/png;base64,` + b64(two) + `'> end`
	r := newTestRegistry(t, nil, outputAction(Param{Name: "Html", Direction: Output}, text))
	out := r.run(t, "Give", nil)
	if len(out.Media) != 2 {
		t.Fatalf("%d items", len(out.Media))
	}
	want := fmt.Sprintf(`<h1>A</h1><img src="%s"> between <img src='%s'> end`, out.Media[0].Ref.Placeholder(), out.Media[1].Ref.Placeholder())
	if diff := cmp.Diff(want, out.Outputs["Html"]); diff != "" {
		t.Error(diff)
	}
}

func TestSmallDataURLs(t *testing.T) {
	t.Parallel()
	pic := tiny(t)
	svg := `<svg xmlns="http://www.w3.org/2000/svg" width="10" height="5"/>`
	for name, text := range map[string]string{
		"whole":          "data:image/png;base64," + b64(pic),
		"in text":        "a (data:image/png;base64," + b64(pic) + ") b",
		"svg in html":    `<img src="data:image/svg+xml;base64,` + b64([]byte(svg)) + `">`,
		"percent":        "data:image/svg+xml," + url.PathEscape(svg),
		"upper modality": `{"u":"data:image/png;base64,` + b64(pic) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestRegistry(t, nil, outputAction(Param{Name: "Text", Direction: Output}, text))
			out := r.run(t, "Give", nil)
			if len(out.Media) != 1 || !strings.HasPrefix(out.Media[0].MIMEType, "image/") {
				t.Fatalf("items %v, outputs %v, warnings %v", out.Media, out.Outputs, out.Warnings)
			}
			if b, _ := json.Marshal(out.Outputs); strings.Contains(string(b), "base64") {
				t.Errorf("base64 remains: %s", b)
			}
		})
	}
}

func TestWhatIsNoMediaStays(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("alpha\nbeta\n", 2000)
	for name, v := range map[string]any{
		"hex":               strings.Repeat("0123456789abcdef", 1000),
		"upper hex":         strings.Repeat("0123456789ABCDEF", 1000),
		"identifier":        strings.Repeat("some_long_identifier_", 600),
		"path":              strings.Repeat("/usr/share/fonts", 700),
		"list of words":     words,
		"digits":            strings.Repeat("1234567890", 1200),
		"long text":         strings.Repeat("The quick brown fox jumps. ", 600),
		"short base64":      b64([]byte("Many hands make light work.")),
		"digest":            media.DigestOf([]byte("x")).String(),
		"url":               "https://example.org/picture.png",
		"number":            3.5,
		"nested":            map[string]any{"a": []any{"b", nil, true}, "refId": "img-00000000"},
		"text mentions url": "write data:image/png;base64, before it",
		"sequence":          strings.Repeat("ACGT", 4000),
		"embedding":         map[string]any{"embedding": b64(noise(t, 80, 80, 5)[60:]), "embeddings": []any{b64(noise(t, 80, 80, 6)[60:])}},
		"encrypted output":  map[string]any{"encrypted_stdout": b64(noise(t, 80, 80, 5)), "encrypted_index": b64(noise(t, 80, 80, 6)[60:])},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestRegistry(t, nil, outputAction(Param{Name: "Data", Direction: Output, ValueType: Other}, v))
			out := r.run(t, "Give", nil)
			if len(out.Media) != 0 || len(out.Warnings) != 0 {
				t.Fatalf("items %v, warnings %v", out.Media, out.Warnings)
			}
			if diff := cmp.Diff(v, out.Outputs["Data"]); diff != "" {
				t.Error(clip(diff, 500))
			}
		})
	}
}

func TestThresholdIsSettable(t *testing.T) {
	t.Parallel()
	blind := b64(noise(t, 40, 40, 5)[60:]) // no signature
	a := outputAction(Param{Name: "Data", Direction: Output, ValueType: Other}, blind)
	r := newTestRegistry(t, nil, a)
	if out := r.run(t, "Give", nil); len(blind) >= DefaultThreshold || len(out.Media) != 0 {
		t.Fatalf("%d characters below the threshold were taken: %v", len(blind), out.Media)
	}
	out := r.Invoke(t.Context(), "Give", nil, Env{Media: r.set, Threshold: 1000})
	if len(out.Media) != 1 {
		t.Fatalf("the agent's threshold was not used: %v", out.Outputs)
	}
	low := newTestRegistry(t, func(c *Config) { c.Threshold = 1000 }, a)
	if out := low.run(t, "Give", nil); len(out.Media) != 1 {
		t.Fatalf("the configured threshold was not used: %v", out.Outputs)
	}
}

func TestSiblingsAreNeverDropped(t *testing.T) {
	t.Parallel()
	big, small := noise(t, 100, 100, 6), tiny(t)
	linked := noise(t, 20, 20, 7)
	fetch := Fetch(func(_ context.Context, address string) (io.ReadCloser, string, error) {
		if address != "https://cdn.example/three.png" {
			return nil, "", media.Errorf(media.CodeBlockedAddress, "address %s is private", address)
		}
		return io.NopCloser(bytes.NewReader(linked)), "text/plain", nil
	})
	huge := append(noise(t, 8, 8, 8), make([]byte, 2<<20)...)
	p := Param{Name: "Images", Direction: Output, ValueType: Binary, IsArray: true}
	r := newTestRegistry(t, func(c *Config) { c.Fetch = fetch }, outputAction(p, []any{
		map[string]any{"data": b64(big), "mimeType": "image/png", "seed": 4.0},
		map[string]any{"data": b64(small)},
		map[string]any{"url": "https://cdn.example/three.png", "label": "Three"},
		map[string]any{"url": "http://169.254.169.254/x.png"},
		huge,
		"a note",
		map[string]any{"data": b64(small)},
	}))
	out := r.run(t, "Give", nil)
	list, _ := out.Outputs["Images"].([]any)
	if len(list) != 7 {
		t.Fatalf("%d of 7 siblings: %v", len(list), out.Outputs)
	}
	key := func(i int, k string) any { m, _ := list[i].(map[string]any); return m[k] }
	if key(0, "seed") != 4.0 || key(2, "label") != "Three" || key(2, "mimeType") != "image/png" || key(1, "refId") != key(6, "refId") {
		t.Errorf("siblings: %v", list)
	}
	for i, code := range map[int]string{3: "blocked_address", 4: "too_large", 5: "invalid"} {
		e, _ := key(i, "error").(map[string]any)
		if e["code"] != code {
			t.Errorf("item %d: %v, want %s", i, list[i], code)
		}
	}
	if out.Code != Partial || !out.Success || len(out.Warnings) < 2 {
		t.Errorf("outcome: %s %v %v", out.Code, out.Success, out.Warnings)
	}
	checkNoMedia(t, out, big)
}

// TestCancellingDuringAFetchKeepsTheItem: the item is paid for, and its link expires.
func TestCancellingDuringAFetchKeepsTheItem(t *testing.T) {
	t.Parallel()
	pic := tiny(t)
	ctx, cancel := context.WithCancel(t.Context())
	p := Param{Name: "Image", Direction: Output, ValueType: Binary}
	r := newTestRegistry(t, func(c *Config) {
		c.Fetch = func(ctx context.Context, _ string) (io.ReadCloser, string, error) {
			cancel()
			return io.NopCloser(bytes.NewReader(pic)), "image/png", ctx.Err()
		}
	}, outputAction(p, "https://cdn.example/a.png"))
	if out := r.Invoke(ctx, "Give", nil, Env{Media: r.set}); len(out.Media) != 1 || !out.Success {
		t.Errorf("outcome: %+v", out)
	}
}

func TestNoFetcherFailsTheItem(t *testing.T) {
	t.Parallel()
	p := Param{Name: "Image", Direction: Output, ValueType: Binary}
	r := newTestRegistry(t, nil, outputAction(p, "https://cdn.example/a.png"))
	out := r.run(t, "Give", nil)
	if out.Success || out.Code != Failure || out.Error == nil {
		t.Errorf("outcome: %+v", out)
	}
}

func TestRefsAndDigestsOfTheRun(t *testing.T) {
	t.Parallel()
	pic := tiny(t)
	p := Param{Name: "Image", Direction: Output, ValueType: Binary}
	r := newTestRegistry(t, nil)
	own, err := r.Interceptor().Store(t.Context(), Target{Media: r.set, Source: "test"}, bytes.NewReader(pic), media.Meta{Label: "Mine"})
	if err != nil {
		t.Fatal(err)
	}
	stranger := media.DigestOf([]byte("another run's")).String()
	for name, test := range map[string]struct {
		value any
		code  string
	}{
		"ref":             {string(own.Ref), ""},
		"placeholder":     {own.Ref.Placeholder(), ""},
		"map with ref":    {map[string]any{"refId": string(own.Ref)}, ""},
		"our url":         {"https://here/media/" + string(own.Ref), ""},
		"known digest":    {map[string]any{"digest": own.Digest.String()}, ""},
		"output":          {own, ""},
		"output by ref":   {media.Output{Ref: own.Ref}, ""},
		"stranger":        {map[string]any{"digest": stranger}, "forbidden"},
		"unknown ref":     {map[string]any{"refId": "img-00000000"}, "unknown_ref"},
		"nothing at all":  {media.Output{}, "invalid"},
		"empty bytes":     {[]byte{}, "invalid"},
		"broken data url": {"data:image/png;base64,", "invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := r.Interceptor().outcome(t.Context(), outputAction(p, nil), Target{Media: r.set}, Result{Outputs: map[string]any{"Image": test.value}}, nil)
			m, _ := out.Outputs["Image"].(map[string]any)
			if e, _ := m["error"].(map[string]any); test.code != "" && e["code"] != test.code {
				t.Errorf("got %v, want error %s", out.Outputs, test.code)
			}
			if test.code == "" && m["refId"] != string(own.Ref) {
				t.Errorf("got %v, want %s", out.Outputs, own.Ref)
			}
		})
	}
}

func TestRefCollisionFailsThatItem(t *testing.T) {
	t.Parallel()
	pic := tiny(t)
	ref := media.RefOf(media.ModalityImage, media.DigestOf(pic))
	p := Param{Name: "Images", Direction: Output, ValueType: Binary, Format: FormatBytes, IsArray: true}
	other := noise(t, 9, 9, 9)
	r := newTestRegistry(t, nil, outputAction(p, [][]byte{pic, other}))
	squatter := item("another picture", "image/png")
	squatter.Ref = ref
	if _, err := r.set.Add(squatter); err != nil {
		t.Fatal(err)
	}
	out := r.run(t, "Give", nil)
	list, _ := out.Outputs["Images"].([]any)
	first, _ := list[0].(map[string]any)["error"].(map[string]any)
	if first["code"] != "ref_collision" || len(out.Media) != 1 || out.Code != Partial {
		t.Errorf("outcome: %+v", out)
	}
}

func TestLimitOfItems(t *testing.T) {
	t.Parallel()
	p := Param{Name: "Images", Direction: Output, ValueType: Binary, Format: FormatBytes, IsArray: true}
	r := newTestRegistry(t, func(c *Config) { c.MaxItems = 2 }, outputAction(p, [][]byte{noise(t, 9, 9, 1), noise(t, 9, 9, 2), noise(t, 9, 9, 3), noise(t, 9, 9, 1)}))
	out := r.run(t, "Give", nil)
	if len(r.set.All()) != 2 || out.Code != Partial || !strings.Contains(strings.Join(out.Warnings, " "), "limit MaxItems") {
		t.Errorf("%d items, %s, %v", len(r.set.All()), out.Code, out.Warnings)
	}
	list, _ := out.Outputs["Images"].([]any)
	if last, _ := list[3].(map[string]any); last["refId"] == nil {
		t.Errorf("an item that the run holds already was refused: %v", list[3])
	}
}

func TestRecordThatFailsWarns(t *testing.T) {
	t.Parallel()
	p := Param{Name: "Image", Direction: Output, ValueType: Binary, Format: FormatBytes}
	r := newTestRegistry(t, nil, outputAction(p, tiny(t)))
	r.recorder.err = media.Errorf(media.CodeDiskFull, "no space left")
	out := r.run(t, "Give", nil)
	if !out.Success || len(out.Media) != 1 || len(r.set.List()) != 1 || !strings.Contains(strings.Join(out.Warnings, " "), "no space left") {
		t.Errorf("outcome: %+v", out)
	}
}

func TestLargeTextInBinaryBecomesADocument(t *testing.T) {
	t.Parallel()
	report := "# Report\n\n" + strings.Repeat("A finding that matters. ", 600)
	p := Param{Name: "Report", Direction: Output, ValueType: Binary}
	r := newTestRegistry(t, nil, outputAction(p, report))
	out := r.run(t, "Give", nil)
	if len(out.Media) != 1 || out.Media[0].Modality != media.ModalityDocument || out.Media[0].MIMEType != "text/markdown" {
		t.Fatalf("items: %v", out.Media)
	}
	r.checkContent(t, out.Media[0], []byte(report))
	// The same text from a reading action remains text.
	r = newTestRegistry(t, nil, outputAction(Param{Name: "Text", Direction: Output}, report))
	if out := r.run(t, "Give", nil); out.Outputs["Text"] != report {
		t.Error("text of a reading action did not stay text")
	}
}

func TestSVGTextIsAPicture(t *testing.T) {
	t.Parallel()
	svg := []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><rect width="4" height="4"/></svg>`)
	p := Param{Name: "Chart", Direction: Output, ValueType: Binary}
	for name, v := range map[string]any{
		"text": string(svg), "bytes": svg,
		"map": map[string]any{"data": svg, "mimeType": "image/svg+xml", "label": "Output by year", "description": "A chart"},
	} {
		r := newTestRegistry(t, nil, outputAction(p, v))
		out := r.run(t, "Give", nil)
		if len(out.Media) != 1 || out.Media[0].MIMEType != "image/svg+xml" || out.Media[0].Width != 40 {
			t.Fatalf("%s: %v %v", name, out.Media, out.Warnings)
		}
		if name == "map" && (out.Media[0].Label != "Output by year" || out.Media[0].Description != "A chart") {
			t.Errorf("label or description lost: %+v", out.Media[0])
		}
	}
}

func TestPixelsBecomeAPicture(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t, nil, outputAction(Param{Name: "Image", Direction: Output, ValueType: Binary}, image.NewGray(image.Rect(0, 0, 6, 3))))
	out := r.run(t, "Give", nil)
	if len(out.Media) != 1 || out.Media[0].Width != 6 || out.Media[0].Height != 3 {
		t.Errorf("items: %v", out.Media)
	}
}

func TestReaderIsClosedAndStreams(t *testing.T) {
	t.Parallel()
	pic := noise(t, 50, 50, 11)
	c := &closer{Reader: bytes.NewReader(pic)}
	r := newTestRegistry(t, nil, outputAction(Param{Name: "Image", Direction: Output, ValueType: Binary, Format: FormatReader}, c))
	out := r.run(t, "Give", nil)
	if len(out.Media) != 1 || !c.closed {
		t.Errorf("items %v, closed %v", out.Media, c.closed)
	}
	broken := io.MultiReader(bytes.NewReader(pic[:40]), &failing{})
	r = newTestRegistry(t, nil, outputAction(Param{Name: "Image", Direction: Output, ValueType: Binary, Format: FormatReader}, broken))
	if out := r.run(t, "Give", nil); out.Success || len(out.Media) != 0 {
		t.Errorf("a reader that fails half-way gave %+v", out)
	}
}

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestStrangeGoValues(t *testing.T) {
	t.Parallel()
	type inner struct {
		A int `json:"a"`
		B *inner
		C string `json:"-"`
	}
	loop := map[string]any{}
	loop["self"] = loop
	r := newTestRegistry(t, nil)
	value := func(v any) any {
		got := r.Interceptor().Value(t.Context(), Target{Media: r.set, Source: "test"}, v).Value
		if _, err := json.Marshal(got); err != nil {
			t.Errorf("%T: not JSON: %v", v, err)
		}
		return got
	}
	if diff := cmp.Diff(map[string]any{"a": 1, "B": nil}, value(inner{A: 1, C: "secret"})); diff != "" {
		t.Error(diff)
	}
	for _, v := range []any{loop, func() {}, make(chan int), []inner(nil), map[int]string{1: "a"}, [2]int{1, 2}, 1e400 * 0, media.DigestOf(nil), uint8(3), (*media.Output)(nil)} {
		value(v)
	}
}
