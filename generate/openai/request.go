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

// owned are the body's fields that options may not set: the Gateway plans them.
var owned = []string{"model", "prompt", "input", "n", "stream", "stream_format", "image", "image[]", "images", "mask"}

// mayNotSet tells the options that are refused. The GPT Image models refuse
// response_format, and OpenAI's speech takes it from the output format; compatible
// services need it to answer with a link or with data.
func (d *Driver) mayNotSet(option string) error {
	if slices.Contains(owned, option) || d.own && option == "response_format" {
		return media.Errorf(media.CodeInvalid, "option %s.%s cannot be set: leave it out", d.endpoint.Provider, option)
	}
	return nil
}

// request chooses the endpoint and writes its body.
func (d *Driver) request(ctx context.Context, t generate.Task) (path string, body any, err error) {
	if t.Model.Modality == media.ModalityAudio {
		body, err = d.speech(t)
		return "/audio/speech", body, err
	}
	fields, err := d.requestBody(t)
	switch {
	case err != nil:
		return "", nil, err
	case t.Method == "" || t.Method == generate.MethodGenerate:
		return "/images/generations", fields, nil
	case t.Method != generate.MethodEdit:
		return "", nil, media.Errorf(media.CodeUnsupported, "%s has no %s here: ask for an edit", d.endpoint.Name, t.Method)
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
				return nil, media.Errorf(media.CodeInvalid, "option %s.%s cannot be written: %w", d.endpoint.Provider, name, err)
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
func (d *Driver) requestBody(t generate.Task) (map[string]any, error) {
	body := map[string]any{"model": t.Model.APIModel, "prompt": t.Prompt, "n": max(t.N, 1)}
	for name, value := range t.Options {
		if err := d.mayNotSet(name); err != nil {
			return nil, err
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
	set("style", t.Style)
	set("negative_prompt", t.NegativePrompt)
	if t.Seed != nil {
		body["seed"] = *t.Seed
	}
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
