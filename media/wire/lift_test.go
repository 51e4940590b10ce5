package wire

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"atelier/media"
)

// escapes are the ways in which base64 is written in JSON.
var escapes = map[string]func(string) string{
	"plain": func(s string) string { return s },
	"slash": func(s string) string { return strings.ReplaceAll(s, "/", `\/`) },
	"gson": func(s string) string {
		return strings.NewReplacer("=", `\u003d`, "+", `\u002B`, "/", `\u002f`).Replace(s)
	},
	"folded": func(s string) string {
		var o strings.Builder
		for len(s) > 76 {
			o.WriteString(s[:76] + `\r\n`)
			s = s[76:]
		}
		return o.String() + s
	},
}

var encodings = map[string]*base64.Encoding{
	"std": base64.StdEncoding, "url": base64.URLEncoding, "raw-std": base64.RawStdEncoding, "raw-url": base64.RawURLEncoding,
}

// wraps are the contexts in which media occurs. %s is the base64.
var wraps = map[string]string{
	"image api":   `{"created":1,"data":[{"b64_json":"%s","x":"a\"b\\"}],"usage":{"n":1}}`,
	"data url":    `{"url":"data:image/png;base64,%s"}`,
	"markdown":    `{"content":"see ![x](data:image/png;base64,%s) and more"}`,
	"nested":      `{"arguments":"{\"image\":\"%s\",\"k\":1}"}`,
	"nested data": `{"arguments":"{ \"image\": \"data:image/png;base64,%s\",\n\"k\":1}"}`,
	"sse":         "event: partial\ndata: {\"type\":\"x\",\"b64_json\":\"%s\"}\n\n: a comment \"with quote\n\ndata: {\"thoughtSignature\":\"AAAA\"}\n\n",
	"ndjson":      "{\"a\":1}\r\n{\"b\":\"%s\"}\r\n{\"c\":[]}\r\n",
	"pretty":      "{\n  \"a\": [\n \"%s\"\n ]\n}\n",
	"array":       `["%s","iVBORw0KGgo=","it's ;base64, nothing",";base64","ends \\",""]`,
	"top":         `"%s"`,
}

func TestLiftEveryShape(t *testing.T) {
	t.Parallel()
	for wname, wrap := range wraps {
		t.Run(wname, func(t *testing.T) {
			t.Parallel()
			c := newTestCodec(t, nil)
			for ename, enc := range encodings {
				for how, escape := range escapes {
					if strings.HasPrefix(wname, "nested") && (how == "gson" || how == "folded") {
						continue
					}
					for _, size := range []int{255, 256, 257, 7501, 100_001} {
						liftShape(t, c, liftCase{wname + "/" + ename + "/" + how, wrap, enc, escape, size, how == "folded"})
					}
				}
			}
		})
	}
}

type liftCase struct {
	name, wrap string
	enc        *base64.Encoding
	escape     func(string) string
	size       int
	folded     bool
}

func liftShape(t *testing.T, c *Codec, k liftCase) {
	t.Helper()
	img := png(k.size, 64, 48)
	plain := k.enc.EncodeToString(img)
	doc := fmt.Sprintf(k.wrap, k.escape(plain))
	for _, chunk := range chunkSizes {
		if chunk < 4 && k.size > 10_000 {
			continue
		}
		id := fmt.Sprintf("%s/%d bytes/chunks of %d", k.name, k.size, chunk)
		out, got, err := lift(t, c, doc, chunk, LiftOptions{})
		if err != nil || len(got) != 1 || got[0].Err != nil {
			t.Fatalf("%s: %v, lifted %v\n%s", id, err, got, clipped(out))
		}
		b := got[0].Blob
		if b.Digest != media.DigestOf(img) || b.Width != 64 || b.Height != 48 || b.MIMEType != "image/png" {
			t.Fatalf("%s: blob %+v", id, b)
		}
		if want := fmt.Sprintf(k.wrap, got[0].Token); out != want {
			t.Fatalf("%s:\n got %s\nwant %s", id, clipped(out), clipped(want))
		}
		l, err := c.Lower(t.Context(), scope, []byte(out))
		if err != nil || l.Items() != 1 {
			t.Fatalf("%s: lower: %v", id, err)
		}
		back, err := io.ReadAll(l.Open())
		if err != nil || int64(len(back)) != l.Size() || string(back) != fmt.Sprintf(k.wrap, plain) {
			t.Fatalf("%s: came back as %d of %d bytes, %v\n%s", id, len(back), l.Size(), err, clipped(string(back)))
		}
	}
}

