package openai

import (
	"context"
	"fmt"

	"atelier/generate"
	"atelier/generate/internal/post"
)

// owned are the body's fields that options may not set: the Gateway plans them.
var owned = []string{"model", "prompt", "input", "n", "stream", "stream_format", "image", "image[]", "images", "mask"}

// planned lists the fields that options may not set. The GPT Image models refuse
// response_format, and OpenAI's speech takes it from the output format; compatible
// services need it to answer with a link or with data.
func (d *Driver) planned() []string {
	if d.own {
		return append(owned, "response_format")
	}
	return owned
}

// partialFrames is how many previews are asked for where somebody wants them.
const partialFrames = 2

// request chooses the endpoint of a picture and writes its body.
func (d *Driver) request(ctx context.Context, t generate.Task) (path string, body any, err error) {
	if err := d.client.Reaches(t, post.Reach{Methods: []generate.Method{generate.MethodEdit}, Mask: true}); err != nil {
		return "", nil, err
	}
	fields := post.Body{"model": t.Model.APIModel, "prompt": t.Prompt, "n": max(t.N, 1)}
	if err := fields.AnyOption(t, d.planned()); err != nil {
		return "", nil, err
	}
	if t.Width > 0 && t.Height > 0 {
		fields["size"] = fmt.Sprintf("%dx%d", t.Width, t.Height)
	}
	fields.Set("quality", t.Quality)
	fields.Set("style", t.Style)
	fields.Set("negative_prompt", t.NegativePrompt)
	fields.Set("seed", t.Seed)
	fields.Set("background", t.Background)
	fields.Set("moderation", t.Moderation)
	fields.Set("output_format", t.OutputFormat)
	fields.Set("output_compression", t.Compression)
	delete(fields, "partial_images")
	if t.Partial != nil {
		fields["stream"], fields["partial_images"] = true, partialFrames
	}
	if t.Method != generate.MethodEdit {
		return "/images/generations", fields, nil
	}
	form, err := d.form(ctx, t, fields)
	return "/images/edits", form, err
}

// form writes an edit as multipart/form-data: the fields, then the pictures, which the
// transport streams from the store. The endpoint sniffs nothing: every file has a name
// and a type.
func (d *Driver) form(ctx context.Context, t generate.Task, fields post.Body) (*post.Form, error) {
	f := &post.Form{}
	if err := f.Fields(fields); err != nil {
		return nil, err
	}
	for _, in := range t.Inputs {
		d.client.File(ctx, f, "image[]", in.Blob)
	}
	if t.Mask != nil {
		d.client.File(ctx, f, "mask", t.Mask.Blob)
	}
	return f, nil
}
