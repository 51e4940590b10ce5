package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
	"atelier/wire"
)

// owned are the body's fields that options may not set: the Gateway plans them,
// or the GPT Image models refuse them.
var owned = []string{"model", "prompt", "n", "stream", "response_format", "image", "image[]", "images", "mask"}

// request chooses the endpoint and writes its body.
func (d *Driver) request(ctx context.Context, t generate.Task) (path string, body any, err error) {
	fields, err := requestBody(t)
	switch {
	case err != nil:
		return "", nil, err
	case t.Method == "" || t.Method == generate.MethodGenerate:
		return "/images/generations", fields, nil
	case t.Method != generate.MethodEdit:
		return "", nil, media.Errorf(media.CodeUnsupported, "OpenAI's models have no %s: ask for an edit", t.Method)
	case len(t.Inputs) == 0:
		return "", nil, media.Errorf(media.CodeInvalid, "an edit needs an input picture: name one")
	}
	form, err := d.form(ctx, t, fields)
	return "/images/edits", form, err
}

// form writes an edit as multipart/form-data: the fields, then the pictures, which the
// transport streams from the store. The endpoint sniffs nothing: every file has a name
// and a type.
func (d *Driver) form(ctx context.Context, t generate.Task, fields map[string]any) (*post.Form, error) {
	scope := media.ScopeOf(ctx).Tree
	f := &post.Form{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text, isText := fields[name].(string)
		if !isText {
			b, err := json.Marshal(fields[name])
			if err != nil {
				return nil, media.Errorf(media.CodeInvalid, "option openai.%s cannot be written: %w", name, err)
			}
			text = string(b)
		}
		f.Set(name, text)
	}
	for _, in := range t.Inputs {
		f.File("image[]", in.Blob, d.codec.Marker(scope, in.Blob, wire.VariantStd))
	}
	if t.Mask != nil {
		f.File("mask", t.Mask.Blob, d.codec.Marker(scope, t.Mask.Blob, wire.VariantStd))
	}
	return f, nil
}

// partialFrames is how many previews are asked for where somebody wants them.
const partialFrames = 2

// requestBody writes a task in the endpoint's words. Settings that the task leaves
// open are left out, so that the provider's defaults hold.
func requestBody(t generate.Task) (map[string]any, error) {
	body := map[string]any{"model": t.Model.APIModel, "prompt": t.Prompt, "n": max(t.N, 1)}
	for name, value := range t.Options {
		if slices.Contains(owned, name) {
			return nil, media.Errorf(media.CodeInvalid, "option openai.%s cannot be set: leave it out", name)
		}
		body[name] = value
	}
	set := func(name, value string) {
		if value != "" {
			body[name] = value
		}
	}
	if t.Width > 0 && t.Height > 0 {
		body["size"] = fmt.Sprintf("%dx%d", t.Width, t.Height)
	}
	set("quality", t.Quality)
	set("background", t.Background)
	set("moderation", t.Moderation)
	set("output_format", t.OutputFormat)
	if t.Compression != nil {
		body["output_compression"] = *t.Compression
	}
	delete(body, "partial_images")
	if t.Partial != nil {
		body["stream"], body["partial_images"] = true, partialFrames
	}
	return body, nil
}
