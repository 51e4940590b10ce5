package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/media"
)

// TestShippedOptionsHaveRules: a value that the provider does not accept is refused before any call, and an accepted
// value gets the type that the provider expects.
func TestShippedOptionsHaveRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model, option string
		value, want   any
		says          string // part of the error, or empty if the value is accepted
	}{
		{"FLUX.2 Flex", "steps", "30", 30.0, ""},
		{"FLUX.2 Flex", "steps", 51, nil, "1 to 50"},
		{"FLUX Fill", "steps", 14, nil, "15 to 50"},
		{"FLUX.2 Flex", "guidance", 1, nil, "1.5 to 10"},
		{"FLUX Fill", "guidance", 60.0, 60.0, ""},
		{"FLUX.2 Pro", "safety_tolerance", 6, nil, "0 to 5"},
		{"FLUX 1.1 Pro", "safety_tolerance", 6, 6.0, ""},
		{"FLUX 1.1 Ultra", "raw", "yes", nil, "true or false"},
		{"FLUX 1.1 Ultra", "raw", "true", true, ""},
		{"FLUX 1.1 Ultra", "image_prompt_strength", 2, nil, "0 to 1"},
		{"FLUX Kontext Pro", "prompt_upsampling", "much", nil, "true or false"},
		{"Leonardo Phoenix 1.0", "init_strength", 1, nil, "0.1 to 0.9"},
		{"Leonardo Phoenix 1.0", "guidance_scale", 21, nil, "1 to 20"},
		{"Leonardo Phoenix 1.0", "num_inference_steps", 30.5, nil, "10 to 60"},
		{"Leonardo Phoenix 1.0", "contrast", "3.5", 3.5, ""},
		{"Leonardo Phoenix 1.0", "contrast", 2, nil, "2.5"},
		{"Leonardo Anime XL", "scheduler", "ddim", "DDIM", ""},
		{"Leonardo Anime XL", "scheduler", "fast", nil, "KLMS"},
		{"Leonardo Anime XL", "transparency", "all", nil, "foreground_only"},
		{"Nano Banana Pro", "temperature", 2.1, nil, "0 to 2"},
		{"Nano Banana Pro", "top_p", "0.5", 0.5, ""},
		{"Nano Banana Pro", "top_k", 0, nil, "from 1"},
		{"Gemini 3.8 Flash TTS", "temperature", "hot", nil, "0 to 2"},
		{"Nano Banana Pro", "safety_settings", []any{"x"}, []any{"x"}, ""},
		{"GPT Image 2", "output_compression", 101, nil, "0 to 100"},
		{"GPT Image 2", "moderation", "none", nil, "auto, low"},
		{"GPT Image 2", "user", 5.0, "5", ""},
		{"GPT-5 Image (OpenRouter)", "temperature", 2.5, nil, "0 to 2"},
		{"GPT-5 Image (OpenRouter)", "top_p", "0.5", 0.5, ""},
		{"Nano Banana Pro (OpenRouter)", "max_tokens", 0, nil, "from 1"},
		{"Nano Banana Pro (OpenRouter)", "user", []any{"x"}, nil, `is "a list": use a text`},
		{"Nano Banana Pro (OpenRouter)", "zzz", 1, nil, "openrouter.zzz is unknown"},
		{"Nano Banana Pro (OpenRouter)", "provider", "price", nil, "an object of allow_fallbacks"},
		{"Nano Banana Pro (OpenRouter)", "provider", map[string]any{"sort": "cheap"}, nil, `openrouter.provider.sort is "cheap": use price`},
		{"Nano Banana Pro (OpenRouter)", "provider", map[string]any{"prefer": "x"}, nil, "openrouter.provider.prefer is unknown"},
		{"Nano Banana Pro (OpenRouter)", "provider", map[string]any{"order": "x"}, nil, "a list of names"},
		{
			"Nano Banana Pro (OpenRouter)", "provider",
			map[string]any{"sort": "Price", "order": []string{"google"}, "zdr": "true", "max_price": map[string]any{"image": 1.0}},
			map[string]any{"sort": "price", "order": []any{"google"}, "zdr": true, "max_price": map[string]any{"image": 1.0}},
			"",
		},
	} {
		var calls []driver.Task
		g, m := recordingGateway(t, c.model, &calls)
		in := media.NewOutput(media.Blob{Digest: media.DigestOf([]byte("x")), Facts: media.Facts{MIMEType: "image/png", Width: 64, Height: 64}}, media.Meta{})
		r := generate.Request{Model: c.model, Prompt: "x", Options: map[string]map[string]any{m.Provider: {c.option: c.value}}}
		if m.Methods[0] == generate.MethodEdit {
			r.Method, r.Inputs = generate.MethodEdit, []media.Output{in}
		}
		_, err := g.Generate(t.Context(), r)
		name := fmt.Sprintf("%s %s=%v", c.model, c.option, c.value)
		switch {
		case c.says != "":
			if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), c.says) || len(calls) != 0 {
				t.Errorf("%s: %v after %d calls", name, err, len(calls))
			}
		case err != nil || len(calls) != 1:
			t.Errorf("%s: %v after %d calls", name, err, len(calls))
		default:
			if d := cmp.Diff(c.want, calls[0].Options[c.option]); d != "" {
				t.Errorf("%s (-want +got): %s", name, d)
			}
		}
	}
}

// recordingGateway returns a gateway with one model's provider, whose calls it records.
func recordingGateway(t *testing.T, model string, calls *[]driver.Task) (*gateway.Gateway, catalog.Model) {
	t.Helper()
	rows, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	m, ok := rows.Lookup(model)
	if !ok {
		t.Fatalf("no model %s", model)
	}
	d := &generatetest.Driver{Name: m.Provider, OnStart: func(_ context.Context, task driver.Task, _ int) (driver.Update, error) {
		*calls = append(*calls, task)
		return driver.Update{Done: true}, nil
	}}
	g, err := gateway.New(gateway.Config{Drivers: []driver.Driver{d}, Catalogue: rows})
	if err != nil {
		t.Fatal(err)
	}
	return g, m
}

// TestRulesOfARowThatIsOverridden: the rules remain for the options that an overridden row keeps.
func TestRulesOfARowThatIsOverridden(t *testing.T) {
	t.Parallel()
	rows, err := catalog.Load(strings.NewReader(
		"provider: bfl\nmodels: [{api_model: flux-2-flex, options: [steps, guidance], option_rules: {guidance: {min: 2, max: 3}}}]"))
	if err != nil {
		t.Fatal(err)
	}
	m, _ := rows.Lookup("FLUX.2 Flex")
	want := map[string]catalog.OptionRule{"steps": {Min: 1, Max: 50, Whole: true}, "guidance": {Min: 2, Max: 3}}
	if d := cmp.Diff(want, m.OptionRules); d != "" {
		t.Errorf("rules (-want +got): %s", d)
	}
}
