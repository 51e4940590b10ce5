package midjourney_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/media"
)

func TestBadInputIsRefusedBeforeAnyCall(t *testing.T) {
	t.Parallel()
	s := newTestDriver(t, midjourneysim.Config{})
	tile := s.runTask(t, task(t, nil), 1)
	grid := tile
	grid.Metadata = map[string]any{"midjourney": tile.Metadata["midjourney"], "offers": tile.Metadata["offers"]}
	stranger, mask := s.put(t, generatetest.PNG(64, 48, 9)), s.put(t, generatetest.PNG(64, 48, 8))
	forged := stranger
	forged.Metadata = map[string]any{"midjourney": "MJ::JOB", "tile": "two"}
	follow := func(in media.Output, options map[string]any, change func(*driver.Task)) driver.Task {
		q := variationOf(t, in, options)
		if change != nil {
			change(&q)
		}
		return q
	}
	opt := func(name string, v any) driver.Task {
		return task(t, func(q *driver.Task) { q.Options = map[string]any{name: v} })
	}
	before := len(s.sim.Captured())
	for name, c := range map[string]struct {
		task driver.Task
		code media.Code
		says string
	}{
		"unknown option":       {opt("zoom_level", 3), media.CodeInvalid, "zoom_level"},
		"unknown action":       {opt("action", "fly"), media.CodeInvalid, "upscale"},
		"action of many lines": {opt("action", strings.Repeat("x", 500)), media.CodeInvalid, "…"},
		"nested":               {opt("chaos", []any{1}), media.CodeInvalid, "chaos"},
		"out of range":         {opt("stylize", 1001), media.CodeInvalid, "0 to 1000"},
		"not a number":         {opt("weird", "NaN"), media.CodeInvalid, "weird"},
		"flag in a text":       {opt("profile", "abc --fast"), media.CodeInvalid, "flags"},
		"switch":               {opt("tile", "maybe"), media.CodeInvalid, "true or false"},
		"index 0":              {opt("index", 0), media.CodeInvalid, "top left"},
		"index 5":              {opt("index", 5.0), media.CodeInvalid, "top left"},
		"factor":               {opt("factor", 3), media.CodeInvalid, "square"},
		"version":              {opt("version", "9"), media.CodeInvalid, "8.1"},
		"speed":                {opt("speed", "warp"), media.CodeInvalid, "turbo"},
		"nothing to follow":    {opt("action", "upscale"), media.CodeInvalid, "0 were named"},
		"blend of one":         {follow(stranger, map[string]any{"action": "blend"}, nil), media.CodeInvalid, "2 to 5"},
		"edit of two": {
			follow(stranger, map[string]any{"action": "edit"}, func(q *driver.Task) { q.Inputs = append(q.Inputs, tile) }),
			media.CodeInvalid, "one picture",
		},
		"stranger":           {follow(stranger, map[string]any{"action": "upscale"}, nil), media.CodeUnsupported, "not a picture that midjourney made"},
		"forged metadata":    {follow(forged, map[string]any{"action": "upscale"}, nil), media.CodeUnsupported, "not a picture that midjourney made"},
		"grid without index": {follow(grid, map[string]any{"action": "upscale"}, nil), media.CodeInvalid, "midjourney.index"},
		"two upscales":       {follow(tile, map[string]any{"action": "upscale"}, func(q *driver.Task) { q.N = 2 }), media.CodeInvalid, "request one"},
		"zoom of a tile":     {follow(tile, map[string]any{"action": "zoom"}, nil), media.CodeUnsupported, "upscale it first"},
		"inpaint of a tile":  {follow(tile, nil, func(q *driver.Task) { q.Method, q.Prompt, q.Mask = generate.MethodEdit, "x", &mask }), media.CodeUnsupported, "upscale it first"},
		"mask on a stranger": {follow(stranger, nil, func(q *driver.Task) { q.Method, q.Prompt, q.Mask = generate.MethodEdit, "x", &mask }), media.CodeUnsupported, "omit mask"},
		"inpaint, no mask":   {follow(tile, map[string]any{"action": "inpaint"}, nil), media.CodeInvalid, "needs a mask"},
		"mask elsewhere":     {follow(tile, map[string]any{"action": "imagine"}, func(q *driver.Task) { q.Mask = &mask }), media.CodeInvalid, "takes no mask"},
		"describe nothing":   {task(t, func(q *driver.Task) { q.Model = model(t, "Midjourney Describe") }), media.CodeInvalid, "one picture, not 0"},
	} {
		_, reviewed := s.driver.Review(c.task)
		_, started := s.driver.Start(s.ctx, c.task)
		for what, err := range map[string]error{"Review": reviewed, "Start": started} {
			if media.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) || len(err.Error()) > 600 {
				t.Errorf("%s: %s: %v, want %s with %q", name, what, err, c.code, c.says)
			}
		}
	}
	if have := len(s.sim.Captured()); have != before {
		t.Errorf("%d calls were made", have-before)
	}
}

