// Package openai is the driver for OpenAI's images endpoints, generations and edits, of the GPT Image family, for its
// speech endpoint, and for services with the same protocol ([catalog.Endpoint]), whatever they call their models.
//
// It uses plain net/http. The vendor's SDK would add nothing: there is one POST and no polling; its retries must be
// off, its error text quotes the answer's body, and the version that the chat library needs lacks the newer settings.
// The simulator that the tests run against is checked with the vendor's SDK.
//
// Safe to repeat, and therefore Retryable: a request that was never sent (name, dial, TLS), 429 unless the credit is
// used up, 408, 409 (once), and 503 in OpenAI's own error envelope, because these mean that nothing was made.
// X-Should-Retry overrides that. The wait is Retry-After-Ms, else Retry-After, else the reset of the exhausted limit.
//
// Not safe: 500, a connection lost after the request was sent, a truncated answer, a page of a proxy (502, 504), and
// anything else without an envelope. The endpoint answers synchronously, cannot return its results again, and takes no
// idempotency key: repeating those calls may be billed twice. Pictures that arrived complete before a truncation are
// returned with the error.
//
// Errors are media.Error values: unauthorized, forbidden (organization not verified), not_found (a retired model),
// moderated (as items with their Safety), rate_limited, quota_exceeded, invalid, unavailable, bad_response. It may
// import generate, media and wire; no other driver.
package openai

import (
	"cmp"
	"context"
	"net/http"

	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
	"atelier/media/wire"
)

// Config sets up a [Driver]: the key is OPENAI_API_KEY, the address, with the version, OPENAI_BASE_URL.
type Config = driver.Config

// Driver generates and edits images with OpenAI's GPT Image models, and speech with its speech models, or does so at a
// compatible service. It is safe for concurrent use.
type Driver struct {
	driver.Synchronous
	post.Identity
	client *post.Client
	own    bool // OpenAI, not another service
	xai    bool // xAI's dialect
}

var _ driver.Reviewed = (*Driver)(nil)

// New creates a driver for OpenAI. Its error has code media.CodeInvalid and names the setting. A missing key is not an
// error here; [Driver.Ready] reports it.
func New(c Config) (*Driver, error) {
	d, err := create(c, catalog.Endpoint{
		Provider: "openai", Name: "OpenAI", BaseURL: "https://api.openai.com/v1", BaseVariable: "OPENAI_BASE_URL", KeyVariable: "OPENAI_API_KEY",
	}, map[media.Code]string{
		media.CodeUnauthorized:  "check OPENAI_API_KEY (platform.openai.com, API keys)",
		media.CodeQuotaExceeded: "add credit or raise its limit under Billing at platform.openai.com",
	})
	d.own = true
	return d, err
}

// NewCompatible is like [New] for another service with the same protocol.
func NewCompatible(c Config, at catalog.Endpoint) (*Driver, error) {
	at.BaseVariable = cmp.Or(at.BaseVariable, "endpoint.base_url of "+at.Provider)
	return create(c, at, map[media.Code]string{media.CodeUnauthorized: "check " + cmp.Or(at.KeyVariable, "whether it wants one (endpoint.key_variable)")})
}

func create(c Config, at catalog.Endpoint, advice map[media.Code]string) (*Driver, error) {
	header := http.Header{}
	if c.APIKey != "" {
		header.Set("Authorization", "Bearer "+c.APIKey)
	}
	client, err := post.New(post.Config{
		Config: c, Provider: at.Provider, Name: at.Name, PublicURL: at.BaseURL, BaseVariable: at.BaseVariable, KeyVariable: at.KeyVariable,
		Header: header, Media: []string{"b64_json"}, Explain: explain, Advice: advice, Phrases: phrases, Repeat: []int{http.StatusRequestTimeout},
	})
	return &Driver{Identity: client, client: client, xai: at.Dialect == catalog.DialectXAI}, err
}

// Start makes the call and waits for all its results; allow at least 180 seconds. A refusal by the safety system is one
// moderated item for each requested picture. Pictures that arrived before an error are returned with it.
func (d *Driver) Start(ctx context.Context, t driver.Task) (driver.Update, error) {
	call := post.Call{Of: t.Model.APIModel, Task: t}
	var err error
	if t.Model.Modality == media.ModalityAudio {
		call.Path, call.Whole = "/audio/speech", true
		call.Body, err = d.speech(t)
	} else {
		var got answer
		call.Into = &got
		call.Read = func(a *post.Answer) (driver.Update, error) {
			if f, failed := explain(a); failed && len(got.Data) == 0 { // some services report errors as successes
				return d.client.Refuse(call, a, f)
			}
			return d.answered(call, a.Media, got)
		}
		if d.xai {
			call.Path, call.Body, err = d.xaiRequest(ctx, t)
		} else {
			call.Frame = func(from *wire.Collector, data []byte) (post.Frame, error) { return d.frame(call, from, data) }
			call.Path, call.Body, err = d.request(ctx, t)
		}
	}
	if err != nil {
		return driver.Update{}, err
	}
	return d.client.Do(ctx, call)
}
