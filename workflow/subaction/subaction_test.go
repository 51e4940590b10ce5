package subaction_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/media"
	"atelier/workflow/conform"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
	"atelier/workflow/subaction"
)

func registry(t *testing.T) *subaction.Registry {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return subaction.New(c, func() time.Time { return time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC) })
}

func object(t *testing.T, s string) *ordered.Object {
	t.Helper()
	o, err := ordered.DecodeObject([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func plan(t *testing.T, actionType, key, params string) (subaction.Plan, error) {
	t.Helper()
	h, err := registry(t).Find(actionType)
	if err != nil {
		t.Fatal(err)
	}
	return h.Plan(subaction.Call{Key: key, Prompt: "a cat", Params: object(t, params)})
}

func TestPlans(t *testing.T) {
	t.Parallel()
	seed := int64(7)
	for _, c := range []struct {
		action, key, params string
		want                subaction.Plan
	}{
		{"media.midjourney.txt2img", "prompt_a", `{"aspect_ratio": "16:9", "speed": "fast"}`, subaction.Plan{Request: generate.Request{
			Method: generate.MethodGenerate, Modality: media.ModalityImage, Prompt: "a cat", Model: "midjourney/midjourney", AspectRatio: "16:9",
			Options: map[string]map[string]any{"midjourney": {"speed": "fast"}},
		}}},
		{"media.leonardo.txt2img", "phoenix_1_0", `{"width": 1024, "height": 576, "num_images": 2, "seed": 7, "negative_prompt": "dogs", "contrast": "3.5"}`, subaction.Plan{Request: generate.Request{
			Method: generate.MethodGenerate, Modality: media.ModalityImage, Prompt: "a cat", Model: "leonardo/de7d3faf-762f-48e0-b3b7-9d0ac3a3fcf3",
			Size: "1024x576", N: 2, Seed: &seed, NegativePrompt: "dogs", Options: map[string]map[string]any{"leonardo": {"contrast": "3.5"}},
		}}},
		{"media.leonardo.txt2img", "anime_xl", `{}`, subaction.Plan{Request: generate.Request{
			Method: generate.MethodGenerate, Modality: media.ModalityImage, Prompt: "a cat", Model: "leonardo/e71a1c2f-4f80-4800-934f-2c68979d8cc8",
		}}},
		{"media.leonardo.txt2img", "hero", `{"model": "Leonardo Kino XL"}`, subaction.Plan{Request: generate.Request{
			Method: generate.MethodGenerate, Modality: media.ModalityImage, Prompt: "a cat", Model: "leonardo/aa77f04e-3eec-4034-9c07-d0f619684628",
		}}},
		{"media.midjourney.upscale", "prompt_a", `{"images": ["img-7k3m9q2x"], "index": 2}`, subaction.Plan{Images: []string{"img-7k3m9q2x"}, Request: generate.Request{
			Method: generate.MethodEdit, Modality: media.ModalityImage, Prompt: "a cat", Model: "midjourney/midjourney",
			Options: map[string]map[string]any{"midjourney": {"index": ordered.Int(2), "action": "upscale"}},
		}}},
		{"media.openai.edit", "hero", `{"images": ["a", "b"], "mask": "m", "quality": "high"}`, subaction.Plan{Images: []string{"a", "b"}, Mask: "m", Request: generate.Request{
			Method: generate.MethodEdit, Modality: media.ModalityImage, Prompt: "a cat", Quality: "high",
		}}},
	} {
		got, err := plan(t, c.action, c.key, c.params)
		if c.want.Request.Model == "" {
			c.want.Request.Model = got.Request.Model
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s %s: %v %s", c.action, c.key, err, diff)
		}
	}
}

func TestRefusedPlans(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		`{"n": 0}`: "/params/n", `{"n": "two"}`: "/params/n", `{"width": 512}`: "/params/width", `{"size": "1x1", "width": 512, "height": 512}`: "/params/size",
		`{"width": "512", "height": "512"}`: "/params/width", `{"width": true}`: "/params/width", `{"width": -512, "height": 512}`: "/params/width",
		`{"seed": 1.5}`: "/params/seed", `{"negative_prompt": ["x"]}`: "/params/negative_prompt",
	} {
		_, err := plan(t, "media.leonardo.txt2img", "hero", params)
		if found := problem.Of(err); len(found) == 0 || found[0].Pointer != want {
			t.Errorf("%s: %v", params, err)
		}
	}
	p, err := plan(t, "media.leonardo.txt2img", "hero", `{"n": 2.0, "width": 512.0, "height": 5.12e2}`) // integers, as JSON Schema defines them
	if r := p.Request; err != nil || r.N != 2 || r.Size != "512x512" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := plan(t, "media.leonardo.edit", "hero", `{}`); len(problem.Of(err)) != 1 {
		t.Errorf("an edit without a picture: %v", err)
	}
	if _, err := plan(t, "media.leonardo.txt2img", "hero", `{"model": "Midjourney"}`); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("a model of another provider: %v", err)
	}
}

func TestUnknownActions(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]media.Code{
		"media.nobody.txt2img": media.CodeNotFound, "media.leonardo.destroy": media.CodeNotFound, "shell.run": media.CodeNotFound,
		"media.leonardo.upscale": media.CodeUnsupported, "": media.CodeNotFound,
	} {
		if _, err := registry(t).Offer(action, "x"); media.CodeOf(err) != want {
			t.Errorf("%s: %v, want %s", action, err, want)
		}
	}
}

