// Package post makes calls to a provider, in JSON or as a form, and interprets the outcome. It holds what drivers
// share: setup ([New]), a call and its answer ([Client.Do]), the meaning of error answers ([Fault]), request bodies
// ([Body]), uploads ([Client.Upload]), the state of tasks ([Client.Update]), and webhook calls ([Client.DecodeWebhook]).
//
// It enforces the rule about money: a call whose request never left this machine may be repeated; a call that was sent
// and not answered may have been billed and is never repeated. Redirects are not followed, because they would carry the
// key and the prompt elsewhere.
//
// Errors are media.Error values; their text contains no base64 and no key. It may import generate, media, wire and
// internal/safehttp; every driver uses it.
package post

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"atelier/generate/driver"
	"atelier/internal/safehttp"
	"atelier/media"
	"atelier/media/wire"
)

// Send posts body as JSON, or a [*Form] as it is, and reads the whole answer, whatever its status. The error is for
// calls without an answer; it is Retryable only if the request cannot have reached the provider.
func (c *Client) Send(ctx context.Context, path string, body any) (*Answer, error) {
	a, err := c.open(ctx, path, body, false)
	if err != nil {
		return nil, err
	}
	return a.read(), nil
}

// Get requests something that costs nothing: a lost call may be repeated, and its error says so. Get reads the whole
// answer, whatever its status.
func (c *Client) Get(ctx context.Context, path string) (*Answer, error) {
	a, err := c.open(ctx, path, nil, true)
	if err != nil {
		return nil, err
	}
	if a.read().Cut() {
		return nil, c.incomplete(a)
	}
	return a, nil
}

// incomplete returns the error for an answer of a call that costs nothing and that ended early.
func (c *Client) incomplete(a *Answer) error {
	if coded, ok := errors.AsType[*media.Error](a.Broken); ok {
		return fmt.Errorf("read the answer of %s: %w", c.Name, coded)
	}
	return media.Errorf(media.CodeUnavailable, "the answer of %s was truncated: it is requested again", c.Name)
}

// open is like [Client.Send], but returns the answer unread. Without a body it is a GET. The error of a call that is not
// free says whether it may be billed.
func (c *Client) open(ctx context.Context, path string, body any, free bool) (*Answer, error) {
	method, buf, kind := http.MethodPost, &bytes.Buffer{}, "application/json"
	switch f, isForm := body.(*Form); {
	case body == nil:
		method, kind = http.MethodGet, ""
	case isForm:
		buf, kind = &f.body, f.kind
	default:
		enc := json.NewEncoder(buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(body); err != nil {
			return nil, media.Errorf(media.CodeInvalid, "an option for %s cannot be written as JSON: %w", c.Name, err)
		}
	}
	var sent atomic.Bool
	ctx, collector := wire.WithCollector(ctx)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	if strings.HasPrefix(path, "/") {
		path = c.base + path
	}
	req, err := http.NewRequestWithContext(ctx, method, cmp.Or(path, c.base), buf)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "%s is not a usable address: %s", c.BaseVariable, c.Clean(err.Error()))
	}
	maps.Copy(req.Header, c.config.Header)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	// Idempotency-Key is omitted on purpose: net/http takes it as permission to repeat the POST, and these endpoints do
	// not deduplicate by it.
	res, err := c.calls.Do(req) //nolint:bodyclose // The caller reads and closes the stream.
	if err == nil {
		return &Answer{Status: res.StatusCode, Header: res.Header, stream: res.Body, Media: collector, free: free}, nil
	}
	wasSent := sent.Load() && !free
	if ctx.Err() != nil { // even if the cause of that has its own code
		return nil, c.Ended(ctx, wasSent)
	}
	if coded, ok := errors.AsType[*media.Error](err); ok && body != nil { // a poll that fails says nothing about its task
		return nil, fmt.Errorf("call %s: %w", c.Name, coded)
	}
	why := c.reason(err)
	if !wasSent {
		return nil, media.Errorf(media.CodeUnavailable, "cannot reach %s (%s): check the network and %s", c.Name, why, c.BaseVariable)
	}
	e := media.Errorf(media.CodeUnavailable,
		"the connection to %s was lost after the request was sent (%s): it may have been billed, so it is not repeated; ask again if you accept that", c.Name, why)
	e.Retryable, e.Cause = false, driver.ErrUnsettled
	return nil, e
}

