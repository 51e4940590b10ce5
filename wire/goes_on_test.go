package wire

import (
	"io"
	"slices"
	"strings"
	"testing"

	"atelier/media"
)

// TestPartsAreNotTakenForTheWhole: base64 that goes on behind long folds, blanks and escapes of a
// URL is lifted whole, or its item fails, at any chunking and in values alike; what merely stands
// behind a whole item stays text.
func TestPartsAreNotTakenForTheWhole(t *testing.T) {
	t.Parallel()
	img := png(9_000, 9, 9)
	b64 := std(img)
	percent := strings.NewReplacer("+", "%2B", "/", "%2f", "=", "%3D").Replace(b64)
	for name, c := range map[string]struct{ field, before, text, behind string }{
		"whole":                   {"b64_json", "", b64, ""},
		"a blank inside":          {"b64_json", "", b64[:600] + ` ` + b64[600:], ""},
		"a line break at the end": {"b64_json", "", b64 + `\n`, ""},
		"usual folds":             {"b64_json", "", folded(b64, 76, `\n`), ""},
		"blanks":                  {"b64_json", "", folded(b64, 76, " "), ""},
		"tabs before lines":       {"b64_json", "", folded(b64, 76, `\n\t`), ""},
		"long folds":              {"b64_json", "", folded(b64, 1000, `\n`), ""},
		"uneven folds":            {"b64_json", "", b64[:300] + `\n` + b64[300:1001] + `\r\n` + b64[1001:], ""},
		"percent":                 {"b64_json", "", percent, ""},
		"long folds of text":      {"text", "", folded(b64, 1000, `\n`), ""},
		"folds of 200":            {"text", "", folded(b64, 200, `\r\n`), ""},
		"folds of 129, slashes":   {"text", "", strings.ReplaceAll(folded(b64, 129, `\n`), "/", `\/`), ""},
		"uneven folds of text":    {"text", "", b64[:76] + `\n` + b64[76:300] + `\n` + b64[300:], ""},
		"a short last line":       {"text", "", folded(b64[:len(b64)-7], 133, `\n`) + `\n` + b64[len(b64)-7:], ""},
		"a size of eight":         {"text", "", b64, ` 1024x768`},
		"a size in a line":        {"text", "", b64, `\n1024x768`},
		"a path behind it":        {"text", "", b64, ` /usr/share/fonts/truetype/dejavu/sans`},
		"a file behind it":        {"text", "", b64, `\nGPT_Image-2_generated_at-2026-11-22_by-Sage`},
		"percent of text":         {"text", "", percent, ""},
		"percent in a data: URL":  {"text", "data:image/png;base64,", percent, ""},
		"blanks in a data: URL":   {"text", "data:image/png;base64,", folded(b64, 400, " "), ""},
		"a text behind it":        {"text", "", b64, `\nThis is your picture.`},
		"a word behind it":        {"text", "", b64, `\nDone`},
		"a size behind it":        {"text", "", b64, ` 1024x1024`},
		"another behind it":       {"text", "", b64, `\n` + b64},
		"an address with one":     {"text", "![x](data:image/png;base64,", b64, `) as you wished`},
	} {
		want := []media.Digest{media.DigestOf(img)}
		if strings.HasSuffix(c.behind, b64) {
			want = append(want, want[0])
		}
		for _, chunk := range append(chunkSizes, 23, 24, 25) {
			body := `{"` + c.field + `":"` + c.before + c.text + c.behind + `"}`
			out, got, err := lift(t, newTestCodec(t, nil), body, chunk, LiftOptions{Fields: Fields{Media: []string{"b64_json"}}})
			text := strings.Replace(body, c.text, "", 1)
			for range want {
				text = strings.Replace(text, b64, "", 1)
			}
			for _, l := range got {
				out = strings.Replace(out, l.Token, "", 1)
			}
			if err != nil || !slices.Equal(digests(got), want) || out != text {
				t.Errorf("%s in chunks of %d: %v, %+v\n%s", name, chunk, err, got, clipped(out))
			}
		}
		plain := strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\/`, "/")
		_, got := newTestCodec(t, nil).LiftString(scoped(t), plain.Replace(c.before+c.text+c.behind), ValueOptions{})
		if !slices.Equal(digests(got), want) {
			t.Errorf("%s as a value: %+v", name, got)
		}
	}
}

// TestBrokenItemsFail: what cannot be read to its end is no item, and the error says why.
func TestBrokenItemsFail(t *testing.T) {
	t.Parallel()
	b64 := std(png(9_000, 9, 9))
	for body, why := range map[string]string{
		"data: {\"b64_json\":\"" + b64[:600] + "\ndata: " + b64[600:] + "\"}\n\n": "cut off by a line break",
		`{"b64_json":"` + b64[:600] + `!` + b64[600:] + `"}`:                      "no base64",
		`{"text":"data:image/png;base64,` + b64[:600] + `%7F` + b64[600:] + `"}`:  "no base64",
	} {
		for _, chunk := range chunkSizes {
			_, got, err := lift(t, newTestCodec(t, nil), body, chunk, LiftOptions{Fields: Fields{Media: []string{"b64_json"}}})
			if err != nil || len(got) != 1 || media.CodeOf(got[0].Err) != media.CodeBadResponse || !strings.Contains(got[0].Err.Error(), why) {
				t.Errorf("%s in chunks of %d: %v, %+v", why, chunk, err, got)
			}
		}
	}
}

// digests names the items that were taken.
func digests(items []Lifted) []media.Digest {
	var all []media.Digest
	for _, l := range items {
		all = append(all, l.Blob.Digest)
	}
	return all
}

// TestLettersThatAreNoMedia: letters of DNA, embeddings and encrypted output stay as they are.
func TestLettersThatAreNoMedia(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	dna := strings.Repeat("GATTACAGATCCGTTA", 2_000)
	for _, body := range []string{
		`{"sequence":"` + dna + `"}`, `{"b":"` + strings.ReplaceAll(dna, "G", "N") + `"}`,
		`{"embedding":"` + std(png(9_000, 3, 3)) + `"}`, `{"encrypted_stdout":"` + std(png(9_000, 3, 3)) + `"}`,
		`{"embeddings":{"base64":["` + std(png(9_000, 3, 3)) + `"]}}`, `{"encryptedReasoning":"` + std(png(9_000, 3, 3)) + `"}`,
		`{"embedding":"` + std(blobNoise(30_000)) + `"}`, `{"unknown":"` + std(blobNoise(30_000)) + `"}`,
	} {
		ctx, col := WithCollector(scoped(t))
		out, err := io.ReadAll(c.LiftReader(ctx, io.NopCloser(strings.NewReader(body)), LiftOptions{}))
		if err != nil || string(out) != body || len(col.All()) != 0 {
			t.Errorf("%d items, %v: %s", len(col.All()), err, clipped(string(out)))
		}
	}
	if out, items := c.LiftString(scoped(t), dna, ValueOptions{Threshold: 10_000}); out != dna || len(items) != 0 {
		t.Errorf("DNA became %d items", len(items))
	}
}
