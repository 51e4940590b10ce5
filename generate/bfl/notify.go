package bfl

import (
	"context"

	"atelier/generate/driver"
)

// Notification reads a call of the webhook. With a secret a call without its
// signature is refused; without one the call names the task and no more is believed.
func (d *Driver) Notification(_ context.Context, n driver.Notification) (driver.Update, error) {
	var got result
	h, believed, err := d.client.Hear(n, d.webhook, &got, func() string { return got.ID })
	if err != nil || !believed {
		return driver.Update{Task: h, Progress: -1}, err
	}
	return d.update(h, got)
}
