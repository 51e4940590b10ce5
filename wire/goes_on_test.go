package wire

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"atelier/media"
)

// TestPartsAreNotTakenForTheWhole: base64 that goes on in a way that is not read never
// becomes an item, at any chunking where its field is declared; what merely stands behind a whole
// item does no harm.
func TestPartsAreNotTakenForTheWhole(t *testing.T) {
	t.Parallel()
	img := png(9_000, 9, 9)
	b64 := std(img)
	percent := strings.NewReplacer("+", "%2B", "/", "%2F", "=", "%3D").Replace(b64)
	for name, c := range map[string]struct {
		body   string
		good   bool
		single bool // seen in one piece only
	}{
		"whole":                    {`{"b64_json":"` + b64 + `"}`, true, false},
		"a blank inside":           {`{"b64_json":"` + b64[:600] + ` ` + b64[600:] + `"}`, false, false},
		"a line break at the end":  {`{"b64_json":"` + b64 + `\n"}`, true, false},
		"usual folds":              {`{"b64_json":"` + folded(b64, 76, `\n`) + `"}`, true, false},
		"blanks":                   {`{"b64_json":"` + strings.ReplaceAll(folded(b64, 76, `\n`), `\n`, " ") + `"}`, false, false},
		"long folds":               {`{"b64_json":"` + folded(b64, 1000, `\n`) + `"}`, true, false},
		"uneven folds":             {`{"b64_json":"` + b64[:300] + `\n` + b64[300:1001] + `\r\n` + b64[1001:] + `"}`, true, false},
		"percent":                  {`{"b64_json":"` + percent + `"}`, false, false},
		"long folds, undeclared":   {`{"text":"` + folded(b64, 1000, `\n`) + `"}`, false, true},
		"percent in a data: URL":   {`{"text":"data:image/png;base64,` + percent + `"}`, false, false},
		"a text behind it":         {`{"text":"` + b64 + `\nThis is your picture."}`, true, false},
		"an address with one":      {`{"text":"![x](data:image/png;base64,` + b64 + `) as you wished"}`, true, false},
		"split over lines of data": {"data: {\"b64_json\":\"" + b64[:600] + "\ndata: " + b64[600:] + "\"}\n\n", false, false},
	} {
		for _, slow := range []bool{false, true} {
			if slow && c.single {
				continue
			}
			codec := newTestCodec(t, nil)
			ctx, col := WithCollector(scoped(t))
			src := io.Reader(strings.NewReader(c.body))
			if slow {
				src = iotest.OneByteReader(src)
			}
			r := codec.LiftReader(ctx, io.NopCloser(src), LiftOptions{Fields: Fields{Media: []string{"b64_json"}}})
			if _, err := io.ReadAll(r); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all := col.All()
			whole := len(all) == 1 && all[0].Err == nil && all[0].Blob.Digest == media.DigestOf(img)
			part := slices.ContainsFunc(all, func(l Lifted) bool { return l.Err == nil && l.Blob.Digest != media.DigestOf(img) })
			if part || whole != c.good {
				t.Errorf("%s, byte by byte %v: %+v", name, slow, all)
			}
		}
	}
}

// TestLettersThatAreNoMedia: letters of DNA, embeddings and encrypted output stay as they are.
func TestLettersThatAreNoMedia(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	dna := strings.Repeat("GATTACAGATCCGTTA", 2_000)
	for _, body := range []string{
		`{"sequence":"` + dna + `"}`, `{"b":"` + strings.ReplaceAll(dna, "G", "N") + `"}`,
		`{"embedding":"` + std(png(9_000, 3, 3)) + `"}`, `{"encrypted_stdout":"` + std(png(9_000, 3, 3)) + `"}`,
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
