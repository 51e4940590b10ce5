package midjourney

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

// Config sets up a [Driver].
type Config struct {
	// ProxyURL is the proxy's address, MIDJOURNEY_PROXY_URL; the paths from /mj on
	// follow it. Without one the driver is not ready.
	ProxyURL string
	// Secret is sent as mj-api-secret, MIDJOURNEY_API_SECRET; empty for a proxy that
	// asks for none.
	Secret string
	// Codec streams pictures into the requests and keeps descriptions; required.
	Codec *wire.Codec
	// Base carries the calls; default http.DefaultTransport.
	Base http.RoundTripper
}

// Driver makes, varies and edits pictures with Midjourney. It is safe for concurrent use.
type Driver struct {
	client *post.Client
	codec  *wire.Codec
	base   string
	header http.Header
}

var (
	_ generate.Notified = (*Driver)(nil)
	_ generate.Reviewed = (*Driver)(nil)
)

// New makes a driver. Its error has code media.CodeInvalid and names the setting.
// A missing address is no error here; [Driver.Ready] tells.
func New(c Config) (*Driver, error) {
	if c.Codec == nil {
		return nil, media.Errorf(media.CodeInvalid, "midjourney.Config.Codec is not set")
	}
	if c.ProxyURL != "" && !strings.HasPrefix(c.ProxyURL, "https://") && !strings.HasPrefix(c.ProxyURL, "http://") {
		return nil, media.Errorf(media.CodeInvalid, "MIDJOURNEY_PROXY_URL must begin with https:// or http://")
	}
	if c.Base == nil {
		c.Base = http.DefaultTransport
	}
	d := &Driver{
		client: &post.Client{
			Name: "the Midjourney proxy", BaseVariable: "MIDJOURNEY_PROXY_URL", Secret: c.Secret,
			Transport: c.Codec.Transport(c.Base, wire.Fields{}),
		},
		codec: c.Codec, base: strings.TrimSuffix(strings.TrimRight(c.ProxyURL, "/"), "/mj"), header: http.Header{},
	}
	if c.Secret != "" {
		d.header.Set("Mj-Api-Secret", c.Secret)
	}
	return d, nil
}

// Provider is "midjourney".
func (d *Driver) Provider() string { return "midjourney" }

// Ready is nil if there is an address.
func (d *Driver) Ready() error {
	if d.base == "" {
		return media.Errorf(media.CodeMissingKey, "no proxy for Midjourney: set MIDJOURNEY_PROXY_URL, and MIDJOURNEY_API_SECRET if it asks for a secret")
	}
	return nil
}

// Review tells which settings a follow-up leaves out, and which flags the prompt has
// already.
func (d *Driver) Review(t generate.Task) ([]generate.Disposition, error) {
	j, err := newJob(t)
	if err != nil {
		return nil, err
	}
	return j.notes, nil
}

// Start hands the job in and returns its task. Where the proxy waits for a window
// to be confirmed, as it does for inpaint, that is answered here.
func (d *Driver) Start(ctx context.Context, t generate.Task) (generate.Update, error) {
	if err := d.Ready(); err != nil {
		return generate.Update{}, err
	}
	j, err := newJob(t)
	if err != nil {
		return generate.Update{}, err
	}
	got, err := d.submit(ctx, t, j.path, j.prefix, d.withPictures(ctx, j))
	if err != nil {
		return generate.Update{}, err
	}
	if got.Code == codeExists && j.modal != nil {
		got, err = d.submit(ctx, t, "modal", j.prefix, d.confirmation(ctx, t, j, got))
		if err != nil {
			return generate.Update{}, err
		}
	}
	if got.Code == codeBanned {
		return generate.Update{Done: true, Progress: 1, Usage: generate.Usage{Calls: 1}, Items: repeated(t, d.banned(got))}, nil
	}
	return generate.Update{Task: generate.Handle{ID: string(got.Result)}, Usage: generate.Usage{Calls: 1}}, nil
}

// Poll asks for the job.
func (d *Driver) Poll(ctx context.Context, t generate.Task, h generate.Handle) (generate.Update, error) {
	a, err := d.client.Get(ctx, d.base+"/mj/task/"+url.PathEscape(h.ID)+"/fetch", d.header)
	if err != nil {
		return generate.Update{}, err
	}
	got, err := d.readJob(a)
	if err != nil {
		return generate.Update{}, err
	}
	u, err := d.update(ctx, t, got)
	u.Task = h
	return u, err
}

// Cancel asks the proxy to stop the job. Proxies that cannot, and jobs that are over or
// unknown, are no error.
func (d *Driver) Cancel(ctx context.Context, h generate.Handle) error {
	a, err := d.client.Send(ctx, d.base+"/mj/task/"+url.PathEscape(h.ID)+"/cancel", d.header, struct{}{})
	if err != nil {
		return err
	}
	if a.Status >= http.StatusInternalServerError || a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden {
		return media.Errorf(media.CodeUnavailable, "the Midjourney proxy answered %d to a cancellation: the job may go on", a.Status)
	}
	return nil
}
