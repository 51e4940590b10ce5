package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"atelier/ledger"
)

// TestNoProviderFollowsARedirect: no provider can redirect its client to an address that is not configured, whatever it
// is asked for.
func TestNoProviderFollowsARedirect(t *testing.T) {
	t.Parallel()
	for provider := range secretServices {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			p := newTestEnv(t)
			elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				t.Errorf("%s %s came elsewhere, with %v", r.Method, r.URL, r.Header)
			}))
			t.Cleanup(elsewhere.Close)
			for _, status := range []int{302, 307} {
				var asked atomic.Int32
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					asked.Add(1)
					_, _ = io.Copy(io.Discard, r.Body) // otherwise the client may see no answer
					http.Redirect(w, r, elsewhere.URL+r.URL.Path, status)
				}))
				t.Cleanup(srv.Close)
				if o := p.callProvider(provider, srv.URL); o.code == exitOK || asked.Load() == 0 {
					t.Errorf("%d: exit %d after %d calls: %s%s", status, o.code, asked.Load(), o.stdout, o.stderr)
				}
			}
		})
	}
}

// TestLongErrorsAreCut: of an error of any provider with 78 kB of words in each field, only a part is shown and stored.
func TestLongErrorsAreCut(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("far too much ", 6_000)
	body, err := json.Marshal(map[string]any{"error": map[string]any{"message": words, "code": words, "type": words}, "message": words, "detail": words, "description": words})
	if err != nil {
		t.Fatal(err)
	}
	for provider := range secretServices {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			p, all := newTestEnv(t), sinks{}
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // otherwise the client may see no answer
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("X-Amzn-Errortype", "ValidationException")
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write(body) // the client may be gone
			}))
			t.Cleanup(srv.Close)
			all.add(p.callProvider(provider, srv.URL))
			all.add(p.callProvider(provider, srv.URL, "--json"))
			all.gather(p)
			for name, sink := range all {
				if strings.Contains(string(sink), words[:2000]) {
					t.Errorf("%s contains it, in %d bytes", name, len(sink))
				}
			}
		})
	}
}

// TestRunEndsWithAHugeAnswer: an answer that is too large is requested once, the run says why it failed and what it may
// have cost, and resume makes no further call.
func TestRunEndsWithAHugeAnswer(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	var calls atomic.Int32
	piece := strings.Repeat("far too much ", 80_000)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, err := io.WriteString(w, `{"choices":[{"message":{"content":"`)
		for range 1000 {
			if err == nil {
				_, err = io.WriteString(w, piece)
			}
		}
	}))
	t.Cleanup(srv.Close)
	p.env["OPENAI_API_KEY"], p.env["OPENAI_BASE_URL"], p.env["ATELIER_CHAT_MODEL"], p.env["ATELIER_MAX_ANSWER_MIB"] = "sk-of-these-tests", srv.URL+"/v1", "openai/gpt-5.4", "2"
	o := p.atelier("run", "sage", "Hello.")
	if o.code != exitProvider || !strings.Contains(o.stderr+o.stdout, "2 MiB, the limit of ATELIER_MAX_ANSWER_MIB") || !strings.Contains(o.stderr, "cost at least $0.0") || calls.Load() != 1 {
		t.Errorf("exit %d after %d calls: %s%s", o.code, calls.Load(), o.stdout, o.stderr)
	}
	if o := p.atelier("resume", p.onlyRun().ID); o.code == exitOK || o.code == exitInternal || calls.Load() != 1 {
		t.Errorf("resumed: exit %d after %d calls: %s%s", o.code, calls.Load(), o.stdout, o.stderr)
	}
	if r := p.onlyRun(); r.Status != ledger.StatusFailed {
		t.Errorf("the run is %s", r.Status)
	}
	if o := p.atelier("generate", "a fox", "-m", "gpt-image-2"); o.code != exitProvider || strings.Contains(o.stdout, "cost nothing") || calls.Load() != 2 {
		t.Errorf("an image model: exit %d after %d calls: %s%s", o.code, calls.Load(), o.stdout, o.stderr)
	}
	p.env["ATELIER_MAX_ANSWER_MIB"] = "0"
	if o := p.atelier("runs", "list"); o.code != exitInput || !strings.Contains(o.stderr, "ATELIER_MAX_ANSWER_MIB") {
		t.Errorf("a limit of 0: exit %d, %s", o.code, o.stderr)
	}
}