// TestPlansReportOmissions: a plan reports every requested setting that is not applied as requested, whether the
// catalogue's row or the driver decides it.
func TestPlansReportOmissions(t *testing.T) {
	t.Parallel()
	s := newTestDriver(t, midjourneysim.Config{})
	tile := s.runTask(t, task(t, nil), 1)
	single := s.runTask(t, variationOf(t, tile, map[string]any{"action": "upscale"}), 0)
	a, b := s.put(t, generatetest.PNG(64, 48, 9)), s.put(t, generatetest.PNG(64, 48, 8))
	seed := int64(7)
	all := func(method generate.Method, options map[string]any, in ...media.Output) generate.Request {
		return generate.Request{
			Method: method, Prompt: "a house", Inputs: in, AspectRatio: "16:9", Quality: "hd", Style: "natural", Seed: &seed, NegativePrompt: "rain",
			Options: map[string]map[string]any{"midjourney": options},
		}
	}
	type options = map[string]any
	for _, c := range []struct {
		name   string
		ask    generate.Request
		change func(*generate.Request)
		want   map[string]string
	}{
		{"all is taken", all("", options{"chaos": 3, "tile": true}), nil, map[string]string{}},
		{"vivid", all("", nil), func(r *generate.Request) { r.Style = "vivid" }, map[string]string{"style": "dropped"}},
		{"natural niji", all("", options{"niji": 6}), nil, map[string]string{"style": "dropped", "model": "adapted another version"}},
		{
			"two versions", all("", options{"niji": 6, "version": 7}), func(r *generate.Request) { r.Style = "" },
			map[string]string{"options.midjourney.version": "dropped", "model": "adapted another version"},
		},
		{
			"flags of the prompt", all("", options{"chaos": 3, "stylize": 9}),
			func(r *generate.Request) {
				r.Prompt, r.Size = "x --aspect 3:2 --niji 6 --chaos 9 --no fog", "1024x1024"
			},
			map[string]string{
				"aspect_ratio": "dropped", "size": "dropped", "style": "dropped", "negative_prompt": "dropped",
				"options.midjourney.chaos": "dropped", "model": "adapted another version",
			},
		},
		{
			"options of a follow-up", all("", options{"index": 2, "direction": "up"}), nil,
			map[string]string{"options.midjourney.index": "dropped", "options.midjourney.direction": "dropped"},
		},
		{"image prompts", all(generate.MethodEdit, nil, a, b), nil, map[string]string{"inputs": "adapted image prompts"}},
		{"image prompts by name", all(generate.MethodEdit, options{"action": "imagine"}, a, b), nil, map[string]string{}},
		{"blend of a wide shape", all(generate.MethodEdit, options{"action": "blend", "chaos": 2}, a, b), nil, map[string]string{
			"prompt": "dropped", "aspect_ratio": "dropped", "quality": "dropped", "style": "dropped", "seed": "dropped",
			"negative_prompt": "dropped", "options.midjourney.chaos": "dropped",
		}},
		{
			"index of a single", all(generate.MethodVariation, options{"index": 2}, single),
			func(r *generate.Request) { r.Size, r.Prompt = "1024x1024", "" },
			map[string]string{
				"options.midjourney.index": "dropped", "aspect_ratio": "dropped", "size": "dropped", "quality": "dropped",
				"style": "dropped", "seed": "dropped", "negative_prompt": "dropped",
			},
		},
	} {
		r := c.ask
		r.Model = "Midjourney 7"
		if c.change != nil {
			c.change(&r)
		}
		p, err := newGateway(t, s).Plan(s.ctx, r)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := map[string]string{}
		for _, n := range p.Dispositions {
			if n.Outcome == generate.OutcomeApplied || n.Setting == "quality" && n.Outcome == generate.OutcomeAdapted { // hd is high here
				continue
			}
			got[n.Setting] = strings.TrimSpace(string(n.Outcome) + " " + n.Applied)
			if n.Reason == "" {
				t.Errorf("%s: no reason for %s", c.name, n.Setting)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		r.Strict = true
		if _, err := newGateway(t, s).Plan(s.ctx, r); (err == nil) != (len(p.Dispositions) == applied(p.Dispositions)) {
			t.Errorf("%s: strict: %v", c.name, err)
		}
	}
}

// applied counts the settings that are applied.
func applied(list []generate.Disposition) int {
	n := 0
	for _, d := range list {
		if d.Outcome == generate.OutcomeApplied {
			n++
		}
	}
	return n
}
