// Package gemini is the driver for Google's Gemini image models, the Nano Banana family, and Gemini speech models,
// through the Gemini API's generateContent.
//
// It uses plain net/http. The vendor's SDK would add nothing: there is one POST and no polling, and its types decode
// inline data that has already been lifted. The simulator that the tests run against is checked with the vendor's SDK.
//
// One call makes one picture; a model may return more, and every picture that is not a thought is kept. Thought parts,
// texts and pictures, are ignored; thoughtSignature is never used.
//
// Safe to repeat, and therefore Retryable: a request that was never sent (name, dial, TLS), 429 unless a daily or zero
// quota is used up (the wait is RetryInfo's retryDelay), and 503 or 504 with Google's own error status, because only
// successful calls are billed. Not safe: 500, a connection lost after the request was sent, a truncated answer,
// anything without an error status. A picture that arrived complete before a truncation is returned with the error.
//
// Speech is returned as raw samples; the transport adds a WAV header.
//
// Refusals are successes without a picture, in four forms; they are returned as moderated items with their Safety.
// Errors are media.Error values: unauthorized (a bad key is status 400 here), forbidden, not_found (a retired model),
// rate_limited, quota_exceeded, invalid, unavailable, bad_response. It may import generate, media and wire; no other
// driver.
package gemini

import (
	"context"
	"net/http"
	"net/url"

	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

// Config sets up a [Driver]: the key is GEMINI_API_KEY or GOOGLE_API_KEY, the address GEMINI_BASE_URL.
type Config = driver.Config

// Driver generates and edits images with Gemini models, and generates speech. It is safe for concurrent use.
type Driver struct {
	driver.Synchronous
	post.Identity
	client *post.Client
}

// New creates a driver. Its error has code media.CodeInvalid and names the setting. A missing key is not an error here;
// [Driver.Ready] reports it.
func New(c Config) (*Driver, error) {
	client, err := post.New(post.Config{
		Config: c, Provider: "gemini", Name: "Gemini",
		PublicURL: "https://generativelanguage.googleapis.com", BaseVariable: "GEMINI_BASE_URL", Version: "/v1beta",
		KeyVariable: "GEMINI_API_KEY (or GOOGLE_API_KEY)", Header: http.Header{"X-Goog-Api-Key": {c.APIKey}},
		Media: []string{"inlineData.data"}, Explain: explain, Repeat: []int{http.StatusGatewayTimeout},
		Advice: map[media.Code]string{
			media.CodeUnauthorized:  "check GEMINI_API_KEY or GOOGLE_API_KEY (aistudio.google.com/apikey)",
			media.CodeForbidden:     "check the key's project and its restrictions",
			media.CodeQuotaExceeded: "turn on billing, or raise the quota in Google AI Studio",
		},
	})
	return &Driver{Identity: client, client: client}, err
}

// Start makes the call and waits for its result. A refusal is one moderated item. A result that arrived before an error
// is returned with it.
func (d *Driver) Start(ctx context.Context, t driver.Task) (driver.Update, error) {
	body, err := d.request(ctx, t)
	if err != nil {
		return driver.Update{}, err
	}
	var got answer
	call := post.Call{
		Path: "/v1beta/models/" + url.PathEscape(t.Model.APIModel) + ":generateContent", Body: body,
		Of: t.Model.APIModel, Task: t, Into: &got, Interim: interim,
	}
	call.Read = func(a *post.Answer) (driver.Update, error) { return d.answered(call, a, got) }
	return d.client.Do(ctx, call)
}
