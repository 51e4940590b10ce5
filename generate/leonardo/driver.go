package leonardo

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/internal/safehttp"
	"atelier/media"
	"atelier/wire"
)

// defaultBaseURL is the API's origin; without the path the origin answers a web page.
const (
	defaultBaseURL = "https://cloud.leonardo.ai"
	apiPath        = "/api/rest/v1"
)

// Config sets up a [Driver].
type Config struct {
	// APIKey is the production key, LEONARDO_API_KEY; without one the driver is not ready.
	APIKey string
	// BaseURL is the API's origin, LEONARDO_BASE_URL; default https://cloud.leonardo.ai.
	BaseURL string
	// WebhookKey is the callback key of the API key, LEONARDO_WEBHOOK_KEY: what calls of
	// the webhook carry. Without it no call is believed.
	WebhookKey string
	// Codec puts pictures into uploads; required.
	Codec *wire.Codec
	// Base carries the calls; default http.DefaultTransport.
	Base http.RoundTripper
	// Uploads carries pictures to the storage host that the API names; default a guarded
	// transport that goes to public addresses and to the base only.
	Uploads http.RoundTripper
}

// Driver makes and edits images with Leonardo's models. It is safe for concurrent use.
type Driver struct {
	client  *post.Client
	storage *post.Client
	codec   *wire.Codec
	key     string
	webhook string
	api     string
}

var _ generate.Notified = (*Driver)(nil)

// New makes a driver. Its error has code media.CodeInvalid and names the setting.
// A missing key is no error here; [Driver.Ready] tells.
func New(c Config) (*Driver, error) {
	if c.Codec == nil {
		return nil, media.Errorf(media.CodeInvalid, "leonardo.Config.Codec is not set")
	}
	if c.BaseURL == "" {
		c.BaseURL = defaultBaseURL
	}
	base := strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), apiPath)
	if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, media.Errorf(media.CodeInvalid, "LEONARDO_BASE_URL must be an origin that begins with https:// or http://")
	}
	if c.Base == nil {
		c.Base = http.DefaultTransport
	}
	if c.Uploads == nil {
		c.Uploads = safehttp.NewTransport(safehttp.Config{TrustedOrigins: []string{base}})
	}
	client := func(name string, over http.RoundTripper) *post.Client {
		return &post.Client{Name: name, BaseVariable: "LEONARDO_BASE_URL", Secret: c.APIKey, Transport: c.Codec.Transport(over, wire.Fields{})}
	}
	return &Driver{
		client: client("Leonardo", c.Base), storage: client("the storage of Leonardo", c.Uploads),
		codec: c.Codec, key: c.APIKey, webhook: c.WebhookKey, api: base + apiPath,
	}, nil
}

// Provider is "leonardo".
func (d *Driver) Provider() string { return "leonardo" }

// Ready is nil if there is a key.
func (d *Driver) Ready() error {
	if d.key == "" {
		return media.Errorf(media.CodeMissingKey, "no key for Leonardo: set LEONARDO_API_KEY")
	}
	return nil
}

// Start uploads the picture of an edit, makes a generation and returns its handle,
// with the price that the provider names. A refusal of the prompt is one moderated
// item for each picture asked for.
func (d *Driver) Start(ctx context.Context, t generate.Task) (generate.Update, error) {
	if err := d.Ready(); err != nil {
		return generate.Update{}, err
	}
	body, err := d.request(ctx, t)
	if err != nil {
		return generate.Update{}, err
	}
	a, err := d.client.Send(ctx, d.api+"/generations", d.header(), body)
	if err != nil {
		return generate.Update{}, err
	}
	if a.Status != http.StatusOK {
		if items := d.moderated(a, t.N); items != nil {
			return generate.Update{Done: true, Progress: 1, Items: items}, nil
		}
		return generate.Update{}, d.refused(ctx, a, "the model "+t.Model.Name)
	}
	return d.submitted(ctx, a)
}

// Poll asks for a generation. A failed one is done, with an error for each picture.
func (d *Driver) Poll(ctx context.Context, t generate.Task, h generate.Handle) (generate.Update, error) {
	if err := d.Ready(); err != nil {
		return generate.Update{}, err
	}
	a, err := d.client.Get(ctx, d.api+"/generations/"+url.PathEscape(h.ID), d.header())
	if err != nil {
		return generate.Update{}, err
	}
	if a.Status != http.StatusOK {
		return generate.Update{}, d.refused(ctx, a, "the generation "+d.client.Clean(h.ID))
	}
	var got struct {
		Generation *generation `json:"generations_by_pk"`
	}
	if err := d.client.Decode(a, &got); err != nil {
		return generate.Update{}, err
	}
	switch {
	case a.Cut():
		return generate.Update{}, media.Errorf(media.CodeUnavailable, "Leonardo told half of the generation: it is asked again")
	case got.Generation == nil:
		return generate.Update{Task: h}, media.Errorf(media.CodeNotFound, "Leonardo does not know the generation %s, or no longer", d.client.Clean(h.ID))
	}
	return d.update(t, h, got.Generation), nil
}

// Cancel does nothing: the provider has no way to stop a generation.
func (d *Driver) Cancel(context.Context, generate.Handle) error { return nil }

func (d *Driver) header() http.Header { return http.Header{"Authorization": {"Bearer " + d.key}} }
