package wire

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
)

func TestTokenText(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	for size := int64(0); size < 1e12; size = size*7 + 1 {
		for _, typ := range []string{"image/png", "image/svg+xml", "", "a?b~>c", "application/vnd.x-y_z.w+json"} {
			for _, v := range []Variant{0, VariantStd, VariantURL, VariantRawStd, VariantRawURL} {
				b := media.Blob{Digest: media.DigestOf([]byte(typ)), SizeBytes: size, Facts: media.Facts{MIMEType: typ}}
				tok := c.Token(scope, b, v)
				if strings.ContainsAny(tok, "+/=-_") || !strings.HasPrefix(tok, TokenPrefix) || len(tok) > 260 {
					t.Fatalf("token %s", tok)
				}
				got, gv, err := c.Parse(scope, tok)
				if err != nil || got.Digest != b.Digest || got.SizeBytes != size || gv != max(v, VariantStd) {
					t.Fatalf("parsed %+v, %c, %v", got, gv, err)
				}
				if _, _, err := c.Parse(scope, c.Marker(scope, b, v)); err != nil {
					t.Fatalf("marker: %v", err)
				}
			}
		}
	}
	if tok := c.Token(scope, media.Blob{Digest: media.DigestOf(nil), SizeBytes: 2_000_000, Facts: media.Facts{MIMEType: "image/png"}}, VariantStd); len(tok) > 190 {
		t.Errorf("a usual token has %d characters", len(tok))
	}
}

func TestForgedAndForeignTokens(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	b := store(t, c, png(1_000, 2, 2))
	tok := c.Token(scope, b, VariantStd)
	other, err := NewCodec(Config{Blobs: c.cfg.Blobs, Keys: []Key{{ID: "k1", Secret: []byte("another secret of 32 bytes......")}}})
	if err != nil {
		t.Fatal(err)
	}
	forged := strings.Replace(c.Marker(scope, b, VariantStd), " 1000 ", " 1001 ", 1)
	for name, bad := range map[string]string{
		"other run":      c.Token("run-2", b, VariantStd),
		"other key":      other.Token(scope, b, VariantStd),
		"changed":        base64.StdEncoding.EncodeToString([]byte(forged)),
		"cut":            tok[:len(tok)-8],
		"longer":         tok + "AAAA",
		"only a prefix":  TokenPrefix,
		"family prefix":  familyPrefix,
		"unknown family": base64.StdEncoding.EncodeToString([]byte("atelier-what/1 abc")),
	} {
		if _, _, err := c.Parse(scope, bad); media.CodeOf(err) != media.CodeForbidden {
			t.Errorf("%s: %v", name, err)
		}
		for _, doc := range []string{`{"data":"%s"}`, `{"url":"data:image/png;base64,%s"}`, `{"a":"{\"b\":\"%s\"}"}`, `["x", "%s"]`} {
			_, err := c.Lower(t.Context(), scope, fmt.Appendf(nil, doc, bad))
			wantCode(t, name+" in "+doc, err, media.CodeForbidden)
		}
	}
	_, _, err = c.Parse("", c.Token("", b, VariantStd))
	wantCode(t, "no scope", err, media.CodeForbidden)
}

func TestKeyRotation(t *testing.T) {
	t.Parallel()
	old := newTestCodec(t, nil)
	b := media.Blob{Digest: media.DigestOf([]byte("x")), SizeBytes: 1}
	tok := old.Token(scope, b, VariantStd)
	next := Key{ID: "k2", Secret: []byte("the key that comes after the old")}
	both := newTestCodec(t, func(c *Config) { c.Keys = append([]Key{next}, c.Keys...) })
	if _, _, err := both.Parse(scope, tok); err != nil {
		t.Fatalf("an old token under both keys: %v", err)
	}
	if both.Token(scope, b, VariantStd) == tok {
		t.Fatal("the first key does not sign")
	}
	newest := newTestCodec(t, func(c *Config) { c.Keys = []Key{next} })
	_, _, err := newest.Parse(scope, tok)
	wantCode(t, "a retired key", err, media.CodeForbidden)
	if again := newTestCodec(t, nil).Token(scope, b, VariantStd); again != tok {
		t.Fatal("another process signs differently")
	}
}

