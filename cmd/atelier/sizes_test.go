package main

import (
	"slices"
	"strings"
	"testing"
)

// TestLimitsOfSizesInWords: models show and the reason for an adapted ratio state the size limits.
func TestLimitsOfSizesInWords(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	for model, want := range map[string]string{
		"FLUX.2 Pro":           "multiples of 16, 64 to 4096 pixels a side, at most 4.19 megapixels",
		"Leonardo Phoenix 1.0": "multiples of 8, 32 to 1536 pixels a side",
		"GPT Image 2":          "ratios up to 3:1, at least 0.66 megapixels",
		"Midjourney 7":         "ratios up to 14:1",
	} {
		lines := strings.Split(p.must("models", "show", model).stdout, "\n")
		if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "sizes ") }); i < 0 || !strings.Contains(lines[i], want) {
			t.Errorf("%s: no %q in %q", model, want, lines)
		}
	}
	wide := p.must("generate", "a fox", "-m", "offline", "--aspect-ratio", "100:1").stdout
	if !strings.Contains(wide, "pixels a side") || strings.Contains(wide, "up to 0:1") {
		t.Errorf("a ratio of 100:1: %s", wide)
	}
}
