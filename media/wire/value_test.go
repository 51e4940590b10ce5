package wire

import (
	"encoding/base64"
	"strings"
	"testing"

	"atelier/media"
)

func folded(s string, n int, br string) string {
	var o strings.Builder
	for len(s) > n {
		o.WriteString(s[:n] + br)
		s = s[n:]
	}
	return o.String() + s + br
}

func TestLiftStringWhole(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	img, small, noise := png(5_000, 4, 4), png(70, 3, 3), blobNoise(9_000)
	svg := `<svg xmlns="http://www.w3.org/2000/svg" width="10" height="20"></svg>`
	for name, k := range map[string]struct {
		in   string
		o    ValueOptions
		want []byte
	}{
		"bare":                 {std(img), ValueOptions{}, img},
		"bare with blanks":     {"\n  " + std(img) + " \n", ValueOptions{}, img},
		"url-safe, unpadded":   {base64.RawURLEncoding.EncodeToString(img[:4_999]), ValueOptions{}, img[:4_999]},
		"folded":               {folded(std(img), 76, "\r\n"), ValueOptions{}, img},
		"folded at 60":         {folded(std(img), 60, "\n"), ValueOptions{}, img},
		"escaped":              {strings.ReplaceAll(std(img), "/", `\/`), ValueOptions{}, img},
		"data url":             {"data:image/png;base64," + std(img), ValueOptions{}, img},
		"small data url":       {"data:image/png;base64," + std(small), ValueOptions{}, small},
		"folded data url":      {"data:image/png;base64," + folded(std(img), 76, "\n"), ValueOptions{}, img},
		"data url in capitals": {"DATA:image/png;BASE64," + std(img), ValueOptions{}, img},
		"long, no signature":   {std(noise), ValueOptions{Threshold: 10_000}, noise},
		"declared small":       {std(small), ValueOptions{Declared: true}, small},
		"small, whole":         {std(gif), ValueOptions{}, gif},
		"declared, one letter": {strings.Repeat("A", 64), ValueOptions{Declared: true}, make([]byte, 48)},
		"declared, short":      {"aGVsbG8h", ValueOptions{Declared: true}, []byte("hello!")},
		"declared noise":       {std(noise[:50]), ValueOptions{Declared: true}, noise[:50]},
		"declared svg url":     {"data:image/svg+xml,%3Csvg%20xmlns='x'%3E%3C/svg%3E", ValueOptions{Declared: true}, []byte("<svg xmlns='x'></svg>")},
		"declared svg base64":  {std([]byte(svg)), ValueOptions{Declared: true}, []byte(svg)},
	} {
		out, items := c.LiftString(scoped(t), k.in, k.o)
		if len(items) != 1 || items[0].Err != nil || items[0].Blob.Digest != media.DigestOf(k.want) || !strings.Contains(out, items[0].Token) {
			t.Errorf("%s: %v\n%s", name, items, clipped(out))
		}
	}
}

func TestLiftStringInside(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	one, two := png(5_000, 4, 4), png(6_000, 4, 4)
	for name, in := range map[string]string{
		"markdown": "# Title\n![a](data:image/png;base64,%1) text\n\n![b](data:image/png;base64,%2)\nThe end",
		"html":     `<img src="data:image/png;base64,%1"><img src='data:image/png;base64,%2'>`,
		"json":     `{"a":"%1","b":["data:image/png;base64,%2"]}`,
		"prose":    "Here it is:\n%1\n\nand the other one: %2. Bye",
		"escaped":  `{\"text\":\"see\n%1\",\"b\":\"%2\"}`,
	} {
		text := strings.NewReplacer("%1", std(one), "%2", std(two)).Replace(in)
		out, items := c.LiftString(scoped(t), text, ValueOptions{})
		if len(items) != 2 || items[0].Blob.Digest != media.DigestOf(one) || items[1].Blob.Digest != media.DigestOf(two) {
			t.Errorf("%s: %d items\n%s", name, len(items), clipped(out))
			continue
		}
		in = strings.ReplaceAll(in, "data:image/png;base64,", "")
		if want := strings.NewReplacer("%1", items[0].Token, "%2", items[1].Token).Replace(in); out != want {
			t.Errorf("%s:\n got %s\nwant %s", name, clipped(out), clipped(want))
		}
	}
	out, items := c.LiftString(scoped(t), "Picture:\n"+folded(std(one), 76, "\n")+"\nand text", ValueOptions{})
	if len(items) != 1 || items[0].Blob.Digest != media.DigestOf(one) || !strings.HasPrefix(out, "Picture:\n"+TokenPrefix) || !strings.HasSuffix(out, "\n\nand text") {
		t.Errorf("folded in prose: %v\n%s", items, clipped(out))
	}
}

func TestLiftStringLeavesText(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	for _, s := range []string{
		"", "word", "An ordinary sentence, with words/and-signs_in it.", strings.Repeat("deadbeef", 4_000),
		strings.Repeat("loremipsum", 3_000), "data:text/plain,hello", "sha256-" + media.DigestOf(nil).Hex(),
		c.Token(scope, media.Blob{Digest: media.DigestOf(nil)}, VariantStd), strings.Repeat("word\n", 5_000),
		`C:\path\to\file`, std(png(100, 1, 1)), "genome " + strings.Repeat("ACGTTGCA", 3_000) + " end",
		"/" + strings.Repeat("src/main/Some-Name_of/", 1_000), `"` + std(blobNoise(3_000)) + `"`,
		std([]byte(strings.Repeat("words in base64 are text, ä", 900))), "data:application/json;base64," + std([]byte(`{"version":3}`)),
	} {
		if out, items := c.LiftString(scoped(t), s, ValueOptions{Threshold: 10_000}); out != s || len(items) != 0 {
			t.Errorf("%s became %s", clipped(s), clipped(out))
		}
	}
}

func TestLiftStringReportsRefusedItems(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	out, items := c.LiftString(scoped(t), "big: "+std(png(9_000, 30_000, 30_000))+" small: "+std(png(900, 3, 3)), ValueOptions{})
	if len(items) != 2 || items[1].Err != nil || !strings.Contains(out, TombstonePrefix) {
		t.Fatalf("%v\n%s", items, clipped(out))
	}
	wantCode(t, "pixels", items[0].Err, media.CodeTooLarge)
}

// gif is a complete picture of 43 bytes.
var gif = []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x01D\x00;")
