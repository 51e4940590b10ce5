// Package safehttp fetches addresses from untrusted sources: links of providers, models and pages.
// It checks scheme, address, size, time and type, and trusts no one else's checks.
//
// The address is checked when the connection is made, on every hop of every redirect, so that neither a name that
// resolves to an internal address nor one whose address changes gets through. Origins that the operator configured are
// trusted, even on loopback, as long as every hop so far was on a trusted origin.
//
// [Client.Get] never uses a proxy from the environment, because the address could not be checked
// behind it. [NewProvider], for calls to the API of one provider, uses HTTP_PROXY, HTTPS_PROXY and
// NO_PROXY only for that provider's origin, and follows no redirects.
//
// Errors are [media.Error] values: [media.CodeBlockedAddress], CodeInvalid (not an http URL), CodeTooLarge,
// CodeDeadline, CodeCancelled, CodeBadResponse (type, redirects, early end), and by status CodeNotFound, CodeForbidden,
// CodeRateLimited, CodeUnavailable. They contain only the origin, because paths and queries of links may contain
// secrets. The package imports media and internal/patience.
package safehttp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"atelier/internal/patience"
	"atelier/media"
)

// Defaults of [Config].
const (
	DefaultMaxBytes = 64 << 20
	DefaultTimeout  = time.Minute
)

// Config determines what may be fetched. The zero value fetches any type from public addresses within the defaults.
type Config struct {
	// TrustedPaths are URLs that are trusted together with everything below their path, regardless of the address that
	// they resolve to, but not the rest of their origins. Texts that are not URLs have no effect.
	TrustedPaths []string
	// MaxBytes is the maximum length of a body; 0 or less means [DefaultMaxBytes].
	MaxBytes int64
	// Timeout limits a whole fetch, including reading the body; 0 or less means [DefaultTimeout].
	Timeout time.Duration
	// Types are the accepted declared media types, such as image/png or image/*; empty accepts any type. A missing type
	// or application/octet-stream is always accepted, because the type is later read from the bytes anyway.
	Types []string
	// UserAgent is sent with every fetch; "" means "atelier".
	UserAgent string
}

// Client fetches within its configuration. It is safe for concurrent use.
type Client struct {
	cfg  Config
	http *http.Client
}

// New creates a client.
func New(cfg Config) *Client {
	cfg.MaxBytes = cmp.Or(max(cfg.MaxBytes, 0), DefaultMaxBytes)
	cfg.Timeout = cmp.Or(max(cfg.Timeout, 0), DefaultTimeout)
	cfg.UserAgent = cmp.Or(cfg.UserAgent, "atelier")
	c := &Client{cfg: cfg}
	c.http = &http.Client{Transport: newGuard(c.cfg, nil), CheckRedirect: c.redirect}
	return c
}

// Response is one fetched resource.
type Response struct {
	// Body returns at most MaxBytes bytes and fails with CodeTooLarge beyond that. The caller closes it.
	Body io.ReadCloser
	// ContentType is the declared type, in lower case without parameters; "" if none.
	ContentType string
	// Charset is the declared character set in lower case; "" if none.
	Charset string
	// Size is the declared length, -1 if there is none.
	Size int64
	// URL is the address after redirects. It may carry secrets.
	URL string
}

// CloseIdle closes the connections of the client, and those of this process to providers, that no request uses.
func (c *Client) CloseIdle() {
	c.http.CloseIdleConnections()
	shared().CloseIdleConnections()
}

// Fetch is [Client.Get] for callers that need only the body and its declared type.
func (c *Client) Fetch(ctx context.Context, rawURL string) (body io.ReadCloser, contentType string, err error) {
	res, err := c.Get(ctx, rawURL)
	if err != nil {
		return nil, "", err
	}
	return res.Body, res.ContentType, nil
}

// Get fetches a URL. The response has a 2xx status and its header passed the checks of size and
// type; the body is checked while it is read.
func (c *Client) Get(ctx context.Context, rawURL string) (*Response, error) {
	u, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.cfg.Timeout, media.Errorf(media.CodeDeadline, "it took longer than %s: %w", c.cfg.Timeout, context.DeadlineExceeded))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		cancel()
		return nil, media.Errorf(media.CodeInvalid, "fetch from %s: the URL is invalid", origin(u))
	}
	req.Header.Set("User-Agent", c.cfg.UserAgent)
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := c.http.Do(req)
	if err != nil {
		defer cancel() // fetchError looks at the context first
		return nil, fetchError(req, err)
	}
	if err := c.check(resp); err != nil {
		cancel()
		_ = resp.Body.Close() // err is the reason why the response is unusable
		return nil, err
	}
	kind, charset := declared(resp)
	return &Response{
		Body:        &body{limited: limited{ReadCloser: resp.Body, remaining: c.cfg.MaxBytes, over: c.tooLarge}, req: resp.Request, cancel: cancel},
		ContentType: kind, Charset: charset, Size: resp.ContentLength, URL: resp.Request.URL.String(),
	}, nil
}

