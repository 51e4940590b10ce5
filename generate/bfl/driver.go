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

// address is where a task is asked for: where the provider said, if the key may go
// there, else the base.
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
