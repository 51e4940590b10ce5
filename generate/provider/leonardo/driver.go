// Package leonardo is the driver for Leonardo.Ai's own image models: Phoenix, Lucid, Anime XL, Kino XL and their
// family, on version 1 of the production API.
//
// A call creates a generation of up to four pictures: POST /generations, then GET of the generation, then links that
// are public and permanent. An input picture is uploaded first: the API names a storage host and a form that is valid
// for two minutes, and the picture is sent there as a file, without the key. Generations cannot be cancelled.
//
// Safe to repeat, and therefore Retryable: a request that was never sent, everything before the generation is
// requested, 429, and 503 with the API's own error, because no generation was created. Not safe: 500, a connection lost
// after the generation was requested, a truncated answer, a page of a proxy. A bad key can be reported as status 500;
// the message identifies it.
//
// The Gateway uses the list of the account's generations to find one whose id was lost. The API takes no idempotency
// key, so generations are matched by their seeds and all other listed settings.
//
// The webhook belongs to the key, not to the request: its address and bearer are set where the key is created. Only
// successes are notified, and the calls carry the API key and the bearer in their body, none of which is kept.
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
)

// apiPath begins the paths of the API; without it the origin serves a web page.
const apiPath = "/api/rest/v1"

// Config sets up a [Driver]: the production key is LEONARDO_API_KEY, the address LEONARDO_BASE_URL. NotifySecret is the
// callback key of the API key, LEONARDO_WEBHOOK_KEY.
type Config = driver.Config

// Driver generates and edits images with Leonardo's models. It is safe for concurrent use.
type Driver struct {
	post.Identity
	client *post.Client
}

var _ driver.Notified = (*Driver)(nil)

// New creates a driver. Its error has code media.CodeInvalid and names the setting. A missing key is not an error here;
// [Driver.Ready] reports it.
func New(c Config) (*Driver, error) {
	client, err := post.New(post.Config{
		Config: c, Provider: "leonardo", Name: "Leonardo",
		PublicURL: "https://cloud.leonardo.ai", BaseVariable: "LEONARDO_BASE_URL", Version: apiPath,
		KeyVariable: "LEONARDO_API_KEY", Header: http.Header{"Authorization": {"Bearer " + c.APIKey}},
		Storage: "the storage of Leonardo", Genuine: post.Bearer, Explain: explain, Phrases: phrases, States: map[string]post.State{"COMPLETE": post.Finished, "FAILED": post.Broken},
		Advice: map[media.Code]string{
			media.CodeUnauthorized:  "check LEONARDO_API_KEY (app.leonardo.ai, API access)",
			media.CodeQuotaExceeded: "add credit under API access at app.leonardo.ai",
		},
	})
	return &Driver{Identity: client, client: client}, err
}

// Start uploads the picture of an edit, creates a generation and returns its handle, with the price that the provider
// reports. A refusal of the prompt is one moderated item for each requested picture.
func (d *Driver) Start(ctx context.Context, t driver.Task) (driver.Update, error) {
	body, err := d.request(ctx, t)
	if err != nil {
		return driver.Update{}, err
	}
	var got accepted
	return d.client.Do(ctx, post.Call{
		Path: apiPath + "/generations", Body: body, Of: "the model " + t.Model.Name, Task: t, Into: &got,
		Read: func(*post.Answer) (driver.Update, error) {
			j := cmp.Or(got.Job, got.New, &job{})
			price := post.Price{Credits: string(j.Credits)}
			switch amount := string(j.Cost.Amount); j.Cost.Unit {
			case "DOLLARS":
				price.USD = amount
			case "CREDITS":
				price.Credits = amount
			}
			return d.client.Accepted(driver.Handle{ID: j.ID}, price)
		},
	})
}

// Poll returns the state of a generation. A failed one is done, with an error for each picture.
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

// Cancel returns media.CodeUnsupported: the provider cannot stop a generation.
func (d *Driver) Cancel(context.Context, driver.Handle) error {
	return media.Errorf(media.CodeUnsupported, "Leonardo has no way to stop a generation")
}

// Notification decodes a webhook call. With a webhook key, a call without that bearer is rejected; without one, only
// the generation's id is used.
func (d *Driver) Notification(_ context.Context, n driver.Notification) (driver.Update, error) {
	var got struct {
		Type string `json:"type"`
		Data struct {
			Object generation `json:"object"`
		} `json:"data"`
	}
	g := &got.Data.Object
	h, believed, err := d.client.DecodeWebhook(n, &got, func() string { return g.ID })
	if err != nil || !believed || got.Type != "image_generation.complete" {
		return driver.Update{Task: h, Progress: -1}, err
	}
	return d.update(driver.Task{}, h, g), nil
}

var _ driver.Listed = (*Driver)(nil)

const pageSize = 50

// listed is a generation in the account's list.
type listed struct {
	generation
	Created post.Text `json:"createdAt"`
	Model   string    `json:"modelId"`
	Prompt  string    `json:"prompt"`
	Without string    `json:"negativePrompt"`
	Width   int       `json:"imageWidth"`
	Height  int       `json:"imageHeight"`
}

// ListsKeys returns false: the API stores no value of its callers that its list would show.
func (d *Driver) ListsKeys() bool { return false }

// List returns generations of the key's account. The API does not promise that they are complete or in order.
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
			Task: driver.Handle{ID: g.ID}, CreatedAt: g.Created.Time(), Model: g.Model, Prompt: g.Prompt, NegativePrompt: g.Without,
			Seed: g.Seed.Int(), Width: g.Width, Height: g.Height, N: len(g.Images),
		})
	}
	return l, err
}

// user returns the id of the account, and requests it if it is not known.
func (d *Driver) user(ctx context.Context, known string) (string, error) {
	if known != "" {
		return known, nil
	}
	var got struct {
		Details []struct {
			User struct {
				ID post.Text `json:"id"`
			} `json:"user"`
		} `json:"user_details"`
	}
	_, err := d.client.Do(ctx, post.Call{Path: apiPath + "/me", Of: "the account", Into: &got})
	if err == nil && len(got.Details) > 0 && got.Details[0].User.ID != "" {
		return string(got.Details[0].User.ID), nil
	}
	if err == nil {
		err = media.Errorf(media.CodeUnsupported, "Leonardo does not report whose key it is, so its generations cannot be listed")
	}
	return "", err
}
