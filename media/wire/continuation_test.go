package wire

import (
	"io"
	"slices"
	"strings"
	"testing"

	"atelier/media"
)

// TestPartsAreNotTakenForTheWhole: base64 that continues after long folds, blanks and URL escapes is lifted whole, or
// its item fails, with any chunk size and in values too; text that merely follows a whole item remains text.
func TestPartsAreNotTakenForTheWhole(t *testing.T) {
	t.Parallel()
	img := wholePNG(9_000)
	b64 := std(img)
	raw := strings.TrimRight(std(wholePNG(9_001)), "=") // its base64 ends in ggg
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
		"a short line inside":     {"text", "", b64[:300] + `\n` + b64[300:305] + `\n` + b64[305:], ""},
		"short lines inside":      {"text", "", b64[:300] + `\n` + b64[300:308] + `\r\n` + b64[308:316] + `\n` + b64[316:], ""},
		"a word inside":           {"text", "", b64[:300] + `\n` + b64[300:301] + `\n` + b64[301:], ""},
		"a short line of usual":   {"text", "", b64[:152] + `\n` + b64[152:157] + `\n` + b64[157:], ""},
		"an unpadded end of 20":   {"text", "", b64[:len(b64)-20] + `\n` + b64[len(b64)-20:], ""},
		"an unpadded end of 7":    {"text", "", b64[:len(b64)-7] + `\n` + b64[len(b64)-7:], ""},
		"an unpadded end of 1":    {"text", "", b64[:len(b64)-1] + `\n` + b64[len(b64)-1:], ""},
		"a word at its end":       {"text", "", raw[:len(raw)-3] + `\n` + raw[len(raw)-3:], ""},
		"a word behind folds":     {"text", "", strings.TrimSuffix(folded(raw, len(raw)/100, `\n`), `\n`), ""},
		"a blank at its start":    {"b64_json", "", ` ` + b64, ""},
		"an address with one":     {"text", "![x](data:image/png;base64,", b64, `) as you wished`},
	} {
		want := []media.Digest{media.DigestOf(img)}
		if strings.HasPrefix(raw, c.text[:100]) {
			want[0] = media.DigestOf(wholePNG(9_001))
		}
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

// wholePNG returns png with its end marker.
func wholePNG(n int) []byte {
	b := png(n, 9, 9)
	copy(b[n-12:], "\x00\x00\x00\x00IEND\xaeB`\x82")
	return b
}

// TestShortLinesWithoutAnEnd covers file types without an end marker. A short line in the middle is read. A short line
// at the end that may be part of the file or a size fails the item. After data without a signature, it is text.
func TestShortLinesWithoutAnEnd(t *testing.T) {
	t.Parallel()
	sound := append([]byte("ID3\x04\x00\x00\x00\x00\x00\x00"), blobNoise(8_990)...)
	b64, noise := std(sound), std(blobNoise(9_000))
	for body, want := range map[string]media.Digest{
		b64[:300] + `\n` + b64[300:305] + `\n` + b64[305:]: media.DigestOf(sound),
		b64 + `\nDone`: media.DigestOf(sound),
		b64[:len(b64)-8] + `\n` + b64[len(b64)-8:]: {},
	} {
		for _, chunk := range chunkSizes {
			out, got, err := lift(t, newTestCodec(t, nil), `{"text":"`+body+`"}`, chunk, LiftOptions{})
			if err != nil || len(got) != 1 || got[0].Blob.Digest != want || strings.Contains(out, b64[len(b64)-8:]) {
				t.Errorf("in chunks of %d: %v, %+v\n%s", chunk, err, got, clipped(out))
			}
		}
		_, got := newTestCodec(t, nil).LiftString(scoped(t), strings.ReplaceAll(body, `\n`, "\n"), ValueOptions{})
		if len(got) != 1 || got[0].Blob.Digest != want {
			t.Errorf("as a value: %+v", got)
		}
	}
	out, got := newTestCodec(t, nil).LiftString(scoped(t), noise+"\n1024x768", ValueOptions{Threshold: 10_000})
	if len(got) != 1 || got[0].Err != nil || !strings.HasSuffix(out, "\n1024x768") {
		t.Errorf("data: %+v\n%s", got, clipped(out))
	}
}

// TestTheRestOfBrokenItemsIsDropped: nothing of a failed item remains as text; all other text does.
func TestTheRestOfBrokenItemsIsDropped(t *testing.T) {
	t.Parallel()
	b64 := std(wholePNG(9_000))
	const sse = "data: {\"type\":\"x\"}\n\n"
	for body, want := range map[string]string{
		`{"b64_json":"` + b64[:600] + `!` + b64[600:] + `","n":1}`:                                                     `{"b64_json":"%","n":1}`,
		`{"b64_json":"` + b64[:600] + `! \" \\` + b64[600:] + `\\","n":"a\"b"}`:                                        `{"b64_json":"%","n":"a\"b"}`,
		`{"b64_json":"` + b64[:600] + `\"` + b64[600:] + `"}`:                                                          `{"b64_json":"%"}`,
		`{"b64_json":"` + b64[:100] + `!` + b64[100:] + `"}`:                                                           `{"b64_json":"%"}`,
		`{"b64_json":"` + b64[:30] + `, ` + b64[30:] + `"}`:                                                            `{"b64_json":"%"}`,
		`{"s":"{\"b64_json\":\"` + b64[:600] + `!` + b64[600:] + `\",\"n\":\"a\"}","m":"b"}`:                           `{"s":"{\"b64_json\":\"%\",\"n\":\"a\"}","m":"b"}`,
		`{"text":"![x](data:image/png;base64,` + b64[:600] + `%7F` + b64[600:] + `) fine","n":1}`:                      `{"text":"![x](data:image/png;base64,%) fine","n":1}`,
		`{"text":"![x](data:image/png;base64,` + b64[:90] + `%7F` + b64[90:] + `) fine","n":1}`:                        `{"text":"![x](data:image/png;base64,%) fine","n":1}`,
		`{"text":"data:image/png;base64,` + b64[:600] + `%7F` + folded(b64[600:], 76, `\n`) + ` fine"}`:                `{"text":"data:image/png;base64,%\n fine"}`,
		"data: {\"b64_json\":\"" + b64[:600] + "\ndata: " + b64[600:3_000] + "\ndata:" + b64[3_000:] + "\"}\n\n" + sse: "data: {\"b64_json\":\"%\ndata: \ndata:\"}\n\n" + sse,
		"{\"b64_json\":\"" + b64[:600] + "\n" + b64[600:] + "\"}\n" + `{"n":"a"}`:                                      "{\"b64_json\":\"%\n\"}\n" + `{"n":"a"}`,
		"data: {\"b64_json\":\"" + b64[:600] + "\n\n" + sse:                                                            "data: {\"b64_json\":\"%\n\n" + sse,
	} {
		for _, chunk := range append(chunkSizes, 23, 24, 25, 600) {
			out, got, err := lift(t, newTestCodec(t, nil), body, chunk, LiftOptions{Fields: Fields{Media: []string{"b64_json"}}})
			if err != nil || len(got) != 1 || media.CodeOf(got[0].Err) != media.CodeBadResponse {
				t.Errorf("%s in chunks of %d: %v, %+v", want, chunk, err, got)
				continue
			}
			if want := strings.Replace(want, "%", got[0].Token, 1); out != want {
				t.Errorf("in chunks of %d:\n got %s\nwant %s", chunk, clipped(out), want)
			}
		}
	}
}

// TestSentencesInMediaFields: words in a field declared to hold media are not base64.
func TestSentencesInMediaFields(t *testing.T) {
	t.Parallel()
	words := strings.TrimSpace(strings.Repeat("the picture was not made because GPT5 had no room ", 9))
	for _, text := range []string{"not base64 at all", words, words[:40], " " + words, "https://example.com/a/picture/of/a/house.png", " "} {
		body := `{"b64_json":"` + text + `"}`
		for _, chunk := range chunkSizes {
			out, got, err := lift(t, newTestCodec(t, nil), body, chunk, LiftOptions{Fields: Fields{Media: []string{"b64_json"}}})
			if err != nil || len(got) != 0 || out != body {
				t.Errorf("%q in chunks of %d: %v, %+v\n%s", text, chunk, err, got, clipped(out))
			}
		}
	}
	samples := std(blobNoise(9_000))
	for _, text := range []string{" " + samples, samples[:7] + " " + samples[7:], samples[:7] + " " + samples[7:68], samples[:10] + "  " + samples[10:20] + " " + samples[20:]} {
		c := newTestCodec(t, nil)
		_, got, err := lift(t, c, `{"b64_json":"`+text+`"}`, 7, LiftOptions{Fields: Fields{Media: []string{"b64_json"}}})
		if err != nil || len(got) != 1 || got[0].Err != nil || std(stored(t, c, got[0].Blob.Digest)) != strings.ReplaceAll(text, " ", "") {
			t.Errorf("%s: %v, %+v", clipped(text), err, got)
		}
	}
}

// TestBrokenItemsFail: an item that cannot be read to its end fails, and the error says why.
func TestBrokenItemsFail(t *testing.T) {
	t.Parallel()
	b64 := std(png(9_000, 9, 9))
	for body, reason := range map[string]string{
		"data: {\"b64_json\":\"" + b64[:600] + "\ndata: " + b64[600:] + "\"}\n\n": "cut off by a line break",
		`{"b64_json":"` + b64[:600] + `!` + b64[600:] + `"}`:                      "not base64",
		`{"text":"data:image/png;base64,` + b64[:600] + `%7F` + b64[600:] + `"}`:  "not base64",
	} {
		for _, chunk := range chunkSizes {
			_, got, err := lift(t, newTestCodec(t, nil), body, chunk, LiftOptions{Fields: Fields{Media: []string{"b64_json"}}})
			if err != nil || len(got) != 1 || media.CodeOf(got[0].Err) != media.CodeBadResponse || !strings.Contains(got[0].Err.Error(), reason) {
				t.Errorf("%s in chunks of %d: %v, %+v", reason, chunk, err, got)
			}
		}
	}
}

// digests returns the digests of the lifted items.
func digests(items []Lifted) []media.Digest {
	var all []media.Digest
	for _, l := range items {
		all = append(all, l.Blob.Digest)
	}
	return all
}

// TestLettersThatAreNoMedia: DNA sequences, embeddings and encrypted output remain unchanged.
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
