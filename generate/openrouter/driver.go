package openrouter

import (
	"context"
	"net/http"
	"strings"
	"time"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
	"atelier/wire"
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
	// Base carries the calls; default http.DefaultTransport.
	Base http.RoundTripper
	// Now is the clock that reset times are compared with; default time.Now.
	Now func() time.Time
}

// Driver makes and edits images with models behind OpenRouter. It is safe for concurrent
// use.
type Driver struct {
	client  *post.Client
	codec   *wire.Codec
	key     string
	baseURL string
	now     func() time.Time
}

var _ generate.Driver = (*Driver)(nil)

// New makes a driver. Its error has code media.CodeInvalid and names the setting.
// A missing key is no error here; [Driver.Ready] tells.
func New(c Config) (*Driver, error) {
	if c.Codec == nil {
		return nil, media.Errorf(media.CodeInvalid, "openrouter.Config.Codec is not set")
	}
	if c.BaseURL == "" {
		c.BaseURL = defaultBaseURL
	}
	if !strings.HasPrefix(c.BaseURL, "https://") && !strings.HasPrefix(c.BaseURL, "http://") {
		return nil, media.Errorf(media.CodeInvalid, "OPENROUTER_BASE_URL must be an origin that begins with https:// or http://")
	}
	if c.Base == nil {
		c.Base = http.DefaultTransport
	}
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // The default clock.
	}
	return &Driver{
		client: &post.Client{
			Name: "OpenRouter", BaseVariable: "OPENROUTER_BASE_URL", Secret: c.APIKey,
			Transport: c.Codec.Transport(c.Base, wire.Fields{Media: []string{"images.image_url.url"}}),
		},
		codec: c.Codec, key: c.APIKey, baseURL: strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), "/api/v1"), now: c.Now,
	}, nil
}

// Provider is "openrouter".
func (d *Driver) Provider() string { return "openrouter" }

// Ready is nil if there is a key.
func (d *Driver) Ready() error {
	if d.key == "" {
		return media.Errorf(media.CodeMissingKey, "no key for OpenRouter: set OPENROUTER_API_KEY")
	}
	return nil
}

// Start makes the call and waits for its picture. A refusal is one moderated item.
// Pictures that arrived before an error come with it.
func (d *Driver) Start(ctx context.Context, t generate.Task) (generate.Update, error) {
	if err := d.Ready(); err != nil {
		return generate.Update{}, err
	}
	body, err := d.request(ctx, t)
	if err != nil {
		return generate.Update{}, err
	}
	a, err := d.client.Send(ctx, d.baseURL+"/api/v1/chat/completions", http.Header{"Authorization": {"Bearer " + d.key}}, body)
	if err != nil {
		return generate.Update{}, err
	}
	if a.Status != http.StatusOK {
		return d.refused(ctx, t, a)
	}
	return d.answered(ctx, t, a)
}

// Poll is media.CodeUnsupported: calls are synchronous.
func (d *Driver) Poll(context.Context, generate.Task, generate.Handle) (generate.Update, error) {
	return generate.Update{}, media.Errorf(media.CodeUnsupported, "OpenRouter answers image calls at once: there is nothing to poll")
}

// Cancel does nothing: ending the context of Start is all that can be done.
func (d *Driver) Cancel(context.Context, generate.Handle) error { return nil }
