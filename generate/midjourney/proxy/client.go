// Package proxy speaks the protocol of midjourney-proxy and of the services that copy it:
// a job is submitted, perhaps confirmed in a window, fetched until it is over, and told by
// a hook that nobody signs. Proxies disagree about the shapes of what stands beside the
// words; what has another shape is empty. What the jobs mean is for the driver.
//
// What is safe to repeat, so Retryable: a request that never left, and a submission of
// which the proxy says in a code of its own that no job was begun. Fetching is free.
//
// Errors are media.Error values: unauthorized, forbidden, not_found (a job, a path),
// quota_exceeded, rate_limited, invalid, unavailable, bad_response. It may import generate,
// generate/internal/post, media and wire; the driver of Midjourney alone uses it.
package proxy

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
	"atelier/media/wire"
)

// Config sets up a [Client].
type Config struct {
	// URL is the proxy's address; the paths from /mj on follow it. Without one the client is
	// not ready.
	URL string
	// Secret is sent as mj-api-secret; empty for a proxy that asks for none.
	Secret string
	// Codec streams pictures into the requests; required.
	Codec *wire.Codec
	// Failures are what the words of a failed job mean: there is no code.
	Failures post.Phrases
	// Base carries the calls; default guarded connections.
	Base http.RoundTripper
}

// Client calls one proxy. It is safe for concurrent use.
type Client struct{ *post.Client }

// New makes a client. Its error has code media.CodeInvalid and names the setting. A
// missing address is no error here; Ready tells.
func New(c Config) (*Client, error) {
	header := http.Header{}
	if c.Secret != "" {
		header.Set("Mj-Api-Secret", c.Secret)
	}
	client, err := post.New(post.Config{
		Name: "the Midjourney proxy", BaseURL: c.URL, BaseVariable: "MIDJOURNEY_PROXY_URL", Version: "/mj",
		Key: c.Secret, Header: header, Codec: c.Codec, Base: c.Base,
		Explain: explain, Failures: c.Failures,
		States: map[string]post.State{"SUCCESS": post.Finished, "FAILURE": post.Broken, "CANCEL": post.Stopped},
		Advice: map[media.Code]string{
			media.CodeMissingKey:    "set MIDJOURNEY_PROXY_URL, and MIDJOURNEY_API_SECRET if it asks for a secret",
			media.CodeUnauthorized:  "check MIDJOURNEY_API_SECRET",
			media.CodeForbidden:     "look at its account list",
			media.CodeNotFound:      "check MIDJOURNEY_PROXY_URL, leave midjourney.speed out, or use another midjourney.action",
			media.CodeQuotaExceeded: "top the account up",
		},
	})
	return &Client{client}, err
}

// Fetch asks for a job. Errors: media.CodeNotFound for one that the proxy does not know; an
// answer that is not about the job says nothing about it: media.CodeUnavailable.
func (c *Client) Fetch(ctx context.Context, id string) (Job, error) {
	if err := c.Ready(); err != nil {
		return Job{}, err
	}
	a, err := c.Get(ctx, c.job(id)+"/fetch", c.Header())
	if err != nil {
		return Job{}, err
	}
	body := strings.TrimSpace(string(a.Body))
	if a.Status == http.StatusNotFound || a.Status == http.StatusOK && (body == "" || body == "null") {
		return Job{}, media.Errorf(media.CodeNotFound, "the Midjourney proxy does not know the job: it may have been restarted, or keeps jobs for a shorter time")
	}
	j, err := Parse(a.Body)
	if a.Status != http.StatusOK || err != nil || j.Status == "" {
		return Job{}, media.Errorf(media.CodeUnavailable, "the Midjourney proxy answered a poll with status %d and no task: it is asked again; check MIDJOURNEY_PROXY_URL and MIDJOURNEY_API_SECRET", a.Status)
	}
	return j, nil
}

// job is the address of a job.
func (c *Client) job(id string) string { return c.Base + "/mj/task/" + url.PathEscape(id) }

// Cancel asks the proxy to stop a job. Jobs that are over or unknown are no error; a proxy
// that has no such path, as the older one, is media.CodeUnsupported.
func (c *Client) Cancel(ctx context.Context, id string) error {
	a, err := c.Send(ctx, c.job(id)+"/cancel", c.Header(), struct{}{})
	if err != nil {
		return err
	}
	if a.Status >= http.StatusInternalServerError || a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden {
		return media.Errorf(media.CodeUnavailable, "the Midjourney proxy answered %d to a cancellation: the job may continue", a.Status)
	}
	if _, spoken := envelope(a); !spoken && (a.Status == http.StatusNotFound || a.Status == http.StatusMethodNotAllowed) {
		return media.Errorf(media.CodeUnsupported, "this Midjourney proxy has no way to stop a job")
	}
	return nil
}

// NotifiedJob names the job that a call of the hook is about. Nothing in the call is signed, so
// nothing else of it is believed.
func (c *Client) NotifiedJob(n driver.Notification) (driver.Handle, error) {
	var j Job
	h, _, err := c.Hear(n, post.Webhook{}, &j, func() string { return string(j.ID) })
	return h, err
}
