package gateway_test

import (
	"strings"
	"testing"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/gateway"
	"atelier/media"
)

// TestPartialsHaveADisposition: requested previews have a disposition, and strict mode refuses them for a model without
// previews.
func TestPartialsHaveADisposition(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]generate.Outcome{"GPT Image 2": generate.OutcomeApplied, "Nano Banana Pro": generate.OutcomeDropped} {
		h := build(t, func(_ *testGateway, c *gateway.Config) { c.Partials = true })
		r := generate.Request{Model: model, Prompt: "a fox"}
		if d := disposition(h.must(t, r).Dispositions, "partials"); d.Outcome != want || d.Asked != "true" {
			t.Errorf("%s: %+v", model, d)
		}
		r.Strict = true
		_, err := h.Generate(t.Context(), r)
		if refused := media.CodeOf(err) == media.CodeUnsupported && strings.Contains(err.Error(), "preview"); refused == (want == generate.OutcomeApplied) {
			t.Errorf("%s, strict: %v", model, err)
		}
	}
	if d := disposition(build(t, nil).must(t, generate.Request{Model: "Nano Banana Pro"}).Dispositions, "partials"); d.Setting != "" {
		t.Errorf("not requested: %+v", d)
	}
}

// TestGridNeedsRoom: a grid must not have fewer pictures than the maximum of a call.
func TestGridNeedsRoom(t *testing.T) {
	t.Parallel()
	_, err := catalog.Load(strings.NewReader("provider: offline\nmodels: [{api_model: offline-1, max_n: 4, grid: 3}]"))
	if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "grid") {
		t.Errorf("Load: %v", err)
	}
}
