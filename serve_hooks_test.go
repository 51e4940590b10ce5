package atelier_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/internal/sim"

	"atelier"
	"atelier/api"
	"atelier/generate/driver"
	"atelier/generate/generatetest/bflsim"
	"atelier/generate/generatetest/leonardosim"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/internal/token"
	"atelier/media"
	"atelier/run/runtest"
)

// notifier simulates a provider with a webhook.
type notifier interface {
	http.Handler
	Notifications(id string) []driver.Notification
	Captured() []sim.Captured
	Key() string
}

// webhookProvider is a provider whose tasks are polled only once an hour, so that only its webhook can end one within a
// test.
type webhookProvider struct {
	provider, model, catalogue string
	sim                        notifier
	// field is the name of a submission's field with the webhook's address; empty if it has none.
	field string
}

func hookedProviders() []webhookProvider {
	const patient = "poll_seconds: 3600, wait_seconds: 3600"
	return []webhookProvider{
		{"bfl", "FLUX.2 Pro", "provider: bfl\nmodels:\n  - {api_model: flux-2-pro, " + patient + "}\n", bflsim.New(bflsim.Config{Pending: 1 << 20}), "webhook_url"},
		{"leonardo", "phoenix_1_0", "provider: leonardo\nmodels:\n  - {api_model: de7d3faf-762f-48e0-b3b7-9d0ac3a3fcf3, " + patient + "}\n", leonardosim.New(leonardosim.Config{Pending: 1 << 20, WebhookKey: "leonardo-callback-key"}), ""},
		{"midjourney", "Midjourney", "provider: midjourney\nmodels:\n  - {api_model: midjourney, " + patient + "}\n", midjourneysim.New(midjourneysim.Config{}), "notifyHook"},
	}
}

// TestWebhooksEndTasks: a provider's call to the address that it was given ends a task; a forged call is refused and
// changes nothing.
func TestWebhooksEndTasks(t *testing.T) {
	t.Parallel()
	for _, h := range hookedProviders() {
		t.Run(h.provider, func(t *testing.T) {
			t.Parallel()
			provider := httptest.NewServer(h.sim)
			t.Cleanup(provider.Close)
			dir := runtest.Folder(t)
			file := filepath.Join(dir, "catalogue.yaml")
			if err := os.WriteFile(file, []byte(h.catalogue), 0o600); err != nil {
				t.Fatal(err)
			}
			s, _ := serveWithTokens(t, atelier.Config{
				Dir: dir, Keys: map[string]string{h.provider: h.sim.Key()}, BaseURLs: map[string]string{h.provider: provider.URL}, Catalogue: file,
				LeonardoWebhookKey: "leonardo-callback-key",
			})
			began := as[api.Generation](s, http.StatusAccepted, s.do(http.MethodPost, "/api/generations", api.NewGeneration{Prompt: "a fox", Model: h.model}))
			task := s.task(began.ID)
			calls := h.sim.Notifications(task)
			if len(calls) == 0 {
				t.Fatalf("no call about %s", task)
			}
			address := h.address(t)
			s.token = ""
			h.forge(t, s, address, calls[len(calls)-1])
			if g := s.generation(began.ID); g.FinishedAt != nil {
				t.Errorf("a forged call ended it: %+v", g)
			}
			for _, c := range calls {
				if r := s.call(address, c); r.status != http.StatusNoContent {
					t.Errorf("%d %s", r.status, r.body)
				}
			}
			s.token = newTokenFor(t, s)
			if g := s.waitForGeneration(began.ID); g.Status != "succeeded" || g.Slots[0].Media == nil {
				t.Errorf("%+v", g)
			}
			if r := s.call(address, calls[0]); r.status != http.StatusNoContent && r.status != http.StatusNotFound {
				t.Errorf("once more: %d %s", r.status, r.body)
			}
		})
	}
}

func newTokenFor(t *testing.T, s *testServer) string {
	t.Helper()
	return newToken(t, s.Config.Dir, token.Token{Name: "after", Owner: "local", Scope: token.ScopeRun})
}

