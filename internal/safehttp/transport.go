package safehttp

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// NewTransport makes the transport under the calls to providers. The trusted
// origins of cfg are the providers' base URLs: calls to them go anywhere they
// resolve to, through the environment's proxy if there is one. All other calls,
// redirects included, are guarded as those of [Client.Get] and use no proxy. Size,
// time and type are the caller's: of cfg only TrustedOrigins counts. A redirect to
// another origin takes no credentials along. It asks for no compression of its own,
// and it is safe for concurrent use.
func NewTransport(cfg Config) http.RoundTripper {
	return newGuard(cfg, http.ProxyFromEnvironment)
}

// guard sends requests to trusted origins one way and all others another way.
type guard struct {
	trusted map[string]bool // by origin
	open    *http.Transport // no address check
	closed  *http.Transport // public addresses only
}

func newGuard(cfg Config, proxy func(*http.Request) (*url.URL, error)) *guard {
	g := &guard{trusted: map[string]bool{}}
	for _, raw := range cfg.TrustedOrigins {
		if u, err := url.Parse(strings.TrimSpace(raw)); err == nil && u.Hostname() != "" {
			g.trusted[origin(u)] = true
		}
	}
	g.open = newTransport(&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}, proxy)
	g.closed = newTransport(&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive, Control: control}, nil)
	return g
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
		TLSHandshakeTimeout: handshakeTimeout, IdleConnTimeout: idleTimeout,
		MaxIdleConns: maxIdle, MaxIdleConnsPerHost: maxIdle, MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if redirected(req) {
		req = req.Clone(req.Context())
		for name := range req.Header {
			if carriesSecret(name) {
				delete(req.Header, name)
			}
		}
	}
	if g.trusts(req) {
		return g.open.RoundTrip(req)
	}
	return g.closed.RoundTrip(req)
}

// redirected tells whether the request left the origin at which its chain began.
func redirected(req *http.Request) bool {
	first := req
	for first.Response != nil && first.Response.Request != nil {
		first = first.Response.Request
	}
	return origin(first.URL) != origin(req.URL)
}

// carriesSecret tells by its name whether a header may hold a credential. net/http
// drops the standard ones on the way to another host, but not X-Api-Key and its like.
func carriesSecret(header string) bool {
	name := strings.ToLower(header)
	for _, part := range []string{"auth", "cookie", "key", "token", "secret", "signature"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// CloseIdleConnections lets [http.Client.CloseIdleConnections] work.
func (g *guard) CloseIdleConnections() {
	g.open.CloseIdleConnections()
	g.closed.CloseIdleConnections()
}

// trusts tells whether this request and all that redirected to it were on trusted
// origins: a stranger's redirect must not reach the operator's own machines.
func (g *guard) trusts(req *http.Request) bool {
	for {
		if !g.trusted[origin(req.URL)] {
			return false
		}
		if req.Response == nil || req.Response.Request == nil {
			return true
		}
		req = req.Response.Request
	}
}

// origin is scheme, host and port in one form, such as https://example.org:443.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), port)
}
