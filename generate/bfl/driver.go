package bfl

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
	"atelier/wire"
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
	// generate.Task.NotifySecret of the tasks. Without it no call is believed.
	NotifySecret string
	// Codec puts pictures into requests; required.
	Codec *wire.Codec
	// Base carries the calls; default http.DefaultTransport.
	Base http.RoundTripper
}

// Driver makes and edits images with FLUX models. It is safe for concurrent use.
type Driver struct {
	client  *post.Client
	codec   *wire.Codec
	key     string
	secret  string
	baseURL string
	origin  *url.URL
}

var _ generate.Notified = (*Driver)(nil)

// New makes a driver. Its error has code media.CodeInvalid and names the setting.
// A missing key is no error here; [Driver.Ready] tells.
func New(c Config) (*Driver, error) {
	if c.Codec == nil {
		return nil, media.Errorf(media.CodeInvalid, "bfl.Config.Codec is not set")
	}
	if c.BaseURL == "" {
		c.BaseURL = defaultBaseURL
	}
	base := strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), "/v1")
	origin, err := url.Parse(base)
	if err != nil || origin.Host == "" || origin.Scheme != "https" && origin.Scheme != "http" {
		return nil, media.Errorf(media.CodeInvalid, "BFL_BASE_URL must be an origin that begins with https:// or http://")
	}
	if c.Base == nil {
		c.Base = http.DefaultTransport
	}
	return &Driver{
		client: &post.Client{
			Name: "Black Forest Labs", BaseVariable: "BFL_BASE_URL", Secret: c.APIKey,
			Transport: c.Codec.Transport(c.Base, wire.Fields{}),
		},
		codec: c.Codec, key: c.APIKey, secret: c.NotifySecret, baseURL: base, origin: origin,
	}, nil
}

// Provider is "bfl".
func (d *Driver) Provider() string { return "bfl" }

// Ready is nil if there is a key.
func (d *Driver) Ready() error {
	if d.key == "" {
		return media.Errorf(media.CodeMissingKey, "no key for Black Forest Labs: set BFL_API_KEY")
	}
	return nil
}

// Start makes a task and returns its handle, with the price that the provider names.
func (d *Driver) Start(ctx context.Context, t generate.Task) (generate.Update, error) {
	if err := d.Ready(); err != nil {
		return generate.Update{}, err
	}
	body, err := d.request(ctx, t)
	if err != nil {
		return generate.Update{}, err
	}
	a, err := d.client.Send(ctx, d.baseURL+"/v1/"+url.PathEscape(t.Model.APIModel), d.header(), body)
	if err != nil {
		return generate.Update{}, err
	}
	if a.Status != http.StatusOK {
		return generate.Update{}, d.refused(ctx, a, "the model "+t.Model.APIModel)
	}
	return d.submitted(ctx, a)
}

// Poll asks for the state of a task. A task that the provider refused or that failed
// is done, with an error for its picture.
func (d *Driver) Poll(ctx context.Context, _ generate.Task, h generate.Handle) (generate.Update, error) {
	if err := d.Ready(); err != nil {
		return generate.Update{}, err
	}
	a, err := d.client.Get(ctx, d.address(h), d.header())
	if err != nil {
		return generate.Update{}, err
	}
	if a.Status != http.StatusOK {
		return generate.Update{}, d.refused(ctx, a, "the task "+d.client.Clean(h.ID))
	}
	var got result
	if err := d.client.Decode(a, &got); err != nil {
		return generate.Update{}, err
	}
	if a.Cut() {
		return generate.Update{}, media.Errorf(media.CodeUnavailable, "Black Forest Labs told half of the task's state: it is asked again")
	}
	return d.update(h, got)
}

// Cancel does nothing: the provider has no way to stop a task.
func (d *Driver) Cancel(context.Context, generate.Handle) error { return nil }

func (d *Driver) header() http.Header { return http.Header{"X-Key": {d.key}} }

// address is where a task is asked for: where the provider said, if the key may go
// there, else the base.
func (d *Driver) address(h generate.Handle) string {
	if u, err := url.Parse(h.URL); err == nil && d.trusts(u) {
		return u.String()
	}
	return d.baseURL + "/v1/get_result?id=" + url.QueryEscape(h.ID)
}

// trusts tells whether the key may go to a host: that of the configured base, or one
// of the provider's own over https.
func (d *Driver) trusts(u *url.URL) bool {
	if u.User != nil {
		return false
	}
	if u.Scheme == d.origin.Scheme && strings.EqualFold(u.Host, d.origin.Host) {
		return true
	}
	host := strings.ToLower(u.Hostname())
	return u.Scheme == "https" && (u.Port() == "" || u.Port() == "443") && (host == "bfl.ai" || strings.HasSuffix(host, ".bfl.ai"))
}
