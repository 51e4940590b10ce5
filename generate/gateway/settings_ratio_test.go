package gateway_test

import (
	"context"
	"strings"
	"testing"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/media"
)

// newRatioGateway returns a gateway with one model that takes a ratio instead of pixels.
func newRatioGateway(t *testing.T, drv driver.Driver) *gateway.Gateway {
	t.Helper()
	rows, err := catalog.New(catalog.Model{
		Name:         "Ratios",
		Provider:     "ratios",
		APIModel:     "ratios-1",
		Modality:     media.ModalityImage,
		SettingRules: catalog.SettingRules{MaxN: 4, Supports: []string{"seed", "style"}, Qualities: []string{"low", "0.25"}},
		Methods:      []generate.Method{generate.MethodGenerate},
		Size:         catalog.SizeRule{Mode: "ratio", MaxRatio: 14},
	})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(gateway.Config{Drivers: []driver.Driver{drv}, Catalogue: rows})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestSizesByRatio(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ size, ratio, want, outcome string }{
		{ratio: "16:9", want: "16:9", outcome: "applied"},
		{ratio: "21:9", want: "7:3", outcome: "applied"},
		{ratio: "1.85:1", want: "37:20", outcome: "applied"},
		{ratio: "1:100", want: "1:14", outcome: "adapted"},
		{size: "1024x576", want: "16:9", outcome: "adapted"},
		{size: "1366x768", want: "16:9", outcome: "adapted"},
		{size: "768x1024", want: "3:4", outcome: "adapted"},
		{size: "9000x100", want: "14:1", outcome: "adapted"},
		{size: "1000x1000", want: "1:1", outcome: "adapted"},
		{size: "auto", want: "", outcome: "applied"},
	} {
		d := &generatetest.Driver{Name: "ratios", OnStart: func(_ context.Context, task driver.Task, _ int) (driver.Update, error) {
			if task.AspectRatio != c.want || task.Width != 0 {
				t.Errorf("%+v: ratio %q, width %d; want %q", c, task.AspectRatio, task.Width, c.want)
			}
			return driver.Update{Done: true}, nil
		}}
		got, err := newRatioGateway(t, d).Generate(t.Context(), generate.Request{Prompt: "x", Model: "Ratios", Size: c.size, AspectRatio: c.ratio})
		if err != nil {
			t.Fatal(err)
		}
		setting := "size"
		if c.ratio != "" {
			setting = "aspect_ratio"
		}
		if x := disposition(got.Dispositions, setting); string(x.Outcome) != c.outcome || c.want != "" && x.Applied != c.want {
			t.Errorf("%+v: %+v", c, x)
		}
	}
}

func TestSizeByRatioNeedsItsLimit(t *testing.T) {
	t.Parallel()
	_, err := catalog.Load(strings.NewReader("provider: x\nmodels: [{name: X, api_model: x, modality: image, methods: [generate], max_n: 1, size: {mode: ratio}}]"))
	if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "size.max_ratio") {
		t.Errorf("Load: %v", err)
	}
}

// reviewer is a driver that reviews its tasks.
type reviewer struct {
	*generatetest.Driver
	review func(driver.Task) ([]generate.Disposition, error)
}

func (r reviewer) Review(t driver.Task) ([]generate.Disposition, error) { return r.review(t) }

func TestDriversReviewPlans(t *testing.T) {
	t.Parallel()
	var seen driver.Task
	r := reviewer{&generatetest.Driver{Name: "ratios"}, func(task driver.Task) ([]generate.Disposition, error) {
		seen = task
		if task.Prompt == "no" {
			return nil, media.Errorf(media.CodeInvalid, "no")
		}
		return []generate.Disposition{
			{Setting: "seed", Outcome: generate.OutcomeDropped, Reason: "seeds do not go with this"},
			{Setting: "style", Outcome: generate.OutcomeDropped, Reason: "nobody asked"},
			{Setting: "quality", Applied: "0.25", Outcome: generate.OutcomeAdapted, Reason: "so small"},
			{Setting: "background", Outcome: generate.OutcomeAdapted, Reason: "dropped before"},
		}, nil
	}}
	g := newRatioGateway(t, r)
	seed := int64(7)
	req := generate.Request{Prompt: "yes", Model: "Ratios", Seed: &seed, N: 6, Quality: "low", Background: "opaque"}
	p, err := g.Plan(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if seen.N != 4 || *seen.Seed != 7 {
		t.Errorf("reviewed %+v", seen)
	}
	want := map[string]string{"n": "applied 6", "seed": "dropped", "quality": "adapted 0.25", "background": "dropped"}
	for setting, text := range outcomesBySetting(p.Dispositions) {
		if want[setting] != text {
			t.Errorf("%s: %q, want %q", setting, text, want[setting])
		}
	}
	if d := disposition(p.Dispositions, "seed"); d.Asked != "7" || d.Reason != "seeds do not go with this" {
		t.Errorf("seed %+v", d)
	}
	req.Strict = true
	if _, err := g.Plan(t.Context(), req); media.CodeOf(err) != media.CodeUnsupported || !strings.Contains(err.Error(), "seeds do not go with this") {
		t.Errorf("strict: %v", err)
	}
	req.Prompt = "no"
	if _, err := g.Plan(t.Context(), req); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("a task that is refused: %v", err)
	}
}
