package gateway_test

import (
	"strconv"
	"testing"

	"atelier/generate"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
)

// TestAdaptedIsNotAsAsked: for any request and model, a setting reported as adapted differs from what was requested.
func TestAdaptedIsNotAsAsked(t *testing.T) {
	t.Parallel()
	h := build(t, func(_ *testGateway, c *gateway.Config) {
		for _, name := range []string{"bfl", "leonardo", "openrouter", "midjourney"} {
			c.Drivers = append(c.Drivers, &generatetest.Driver{Name: name})
		}
	})
	var asks []generate.Request
	for _, f := range []string{"png", "jpeg", "jpg", "webp", "gif", "wav", "mp3"} {
		asks = append(asks, generate.Request{OutputFormat: f}, generate.Request{OutputFormat: f, Compression: new(60)})
	}
	for _, s := range []string{"auto", "1K", "2K", "512x512", "1000x1000", "1024x1024", "1024x768", "1536x1024", "4096x4096", "333x777"} {
		asks = append(asks, generate.Request{Size: s})
	}
	for _, a := range []string{"1:1", "3:2", "16:9", "9:16", "7:3"} {
		asks = append(asks, generate.Request{AspectRatio: a}, generate.Request{AspectRatio: a, Size: "1K"})
	}
	for _, q := range []string{"standard", "hd", "auto", "low", "medium", "high", "1", "2"} {
		asks = append(asks, generate.Request{Quality: q})
	}
	for _, s := range []string{"natural", "vivid", "Cinematic", "raw", "anime"} {
		asks = append(asks, generate.Request{Style: s}, generate.Request{Background: s})
	}
	for _, seed := range []int64{0, 7, 1 << 40} {
		asks = append(asks, generate.Request{Seed: &seed}, generate.Request{NegativePrompt: "rain " + strconv.FormatInt(seed, 10)})
	}
	for _, speed := range []float64{0.25, 1, 4} {
		asks = append(asks, generate.Request{Speed: speed}, generate.Request{Voice: "Alto"}, generate.Request{Background: "transparent"}, generate.Request{Moderation: "low"})
	}
	planned := 0
	for _, m := range h.Models() {
		for _, r := range asks {
			r.Model, r.Prompt = m.Name, "a house"
			p, err := h.Plan(t.Context(), r)
			if err != nil {
				continue // refused, or made only by edits
			}
			planned++
			for _, d := range p.Dispositions {
				if d.Outcome == generate.OutcomeAdapted && d.Asked == d.Applied {
					t.Errorf("%s: %s was requested as %q and is reported as adapted to that: %s", m.Name, d.Setting, d.Asked, d.Reason)
				}
			}
		}
	}
	if planned < 500 {
		t.Errorf("only %d requests were planned", planned)
	}
}
