// Package bfl is the driver for the FLUX models of Black Forest Labs: generation,
// edits by words, edits with a mask (Fill) and variations of a picture (Redux).
//
// Every call makes a task of one picture: POST /v1/<model>, then GET of the polling URL that the answer names, then a
// link that lives for ten minutes. The polling URL is on another host of the cluster; the key goes there only if that
// host is of bfl.ai (over https) or the configured base. A task without a usable polling URL, as with webhooks, is
// asked for at the base. Tasks cannot be cancelled.
//
// What is safe to repeat, so Retryable: a request that never left, 429, and 500 or 503 with the API's own error,
// because no task was made. What is not: a connection lost after the request was sent, an answer cut in the middle, a
// page of a proxy. The price of a task is named when it is made, in cents with the noise of floating point, which is
// rounded away.
//
// Webhooks are signed: X-BFL-Signature is the HMAC-SHA256 of the body with the secret
// that went out with the task. A driver without that secret believes no call.
//
// Errors are media.Error values: unauthorized (a bad key is status 403 here), quota_exceeded, not_found (model or
// task), rate_limited, invalid, unavailable, bad_response. It may import generate, media and wire; no other driver.
package bfl

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
	"atelier/media/wire"
)

// defaultBaseURL is the global origin; it passes tasks on to a region.
const defaultBaseURL = "https://api.bfl.ai"

// Config sets up a [Driver].
type Config struct {
	// APIKey is the key, BFL_API_KEY; without one the driver is not ready.
	APIKey string
	// BaseURL is the API's origin, BFL_BASE_URL; default https://api.bfl.ai.
	BaseURL string
	// NotifySecret is what calls of the webhook are signed with: the same as
	// driver.Task.NotifySecret of the tasks. Without it no call is believed.
	NotifySecret string
	// Codec puts pictures into requests; required.
	Codec *wire.Codec
	// Base carries the calls; default guarded connections.
	Base http.RoundTripper
}

// Driver makes and edits images with FLUX models. It is safe for concurrent use.
type Driver struct {
	client  *post.Client
	webhook post.Webhook
}

var _ driver.Notified = (*Driver)(nil)

// New makes a driver. Its error has code media.CodeInvalid and names the setting.
// A missing key is no error here; [Driver.Ready] tells.
func New(c Config) (*Driver, error) {
	client, err := post.New(post.Config{
		Name:    "Black Forest Labs",
		BaseURL: cmp.Or(c.BaseURL, defaultBaseURL), BaseVariable: "BFL_BASE_URL", Version: "/v1",
		Key: c.APIKey, KeyVariable: "BFL_API_KEY", Header: http.Header{"X-Key": {c.APIKey}},
		Secrets: []string{c.NotifySecret}, Codec: c.Codec, Base: c.Base,
		Explain: explain, States: map[string]post.State{"Ready": post.Finished, "Error": post.Broken, "Failed": post.Broken},
		Codes: map[int]media.Code{http.StatusForbidden: media.CodeUnauthorized},
		Advice: map[media.Code]string{
			media.CodeUnauthorized:  "check BFL_API_KEY (dashboard.bfl.ai, API keys)",
			media.CodeQuotaExceeded: "add credit at dashboard.bfl.ai",
		},
	})
	return &Driver{client: client, webhook: post.Webhook{Secret: c.NotifySecret, Genuine: post.Signed("X-Bfl-Signature")}}, err
}

// Provider is "bfl".
func (d *Driver) Provider() string { return "bfl" }

// Ready is nil if there is a key.
func (d *Driver) Ready() error { return d.client.Ready() }

// Start makes a task and returns its handle, with the price that the provider names.
func (d *Driver) Start(ctx context.Context, t driver.Task) (driver.Update, error) {
	body, err := d.request(ctx, t)
	if err != nil {
		return driver.Update{}, err
	}
	var got accepted
	return d.client.Do(ctx, post.Call{
		Path: "/v1/" + url.PathEscape(t.Model.APIModel), Body: body, Of: "the model " + t.Model.APIModel, Task: t, Into: &got,
		Read: func(*post.Answer) (driver.Update, error) { return d.submitted(got) },
	})
}

// Poll asks for the state of a task. A task that the provider refused or that failed
// is done, with an error for its picture.
func (d *Driver) Poll(ctx context.Context, _ driver.Task, h driver.Handle) (driver.Update, error) {
	var got result
	return d.client.Do(ctx, post.Call{
		Path: d.address(h), Of: "the task " + d.client.Clean(h.ID), Into: &got,
		Read: func(*post.Answer) (driver.Update, error) { return d.update(h, got) },
	})
}

// Cancel is media.CodeUnsupported: the provider has no way to stop a task.
func (d *Driver) Cancel(context.Context, driver.Handle) error {
	return media.Errorf(media.CodeUnsupported, "Black Forest Labs has no way to stop a task")
}

// address is where a task is asked for: where the provider said, if the key may go there, else the base.
func (d *Driver) address(h driver.Handle) string {
	if u, err := url.Parse(h.URL); err == nil && d.trusts(u) {
		return u.String()
	}
	return "/v1/get_result?id=" + url.QueryEscape(h.ID)
}

// trusts reports whether the key may go to a host: that of the configured base, or one
// of the provider's own over https.
func (d *Driver) trusts(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	return d.client.Owns(u) || u.User == nil && u.Scheme == "https" && (u.Port() == "" || u.Port() == "443") && (host == "bfl.ai" || strings.HasSuffix(host, ".bfl.ai"))
}

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
