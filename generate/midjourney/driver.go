package midjourney

import (
	"context"
	"net/http"
	"net/url"

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
}

var (
	_ generate.Notified = (*Driver)(nil)
	_ generate.Reviewed = (*Driver)(nil)
)

// New makes a driver. Its error has code media.CodeInvalid and names the setting.
// A missing address is no error here; [Driver.Ready] tells.
func New(c Config) (*Driver, error) {
	header := http.Header{}
	if c.Secret != "" {
		header.Set("Mj-Api-Secret", c.Secret)
	}
	client, err := post.New(post.Config{
		Name: "the Midjourney proxy", BaseURL: c.ProxyURL, BaseVariable: "MIDJOURNEY_PROXY_URL", Version: "/mj",
		Key: c.Secret, Header: header, Codec: c.Codec, Base: c.Base,
		Explain: explain,
		Advice: map[media.Code]string{
			media.CodeMissingKey:    "set MIDJOURNEY_PROXY_URL, and MIDJOURNEY_API_SECRET if it asks for a secret",
			media.CodeUnauthorized:  "check MIDJOURNEY_API_SECRET",
			media.CodeForbidden:     "look at its account list",
			media.CodeNotFound:      "check MIDJOURNEY_PROXY_URL, leave midjourney.speed out, or use another midjourney.action",
			media.CodeQuotaExceeded: "top the account up",
		},
	})
	return &Driver{client: client, codec: c.Codec}, err
}

// Provider is "midjourney".
func (d *Driver) Provider() string { return "midjourney" }

// Ready is nil if there is an address.
func (d *Driver) Ready() error { return d.client.Ready() }

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
	j, err := newJob(t)
	if err != nil {
		return generate.Update{}, err
	}
	var got submitted
	u, err := d.submit(ctx, t, j.prefix+"/mj/submit/"+j.path, d.withPictures(ctx, t, j), &got)
	if err == nil && got.Code == codeExists && j.modal != nil {
		return d.submit(ctx, t, j.prefix+"/mj/submit/modal", d.confirmation(ctx, t, j, got), &submitted{})
	}
	return u, err
}

// Poll asks for the job.
func (d *Driver) Poll(ctx context.Context, t generate.Task, h generate.Handle) (generate.Update, error) {
	if err := d.Ready(); err != nil {
		return generate.Update{}, err
	}
	a, err := d.client.Get(ctx, d.task(h)+"/fetch", d.client.Header())
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

// task is the address of a job.
func (d *Driver) task(h generate.Handle) string {
	return d.client.Base + "/mj/task/" + url.PathEscape(h.ID)
}

// Cancel asks the proxy to stop the job. Proxies that cannot, and jobs that are over or
// unknown, are no error.
func (d *Driver) Cancel(ctx context.Context, h generate.Handle) error {
	a, err := d.client.Send(ctx, d.task(h)+"/cancel", d.client.Header(), struct{}{})
	if err != nil {
		return err
	}
	if a.Status >= http.StatusInternalServerError || a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden {
		return media.Errorf(media.CodeUnavailable, "the Midjourney proxy answered %d to a cancellation: the job may go on", a.Status)
	}
	return nil
}
