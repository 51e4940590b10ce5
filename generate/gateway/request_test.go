package gateway_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/media"
)

// TestHowManyResults: a zero struct requests one result; 0 in JSON and any impossible number are bad input before any
// call.
func TestHowManyResults(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		`{"model": "offline", "prompt": "a fox"}`:            1,
		`{"model": "offline", "prompt": "a fox", "n": null}`: 1,
		`{"model": "offline", "prompt": "a fox", "n": 3}`:    3,
		`{"model": "offline", "prompt": "a fox", "n": 0}`:    0,
		`{"model": "offline", "prompt": "a fox", "n": -1}`:   0,
		`{"model": "offline", "prompt": "a fox", "n": 1000}`: 0,
		`{"model": "offline", "prompt": "a fox", "n": 101}`:  0,
	} {
		h := build(t, nil)
		var r generate.Request
		err := json.Unmarshal([]byte(body), &r)
		var got *generate.Result
		if err == nil {
			got, err = h.Generate(t.Context(), r)
		}
		switch {
		case want > 0 && (err != nil || len(got.Outputs()) != want):
			t.Errorf("%s: %v, want %d results", body, err, want)
		case want == 0 && (media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "ask for 1 to 100") || len(h.log.Entries()) != 0):
			t.Errorf("%s: %v", body, err)
		}
	}
	h := build(t, nil)
	if got := h.must(t, generate.Request{Model: "offline", Prompt: "a fox"}); len(got.Outputs()) != 1 {
		t.Errorf("the zero value gave %d results", len(got.Outputs()))
	}
}

// TestRequestsAsJSON: a request survives a round trip through JSON, and invalid JSON is an error.
func TestRequestsAsJSON(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	seed, compression := int64(7), 0
	mask := h.put(t, generatetest.PNG(4, 4, 1))
	for _, want := range []generate.Request{
		{Prompt: "a fox"},
		{
			Method: generate.MethodEdit, Modality: media.ModalityImage, Prompt: "a fox", Model: "m", Prefer: []string{"p"}, Fallback: []string{"f"},
			N: 4, Size: "1x1", Seed: &seed, Compression: &compression, Inputs: []media.Output{mask}, Mask: &mask, Strict: true,
			Options: map[string]map[string]any{"openai": {"user": "u"}}, Label: "L",
		},
	} {
		raw, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got generate.Request
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(got)
		if d := cmp.Diff(string(raw), string(again)); d != "" || err != nil || got.N != want.N || got.Prompt != want.Prompt || len(got.Inputs) != len(want.Inputs) {
			t.Errorf("%v (-want +got): %s", err, d)
		}
	}
	var r generate.Request
	for _, bad := range []string{`{"n": "many"}`, `{"n": 1.5}`, `[]`} {
		if err := json.Unmarshal([]byte(bad), &r); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

// TestLongPromptWithoutMedia: media in a prompt is left out also where the model takes more than the usual 32,000
// characters.
func TestLongPromptWithoutMedia(t *testing.T) {
	t.Parallel()
	rows, err := catalog.Load(strings.NewReader("provider: offline\nmodels: [{api_model: offline-1, max_prompt: 100000}]"))
	if err != nil {
		t.Fatal(err)
	}
	h := build(t, func(_ *testGateway, c *gateway.Config) { c.Catalogue = rows })
	picture := base64.StdEncoding.EncodeToString(generatetest.PNG(64, 64, 7))
	plan, err := h.Plan(t.Context(), generate.Request{Model: "offline", Prompt: strings.Repeat("a fox, ", 5000) + "data:image/png;base64," + picture})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(plan.Task.Prompt, picture[:48]) || len(plan.Warnings) != 1 {
		t.Errorf("the prompt of %d bytes holds the picture; warnings %q", len(plan.Task.Prompt), plan.Warnings)
	}
}

// TestPlanIsFreeOfMedia: media as data is left out of every text of a request that is saved, however deep it is in an
// option; the caller's request stays as it is.
func TestPlanIsFreeOfMedia(t *testing.T) {
	t.Parallel()
	h := build(t, func(_ *testGateway, c *gateway.Config) {
		c.Catalogue = catalogueWith(t, "options: [free]\n    option_rules: {free: {any: true}}")
	})
	leak := strings.Repeat("iVBORw0KGgo", 24)
	list := []any{leak, map[string]any{"deep": "see " + leak}}
	plan, err := h.Plan(t.Context(), generate.Request{
		Model: "offline", Prompt: "a fox", Label: "like " + leak, Voice: leak, Options: map[string]map[string]any{"offline": {"free": map[string]any{"of": list, "n": 3}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(plan)
	if saved := string(plan.Save()) + string(raw); err != nil || strings.Contains(saved, leak[:48]) || !strings.Contains(saved, `"n":3`) {
		t.Errorf("%v: %s", err, saved)
	}
	if list[0] != leak {
		t.Error("the caller's options were changed")
	}
}

// TestWordsInAnyCase: a model's own words may have capitals, in its row and in a request; the model gets its spelling.
func TestWordsInAnyCase(t *testing.T) {
	t.Parallel()
	h := build(t, func(_ *testGateway, c *gateway.Config) {
		c.Catalogue = catalogueWith(t, "supports: [style]\n    styles: [Noir, Vibrant]\n    qualities: [Fine, High]")
	})
	for _, c := range []struct{ quality, style, wantQuality, wantStyle string }{
		{"fine", "noir", "Fine", "Noir"},
		{"FINE", "Noir", "Fine", "Noir"},
		{"hd", "vivid", "High", "Vibrant"},
	} {
		plan, err := h.Plan(t.Context(), generate.Request{Model: "offline", Prompt: "a fox", Quality: c.quality, Style: c.style})
		if err != nil {
			t.Fatal(err)
		}
		if task := plan.Task; task.Quality != c.wantQuality || task.Style != c.wantStyle {
			t.Errorf("%s, %s: the task has %q, %q; %+v", c.quality, c.style, task.Quality, task.Style, plan.Dispositions)
		}
	}
}
