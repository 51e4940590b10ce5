package leonardo

import (
	"context"
	"encoding/json"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// Notification reads a call of the webhook. With a webhook key a call without that
// bearer is refused; without one the call names the generation and no more is believed.
func (d *Driver) Notification(_ context.Context, n generate.Notification) (generate.Update, error) {
	if d.webhook != "" && !post.Bearer(n, d.webhook) {
		return generate.Update{}, media.Errorf(media.CodeUnauthorized, "a webhook call in the name of Leonardo does not carry the key of LEONARDO_WEBHOOK_KEY")
	}
	var got struct {
		Type string `json:"type"`
		Data struct {
			Object generation `json:"object"`
		} `json:"data"`
	}
	g := &got.Data.Object
	if json.Unmarshal(n.Body, &got) != nil || g.ID == "" {
		return generate.Update{}, media.Errorf(media.CodeInvalid, "a webhook call in the name of Leonardo is not JSON that names a generation")
	}
	h := generate.Handle{ID: g.ID}
	if d.webhook == "" || got.Type != "image_generation.complete" {
		return generate.Update{Task: h, Progress: -1}, nil
	}
	return d.update(generate.Task{}, h, g), nil
}
