package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"atelier/media"
)

// Scope says what a client may do. Each scope includes the previous ones.
type Scope string

// The values of [Scope].
const (
	// ScopeNone is the scope of every client, even without a token.
	ScopeNone Scope = ""
	// ScopeRead permits reading.
	ScopeRead Scope = "read"
	// ScopeRun permits starting, answering, uploading, changing and deleting.
	ScopeRun Scope = "run"
	// ScopeAdmin also permits reading the metrics, which cover all owners.
	ScopeAdmin Scope = "admin"
)

// includes reports whether the scope permits everything that another scope permits.
func (s Scope) includes(need Scope) bool {
	order := []Scope{ScopeNone, ScopeRead, ScopeRun, ScopeAdmin}
	return slices.Index(order, s) >= slices.Index(order, need)
}

// Identity is the sender of a request.
type Identity struct {
	// Name is the name of the token.
	Name string
	// Owner is the owner of the runs and media that the token gives access to.
	Owner string
	Scope Scope
}

// TokenService identifies access tokens.
type TokenService interface {
	// Identify returns the identity of a secret. The error for an unknown or expired secret has code
	// media.CodeUnauthorized.
	Identify(ctx context.Context, secret string) (Identity, error)
}

// identityKey is the context key of an Identity.
type identityKey struct{}

// IdentityOf returns the sender of the request of ctx; the zero value on a server without tokens.
func IdentityOf(ctx context.Context) Identity {
	id, _ := ctx.Value(identityKey{}).(Identity)
	return id
}

// access controls who may send requests, and how often.
type access struct {
	tokens    TokenService // nil: access without tokens
	linkKey   []byte
	publicURL string
	now       func() time.Time
	rates     *rates // nil: no limit
}

// requiredScopes holds the scopes of patterns that are exceptions to the rule in [scopeOf]: GET requires ScopeRead,
// other methods ScopeRun.
var requiredScopes = map[string]Scope{
	"GET /healthz":               ScopeNone,
	"GET /readyz":                ScopeNone,
	"GET /login":                 ScopeNone,
	"POST /login":                ScopeNone,
	"POST /logout":               ScopeNone,
	"POST /hooks/{provider}":     ScopeNone, // providers authenticate differently
	"GET /metrics":               ScopeAdmin,
	"POST /api/generations/plan": ScopeRead,
}

// scopeOf returns the scope that a pattern of the mux requires.
func scopeOf(method, pattern string) Scope {
	if s, ok := requiredScopes[pattern]; ok {
		return s
	}
	if method == http.MethodGet || method == http.MethodHead {
		return ScopeRead
	}
	return ScopeRun
}

// authorized passes on requests whose token has the required scope. Without tokens, every client acts as the server's
// owner.
func (s *Server) authorized(next http.Handler) http.Handler {
	if s.access.tokens == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := s.routes.mux.Handler(r)
		need := scopeOf(r.Method, pattern)
		page := pattern == "/" && need == ScopeRead && s.cfg.Pages != nil && !reserved(r.URL.Path)
		if page && isPageFile(r.URL.Path) { // the files of pages are the same for all clients
			need = ScopeNone
		}
		id, err := s.access.identify(r)
		if who, ok := r.Context().Value(callerKey{}).(*caller); ok {
			who.name = id.Name
		}
		if often := s.access.limit(r, id); often != nil {
			writeProblem(w, r, often)
			return
		}
		switch {
		case need == ScopeNone:
		case err != nil && page:
			s.access.toLogin(w, r)
			return
		case err != nil:
			if media.CodeOf(err) == media.CodeUnauthorized {
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			writeProblem(w, r, err)
			return
		case !id.Scope.includes(need):
			writeProblem(w, r, media.Errorf(media.CodeForbidden, "the access token %s has the scope %s, but this requires %s", id.Name, id.Scope, need))
			return
		}
		if err == nil {
			r = r.WithContext(context.WithValue(r.Context(), identityKey{}, id))
		}
		next.ServeHTTP(w, r)
	})
}

// cookieName is the name of the cookie that contains a browser's token.
const cookieName = "atelier_token"

// identify returns the sender of a request, which is identified by a signed link, a bearer token or a cookie.
func (a *access) identify(r *http.Request) (Identity, error) {
	if r.URL.Query().Has(linkSignature) {
		return a.identifyLink(r)
	}
	if scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return a.tokens.Identify(r.Context(), strings.TrimSpace(secret))
	}
	c, err := r.Cookie(cookieName)
	if err != nil {
		return Identity{}, media.Errorf(media.CodeUnauthorized, "an access token is needed: send it as Authorization: Bearer, or sign in at /login")
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !reads && r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") == "" {
		return Identity{}, media.Errorf(media.CodeUnauthorized, "a cookie is accepted only with an Origin header: programs must send Authorization: Bearer")
	}
	return a.tokens.Identify(r.Context(), c.Value)
}

// allows reports whether the token of an accepted request is still valid. Without tokens, every request is.
func (a *access) allows(r *http.Request) bool {
	if a.tokens == nil {
		return true
	}
	_, err := a.identify(r)
	return media.CodeOf(err) != media.CodeUnauthorized
}

// The query parameters of a signed link.
const (
	linkOwner     = "owner"
	linkExpires   = "expires"
	linkSignature = "signature"
)

// minLinkTTL is the minimum lifetime of a signed link. All links of the same hour are equal, so that browsers can
// cache.
const minLinkTTL = time.Hour

