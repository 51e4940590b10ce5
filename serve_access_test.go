package atelier_test

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier"
	"atelier/api"
	"atelier/internal/token"
	"atelier/media"
	"atelier/run/runtest"
)

const public = "https://atelier.example"

// serveWithTokens starts a server that requires tokens, with a page, and returns secrets by scope, all of the owner
// local.
func serveWithTokens(t *testing.T, c atelier.Config) (*testServer, map[token.Scope]string) {
	t.Helper()
	if c.Dir == "" {
		c.Dir = runtest.Folder(t)
	}
	c.PublicURL = public
	secrets := map[token.Scope]string{}
	for _, scope := range token.Scopes() {
		secrets[scope] = newToken(t, c.Dir, token.Token{Name: string(scope), Owner: "local", Scope: scope})
	}
	s := serve(t, c)
	s.token = secrets[token.ScopeRun]
	return s, secrets
}

func newToken(t *testing.T, dir string, k token.Token) string {
	t.Helper()
	secret, err := token.Open(filepath.Join(dir, token.Folder)).Create(k)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// TestEveryOperationNeedsItsScope: each operation of the document refuses missing, unknown, expired and narrower
// tokens, and accepts all others.
func TestEveryOperationNeedsItsScope(t *testing.T) {
	t.Parallel()
	dir := runtest.Folder(t)
	expired := newToken(t, dir, token.Token{Name: "old", Owner: "local", Scope: token.ScopeAdmin, ExpiresAt: time.Now().Add(-time.Second)})
	s, secrets := serveWithTokens(t, atelier.Config{Dir: dir})
	var spec struct {
		Paths map[string]map[string]struct {
			Security []map[string][]string `json:"security"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(s.do(http.MethodGet, "/openapi.json", nil).body, &spec); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for path, methods := range spec.Paths {
		for method, op := range methods {
			need := token.Scope(op.Security[1]["token"][0])
			seen[string(need)]++
			method, path := strings.ToUpper(method), strings.ReplaceAll(path, "{id}", "0198a000-0000-7000-8000-000000000000")
			for name, header := range map[string]string{"no token": "x", "an unknown token": "Bearer atl_x", "an expired token": "Bearer " + expired, "another scheme": "Basic " + secrets[token.ScopeAdmin]} {
				r := s.do(method, path, "", "Authorization", header)
				s.checkRefused(method+" "+path+" with "+name, r, http.StatusUnauthorized, media.CodeUnauthorized)
				if r.header.Get("Www-Authenticate") != "Bearer" {
					t.Errorf("%s %s with %s: %v", method, path, name, r.header)
				}
			}
			for i, scope := range token.Scopes() {
				if path == "/api/events" {
					continue // an endless stream
				}
				r := s.do(method, path, "", "Authorization", "bearer "+secrets[scope])
				if i < slices.Index(token.Scopes(), need) {
					s.checkRefused(method+" "+path+" with the scope "+string(scope), r, http.StatusForbidden, media.CodeForbidden)
				} else if r.status == http.StatusForbidden || r.status == http.StatusUnauthorized {
					t.Errorf("%s %s with the scope %s, needs %s: %d %s", method, path, scope, need, r.status, r.body)
				}
			}
		}
	}
	if seen["read"] < 10 || seen["run"] < 10 {
		t.Errorf("scopes: %v", seen)
	}
	for path, status := range map[string]int{"/healthz": 200, "/readyz": 200, "/openapi.json": 401, "/api/nothing": 401, "/media/x": 401, "/nothing.js": 404} {
		if r := s.do(http.MethodGet, path, nil, "Authorization", "x"); r.status != status {
			t.Errorf("%s: %d, want %d", path, r.status, status)
		}
	}
}

// TestARevokedTokenEnds: a revoked token is refused from the next request on.
func TestARevokedTokenEnds(t *testing.T) {
	t.Parallel()
	s, _ := serveWithTokens(t, atelier.Config{})
	as[api.List[api.Run]](s, http.StatusOK, s.do(http.MethodGet, "/api/runs", nil))
	if err := token.Open(filepath.Join(s.Config.Dir, token.Folder)).Revoke("run"); err != nil {
		t.Fatal(err)
	}
	s.checkRefused("a revoked token", s.do(http.MethodGet, "/api/runs", nil), http.StatusUnauthorized, media.CodeUnauthorized)
}

// TestWhichAddressNeedsTokens: every address that others can reach; without a token the server does not start.
func TestWhichAddressNeedsTokens(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		ip, public string
		needs      bool
	}{
		"loopback": {"127.0.0.1", "", false}, "IPv6": {"::1", "", false}, "all": {"0.0.0.0", "", true}, "all of IPv6": {"::", "", true},
		"a network": {"192.168.1.5", "", true}, "a proxy": {"127.0.0.1", public, true},
	} {
		a := open(t, atelier.Config{PublicURL: row.public})
		at := &net.TCPAddr{IP: net.ParseIP(row.ip), Port: 8484}
		needs, err := a.NeedsTokens(at)
		if needs != row.needs || (err != nil) != needs {
			t.Errorf("%s: %v %v", name, needs, err)
		}
		if needs && (media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "atelier tokens create")) {
			t.Errorf("%s: %v", name, err)
		}
		newToken(t, a.Config.Dir, token.Token{Name: "old", Owner: "local", Scope: token.ScopeRun, ExpiresAt: time.Now().Add(-time.Hour)})
		if _, err := a.NeedsTokens(at); (err != nil) != row.needs {
			t.Errorf("%s, with an expired token: %v", name, err)
		}
		newToken(t, a.Config.Dir, token.Token{Name: "new", Owner: "local", Scope: token.ScopeRun})
		if needs, err := a.NeedsTokens(at); needs != row.needs || err != nil {
			t.Errorf("%s, with a token: %v %v", name, needs, err)
		}
	}
	a := open(t, atelier.Config{PublicURL: public, Adopt: true})
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Serve(t.Context(), atelier.ServeConfig{Listener: l}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("it served: %v", err)
	}
	for _, bad := range []string{"atelier.example", "ftp://x", "https://", "https://x/path", "https://u:p@x", "https://x?y=1"} {
		if _, err := atelier.Open(t.Context(), atelier.Config{Dir: t.TempDir(), PublicURL: bad}); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestABrowserSignsIn: a page leads to the login, whose form exchanges the token for a cookie. No script and no other
// site can use the cookie, and it counts like the token.
func TestABrowserSignsIn(t *testing.T) {
	t.Parallel()
	s, secrets := serveWithTokens(t, atelier.Config{})
	s.token = ""
	if r := s.do(http.MethodGet, "/c/1?x=2", nil); r.status != http.StatusSeeOther || r.header.Get("Location") != "/login?next=%2Fc%2F1%3Fx%3D2" {
		t.Errorf("a page: %d %v", r.status, r.header)
	}
	if r := s.do(http.MethodGet, "/c/1", nil, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"); r.status != http.StatusOK || !strings.Contains(string(r.body), `content="0;url=/c/1"`) {
		t.Errorf("a link from another site: %d %s", r.status, r.body)
	}
	page := s.do(http.MethodGet, "/login?next=%2Fc%2F1", nil)
	if page.status != http.StatusOK || !strings.Contains(string(page.body), `value="/c/1"`) || !strings.Contains(page.header.Get("Content-Security-Policy"), "default-src 'none'") || page.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v %s", page.status, page.header, page.body)
	}
	send := func(secret, next, origin string) reply {
		return s.do(http.MethodPost, "/login", url.Values{"token": {secret}, "next": {next}}.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Host", "atelier.example", "Origin", origin)
	}
	if r := send("atl_wrong", "/", public); r.status != http.StatusUnauthorized || r.header.Get("Set-Cookie") != "" || !strings.Contains(string(r.body), `<p id="problem" role="alert">`) || !strings.Contains(string(r.body), `aria-invalid="true" aria-describedby="problem how"`) {
		t.Errorf("a wrong token: %d %s", r.status, r.body)
	}
	if r := send(secrets[token.ScopeRun], "/", "https://evil.example"); r.status != http.StatusForbidden {
		t.Errorf("a form of another site: %d", r.status)
	}
	if r := s.do(http.MethodPost, "/login?token="+secrets[token.ScopeRun], "", "Content-Type", "application/x-www-form-urlencoded"); r.status != http.StatusUnauthorized {
		t.Errorf("a token in the address: %d", r.status)
	}
	for _, elsewhere := range []string{"https://evil.example/", "//evil.example", `/\evil.example`, "javascript:alert(1)"} {
		if r := send(secrets[token.ScopeRun], elsewhere, public); r.status != http.StatusSeeOther || r.header.Get("Location") != "/" {
			t.Errorf("next %s: %d %s", elsewhere, r.status, r.header.Get("Location"))
		}
	}
	in := send(secrets[token.ScopeRun], "/c/1", public)
	cookie := in.header.Get("Set-Cookie")
	if in.status != http.StatusSeeOther || in.header.Get("Location") != "/c/1" {
		t.Errorf("%d %v", in.status, in.header)
	}
	for _, flag := range []string{"HttpOnly", "SameSite=Strict", "Secure", "Path=/"} {
		if !strings.Contains(cookie, flag) {
			t.Errorf("%s lacks %s", cookie, flag)
		}
	}
	cookie, _, _ = strings.Cut(cookie, ";")
	as[api.List[api.Run]](s, http.StatusOK, s.do(http.MethodGet, "/api/runs", nil, "Cookie", cookie))
	for name, row := range map[string]struct {
		headers []string
		status  int
	}{
		"its own page": {[]string{"Origin", s.url, "Sec-Fetch-Site", "same-origin"}, 404}, "no origin": {nil, 401},
		"another site": {[]string{"Origin", "https://evil.example"}, 403}, "a browser's word": {[]string{"Sec-Fetch-Site", "cross-site"}, 403},
	} {
		if r := s.do(http.MethodPost, "/api/runs/nobody/cancel", nil, append(row.headers, "Cookie", cookie)...); r.status != row.status {
			t.Errorf("%s: %d, want %d: %s", name, r.status, row.status, r.body)
		}
	}
	if h := as[api.Health](s, http.StatusOK, s.do(http.MethodGet, "/api/health", nil, "Cookie", cookie)); h.Token != "run" {
		t.Errorf("the health names the token %q", h.Token)
	}
	if r := s.do(http.MethodGet, "/login", nil, "Cookie", cookie); !strings.Contains(string(r.body), "Sign out") {
		t.Errorf("signed in: %s", r.body)
	}
	if r := s.do(http.MethodGet, "/login", nil, "Cookie", "atelier_token=atl_old"); !strings.Contains(string(r.body), "revoked: enter another one.") {
		t.Errorf("signed in with a revoked token: %s", r.body)
	}
	if r := s.do(http.MethodPost, "/logout", nil, "Cookie", cookie, "Origin", s.url); r.status != http.StatusSeeOther || !strings.Contains(r.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("signed out: %d %v", r.status, r.header)
	}
}

// TestPicturesOfAReportHaveSignedLinks: a report sends no cookie; each of its links opens one item until it expires.
func TestPicturesOfAReportHaveSignedLinks(t *testing.T) {
	t.Parallel()
	s, _ := serveWithTokens(t, atelier.Config{})
	id := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: "Draw a lighthouse, 128x128"})).ID
	s.waitForRun(id)
	page := s.do(http.MethodGet, "/api/runs/"+id+"/report", nil)
	found := regexp.MustCompile(`src="(/media/[^"]+)"`).FindSubmatch(page.body)
	if found == nil {
		t.Fatalf("no picture: %s", page.body)
	}
	link := strings.ReplaceAll(string(found[1]), "&amp;", "&")
	s.token = ""
	sandboxed := []string{"Origin", "null", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}
	if r := s.do(http.MethodGet, link, nil, sandboxed...); r.status != http.StatusOK || r.header.Get("Content-Type") != "image/png" {
		t.Errorf("%s: %d %s", link, r.status, r.body)
	}
	other := as[api.Media](s, http.StatusCreated, func() reply {
		kind, body := form(t, "a.png", testPNG(t, 9, 9))
		return s.do(http.MethodPost, "/api/media", body, "Content-Type", kind, "Authorization", "Bearer "+newToken(t, s.Config.Dir, token.Token{Name: "more", Owner: "local", Scope: token.ScopeRun}))
	}())
	path, query, _ := strings.Cut(link, "?")
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	with := func(name, value string) string {
		changed := url.Values{}
		for k, v := range q {
			changed[k] = v
		}
		changed.Set(name, value)
		return path + "?" + changed.Encode()
	}
	for name, bad := range map[string]string{
		"unsigned": path, "another item": other.URL + "?" + query, "a later end": with("expires", "9999999999"), "another owner": with("owner", "bob"),
		"no signature": with("signature", ""), "another path": "/api/media/" + other.ID + "?" + query,
	} {
		s.checkRefused(name, s.do(http.MethodGet, bad, nil), http.StatusUnauthorized, media.CodeUnauthorized)
	}
	if !bytes.Contains(page.body, []byte("expires=")) {
		t.Error("the link has no end")
	}
}

// TestOwnersAreApart: runs, media, conversations, keys, links and events of one owner do not exist for another one, and
// each owner has their own.
func TestOwnersAreApart(t *testing.T) {
	t.Parallel()
	s, _ := serveWithTokens(t, atelier.Config{})
	bob := newToken(t, s.Config.Dir, token.Token{Name: "bob", Owner: "bob", Scope: token.ScopeAdmin})
	asBob := func(method, path string, body any, headers ...string) reply {
		return s.do(method, path, body, append(headers, "Authorization", "Bearer "+bob)...)
	}
	m := s.upload("a.png", testPNG(t, 20, 20))
	watched := make(chan []string, 1)
	go func() {
		var mine []string
		b := *s
		b.token = bob
		b.follow("/api/events?after=0", func(e receivedEvent) bool {
			run, _ := e.data["run_id"].(string)
			mine = append(mine, run)
			return e.kind == "run-succeeded"
		})
		watched <- mine
	}()
	began := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: "Draw a boat, 128x128", ConversationID: "new"}, "Idempotency-Key", "k"))
	r := s.waitForRun(began.ID)
	g := as[api.Generation](s, http.StatusAccepted, s.do(http.MethodPost, "/api/generations", api.NewGeneration{Prompt: "a boat", Size: "256x256"}))
	s.waitForGeneration(g.ID)
	made := r.Media[len(r.Media)-1]
	for _, path := range []string{
		"/api/media/" + m.ID, m.URL, made.URL, "/media/" + made.Digest, "/api/runs/" + began.ID, "/api/runs/" + began.ID + "/report", "/api/runs/" + began.ID + "/events", "/api/runs/" + began.ID + "/steps",
		"/api/conversations/" + began.ConversationID, "/api/generations/" + g.ID,
	} {
		s.checkRefused(path, asBob(http.MethodGet, path, nil), http.StatusNotFound, media.CodeNotFound)
	}
	for _, row := range []struct {
		method, path string
		body         any
	}{
		{"POST", "/api/runs/" + began.ID + "/cancel", nil},
		{"POST", "/api/runs/" + began.ID + "/retry", nil},
		{"POST", "/api/runs/" + began.ID + "/fork", api.Fork{}},
		{"DELETE", "/api/media/" + m.ID, nil},
		{"PATCH", "/api/media/" + m.ID, api.MediaChange{Label: new("x")}},
		{"DELETE", "/api/conversations/" + began.ConversationID, nil},
		{"POST", "/api/generations/" + g.ID + "/cancel", nil},
		{"POST", "/api/generations/" + g.ID + "/retry", nil},
		{"POST", "/api/runs", api.NewRun{Agent: "sage", Message: "x", Images: []api.RunImage{{MediaID: m.ID}}}},
		{"POST", "/api/runs", api.NewRun{Agent: "sage", Message: "x", Images: []api.RunImage{{Ref: m.Ref}}}},
		{"POST", "/api/runs", api.NewRun{Agent: "sage", Message: "x", ConversationID: began.ConversationID}},
		{"POST", "/api/generations", api.NewGeneration{Prompt: "x", Inputs: []api.RunFile{{MediaID: m.ID}}}},
	} {
		code := media.CodeNotFound
		if run, ok := row.body.(api.NewRun); ok && len(run.Images) > 0 && run.Images[0].Ref != "" {
			code = media.CodeUnknownRef
		}
		s.checkRefused(row.method+" "+row.path, asBob(row.method, row.path, row.body), http.StatusNotFound, code)
	}
	for _, path := range []string{"/api/media", "/api/runs", "/api/conversations", "/api/generations"} {
		if list := as[api.List[json.RawMessage]](s, http.StatusOK, asBob(http.MethodGet, path, nil)); len(list.Items) != 0 {
			t.Errorf("%s: %s", path, list.Items)
		}
		if list := as[api.List[json.RawMessage]](s, http.StatusOK, s.do(http.MethodGet, path, nil)); len(list.Items) == 0 {
			t.Errorf("%s of its owner is empty", path)
		}
	}
	own := as[api.Started](s, http.StatusAccepted, asBob(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: "Draw a tree, 128x128"}, "Idempotency-Key", "k"))
	if own.ID == began.ID {
		t.Error("the key of another owner was used")
	}
	mine := <-watched
	if slices.Contains(mine, began.ID) || !slices.Contains(mine, own.ID) {
		t.Errorf("events of %v, the run is %s, that of the other owner %s", mine, own.ID, began.ID)
	}
	if r := s.do(http.MethodGet, "/api/runs/"+own.ID, nil); r.status != http.StatusNotFound {
		t.Errorf("the other way round: %d", r.status)
	}
}