// parse accepts absolute http and https URLs without credentials. Its errors do not contain the
// text, which may be a data: URL.
func parse(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return nil, media.Errorf(media.CodeInvalid, "the address to fetch is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, media.Errorf(media.CodeInvalid, "the scheme %q is not supported: use http or https", clip(u.Scheme))
	case u.Hostname() == "":
		return nil, media.Errorf(media.CodeInvalid, "the URL to fetch has no host")
	case u.User != nil:
		return nil, media.Errorf(media.CodeInvalid, "the URL to fetch from %s contains credentials: remove them", u.Hostname())
	}
	u.Fragment = ""
	return u, nil
}

func clip(s string) string { return s[:min(len(s), 100)] }

const maxRedirects = 5

// redirect is called before each further hop.
func (c *Client) redirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return media.Errorf(media.CodeBadResponse, "more than %d redirects", maxRedirects)
	}
	if _, err := parse(req.URL.String()); err != nil {
		return err
	}
	req.Header.Del("Referer") // the earlier address may be a signed link
	return nil
}

// check checks status and headers.
func (c *Client) check(resp *http.Response) error {
	from := origin(resp.Request.URL)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return statusError(resp)
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return media.Errorf(media.CodeBadResponse, "fetch from %s: the response is compressed, although that was not requested", from)
	}
	if resp.ContentLength > c.cfg.MaxBytes {
		return fetchError(resp.Request, c.tooLarge())
	}
	t, _ := declared(resp)
	accepted := t == "" || t == "application/octet-stream" || t == "binary/octet-stream" || slices.ContainsFunc(c.cfg.Types, func(pattern string) bool {
		ok, err := path.Match(strings.ToLower(pattern), t)
		return err == nil && ok
	})
	if len(c.cfg.Types) > 0 && !accepted {
		return media.Errorf(media.CodeBadResponse, "fetch from %s: the response is %s instead of %s", from, clip(t), strings.Join(c.cfg.Types, ", "))
	}
	return nil
}

func (c *Client) tooLarge() error {
	return media.Errorf(media.CodeTooLarge, "the response is larger than the limit of %d bytes", c.cfg.MaxBytes)
}

// declared returns the media type and the character set of a response, empty if there are none.
func declared(resp *http.Response) (mediaType, charset string) {
	t, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return "", ""
	}
	return t, strings.ToLower(params["charset"])
}

// body limits the bytes that are read and ends the fetch when it is closed.
type body struct {
	limited
	req    *http.Request
	cancel context.CancelFunc
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	n, err := b.limited.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fetchError(b.req, err)
	}
	return n, err
}

// Close implements [io.Closer].
func (b *body) Close() error {
	defer b.cancel()
	return b.limited.Close()
}

// statusError returns the error for a status other than 2xx.
func statusError(resp *http.Response) error {
	code := media.CodeBadResponse
	switch s := resp.StatusCode; {
	case s == http.StatusNotFound || s == http.StatusGone:
		code = media.CodeNotFound
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		code = media.CodeForbidden
	case s == http.StatusTooManyRequests:
		code = media.CodeRateLimited
	case s >= 500 || s == http.StatusRequestTimeout:
		code = media.CodeUnavailable
	}
	e := media.Errorf(code, "fetch from %s: status %d", origin(resp.Request.URL), resp.StatusCode)
	e.RetryAfter = patience.Requested(resp.Header, time.Now()) //nolint:forbidigo // a date in the header is compared with the real time
	return e
}

// fetchError removes the URL, which may be a signed link, from the error of a request.
func fetchError(req *http.Request, err error) error {
	from := "fetch from " + origin(req.URL)
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	var coded *media.Error
	switch {
	case errors.As(err, &coded):
		return media.Errorf(coded.Code, "%s: %w", from, coded)
	case errors.Is(err, context.Canceled):
		return media.Errorf(media.CodeCancelled, "%s: %w", from, context.Canceled)
	case errors.Is(err, context.DeadlineExceeded) && req.Context().Err() != nil: // not that of a connection
		return media.Errorf(media.CodeDeadline, "%s: %w", from, context.Cause(req.Context()))
	case errors.Is(err, io.ErrUnexpectedEOF):
		e := media.Errorf(media.CodeBadResponse, "%s: the response was cut off: %w", from, io.ErrUnexpectedEOF)
		e.Retryable = true
		return e
	}
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return media.Errorf(media.CodeNotFound, "%s: no such host", from)
	}
	// net/http quotes a response that is not HTTP, which may be media.
	e := media.Errorf(media.CodeUnavailable, "%s: %s", from, media.ErrorText(err.Error()))
	e.Cause = err
	return e
}