// task waits until the provider has a task, and returns the task's id.
func (s *testServer) task(operation string) (id string) {
	s.t.Helper()
	s.waitUntil("the task of "+operation, func() bool {
		_, _, tasks, err := s.Ledger.Operation(s.t.Context(), "local", operation)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(tasks) > 0 {
			id = tasks[0].TaskID
		}
		return id != ""
	})
	return id
}

// generation reads a generation from the ledger, without a token.
func (s *testServer) generation(id string) (g api.Generation) {
	s.t.Helper()
	o, _, _, err := s.Ledger.Operation(s.t.Context(), "local", id)
	if err != nil {
		s.t.Fatal(err)
	}
	if !o.FinishedAt.IsZero() {
		g.FinishedAt = &o.FinishedAt
	}
	return g
}

// address returns the path and query to which the provider was asked to report.
func (h webhookProvider) address(t *testing.T) string {
	t.Helper()
	if h.field == "" {
		return "/hooks/" + h.provider
	}
	for _, c := range h.sim.Captured() {
		var body map[string]any
		if json.Unmarshal(c.Body, &body) != nil {
			continue
		}
		if at, _ := body[h.field].(string); at != "" {
			path, ok := strings.CutPrefix(at, public)
			if !ok || !strings.HasPrefix(path, "/hooks/"+h.provider+"?") || !strings.Contains(path, "call=") {
				t.Fatalf("the provider is to call %s", at)
			}
			return path
		}
	}
	t.Fatal("the provider was given no address")
	return ""
}

// call sends a provider's call.
func (s *testServer) call(address string, n driver.Notification) reply {
	headers := []string{"Host", "atelier.example"}
	for k, v := range n.Header {
		headers = append(headers, k, v[0])
	}
	return s.do(http.MethodPost, address, n.Body, headers...)
}

// forge sends calls that are not the provider's.
func (h webhookProvider) forge(t *testing.T, s *testServer, address string, good driver.Notification) {
	t.Helper()
	type row struct {
		name, address string
		call          driver.Notification
		status        int
		code          media.Code
	}
	path, query, _ := strings.Cut(address, "?")
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	q.Set("key", strings.Repeat("0", 64))
	with := func(header, value string) driver.Notification {
		c := driver.Notification{Header: map[string][]string{}, Body: good.Body}
		for k, v := range good.Header {
			c.Header[k] = v
		}
		c.Header[header] = []string{value}
		return c
	}
	rows := []row{
		{"another provider", strings.Replace(address, h.provider, "openai", 1), good, 404, media.CodeNotFound},
		{"a huge body", address, driver.Notification{Header: good.Header, Body: bytes.Repeat([]byte(" "), 2<<20)}, 413, media.CodeTooLarge},
	}
	switch h.provider {
	case "leonardo":
		rows = append(rows, row{"another bearer", address, with("Authorization", "Bearer x"), 401, media.CodeUnauthorized}, row{"no bearer", address, with("Authorization", ""), 401, media.CodeUnauthorized})
	case "bfl":
		rows = append(
			rows, row{"another signature", address, with("X-Bfl-Signature", "sha256="+strings.Repeat("0", 64)), 401, media.CodeUnauthorized},
			row{"another body", address, driver.Notification{Header: good.Header, Body: bytes.Replace(good.Body, []byte("Ready"), []byte("Error"), 1)}, 401, media.CodeUnauthorized},
		)
		fallthrough
	default:
		rows = append(rows, row{"no key", path, good, 401, media.CodeUnauthorized}, row{"another key", path + "?" + q.Encode(), good, 401, media.CodeUnauthorized})
		if h.provider == "midjourney" {
			rows = append(rows, row{"no JSON", address, driver.Notification{Header: good.Header, Body: []byte("{")}, 400, media.CodeInvalid})
		}
	}
	for _, r := range rows {
		s.checkRefused(r.name, s.call(r.address, r.call), r.status, r.code)
	}
}
