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

// Driver makes and edits images with models behind OpenRouter. It is safe for concurrent
// use.
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
