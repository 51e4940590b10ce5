package openai

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
	"atelier/wire"
)

// defaultBaseURL is OpenAI's own address.
const defaultBaseURL = "https://api.openai.com/v1"

// Config sets up a [Driver].
type Config struct {
	// APIKey is the key, OPENAI_API_KEY; without one the driver is not ready.
	APIKey string
	// BaseURL is the API's address with its version, OPENAI_BASE_URL; default
	// https://api.openai.com/v1.
	BaseURL string
	// Endpoint is for a compatible service that is not OpenAI's; nil is OpenAI.
	Endpoint *generate.Endpoint
	// Codec lifts media out of the answers; required.
	Codec *wire.Codec
	// Base carries the calls; default http.DefaultTransport.
	Base http.RoundTripper
	// Now is the clock that Retry-After dates are compared with; default time.Now.
	Now func() time.Time
}

// Driver makes and edits images with OpenAI's GPT Image models, and speaks with its
// speech models; or does so at a compatible service. It is safe for concurrent use.
type Driver struct {
	client   *post.Client
	codec    *wire.Codec
	key      string
	endpoint generate.Endpoint
	own      bool // OpenAI's, not another service
	now      func() time.Time
}

var _ generate.Driver = (*Driver)(nil)

// New makes a driver. Its error has code media.CodeInvalid and names the setting.
// A missing key is no error here; [Driver.Ready] tells.
func New(c Config) (*Driver, error) {
	if c.Codec == nil {
		return nil, media.Errorf(media.CodeInvalid, "openai.Config.Codec is not set")
	}
	at := generate.Endpoint{Provider: "openai", Name: "OpenAI", BaseURL: cmp.Or(c.BaseURL, defaultBaseURL), KeyVariable: "OPENAI_API_KEY"}
	base := "OPENAI_BASE_URL"
	if c.Endpoint != nil {
		at, base = *c.Endpoint, "endpoint.base_url of "+c.Endpoint.Provider
	}
	if !strings.HasPrefix(at.BaseURL, "https://") && !strings.HasPrefix(at.BaseURL, "http://") {
		return nil, media.Errorf(media.CodeInvalid, "%s must begin with https:// or http:// and end in /v1", base)
	}
	at.BaseURL = strings.TrimRight(at.BaseURL, "/")
	if c.Base == nil {
		c.Base = http.DefaultTransport
	}
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // The default clock.
	}
	return &Driver{
		client: &post.Client{
			Name: at.Name, BaseVariable: base, Secret: c.APIKey,
			Transport: c.Codec.Transport(c.Base, wire.Fields{Media: []string{"b64_json"}}),
		},
		codec: c.Codec, key: c.APIKey, endpoint: at, own: c.Endpoint == nil, now: c.Now,
	}, nil
}

// Provider is "openai", or the endpoint's.
func (d *Driver) Provider() string { return d.endpoint.Provider }

// Ready is nil if there is a key, or if the endpoint needs none.
func (d *Driver) Ready() error {
	if d.key == "" && d.endpoint.KeyVariable != "" {
		return media.Errorf(media.CodeMissingKey, "no key for %s: set %s", d.endpoint.Name, d.endpoint.KeyVariable)
	}
	return nil
}

// Start makes the call and waits for all of its results; allow 180 seconds and
// more. A refusal by the safety system is one moderated item for each picture
// asked for. Pictures that arrived before an error come with it.
func (d *Driver) Start(ctx context.Context, t generate.Task) (generate.Update, error) {
	if err := d.Ready(); err != nil {
		return generate.Update{}, err
	}
	path, body, err := d.request(ctx, t)
	if err != nil {
		return generate.Update{}, err
	}
	header := http.Header{}
	if d.key != "" {
		header.Set("Authorization", "Bearer "+d.key)
	}
	s, err := d.client.Open(ctx, d.endpoint.BaseURL+path, header, body)
	if err != nil {
		return generate.Update{}, err
	}
	if isStream(s) {
		return d.follow(ctx, t, s)
	}
	a := d.client.Read(s)
	if a.Status != http.StatusOK {
		return d.refused(ctx, t, a)
	}
	if t.Model.Modality == media.ModalityAudio {
		return d.spoke(ctx, a)
	}
	return d.answered(ctx, a)
}

// Poll is media.CodeUnsupported: calls are synchronous.
func (d *Driver) Poll(context.Context, generate.Task, generate.Handle) (generate.Update, error) {
	return generate.Update{}, media.Errorf(media.CodeUnsupported, "%s answers calls at once: there is nothing to poll", d.endpoint.Name)
}

// Cancel does nothing: ending the context of Start is all that can be done.
func (d *Driver) Cancel(context.Context, generate.Handle) error { return nil }
