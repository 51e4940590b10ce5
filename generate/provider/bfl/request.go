package bfl

import (
	"context"
	"fmt"
	"strings"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
)

// optionFields are the fields that options set; the catalogue says which model takes which.
var optionFields = map[string]string{
	"safety_tolerance": "safety_tolerance", "prompt_upsampling": "prompt_upsampling", "steps": "steps",
	"guidance": "guidance", "raw": "raw", "grounding": "grounding", "image_prompt_strength": "image_prompt_strength",
}

var names = post.Names{
	Prompt: "prompt", AspectRatio: "aspect_ratio", Tier: "resolution", Width: "width", Height: "height", Seed: "seed", OutputFormat: "output_format",
}

// request writes a task in the endpoint's words. The transport streams pictures from the store as bare base64. A model
// with a mask calls its picture image, a variation image_prompt, an edit by words input_image, input_image_2 and so on.
func (d *Driver) request(ctx context.Context, t driver.Task) (post.Body, error) {
	varied := t.Method == generate.MethodVariation
	masked := t.Model.Mask != "" && t.Model.Mask != "none"
	reach := post.Reach{N: 1, Methods: []generate.Method{generate.MethodEdit, generate.MethodVariation}, Mask: masked}
	if varied || masked {
		reach.Inputs = 1
	}
	if err := d.client.Reaches(t, reach); err != nil {
		return nil, err
	}
	body := post.Body{}
	t.Tier = strings.ToLower(t.Tier) // as people write it: 1K
	body.Settings(t, names)
	if t.NotifyURL != "" {
		body.Set("webhook_url", t.NotifyURL)
		body.Set("webhook_secret", t.NotifySecret)
	}
	for i, in := range t.Inputs {
		name := "input_image"
		switch {
		case varied:
			name = "image_prompt"
		case masked:
			name = "image"
		case i > 0:
			name = fmt.Sprintf("input_image_%d", i+1)
		}
		body[name] = d.client.Token(ctx, in.Blob)
	}
	if t.Mask != nil {
		body["mask"] = d.client.Token(ctx, t.Mask.Blob)
	}
	return body, body.Options(t, optionFields)
}
