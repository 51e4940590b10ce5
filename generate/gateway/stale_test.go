package gateway_test

import (
	"strings"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/gateway"
)

// TestShippedSuccessorsLive: no successor and no default model is shut down within 30 days of the day on which the
// shipped rows were read. The clock is the catalogue's own, so that the test of a release does not fail later: the
// program itself uses the current day.
func TestShippedSuccessorsLive(t *testing.T) {
	t.Parallel()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	if c.Checked().IsZero() {
		t.Fatal("the shipped catalogue has no day on which it was checked")
	}
	for _, f := range c.Stale(c.Checked()) {
		t.Errorf("%s, %s: %s", f.Provider, f.Model, f.Problem)
	}
}

// TestStale: a model that is shut down within 30 days of a given day is reported, a later one is not.
func TestStale(t *testing.T) {
	t.Parallel()
	const rows = `
provider: x
models:
  - {name: Old, api_model: old, modality: image, methods: [generate], size: {mode: none}, max_n: 1, life: {shut_down: 2026-10-01, replaced_by: next}}
  - name: Next
    api_model: next
    modality: image
    methods: [generate]
    size: {mode: none}
    max_n: 1
    life: {shut_down: 2027-03-01, replaced_by: last}
  - name: Last
    api_model: last
    modality: image
    methods: [generate]
    size: {mode: none}
    max_n: 1
    prices: [{unit: image, usd: "1", until: "2027-01-31"}]
`
	c, err := catalog.Load(strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	for day, want := range map[string]string{
		"2026-12-01": "",
		"2027-01-31": "Old: its successor Next ends on 2027-03-01; Next: it is the default of x for image and ends on 2027-03-01",
		"2027-02-01": "Old: its successor Next ends on 2027-03-01; Next: it is the default of x for image and ends on 2027-03-01; Last: its price for image ended on 2027-01-31 and none follows",
	} {
		now, _ := time.Parse(time.DateOnly, day)
		var got []string
		for _, f := range c.Stale(now) {
			if f.Provider == "x" {
				got = append(got, f.Model+": "+f.Problem)
			}
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%s: %s; want %s", day, s, want)
		}
	}
}

// TestPricesHaveAnEnd: the price row valid on the day applies, whatever the order of the rows; a price that has ended
// without a successor is unknown, not free.
func TestPricesHaveAnEnd(t *testing.T) {
	t.Parallel()
	const override = `
provider: gemini
models:
  - api_model: gemini-3-pro-image
    prices:
      - {unit: image, tier: "1K", usd: "0.2", as_of: "2026-11-22"}
      - {unit: image, tier: "1K", usd: "0.1", as_of: "2026-11-22", until: "2026-11-30"}
      - {unit: image, tier: "2K", usd: "0.5", as_of: "2026-11-22", until: "2026-11-30"}
`
	for _, c := range []struct {
		now           time.Time
		quality, want string
	}{
		{day(11, 21), "1K", "0.1"},
		{time.Date(2026, 11, 30, 23, 59, 0, 0, time.UTC), "1K", "0.1"},
		{time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), "1K", "0.2"},
		{day(11, 21), "2K", "0.5"},
		{time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), "2K", ""},
	} {
		h := build(t, func(_ *testGateway, g *gateway.Config) {
			var err error
			if g.Catalogue, err = catalog.Load(strings.NewReader(override)); err != nil {
				t.Fatal(err)
			}
			g.Now = func() time.Time { return c.now }
		})
		p, err := h.Plan(t.Context(), generate.Request{Model: "Nano Banana Pro", Prompt: "a house", Quality: c.quality})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.EstimatedUSD; (got == nil) != (c.want == "") || got != nil && *got != c.want {
			t.Errorf("%s at %s: %v, want %q", c.quality, c.now, got, c.want)
		}
	}
	if _, err := catalog.Load(strings.NewReader(strings.ReplaceAll(override, "2026-11-30", "soon"))); err == nil || !strings.Contains(err.Error(), "until") {
		t.Errorf("a day that is none: %v", err)
	}
}

