package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atelier/action"
	"atelier/media"

	"github.com/google/go-cmp/cmp"
)

func TestEveryProviderSearches(t *testing.T) {
	t.Parallel()
	p := simulate(t)
	for name, s := range p.searchers(t, key) {
		w, err := New(Config{Search: s})
		if err != nil {
			t.Fatal(err)
		}
		res, err := w.search(t.Context(), &action.Call{Params: map[string]any{"Query": " wind \n power ", "Count": 5.0, "Freshness": "week", "Language": "DE"}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		hits, _ := res.Outputs["results"].([]Hit)
		if len(hits) != 2 || !strings.HasPrefix(hits[0].Title, "First") || hits[0].URL != "https://a.example/1" || hits[0].Snippet != "About wind power." ||
			hits[1].URL != "https://b.example/2" || res.Outputs["provider"] != s.Name() || res.Message != "2 hits from "+s.Name() {
			t.Errorf("%s: %+v %s", name, hits, res.Message)
		}
	}
	got := strings.Split(p.requestLog(), "\n")
	want := map[string]bool{"searxng wind power|de|week": true, "brave wind power|5|de|pw": true, "tavily wind power|5|week": true}
	have := map[string]bool{}
	for _, g := range got {
		have[g] = true
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
}

func TestProviderFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		answer string
		header http.Header
		code   media.Code
		say    string
	}{
		"key":       {401, `{"detail":{"error":"Unauthorized key ` + key + `."}}`, nil, media.CodeUnauthorized, "[key]"},
		"credit":    {432, `{"detail":{"error":"This request exceeds your plan's set usage limit."}}`, nil, media.CodeQuotaExceeded, "usage limit"},
		"fast":      {429, `{"error":{"detail":"Request rate limit exceeded"}}`, http.Header{"Retry-After": {"7"}}, media.CodeRateLimited, "rate limit"},
		"fast, to":  {429, `{}`, http.Header{"Retry-After": {time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}}, media.CodeRateLimited, "limits the rate"},
		"down":      {503, `<html>sorry</html>`, nil, media.CodeUnavailable, "is not available"},
		"invalid":   {422, `{"message":"too long"}`, nil, media.CodeInvalid, "too long"},
		"forbidden": {403, ``, nil, media.CodeForbidden, "does not allow"},
		"HTML":      {200, `<!doctype html><title>Captcha</title>`, nil, media.CodeBadResponse, "not a search result"},
		"huge":      {200, `{"x":"` + strings.Repeat("x", maxAnswer) + `"}`, nil, media.CodeTooLarge, "4 MiB"},
		"redirect":  {302, ``, http.Header{"Location": {"https://elsewhere.example/"}}, media.CodeBadResponse, "status 302"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := simulate(t)
			p.status, p.answer, p.header = test.status, test.answer, test.header
			for who, s := range p.searchers(t, key) {
				_, err := s.Search(t.Context(), Query{Text: "x", Count: 3})
				if code(err) != test.code || !strings.Contains(fmt.Sprint(err), test.say) && who != "searxng" || who != "searxng" && strings.Contains(fmt.Sprint(err), key) {
					t.Errorf("%s: %v (%s), want %s: %s", who, err, code(err), test.code, test.say)
				}
				var e *media.Error
				if test.status == 429 && (!media.Retryable(err) || !errors.As(err, &e) || e.RetryAfter < 7*time.Second) {
					t.Errorf("%s: is not retryable, or at once: %+v", who, e)
				}
			}
		})
	}
}

func TestWrongKey(t *testing.T) {
	t.Parallel()
	p := simulate(t)
	const wrong = "another-secret-987654321"
	for who, s := range p.searchers(t, wrong) {
		_, err := s.Search(t.Context(), Query{Text: "x", Count: 3})
		if who != "searxng" && (code(err) != media.CodeUnauthorized || strings.Contains(err.Error(), wrong)) {
			t.Errorf("%s: %v", who, err)
		}
	}
}

func TestSearXNGTellsWhyNothingCame(t *testing.T) {
	t.Parallel()
	s := simulate(t).searchers(t, key)["searxng"]
	if hits, err := s.Search(t.Context(), Query{Text: "nothing at all", Count: 3}); err != nil || len(hits) != 0 {
		t.Error(hits, err)
	}
	if _, err := s.Search(t.Context(), Query{Text: "engines down", Count: 3}); code(err) != media.CodeUnavailable || !strings.Contains(err.Error(), "google CAPTCHA") {
		t.Error(err)
	}
}

func TestSearchEnds(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(release) })
	b, err := NewBrave(Provider{Key: key, BaseURL: srv.URL, Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Search(t.Context(), Query{Text: "x", Count: 1}); code(err) != media.CodeUnavailable || !strings.Contains(err.Error(), "50ms") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Search(ctx, Query{Text: "x", Count: 1}); code(err) != media.CodeCancelled {
		t.Error(err)
	}
}

func TestBadSearches(t *testing.T) {
	t.Parallel()
	w, err := New(Config{Search: fixedSearcher{}})
	if err != nil {
		t.Fatal(err)
	}
	for name, params := range map[string]map[string]any{
		"empty":    {"Query": "  ", "Count": 3.0},
		"long":     {"Query": strings.Repeat("word ", 100), "Count": 3.0},
		"none":     {"Query": "x", "Count": 0.0},
		"many":     {"Query": "x", "Count": 21.0},
		"language": {"Query": "x", "Count": 3.0, "Language": "de&q=1"},
	} {
		if _, err := w.search(t.Context(), &action.Call{Params: params}); code(err) != media.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	res, err := w.search(t.Context(), &action.Call{Params: map[string]any{"Query": "x", "Count": 3.0}})
	if err != nil || res.Outputs["resultCount"] != 0 || !strings.Contains(res.Message, "Nothing") {
		t.Errorf("%v %v", res, err)
	}
}

func TestConfigurationsThatDoNotServe(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func() error{
		"no searcher":   func() error { _, err := New(Config{}); return err },
		"no address":    func() error { _, err := NewSearXNG(Provider{}); return err },
		"no URL":        func() error { _, err := NewSearXNG(Provider{BaseURL: "searx.example"}); return err },
		"no key Brave":  func() error { _, err := NewBrave(Provider{}); return err },
		"no key Tavily": func() error { _, err := NewTavily(Provider{}); return err },
	} {
		if err := make(); err == nil || code(err) != media.CodeInvalid && code(err) != media.CodeMissingKey {
			t.Errorf("%s: %v", name, err)
		}
	}
}
