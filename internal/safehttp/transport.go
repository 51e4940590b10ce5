package safehttp

import (
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// Transport makes the connections of calls to providers. A request is trusted on the
// origins of its context ([WithTrusted]): there it goes wherever they resolve to, through the
// environment's proxy if there is one. All other requests are guarded as those of
// [Client.Get] and use no proxy. It asks for no compression of its own, waits 10 minutes
// for an answer to begin and 5 for it to continue, and is safe for concurrent use.
func Transport() http.RoundTripper { return shared() }

// shared are the connections of all calls to providers of this process.
var shared = sync.OnceValue(func() *guard { return newGuard(Config{}, http.ProxyFromEnvironment) })

// guard sends requests to trusted origins one way and all others another way.
type guard struct {
	trusted map[string]bool // by origin
	paths   []*url.URL      // trusted with what lies below
	open    *http.Transport // no address check
	closed  *http.Transport // public addresses only
}

func newGuard(cfg Config, proxy func(*http.Request) (*url.URL, error)) *guard {
	g := &guard{trusted: map[string]bool{}, paths: withHost(cfg.TrustedPaths)}
	for _, u := range withHost(cfg.TrustedOrigins) {
		g.trusted[origin(u)] = true
	}
	g.open = newTransport(&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}, proxy)
	g.closed = newTransport(&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive, Control: control}, nil)
	return g
}

// withHost are the URLs with a host among some texts.
func withHost(texts []string) (urls []*url.URL) {
	for _, text := range texts {
		if u, err := url.Parse(strings.TrimSpace(text)); err == nil && u.Hostname() != "" {
			urls = append(urls, u)
		}
	}
	return urls
}

const (
	dialTimeout      = 10 * time.Second
	keepAlive        = 30 * time.Second
	handshakeTimeout = 10 * time.Second
	idleTimeout      = 90 * time.Second
	maxIdle          = 64
	maxHeaderBytes   = 1 << 20
)

func newTransport(d *net.Dialer, proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	return &http.Transport{
		Proxy: proxy, DialContext: d.DialContext, ForceAttemptHTTP2: true, DisableCompression: true,
		TLSHandshakeTimeout: handshakeTimeout, ResponseHeaderTimeout: headerTimeout, IdleConnTimeout: idleTimeout,
		MaxIdleConns: maxIdle, MaxIdleConnsPerHost: maxIdle, MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if g.trusts(req) {
		return watched(g.open, req, silenceTimeout)
	}
	return watched(g.closed, req, silenceTimeout)
}

// CloseIdleConnections lets [http.Client.CloseIdleConnections] work.
func (g *guard) CloseIdleConnections() {
	g.open.CloseIdleConnections()
	g.closed.CloseIdleConnections()
}

// trusts reports whether this request and all that redirected to it were on trusted
// origins: a stranger's redirect must not reach the operator's own machines.
func (g *guard) trusts(req *http.Request) bool {
	for {
		if !g.trusted[origin(req.URL)] && !trusts(req) && !slices.ContainsFunc(g.paths, func(u *url.URL) bool { return below(u, req.URL) }) {
			return false
		}
		if req.Response == nil || req.Response.Request == nil {
			return true
		}
		req = req.Response.Request
	}
}

// below reports whether a URL is another one or lies below its path, in whatever way a server
// reads it.
func below(base, u *url.URL) bool {
	if origin(base) != origin(u) || strings.ContainsAny(u.Path, `%\`) || u.Path != "" && path.Clean(u.Path) != strings.TrimRight(u.Path, "/") {
		return false
	}
	rest, ok := strings.CutPrefix(u.Path, strings.TrimRight(base.Path, "/"))
	return ok && (rest == "" || rest[0] == '/')
}

// origin is scheme, host and port in one form, such as https://example.org:443.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), port)
}
