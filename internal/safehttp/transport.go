package safehttp

import (
	"cmp"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"atelier/media"
)

// shared returns the transport for calls to providers, with the connections of this process. A request is trusted on
// the origins of its context ([WithTrusted]): it reaches them regardless of the address they resolve to, through the
// environment's proxy if there is one. All other requests are guarded like those of [Client.Get] and use no proxy. The
// transport requests no compression of its own, waits 10 minutes for a response to begin and 5 for it to continue.
var shared = sync.OnceValue(func() *guard { return newGuard(Config{}, http.ProxyFromEnvironment) })

// guard sends requests to trusted origins without an address check and all others with one.
type guard struct {
	paths  []*url.URL                            // trusted with everything below them
	open   *http.Transport                       // no address check
	closed *http.Transport                       // public addresses only, without a proxy
	proxy  func(*http.Request) (*url.URL, error) // of the environment, for error texts
}

func newGuard(cfg Config, proxy func(*http.Request) (*url.URL, error)) *guard {
	return &guard{
		paths:  withHost(cfg.TrustedPaths),
		open:   newTransport(&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}, proxy),
		closed: newTransport(&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive, Control: control}, nil),
		proxy:  http.ProxyFromEnvironment,
	}
}

// withHost returns the URLs with a host among texts.
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
	by := g.closed
	if g.trusts(req) {
		by = g.open
	}
	res, err := watched(by, req, silenceTimeout)
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Op == "dial" && by.Proxy == nil && req.Context().Err() == nil && media.CodeOf(err) != media.CodeBlockedAddress {
		if used, _ := g.proxy(req); used != nil { // a proxy that the environment does not state validly is no reason
			err = media.Errorf(media.CodeUnavailable, "%s cannot be reached directly (%s), and the environment's proxy is used only for the configured address of a provider: let this computer connect to it", req.URL.Hostname(), media.ErrorText(failed.Err.Error()))
		}
	}
	return res, err
}

// CloseIdleConnections closes the connections that no request uses.
func (g *guard) CloseIdleConnections() {
	g.open.CloseIdleConnections()
	g.closed.CloseIdleConnections()
}

// trusts reports whether this request and all requests that redirected to it were on trusted
// origins: a redirect from elsewhere must not reach the operator's own machines.
func (g *guard) trusts(req *http.Request) bool {
	for {
		urls, _ := req.Context().Value(trustedKey{}).([]string) // see WithTrusted
		if !slices.ContainsFunc(withHost(urls), func(u *url.URL) bool { return origin(u) == origin(req.URL) }) && !slices.ContainsFunc(g.paths, func(u *url.URL) bool { return below(u, req.URL) }) {
			return false
		}
		if req.Response == nil || req.Response.Request == nil {
			return true
		}
		req = req.Response.Request
	}
}

// below reports whether a URL equals another one or is below its path, however a server interprets it.
func below(base, u *url.URL) bool {
	if origin(base) != origin(u) || strings.ContainsAny(u.Path, `%\;`) || u.Path != "" && path.Clean(u.Path) != cmp.Or(strings.TrimRight(u.Path, "/"), "/") {
		return false
	}
	rest, ok := strings.CutPrefix(u.Path, strings.TrimRight(base.Path, "/"))
	return ok && (rest == "" || rest[0] == '/')
}

// origin returns scheme, host and port in a normalized form, such as https://example.org:443.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), port)
}

// special are the blocks that are not ordinary public addresses (IANA special-purpose
// registries), in addition to those that netip recognizes.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("100.64.0.0/10"),   // carrier-grade NAT
	netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("192.88.99.0/24"),  // 6to4 relays
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, broadcast
	netip.MustParsePrefix("2001::/23"),       // protocol assignments, Teredo
	netip.MustParsePrefix("2001:db8::/32"),   // documentation
	netip.MustParsePrefix("2002::/16"),       // 6to4, which carries any IPv4
	netip.MustParsePrefix("3fff::/20"),       // documentation
}

// Public reports whether an address may be fetched from: an ordinary unicast address of the public
// internet. Loopback, private, link-local (cloud metadata), shared, multicast, unspecified and
// reserved addresses are not public, even if they are wrapped in IPv6.
func Public(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	nat64 := netip.MustParsePrefix("64:ff9b::/96")
	switch {
	case !a.IsValid() || !a.IsGlobalUnicast() || a.IsPrivate():
		return false
	case nat64.Contains(a): // a translated IPv4 address: judged by that address
		b := a.As16()
		return Public(netip.AddrFrom4([4]byte(b[12:])))
	case a.Is6() && !netip.MustParsePrefix("2000::/3").Contains(a):
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}

// control is called with each resolved address just before the connection is made, so that no
// second lookup can change it.
func control(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || !Public(ap.Addr()) {
		return media.Errorf(media.CodeBlockedAddress,
			"the address %s is not on the public internet: it is fetched only if the operator has configured that origin", address)
	}
	return nil
}
