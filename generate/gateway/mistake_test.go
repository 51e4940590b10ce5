package gateway_test

import (
	"context"
	"strings"
	"testing"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/media"
)

// TestMistakesAreRefusedBeforeAnyCall: settings that would be dropped although the call is paid for are refused.
func TestMistakesAreRefusedBeforeAnyCall(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	gemini := map[string]map[string]any{"gemini": {"top_k": 3}}
	for says, r := range map[string]generate.Request{
		"is for models of gemini":   {Model: "GPT Image 2", Options: gemini},
		"openai.magic is unknown":   {Model: "GPT Image 2", Options: map[string]map[string]any{"openai": {"magic": 1}}},
		"gemini.magic is unknown":   {Model: "GPT Image 2", Options: map[string]map[string]any{"gemini": {"magic": 1}}, Fallback: []string{"Nano Banana Pro"}},
		"there is no such provider": {Model: "GPT Image 2", Options: map[string]map[string]any{"opnai": {"user": "u"}}},
		"each of a whole number":    {Model: "offline", Options: map[string]map[string]any{"offline": {"fail_slots": 2}}},
		"offline.delay_ms is":       {Model: "offline", Options: map[string]map[string]any{"offline": {"delay_ms": "soon"}}},
		`quality "superb"`:          {Model: "GPT Image 2", Quality: "superb"},
	} {
		r.Prompt = "a house"
		_, planned := h.Plan(t.Context(), r)
		got, err := h.Generate(t.Context(), r)
		for _, err := range []error{planned, err} {
			if got != nil || media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), says) {
				t.Errorf("%v, want %q", err, says)
			}
		}
	}
	if n := len(h.openai.Tasks()); n != 0 || len(h.log.Entries()) != 0 {
		t.Errorf("%d calls, journal %q", n, h.log.Entries())
	}
}

// TestOptionsOfAChain: each model of a chain gets its provider's options, whether the first model fails or has no key.
func TestOptionsOfAChain(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(*testGateway){
		"no key": func(h *testGateway) { h.openai.NotReady = noKey("OPENAI_API_KEY") },
		"outage": func(h *testGateway) {
			h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
				return driver.Update{}, media.Errorf(media.CodeForbidden, "not today")
			}
		},
	} {
		h := build(t, func(h *testGateway, _ *gateway.Config) { fail(h) })
		got := h.must(t, generate.Request{
			Model: "GPT Image 2", Fallback: []string{"Nano Banana Pro"},
			Options: map[string]map[string]any{"openai": {"user": "u"}, "gemini": {"top_k": 3}},
		})
		if got.Status != generate.StatusSucceeded || got.Model != "Nano Banana Pro" || sent(t, h.gemini).Options["top_k"] != 3.0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
