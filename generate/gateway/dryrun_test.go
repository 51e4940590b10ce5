package gateway_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/plan"
	"atelier/media"
)

// unpriced is a part of the warning that no budget can reserve an unknown price.
const unpriced = "the price of GPT Image 2.5 Sunburst is not known in advance"

func containsPart(list []string, part string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return strings.Contains(w, part) })
}

// TestDryRun: a dry run reports what would be done within the budgets and reserves nothing, so it can be repeated.
func TestDryRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bounds generate.Bounds
		req    generate.Request
		model  string
		warns  string
		refuse bool
	}{
		"fits":                      {generate.Bounds{USD: "0.2"}, generate.Request{Model: "Nano Banana Pro"}, "Nano Banana Pro", "", false},
		"too dear":                  {generate.Bounds{USD: "0.1"}, generate.Request{Model: "Nano Banana Pro"}, "Nano Banana Pro", "", true},
		"too many":                  {generate.Bounds{Images: 2}, generate.Request{Model: "Nano Banana Pro", N: 3}, "Nano Banana Pro", "", true},
		"another fits":              {generate.Bounds{USD: "0.1"}, generate.Request{Model: "Nano Banana Pro", Fallback: []string{"gpt-image-2"}}, "GPT Image 2", "Nano Banana Pro was passed over", false},
		"strict takes no other":     {generate.Bounds{USD: "0.1"}, generate.Request{Model: "Nano Banana Pro", Strict: true, Fallback: []string{"gpt-image-2"}}, "Nano Banana Pro", "", true},
		"none fits":                 {generate.Bounds{USD: "0.01"}, generate.Request{Model: "Nano Banana Pro", Fallback: []string{"gpt-image-2"}}, "Nano Banana Pro", "", true},
		"unknown passes":            {generate.Bounds{USD: "0.01"}, generate.Request{Model: "GPT Image 2.5"}, "GPT Image 2.5 Sunburst", unpriced, false},
		"unknown, nothing left":     {generate.Bounds{USD: "0"}, generate.Request{Model: "GPT Image 2.5"}, "GPT Image 2.5 Sunburst", "", true},
		"free, nothing left":        {generate.Bounds{USD: "0"}, generate.Request{Model: "offline"}, "Atelier Offline", "", false},
		"unknown, pictures bounded": {generate.Bounds{Images: 1}, generate.Request{Model: "GPT Image 2.5"}, "GPT Image 2.5 Sunburst", "", false},
		"unknown, nothing bounded":  {generate.Bounds{}, generate.Request{Model: "GPT Image 2.5"}, "GPT Image 2.5 Sunburst", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, nil)
			ctx := generate.WithAllowance(t.Context(), &generate.Allowance{Bounds: c.bounds})
			c.req.Prompt = "a house"
			for range 2 {
				p, err := h.DryRun(ctx, c.req)
				if p == nil || p.Model.Name != c.model || c.refuse != (media.CodeOf(err) == media.CodeOverBudget) || !c.refuse && err != nil {
					t.Fatalf("DryRun: %+v, %v", p, err)
				}
				if c.warns == "" && len(p.Warnings) > 0 || !containsPart(p.Warnings, c.warns) && c.warns != "" {
					t.Errorf("warnings %q", p.Warnings)
				}
			}
			if n := len(h.openai.Tasks()) + len(h.gemini.Tasks()) + len(h.log.IDs()); n != 0 {
				t.Errorf("%d calls or intents", n)
			}
			res, err := h.Generate(ctx, c.req)
			if c.refuse != (media.CodeOf(err) == media.CodeOverBudget) || !c.refuse && (err != nil || res.Model != c.model || containsPart(res.Warnings, unpriced) != (c.warns == unpriced)) {
				t.Errorf("Generate does otherwise: %+v, %v", res, err)
			}
		})
	}
}

