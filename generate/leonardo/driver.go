package leonardo

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
	"atelier/media/wire"
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
	// Base carries the calls; default guarded connections.
	Base http.RoundTripper
	// Uploads carries pictures to the storage host that the API names; default a guarded
	// transport that goes to public addresses and to the base only.
	Uploads http.RoundTripper
}

// Driver makes and edits images with Leonardo's models. It is safe for concurrent use.
type Driver struct {
	client  *post.Client
	webhook post.Webhook
}

var _ driver.Notified = (*Driver)(nil)

// New makes a driver. Its error has code media.CodeInvalid and names the setting.
// A missing key is no error here; [Driver.Ready] tells.
func New(c Config) (*Driver, error) {
	client, err := post.New(post.Config{
		Name:    "Leonardo",
		BaseURL: cmp.Or(c.BaseURL, defaultBaseURL), BaseVariable: "LEONARDO_BASE_URL", Version: apiPath,
		Key: c.APIKey, KeyVariable: "LEONARDO_API_KEY", Header: http.Header{"Authorization": {"Bearer " + c.APIKey}},
		Secrets: []string{c.WebhookKey}, Codec: c.Codec, Base: c.Base, Storage: "the storage of Leonardo", Uploads: c.Uploads,
		Explain: explain, Phrases: phrases, States: map[string]post.State{"COMPLETE": post.Finished, "FAILED": post.Broken},
		Advice: map[media.Code]string{
			media.CodeUnauthorized:  "check LEONARDO_API_KEY (app.leonardo.ai, API access)",
			media.CodeQuotaExceeded: "add credit under API access at app.leonardo.ai",
		},
	})
	return &Driver{client: client, webhook: post.Webhook{Secret: c.WebhookKey, Genuine: post.Bearer}}, err
}

// Provider is "leonardo".
func (d *Driver) Provider() string { return "leonardo" }

// Ready is nil if there is a key.
func (d *Driver) Ready() error { return d.client.Ready() }

// Start uploads the picture of an edit, makes a generation and returns its handle,
// with the price that the provider names. A refusal of the prompt is one moderated
// item for each picture asked for.
func (d *Driver) Start(ctx context.Context, t driver.Task) (driver.Update, error) {
	body, err := d.request(ctx, t)
	if err != nil {
		return driver.Update{}, err
	}
	var got accepted
	return d.client.Do(ctx, post.Call{
		Path: apiPath + "/generations", Body: body, Of: "the model " + t.Model.Name, Task: t, Into: &got,
		Read: func(*post.Answer) (driver.Update, error) { return d.submitted(got) },
	})
}

// Poll asks for a generation. A failed one is done, with an error for each picture.
func (d *Driver) Poll(ctx context.Context, t driver.Task, h driver.Handle) (driver.Update, error) {
	var got struct {
		Generation *generation `json:"generations_by_pk"`
	}
	of := "the generation " + d.client.Clean(h.ID)
	return d.client.Do(ctx, post.Call{
		Path: apiPath + "/generations/" + url.PathEscape(h.ID), Of: of, Into: &got,
		Read: func(*post.Answer) (driver.Update, error) {
			if got.Generation == nil {
				return driver.Update{Task: h}, media.Errorf(media.CodeNotFound, "Leonardo does not know %s, or no longer", of)
			}
			return d.update(t, h, got.Generation), nil
		},
	})
}

// Cancel is media.CodeUnsupported: the provider has no way to stop a generation.
func (d *Driver) Cancel(context.Context, driver.Handle) error {
	return media.Errorf(media.CodeUnsupported, "Leonardo has no way to stop a generation")
}
