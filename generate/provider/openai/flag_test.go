package openai_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"atelier/media/wire/wiretest"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/openaisim"
	"atelier/generate/provider/openai"
)

// drawers are rows of a service that reads its settings from the prompt: one like Midjourney's, and one whose act takes
// no words.
const drawers = `
provider: corp
endpoint: {base_url: "http://127.0.0.1:1/v1"}
models:
  - {like: midjourney/midjourney-v7, name: Drawer, methods: [generate], size: {mode: none}, grid: 0, acts: [], options: [stylize, user]}
  - {like: midjourney/midjourney-v7, name: Mute, api_model: mute, methods: [generate], size: {mode: none}, grid: 0, options: [stylize, user], acts: [{name: any, for: [generate], words: none, takes: [seed, stylize, user]}]}
`

// TestSettingsInThePrompt: a setting with a flag is written behind the prompt and nowhere else, as the dispositions
// report; a setting without a flag is a field.
func TestSettingsInThePrompt(t *testing.T) {
	t.Parallel()
	sim := openaisim.New(openaisim.Config{})
	srv := httptest.NewServer(sim)
	t.Cleanup(srv.Close)
	rows, err := catalog.Load(strings.NewReader(strings.Replace(drawers, "http://127.0.0.1:1", srv.URL, 1)))
	if err != nil {
		t.Fatal(err)
	}
	codec := wiretest.NewCodec(t)
	d, err := openai.NewCompatible(openai.Config{APIKey: sim.Key(), Codec: codec}, rows.Endpoints()[len(rows.Endpoints())-1])
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(gateway.Config{Drivers: []driver.Driver{d}, Catalogue: rows, Storage: codec, Journal: &generatetest.Journal{}, Operations: &generatetest.Log{}})
	if err != nil {
		t.Fatal(err)
	}
	seed := int64(7)
	for _, c := range []struct {
		model, prompt, quality, lost string
		want                         map[string]any
	}{
		{"Drawer", "a fox", "high", "", map[string]any{"model": "midjourney-v7", "n": 1.0, "prompt": "a fox --v 7 --q 4 --style raw --seed 7 --s 300 --no rain", "user": "me"}},
		{"Drawer", "a fox --seed 1", "", "seed", map[string]any{"model": "midjourney-v7", "n": 1.0, "prompt": "a fox --seed 1 --v 7 --style raw --s 300 --no rain", "user": "me"}},
		{"Mute", "a fox", "", "prompt negative_prompt style", map[string]any{"model": "mute", "n": 1.0, "prompt": "", "seed": 7.0, "stylize": 300.0, "user": "me"}},
	} {
		got, err := g.Generate(t.Context(), generate.Request{
			Model: c.model, Prompt: c.prompt, Quality: c.quality, Style: "raw", Seed: &seed, NegativePrompt: "rain",
			Options: map[string]map[string]any{"corp": {"stylize": 300, "user": "me"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		calls := sim.Captured()
		var body map[string]any
		if err := json.Unmarshal(calls[len(calls)-1].Body, &body); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, body); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.prompt, d)
		}
		lost := ""
		for _, d := range got.Dispositions {
			if d.Outcome == generate.OutcomeDropped {
				lost += d.Setting + " "
			}
		}
		if strings.TrimSpace(lost) != c.lost {
			t.Errorf("%s: dropped %q, want %q: %+v", c.prompt, lost, c.lost, got.Dispositions)
		}
	}
}
