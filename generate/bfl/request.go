package bfl

import (
	"context"
	"slices"
	"strconv"

	"atelier/generate"
	"atelier/media"
	"atelier/wire"
)

// optionFields are the fields that options may set; the catalogue says which model
// takes which.
var optionFields = []string{"safety_tolerance", "prompt_upsampling", "steps", "guidance", "raw", "image_prompt_strength"}

// request writes a task in the endpoint's words. Settings that the task leaves open
// are left out, so that the provider's defaults hold.
func (d *Driver) request(ctx context.Context, t generate.Task) (map[string]any, error) {
	if t.N > 1 {
		return nil, media.Errorf(media.CodeUnsupported, "Black Forest Labs makes one picture a task, not %d: make several calls", t.N)
	}
	body := map[string]any{}
	set := func(name, value string) {
		if value != "" {
			body[name] = value
		}
	}
	set("prompt", t.Prompt)
	set("aspect_ratio", t.AspectRatio)
	set("output_format", t.OutputFormat)
	if t.Width > 0 && t.Height > 0 {
		body["width"], body["height"] = t.Width, t.Height
	}
	if t.Seed != nil {
		body["seed"] = *t.Seed
	}
	for name, value := range t.Options {
		if !slices.Contains(optionFields, name) {
			return nil, media.Errorf(media.CodeInvalid, "option bfl.%s is unknown: leave it out", name)
		}
		body[name] = value
	}
	if t.NotifyURL != "" {
		set("webhook_url", t.NotifyURL)
		set("webhook_secret", t.NotifySecret)
	}
	return body, d.addPictures(ctx, t, body)
}

// addPictures names the pictures; the transport streams their bytes from the store as
// bare base64. A model with a mask calls its picture image, a variation image_prompt,
// an edit by words input_image, input_image_2 and so on.
func (d *Driver) addPictures(ctx context.Context, t generate.Task, body map[string]any) error {
	if t.Method == "" || t.Method == generate.MethodGenerate {
		return nil
	}
	scope := media.ScopeOf(ctx).Tree
	token := func(o media.Output) string { return d.codec.Token(scope, o.Blob, wire.VariantStd) }
	masked := t.Model.Mask != "" && t.Model.Mask != "none"
	switch {
	case len(t.Inputs) == 0:
		return media.Errorf(media.CodeInvalid, "%s needs an input picture: name one", t.Method)
	case t.Mask != nil && !masked:
		return media.Errorf(media.CodeUnsupported, "%s takes no mask: use FLUX Fill, or say in the prompt what to change", t.Model.Name)
	case len(t.Inputs) > 1 && (masked || t.Method == generate.MethodVariation):
		return media.Errorf(media.CodeUnsupported, "%s takes one input picture, not %d", t.Model.Name, len(t.Inputs))
	case t.Method == generate.MethodVariation:
		body["image_prompt"] = token(t.Inputs[0])
	case masked:
		body["image"] = token(t.Inputs[0])
		if t.Mask != nil {
			body["mask"] = token(*t.Mask)
		}
	default:
		for i, in := range t.Inputs {
			name := "input_image"
			if i > 0 {
				name += "_" + strconv.Itoa(i+1)
			}
			body[name] = token(in)
		}
	}
	return nil
}
