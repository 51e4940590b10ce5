package safehttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"atelier/media"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a loopback server and returns its origin.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func client(t *testing.T, cfg Config) *Client {
	t.Helper()
	c := New(cfg)
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

func TestPublic(t *testing.T) {
	t.Parallel()
	for _, a := range []string{
		"127.0.0.1", "127.255.255.254", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.127.255.255",
		"0.0.0.0", "0.1.2.3", "224.0.0.1", "239.255.255.250", "255.255.255.255", "240.0.0.1", "192.0.0.170", "192.0.2.1",
		"198.18.0.1", "198.51.100.1", "203.0.113.9", "192.88.99.1",
		"::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254",
		"ff02::1", "ff0e::1", "fec0::1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "5f00::1",
	} {
		if Public(netip.MustParseAddr(a)) {
			t.Errorf("Public(%s) = true", a)
		}
	}
	for _, a := range []string{"1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.32.0.1", "::ffff:8.8.8.8", "2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808"} {
		if !Public(netip.MustParseAddr(a)) {
			t.Errorf("Public(%s) = false", a)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("the zero address is public")
	}
}

func TestBlocked(t *testing.T) {
	t.Parallel()
	base := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a blocked fetch reached the server") })
	port := base[strings.LastIndex(base, ":"):]
	c := client(t, Config{Timeout: 10 * time.Second})
	for _, u := range []string{
		base, "http://localhost" + port, "http://[::1]" + port, "http://[::ffff:127.0.0.1]" + port,
		"http://0.0.0.0" + port, "http://[::]" + port, "https://127.0.0.1" + port,
		"http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://[fe80::1%25lo]/", "http://100.64.0.1/",
	} {
		resp, err := c.Get(t.Context(), u)
		if err == nil {
			_ = resp.Body.Close()
		}
		if media.CodeOf(err) != media.CodeBlockedAddress {
			t.Errorf("%s: %v, want blocked_address", u, err)
		}
	}
}

func TestInvalid(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("QUJD", 100)
	c := client(t, Config{})
	for _, u := range []string{"", "::", "file:///etc/passwd", "ftp://example.org/a", "gopher://x", "data:image/png;base64," + secret, "/relative", "http://", "http://:80/", "https://user:pass@example.org/", "javascript:alert(1)"} {
		_, err := c.Get(t.Context(), u)
		if media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%q: %v, want invalid", u, err)
		} else if strings.Contains(err.Error(), "QUJD") || strings.Contains(err.Error(), "pass@") {
			t.Errorf("the error repeats the address: %v", err)
		}
	}
}

func TestTrusted(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("User-Agent") != "atelier" || r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("headers %v", r.Header)
		}
		w.Header().Set("Content-Type", "Image/PNG; x=y")
		_, _ = io.WriteString(w, "bytes")
	})
	c := client(t, Config{TrustedPaths: []string{"not a url\x00", base}})
	resp, err := c.Get(t.Context(), " "+base+"/a?sig=1#frag ")
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil || string(b) != "bytes" {
		t.Errorf("%q, %v", b, err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	if resp.ContentType != "image/png" || resp.Size != 5 || resp.URL != base+"/a?sig=1" {
		t.Errorf("%+v", resp)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	inner := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Referer") != "" {
			t.Errorf("the signed link was passed on: %s", r.Header.Get("Referer"))
		}
		_, _ = io.WriteString(w, "inner")
	})
	var outer string
	outer = serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/in":
			http.Redirect(w, r, inner+"/x", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, outer+"/loop", http.StatusFound)
		case "/two":
			http.Redirect(w, r, outer+"/in", http.StatusFound)
		}
	})
	for name, c := range map[string]struct {
		trusted []string
		path    string
		want    media.Code
	}{
		"inwards":                  {[]string{outer}, "/in", media.CodeBlockedAddress},
		"inwards after two":        {[]string{outer}, "/two", media.CodeBlockedAddress},
		"between trusted origins":  {[]string{outer, inner}, "/in", ""},
		"from a stranger":          {[]string{inner}, "/in", media.CodeBlockedAddress},
		"to a file":                {[]string{outer}, "/file", media.CodeInvalid},
		"without end":              {[]string{outer}, "/loop", media.CodeBadResponse},
		"two between trusted ones": {[]string{outer, inner}, "/two", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, err := client(t, Config{TrustedPaths: c.trusted}).Get(t.Context(), outer+c.path)
			if err == nil {
				_ = resp.Body.Close()
			}
			if media.CodeOf(err) != c.want {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestTrustEndsWithTheChain: a trusted origin is not trusted in a request that an untrusted origin redirected to it.
func TestTrustEndsWithTheChain(t *testing.T) {
	t.Parallel()
	g := newGuard(Config{TrustedPaths: []string{"http://127.0.0.1:1", "http://EXAMPLE.org."}}, nil)
	first := httptest.NewRequest(http.MethodGet, "http://stranger.example/", nil)
	second := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:1/", nil)
	if !g.trusts(second) {
		t.Error("a trusted origin is not trusted")
	}
	second.Response = &http.Response{Request: first}
	if g.trusts(second) {
		t.Error("a stranger's redirect is trusted")
	}
	if !g.trusts(httptest.NewRequest(http.MethodGet, "http://example.org:80/x", nil)) || g.trusts(httptest.NewRequest(http.MethodGet, "https://example.org/", nil)) {
		t.Error("an origin is scheme, host in any case, and port")
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		switch r.URL.Path {
		case "/declared":
			_, _ = w.Write(make([]byte, 101))
		case "/exact":
			_, _ = w.Write(make([]byte, 100))
		case "/chunked":
			w.(http.Flusher).Flush()
			_, _ = w.Write(make([]byte, 5000))
		case "/html":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
		case "/webp":
			w.Header().Set("Content-Type", "image/webp")
		case "/octets":
			w.Header().Set("Content-Type", "application/octet-stream")
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
		case "/short":
			w.Header().Set("Content-Length", "90")
			_, _ = w.Write(make([]byte, 10))
		case "/hang":
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
			w.Header().Set("Retry-After", "7")
			if status == http.StatusServiceUnavailable {
				w.Header().Set("Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
			}
			w.WriteHeader(status)
		}
	})
	for path, want := range map[string]media.Code{
		"/declared": media.CodeTooLarge, "/exact": "", "/chunked": media.CodeTooLarge, "/html": media.CodeBadResponse,
		"/webp": "", "/octets": "", "/gzip": media.CodeBadResponse, "/short": media.CodeBadResponse, "/hang": media.CodeDeadline,
		"/404": media.CodeNotFound, "/410": media.CodeNotFound, "/401": media.CodeForbidden, "/403": media.CodeForbidden,
		"/429": media.CodeRateLimited, "/500": media.CodeUnavailable, "/503": media.CodeUnavailable, "/418": media.CodeBadResponse,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			cfg := Config{TrustedPaths: []string{base}, MaxBytes: 100, Types: []string{"image/*"}, Timeout: 20 * time.Second}
			if path == "/hang" {
				cfg.Timeout = 50 * time.Millisecond
			}
			n, err := get(t.Context(), client(t, cfg), base+path+"?sig=SECRET")
			if media.CodeOf(err) != want {
				t.Errorf("%v, want %q", err, want)
			}
			if n > 100 {
				t.Errorf("%d bytes came through a limit of 100", n)
			}
			if err != nil && strings.Contains(err.Error(), "SECRET") {
				t.Errorf("the error repeats the signed link: %v", err)
			}
			var e *media.Error
			if want == media.CodeRateLimited && (!errors.As(err, &e) || !e.Retryable || e.RetryAfter != 7*time.Second) {
				t.Errorf("%+v", e)
			}
			if path == "/503" && (!errors.As(err, &e) || e.RetryAfter < 59*time.Minute || e.RetryAfter > time.Hour) {
				t.Errorf("a wait until a date: %+v", e)
			}
		})
	}
}

// get fetches a URL and reads the whole body.
func get(ctx context.Context, c *Client, u string) (int64, error) {
	resp, err := c.Get(ctx, u)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(io.Discard, resp.Body)
	return n, errors.Join(err, resp.Body.Close())
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	base := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	if _, err := get(ctx, client(t, Config{TrustedPaths: []string{base}}), base); media.CodeOf(err) != media.CodeCancelled {
		t.Errorf("%v, want cancelled", err)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(nil)
	s.Close()
	c := client(t, Config{TrustedPaths: []string{s.URL}})
	if _, err := get(t.Context(), c, s.URL+"/?sig=SECRET"); media.CodeOf(err) != media.CodeUnavailable || !media.Retryable(err) || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("%v", err)
	}
}

// TestDeadlines: only a fetch that exceeds its own limit says so; a connection that cannot be made in time is worth
// another attempt.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	base := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	slow := client(t, Config{TrustedPaths: []string{base}})
	slow.http.Transport.(*guard).open = newTransport(&net.Dialer{Timeout: 1}, nil)
	for name, c := range map[string]struct {
		ctx  context.Context //nolint:containedctx // of one call
		c    *Client
		want media.Code
		own  bool
	}{
		"own limit":       {t.Context(), client(t, Config{TrustedPaths: []string{base}, Timeout: 20 * time.Millisecond}), media.CodeDeadline, true},
		"of the caller":   {soon, client(t, Config{TrustedPaths: []string{base}}), media.CodeDeadline, false},
		"of a connection": {t.Context(), slow, media.CodeUnavailable, false},
	} {
		_, err := get(c.ctx, c.c, base)
		if media.CodeOf(err) != c.want || media.Retryable(err) != (c.want == media.CodeUnavailable) || strings.Contains(fmt.Sprint(err), "it took longer than") != c.own {
			t.Errorf("%s: %v (%s)", name, err, media.CodeOf(err))
		}
	}
}

