package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"atelier/generate/generatetest/bflsim"
)

// TestLinksTrustOnlyTheirProvider: a result's link may lead to the configured address of the provider that returned it,
// but not to that of another one.
func TestLinksTrustOnlyTheirProvider(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]bool{"its own": true, "another's": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, sim := newTestEnv(t), bflsim.New(bflsim.Config{})
			var fetched atomic.Int32
			results := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				fetched.Add(1)
				sim.ServeHTTP(w, r)
			})
			other := httptest.NewServer(results)
			t.Cleanup(other.Close)
			var api *httptest.Server
			api = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/results/") {
					results(w, r)
					return
				}
				answer := httptest.NewRecorder()
				sim.ServeHTTP(answer, r)
				body := answer.Body.String()
				if !own {
					body = strings.ReplaceAll(body, api.URL+"/results/", other.URL+"/results/")
				}
				w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
				w.WriteHeader(answer.Code)
				_, _ = w.Write([]byte(body)) // the client may be gone
			}))
			t.Cleanup(api.Close)
			p.env["BFL_API_KEY"], p.env["BFL_BASE_URL"] = sim.Key(), api.URL
			p.env["OPENAI_API_KEY"], p.env["OPENAI_BASE_URL"] = "sk-of-these-tests", other.URL+"/v1"
			generate := p.runBriefly // a link that is not followed is tried until the wait is over
			if own {
				generate = p.atelier
			}
			o := generate("generate", "a lighthouse", "-m", "FLUX.2 Pro")
			if got := fetched.Load() > 0; got != own || (o.code == exitOK) != own {
				t.Errorf("exit %d, the link was followed %d times: %s%s", o.code, fetched.Load(), o.stdout, o.stderr)
			}
		})
	}
}
