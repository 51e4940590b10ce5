package midjourney

import (
	"context"
	"net/http"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/midjourney/proxy"
	"atelier/media/wire"
)

// Config sets up a [Driver].
type Config struct {
	// ProxyURL is the proxy's address, MIDJOURNEY_PROXY_URL; the paths from /mj on
	// follow it. Without one the driver is not ready.
	ProxyURL string
	// Secret is sent as mj-api-secret, MIDJOURNEY_API_SECRET; empty for a proxy that
	// asks for none.
	Secret string
	// Codec streams pictures into the requests; required.
	Codec *wire.Codec
	// Base carries the calls; default guarded connections.
	Base http.RoundTripper
}

// Driver makes, varies and edits pictures with Midjourney. It is safe for concurrent use.
type Driver struct{ client *proxy.Client }

var (
	_ driver.Notified = (*Driver)(nil)
	_ driver.Reviewed = (*Driver)(nil)
)

// New makes a driver. Its error has code media.CodeInvalid and names the setting.
// A missing address is no error here; [Driver.Ready] tells.
func New(c Config) (*Driver, error) {
	client, err := proxy.New(proxy.Config{URL: c.ProxyURL, Secret: c.Secret, Codec: c.Codec, Failures: failures, Base: c.Base})
	return &Driver{client}, err
}

// Provider is "midjourney".
func (d *Driver) Provider() string { return "midjourney" }

// Ready is nil if there is an address.
func (d *Driver) Ready() error { return d.client.Ready() }

// Review tells what becomes of pictures that are image prompts, and of the shape of a blend;
// of follow-ups the row tells. Its error is that of a task that cannot be handed in.
func (d *Driver) Review(t driver.Task) ([]generate.Disposition, error) {
	j, err := newJob(t)
	if err != nil {
		return nil, err
	}
	return j.notes, nil
}

// Start hands the job in and returns its task. Where the proxy waits for a window
// to be confirmed, as it does for inpaint, that is answered here.
func (d *Driver) Start(ctx context.Context, t driver.Task) (driver.Update, error) {
	j, err := newJob(t)
	if err != nil {
		return driver.Update{}, err
	}
	s := proxy.Submission{Task: t, Speed: t.Option("speed"), Path: j.at.path, Body: d.withPictures(ctx, t, j)}
	got, u, err := d.client.Submit(ctx, s)
	if err == nil && got.Exists() && j.window != nil {
		s.Path, s.Body = "modal", d.confirmation(ctx, t, j, got)
		_, u, err = d.client.Submit(ctx, s)
	}
	return u, err
}

// Poll asks for the job.
func (d *Driver) Poll(ctx context.Context, t driver.Task, h driver.Handle) (driver.Update, error) {
	got, err := d.client.Fetch(ctx, h.ID)
	if err != nil {
		return driver.Update{}, err
	}
	return d.update(t, h, got), nil
}

// Cancel asks the proxy to stop the job. Jobs that are over or unknown are no error; a proxy
// that cannot is media.CodeUnsupported.
func (d *Driver) Cancel(ctx context.Context, h driver.Handle) error {
	return d.client.Cancel(ctx, h.ID)
}

// Notification names the job that a call of the hook is about, and believes no more.
func (d *Driver) Notification(_ context.Context, n driver.Notification) (driver.Update, error) {
	h, err := d.client.NotifiedJob(n)
	return driver.Update{Task: h, Progress: -1}, err
}