// TestTrustedPaths: a path is trusted with everything below it, in every spelling.
func TestTrustedPaths(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/s/search/out" {
			http.Redirect(w, r, "/admin", http.StatusFound)
			return
		}
		if !strings.HasPrefix(r.URL.Path, "/s/search") {
			t.Errorf("%s was fetched", r.URL.Path)
		}
	})
	c := client(t, Config{TrustedPaths: []string{base + "/s/search"}})
	for path, ok := range map[string]bool{
		"/s/search": true, "/s/search/": true, "/s/search?q=x": true, "/s/search/page": true,
		"/": false, "": false, "/admin": false, "/s": false, "/s/searching": false, "/s/search/../admin": false, "/s/search/..%2f..%2fadmin": false,
		"/s/search/%2e%2e/admin": false, "/s/search/%252e%252e/admin": false, `/s/search/..\admin`: false, "//s/search": false, "/s/search/out": false,
		"/s/search/..;/admin": false, "/s/search/%2e%2e;x=1/admin": false, "/s/search/..%3b/admin": false, // Java servers remove ;x=1
	} {
		_, err := get(t.Context(), c, base+path)
		if ok && err != nil || !ok && media.CodeOf(err) != media.CodeBlockedAddress {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestOddLimits checks that extreme limits are valid.
func TestOddLimits(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1000)) })
	for _, limit := range []int64{-1, math.MinInt64, math.MaxInt64, 1000} {
		n, err := get(t.Context(), client(t, Config{TrustedPaths: []string{base}, MaxBytes: limit, Timeout: -1}), base)
		if n != 1000 || err != nil {
			t.Errorf("limit %d: %d bytes, %v", limit, n, err)
		}
	}
}