// mediaURL returns a function for the addresses of items in a report. A report has no origin and therefore sends no
// cookie. If tokens are required, its links are signed and expire.
func (a *access) mediaURL(r *http.Request) func(id string) string {
	if a.tokens == nil {
		return func(id string) string { return "/media/" + id }
	}
	owner := IdentityOf(r.Context()).Owner
	expires := strconv.FormatInt(a.now().Add(minLinkTTL).Truncate(time.Hour).Add(minLinkTTL).Unix(), 10)
	return func(id string) string {
		q := url.Values{linkOwner: {owner}, linkExpires: {expires}, linkSignature: {a.signature(id, owner, expires)}}
		return "/media/" + id + "?" + q.Encode()
	}
}

func (a *access) signature(id, owner, expires string) string {
	mac := hmac.New(sha256.New, a.linkKey)
	_, _ = mac.Write([]byte("atelier media link\n" + strings.Join([]string{id, owner, expires}, "\n"))) // a hash does not fail
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// identifyLink returns the identity of a signed link, which permits reading one item.
func (a *access) identifyLink(r *http.Request) (Identity, error) {
	id, found := strings.CutPrefix(r.URL.Path, "/media/")
	q := r.URL.Query()
	owner, expires := q.Get(linkOwner), q.Get(linkExpires)
	if !found || len(a.linkKey) == 0 || !hmac.Equal([]byte(q.Get(linkSignature)), []byte(a.signature(id, owner, expires))) {
		return Identity{}, media.Errorf(media.CodeUnauthorized, "this link was not signed by this server")
	}
	if until, err := strconv.ParseInt(expires, 10, 64); err != nil || !a.now().Before(time.Unix(until, 0)) {
		return Identity{}, media.Errorf(media.CodeUnauthorized, "this link has expired: open the report again")
	}
	return Identity{Owner: owner, Scope: ScopeRead}, nil
}

const (
	// DefaultRequestsPerSecond is the default average number of requests that a client may send.
	DefaultRequestsPerSecond = 50
	// burstSeconds is the number of seconds over which a client may accumulate unused requests.
	burstSeconds = 10
	// maxClients is the number of clients at which idle ones are dropped.
	maxClients = 10_000
)

// rates limits the request rate of each client.
type rates struct {
	perSecond float64
	now       func() time.Time

	mu      sync.Mutex // guards clients
	clients map[string]*rate.Limiter
}

// throttle counts a request. It returns how long the client has to wait; 0 means that the request may pass.
func (l *rates) throttle(client string) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	c, ok := l.clients[client]
	if !ok {
		if len(l.clients) >= maxClients {
			l.evictIdle(now)
		}
		c = rate.NewLimiter(rate.Limit(l.perSecond), max(1, int(l.perSecond*burstSeconds)))
		l.clients[client] = c
	}
	r := c.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// evictIdle drops clients without recent requests, or all clients if too many remain. The caller must hold mu.
func (l *rates) evictIdle(now time.Time) {
	for name, c := range l.clients {
		if c.TokensAt(now) >= float64(c.Burst()) {
			delete(l.clients, name)
		}
	}
	if len(l.clients) >= maxClients {
		clear(l.clients)
	}
}

// limit rejects requests over the rate limit of a client. A client is a token or, without a token, an address.
func (a *access) limit(r *http.Request, id Identity) error {
	if a.rates == nil {
		return nil
	}
	client := "token " + id.Name
	if id.Name == "" {
		host, _, _ := net.SplitHostPort(r.RemoteAddr) // RemoteAddr is always valid
		client = "address " + host
	}
	wait := a.rates.throttle(client)
	if wait == 0 {
		return nil
	}
	err := media.Errorf(media.CodeRateLimited, "too many requests: the limit is %g per second", a.rates.perSecond)
	err.RetryAfter = wait
	return err
}

// rejectCrossSite rejects requests from other sites. The Host header must name this server, so that a foreign name that
// resolves to this machine cannot be used (DNS rebinding). A page of another origin may link here, but neither send nor
// read.
func (s *Server) rejectCrossSite(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Frame-Options", "SAMEORIGIN")
		if strings.HasPrefix(r.URL.Path, "/api/") {
			h.Set("Cache-Control", "no-store")
		}
		switch {
		case !s.knownHost(r.Host):
			writeProblem(w, r, media.Errorf(media.CodeForbidden, "this server does not have the host name %.80q: use the address that it printed when it started, or set ATELIER_PUBLIC_URL", media.ErrorText(r.Host)))
		case isCrossOrigin(r):
			writeProblem(w, r, media.Errorf(media.CodeForbidden, "requests from other sites' pages are refused"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// knownHost reports whether a Host header names this server: a loopback address, localhost, or a configured host, with
// any port. If tokens are required, any IP address is accepted: no name in a Host header can resolve to it, and the
// cookie belongs to it.
func (s *Server) knownHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if host == "localhost" || slices.Contains(s.cfg.Hosts, host) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.IsLoopback() || s.cfg.Tokens != nil)
}

// isCrossOrigin reports whether a page of another origin sent the request. Only browsers declare this.
func isCrossOrigin(r *http.Request) bool {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	// A report in a sandboxed frame has no origin. Its pictures send the origin null and may be shown. Pages cannot
	// read the bytes of another origin's picture.
	shown := reads && strings.HasPrefix(r.URL.Path, "/media/") && (r.Header.Get("Origin") == "" || r.Header.Get("Sec-Fetch-Mode") == "no-cors")
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return false
	case "cross-site", "same-site":
		link := reads && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
		return !link && !shown
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host)
}
