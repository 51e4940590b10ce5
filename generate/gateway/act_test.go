package gateway_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/act"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/media"
)

// studioRows are models of one provider, with acts and with settings in the prompt.
const studioRows = `
provider: studio
models:
  - name: Studio
    api_model: studio-2
    modality: image
    methods: [generate, edit, variation]
    size: {mode: ratio, max_ratio: 3}
    max_n: 4
    grid: 4
    max_inputs: 3
    mask: white
    supports: [seed, negative_prompt, style]
    styles: [natural]
    qualities: [low, high]
    options: [action, grain, shiny, mode]
    option_rules: {action: {words: [draw, mix, enlarge, patch]}, grain: {max: 9}, shiny: {switch: true}}
    acts:
      - {name: patch, for: [edit], follows: true, mask: true, words: optional}
      - {name: mix, for: [edit, variation], min_inputs: 2, max_inputs: 3, words: none, takes: [aspect_ratio]}
      - {name: draw, for: [generate, edit, variation], max_inputs: 3, takes: [aspect_ratio, quality, style, seed, negative_prompt, grain, shiny]}
      - {name: enlarge, follows: true, once: true, words: none, takes: [grain]}
    flags:
      - {setting: aspect_ratio, flag: --ratio, same: [--r]}
      - {setting: model, flag: --on, words: {studio-2: "2"}}
      - {setting: quality, flag: --fine, same: [--shiny], words: {low: "0", high: "9"}}
      - {setting: style, flag: --plain, words: {natural: "true"}}
      - {setting: seed, flag: --seed}
      - {setting: grain, flag: --grain}
      - {setting: shiny, flag: --shiny, same: [--fine]}
      - {setting: negative_prompt, flag: --not}
    life: {}
    source: a test
`

// newStudioGateway returns a gateway whose only driver is that of the studio.
func newStudioGateway(t *testing.T) (*testGateway, *generatetest.Driver) {
	t.Helper()
	rows, err := catalog.Load(strings.NewReader(studioRows))
	if err != nil {
		t.Fatal(err)
	}
	d := &generatetest.Driver{Name: "studio"}
	return build(t, func(h *testGateway, c *gateway.Config) {
		d.Make = h.openai.Make
		c.Drivers, c.Catalogue = []driver.Driver{d}, rows
	}), d
}

// storeStudioImage returns a picture that the studio made.
func (h *testGateway) storeStudioImage(t *testing.T) media.Output {
	t.Helper()
	o := media.NewOutput(generatetest.Stored(t.Context(), t, h.codec, generatetest.PNG(64, 64, 3)), media.Meta{})
	o.Metadata = map[string]any{"studio": map[string]any{"job": "7"}, "tile": 2.0}
	return o
}

// TestActs: the act follows from the option, or from the method, pictures and prompt. Settings that the act does not
// take are reported, and pictures that it does not take are refused.
func TestActs(t *testing.T) {
	t.Parallel()
	h, _ := newStudioGateway(t)
	own, a, b := h.storeStudioImage(t), h.storeStudioImage(t), h.storeStudioImage(t)
	a.Metadata, b.Metadata["studio"] = nil, "forged"
	mask := media.NewOutput(generatetest.Stored(t.Context(), t, h.codec, generatetest.PNG(64, 64, 250)), media.Meta{})
	for _, c := range []struct {
		name   string
		method generate.Method
		act    string
		words  string
		in     []media.Output
		mask   *media.Output
		n      int
		not    string // dropped settings
		says   string // part of the error
	}{
		{"drawn", "", "", "a fox", nil, nil, 0, "", ""},
		{"drawn from two", generate.MethodEdit, "", "a fox", []media.Output{a, b}, nil, 0, "", ""},
		{"mixed, for want of words", generate.MethodEdit, "", "", []media.Output{a, b}, nil, 0, "quality grain", ""},
		{"mixed by name", generate.MethodEdit, "mix", "a fox", []media.Output{a, b}, nil, 0, "prompt quality grain", ""},
		{"no words for one picture", generate.MethodEdit, "", " ", []media.Output{a}, nil, 0, "", "prompt is empty"},
		{"variation without words", generate.MethodVariation, "", "", []media.Output{a}, nil, 0, "", ""},
		{"patched", generate.MethodEdit, "", "", []media.Output{own}, &mask, 0, "aspect_ratio quality grain", ""},
		{"patch of a stranger", generate.MethodEdit, "", "x", []media.Output{a}, &mask, 0, "", "not a picture that studio made"},
		{"patch of a forged one", generate.MethodEdit, "", "x", []media.Output{b}, &mask, 0, "", "not a picture that studio made"},
		{"patch without a mask", generate.MethodEdit, "patch", "x", []media.Output{own}, nil, 0, "", "needs a mask"},
		{"enlarged", generate.MethodVariation, "enlarge", "", []media.Output{own}, nil, 1, "negative_prompt aspect_ratio quality", ""},
		{"enlarged twice", generate.MethodVariation, "enlarge", "", []media.Output{own}, nil, 2, "", "one result, not 2"},
		{"two enlarged", generate.MethodEdit, "enlarge", "", []media.Output{own, a}, nil, 0, "", "2 were named"},
		{"nothing enlarged", "", "enlarge", "x", nil, nil, 0, "", "0 were named"},
		{"one mixed", generate.MethodEdit, "mix", "", []media.Output{a}, nil, 0, "", "takes 2 to 3 pictures, not 1"},
		{"masked mix", generate.MethodEdit, "mix", "", []media.Output{a, b}, &mask, 0, "", "takes no mask"},
		{"unknown", "", "fly", "x", nil, nil, 0, "", "use draw, mix, enlarge, patch"},
	} {
		r := generate.Request{
			Model: "Studio", Method: c.method, Prompt: c.words, Inputs: c.in, Mask: c.mask, N: c.n, AspectRatio: "2:1", Quality: "low",
			Options: map[string]map[string]any{"Studio": {"grain": 3}},
		}
		if c.name == "enlarged" {
			r.NegativePrompt = "rain"
		}
		if c.act != "" {
			r.Options["Studio"]["action"] = c.act
		}
		p, err := h.Plan(t.Context(), r)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, want %q", c.name, err, c.says)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var not []string
		for _, d := range p.Dispositions {
			if d.Outcome == generate.OutcomeDropped {
				not = append(not, strings.TrimPrefix(d.Setting, "options.Studio."))
			}
		}
		if d := cmp.Diff(c.not, strings.Join(not, " ")); d != "" {
			t.Errorf("%s: what is not taken (-want +got):\n%s", c.name, d)
		}
	}
}

