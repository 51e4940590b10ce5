// Package openrouter is the driver for image models behind OpenRouter. A model's row selects one of two endpoints
// (via): the images endpoint, which has typed settings, or chat completions, where the request names the modalities
// image and text, and the answer's message contains pictures beside its text, as data or as links.
//
// It uses plain net/http: one POST, no polling. One call makes one picture, unless a row of the images endpoint says
// otherwise; a model may return more, and every picture is kept. OpenRouter reports the cost of each call in dollars, and
// what the maker bills in addition if the account has its own key there; the cost is the sum.
//
// Safe to repeat, and therefore Retryable: a request that was never sent (name, dial, TLS), and 429 and 503 in
// OpenRouter's own error envelope, because no model was run. The wait is Retry-After, else X-RateLimit-Reset. Not safe:
// a model that was run and failed (500, 502, 408, errors inside a success), a connection lost after the request was
// sent, a truncated answer, anything without an envelope.
//
// Refusals are moderated items with their Safety: 403 with reasons, the finish reason content_filter, a refusal, or
// text instead of a picture. Errors are media.Error values: unauthorized, forbidden, not_found (no such model),
// rate_limited, quota_exceeded (402), invalid, too_large, unavailable, bad_response. It may import generate, media and
// wire; no other driver.
package openrouter

import (
	"context"
	"net/http"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

// Config sets up a [Driver]: the key is OPENROUTER_API_KEY, the address OPENROUTER_BASE_URL.
type Config = driver.Config

// Driver generates and edits images with models behind OpenRouter. It is safe for concurrent use.
type Driver struct {
	driver.Synchronous
	post.Identity
	client *post.Client
}

// New creates a driver. Its error has code media.CodeInvalid and names the setting. A missing key is not an error here;
// [Driver.Ready] reports it.
func New(c Config) (*Driver, error) {
	client, err := post.New(post.Config{
		Config: c, Provider: "openrouter", Name: "OpenRouter",
		PublicURL: "https://openrouter.ai", BaseVariable: "OPENROUTER_BASE_URL", Version: "/api/v1",
		KeyVariable: "OPENROUTER_API_KEY", Header: http.Header{"Authorization": {"Bearer " + c.APIKey}},
		Media:   []string{"images.image_url.url", "b64_json"},
		Explain: explain,
		Phrases: post.Phrases{{Any: []string{"not a valid model id"}, Code: media.CodeNotFound}},
		Advice: map[media.Code]string{
			media.CodeUnauthorized:  "check OPENROUTER_API_KEY (openrouter.ai/settings/keys)",
			media.CodeQuotaExceeded: "add credit at openrouter.ai/settings/credits or raise the key's limit",
			media.CodeForbidden:     "check the key's limits and your privacy settings",
		},
	})
	return &Driver{Identity: client, client: client}, err
}

// Start makes the call and waits for its result. A refusal is one moderated item. A result that arrived before an error
// is returned with it.
func (d *Driver) Start(ctx context.Context, t driver.Task) (driver.Update, error) {
	if t.Model.Via == "images" {
		return d.typed(ctx, t)
	}
	if err := d.client.Reaches(t, post.Reach{N: 1, Methods: []generate.Method{generate.MethodEdit}}); err != nil {
		return driver.Update{}, err
	}
	var content any = t.Prompt
	if len(t.Inputs) > 0 { // the pictures of an edit, whose bytes the transport streams from the store
		var parts []part
		for _, in := range t.Inputs {
			parts = append(parts, part{Type: "image_url", ImageURL: &imageURL{URL: d.client.DataURL(ctx, in.Blob)}})
		}
		content = append(parts, part{Type: "text", Text: t.Prompt})
	}
	body := post.Body{
		"model": t.Model.APIModel, "modalities": []string{"image", "text"},
		"messages": []any{map[string]any{"role": "user", "content": content}},
	}
	image := post.Body{}
	image.Settings(t, post.Names{AspectRatio: "aspect_ratio", Tier: "image_size"})
	body.Set("image_config", image)
	body.Set("seed", t.Seed)
	if err := body.AnyOption(t, owned); err != nil {
		return driver.Update{}, err
	}
	var got answer
	call := post.Call{Path: "/api/v1/chat/completions", Body: body, Of: t.Model.APIModel, Task: t, Into: &got}
	call.Read = func(a *post.Answer) (driver.Update, error) { return d.answered(call, a, got) }
	return d.client.Do(ctx, call)
}
