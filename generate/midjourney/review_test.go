package midjourney_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/media"
)

func TestBadInputIsRefusedBeforeAnyCall(t *testing.T) {
	t.Parallel()
	s := newStudio(t, midjourneysim.Config{})
	tile := s.made(t, task(t, nil), 1)
	grid := tile
	grid.Metadata = map[string]any{"midjourney": tile.Metadata["midjourney"]}
	stranger, mask := s.put(t, generatetest.PNG(64, 48, 9)), s.put(t, generatetest.PNG(64, 48, 8))
	forged := stranger
	forged.Metadata = map[string]any{"midjourney": "MJ::JOB", "tile": "two"}
	follow := func(in media.Output, options map[string]any, change func(*generate.Task)) generate.Task {
		q := following(t, in, options)
		if change != nil {
			change(&q)
		}
		return q
	}
	opt := func(name string, v any) generate.Task {
		return task(t, func(q *generate.Task) { q.Options = map[string]any{name: v} })
	}
	before := len(s.sim.Captured())
	for name, c := range map[string]struct {
		task generate.Task
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
			follow(stranger, map[string]any{"action": "edit"}, func(q *generate.Task) { q.Inputs = append(q.Inputs, tile) }),
			media.CodeInvalid, "one picture",
		},
		"stranger":           {follow(stranger, map[string]any{"action": "upscale"}, nil), media.CodeUnsupported, "no picture that Midjourney made"},
		"forged metadata":    {follow(forged, map[string]any{"action": "upscale"}, nil), media.CodeUnsupported, "no picture that Midjourney made"},
		"grid without index": {follow(grid, map[string]any{"action": "upscale"}, nil), media.CodeInvalid, "midjourney.index"},
		"two upscales":       {follow(tile, map[string]any{"action": "upscale"}, func(q *generate.Task) { q.N = 2 }), media.CodeInvalid, "ask for one"},
		"zoom of a tile":     {follow(tile, map[string]any{"action": "zoom"}, nil), media.CodeUnsupported, "upscale it first"},
		"inpaint of a tile":  {follow(tile, nil, func(q *generate.Task) { q.Method, q.Prompt, q.Mask = generate.MethodEdit, "x", &mask }), media.CodeUnsupported, "upscale it first"},
		"mask on a stranger": {follow(stranger, nil, func(q *generate.Task) { q.Method, q.Prompt, q.Mask = generate.MethodEdit, "x", &mask }), media.CodeUnsupported, "without a mask"},
		"inpaint, no mask":   {follow(tile, map[string]any{"action": "inpaint"}, nil), media.CodeInvalid, "needs a mask"},
		"mask elsewhere":     {follow(tile, map[string]any{"action": "imagine"}, func(q *generate.Task) { q.Mask = &mask }), media.CodeInvalid, "takes no mask"},
		"describe nothing":   {task(t, func(q *generate.Task) { q.Model = model(t, "Midjourney Describe") }), media.CodeInvalid, "one picture, not 0"},
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

func TestReviewTellsWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	s := newStudio(t, midjourneysim.Config{})
	tile := s.made(t, task(t, nil), 1)
	single := s.made(t, following(t, tile, map[string]any{"action": "upscale"}), 0)
	a, b := s.put(t, generatetest.PNG(64, 48, 9)), s.put(t, generatetest.PNG(64, 48, 8))
	for _, c := range []struct {
		name string
		task generate.Task
		want map[string]string
	}{
		{"all is taken", task(t, func(q *generate.Task) { q.AspectRatio, q.Style = "3:2", "natural" }), map[string]string{}},
		{"vivid", task(t, func(q *generate.Task) { q.Style = "vivid" }), map[string]string{"style": "dropped"}},
		{"natural niji", task(t, func(q *generate.Task) { q.Style, q.Options = "natural", map[string]any{"niji": 6} }), map[string]string{"style": "dropped"}},
		{
			"flags of the prompt", task(t, func(q *generate.Task) { q.Prompt, q.AspectRatio = "x --aspect 3:2 --niji 6", "1:1" }),
			map[string]string{"aspect_ratio": "dropped", "size": "dropped", "model": "adapted the version in the prompt"},
		},
		{
			"options of a follow-up", task(t, func(q *generate.Task) { q.Options = map[string]any{"index": 2, "direction": "up"} }),
			map[string]string{"options.midjourney.index": "dropped", "options.midjourney.direction": "dropped"},
		},
		{
			"image prompts", task(t, func(q *generate.Task) { q.Method, q.Inputs = generate.MethodEdit, []media.Output{a, b} }),
			map[string]string{"inputs": "adapted image prompts"},
		},
		{"blend of a wide shape", task(t, func(q *generate.Task) {
			q.Method, q.Inputs, q.AspectRatio, q.Options = generate.MethodEdit, []media.Output{a, b}, "16:9", map[string]any{"action": "blend"}
		}), map[string]string{"prompt": "dropped", "aspect_ratio": "dropped", "size": "dropped", "quality": "dropped", "style": "dropped", "seed": "dropped", "negative_prompt": "dropped"}},
		{
			"index of a single", following(t, single, map[string]any{"index": 2}),
			map[string]string{"options.midjourney.index": "dropped", "aspect_ratio": "dropped", "size": "dropped", "quality": "dropped", "style": "dropped", "seed": "dropped", "negative_prompt": "dropped"},
		},
	} {
		notes, err := s.driver.Review(c.task)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		got := map[string]string{}
		for _, n := range notes {
			got[n.Setting] = strings.TrimSpace(string(n.Outcome) + " " + n.Applied)
			if n.Reason == "" {
				t.Errorf("%s: no reason for %s", c.name, n.Setting)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}