func TestWhatPasses(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	noise := blobNoise(30_000)
	tok := c.Token(scope, media.Blob{Digest: media.DigestOf([]byte("x")), SizeBytes: 1}, VariantStd)
	for name, doc := range map[string]string{
		"never field":           `{"thoughtSignature":"` + std(noise) + `"}`,
		"never with image":      `{"signature":"` + std(png(20_000, 1, 1)) + `"}`,
		"never nested":          `{"a":"{\"encrypted_content\":\"` + std(png(20_000, 1, 1)) + `\"}"}`,
		"redacted thinking":     `{"content":[{"type":"redacted_thinking","data":"` + std(noise) + `"}]}`,
		"no signature":          `{"data":"` + std(noise) + `"}`,
		"zeros":                 `{"data":"` + std(make([]byte, 9_000)) + `"}`,
		"small signed":          `{"data":"` + std(png(180, 1, 1)) + `"}`,
		"long hex":              `{"hash":"` + strings.Repeat("0123456789abcdef", 2_000) + `"}`,
		"long word":             `{"w":"` + strings.Repeat("loremipsum", 2_000) + `"}`,
		"url":                   `{"url":"https://example.com/` + strings.Repeat("a/", 8_000) + `?x=1"}`,
		"token":                 `{"b64_json":"` + tok + `"}`,
		"raw line break":        "data: {\"x\":\"" + std(noise[:90]) + "\n" + std(noise[:90]) + "\"}\n",
		"unclosed":              `{"a":"some words`,
		"escapes at the end":    `{"a":"x\\\"\u00`,
		"no json":               "plain \"words; and\" ;base64, \\ more",
		"deep":                  strings.Repeat("[", 2_000) + `"x"` + strings.Repeat("]", 2_000),
		"mixed alphabets":       `{"a":"` + strings.Repeat("Ab1+Cd2-", 3_000) + `"}`,
		"escaped letters":       `{"a":"\n\t\r\b\f\"\\\/é"}`,
		"data mark and nothing": `{"a":"data:image/png;base64,"}`,
	} {
		for _, chunk := range chunkSizes {
			out, got, err := lift(t, c, doc, chunk, LiftOptions{Fields: Fields{Media: []string{"b64_json"}}})
			if err != nil || len(got) != 0 || out != doc {
				t.Errorf("%s in chunks of %d: %v, %d lifted\n got %s\nwant %s", name, chunk, err, len(got), clipped(out), clipped(doc))
			}
		}
	}
	if n := count(t, c); n != 0 {
		t.Fatalf("%d blobs were stored", n)
	}
}

// blobNoise returns bytes without a media signature.
func blobNoise(n int) []byte {
	b := png(n+64, 1, 1)
	return b[64:]
}

func TestWhatIsLiftedWithoutDeclaration(t *testing.T) {
	t.Parallel()
	small := png(70, 3, 3)
	for name, k := range map[string]struct {
		doc  string
		want []byte
	}{
		"short, a whole file":    {`{"x":"` + std(gif) + `"}`, gif},
		"whole file in prose":    {`{"x":"see ` + std(gif) + `, please"}`, gif},
		"small data url":         {`{"x":"data:image/png;base64,` + std(small) + `"}`, small},
		"in prose":               {`{"x":"here: ` + std(png(999, 1, 1)) + ` and so on"}`, png(999, 1, 1)},
		"after an escape":        {`{"x":"here:\n` + std(png(999, 1, 1)) + `\nand so on"}`, png(999, 1, 1)},
		"after a unicode escape": {`{"x":"here\u003e` + std(png(999, 1, 1)) + ` and so on"}`, png(999, 1, 1)},
		"in prose of an event":   {"data: {\"x\":\"here " + std(png(999, 1, 1)) + "\"}\n\n", png(999, 1, 1)},
		"key":                    {`{"` + std(png(999, 1, 1)) + `":1}`, png(999, 1, 1)},
		"twice nested":           {`{"a":"{\"b\":\"{\\\"c\\\":\\\"` + std(png(999, 1, 1)) + `\\\"}\"}"}`, png(999, 1, 1)},
	} {
		c := newTestCodec(t, nil)
		for _, chunk := range chunkSizes {
			out, got, err := lift(t, c, k.doc, chunk, LiftOptions{})
			if err != nil || len(got) != 1 || got[0].Blob.Digest != media.DigestOf(k.want) {
				t.Errorf("%s in chunks of %d: %v, lifted %v\n%s", name, chunk, err, got, clipped(out))
				continue
			}
			if want := strings.Replace(k.doc, std(k.want), got[0].Token, 1); out != want {
				t.Errorf("%s in chunks of %d:\n got %s\nwant %s", name, chunk, clipped(out), clipped(want))
			}
		}
	}
}