// reason shortens a transport error to its cause, without the URL.
func (c *Client) reason(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if o, ok := errors.AsType[*net.OpError](err); ok && o.Err != nil {
		err = o.Err
	}
	return c.Clean(err.Error())
}

// Ended returns the error for a context that ended during a call.
func (c *Client) Ended(ctx context.Context, sent bool) error {
	code, what := media.CodeCancelled, "was cancelled"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		code, what = media.CodeDeadline, "ran out of time"
	}
	e := media.Errorf(code, "the call to %s %s", c.Name, what)
	if sent {
		e.Message, e.Cause = e.Message+"; the provider may bill it all the same", driver.ErrUnsettled
	}
	return e
}

// Lost returns the error for an answer that ended early. A synchronous answer cannot be requested again, so what was in
// transit is billed and lost.
func (c *Client) Lost(ctx context.Context, cause error, saved int) error {
	if ctx.Err() != nil {
		return c.Ended(ctx, true)
	}
	if errors.Is(cause, bufio.ErrTooLong) {
		cause = media.Errorf(media.CodeTooLarge, "one event of it is over %d MiB without its media: the call is billed, so it is not repeated", frameLimit>>20)
	}
	if coded, ok := errors.AsType[*media.Error](cause); ok {
		return fmt.Errorf("read the answer of %s: %w: %w", c.Name, coded, driver.ErrUnsettled)
	}
	kept := "nothing of it arrived whole"
	if saved > 0 {
		kept = fmt.Sprintf("%d that arrived whole is kept", saved)
	}
	e := media.Errorf(media.CodeBadResponse,
		"the answer of %s was truncated (%s): the call is billed and cannot be fetched again, so it is not repeated", c.Name, kept)
	e.Cause = errors.Join(driver.ErrUnsettled, cause)
	return e
}

// Clean makes a provider's text safe for an error: no base64, no key, one line, at most 300 bytes.
func (c *Client) Clean(s string) string {
	const most = 300
	return c.config.secrets.Clean(s, most)
}

// Config describes how a provider is reached and what its answers mean.
type Config struct {
	driver.Config
	// Provider is the provider's key in the catalogue.
	Provider string
	// Name is the provider's display name: "OpenAI".
	Name string
	// PublicURL is the API's own address, for a Config without BaseURL. The paths of calls follow the address; without
	// one the client is not ready. BaseVariable names the variable that sets BaseURL.
	PublicURL, BaseVariable string
	// Version is a suffix of base URLs that people copy with them, and that paths already contain.
	Version string
	// KeyVariable names the variable that sets APIKey; empty if none is needed.
	KeyVariable string
	// Header is sent with every call of [Client.Do].
	Header http.Header
	// Media are the fields of answers that contain media of any size.
	Media []string
	// Storage is the display name of the host that [Client.Upload] sends files to; empty if there is none.
	Storage string

	// Genuine verifies a webhook call with NotifySecret: [Signed], [Bearer]. Without either of them, only the task's id
	// in a call is used.
	Genuine func(n driver.Notification, secret string) bool
	// Explain decodes the provider's own error answer; false if the answer is not one. Words need not be cleaned.
	Explain func(a *Answer) (Fault, bool)
	// Phrases are the meanings of its words if Explain sets no code.
	Phrases Phrases
	// Failures are the meanings of a failed task's words; any other failure is media.CodeUnavailable.
	Failures Phrases
	// States are the provider's words for the states of finished tasks.
	States map[string]State
	// Codes are the codes of statuses whose meaning differs from the usual one.
	Codes map[int]media.Code
	// Repeat are the failure statuses, besides 409 and 503, after which nothing was made.
	Repeat []int
	// Advice says what to do about an error, in place of the usual advice.
	Advice map[media.Code]string

	secrets safehttp.Secrets
}