// TestOffers: the parameters that every provider offers for every operation are a valid schema.
func TestOffers(t *testing.T) {
	t.Parallel()
	r, n := registry(t), 0
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range c.Models() {
		for _, operation := range []string{"txt2img", "img2img", "edit", "variation", "upscale"} {
			o, err := r.Offer("media."+m.Provider+"."+operation, m.APIModel)
			if err != nil {
				continue
			}
			n++
			if _, err := conform.Compile(o.Params); err != nil {
				t.Errorf("%s of %s: %v", operation, m.Name, err)
			}
			if o.Params.Object("properties").Has("action") {
				t.Errorf("%s of %s: a parameter chooses another act", operation, m.Name)
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d offers", n)
	}
	offer, err := r.Offer("media.midjourney.txt2img", "prompt_a")
	if err != nil {
		t.Fatal(err)
	}
	keys := offer.Params.Object("properties").Keys()
	for _, name := range []string{"aspect_ratio", "speed", "model", "seed", "negative_prompt"} {
		if !slices.Contains(keys, name) {
			t.Errorf("%s is missing: %v", name, keys)
		}
	}
	for _, name := range []string{"n", "index", "custom_id", "images", "direction"} {
		if slices.Contains(keys, name) {
			t.Errorf("%s is offered for a new picture", name)
		}
	}
}

// TestFreeSizesHaveRatios: a model with sizes in pixels also takes an aspect ratio, and offers it.
func TestFreeSizesHaveRatios(t *testing.T) {
	t.Parallel()
	offer, err := registry(t).Offer("media.leonardo.txt2img", "phoenix_1_0")
	if err != nil {
		t.Fatal(err)
	}
	if keys := offer.Params.Object("properties").Keys(); !slices.Contains(keys, "width") || !slices.Contains(keys, "aspect_ratio") {
		t.Errorf("the parameters are %v", keys)
	}
}

// TestCheck: unknown names are refused whether or not the schema says so.
func TestCheck(t *testing.T) {
	t.Parallel()
	open := object(t, `{"type": "object", "properties": {"n": {"type": "integer", "maximum": 4}}}`)
	for params, want := range map[string]string{`{"n": 2}`: "", `{"n": 5}`: "/params/n", `{"x": 1}`: "/params/x", `{"url": "http://x"}`: "/params/url"} {
		found := problem.Of(subaction.Check(open, object(t, params)))
		if want == "" && len(found) != 0 || want != "" && (len(found) != 1 || found[0].Pointer != want) {
			t.Errorf("%s: %v", params, found)
		}
	}
}

type own struct{}

func (own) Offer(string) (subaction.Offer, error) {
	return subaction.Offer{Provider: "mine"}, nil
}

func (own) Plan(c subaction.Call) (subaction.Plan, error) {
	return subaction.Plan{Mask: c.Prompt}, nil
}

func TestOwnActions(t *testing.T) {
	t.Parallel()
	r := registry(t)
	if err := r.Register("mine.do", own{}); err != nil {
		t.Fatal(err)
	}
	if o, err := r.Offer("mine.do", "k"); err != nil || o.Provider != "mine" {
		t.Errorf("%v, %v", o, err)
	}
	if err := r.Register("mine.do", own{}); media.CodeOf(err) != media.CodeConflict {
		t.Errorf("registered twice: %v", err)
	}
}
