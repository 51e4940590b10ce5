package atelier

import (
	"context"
	"crypto/hmac"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"atelier/api"
	"atelier/generate/driver"
	"atelier/media"
)

// hookKey is the query parameter that authenticates webhook calls.
const hookKey = "key"

// keyedHooks are the providers that receive the webhook address with each task. Leonardo's webhook belongs to its API
// key: its calls carry LeonardoWebhookKey instead.
var keyedHooks = []string{"bfl", "midjourney"}

// bearerHook is the provider whose webhook is configured together with its API key.
const bearerHook = "leonardo"

// hookSecret returns the secret with which a provider signs its webhook calls, or which they carry; empty without a
// public URL.
func (s *Stores) hookSecret(provider string) string {
	switch {
	case provider == bearerHook:
		return s.Config.LeonardoWebhookKey
	case s.Config.PublicURL == "":
		return ""
	}
	return s.deriveSecret("webhook secret " + provider)
}

// webhookResolver returns a function for the address and the secret of a provider's webhook; nil if the server is not
// publicly reachable.
func (s *Stores) webhookResolver() func(provider string) (address, secret string) {
	if s.Config.PublicURL == "" {
		return nil
	}
	return func(provider string) (string, string) {
		if !slices.Contains(keyedHooks, provider) {
			return "", ""
		}
		q := url.Values{hookKey: {s.deriveSecret("webhook " + provider)}}
		return s.Config.PublicURL + "/hooks/" + provider + "?" + q.Encode(), s.hookSecret(provider)
	}
}

// servedHooks forwards webhook calls to the gateway.
type servedHooks struct{ *Atelier }

// AdmitHook checks the key in the address, or Leonardo's bearer token.
func (s servedHooks) AdmitHook(provider string, header http.Header, query url.Values) error {
	have, want := query.Get(hookKey), s.deriveSecret("webhook "+provider)
	switch {
	case slices.Contains(keyedHooks, provider):
	case provider == bearerHook && s.Config.LeonardoWebhookKey != "":
		have, want = strings.TrimPrefix(header.Get("Authorization"), "Bearer "), s.Config.LeonardoWebhookKey
	case provider == bearerHook:
		return media.Errorf(media.CodeUnauthorized, "Leonardo's webhook calls are rejected until LEONARDO_WEBHOOK_KEY is set")
	default:
		return media.Errorf(media.CodeNotFound, "no provider %.40q has a webhook", media.ErrorText(provider))
	}
	if !hmac.Equal([]byte(have), []byte(want)) {
		return media.Errorf(media.CodeUnauthorized, "the call does not have the webhook key of %s", provider)
	}
	return nil
}

// Notify forwards a call to the gateway.
func (s servedHooks) Notify(ctx context.Context, provider string, h api.Hook) error {
	return s.Gateway.Notify(ctx, provider, driver.Notification{Header: h.Header, Query: h.Query, Body: h.Body})
}
