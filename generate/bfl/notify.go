package bfl

import (
	"context"
	"encoding/json"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// signatureHeader carries "sha256=" and the HMAC of the body in hexadecimal.
const signatureHeader = "X-Bfl-Signature"

// Notification reads a call of the webhook. With a secret a call without its
// signature is refused; without one the call names the task and no more is believed.
func (d *Driver) Notification(_ context.Context, n generate.Notification) (generate.Update, error) {
	if d.secret != "" && !post.Signed(n, signatureHeader, d.secret) {
		return generate.Update{}, media.Errorf(media.CodeUnauthorized, "a webhook call in the name of Black Forest Labs is not signed with the secret of its task")
	}
	var got result
	if err := json.Unmarshal(n.Body, &got); err != nil || got.ID == "" {
		return generate.Update{}, media.Errorf(media.CodeInvalid, "a webhook call in the name of Black Forest Labs is not JSON that names a task")
	}
	h := generate.Handle{ID: got.ID}
	if d.secret == "" {
		return generate.Update{Task: h, Progress: -1}, nil
	}
	return d.update(h, got)
}
