package action

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"atelier/media"
	"atelier/media/wire"
)

// Errors quote what a model wrote in place of the expected value, but never enough to reveal a picture.
func TestComplaintsHoldNoBase64(t *testing.T) {
	t.Parallel()
	pic := noise(t, 60, 60, 31)
	text := b64(pic)
	r := newTestRegistry(t, nil, Action{
		Name: "Act",
		Params: []Param{
			{Name: "Kind", Values: []string{"a", "b"}},
			{Name: "Image", ValueType: Binary},
			{Name: "Note"},
			{Name: "Count", Type: "integer"},
			{Name: "Options", Type: "object"},
		},
		Run: func(context.Context, *Call) (Result, error) { return Result{}, nil },
	})
	for name, params := range map[string]map[string]any{
		"value of an enumeration": {"Kind": text}, "name of a parameter": {text: 1}, "ref": {"Image": text},
		"data URL as a ref": {"Image": "data:image/png;base64," + text}, "placeholder": {"Note": "${media:" + text + "}"},
		"number": {"Count": text}, "object": {"Options": text},
	} {
		out := r.run(t, "Act", params)
		if out.Success || out.Error == nil || out.Err == nil {
			t.Errorf("%s: %+v", name, out)
		}
		checkNoMedia(t, out, pic)
	}
	out := r.run(t, text, nil)
	if out.Error == nil || out.Error.Code != media.CodeNotFound {
		t.Errorf("unknown action: %+v", out)
	}
	checkNoMedia(t, out, pic)
}

// broken panics in every method.
type broken struct{ base64 string }

func (b *broken) Read([]byte) (int, error)       { panic(b.base64) }
func (b *broken) Close() error                   { panic(b.base64) }
func (b brokenError) Error() string              { panic(b.base64) }
func (b brokenName) String() string              { return b.base64 }
func (b marshaler) MarshalJSON() ([]byte, error) { panic(b.base64) }

type (
	brokenError struct{ base64 string }
	brokenName  struct{ base64 string }
	marshaler   struct{ base64 string }
)

// Values carry code of the action; a panic in it loses the value, not the run and not the value's siblings.
func TestPanicsOfValuesCostTheValueAlone(t *testing.T) {
	t.Parallel()
	pic := noise(t, 60, 60, 32)
	var nilReader *bytes.Reader
	var nilError *media.Error
	for name, v := range map[string]any{
		"nil reader": nilReader, "nil error": nilError, "reader": &broken{b64(pic)}, "marshaler": marshaler{b64(pic)},
		"error": brokenError{b64(pic)}, "nested": []any{map[string]any{"a": nilReader}}, "in a map": map[string]any{"data": nilReader, "mimeType": "image/png"},
		"in a struct": struct{ A any }{&broken{b64(pic)}}, "key": map[brokenName]int{{b64(pic)}: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestRegistry(t, nil, Action{Name: "Act", Run: func(context.Context, *Call) (Result, error) {
				return Result{Outputs: map[string]any{"Bad": v, "Good": pic}}, nil
			}})
			out := r.run(t, "Act", nil)
			if len(out.Media) == 0 || out.Media[0].Digest != media.DigestOf(pic) {
				t.Fatalf("the sibling is lost: %+v", out)
			}
			if name != "key" && !strings.Contains(strings.Join(out.Warnings, " "), "failed because of a bug") {
				t.Errorf("no warning: %+v", out)
			}
			checkNoMedia(t, out, pic)
		})
	}
}

