package openai

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/generate/act"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

// owned are the body's fields that options cannot set, because the Gateway plans them.
var owned = []string{"model", "prompt", "input", "n", "stream", "stream_format", "image", "image[]", "images", "mask"}

// planned returns the fields that options cannot set. The GPT Image models reject response_format, and OpenAI's speech
// derives it from the output format; compatible services use it to choose between a link and data.
func (d *Driver) planned() []string {
	if d.own {
		return append(owned, "response_format")
	}
	return owned
}

var names = post.Names{
	Size: "size", Quality: "quality", Style: "style", NegativePrompt: "negative_prompt", Seed: "seed", Background: "background",
	Moderation: "moderation", OutputFormat: "output_format", Compression: "output_compression",
}

// partialFrames is the number of previews to request if previews are enabled.
const partialFrames = 2

// drawn are the formats other than single raster pictures; they have no previews.
var drawn = []string{"gif", "svg"}

// drawable returns nil if the task's format is compatible with its other settings.
func drawable(t driver.Task) error {
	switch {
	case t.OutputFormat == "svg" && t.N > 1:
		return media.Errorf(media.CodeUnsupported, "%s returns one svg per call: request each separately (n 1)", t.Model.Name)
	case t.OutputFormat == "gif" && t.Mask != nil:
		return media.Errorf(media.CodeUnsupported, "%s takes no mask for a gif: choose png, jpeg or webp", t.Model.Name)
	case t.OutputFormat != "gif" && (t.Options["frame_count"] != nil || t.Options["frame_duration_ms"] != nil):
		return media.Errorf(media.CodeInvalid, "frame_count and frame_duration_ms are for output_format gif: set it, or leave them out")
	}
	return nil
}

// Review rejects, during planning, settings that the task's format is incompatible with.
func (d *Driver) Review(t driver.Task) ([]generate.Disposition, error) { return nil, drawable(t) }

// request chooses the endpoint for a picture and builds its body: JSON, or a form for an edit.
func (d *Driver) request(ctx context.Context, t driver.Task) (path string, body any, err error) {
	if err := d.client.Reaches(t, post.Reach{Methods: []generate.Method{generate.MethodEdit}, Mask: true}); err != nil {
		return "", nil, err
	}
	if err := drawable(t); err != nil {
		return "", nil, err
	}
	t = act.Written(t)
	fields := post.Body{"model": t.Model.APIModel, "prompt": t.Prompt, "n": max(t.N, 1)}
	if err := fields.AnyOption(t, d.planned()); err != nil {
		return "", nil, err
	}
	fields.Settings(t, names)
	delete(fields, "partial_images")
	if t.Partial != nil && !slices.Contains(drawn, t.OutputFormat) {
		fields["stream"], fields["partial_images"] = true, partialFrames
	}
	if t.Method != generate.MethodEdit {
		return "/images/generations", fields, nil
	}
	name := "image" // every compatible service accepts this name; some accept no list
	if len(t.Inputs) > 1 {
		name = "image[]"
	}
	var files []post.File
	for _, in := range t.Inputs {
		files = append(files, post.File{Name: name, Blob: in.Blob})
	}
	if t.Mask != nil {
		files = append(files, post.File{Name: "mask", Blob: t.Mask.Blob})
	}
	form, err := d.client.Form(ctx, fields, files...)
	return "/images/edits", form, err
}

// defaultVoice is used if neither the task nor the model's row names a voice, which the endpoint requires.
const defaultVoice = "alloy"

func (d *Driver) speech(t driver.Task) (post.Body, error) {
	if err := d.client.Reaches(t, post.Reach{N: 1}); err != nil {
		return nil, err
	}
	body := post.Body{"model": t.Model.APIModel, "input": t.Prompt}
	if err := body.AnyOption(t, d.planned()); err != nil {
		return nil, err
	}
	body["voice"] = cmp.Or(t.Voice, t.Model.Voice(), defaultVoice)
	body.Set("response_format", t.OutputFormat)
	body.Set("speed", t.Speed)
	return body, nil
}

// xaiNames are the setting names of xAI's endpoints, which reject sizes in pixels.
var xaiNames = post.Names{AspectRatio: "aspect_ratio", Tier: "resolution", Quality: "quality"}

// xaiRequest encodes a task in xAI's dialect: ratios and resolutions, and edits in JSON with pictures as data URLs. It
// requests pictures as data, because xAI's links expire.
func (d *Driver) xaiRequest(ctx context.Context, t driver.Task) (path string, body any, err error) {
	if err := d.client.Reaches(t, post.Reach{Methods: []generate.Method{generate.MethodEdit}}); err != nil {
		return "", nil, err
	}
	fields := post.Body{"model": t.Model.APIModel, "prompt": t.Prompt, "n": max(t.N, 1), "response_format": "b64_json"}
	if err := fields.AnyOption(t, append(owned, "response_format", "aspect_ratio", "resolution")); err != nil {
		return "", nil, err
	}
	t.Tier = strings.ToLower(t.Tier) // people write it as 1K
	fields.Settings(t, xaiNames)
	var pictures []any
	for _, in := range t.Inputs {
		pictures = append(pictures, map[string]any{"type": "image_url", "url": d.client.DataURL(ctx, in.Blob)})
	}
	switch len(pictures) {
	case 0:
		return "/images/generations", fields, nil
	case 1:
		fields["image"] = pictures[0]
	default:
		fields["images"] = pictures
	}
	return "/images/edits", fields, nil
}
