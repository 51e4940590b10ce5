package action

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/media"
)

// numbers returns bytes as Node writes a Buffer, and as Python writes a bytes object converted to a list.
func numbers(b []byte) []any {
	out := make([]any, len(b))
	for i, c := range b {
		out[i] = float64(c)
	}
	return out
}

// typed returns bytes as JSON.stringify writes a Uint8Array.
func typed(b []byte) map[string]any {
	out := map[string]any{}
	for i, c := range b {
		out[fmt.Sprint(i)] = float64(c)
	}
	return out
}

// signedBytes returns bytes as Java writes a byte[].
func signedBytes(b []byte) []int8 {
	out := make([]int8, len(b))
	for i, c := range b {
		out[i] = int8(c)
	}
	return out
}

// The forms in which other programs return media where nothing declares it. Each was once passed to a model, or lost,
// by some system.
func TestShapesThatSlipThroughInterceptors(t *testing.T) {
	t.Parallel()
	pic := noise(t, 60, 60, 41)
	std := b64(pic)
	dataURL := "data:image/png;base64," + std
	ints := make([]int, len(pic))
	for i, c := range pic {
		ints[i] = int(c)
	}
	asJSON := func(v any) json.RawMessage {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	file := filepath.Join(t.TempDir(), "a.png")
	if err := os.WriteFile(file, pic, 0o600); err != nil {
		t.Fatal(err)
	}
	open, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	var builder strings.Builder
	builder.Write(pic)
	pointer := &dataURL
	for name, v := range map[string]any{
		"single object for an array": map[string]any{"images": map[string]any{"b64_json": std, "mimeType": "image/png"}},
		"deeply nested":              map[string]any{"a": []any{map[string]any{"b": map[string]any{"c": []any{std}}}}},
		"typed map":                  map[string][]byte{"cat": pic},
		"map of structs":             map[int]struct{ Data string }{7: {std}},
		"pointer to a text":          &pointer,
		"named string type":          template.HTML(`<img src="` + dataURL + `">`),
		"line-wrapped":               fold(std, "\n"),
		"line-wrapped, CRLF":         fold(std, "\r\n"),
		"URL-safe":                   base64.URLEncoding.EncodeToString(pic),
		"URL-safe, unpadded":         base64.RawURLEncoding.EncodeToString(pic),
		"percent-encoded base64":     "data:image/png;base64," + url.QueryEscape(std),
		"data URL with a charset":    "data:image/png;charset=utf-8;base64," + std,
		"data URL in CSS":            "body{background:url(" + dataURL + ")}",
		"data URL in srcset":         `<img srcset="` + dataURL + ` 2x">`,
		"data URL in Markdown":       "![x](" + dataURL + " \"title\")",
		"data URL in JSON in JSON":   string(asJSON(string(asJSON(map[string]any{"a": dataURL})))),
		"JSON lines":                 `{"n":1}` + "\n" + `{"image":"` + std + `"}` + "\n",
		"RawMessage":                 asJSON(map[string]any{"result": []any{std}}),
		"RawMessage in a struct":     struct{ Body json.RawMessage }{asJSON(map[string]any{"x": dataURL})},
		"Node Buffer":                map[string]any{"type": "Buffer", "data": numbers(pic)},
		"JavaScript typed array":     typed(pic),
		"signed bytes of Java":       signedBytes(pic),
		"form of a web page":         "n=1&image=" + url.QueryEscape(std) + "&m=2",
		"list of numbers":            numbers(pic),
		"list of ints":               ints,
		"list of numbers in JSON":    asJSON(ints),
		"hexadecimal":                hex.EncodeToString(pic),
		"upper hexadecimal":          strings.ToUpper(hex.EncodeToString(pic)),
		"PostgreSQL bytea":           `\x` + hex.EncodeToString(pic),
		"SQL literal":                "X'" + hex.EncodeToString(pic) + "'",
		"array of bytes":             [4]any{1, "two", pic, nil},
		"bytes.Buffer":               *bytes.NewBuffer(pic),
		"pointer to bytes.Buffer":    bytes.NewBuffer(bytes.Clone(pic)),
		"strings.Builder":            &builder,
		"open file":                  open,
		"LimitReader":                io.LimitReader(bytes.NewReader(pic), int64(len(pic))),
		"MCP image":                  map[string]any{"type": "image", "data": std, "mimeType": "image/png"},
		"MCP embedded resource":      map[string]any{"type": "resource", "resource": map[string]any{"uri": "file:///a.png", "mimeType": "image/png", "blob": std}},
		"MCP beside structured":      map[string]any{"structuredContent": map[string]any{"n": 1}, "content": []any{map[string]any{"type": "text", "text": "ok"}, map[string]any{"type": "image", "data": std, "mimeType": "image/png"}}},
		"Anthropic block":            map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png", "data": std}},
		"Gemini part":                map[string]any{"inlineData": map[string]any{"mimeType": "image/png", "data": std}},
		"OpenAI responses":           map[string]any{"type": "image_generation_call", "result": std, "output_format": "png"},
		"wrong declared type":        map[string]any{"data": std, "mimeType": "image/jpeg"},
		"error in a value":           fmt.Errorf("bad input: %w", errors.New(dataURL)),
		"joined errors":              errors.Join(errors.New("first"), errors.New(std)),
		"text in a []byte":           []byte(`{"image":"` + std + `"}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestRegistry(t, nil, outputAction(Param{Name: "Data", Direction: Output, ValueType: Other}, v))
			out := r.run(t, "Give", nil)
			checkNoMedia(t, out, pic)
			if len(out.Media) != 1 {
				t.Fatalf("%d items: %.300v, warnings %v", len(out.Media), out.Outputs, out.Warnings)
			}
			r.checkContent(t, out.Media[0], pic)
			shown := string(asJSON(out.Outputs))
			if !strings.Contains(shown, string(out.Media[0].Ref)) || len(shown) > 600 || out.Media[0].MIMEType != "image/png" {
				t.Errorf("%s: %.600s", out.Media[0].MIMEType, shown)
			}
		})
	}
}

// TestDeclaredNumbersAndHexadecimal: where Binary is declared, a picture of any size is accepted in these encodings.
func TestDeclaredNumbersAndHexadecimal(t *testing.T) {
	t.Parallel()
	pic := tiny(t)
	for name, v := range map[string]any{
		"numbers": numbers(pic), "hexadecimal": hex.EncodeToString(pic), "bytea": `\x` + hex.EncodeToString(pic),
		"Node Buffer": map[string]any{"type": "Buffer", "data": numbers(pic)},
	} {
		r := newTestRegistry(t, nil, outputAction(Param{Name: "Image", Direction: Output, ValueType: Binary}, v))
		out := r.run(t, "Give", nil)
		if len(out.Media) != 1 {
			t.Errorf("%s: %d items, %.200v", name, len(out.Media), out.Outputs)
			continue
		}
		r.checkContent(t, out.Media[0], pic)
	}
}

// TestFormatsOfOtherKinds covers formats that sniffers often miss.
func TestFormatsOfOtherKinds(t *testing.T) {
	t.Parallel()
	pad := bytes.Repeat([]byte{0x11, 0x52, 0xa3, 0x7f, 0x90, 0xee, 0x05}, 300)
	wav := append([]byte("RIFF\x00\x10\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x08\x00\x00"), pad...)
	for mime, b := range map[string][]byte{
		"audio/wav":       wav,
		"audio/ogg":       append([]byte("OggS\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x1eOpusHead"), pad...),
		"audio/flac":      append([]byte("fLaC\x80\x00\x00\x22\x10\x00\x10\x00\x00\x00\x00\x00\x00\x00\x0a\xc4\x42\xf0"), pad...),
		"image/webp":      append([]byte("RIFF\x00\x08\x00\x00WEBPVP8L\xf4\x07\x00\x00\x2f\x07\xc0\x01\x00"), pad...),
		"application/pdf": append([]byte("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n"), pad...),
	} {
		for _, v := range []any{b64(b), map[string]any{"type": "audio", "data": b64(b), "mimeType": mime}, b} {
			r := newTestRegistry(t, nil, outputAction(Param{Name: "Data", Direction: Output, ValueType: Other}, v))
			out := r.run(t, "Give", nil)
			checkNoMedia(t, out, b)
			if len(out.Media) != 1 || out.Media[0].MIMEType != mime {
				t.Errorf("%s as %T: %v %v", mime, v, out.Media, out.Warnings)
			}
		}
	}
}

// TestNumbersAndHexadecimalThatAreNoMedia: measurements, colours, checksums and keys remain unchanged.
func TestNumbersAndHexadecimalThatAreNoMedia(t *testing.T) {
	t.Parallel()
	series := make([]any, 5000)
	for i := range series {
		series[i] = float64(i % 256)
	}
	png := numbers([]byte("\x89PNG\r\n\x1a\n"))
	for name, v := range map[string]any{
		"series":                series,
		"short list":            png,
		"fractions":             append(append([]any{}, png...), 0.5, 1.5, 300.0),
		"checksum":              "ffd8ffe0" + strings.Repeat("0a1b2c3d", 7),
		"checksum of SHA-512":   "89504e47" + strings.Repeat("0a1b2c3d", 15),
		"long key":              strings.Repeat("deadbeef", 500),
		"odd hexadecimal":       "89504e470d0a1a0a" + strings.Repeat("1", 601),
		"list of hex checksums": []any{strings.Repeat("ab", 32), strings.Repeat("cd", 32)},
	} {
		r := newTestRegistry(t, nil, outputAction(Param{Name: "Data", Direction: Output, ValueType: Other}, v))
		out := r.run(t, "Give", nil)
		got, _ := json.Marshal(out.Outputs["Data"])
		want, _ := json.Marshal(v)
		if len(out.Media) != 0 || !bytes.Equal(got, want) {
			t.Errorf("%s: %d items, %.200s", name, len(out.Media), got)
		}
	}
}

// TestMediaInWordsOfAction: the message, the warnings and the text of a failure are searched as outputs are; the media
// in them is kept.
func TestMediaInWordsOfAction(t *testing.T) {
	t.Parallel()
	pic := noise(t, 60, 60, 42)
	std := b64(pic)
	for name, words := range map[string]string{
		"base64": "Look: " + std, "data URL": "see data:image/png;base64," + std + " there", "folded": "here\n" + fold(std, "\n") + "\nends",
		"URL-safe": "x " + base64.URLEncoding.EncodeToString(pic), "in JSON": `{"error":{"image":"` + std + `"}}`,
	} {
		for where, do := range map[string]func() (Result, error){
			"message":        func() (Result, error) { return Result{Message: words}, nil },
			"warning":        func() (Result, error) { return Result{Warnings: []string{words}}, nil },
			"error":          func() (Result, error) { return Result{}, errors.New(words) },
			"failed message": func() (Result, error) { return Result{Code: Failure, Message: words}, nil },
			"coded error":    func() (Result, error) { return Result{}, media.Errorf(media.CodeBadResponse, "%s", words) },
		} {
			r := newTestRegistry(t, nil, Action{Name: "Say", Run: func(context.Context, *Call) (Result, error) { return do() }})
			out := r.run(t, "Say", nil)
			checkNoMedia(t, out, pic)
			if len(out.Media) != 1 || out.Media[0].Digest != media.DigestOf(pic) {
				t.Errorf("%s in %s: %d items, %.300q", name, where, len(out.Media), out.Message)
			}
		}
	}
}

// TestItemsOfAFailedActionStay: the outputs of a failed action are intercepted and kept as those of a successful one
// are.
func TestItemsOfAFailedActionStay(t *testing.T) {
	t.Parallel()
	pic := noise(t, 60, 60, 43)
	r := newTestRegistry(t, nil, Action{
		Name:   "Half",
		Params: []Param{{Name: "Images", Direction: Output, ValueType: Binary, IsArray: true}},
		Run: func(context.Context, *Call) (Result, error) {
			return Result{Outputs: map[string]any{"Images": []any{map[string]any{"b64_json": b64(pic)}, errors.New("picture 2 was refused")}}}, errors.New("half of it failed")
		},
	})
	out := r.run(t, "Half", nil)
	list, _ := out.Outputs["Images"].([]any)
	if out.Success || len(out.Media) != 1 || len(list) != 2 || len(r.recorder.items) != 1 {
		t.Errorf("%+v", out)
	}
	checkNoMedia(t, out, pic)
}

// FuzzSpellings: other encodings of bytes are read without a panic, and hexadecimal and escaped base64 decode to the
// original bytes.
func FuzzSpellings(f *testing.F) {
	f.Add([]byte("\x89PNG\r\n\x1a\n0000IHDR"), "a%2Bb", false)
	f.Add(bytes.Repeat([]byte{0xff, 0xd8, 0xff, 0xe0}, 50), "%2", true)
	f.Add([]byte("%PDF-1.4"), "base64,%3D%0", true)
	f.Fuzz(func(t *testing.T, raw []byte, text string, declared bool) {
		if b, ok := hexadecimal(hex.EncodeToString(raw), declared); ok && !bytes.Equal(b, raw) {
			t.Errorf("hexadecimal gave %x for %x", b, raw)
		}
		_, _ = hexadecimal(text, declared)
		if b, ok := byteList(len(raw), declared, func(i int) any { return int(raw[i]) }); ok && !bytes.Equal(b, raw) {
			t.Errorf("numbers gave %x for %x", b, raw)
		}
		std := base64.StdEncoding.EncodeToString(raw)
		mark := "data:image/png;base64,"
		if got := unescaped(mark + url.QueryEscape(std)); got != mark+std {
			t.Errorf("unescaped gave %q for %q", got, std)
		}
		if got := unescaped(text); len(got) > len(text) || !strings.Contains(text, "%") && got != text {
			t.Errorf("unescaped made %q of %q", got, text)
		}
	})
}
