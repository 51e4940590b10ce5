package midjourney_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/media"
)

// TestOmittedWordsAreReported: the plan reports what happens to the prompt and to the number of results. Strict
// requests are refused before any call.
func TestOmittedWordsAreReported(t *testing.T) {
	t.Parallel()
	s, old := newTestDriver(t, midjourneysim.Config{}), newTestDriver(t, midjourneysim.Config{Plain: true})
	tile, plain := s.runTask(t, task(t, nil), 1), old.runTask(t, task(t, nil), 1)
	single := s.runTask(t, variationOf(t, tile, map[string]any{"action": "upscale"}), 0)
	other := s.put(t, generatetest.PNG(64, 48, 8))
	for _, c := range []struct {
		name   string
		words  string
		in     []media.Output
		n      int
		action string
		prompt generate.Outcome
		gives  string
	}{
		{"four", "a house", nil, 4, "", "", "applied 4"},
		{"two", "a house", nil, 2, "", "", "adapted 4"},
		{"six", "a house", nil, 6, "", "", "adapted 8"},
		{"not asked", "a house", nil, 0, "", "", ""},
		{"upscale", "a red door", []media.Output{tile}, 1, "upscale", generate.OutcomeDropped, "applied 1"},
		{"upscale without words", " ", []media.Output{tile}, 1, "upscale", "", "applied 1"},
		{"zoom", "a red door", []media.Output{single}, 0, "zoom", generate.OutcomeDropped, ""},
		{"variation", "a red door", []media.Output{tile}, 0, "", generate.OutcomeAdapted, ""},
		{"variation without words", "", []media.Output{tile}, 0, "", "", ""},
		{"variation at an older proxy", "a red door", []media.Output{plain}, 0, "", generate.OutcomeDropped, ""},
		{"blend", "a red door", []media.Output{single, other}, 0, "blend", generate.OutcomeDropped, ""},
		{"image prompts", "a red door", []media.Output{other}, 0, "imagine", "", ""},
	} {
		r := generate.Request{Model: "Midjourney 7", Prompt: c.words, N: c.n, Inputs: c.in}
		if len(c.in) > 0 {
			r.Method = generate.MethodVariation
		}
		if c.action != "" {
			r.Options = map[string]map[string]any{"midjourney": {"action": c.action}}
		}
		p, err := newGateway(t, s).Plan(s.ctx, r)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		prompt, gives := find(p.Dispositions, "prompt"), find(p.Dispositions, "n")
		if prompt.Outcome != c.prompt || c.prompt != "" && (prompt.Reason == "" || prompt.Asked != c.words) {
			t.Errorf("%s: %+v", c.name, prompt)
		}
		if have := strings.TrimSpace(string(gives.Outcome) + " " + gives.Applied); have != c.gives {
			t.Errorf("%s: n is %s, want %s", c.name, have, c.gives)
		}
		r.Strict = true
		_, err = newGateway(t, s).Plan(s.ctx, r)
		if whole := c.prompt == "" && !strings.HasPrefix(c.gives, "adapted"); (err == nil) != whole {
			t.Errorf("%s: strict: %v", c.name, err)
		}
	}
}

// find returns the disposition of a setting.
func find(list []generate.Disposition, setting string) generate.Disposition {
	for _, d := range list {
		if d.Setting == setting {
			return d
		}
	}
	return generate.Disposition{}
}

// TestDescribeTakesNoWords: describe sends neither the prompt nor the negative prompt.
func TestDescribeTakesNoWords(t *testing.T) {
	t.Parallel()
	s := newTestDriver(t, midjourneysim.Config{})
	r := generate.Request{
		Method: generate.MethodVariation, Model: "Midjourney Describe", Prompt: "a house", NegativePrompt: "rain",
		Inputs: []media.Output{s.put(t, generatetest.PNG(64, 48, 8))},
	}
	got, err := newGateway(t, s).Generate(s.ctx, r)
	if err != nil || got.Status != generate.StatusSucceeded {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, setting := range []string{"prompt", "negative_prompt"} {
		if d := find(got.Dispositions, setting); d.Outcome != generate.OutcomeDropped || d.Applied != "" {
			t.Errorf("%+v", d)
		}
	}
	_, body := s.sent(t)
	if fields := slices.Sorted(maps.Keys(body)); !slices.Equal(fields, []string{"base64", "state"}) { // state is the call's key
		t.Errorf("sent %q", fields)
	}
}