func TestDeclaredFieldsAtAnySize(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	o := LiftOptions{Fields: Fields{Media: []string{"b64_json", "inlineData.data", "image.source.data", "images"}}}
	for _, n := range []int{1, 2, 3, 17, 18, 19, 70, 500} {
		data := blobNoise(n)
		b64 := std(data)
		for _, k := range []struct{ doc, field string }{
			{`{"data":[{"b64_json":"%s"}]}`, "data.b64_json"},
			{`{"inlineData":{"mimeType":"image/png","data":"%s"}}`, "inlineData.data"},
			{`{"image":{"source":{"type":"base64","data":"%s"}}}`, "image.source.data"},
			{`{"images":["%s"]}`, "images"},
			{`{"b64_json":"data:image/png;base64,%s"}`, "b64_json"},
			{`{"args":"{\"b64_json\": \"%s\"}"}`, "b64_json"},
		} {
			for _, chunk := range chunkSizes {
				doc := fmt.Sprintf(k.doc, b64)
				out, got, err := lift(t, c, doc, chunk, o)
				if err != nil || len(got) != 1 || got[0].Blob.Digest != media.DigestOf(data) || got[0].Field != k.field {
					t.Fatalf("%s in chunks of %d: %v, %+v\n%s", doc, chunk, err, got, out)
				}
			}
		}
	}
	for _, doc := range []string{`{"other":{"data":"aGVsbG8gd29ybGQ="}}`, `{"b64_json":"not base64 at all"}`, `{"b64_json":""}`, `{"b64_json":null}`, `{"source":{"data":"aGVsbG8gd29ybGQ="}}`} {
		if out, got, err := lift(t, c, doc, 3, o); err != nil || out != doc || len(got) != 0 {
			t.Errorf("%s became %s, %v", doc, out, err)
		}
	}
}

func TestPCMGetsAHeader(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	samples := blobNoise(48_000)
	for name, k := range map[string]struct {
		doc string
		f   Fields
	}{
		"sibling type": {`{"inlineData":{"mimeType":"audio/L16;codec=pcm;rate=24000","data":"` + std(samples) + `"}}`, Fields{Media: []string{"inlineData.data"}}},
		"escaped type": {`{"inlineData":{"mimeType":"audio\/L16;rate=24000","data":"` + std(samples) + `"}}`, Fields{}},
		"declared":     {`{"audio":{"data":"` + std(samples) + `"}}`, Fields{PCM: map[string]PCM{"audio.data": {}}}},
		"data url":     {`{"x":"data:audio/pcm;rate=24000;base64,` + std(samples) + `"}`, Fields{}},
	} {
		_, got, err := lift(t, c, k.doc, 7, LiftOptions{Fields: k.f})
		if err != nil || len(got) != 1 || got[0].Err != nil {
			t.Fatalf("%s: %v, %v", name, err, got)
		}
		b := got[0].Blob
		if b.MIMEType != "audio/wav" || b.SizeBytes != 48_044 || b.DurationSeconds != 1 {
			t.Errorf("%s: %+v", name, b)
		}
		if data := stored(t, c, b.Digest); string(data[44:]) != string(samples) {
			t.Errorf("%s: the samples changed", name)
		}
	}
}

