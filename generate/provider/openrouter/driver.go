// Package openrouter is the driver for image models behind OpenRouter, by one of two endpoints, as a model's row says
// (via): that of images, which has typed settings, and chat completions, where the request names the modalities image
// and text, and the answer's message carries pictures beside its words, as data or as links.
//
// It speaks plain net/http: one POST, no polling. One call makes one picture, unless a
// row of the images endpoint says otherwise; a model may give more, and every picture is kept. OpenRouter names the cost of each call in
// dollars, which is reported as it is.
//
// What is safe to repeat, so Retryable: a request that never left (name, dial, TLS), and 429, 500 and 503 in
// OpenRouter's own error envelope, because then no model was run. The wait is Retry-After, else X-RateLimit-Reset. What
// is not: a model that was run and failed (502, 408, errors inside of a success), a connection lost after the request
// was sent, an answer cut in the middle, anything without an envelope.
//
// Refusals are moderated items with their Safety: 403 with reasons, the finish reason content_filter, a refusal, or
// words in place of a picture. Errors are media.Error values: unauthorized, forbidden, not_found (no such model),
// rate_limited, quota_exceeded (402), invalid, too_large, unavailable, bad_response. It may import generate, media and
// wire; no other driver.
package openrouter

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
	"atelier/media/wire"
)

// defaultBaseURL is OpenRouter's own origin; the path follows it.
const defaultBaseURL = "https://openrouter.ai"

// Config sets up a [Driver].
type Config struct {
	// APIKey is the key, OPENROUTER_API_KEY; without one the driver is not ready.
	APIKey string
	// BaseURL is the API's origin, OPENROUTER_BASE_URL; default https://openrouter.ai.
	BaseURL string
	// Codec lifts media out of the answers; required.
	Codec *wire.Codec
	// Base carries the calls; default guarded connections.
	Base http.RoundTripper
	// Now is the clock that reset times are compared with; default time.Now.
	Now func() time.Time
}

// Driver makes and edits images with models behind OpenRouter. It is safe for concurrent use.
type Driver struct {
	driver.Synchronous
	client *post.Client
}

// New makes a driver. Its error has code media.CodeInvalid and names the setting.
// A missing key is no error here; [Driver.Ready] tells.
func New(c Config) (*Driver, error) {
	client, err := post.New(post.Config{
		Name:    "OpenRouter",
		BaseURL: cmp.Or(c.BaseURL, defaultBaseURL), BaseVariable: "OPENROUTER_BASE_URL", Version: "/api/v1",
		Key: c.APIKey, KeyVariable: "OPENROUTER_API_KEY", Header: http.Header{"Authorization": {"Bearer " + c.APIKey}},
		Codec: c.Codec, Base: c.Base, Now: c.Now, Media: []string{"images.image_url.url", "b64_json"},
		Explain: explain,
		Phrases: post.Phrases{{Any: []string{"not a valid model id"}, Code: media.CodeNotFound}},
		Advice: map[media.Code]string{
			media.CodeUnauthorized:  "check OPENROUTER_API_KEY (openrouter.ai/settings/keys)",
			media.CodeQuotaExceeded: "add credit at openrouter.ai/settings/credits or raise the key's limit",
			media.CodeForbidden:     "check the key's limits and your privacy settings",
		},
	})
	return &Driver{client: client}, err
}

// Provider is "openrouter".
func (d *Driver) Provider() string { return "openrouter" }

// Ready is nil if there is a key.
func (d *Driver) Ready() error { return d.client.Ready() }

// Start makes the call and waits for its result. A refusal is one moderated item. A
// result that arrived before an error comes with it.
func (d *Driver) Start(ctx context.Context, t driver.Task) (driver.Update, error) {
	if t.Model.Via == "images" {
		return d.typed(ctx, t)
	}
	body, err := d.request(ctx, t)
	if err != nil {
		return driver.Update{}, err
	}
	var got answer
	call := post.Call{Path: "/api/v1/chat/completions", Body: body, Of: t.Model.APIModel, Task: t, Into: &got}
	call.Read = func(a *post.Answer) (driver.Update, error) { return d.answered(call, a, got) }
	return d.client.Do(ctx, call)
}
