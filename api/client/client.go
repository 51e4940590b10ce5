// Package client is the Go client of Atelier's API. The fields of a [Client] implement the services of package api over
// HTTP, so that the same code works with a server and within one process. Both implementations pass the test suite of
// package apitest. The id or key of a request that starts something is its Idempotency-Key; except for StartSubAction,
// empty means a new one.
//
// Errors are *media.Error values with the server's code, or [media.CodeUnavailable] if the server cannot be reached. If
// the connection fails, reads and requests with an Idempotency-Key are retried, except for Ready and sub-action
// streams. Except for StartSubAction, every request that costs money has a key. The package may import api and media.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelier/api"
	"atelier/media"
)

// Config configures a [Client].
type Config struct {
	// URL is the address of the server, such as http://127.0.0.1:8484; required.
	URL string
	// Token is sent as Authorization: Bearer; empty means that no token is sent.
	Token string
	// HTTP sends the requests. nil means a client that does not follow redirects and has no timeout: use contexts with
	// a deadline.
	HTTP *http.Client
}

// Client accesses the API of a server, by resource. It is safe for concurrent use. Uploads, downloads, reports and
// archives are streamed; after an error, what was written of them is incomplete. Runs.WriteReport ignores its url: the
// report has the addresses of the server. Positions in lists are the server's cursors.
//
// Events.Follow resumes a lost stream without gaps or repeats, unless the server rejects the request or cannot be reached
// at first. SubActions.FollowSubAction returns an error instead: call it again with the last number.
type Client struct {
	Health  api.HealthService
	Catalog api.CatalogService
	Budgets api.BudgetService
	Media   interface {
		api.MediaService
		api.ArchiveService
	}
	Runs          api.RunService
	Trace         api.TraceService
	Events        api.EventService
	Conversations api.ConversationService
	Generations   api.GenerationService
	Workflows     api.WorkflowService
	WorkflowRuns  api.WorkflowRunService
	Interactions  api.InteractionService
	SubActions    api.SubActionService
}

// The resources of a server.
type (
	health        struct{ *transport }
	catalog       struct{ *transport }
	budgets       struct{ *transport }
	mediaItems    struct{ *transport }
	runs          struct{ *transport }
	trace         struct{ *transport }
	events        struct{ *transport }
	conversations struct{ *transport }
	generations   struct{ *transport }
	workflows     struct{ *transport }
	workflowRuns  struct{ *transport }
	interactions  struct{ *transport }
	subActions    struct{ *transport }
)

// transport sends the requests of all resources.
type transport struct {
	base  string
	token string
	http  *http.Client
	// wait is the pause before the first retry. It doubles with each retry.
	wait time.Duration
}

// maxAttempts is the maximum number of attempts for a request that may be retried.
const maxAttempts = 4

// New creates a client. The error for an invalid URL has code media.CodeInvalid.
func New(c Config) (*Client, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return nil, media.Errorf(media.CodeInvalid, "URL is %.100q: give the server's address, such as http://127.0.0.1:8484", media.ErrorText(c.URL))
	}
	if c.HTTP == nil {
		c.HTTP = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	t := &transport{base: strings.TrimSuffix(c.URL, "/"), token: c.Token, http: c.HTTP, wait: 250 * time.Millisecond}
	return &Client{
		Health: health{t}, Catalog: catalog{t}, Budgets: budgets{t}, Media: mediaItems{t}, Runs: runs{t}, Trace: trace{t}, Events: events{t},
		Conversations: conversations{t}, Generations: generations{t}, Workflows: workflows{t}, WorkflowRuns: workflowRuns{t}, Interactions: interactions{t}, SubActions: subActions{t},
	}, nil
}

// request is a request to send.
type request struct {
	method, path string
	query        url.Values
	header       http.Header
	// body is sent as JSON; nil means no body.
	body any
	// needsKey means that the request needs an Idempotency-Key: key or, if key is empty, a new one.
	needsKey bool
	key      string
}

// sendJSON sends a request and decodes the JSON response.
func sendJSON[T any](ctx context.Context, c *transport, r request) (out T, err error) {
	return decoded[T](c.send(ctx, r)) //nolint:bodyclose // decoded closes the body
}

// decoded decodes the JSON body of a response.
func decoded[T any](res *http.Response, err error) (out T, _ error) {
	if err != nil {
		return out, err
	}
	defer func() { _ = res.Body.Close() }() // the body is complete, or the error says so
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		if _, other := errors.AsType[*json.SyntaxError](err); other {
			return out, media.Errorf(media.CodeBadResponse, "%s %s: the response is not JSON: %w", res.Request.Method, res.Request.URL.Path, err)
		}
		return out, broken(res.Request.Context(), res.Request.Method+" "+res.Request.URL.Path, err)
	}
	return out, nil
}

// send sends a request and returns a successful response. If the connection fails and a retry is safe, it retries. The
// caller must close the body.
func (c *transport) send(ctx context.Context, r request) (*http.Response, error) {
	var body []byte
	if r.body != nil {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return nil, media.Errorf(media.CodeInvalid, "write the request: %w", err)
		}
	}
	if r.needsKey && r.key == "" {
		r.key = uuid.Must(uuid.NewV7()).String()
	}
	most := 1
	if r.method == http.MethodGet || r.key != "" {
		most = maxAttempts
	}
	for try, wait := 1, c.wait; ; try, wait = try+1, 2*wait {
		res, err := c.once(ctx, r, body)
		if err == nil || try >= most || media.CodeOf(err) != media.CodeUnavailable {
			return res, err
		}
		if !pause(ctx, wait) {
			return nil, err
		}
	}
}

// pause waits and reports whether ctx is still active.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// once sends a request without retries.
func (c *transport) once(ctx context.Context, r request, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, bytes.NewReader(body))
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "write the request: %w", err)
	}
	req.URL.RawQuery = r.query.Encode()
	for k, v := range r.header {
		req.Header[k] = v
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
	}
	return c.do(req)
}

// do sends a prepared request and returns a successful response.
func (c *transport) do(req *http.Request) (*http.Response, error) {
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(req) //nolint:gosec // the address is Config.URL
	if err != nil {
		return nil, broken(req.Context(), req.Method+" "+req.URL.Path, err)
	}
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return res, nil
	}
	defer func() { _ = res.Body.Close() }()                  // only the problem in the body matters
	b, _ := io.ReadAll(io.LimitReader(res.Body, maxProblem)) // an incomplete body is not valid problem+json
	var p api.Problem
	if json.Unmarshal(b, &p) != nil || p.Code == "" {
		code := media.CodeBadResponse
		if res.StatusCode >= http.StatusBadGateway && res.StatusCode <= http.StatusGatewayTimeout { // a proxy cannot reach the server
			code = media.CodeUnavailable
		}
		return nil, media.Errorf(code, "the server responded with %s: %.200s", res.Status, media.ErrorText(strings.TrimSpace(string(b))))
	}
	e := media.Errorf(media.Code(p.Code), "%s", p.Detail)
	e.Retryable, e.Valid = p.Retryable, p.Valid
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return nil, e
}

// broken returns the error of a request whose response is missing or incomplete.
func broken(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", what, context.Cause(ctx))
	}
	if own, ok := errors.AsType[*media.Error](err); ok {
		return own
	}
	return media.Errorf(media.CodeUnavailable, "%s: the server does not respond: %w", what, err)
}

// maxProblem is the maximum number of bytes of a problem that are read.
const maxProblem = 1 << 20
