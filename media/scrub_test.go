package media_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"atelier/media"
)

func TestScrub(t *testing.T) {
	t.Parallel()
	random := make([]byte, 3000)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(random)
	for name, raw := range map[string][]byte{
		"tiny png": []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00"),
		"black":    make([]byte, 300), "white": bytes.Repeat([]byte{0xff}, 300), "random": random,
		"grey": bytes.Repeat([]byte{0x80}, 300), "stripes": bytes.Repeat([]byte{255, 255, 255, 0, 0, 0}, 60),
	} {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
			text := enc.EncodeToString(raw)
			inJSON, err := json.Marshal(map[string]string{"a": "x\n" + text + "\tend", "b": `"` + text})
			if err != nil {
				t.Fatal(err)
			}
			escaped := strings.ReplaceAll(string(inJSON), "/", `\/`)
			for _, s := range []string{text, "data:image/png;base64," + text, string(inJSON), escaped} {
				got := media.Scrub(s)
				if leaks(strings.ReplaceAll(got, `\/`, "/"), text) {
					t.Errorf("%s: 48 characters survive in %.200s", name, got)
				}
			}
			if got := media.Scrub(escaped); !json.Valid([]byte(got)) {
				t.Errorf("%s: JSON broken: %s", name, got)
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

func TestScrubKeepsText(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "short", media.DigestOf(nil).String(), media.DigestOf(nil).Hex(),
		strings.Repeat("-", 80), strings.Repeat("=", 60),
		"research-agent/file-research-agent/research-report-writer/infographic-agent",
		"/home/someone/projects/energy/CarbonDioxideLevels/MaunaLoa/measurements",
		"0198c0de-7000-7000-8000-000000000001/0198c0de-7000-7000-8000-0000",
		`{"a":"` + strings.Repeat(`line\n`, 30) + `"}`,
	} {
		if got := media.Scrub(s); got != s {
			t.Errorf("Scrub(%q) = %q", s, got)
		}
	}
}