// TestAnswerThatIsNoHTTP: the error does not quote the bytes of the answer.
func TestAnswerThatIsNoHTTP(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const text = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
	served := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			served <- err
			return
		}
		_, err = conn.Read(make([]byte, 64))
		_, werr := io.WriteString(conn, text+"\r\n\r\n")
		served <- errors.Join(err, werr, conn.Close())
	}()
	origin := "http://" + l.Addr().String()
	_, err = get(t.Context(), client(t, Config{TrustedPaths: []string{origin}}), origin)
	if serr := errors.Join(<-served, l.Close()); serr != nil {
		t.Fatal(serr)
	}
	if media.CodeOf(err) != media.CodeUnavailable || strings.Contains(err.Error(), text[:40]) {
		t.Error(err)
	}
}

// TestProxy checks which calls may use the environment's proxy.
func TestProxy(t *testing.T) {
	t.Parallel()
	g := shared()
	if g.open.Proxy == nil || g.closed.Proxy != nil {
		t.Error("provider calls: a proxy belongs to trusted origins alone")
	}
	if g := newGuard(Config{}, nil); g.open.Proxy != nil || g.closed.Proxy != nil {
		t.Error("fetches use a proxy")
	}
}

// TestProxyOfTheEnvironment: an address that cannot be reached without the proxy, which is not used for it, fails with
// an error that says so; the reason is not mistaken for a link that does not work.
func TestProxyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		proxy string
		why   error
		want  media.Code
	}{
		"a proxy, no DNS":        {"http://proxy.example:3128", &net.DNSError{Err: "no such host", Name: "delivery.example", IsNotFound: true}, media.CodeUnavailable},
		"a proxy, no connection": {"http://proxy.example:3128", errors.New("connection refused"), media.CodeUnavailable},
		"a proxy, no answer":     {"http://proxy.example:3128", context.DeadlineExceeded, media.CodeUnavailable}, // as package net's own
		"no proxy":               {"", &net.DNSError{Err: "no such host", Name: "delivery.example", IsNotFound: true}, media.CodeNotFound},
		"a blocked address":      {"http://proxy.example:3128", control("tcp", "10.0.0.1:443", nil), media.CodeBlockedAddress},
	} {
		f := client(t, Config{})
		g, ok := f.http.Transport.(*guard)
		if !ok {
			t.Fatal("there is no guard")
		}
		g.proxy = func(*http.Request) (*url.URL, error) {
			if c.proxy == "" {
				return nil, nil
			}
			return url.Parse(c.proxy)
		}
		g.closed.DialContext = func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: c.why}
		}
		_, err := get(t.Context(), f, "https://delivery.example/a.png?sig=SECRET")
		if media.CodeOf(err) != c.want || strings.Contains(err.Error(), "proxy") != (c.want == media.CodeUnavailable) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