// Client calls one provider, and converts its answers to results, states and the shared error vocabulary. It is safe
// for concurrent use.
type Client struct {
	// Name is the provider's display name: "OpenAI". BaseVariable names the variable that sets the address.
	Name, BaseVariable string

	base    string // the API's address, without a trailing slash
	config  Config
	calls   *http.Client // puts media into requests, lifts it out of answers
	storage *Client      // for uploads; nil if there are none
}

// New creates a client. Its error has code media.CodeInvalid and names the setting. A missing key or address is not an
// error here; [Client.Ready] reports it.
func New(c Config) (*Client, error) {
	if c.Codec == nil {
		return nil, media.Errorf(media.CodeInvalid, "the driver of %s has no codec: set Config.Codec", c.Name)
	}
	base := strings.TrimSuffix(strings.TrimRight(cmp.Or(c.BaseURL, c.PublicURL), "/"), c.Version)
	if u, err := url.Parse(base); base != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "") {
		return nil, media.Errorf(media.CodeInvalid, "%s must be an address that begins with https:// or http:// and has no query, because paths follow it", c.BaseVariable)
	}
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // The default clock.
	}
	c.secrets = safehttp.NewSecrets(c.APIKey, c.NotifySecret)
	client := &Client{Name: c.Name, BaseVariable: c.BaseVariable, base: base, config: c}
	client.calls = safehttp.NewProvider(safehttp.Provider{
		Name: c.Name, Origin: base, Secrets: c.secrets, Base: c.Base, MaxAnswer: c.Codec.MaxAnswer(), Setting: wire.MaxAnswerSetting,
		Wrap: func(under http.RoundTripper) http.RoundTripper {
			return c.Codec.Transport(under, wire.Fields{Media: c.Media})
		},
	})
	if c.Storage == "" {
		return client, nil
	}
	// The form of an upload authorizes it: no key is sent to the storage.
	s := c
	s.Name, s.Storage, s.Header, s.Base, s.Explain = c.Storage, "", nil, c.Uploads, refusedFile
	storage, err := New(s)
	client.storage = storage
	return client, err
}

// Identity has the methods of [Client] that drivers embed.
type Identity interface {
	Provider() string
	Ready() error
}

// Provider returns the provider's key in the catalogue.
func (c *Client) Provider() string { return c.config.Provider }

// Ready returns nil if the required address and key are set.
func (c *Client) Ready() error {
	switch {
	case c.base == "":
		return media.Errorf(media.CodeMissingKey, "no address for %s: %s", c.Name, cmp.Or(c.config.Advice[media.CodeMissingKey], "set "+c.BaseVariable))
	case c.config.APIKey == "" && c.config.KeyVariable != "":
		return media.Errorf(media.CodeMissingKey, "no key for %s: set %s", c.Name, c.config.KeyVariable)
	}
	return nil
}

// Owns reports whether an address from the provider is on the client's own origin, where the key is sent anyway.
func (c *Client) Owns(u *url.URL) bool {
	base, err := url.Parse(c.base)
	return err == nil && u.User == nil && u.Scheme == base.Scheme && strings.EqualFold(u.Host, base.Host)
}

// Token returns the placeholder of a stored picture in a JSON field; the transport streams the bytes as base64 instead.
func (c *Client) Token(ctx context.Context, b media.Blob) string {
	return c.config.Codec.Token(media.ScopeOf(ctx).Tree, b, wire.VariantStd)
}

// DataURL returns the token in a data: URL.
func (c *Client) DataURL(ctx context.Context, b media.Blob) string {
	return "data:" + b.MIMEType + ";base64," + c.Token(ctx, b)
}
