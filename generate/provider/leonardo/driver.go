// Package leonardo is the driver for Leonardo.Ai's own image models: Phoenix, Lucid,
// Anime XL, Kino XL and their family, on version 1 of the production API.
//
// A call makes a generation of up to four pictures: POST /generations, then GET of the generation, then links that
// everybody can open and that last. A picture to start from is uploaded first: the API names a storage host and a form
// that is good for two minutes, and the picture goes there as a file, without the key. Generations cannot be cancelled.
//
// What is safe to repeat, so Retryable: a request that never left, everything before the generation is asked for, 429,
// and 500 or 503 with the API's own error, because no generation was made. What is not: a connection lost after the
// generation was asked for, an answer cut in the middle, a page of a proxy. A bad key can come as status 500; the words
// tell.
//
// The account's generations are listed, for the Gateway to find one whose name was lost. The
// API takes no key of ours, so they are told apart by their seeds and all else that is told.
//
// The webhook belongs to the key, not to the request: its address and its bearer are set where the key is made. Only
// good ends are told, and the calls carry the API key and the bearer in their body, of which nothing is kept.
//
// Errors are media.Error values: unauthorized, forbidden, quota_exceeded, not_found
// (model or generation), rate_limited, invalid, unavailable, bad_response. It may
// import generate, generate/internal/post, media and wire; no other driver.
package leonardo

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

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

// Start uploads the picture of an edit, makes a generation and returns its handle, with the price that the provider
// names. A refusal of the prompt is one moderated item for each picture asked for.
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

// Notification reads a call of the webhook. With a webhook key a call without that
// bearer is refused; without one the call names the generation and no more is believed.
func (d *Driver) Notification(_ context.Context, n driver.Notification) (driver.Update, error) {
	var got struct {
		Type string `json:"type"`
		Data struct {
			Object generation `json:"object"`
		} `json:"data"`
	}
	g := &got.Data.Object
	h, believed, err := d.client.Hear(n, d.webhook, &got, func() string { return g.ID })
	if err != nil || !believed || got.Type != "image_generation.complete" {
		return driver.Update{Task: h, Progress: -1}, err
	}
	return d.update(driver.Task{}, h, g), nil
}

var _ driver.Listed = (*Driver)(nil)

const pageSize = 50

// listed is a generation as the list of an account has it.
type listed struct {
	generation
	Created post.Text `json:"createdAt"`
	Model   string    `json:"modelId"`
	Prompt  string    `json:"prompt"`
	Without string    `json:"negativePrompt"`
	Width   post.Text `json:"imageWidth"`
	Height  post.Text `json:"imageHeight"`
}

// ListsKeys is false: the API takes nothing from its callers that it would show.
func (d *Driver) ListsKeys() bool { return false }

// List gives generations of the account that the key belongs to. The API does not promise
// that they are all, or in order.
func (d *Driver) List(ctx context.Context, from string) (driver.Listing, error) {
	after, user, _ := strings.Cut(from, " ")
	user, err := d.user(ctx, user)
	if err != nil {
		return driver.Listing{}, err
	}
	var got struct {
		Generations []listed `json:"generations"`
	}
	path := fmt.Sprintf("%s/generations/user/%s?offset=%s&limit=%d", apiPath, url.PathEscape(user), cmp.Or(after, "0"), pageSize)
	_, err = d.client.Do(ctx, post.Call{Path: path, Of: "the list of generations", Into: &got})
	seen, _ := strconv.Atoi(after)
	l := driver.Listing{Next: fmt.Sprintf("%d %s", seen+len(got.Generations), user)}
	for _, g := range got.Generations {
		l.Tasks = append(l.Tasks, driver.ListedTask{
			Task: driver.Handle{ID: g.ID}, Made: g.Created.Time(), Model: g.Model, Prompt: g.Prompt, NegativePrompt: g.Without,
			Seed: g.Seed.Int(), Width: g.Width.Whole(), Height: g.Height.Whole(), N: len(g.Images),
		})
	}
	return l, err
}

// user is the id of the account, if it is not known yet.
func (d *Driver) user(ctx context.Context, known string) (string, error) {
	if known != "" {
		return known, nil
	}
	var got any
	_, err := d.client.Do(ctx, post.Call{Path: apiPath + "/me", Of: "the account", Into: &got})
	user := post.At(got, "user_details", 0, "user", "id")
	if err == nil && user == "" {
		err = media.Errorf(media.CodeUnsupported, "Leonardo does not tell whose key it is, so its generations cannot be listed")
	}
	return user, err
}
