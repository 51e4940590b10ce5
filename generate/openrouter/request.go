package openrouter

import (
	"context"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
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

// request writes a task in the endpoint's words: the prompt, or the pictures of an edit
// before it, whose bytes the transport streams from the store.
func (d *Driver) request(ctx context.Context, t driver.Task) (post.Body, error) {
	if err := d.client.Reaches(t, post.Reach{N: 1, Methods: []generate.Method{generate.MethodEdit}}); err != nil {
		return nil, err
	}
	var content any = t.Prompt
	if len(t.Inputs) > 0 {
		var parts []part
		for _, in := range t.Inputs {
			parts = append(parts, part{Type: "image_url", ImageURL: &imageURL{URL: d.client.DataURL(ctx, in.Blob)}})
		}
		content = append(parts, part{Type: "text", Text: t.Prompt})
	}
	body := post.Body{
		"model": t.Model.APIModel, "modalities": []string{"image", "text"},
		"messages": []any{map[string]any{"role": "user", "content": content}},
	}
	image := post.Body{}
	image.Settings(t, post.Names{AspectRatio: "aspect_ratio", Tier: "image_size"})
	body.Set("image_config", image)
	body.Set("seed", t.Seed)
	return body, body.AnyOption(t, owned)
}
