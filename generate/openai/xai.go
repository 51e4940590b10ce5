package openai

import (
	"context"
	"strings"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
)

// xaiNames are what xAI's endpoints call the settings. They refuse sizes in pixels.
var xaiNames = post.Names{AspectRatio: "aspect_ratio", Tier: "resolution"}

// xaiRequest writes a task in xAI's dialect: ratios and resolutions, and edits in JSON with
// their pictures as data URLs. Pictures are asked for as data, because links of xAI end.
func (d *Driver) xaiRequest(ctx context.Context, t driver.Task) (path string, body any, err error) {
	if err := d.client.Reaches(t, post.Reach{Methods: []generate.Method{generate.MethodEdit}}); err != nil {
		return "", nil, err
	}
	fields := post.Body{"model": t.Model.APIModel, "prompt": t.Prompt, "n": max(t.N, 1), "response_format": "b64_json"}
	if err := fields.AnyOption(t, append(owned, "response_format", "aspect_ratio", "resolution")); err != nil {
		return "", nil, err
	}
	t.Tier = strings.ToLower(t.Tier) // as people write it: 1K
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
