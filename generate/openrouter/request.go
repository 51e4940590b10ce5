package openrouter

import (
	"context"
	"slices"

	"atelier/generate"
	"atelier/media"
	"atelier/wire"
)

// part is one piece of the person's message.
type part struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
}

// imageURL is a link or a data URL; the data is a token on both ways.
type imageURL struct {
	URL string `json:"url"`
}

// owned are the body's fields that options may not set: the Gateway plans them.
var owned = []string{"model", "models", "messages", "modalities", "n", "stream", "image_config", "seed"}

// request writes a task in the endpoint's words. Settings that the task leaves open are
// left out, so that the provider's defaults hold.
func (d *Driver) request(ctx context.Context, t generate.Task) (map[string]any, error) {
	content, err := d.content(ctx, t)
	if err != nil {
		return nil, err
	}
	body := map[string]any{}
	for name, value := range t.Options {
		if slices.Contains(owned, name) {
			return nil, media.Errorf(media.CodeInvalid, "option openrouter.%s cannot be set: leave it out", name)
		}
		body[name] = value
	}
	body["model"] = t.Model.APIModel
	body["modalities"] = []string{"image", "text"}
	body["messages"] = []any{map[string]any{"role": "user", "content": content}}
	image := map[string]any{}
	if t.AspectRatio != "" {
		image["aspect_ratio"] = t.AspectRatio
	}
	if t.Tier != "" {
		image["image_size"] = t.Tier
	}
	if len(image) > 0 {
		body["image_config"] = image
	}
	if t.Seed != nil {
		body["seed"] = *t.Seed
	}
	return body, nil
}

// content is the prompt, or the pictures of an edit before it; the transport streams
// their bytes from the store.
func (d *Driver) content(ctx context.Context, t generate.Task) (any, error) {
	edit := t.Method == generate.MethodEdit
	switch {
	case t.N > 1:
		return nil, media.Errorf(media.CodeUnsupported, "OpenRouter makes one picture a call, not %d: make several calls", t.N)
	case t.Method != "" && t.Method != generate.MethodGenerate && !edit:
		return nil, media.Errorf(media.CodeUnsupported, "OpenRouter has no %s: ask for an edit", t.Method)
	case edit && len(t.Inputs) == 0:
		return nil, media.Errorf(media.CodeInvalid, "an edit needs an input picture: name one")
	case t.Mask != nil:
		return nil, media.Errorf(media.CodeUnsupported, "OpenRouter takes no mask: say in the prompt what to change")
	case !edit:
		return t.Prompt, nil
	}
	scope := media.ScopeOf(ctx).Tree
	parts := make([]part, 0, len(t.Inputs)+1)
	for _, in := range t.Inputs {
		data := "data:" + in.MIMEType + ";base64," + d.codec.Token(scope, in.Blob, wire.VariantStd)
		parts = append(parts, part{Type: "image_url", ImageURL: &imageURL{URL: data}})
	}
	return append(parts, part{Type: "text", Text: t.Prompt}), nil
}
