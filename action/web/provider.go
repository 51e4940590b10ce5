package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"

	"atelier/internal/patience"
	"atelier/internal/safehttp"
	"atelier/media"
)

// Provider is the address and key of one provider.
type Provider struct {
	// Key is the credential; SearXNG needs none.
	Key string
	// BaseURL is the origin, or for SearXNG the address of the instance; "" means the provider's own. The operator's
	// address is trusted, even a loopback address.
	BaseURL string
	// Timeout covers one search; 0 means 20 seconds.
	Timeout time.Duration
}

// maxAnswer is the maximum size of a provider's response, in bytes.
const maxAnswer = 4 << 20

// Engine is a provider that is reached over HTTP.
type Engine struct {
	name    string
	key     string
	api     *url.URL // the address of searches
	http    *http.Client
	request func(key string, q Query) question
}

var _ Searcher = (*Engine)(nil)

func newEngine(name, base, path string, p Provider, request func(key string, q Query) question) (*Engine, error) {
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(cmp.Or(p.BaseURL, base)), "/"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, media.Errorf(media.CodeInvalid, "the address of %s must begin with http:// or https://", name)
	}
	calls := safehttp.NewProvider(safehttp.Provider{
		Name: name, Origin: u.String(), Secrets: safehttp.NewSecrets(p.Key), MaxAnswer: maxAnswer, Timeout: cmp.Or(p.Timeout, 20*time.Second),
	})
	return &Engine{name: name, key: p.Key, api: u.JoinPath(path), http: calls, request: request}, nil
}

// Name implements [Searcher].
func (e *Engine) Name() string { return e.name }

// API returns the address of searches, for [NewFetcher].
func (e *Engine) API() string { return e.api.String() }

// question is one request to a provider. A body makes it a POST of JSON.
type question struct {
	query  url.Values
	header http.Header
	body   any
}

func (e *Engine) call(ctx context.Context, q question, out any) error {
	u := *e.api
	u.RawQuery = q.query.Encode()
	method, content := http.MethodGet, io.Reader(nil)
	if q.body != nil {
		b, err := json.Marshal(q.body)
		if err != nil {
			return media.Errorf(media.CodeInternal, "write the request to %s: %w", e.name, err)
		}
		method, content = http.MethodPost, bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), content)
	if err != nil {
		return media.Errorf(media.CodeInvalid, "the address of %s is invalid", e.name)
	}
	for k, v := range q.header {
		req.Header[k] = v
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "atelier")
	if q.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := e.http.Do(req)
	if err != nil {
		return e.failure(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }() // read as far as needed
	b, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return e.failure(ctx, err)
	case resp.StatusCode != http.StatusOK:
		return e.refusal(resp, b)
	}
	if err := json.Unmarshal(b, out); err != nil {
		return media.Errorf(media.CodeBadResponse, "the response of %s is not a search result: check its address and that it returns JSON", e.name)
	}
	return nil
}

// failure adds a code to a connection error and omits the address.
func (e *Engine) failure(ctx context.Context, err error) error {
	var own *media.Error
	var ue *url.Error
	switch {
	case errors.As(err, &own):
		return media.Errorf(own.Code, "search with %s: %w", e.name, own)
	case ctx.Err() != nil:
		return media.Errorf(media.CodeOf(ctx.Err()), "search with %s: %w", e.name, ctx.Err())
	case errors.As(err, &ue) && ue.Timeout():
		return media.Errorf(media.CodeUnavailable, "%s did not respond within %s", e.name, e.http.Timeout)
	}
	return media.Errorf(media.CodeUnavailable, "%s cannot be reached: check its address and the network", e.name)
}

// refusal converts a status to an error with a code and the provider's message.
func (e *Engine) refusal(resp *http.Response, body []byte) error {
	code, what := media.CodeBadResponse, fmt.Sprintf("responded with status %d", resp.StatusCode)
	switch s := resp.StatusCode; {
	case s == http.StatusUnauthorized:
		code, what = media.CodeUnauthorized, "rejected the key"
	case s == http.StatusForbidden:
		code, what = media.CodeForbidden, "does not allow this search"
	case s == http.StatusPaymentRequired || s == 432 || s == 433: // Tavily: plan limit, pay-as-you-go limit
		code, what = media.CodeQuotaExceeded, "has no credit left"
	case s == http.StatusTooManyRequests:
		code, what = media.CodeRateLimited, "limits the rate of searches"
	case s >= 500 || s == http.StatusRequestTimeout:
		code, what = media.CodeUnavailable, "is not available"
	case s == http.StatusBadRequest || s == http.StatusUnprocessableEntity:
		code, what = media.CodeInvalid, "cannot use this search"
	}
	refused := media.Errorf(code, "%s %s", e.name, what)
	var tree any
	if json.Unmarshal(body, &tree) == nil {
		if words := one(explanation(tree, 0), 200); words != "" {
			refused.Message += ": " + words
		}
	}
	refused.RetryAfter = patience.Requested(resp.Header, time.Now()) //nolint:forbidigo // a date in the header is compared with the real time
	return refused
}

// explanation returns the error message in a provider's response: the first text under a common name.
func explanation(v any, depth int) string {
	t, ok := v.(map[string]any)
	if !ok || depth > 3 {
		s, _ := v.(string)
		return s
	}
	for _, k := range []string{"detail", "error", "message"} {
		if t[k] != nil {
			if s := explanation(t[k], depth+1); s != "" {
				return s
			}
		}
	}
	return ""
}

// plainText removes tags from a title or snippet and decodes entities.
func plainText(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return s
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return html.UnescapeString(b.String())
		case html.TextToken:
			b.Write(z.Text())
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken, html.CommentToken, html.DoctypeToken:
		}
	}
}
