package midjourney

import (
	"context"

	"atelier/generate"
	"atelier/generate/internal/post"
)

// Notification names the task that a call of the hook is about. Nothing in the call
// is signed, so nothing else of it is believed.
func (d *Driver) Notification(_ context.Context, n generate.Notification) (generate.Update, error) {
	var s jobState
	h, _, err := d.client.Hear(n, post.Webhook{}, &s, func() string { return string(s.ID) })
	return generate.Update{Task: h, Progress: -1}, err
}
