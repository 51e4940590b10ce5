package chat_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"atelier/chat"
)

// ceil divides and rounds up.
func ceil(a, b int) int64 { return int64((a + b - 1) / b) }

// TestImageTokensByFormula compares the estimates for pictures of any size with a second implementation of the
// providers' formulas.
func TestImageTokensByFormula(t *testing.T) {
	t.Parallel()
	p, err := chat.LoadProfiles()
	if err != nil {
		t.Fatal(err)
	}
	area := func(edge, most float64) func(w, h int) int64 {
		return func(w, h int) int64 {
			scale := min(1, edge/float64(max(w, h)))
			return int64(min(most, math.Ceil(float64(w)*scale*float64(h)*scale/750)))
		}
	}
	for model, formula := range map[string]func(w, h int) int64{
		"openai/gpt-4o": func(w, h int) int64 {
			x, y := float64(w), float64(h)
			if long := max(x, y); long > 2048 {
				x, y = x*2048/long, y*2048/long
			}
			if short := min(x, y); short > 768 {
				x, y = x*768/short, y*768/short
			}
			return 85 + 170*int64(math.Ceil(x/512)*math.Ceil(y/512))
		},
		"openai/gpt-4.1-mini": func(w, h int) int64 {
			n := float64(ceil(w, 32) * ceil(h, 32))
			return int64(math.Ceil(min(n, 1536) * 1.62)) // the maximum
		},
		"anthropic/claude-sonnet-4-6": area(1568, 1600),
		"anthropic/claude-opus-4-8":   area(2576, 4784),
		"gemini/gemini-2.5-flash": func(w, h int) int64 {
			if max(w, h) <= 384 {
				return 258
			}
			return 258 * ceil(w, 768) * ceil(h, 768)
		},
		"gemini/gemini-3.1-pro-preview": func(int, int) int64 { return 1120 },
	} {
		rule := p.Find(model)[0].ImageTokens
		rapid.Check(t, func(rt *rapid.T) {
			w, h := rapid.IntRange(1, 9000).Draw(rt, "w"), rapid.IntRange(1, 9000).Draw(rt, "h")
			got, want := rule.Tokens(w, h, "high"), formula(w, h)
			if capped := rule.Rule == "patches" && ceil(w, 32)*ceil(h, 32) > 1536; capped && got <= want && got*2 > want {
				return // scaled down to whole patches, which loses a part of the last ones
			}
			if got != want {
				rt.Errorf("%s, %d × %d: %d tokens, want %d", model, w, h, got, want)
			}
		})
	}
}

// TestImageTokensAreSane checks every model that sees: a picture costs 1 to 50,000 tokens, the same when it is rotated,
// and low detail never costs more than the default.
func TestImageTokensAreSane(t *testing.T) {
	t.Parallel()
	p, err := chat.LoadProfiles()
	if err != nil {
		t.Fatal(err)
	}
	var seeing []chat.Profile
	for _, f := range p.Models() {
		if f.SupportsVision {
			seeing = append(seeing, f)
		}
	}
	if len(seeing) < 100 {
		t.Fatalf("%d models see", len(seeing))
	}
	rapid.Check(t, func(rt *rapid.T) {
		f := rapid.SampledFrom(seeing).Draw(rt, "model")
		w, h := rapid.IntRange(1, 8000).Draw(rt, "w"), rapid.IntRange(1, 8000).Draw(rt, "h")
		n := f.ImageTokens.Tokens(w, h, "")
		// Providers scale pictures down before they count; gpt-4o-mini has the highest count.
		if n < 1 || n > 50_000 {
			rt.Errorf("%s, %d × %d: %d tokens", f, w, h, n)
		}
		if turned := f.ImageTokens.Tokens(h, w, ""); turned != n {
			rt.Errorf("%s, %d × %d: %d tokens, turned %d", f, w, h, n, turned)
		}
		if low := f.ImageTokens.Tokens(w, h, "low"); low > n {
			rt.Errorf("%s, %d × %d: %d tokens for low detail, %d otherwise", f, w, h, low, n)
		}
	})
}