func TestConfigErrorsNameTheSetting(t *testing.T) {
	t.Parallel()
	s, err := blob.New(blob.Config{Driver: memblob.New()})
	if err != nil {
		t.Fatal(err)
	}
	for want, cfg := range map[string]Config{
		"Config.Blobs":  {Keys: testKeys()},
		"Config.Keys":   {Blobs: s},
		"id of key 1":   {Blobs: s, Keys: []Key{{ID: "a b", Secret: make([]byte, 32)}}},
		"secret of key": {Blobs: s, Keys: []Key{{ID: "a", Secret: make([]byte, 8)}}},
	} {
		if _, err := NewCodec(cfg); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

func TestTokensInProseStay(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	b := store(t, c, png(1_000, 2, 2))
	bad := c.Token("run-2", b, VariantStd)
	for _, tok := range []string{c.Token(scope, b, VariantStd), bad} {
		for _, doc := range []string{
			`{"content":"look: %s"}`, `{"content":"%s and more"}`, `{"content":"say \"%s\" please"}`,
			`{"%s":1}`, `{"a":"{\"%s\":1}"}`, `{"a":"(%s)"}`, `%s`,
		} {
			body := fmt.Appendf(nil, doc, tok)
			l, err := c.Lower(t.Context(), scope, body)
			if err != nil || l.Items() != 0 {
				t.Errorf("%s: %v", doc, err)
				continue
			}
			if out, err := io.ReadAll(l.Open()); err != nil || !bytes.Equal(out, body) {
				t.Errorf("%s changed: %v", doc, err)
			}
		}
	}
}

func TestLowerChecksBlobs(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	b := media.Blob{Digest: media.DigestOf([]byte("gone")), SizeBytes: 4}
	_, err := c.Lower(t.Context(), scope, []byte(`["`+c.Token(scope, b, VariantStd)+`"]`))
	wantCode(t, "missing blob", err, media.CodeNotFound)
	b = store(t, c, png(1_000, 2, 2))
	b.SizeBytes++
	_, err = c.Lower(t.Context(), scope, []byte(`["`+c.Token(scope, b, VariantStd)+`"]`))
	wantCode(t, "other size", err, media.CodeCorrupt)
}

func TestLoweredBodySeeks(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	b := store(t, c, png(150_000, 2, 2))
	l, err := c.Lower(t.Context(), scope, []byte(`{"a":"`+c.Token(scope, b, VariantStd)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	r := l.Open()
	defer r.Close()
	for range 2 {
		if n, err := r.Seek(0, io.SeekEnd); err != nil || n != l.Size() {
			t.Fatal(n, err)
		}
		if _, err := r.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, r, 70_001); err != nil {
			t.Fatal(err)
		}
		if n, err := r.Seek(0, io.SeekCurrent); err != nil || n != 70_001 {
			t.Fatal(n, err)
		}
		if _, err := r.Seek(5, io.SeekStart); media.CodeOf(err) != media.CodeUnsupported {
			t.Fatal(err)
		}
		if _, err := r.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, r); err != nil || n != l.Size() {
			t.Fatal(n, err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 9)); !errors.Is(err, io.ErrClosedPipe) {
		t.Fatalf("read after close: %v", err)
	}
}

func TestPlaceholders(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	b := store(t, c, png(1_000, 2, 2))
	tok, ref := c.Token(scope, b, VariantStd), media.RefOf(media.ModalityImage, b.Digest).Placeholder()
	for in, want := range map[string]string{
		"no token":         "no token",
		"see " + tok + ".": "see " + ref + ".",
		tok + "\n" + tok:   ref + "\n" + ref,
		"![x](data:image/png;base64," + tok + ")":         "![x](" + ref + ")",
		"see " + c.Token("run-2", b, VariantStd):          "see [unavailable media]",
		"a tombstone " + tombstone(media.CodeTooLarge, 1): "a tombstone [unavailable media]",
	} {
		if got := c.Placeholders(scope, in); got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestWriteBase64(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	for _, n := range []int{70, 71, 72, 48 << 10, 48<<10 + 1, 150_000} {
		img := png(n, 2, 2)
		b := store(t, c, img)
		var out bytes.Buffer
		if err := c.WriteDataURI(t.Context(), &out, b); err != nil || out.String() != "data:image/png;base64,"+std(img) {
			t.Fatalf("%d bytes: %v, %d characters", n, err, out.Len())
		}
		b.SizeBytes++
		wantCode(t, "other size", c.WriteBase64(t.Context(), io.Discard, b), media.CodeCorrupt)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantCode(t, "cancelled", c.WriteBase64(ctx, io.Discard, store(t, c, png(70, 2, 2))), media.CodeCancelled)
}

func TestRegisterComesBeforeTheToken(t *testing.T) {
	t.Parallel()
	var seen []media.Blob
	refuse := errors.New("ledger is gone")
	var fail error
	c := newTestCodec(t, func(cfg *Config) {
		cfg.Register = func(ctx context.Context, b media.Blob) error {
			seen = append(seen, b)
			return errors.Join(fail, ctx.Err())
		}
	})
	doc := `{"x":"` + std(png(999, 2, 2)) + `"}`
	_, got, err := lift(t, c, doc, 4096, LiftOptions{})
	if err != nil || len(got) != 1 || got[0].Err != nil || len(seen) != 1 || seen[0].Width != 2 {
		t.Fatalf("%v, %v, %v", err, got, seen)
	}
	fail = refuse
	_, got, err = lift(t, c, doc, 4096, LiftOptions{})
	if err != nil || !errors.Is(got[0].Err, refuse) || strings.HasPrefix(got[0].Token, TokenPrefix) {
		t.Fatalf("%v, %v", err, got)
	}
}
