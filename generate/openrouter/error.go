package openrouter

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// apiError is the inside of OpenRouter's envelope. Its code is an HTTP status; upstream
// errors that are passed through can have a word there.
type apiError struct {
	Message  string          `json:"message"`
	Code     json.RawMessage `json:"code"`
	Metadata struct {
		Reasons      []string          `json:"reasons"`
		ProviderName string            `json:"provider_name"`
		Raw          any               `json:"raw"`
		Headers      map[string]string `json:"headers"`
	} `json:"metadata"`
}

// status is the code, or what the answer's status says if it is no number.
func (e *apiError) status(answered int) int {
	if n, err := strconv.Atoi(strings.Trim(string(e.Code), `"`)); err == nil && n >= 400 && n < 600 {
		return n
	}
	return answered
}

// refused reads an answer that is not a 200.
func (d *Driver) refused(ctx context.Context, t generate.Task, a *post.Answer) (generate.Update, error) {
	if ctx.Err() != nil {
		return generate.Update{}, d.client.Ended(ctx, true)
	}
	var envelope struct {
		Error *apiError `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &envelope); err != nil || envelope.Error == nil {
		e := d.client.NotJSON(a)
		if e.Code == media.CodeRateLimited {
			e.RetryAfter = d.wait(a.Header, nil)
		}
		return generate.Update{}, e
	}
	return d.failed(t, a.Status, a.Header, envelope.Error)
}

// failed turns an error envelope, of its own or inside of a success, into the one error
// vocabulary. Inside of a success a model was run, so only a rate limit is repeated.
func (d *Driver) failed(t generate.Task, answered int, h http.Header, said *apiError) (generate.Update, error) {
	message := d.client.Clean(said.Message)
	if raw, ok := said.Metadata.Raw.(string); ok && raw != "" {
		message += ": " + d.client.Clean(raw)
	}
	model := t.Model.APIModel
	switch status := said.status(answered); {
	case len(said.Metadata.Reasons) > 0:
		u := generate.Update{Done: true, Progress: 1, Usage: generate.Usage{Calls: 1}}
		u.Items = []generate.Item{d.moderated("input", said.Metadata.Reasons, said.Message)}
		return u, nil
	case status == http.StatusUnauthorized:
		return generate.Update{}, media.Errorf(media.CodeUnauthorized, "OpenRouter refused the key: check OPENROUTER_API_KEY (openrouter.ai/settings/keys)")
	case status == http.StatusPaymentRequired:
		return generate.Update{}, media.Errorf(media.CodeQuotaExceeded, "the OpenRouter account or key has no credit left: add credit at openrouter.ai/settings/credits or raise the key's limit (%s)", message)
	case status == http.StatusForbidden:
		return generate.Update{}, media.Errorf(media.CodeForbidden, "OpenRouter does not let this key use %s: check its limits and your privacy settings (%s)", model, message)
	case status == http.StatusNotFound, strings.Contains(message, "not a valid model ID"):
		return generate.Update{}, media.Errorf(media.CodeNotFound, "OpenRouter has no provider of %s that does this, or has it no longer: choose one that \"atelier models list\" shows as live (%s)", model, message)
	case status == http.StatusRequestEntityTooLarge:
		return generate.Update{}, media.Errorf(media.CodeTooLarge, "the request is too large for %s: send fewer or smaller pictures (%s)", model, message)
	case status == http.StatusConflict:
		return generate.Update{}, media.Errorf(media.CodeConflict, "OpenRouter stopped the request for %s because another one was in its way: ask again (%s)", model, message)
	case status == http.StatusTooManyRequests:
		e := media.Errorf(media.CodeRateLimited, "the rate limit of OpenRouter, or of the provider behind it, is reached: wait and try again (%s)", message)
		e.RetryAfter = d.wait(h, said.Metadata.Headers)
		return generate.Update{}, e
	case status == http.StatusOK, status == http.StatusRequestTimeout, status >= http.StatusInternalServerError:
		return generate.Update{}, d.broke(answered, status, h, message)
	}
	return generate.Update{}, media.Errorf(media.CodeInvalid, "OpenRouter refused the request for %s: %s", model, message)
}

// broke is a failure of OpenRouter or of the provider behind it.
func (d *Driver) broke(answered, status int, h http.Header, message string) *media.Error {
	e := media.Errorf(media.CodeUnavailable, "OpenRouter failed with status %d: try again later (%s)", status, message)
	e.RetryAfter = d.wait(h, nil)
	ran := answered == http.StatusOK || status != http.StatusInternalServerError && status != http.StatusServiceUnavailable
	if ran {
		e.Retryable, e.Cause = false, generate.ErrUnsettled
		e.Message += "; a model may have been run and billed, so the call is not repeated"
	}
	return e
}

// wait reads how long OpenRouter asks to wait, from its headers or from those that the
// error quotes; 0 if it does not.
func (d *Driver) wait(h http.Header, quoted map[string]string) time.Duration {
	get := func(name string) string {
		if v := h.Get(name); v != "" {
			return v
		}
		for k, v := range quoted {
			if strings.EqualFold(k, name) {
				return v
			}
		}
		return ""
	}
	if s, err := strconv.ParseFloat(get("Retry-After"), 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(get("Retry-After")); err == nil {
		return max(at.Sub(d.now()), 0)
	}
	if ms, err := strconv.ParseInt(get("X-RateLimit-Reset"), 10, 64); err == nil && ms > 0 {
		return max(time.UnixMilli(ms).Sub(d.now()), 0)
	}
	return 0
}