// TestPricesSettle: a row with a price for the tokens of its pictures prices all tokens that the provider counts, so
// that a call's cost is known from its answer.
func TestPricesSettle(t *testing.T) {
	t.Parallel()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range c.Models() {
		units := map[string]bool{}
		for _, p := range m.Prices {
			units[p.Unit] = true
		}
		if !m.Alive(c.Checked()) || !units["token_image_out"] {
			continue
		}
		for _, unit := range []string{"token_text_in", "token_image_in"} {
			if !units[unit] {
				t.Errorf("%s has no price for %s", m.Name, unit)
			}
		}
		if m.Provider == "gemini" && !units["token_text_out"] {
			t.Errorf("%s thinks, and has no price for text", m.Name)
		}
	}
}

// TestShippedModelsAreAsTheirSourcesSay: which models are alive on the catalogue's own day, which are shut down and
// when, what replaces them, and which rows have facts with one weak source or none.
func TestShippedModelsAreAsTheirSourcesSay(t *testing.T) {
	t.Parallel()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		end, next string
		weak      bool
	}{
		"gpt-image-2.6-sunburst": {weak: true}, "gpt-image-2.5-sunburst": {}, "gpt-image-2.5-flare": {}, "gpt-image-2": {},
		"GPT Image 2.5": {}, "GPT Image 2.6": {weak: true}, "gpt-image-2.6-flare": {weak: true},
		"gpt-image-1.5": {"2026-12-01", "gpt-image-2.6-sunburst", false}, "gpt-image-1-mini": {"2026-12-01", "gpt-image-2.6-flare", false},
		"chatgpt-image-latest": {"2026-12-01", "gpt-image-2.6-sunburst", false}, "gpt-image-1": {"2026-10-23", "gpt-image-2.6-sunburst", false},
		"dall-e-3": {"2026-05-12", "gpt-image-2.6-sunburst", false}, "dall-e-2": {"2026-05-12", "gpt-image-2.6-flare", false},
		"tts-1": {end: "2027-01-06"}, "gpt-4o-mini-tts": {end: "2027-01-06"},
		"gemini-nano-banana-2.1": {weak: true}, "gemini-3-pro-image": {weak: true}, "gemini-3.1-flash-lite-image": {weak: true},
		"gemini-3.1-flash-image": {"2026-10-29", "gemini-nano-banana-2.1", true}, "gemini-2.5-flash-image": {"2026-10-02", "gemini-nano-banana-2.1", false},
		"imagen-4.0-generate-001": {"2026-08-17", "gemini-nano-banana-2.1", false},
		"gemini-3.8-flash-tts":    {weak: true}, "gemini-3.8-flash-lite-tts": {weak: true}, "gemini-2.5-flash-preview-tts": {weak: true},
		"flux-3-image": {weak: true}, "flux-2-pro": {},
		"grok-imagine-image-2.0": {weak: true}, "grok-imagine-image": {weak: true},
		"grok-imagine-image-quality": {"2026-11-02", "grok-imagine-image-2.0", true}, "grok-imagine-image-pro": {"2026-11-05", "grok-imagine-image-2.0", true},
		"midjourney-v8.2": {weak: true}, "midjourney-niji-7": {},
		"bytedance-seed/seedream-5-5": {weak: true}, "google/gemini-3-pro-image-preview": {weak: true},
	} {
		m, ok := c.Lookup(name)
		if !ok {
			t.Errorf("%s is missing", name)
			continue
		}
		end := ""
		if !m.Life.ShutDown.IsZero() {
			end = m.Life.ShutDown.Format(time.DateOnly)
		}
		if end != want.end || m.Life.ReplacedBy != want.next || len(m.Unconfirmed) > 0 != want.weak {
			t.Errorf("%s ends %q, then %q; unconfirmed: %q", name, end, m.Life.ReplacedBy, m.Unconfirmed)
		}
		if m.Alive(c.Checked()) != (end == "" || end > "2026-11-22") {
			t.Errorf("%s lives: %v", name, m.Alive(c.Checked()))
		}
	}
}
