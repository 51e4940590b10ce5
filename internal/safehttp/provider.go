package safehttp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"atelier/media"
)

// Defaults of [Provider].
const (
	// DefaultAnswer bounds an answer, decoded, beside the media that is lifted out of it.
	DefaultAnswer = 16 << 20
	// headerTimeout bounds the wait for the head of an answer: one that is not streamed comes
	// when the model is done.
	headerTimeout = 10 * time.Minute
	// silenceTimeout bounds the wait for each next byte of an answer.
	silenceTimeout = 5 * time.Minute
)

// Provider says how the API of one provider is called.
type Provider struct {
	// Name is the provider as people call it.
	Name string
	// Origin is the address of its API: configured, or its public one. It is trusted for the
	// calls of this client alone.
	Origin string
	// Secrets are the credentials that its calls carry. Where it repeats one in an answer, in
	// whatever form, or an error of the connection does, [key] stands in its place.
	Secrets Secrets
	// Base makes the connections; nil means those of this process, see [Transport].
	Base http.RoundTripper
	// Wrap puts a transport around Base that lifts media out of answers; nil for none.
	Wrap func(base http.RoundTripper) http.RoundTripper
	// MaxAnswer is the longest answer in bytes, decoded, beside what Wrap lifts out of it; 0
	// means [DefaultAnswer].
	MaxAnswer int64
	// Setting is what sets MaxAnswer, for error texts; "" if nothing does.
	Setting string
	// Timeout covers a whole call; 0 leaves that to the context.
	Timeout time.Duration
}

// NewProvider creates the client for calls to one provider; every such client is made here. It
// follows no redirect, because that would carry the key and the prompt elsewhere: the answer
// with the redirect is the caller's. It connects to the provider's own origin and to
// public addresses, as [Transport] does, and reads at most MaxAnswer bytes, then the body
// fails with [media.CodeTooLarge].
func NewProvider(p Provider) *http.Client {
	base := p.Base
	if base == nil {
		base = Transport()
	}
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

// bounded marks requests with what they may trust, and bounds answers.
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

// CloseIdleConnections lets [http.Client.CloseIdleConnections] work.
func (b bounded) CloseIdleConnections() {
	if c, ok := b.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
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
	if int64(len(p))-1 > l.remaining { // one more, to see that there is more
		p = p[:l.remaining+1]
	}
	n, err := l.ReadCloser.Read(p)
	l.remaining -= int64(n)
	if l.remaining < 0 {
		return n - 1, l.over()
	}
	return n, err
}

// trustedKey is where a context holds the origins that its request may trust.
type trustedKey struct{}

// WithTrusted has requests with the context reach these URLs' origins, and no others, wherever they
// resolve to.
func WithTrusted(ctx context.Context, urls ...string) context.Context {
	return context.WithValue(ctx, trustedKey{}, urls)
}

// trusts reports whether a request's context trusts the origin of its URL, see [WithTrusted].
func trusts(req *http.Request) bool {
	urls, _ := req.Context().Value(trustedKey{}).([]string)
	return slices.ContainsFunc(withHost(urls), func(u *url.URL) bool { return origin(u) == origin(req.URL) })
}

// errSilent ends an answer that does not continue.
var errSilent = errors.New("the response stalled for " + silenceTimeout.String())

// awake gives each read of an answer's body a time limit.
type awake struct {
	io.ReadCloser
	timer *time.Timer
	limit time.Duration
	end   context.CancelCauseFunc
	ctx   context.Context //nolint:containedctx // It belongs to the request, as with net/http.
}

// watched makes a request whose answer ends when nothing of its body comes for the limit.
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
