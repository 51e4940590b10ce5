package leonardo

import (
	"context"

	"atelier/generate/driver"
)

// Notification reads a call of the webhook. With a webhook key a call without that
// bearer is refused; without one the call names the generation and no more is believed.
func (d *Driver) Notification(_ context.Context, n driver.Notification) (driver.Update, error) {
	var got struct {
		Type string `json:"type"`
		Data struct {
			Object generation `json:"object"`
		} `json:"data"`
	}
	g := &got.Data.Object
	h, believed, err := d.client.Hear(n, d.webhook, &got, func() string { return g.ID })
	if err != nil || !believed || got.Type != "image_generation.complete" {
		return driver.Update{Task: h, Progress: -1}, err
	}
	return d.update(driver.Task{}, h, g), nil
}
