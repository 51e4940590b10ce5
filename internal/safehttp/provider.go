package safehttp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"atelier/media"
)

// Defaults of [Provider].
const (
	// DefaultAnswer is the maximum size of a decoded response, not counting lifted media.
	DefaultAnswer = 16 << 20
	// headerTimeout is the maximum wait for the header of a response: without streaming it comes
	// when the model is done.
	headerTimeout = 10 * time.Minute
	// silenceTimeout is the maximum wait for each next byte of a response.
	silenceTimeout = 5 * time.Minute
)

// Provider configures calls to the API of one provider.
type Provider struct {
	// Name is the display name of the provider.
	Name string
	// Origin is the address of its API: configured, or its public one. Only calls of this client trust it.
	Origin string
	// Secrets are the credentials in its calls. If the provider repeats one in a response, in any
	// form, or a connection error contains one, it is replaced with [key].
	Secrets Secrets
	// Base makes the connections; nil means the shared ones of this process, which reach
	// only public addresses besides Origin.
	Base http.RoundTripper
	// Wrap wraps Base in a transport that lifts media out of responses; nil for none.
	Wrap func(base http.RoundTripper) http.RoundTripper
	// MaxAnswer is the maximum size of a decoded response in bytes, not counting what Wrap lifts; 0
	// means [DefaultAnswer].
	MaxAnswer int64
	// Setting is the name of the setting for MaxAnswer, for error texts; "" if there is none.
	Setting string
	// Timeout limits a whole call; 0 leaves it to the context.
	Timeout time.Duration
}

// NewProvider returns the client for calls to one provider; every such client is created here. It follows no redirects,
// because they would send the key and the prompt elsewhere: the caller gets the redirect response. It connects to the
// provider's own origin, through the environment's proxy if there is one, and to public addresses. It reads at most
// MaxAnswer bytes; beyond that the body fails with [media.CodeTooLarge].
func NewProvider(p Provider) *http.Client {
	base := cmp.Or[http.RoundTripper](p.Base, shared())
	if p.Wrap != nil {
		base = p.Wrap(base)
	}
	return &http.Client{
		Transport: bounded{base: base, name: p.Name, origin: p.Origin, most: cmp.Or(p.MaxAnswer, DefaultAnswer), setting: p.Setting, secrets: p.Secrets},
		Timeout:   p.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// bounded sets the trusted origin of requests and limits responses.
type bounded struct {
	base         http.RoundTripper
	name, origin string
	most         int64
	setting      string
	secrets      Secrets
}

// RoundTrip implements [http.RoundTripper].
func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := b.base.RoundTrip(req.WithContext(WithTrusted(req.Context(), b.origin)))
	if err != nil {
		return nil, b.secrets.failure(err)
	}
	res.Body = &limited{ReadCloser: res.Body, remaining: b.most, over: b.tooLarge}
	b.secrets.answer(res)
	return res, nil
}

func (b bounded) tooLarge() error {
	limit := strconv.FormatInt(b.most, 10) + " bytes"
	if b.most%(1<<20) == 0 {
		limit = strconv.FormatInt(b.most>>20, 10) + " MiB"
	}
	if b.setting != "" {
		limit += ", the limit of " + b.setting
	}
	return media.Errorf(media.CodeTooLarge, "%s answered with more than %s besides media: the request is not repeated", b.name, limit)
}

// limited is a body that fails beyond a limit.
type limited struct {
	io.ReadCloser
	remaining int64
	over      func() error
}

// Read implements [io.Reader].
func (l *limited) Read(p []byte) (int, error) {
	if l.remaining < 0 {
		return 0, l.over()
	}
	if int64(len(p))-1 > l.remaining { // one more byte, to detect an excess
		p = p[:l.remaining+1]
	}
	n, err := l.ReadCloser.Read(p)
	l.remaining -= int64(n)
	if l.remaining < 0 {
		return n - 1, l.over()
	}
	return n, err
}

// trustedKey is the context key of the trusted origins of a request.
type trustedKey struct{}

// WithTrusted lets requests with the context reach the origins of these URLs, and no others,
// regardless of the address they resolve to.
func WithTrusted(ctx context.Context, urls ...string) context.Context {
	return context.WithValue(ctx, trustedKey{}, urls)
}

// errSilent ends a stalled response.
var errSilent = errors.New("the response stalled for " + silenceTimeout.String())

// awake sets a time limit for each read of a response's body.
type awake struct {
	io.ReadCloser
	timer *time.Timer
	limit time.Duration
	end   context.CancelCauseFunc
	ctx   context.Context //nolint:containedctx // It belongs to the request, as with net/http.
}

// watched sends a request and ends the response if no byte of its body arrives within the limit.
func watched(base http.RoundTripper, req *http.Request, limit time.Duration) (*http.Response, error) {
	ctx, end := context.WithCancelCause(req.Context())
	res, err := base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		end(nil)
		return nil, err
	}
	timer := time.AfterFunc(limit, func() { end(errSilent) })
	timer.Stop()
	res.Body, res.Request = &awake{ReadCloser: res.Body, timer: timer, limit: limit, end: end, ctx: ctx}, req
	return res, nil
}

// Read implements [io.Reader].
func (a *awake) Read(p []byte) (int, error) {
	a.timer.Reset(a.limit)
	n, err := a.ReadCloser.Read(p)
	a.timer.Stop()
	if err != nil && !errors.Is(err, io.EOF) && errors.Is(context.Cause(a.ctx), errSilent) {
		err = errSilent
	}
	return n, err
}

// Close implements [io.Closer].
func (a *awake) Close() error {
	a.timer.Stop()
	defer a.end(nil)
	return a.ReadCloser.Close()
}
