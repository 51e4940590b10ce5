package subaction

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"atelier/generate"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
)

// Plan returns the Gateway request. Parameters named like a field of the request set that field; all others become
// options of the provider. An option in the model's catalogue row takes precedence over a field of the same name.
func (p provided) Plan(c Call) (Plan, error) {
	m, err := p.model(c.Key, c.Params.Text("model"))
	if err != nil {
		return Plan{}, err
	}
	b := &builder{plan: Plan{Request: generate.Request{Method: p.method(), Modality: m.Modality, Prompt: c.Prompt, Model: m.Provider + "/" + m.APIModel}}, options: map[string]any{}}
	for name, v := range c.Params.All() {
		switch {
		case name == "model" || v == nil:
		case slices.Contains(m.Options, name) || !b.set(name, v):
			b.options[name] = ordered.Plain(v)
		}
	}
	if b.width != nil || b.height != nil {
		b.size()
	}
	if p.operation == "upscale" {
		b.options["action"] = p.operation
	}
	if p.operation != "txt2img" && len(b.plan.Images) == 0 {
		b.fail("images", "%s requires a picture", p.operation)
	}
	if len(b.options) > 0 {
		b.plan.Request.Options = map[string]map[string]any{p.provider: b.options}
	}
	return b.plan, b.Err()
}

// builder builds one plan.
type builder struct {
	plan          Plan
	options       map[string]any
	width, height any // nil if not given
	problem.List
}

func (b *builder) fail(name, format string, args ...any) {
	b.Fail(ordered.Pointer("params", name), format, args...)
}

// set sets a field of the request. It returns false if name is not a field.
func (b *builder) set(name string, v any) bool {
	r := &b.plan.Request
	texts := map[string]*string{
		"negative_prompt": &r.NegativePrompt, "size": &r.Size, "aspect_ratio": &r.AspectRatio, "quality": &r.Quality, "style": &r.Style,
		"background": &r.Background, "output_format": &r.OutputFormat, "moderation": &r.Moderation, "voice": &r.Voice, "mask": &b.plan.Mask,
	}
	if to, ok := texts[name]; ok {
		s, isText := v.(string)
		if !isText {
			b.fail(name, "%s must be a string", name)
		}
		*to = s
		return true
	}
	switch name {
	case "images":
		b.images(v)
	case "width":
		b.width = v
	case "height":
		b.height = v
	case "n", "num_images":
		r.N = int(b.whole(name, v))
		if r.N < 1 || r.N > 100 {
			b.fail(name, "%s must be 1 to 100", name)
		}
	case "seed":
		seed := b.whole(name, v)
		r.Seed = &seed
	case "compression":
		c := int(b.whole(name, v))
		r.Compression = &c
	default:
		return false
	}
	return true
}

func (b *builder) whole(name string, v any) int64 {
	i, ok := integer(v)
	if !ok {
		b.fail(name, "%s must be an integer", name)
	}
	return i
}

// integer reads a number without a fraction, such as 4 or 4.0.
func integer(v any) (int64, bool) {
	n, _ := v.(json.Number)
	if i, err := n.Int64(); err == nil {
		return i, true
	}
	f, err := n.Float64()
	return int64(f), err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53
}

func (b *builder) images(v any) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, e := range list {
		s, isText := e.(string)
		if !isText || s == "" {
			b.fail("images", "images must be ids or refs of pictures")
			return
		}
		b.plan.Images = append(b.plan.Images, s)
	}
}

func (b *builder) size() {
	w, ok := integer(b.width)
	h, both := integer(b.height)
	switch {
	case !ok || !both || w < 1 || h < 1:
		b.fail("width", "give width and height, both as a whole number of pixels")
	case b.plan.Request.Size != "":
		b.fail("size", "give size, or width and height")
	default:
		b.plan.Request.Size = fmt.Sprintf("%dx%d", w, h)
	}
}
