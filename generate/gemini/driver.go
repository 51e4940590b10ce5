package gemini

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

// defaultBaseURL is Google's own origin; the version and the path follow it.
const defaultBaseURL = "https://generativelanguage.googleapis.com"

// Config sets up a [Driver].
type Config struct {
	// APIKey is the key, GEMINI_API_KEY or GOOGLE_API_KEY; without one the driver
	// is not ready.
	APIKey string
	// BaseURL is the API's origin, GEMINI_BASE_URL; default
	// https://generativelanguage.googleapis.com.
	BaseURL string
	// Codec lifts media out of the answers; required.
	Codec *wire.Codec
	// Base carries the calls; default http.DefaultTransport.
	Base http.RoundTripper
}

// Driver makes and edits images with Gemini models, and speaks with its speech models.
// It is safe for concurrent use.
type Driver struct {
	client  *post.Client
	codec   *wire.Codec
	key     string
	baseURL string
}

var _ generate.Driver = (*Driver)(nil)

// New makes a driver. Its error has code media.CodeInvalid and names the setting.
// A missing key is no error here; [Driver.Ready] tells.
func New(c Config) (*Driver, error) {
	if c.Codec == nil {
		return nil, media.Errorf(media.CodeInvalid, "gemini.Config.Codec is not set")
	}
	if c.BaseURL == "" {
		c.BaseURL = defaultBaseURL
	}
	if !strings.HasPrefix(c.BaseURL, "https://") && !strings.HasPrefix(c.BaseURL, "http://") {
		return nil, media.Errorf(media.CodeInvalid, "GEMINI_BASE_URL must be an origin that begins with https:// or http://")
	}
	if c.Base == nil {
		c.Base = http.DefaultTransport
	}
	return &Driver{
		client: &post.Client{
			Name: "Gemini", BaseVariable: "GEMINI_BASE_URL", Secret: c.APIKey,
			Transport: c.Codec.Transport(c.Base, wire.Fields{Media: []string{"inlineData.data"}}),
		},
		codec: c.Codec, key: c.APIKey, baseURL: strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), "/v1beta"),
	}, nil
}

// Provider is "gemini".
func (d *Driver) Provider() string { return "gemini" }

// Ready is nil if there is a key.
func (d *Driver) Ready() error {
	if d.key == "" {
		return media.Errorf(media.CodeMissingKey, "no key for Gemini: set GEMINI_API_KEY (or GOOGLE_API_KEY)")
	}
	return nil
}

// Start makes the call and waits for its result. A refusal is one moderated item.
// A result that arrived before an error comes with it.
func (d *Driver) Start(ctx context.Context, t generate.Task) (generate.Update, error) {
	if err := d.Ready(); err != nil {
		return generate.Update{}, err
	}
	body, err := requestBody(t)
	if err == nil {
		err = d.addPictures(ctx, t, body)
	}
	if err != nil {
		return generate.Update{}, err
	}
	address := d.baseURL + "/v1beta/models/" + url.PathEscape(t.Model.APIModel) + ":generateContent"
	a, err := d.client.Send(ctx, address, http.Header{"X-Goog-Api-Key": {d.key}}, body)
	if err != nil {
		return generate.Update{}, err
	}
	if a.Status != http.StatusOK {
		return generate.Update{}, d.refused(ctx, t, a)
	}
	return d.answered(ctx, t, a)
}

// Poll is media.CodeUnsupported: calls are synchronous.
func (d *Driver) Poll(context.Context, generate.Task, generate.Handle) (generate.Update, error) {
	return generate.Update{}, media.Errorf(media.CodeUnsupported, "Gemini answers these calls at once: there is nothing to poll")
}

// Cancel does nothing: ending the context of Start is all that can be done.
func (d *Driver) Cancel(context.Context, generate.Handle) error { return nil }