// TestDriversSeeNothingThatTheActDoesNotTake: a driver receives the act and only the settings that it takes.
func TestDriversSeeNothingThatTheActDoesNotTake(t *testing.T) {
	t.Parallel()
	h, d := newStudioGateway(t)
	seed := int64(5)
	h.must(t, generate.Request{
		Model: "Studio", Method: generate.MethodVariation, Prompt: "a fox", Inputs: []media.Output{h.storeStudioImage(t)}, Size: "640x320", Quality: "low", Style: "natural",
		Seed: &seed, NegativePrompt: "rain", Options: map[string]map[string]any{"studio": {"action": "enlarge", "shiny": true, "grain": 2}},
	})
	got := d.Tasks()[0]
	act, err := act.Of(got)
	var parent struct{ Job string }
	if err != nil || act.Name != "enlarge" || !got.Parent(&parent) || parent.Job != "7" || got.Tile() != 2 {
		t.Errorf("%+v, %v, parent %+v, tile %d", act, err, parent, got.Tile())
	}
	if got.Prompt+got.AspectRatio+got.Quality+got.Style+got.NegativePrompt != "" || got.Seed != nil {
		t.Errorf("task %+v", got)
	}
	if d := cmp.Diff(map[string]any{"action": "enlarge", "grain": 2.0}, got.Options); d != "" {
		t.Errorf("options (-want +got):\n%s", d)
	}
}

// TestFlags: settings follow the prompt in the order of the row. A setting that the prompt already has, or that
// conflicts with another, is reported.
func TestFlags(t *testing.T) {
	t.Parallel()
	seed := int64(5)
	for _, c := range []struct{ prompt, flags, lost string }{
		{"a fox", "--ratio 2:1 --on 2 --fine 0 --plain --seed 5 --grain 3 --not rain, ar fog", "options.studio.shiny"},
		{"a fox --r 1:1 --on 3 --shiny", "--plain --seed 5 --grain 3 --not rain, ar fog", "aspect_ratio model options.studio.shiny quality"},
	} {
		h, d := newStudioGateway(t)
		got := h.must(t, generate.Request{
			Model: "Studio", Prompt: c.prompt, AspectRatio: "2:1", Quality: "low", Style: "natural", Seed: &seed, NegativePrompt: "rain,\n--ar fog",
			Options: map[string]map[string]any{"studio": {"shiny": "TRUE", "grain": 3}},
		})
		var lost []string
		for _, d := range got.Dispositions {
			if d.Outcome == generate.OutcomeDropped || d.Setting == "model" && d.Outcome == generate.OutcomeAdapted {
				lost = append(lost, d.Setting)
			}
		}
		slices.Sort(lost)
		flags, _ := act.Flags(d.Tasks()[0])
		if d := cmp.Diff([]string{c.flags, c.lost}, []string{flags, strings.Join(lost, " ")}); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.prompt, d)
		}
	}
}

// TestBadFlagsAndActs: a value that cannot be written into a prompt is refused before any call, and a row that would
// lose a setting is invalid.
func TestBadFlagsAndActs(t *testing.T) {
	t.Parallel()
	h, _ := newStudioGateway(t)
	for _, value := range []any{"a --b", "two\nlines", ""} {
		_, err := h.Plan(t.Context(), generate.Request{Model: "Studio", Prompt: "x", Options: map[string]map[string]any{"studio": {"grain": value}}})
		if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "studio.grain") {
			t.Errorf("%q: %v", value, err)
		}
	}
	for change, says := range map[string]string{
		"flags: [{setting: mood, flag: --mood}]":                                "mood",
		"flags: [{setting: seed}]":                                              "name a flag",
		"flags: [{setting: quality, flag: --fine, words: {low: a}}]":            `no flag of quality has the word "high"`,
		"acts: [{name: a}, {name: a}]":                                          "two acts",
		"acts: [{name: a, words: many}]":                                        "needed, optional or none",
		"acts: [{name: a, min_inputs: 3, max_inputs: 1}]":                       "below",
		"acts: [{name: a, takes: [flavour]}]":                                   "flavour",
		"options: [action, grain, mode], flags: [{setting: shiny, flag: --sh}]": "shiny",
	} {
		_, err := catalog.Load(strings.NewReader(studioRows), strings.NewReader("provider: studio\nmodels: [{api_model: studio-2, "+change+"}]"))
		if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", change, err, says)
		}
	}
	rows, err := catalog.Load(strings.NewReader(studioRows), strings.NewReader("provider: studio\nmodels: [{api_model: studio-2, options: [action, grain]}]"))
	if err != nil {
		t.Fatal(err)
	}
	m, _ := rows.Lookup("Studio")
	if len(m.Acts) != 4 || len(m.Acts[2].Takes) != 6 || len(m.Flags) != 7 || m.OptionRules["shiny"].Switch {
		t.Errorf("a row with fewer options: %+v", m)
	}
}
