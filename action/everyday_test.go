package action

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/internal/everyday"
	"atelier/media"
)

// Text that is not media passes byte for byte: as a parameter, anywhere in a result, as a key, and in what a person or
// a model wrote.
func TestEverydayStringsPassUnchanged(t *testing.T) {
	t.Parallel()
	for _, s := range everyday.Strings() {
		want := map[string]any{"Out": s.Text, "Nested": map[string]any{"list": []any{s.Text, "see " + s.Text + " there"}, s.Text: true}, "Signature": s.Text}
		var got string
		r := newTestRegistry(t, nil, Action{Name: "Echo", Params: []Param{{Name: "In"}}, Run: func(_ context.Context, c *Call) (Result, error) {
			got = c.Text("In")
			return Result{Message: "Read " + s.Text, Outputs: want, Warnings: []string{"odd: " + s.Text}}, nil
		}})
		out := r.run(t, "Echo", map[string]any{"In": s.Text})
		if !out.Success || len(out.Media) != 0 || got != s.Text {
			t.Errorf("%s: the parameter arrived as %.80q; %v", s.Kind, got, out.Error)
		}
		if diff := cmp.Diff(want, out.Outputs); diff != "" {
			t.Errorf("%s: %s", s.Kind, diff)
		}
		if out.Message != clip("Read "+s.Text, maxMessage) || out.Warnings[0] != clip("odd: "+s.Text, maxMessage) {
			t.Errorf("%s: message %.90q", s.Kind, out.Message)
		}
		if text, found := r.Interceptor().Text(t.Context(), Target{}, s.Text); text != s.Text || len(found.Media) != 0 {
			t.Errorf("%s: the text became %.80q", s.Kind, text)
		}
	}
	r := newTestRegistry(t, nil)
	if text, _ := r.Interceptor().Text(t.Context(), Target{}, everyday.Text()); text != everyday.Text() {
		t.Errorf("together they lack %q", everyday.Missing(text))
	}
}

// Declared media is decoded regardless of how it looks; what cannot be decoded is an error of the item, not text.
func TestDeclaredMediaIsDecodedWhateverItLooksLike(t *testing.T) {
	t.Parallel()
	b64 := base64.StdEncoding.EncodeToString
	silence, few := make([]byte, 4800), bytes.Repeat([]byte{0x41, 0x41, 0x42}, 40)
	typed := func(data string) map[string]any {
		return map[string]any{"data": data, "mimeType": "audio/L16;rate=24000"}
	}
	for name, c := range map[string]struct {
		format BinaryFormat
		value  any
		want   []byte
	}{
		"few letters":       {FormatBase64String, b64(few), few},
		"one letter":        {FormatBase64String, strings.Repeat("A", 400), make([]byte, 300)},
		"short":             {FormatBase64String, "aGVsbG8h", []byte("hello!")},
		"URL-safe, no pads": {FormatBase64String, "_-8", []byte{0xff, 0xef}},
		"list":              {FormatBase64String, []any{"aGVsbG8h"}, []byte("hello!")},
		"letters in a map":  {FormatMediaOutput, map[string]any{"data": b64(few)}, few},
		"short data URL":    {FormatDataURL, "data:application/octet-stream;base64,aGVsbG8h", []byte("hello!")},
		"silence":           {FormatMediaOutput, typed(b64(silence)), silence},
		"silence, data URL": {FormatDataURL, "data:audio/L16;rate=24000;base64," + b64(silence), silence},
	} {
		r := newTestRegistry(t, nil, outputAction(Param{Name: "Sound", Direction: Output, ValueType: Binary, Format: c.format}, c.value))
		out := r.run(t, "Give", nil)
		if len(out.Media) != 1 || len(out.Warnings) != 0 {
			t.Errorf("%s: %d items, %q", name, len(out.Media), out.Warnings)
			continue
		}
		if got := r.content(t, out.Media[0]); !bytes.HasSuffix(got, c.want) || len(got) > len(c.want)+44 {
			t.Errorf("%s: %d bytes, want %d", name, len(got), len(c.want))
		}
	}
	for name, v := range map[string]any{
		"words": "no picture today", "list": []any{"no picture today"}, "words in a map": map[string]any{"data": "no picture today", "mimeType": "image/png"},
		"broken base64": "iVBORw0KGgo!AAA", "cut off": "aGVsb",
	} {
		r := newTestRegistry(t, nil, outputAction(Param{Name: "Image", Direction: Output, ValueType: Binary, Format: FormatBase64String}, v))
		out := r.run(t, "Give", nil)
		if out.Success || len(out.Warnings) == 0 || strings.Contains(cmp.Diff(nil, out.Outputs), "no picture today") || len(out.Media) != 0 {
			t.Errorf("%s passed: %+v", name, out)
		}
	}
}

// Media in the text of an error is shortened; the other words remain.
func TestErrorsOfActionsAreShortened(t *testing.T) {
	t.Parallel()
	cut := base64.StdEncoding.EncodeToString(noise(t, 60, 60, 8))[300:700]
	r := newTestRegistry(t, nil, Action{Name: "Act", Run: func(context.Context, *Call) (Result, error) {
		return Result{}, errors.Join(media.Errorf(media.CodeInvalid, "got %s", cut), errors.New("and more"))
	}})
	if out := r.run(t, "Act", nil); !strings.Contains(out.Message, "got [base64, 400 characters]") || !strings.Contains(out.Message, "and more") {
		t.Errorf("%q", out.Message)
	}
}
