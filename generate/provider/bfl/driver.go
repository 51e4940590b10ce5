// Package bfl is the driver for the FLUX models of Black Forest Labs: generation, edits by prompt, edits with a mask
// (Fill) and variations of a picture (Redux).
//
// Every call creates a task of one picture: POST /v1/<model>, then GET of the polling URL in the answer, then a link
// that expires after ten minutes. The polling URL is on another host of the cluster; the key is only sent there if that
// host belongs to bfl.ai (over https) or is the configured base. A task without a usable polling URL, as with webhooks,
// is polled at the base, which may not know it. Tasks cannot be cancelled.
//
// Safe to repeat, and therefore Retryable: a request that was never sent, 429, and 503 with the API's own error,
// because no task was created. Not safe: 500, a connection lost after the request was sent, a truncated answer, a page
// of a proxy. The price of a task is reported when it is created, in cents with floating-point noise, which is rounded
// away.
//
// Webhooks are signed: X-BFL-Signature is the HMAC-SHA256 of the body with the secret that was sent with the task. A
// driver without that secret trusts no call.
//
// Errors are media.Error values: unauthorized (a bad key is status 403 here), quota_exceeded, not_found (model or
// task), rate_limited, invalid, unavailable, bad_response. It may import generate, internal/patience, media and wire; no other
// driver.
package bfl

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

// Config sets up a [Driver]: the key is BFL_API_KEY, the address BFL_BASE_URL.
type Config = driver.Config

// Driver generates and edits images with FLUX models. It is safe for concurrent use.
type Driver struct {
	post.Identity
	client *post.Client
}

var _ driver.Notified = (*Driver)(nil)

// New creates a driver. Its error has code media.CodeInvalid and names the setting. A missing key is not an error here;
// [Driver.Ready] reports it.
func New(c Config) (*Driver, error) {
	client, err := post.New(post.Config{
		Config: c, Provider: "bfl", Name: "Black Forest Labs",
		PublicURL: "https://api.bfl.ai", BaseVariable: "BFL_BASE_URL", Version: "/v1", // it forwards tasks to a region
		KeyVariable: "BFL_API_KEY", Header: http.Header{"X-Key": {c.APIKey}}, Genuine: post.Signed("X-Bfl-Signature"),
		Explain: explain, States: map[string]post.State{"Ready": post.Finished, "Error": post.Broken, "Failed": post.Broken},
		Codes: map[int]media.Code{http.StatusForbidden: media.CodeUnauthorized},
		Advice: map[media.Code]string{
			media.CodeUnauthorized:  "check BFL_API_KEY (dashboard.bfl.ai, API keys)",
			media.CodeQuotaExceeded: "add credit at dashboard.bfl.ai",
		},
	})
	return &Driver{Identity: client, client: client}, err
}

// Start creates a task and returns its handle, with the price that the provider reports.
func (d *Driver) Start(ctx context.Context, t driver.Task) (driver.Update, error) {
	body, err := d.request(ctx, t)
	if err != nil {
		return driver.Update{}, err
	}
	var got accepted
	return d.client.Do(ctx, post.Call{
		Path: "/v1/" + url.PathEscape(t.Model.APIModel), Body: body, Of: "the model " + t.Model.APIModel, Task: t, Into: &got,
		Read: func(*post.Answer) (driver.Update, error) {
			u, err := d.client.Accepted(driver.Handle{ID: got.ID, URL: got.PollingURL}, post.Price{Cents: string(got.Cost)})
			u.Metadata = d.client.Metadata(map[string]any{"input_mp": got.InputMP, "output_mp": got.OutputMP})
			return u, err
		},
	})
}

// Poll returns the state of a task. A task that was refused or failed is done, with an error for its picture. A task
// with a webhook and no polling URL may be in a region that the base does not know: it is then unavailable, not lost.
func (d *Driver) Poll(ctx context.Context, t driver.Task, h driver.Handle) (driver.Update, error) {
	path := "/v1/get_result?id=" + url.QueryEscape(h.ID)
	if u, err := url.Parse(h.URL); err == nil {
		// The key may be sent to the configured base, and to the provider's own hosts over https.
		host := strings.ToLower(u.Hostname())
		if d.client.Owns(u) || u.User == nil && u.Scheme == "https" && (u.Port() == "" || u.Port() == "443") && (host == "bfl.ai" || strings.HasSuffix(host, ".bfl.ai")) {
			path = u.String()
		}
	}
	var got result
	u, err := d.client.Do(ctx, post.Call{
		Path: path, Of: "the task " + d.client.Clean(h.ID), Into: &got,
		Read: func(*post.Answer) (driver.Update, error) { return d.update(h, got) },
	})
	if h.URL == "" && t.NotifyURL != "" && media.CodeOf(err) == media.CodeNotFound {
		err = media.Errorf(media.CodeUnavailable, "%s does not know the task %s at the configured address: its webhook returns the picture", d.client.Name, d.client.Clean(h.ID))
	}
	return u, err
}

// Cancel returns media.CodeUnsupported: the provider cannot stop a task.
func (d *Driver) Cancel(context.Context, driver.Handle) error {
	return media.Errorf(media.CodeUnsupported, "Black Forest Labs has no way to stop a task")
}

// Notification decodes a webhook call. With a secret, a call without its signature is rejected; without one, only the
// task's id is used.
func (d *Driver) Notification(_ context.Context, n driver.Notification) (driver.Update, error) {
	var got result
	h, believed, err := d.client.DecodeWebhook(n, &got, func() string { return got.ID })
	if err != nil || !believed {
		return driver.Update{Task: h, Progress: -1}, err
	}
	return d.update(h, got)
}
