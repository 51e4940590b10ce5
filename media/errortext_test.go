package media_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"atelier/media"
)

func noise(n int) []byte {
	random := make([]byte, n)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(random)
	return random
}

func TestErrorTextHoldsNoMedia(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string][]byte{
		"head of a picture": append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"), noise(60)...),
		"noise":             noise(3000), "least": noise(36),
	} {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
			text := enc.EncodeToString(raw)
			inJSON, err := json.Marshal(map[string]string{"a": "x\n" + text + "\tend", "b": `"` + text})
			if err != nil {
				t.Fatal(err)
			}
			escaped := strings.ReplaceAll(string(inJSON), "/", `\/`)
			unicode := strings.ReplaceAll(string(inJSON), "+", `\u002B`)
			for _, s := range []string{text, "data:image/png;base64," + text, string(inJSON), escaped, unicode} {
				got := media.ErrorText(s)
				if leaks(strings.NewReplacer(`\/`, "/", `\u002B`, "+").Replace(got), text) {
					t.Errorf("%s: 48 characters survive in %.200s", name, got)
				}
				if json.Valid([]byte(s)) && !json.Valid([]byte(got)) {
					t.Errorf("%s: JSON broken: %s", name, got)
				}
			}
		}
	}
}

func leaks(s, secret string) bool {
	for i := 0; i+48 <= len(secret); i++ {
		if strings.Contains(s, secret[i:i+48]) {
			return true
		}
	}
	return false
}

func TestErrorTextKeepsText(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "short", media.DigestOf(nil).String(), media.DigestOf(nil).Hex(),
		strings.Repeat("-", 80), strings.Repeat("=", 60), strings.Repeat("A", 400), strings.Repeat("ACGT", 40),
		"research-agent/file-research-agent/research-report-writer/infographic-agent",
		"/home/someone/projects/energy/CarbonDioxideLevels/MaunaLoa/measurements/2024",
		"0198c0de-7000-7000-8000-000000000001/0198c0de-7000-7000-8000-0000",
		"/home/bo/Media/blobs/3f/3f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a",
		"/tmp/TestPut/001/a1b2c3d4/e5f6a7b8/c9d0e1f2/a3b4c5d6/e7f8a9b0/upload-1234567890",
		"GenerateRequestsPerDayPerProjectPerModel-FreeTier-gemini-3-pro-image",
		"generativelanguage.googleapis.com/generate_content_free_tier_requests",
		"msg_68b9f3a2c4e08190a7d5e1f2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6",
		base64.StdEncoding.EncodeToString(noise(36))[:47],
		`{"a":"` + strings.Repeat(`line\n`, 30) + `"}`,
	} {
		if got := media.ErrorText(s); got != s {
			t.Errorf("ErrorText(%q) = %q", s, got)
		}
	}
}

// TestDefect: the error for a panic has its text in one line, if it can be printed.
func TestDefect(t *testing.T) {
	t.Parallel()
	for want, panicked := range map[string]any{
		"d failed because of a bug: bad query: line 1":    errors.New("bad query:\nline 1"),
		"d failed because of a bug: panic of type string": "a\x00b",
		"d failed because of a bug: panic of type int":    3,
	} {
		if e := media.Defect("d", panicked); e.Code != media.CodeInternal || e.Message != want {
			t.Errorf("%s, want %s", e.Message, want)
		}
	}
}

// TestAPanicIsLogged: an operator finds the place of a caught panic in the log, once and without media.
//
//nolint:paralleltest // it replaces the log of the process
func TestAPanicIsLogged(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	encoded := base64.StdEncoding.EncodeToString(noise(3000))
	err := func() (err error) {
		defer media.CatchPanic(&err, "d")
		panic(encoded)
	}()
	got := log.String()
	if err == nil || strings.Count(got, "level=ERROR") != 1 || !strings.Contains(got, "TestAPanicIsLogged") || strings.Contains(got, encoded[:48]) {
		t.Errorf("%v is logged as %s", err, got)
	}
}