func TestErrorsThatCannotBeReadKeepTheMedia(t *testing.T) {
	t.Parallel()
	pic := tiny(t)
	var nilError *media.Error
	for name, err := range map[string]error{"nil pointer": nilError, "panic": brokenError{"x"}, "joined": errors.Join(errors.New("a"), brokenError{"x"})} {
		r := newTestRegistry(t, nil, Action{Name: "Act", Run: func(context.Context, *Call) (Result, error) {
			return Result{Outputs: map[string]any{"Image": pic}}, err
		}})
		out := r.run(t, "Act", nil)
		if out.Success || out.Error.Code != media.CodeInternal || len(out.Media) != 1 {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

func TestFileNamesLoseTheirPath(t *testing.T) {
	t.Parallel()
	pic := tiny(t)
	secret := b64(noise(t, 40, 40, 33))
	for given, want := range map[string]string{
		"cat.png": "cat.png", "../../etc/cat.png": "cat.png", `C:\pictures\cat.png`: "cat.png", "/": "",
		secret[:300]: "",
	} {
		r := newTestRegistry(t, nil, outputAction(Param{Name: "Image", Direction: Output, ValueType: Binary},
			map[string]any{"data": pic, "fileName": given}))
		out := r.run(t, "Give", nil)
		if len(out.Media) != 1 {
			t.Fatalf("%+v", out)
		}
		got := out.Media[0].FileName
		if strings.ContainsAny(got, `/\`) || want != "" && got != want || wire.NameMedia(got) != got || media.ErrorText(got) != got {
			t.Errorf("%.40q became %q, want %q", given, got, want)
		}
	}
}

// A picture is found wherever it is in a text and kept byte for byte, and the text around it remains.
func TestPicturesAreFoundAnywhereInText(t *testing.T) {
	t.Parallel()
	pic := noise(t, 150, 150, 36)
	s := b64(pic)
	inJSON, err := json.Marshal(map[string]string{"a": s})
	if err != nil {
		t.Fatal(err)
	}
	const mark = "${media:REF}"
	for name, c := range map[string]struct{ in, want string }{
		"alone":              {s, ""},
		"folded":             {fold(s, "\n"), ""},
		"folded, indented":   {strings.ReplaceAll(fold(s, "\n"), "\n", "\n    "), ""},
		"between words":      {"see " + s + " end", "see " + mark + " end"},
		"between lines":      {"x\n" + fold(s, "\r\n") + "\ny", "x\n" + mark + "\ny"},
		"under a heading":    {"x:\n\n" + strings.ReplaceAll("\n"+fold(s, "\n"), "\n", "\n    "), "x:\n\n\n    " + mark},
		"before a word":      {fold(s[:len(s)/76*76], "\n") + "\nend of it", mark + "\nend of it"},
		"in an address":      {"see https://cdn.example/" + s + " end", "see https://cdn.example/" + mark + " end"},
		"behind a folder":    {"data/" + s, "data/" + mark},
		"behind a name":      {"a-" + s, "a-" + mark},
		"behind a key":       {"file=" + s, "file=" + mark},
		"in XML":             {"<img>" + s + "</img>", "<img>" + mark + "</img>"},
		"in a fence":         {"```\n" + s + "\n```", "```\n" + mark + "\n```"},
		"in JSON":            {string(inJSON), `{"a":"` + mark + `"}`},
		"DATA URL":           {"DATA:image/png;BASE64," + s, ""},
		"URL with a charset": {"x data:image/png;charset=utf-8;base64," + s + " y", "x " + mark + " y"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestRegistry(t, nil, outputAction(Param{Name: "X", Direction: Output, ValueType: Other}, c.in))
			out := r.run(t, "Give", nil)
			checkNoMedia(t, out, pic)
			if len(out.Media) != 1 {
				t.Fatalf("%d items: %+v", len(out.Media), out)
			}
			want := pic
			if name == "before a word" {
				want = pic[:len(s)/76*57]
			}
			r.checkContent(t, out.Media[0], want)
			text, isText := out.Outputs["X"].(string)
			if isText != (c.want != "") || isText && text != strings.ReplaceAll(c.want, "REF", string(out.Media[0].Ref)) {
				t.Errorf("got %v, want %q", out.Outputs["X"], c.want)
			}
		})
	}
}

// Of many pictures in one text, those within the limit are kept in their places, and the text around them remains.
func TestManyPicturesInOneText(t *testing.T) {
	t.Parallel()
	pic := tiny(t)
	var text strings.Builder
	const n = 2000
	for i := range n {
		text.WriteString("text data:image/png;base64," + b64(append(bytes.Clone(pic), fmt.Sprintf("%0300d", i)...)) + " behind ")
	}
	r := newTestRegistry(t, func(c *Config) { c.MaxItems = 300 }, outputAction(Param{Name: "Text", Direction: Output, ValueType: Other}, text.String()))
	out := r.run(t, "Give", nil)
	b, err := json.Marshal(out.Outputs)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Media) != 300 || strings.Count(string(b), "${media:") != 300 || strings.Count(string(b), "[media not stored") != n-300 {
		t.Errorf("%d items, %d placeholders, %d refusals", len(out.Media), strings.Count(string(b), "${media:"), strings.Count(string(b), "[media not stored"))
	}
	if got := strings.Count(string(b), " behind "); got != n {
		t.Errorf("%d of %d pieces of text stay", got, n)
	}
	if out.Code != Partial {
		t.Errorf("code %s", out.Code)
	}
}

// A whole picture where none is declared is media, however short its base64 is; what only looks like a picture remains
// text.
func TestShortPictureInTextIsKept(t *testing.T) {
	t.Parallel()
	small := b64(tiny(t))
	r := newTestRegistry(t, nil, outputAction(Param{Name: "Out", ValueType: Other}, nil))
	for name, text := range map[string]string{
		"in a sentence": "alt " + small + ", see", "alone": small, "twice": small + " and " + small,
		"URL-safe": "see " + strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(small), "escaped": `a "` + strings.ReplaceAll(small, "/", `\/`) + `"`,
	} {
		got := fmt.Sprint(r.Interceptor().Value(t.Context(), Target{Media: &media.Set{}}, map[string]any{"note": text}).Value)
		if strings.Contains(got, small[8:40]) || !strings.Contains(got, "img-") {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, plain := range []string{
		strings.Repeat("0123456789abcdef", 4), "https://example.org/" + strings.Repeat("path/to/", 9), "iVBORw0KGgo is how a PNG begins",
		strings.Repeat("word-", 20), "user_" + strings.Repeat("aB3", 30),
	} {
		if got := r.Interceptor().Value(t.Context(), Target{Media: &media.Set{}}, plain); got.Value != plain {
			t.Errorf("%q became %v", plain, got.Value)
		}
	}
}
