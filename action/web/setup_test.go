package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"atelier/action"
	"atelier/media"
)

// key is the credential of the tests; it must never appear.
const key = "key-swordfish-1234567890"

// provider simulates the protocols of all three providers: it checks requests as they do and answers in their formats.
type provider struct {
	*httptest.Server
	mu    sync.Mutex // guards asked
	asked []string
	// status, if set, is the status of a refusal.
	status int
	answer string
	header http.Header
}

func simulate(t *testing.T) *provider {
	t.Helper()
	p := &provider{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /searx/search", p.searxng)
	mux.HandleFunc("GET /res/v1/web/search", p.brave)
	mux.HandleFunc("POST /search", p.tavily)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.status != 0 {
			for k, v := range p.header {
				w.Header()[k] = v
			}
			w.WriteHeader(p.status)
			_, _ = fmt.Fprint(w, p.answer) // the client may have disconnected
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) note(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, s)
}

func (p *provider) requestLog() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.asked, "\n")
}

func (p *provider) searxng(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("format") != "json" || q.Get("q") == "" || r.Header.Get("Authorization") != "" {
		http.Error(w, "forbidden", http.StatusForbidden)
		return
	}
	p.note("searxng " + q.Get("q") + "|" + q.Get("language") + "|" + q.Get("time_range"))
	if q.Get("q") == "nothing at all" {
		_, _ = fmt.Fprint(w, `{"query":"x","results":[],"unresponsive_engines":[]}`)
		return
	}
	if q.Get("q") == "engines down" {
		_, _ = fmt.Fprint(w, `{"results":[],"unresponsive_engines":[["google","CAPTCHA"],["bing","timeout"]]}`)
		return
	}
	_, _ = fmt.Fprint(w, `{"query":"x","number_of_results":0,"results":[
		{"url":"https://a.example/1","title":"First &amp; <b>best</b>","content":"About  wind\n power.","engine":"x","score":2.5,"publishedDate":"2026-03-01T00:00:00"},
		{"url":"https://a.example/1","title":"Twice","content":"","publishedDate":null},
		{"url":"javascript:alert(1)","title":"Bad","content":""},
		{"url":"data:text/html;base64,AAAA","title":"Worse","content":""},
		{"url":"https://b.example/2","title":"Second","content":""}],"unresponsive_engines":[]}`)
}

func (p *provider) brave(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Subscription-Token") != key {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, `{"type":"ErrorResponse","error":{"code":"SUBSCRIPTION_TOKEN_INVALID","detail":"The provided subscription token %s is invalid."}}`, r.Header.Get("X-Subscription-Token"))
		return
	}
	q := r.URL.Query()
	p.note("brave " + q.Get("q") + "|" + q.Get("count") + "|" + q.Get("search_lang") + "|" + q.Get("freshness"))
	_, _ = fmt.Fprint(w, `{"type":"search","query":{"original":"x"},"web":{"type":"search","results":[
		{"title":"First","url":"https://a.example/1","description":"About <strong>wind</strong> power.","page_age":"2026-03-01T10:00:00"},
		{"title":"Second","url":"https://b.example/2","description":"","page_age":""}]}}`)
}

func (p *provider) tavily(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+key {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, `{"detail":{"error":"Unauthorized: missing or invalid API key."}}`)
		return
	}
	var q map[string]any
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q["query"] == nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	p.note(fmt.Sprintf("tavily %v|%v|%v", q["query"], q["max_results"], q["time_range"]))
	_, _ = fmt.Fprint(w, `{"query":"x","answer":null,"images":[],"results":[
		{"title":"First","url":"https://a.example/1","content":"About wind power.","score":0.9,"raw_content":null},
		{"title":"Second","url":"https://b.example/2","content":"","score":0.5}],"response_time":0.5}`)
}

// searchers returns the three clients, connected to one simulator.
func (p *provider) searchers(t *testing.T, key string) map[string]Searcher {
	t.Helper()
	out := map[string]Searcher{}
	s, err := NewSearXNG(Provider{BaseURL: p.URL + "/searx/"})
	if err != nil {
		t.Fatal(err)
	}
	out["searxng"] = s
	b, err := NewBrave(Provider{Key: key, BaseURL: p.URL})
	if err != nil {
		t.Fatal(err)
	}
	out["brave"] = b
	tv, err := NewTavily(Provider{Key: key, BaseURL: p.URL})
	if err != nil {
		t.Fatal(err)
	}
	out["tavily"] = tv
	return out
}

// fixedSearcher is a searcher that returns the given hits.
type fixedSearcher []Hit

func (f fixedSearcher) Name() string                                 { return "Test" }
func (f fixedSearcher) Search(context.Context, Query) ([]Hit, error) { return f, nil }

// newSite serves pages by path, and returns a Web that may fetch them.
func newSite(t *testing.T, h http.HandlerFunc) (*Web, string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	w, err := New(Config{Search: fixedSearcher{}, Fetch: NewFetcher(s.URL + "/")})
	if err != nil {
		t.Fatal(err)
	}
	return w, s.URL
}

// get runs Fetch Page with its default parameters.
func (w *Web) get(t *testing.T, params map[string]any) (action.Result, error) {
	t.Helper()
	p := map[string]any{"Offset": 0.0, "Limit": 8000.0}
	for k, v := range params {
		p[k] = v
	}
	return w.fetch(t.Context(), &action.Call{Params: p})
}

// code returns an error's code.
func code(err error) media.Code { return media.CodeOf(err) }
