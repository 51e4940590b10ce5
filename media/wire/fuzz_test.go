package wire

import (
	"bytes"
	"encoding/base64"
	"io"
	"strings"
	"testing"

	"atelier/media"
)

// FuzzPassThrough checks that text without media passes byte for byte, and that the size of the chunks makes no
// difference.
func FuzzPassThrough(f *testing.F) {
	for _, s := range []string{
		`{"a":"b","c":[1,2,{"d":"e\"\\\u00e9"}]}`, "data: {\"x\":\"y\"}\n\n: \"c\n", `";base64,";base64`, `{"a":"{\"b\":\"c\\\"d\"}"}`,
		`"` + strings.Repeat("A\\n", 400) + `"`, `"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA`, "\"\\u002", `{"signature":"` + std(png(3_000, 1, 1)) + `"}`,
		`"iVBORw0KGgoAAAANSUhEUgAA==\n"`, "\"x\\\\\\\\\\\\\\\\\\\"y",
	} {
		f.Add([]byte(s), uint8(3))
	}
	c := newTestCodec(f, nil)
	f.Fuzz(func(t *testing.T, doc []byte, chunk uint8) {
		if len(doc) > 4_000 {
			return
		}
		lifted := 0
		r := c.LiftReader(scoped(t), chunked(string(doc), int(chunk)+1), LiftOptions{OnLift: func(Lifted) { lifted++ }})
		out, err := io.ReadAll(r)
		if err == nil && lifted == 0 && !bytes.Equal(out, doc) {
			t.Fatalf("in chunks of %d:\n got %q\nwant %q", int(chunk)+1, out, doc)
		}
		if again, lift2, err2 := lift(t, c, string(doc), 1<<20, LiftOptions{}); again != string(out) || len(lift2) != lifted || (err == nil) != (err2 == nil) {
			t.Fatalf("chunks of %d and one chunk differ: %v, %v\n%q\n%q", int(chunk)+1, err, err2, out, again)
		}
	})
}

// FuzzRoundTrip checks that media lifted from a document is restored unchanged.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("some bytes"), "before", uint8(0), uint8(5))
	f.Add(png(3_000, 5, 5), `a"b\c`, uint8(7), uint8(1))
	f.Add(blobNoise(100), "", uint8(9), uint8(200))
	c := newTestCodec(f, func(cfg *Config) { cfg.Limits = Limits{Pixels: -1, Frames: -1} })
	encs := []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding}
	docs := []string{`{"k":"%k","b64_json":"%m"}`, `["%k",{"b64_json":"data:x/y;base64,%m"}]`, "data: {\"b64_json\": \"%m\"}\n\n", `{"k":"%k","s":"{\"b64_json\":\"%m\"}"}`}
	f.Fuzz(func(t *testing.T, data []byte, k string, shape, chunk uint8) {
		if len(data) == 0 || len(data) > 5_000 || len(k) > 100 {
			return
		}
		k = strings.Map(func(r rune) rune {
			if r < ' ' || r == '"' || r == '\\' {
				return '.'
			}
			return r
		}, k)
		b64 := encs[shape%4].EncodeToString(data)
		doc := strings.NewReplacer("%k", k, "%m", b64).Replace(docs[shape/4%4])
		out, got, err := lift(t, c, doc, int(chunk)+1, LiftOptions{Fields: Fields{Media: []string{"b64_json"}}})
		if err != nil || len(got) != 1 || got[0].Blob.Digest != media.DigestOf(data) {
			t.Fatalf("%v, %v\n%q", err, got, doc)
		}
		l, err := c.Lower(t.Context(), scope, []byte(out))
		if err != nil {
			t.Fatal(err)
		}
		if back, err := io.ReadAll(l.Open()); err != nil || string(back) != doc {
			t.Fatalf("%v\n got %q\nwant %q", err, back, doc)
		}
	})
}

// FuzzParse checks that only a signed token is parsed as one, and that no text breaks the parser.
func FuzzParse(f *testing.F) {
	c := newTestCodec(f, nil)
	b := media.Blob{Digest: media.DigestOf([]byte("x")), SizeBytes: 1, Facts: media.Facts{MIMEType: "image/png"}}
	f.Add(c.Token(scope, b, VariantStd))
	f.Add(c.Marker(scope, b, VariantRawURL))
	f.Add(TokenPrefix)
	f.Add(magic + "a b c d e f")
	f.Add(tombstone(media.CodeTooLarge, 3))
	f.Fuzz(func(t *testing.T, s string) {
		got, v, err := c.Parse(scope, s)
		if err == nil && strings.TrimRight(s, " ") != strings.TrimRight(c.Marker(scope, got, v), " ") && s != c.Token(scope, got, v) {
			t.Fatalf("%q is taken for %v", s, got)
		}
		if strings.Contains(c.Placeholders(scope, s), familyPrefix) {
			t.Fatalf("a raw token remains in %q", c.Placeholders(scope, s))
		}
		if _, err := c.LowerMultipart(t.Context(), scope, []byte(s), "b"); err != nil && media.CodeOf(err) == media.CodeInternal {
			t.Fatal(err)
		}
	})
}

// FuzzNameMedia checks that NameMedia keeps all other text, and that a second call changes nothing.
func FuzzNameMedia(f *testing.F) {
	f.Add("see " + std(png(300, 1, 1)) + " end")
	f.Add(`{\"a\":\"data:image\/gif;base64,R0lGODlhAQABAIAAAAAAAP\/\/\/yH5BAEAAAAALAAAAAABAAEAAAIBRAA7\"}`)
	f.Add("https://host/data/" + std(png(300, 1, 1)) + "\n==\\u002b")
	f.Add(strings.Repeat("İ", 40) + "data:image/gif;base64," + std(png(300, 1, 1))) // longer in lower case
	f.Fuzz(func(t *testing.T, s string) {
		got := NameMedia(s)
		if NameMedia(got) != got {
			t.Fatalf("%q became %q, which contains more media", s, got)
		}
		if before, _, named := strings.Cut(got, mediaName); !named && got != s || !strings.HasPrefix(s, before) {
			t.Fatalf("%q became %q", s, got)
		}
	})
}