func TestCutOffMediaIsNotStored(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	b64 := std(png(30_000, 8, 8))
	for _, n := range []int{30, 200, 300, 20_000} {
		out, got, err := lift(t, c, `{"b64_json":"`+b64[:n], 4096, LiftOptions{})
		if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) != 0 {
			t.Errorf("cut after %d: %v, %v", n, err, got)
		}
		if strings.Contains(out, b64[:24]) {
			t.Errorf("cut after %d: media got out", n)
		}
	}
	broken := errors.New("connection reset")
	r := c.LiftReader(scoped(t), io.NopCloser(io.MultiReader(strings.NewReader(`{"x":"`+b64[:9_000]), &failingReader{broken})), LiftOptions{})
	if _, err := io.ReadAll(r); !errors.Is(err, broken) {
		t.Errorf("broken source: %v", err)
	}
	out, got, err := lift(t, c, "data: {\"x\":\""+b64[:9_000]+"\ndata: {\"y\":1}\n", 4096, LiftOptions{})
	if err != nil || len(got) != 1 || media.CodeOf(got[0].Err) != media.CodeBadResponse || !strings.HasSuffix(out, "\ndata: {\"y\":1}\n") {
		t.Errorf("cut by a line break: %v, %v, %s", err, got, clipped(out))
	}
	if n := count(t, c); n != 0 {
		t.Fatalf("%d blobs were stored", n)
	}
}

type failingReader struct{ err error }

func (f *failingReader) Read([]byte) (int, error) { return 0, f.err }

func TestLimitsFailOneItemOnly(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, func(cfg *Config) { cfg.Limits = Limits{ImageBytes: 50_000, Pixels: 1_000_000} })
	good := png(40_000, 10, 10)
	doc := fmt.Sprintf(`{"data":[{"b64_json":"%s"},{"b64_json":"%s"},{"b64_json":"%s"}],"end":true}`,
		std(png(60_000, 10, 10)), std(png(9_000, 30_000, 30_000)), std(good))
	for _, chunk := range chunkSizes {
		out, got, err := lift(t, c, doc, chunk, LiftOptions{})
		if err != nil || len(got) != 3 {
			t.Fatalf("%v, %v", err, got)
		}
		wantCode(t, "bytes", got[0].Err, media.CodeTooLarge)
		wantCode(t, "pixels", got[1].Err, media.CodeTooLarge)
		for i, want := range []string{"over the limit of 50000 bytes", "over the limit of 1000000"} {
			if !strings.HasSuffix(got[i].Err.Error(), want) {
				t.Errorf("%v names more than the limit", got[i].Err)
			}
		}
		if got[2].Err != nil || got[2].Blob.Digest != media.DigestOf(good) {
			t.Fatalf("the good one: %+v", got[2])
		}
		want := fmt.Sprintf(`{"data":[{"b64_json":"%s"},{"b64_json":"%s"},{"b64_json":"%s"}],"end":true}`, got[0].Token, got[1].Token, got[2].Token)
		if out != want {
			t.Fatalf("got %s", clipped(out))
		}
		_, _, err = c.Parse(scope, got[0].Token)
		wantCode(t, "tombstone", err, media.CodeTooLarge)
		_, err = c.Lower(t.Context(), scope, []byte(out))
		wantCode(t, "tombstone sent", err, media.CodeTooLarge)
	}
	if n := count(t, c); n != 1 {
		t.Fatalf("%d blobs, want 1", n)
	}
}

// TestFramesAreNotDelayed checks that a frame of an event stream is returned before the next one arrives.
func TestFramesAreNotDelayed(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	pr, pw := io.Pipe()
	r := c.LiftReader(scoped(t), pr, LiftOptions{})
	defer r.Close()
	buf := make([]byte, 1000)
	for i := range 3 {
		frame := fmt.Sprintf("data: {\"delta\":\"word %d\"}\n\n", i)
		go func() { _, _ = pw.Write([]byte(frame)) }()
		n, err := io.ReadAtLeast(r, buf, len(frame))
		if err != nil || string(buf[:n]) != frame {
			t.Fatalf("%q, %v", buf[:n], err)
		}
	}
}

func TestCloseDuringRead(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	pr, pw := io.Pipe()
	r := c.LiftReader(scoped(t), pr, LiftOptions{})
	done := make(chan error)
	go func() {
		_, err := io.Copy(io.Discard, r)
		done <- err
	}()
	if _, err := io.WriteString(pw, `{"x":"`+std(png(9_000, 1, 1))); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Fatal("a read after Close ends well")
	}
	if n := count(t, c); n != 0 {
		t.Fatalf("%d blobs were stored", n)
	}
}
