package bfl

import (
	"context"
	"fmt"
	"strings"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
)

var names = post.Names{
	Prompt: "prompt", AspectRatio: "aspect_ratio", Tier: "resolution", Width: "width", Height: "height", Seed: "seed", OutputFormat: "output_format",
}

// request encodes a task for the endpoint. The transport streams pictures from the store as bare base64. Their field is
// image for models with a mask, image_prompt for a variation, else input_image, input_image_2 and so on.
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
	t.Tier = strings.ToLower(t.Tier) // people write it as 1K
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
	return body, body.Options(t, nil)
}