// TestRoomForSeveral: plans that fit separately may not fit together.
func TestRoomForSeveral(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	ctx := generate.WithAllowance(t.Context(), &generate.Allowance{Bounds: generate.Bounds{USD: "0.15"}})
	pl := func(model string) *plan.Plan {
		p, err := h.Plan(ctx, generate.Request{Model: model, Prompt: "a house"})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	dear, cheap, unknown, free := pl("Nano Banana Pro"), pl("gpt-image-2"), pl("GPT Image 2.5"), pl("offline")
	for _, c := range []struct {
		plans  []*plan.Plan
		refuse bool
	}{
		{[]*plan.Plan{dear}, false},
		{[]*plan.Plan{cheap, unknown, free}, false},
		{[]*plan.Plan{dear, cheap}, true},
		{[]*plan.Plan{dear, unknown, free}, false},
		{[]*plan.Plan{dear, unknown, cheap}, true},
	} {
		if err := h.CheckRemaining(ctx, c.plans...); c.refuse != (media.CodeOf(err) == media.CodeOverBudget) {
			t.Errorf("%d plans: %v", len(c.plans), err)
		}
	}
}

// gridded is a model that draws four pictures per call.
const gridded = `provider: openai
models:
  - {name: Gridder, api_model: gridder, modality: image, methods: [generate], size: {mode: none}, max_n: 4, grid: 4,
     mask: none, supports: [], formats: [], prices: [{unit: image, usd: "0.1"}], life: {}, source: a test}
`

// TestGridsAreReservedWhole: budgets reserve all pictures that a call draws, not only the requested ones, and count
// them if it is unknown what arrived.
func TestGridsAreReservedWhole(t *testing.T) {
	t.Parallel()
	lost := media.Errorf(media.CodeUnavailable, "lost")
	lost.Cause = driver.ErrUnsettled
	for name, c := range map[string]struct {
		n               int
		err             error
		reserved        int64
		usd             string
		settled, again  int64 // settled, and reserved for another round
		counted, doubts string
	}{
		"one of a grid":        {1, nil, 4, "0.4", 4, 0, "0.4", ""},
		"nobody says":          {0, nil, 4, "0.4", 4, 0, "0.4", ""},
		"one more than a grid": {5, nil, 8, "0.8", 8, 0, "0.8", ""},
		"lost":                 {1, lost, 4, "0.4", 4, 4, "0.4", "0.4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			money := &ledgerBudget{}
			h := build(t, func(_ *testGateway, cfg *gateway.Config) {
				cfg.Budget = money
				var err error
				if cfg.Catalogue, err = catalog.Load(strings.NewReader(gridded)); err != nil {
					t.Fatal(err)
				}
			})
			h.openai.OnStart = func(ctx context.Context, _ driver.Task, number int) (driver.Update, error) {
				if c.err != nil {
					return driver.Update{}, c.err
				}
				item := h.picture(ctx, t, uint8(number))
				item.Tiles = &driver.Tiles{Columns: 2, Rows: 2}
				return driver.Update{Done: true, Items: []driver.Item{item}}, nil
			}
			got := h.must(t, generate.Request{Model: "Gridder", N: c.n})
			if r := money.reserved[0]; r.Images != c.reserved || text(r.USD) != c.usd {
				t.Errorf("reserved %d images for %s, want %d for %s", r.Images, text(r.USD), c.reserved, c.usd)
			}
			if s := money.settled[0]; s.Images != c.settled || text(s.USD) != c.counted {
				t.Errorf("settled %d images for %s, want %d for %s", s.Images, text(s.USD), c.settled, c.counted)
			}
			if c.again == 0 {
				return
			}
			if _, err := h.Retry(t.Context(), gateway.RetryOptions{Operation: got.Operation, All: true}); err != nil {
				t.Fatal(err)
			}
			if r := money.reserved[1]; r.Images != c.again || text(r.USD) != c.doubts {
				t.Errorf("reserved again %d images for %s, want %d for %s", r.Images, text(r.USD), c.again, c.doubts)
			}
		})
	}
}
