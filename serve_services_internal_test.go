package atelier

import (
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"atelier/agent"
	"atelier/api"
	"atelier/api/apitest"
	"atelier/api/client"
	"atelier/run/runtest"
)

// services starts the services of a server; the test stops them.
func services(t *testing.T) api.Config {
	t.Helper()
	guard, err := agent.BlockedTerms(agent.DecisionPause, apitest.PausingTerm)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Open(t.Context(), Config{Dir: runtest.Folder(t), Guardrail: guard, Adopt: true})
	if err != nil {
		t.Fatal(err)
	}
	service, err := a.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	s := newServer(a, service)
	streams := &hubs{server: s, ctx: ctx, all: map[string]*api.Hub{}}
	s.adoptAll(ctx)
	t.Cleanup(func() {
		cancel()
		s.work.Wait()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.api(ctx, ServeConfig{Version: "test"}, streams)
}

// TestServicesInProcess: the services pass the suite without HTTP, except for events, which are an HTTP stream.
func TestServicesInProcess(t *testing.T) {
	t.Parallel()
	apitest.Run(t, func(t *testing.T) apitest.Service {
		t.Helper()
		c := services(t)
		events := clientOf(t, api.New(api.Config{Events: c.Events})).Events
		return apitest.Service{
			HealthService: c.Health, CatalogService: c.Catalog, MediaService: c.Media,
			ArchiveService: api.Archive{Media: c.Media}, RunService: c.Runs, TraceService: c.Trace,
			ConversationService: c.Conversations, GenerationService: c.Generations, BudgetService: c.Budgets,
			EventService: events, WorkflowService: c.Workflows, WorkflowRunService: c.WorkflowRuns,
			InteractionService: c.Interactions, SubActionService: c.SubActions,
		}
	})
}

// clientOf returns a client of a server.
func clientOf(t *testing.T, h http.Handler) *client.Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c, err := client.New(client.Config{URL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestServicesByClient: the services pass the suite through the client and HTTP, too, and the suite calls every
// operation of the document.
func TestServicesByClient(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	called := map[string]bool{}
	t.Cleanup(func() { // after the subtests, which run in parallel
		if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
			return // only some subtests ran
		}
		for _, op := range uncalled(t, called) {
			t.Errorf("package client, or its suite, lacks %s", op)
		}
	})
	apitest.Run(t, func(t *testing.T) apitest.Service {
		t.Helper()
		h := api.New(services(t))
		c := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			called[r.Method+" "+r.URL.EscapedPath()] = true
			mu.Unlock()
			h.ServeHTTP(w, r)
		}))
		return apitest.Service{
			HealthService: c.Health, CatalogService: c.Catalog, MediaService: c.Media,
			ArchiveService: c.Media, RunService: c.Runs, TraceService: c.Trace,
			ConversationService: c.Conversations, GenerationService: c.Generations, BudgetService: c.Budgets,
			EventService: c.Events, WorkflowService: c.Workflows, WorkflowRunService: c.WorkflowRuns,
			InteractionService: c.Interactions, SubActionService: c.SubActions,
		}
	})
}

// uncalled returns the operations of the document that no request called.
func uncalled(t *testing.T, called map[string]bool) (out []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("docs", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(b, &doc); err != nil || len(doc.Paths) == 0 {
		t.Fatalf("%d paths, %v", len(doc.Paths), err)
	}
	for path, methods := range doc.Paths {
		for method := range methods {
			pattern := regexp.MustCompile("^" + strings.ToUpper(method) + " " + regexp.MustCompile(`\{[^}]+\}`).ReplaceAllString(path, "[^/]+") + "$")
			found := false
			for call := range called {
				found = found || pattern.MatchString(call)
			}
			if !found {
				out = append(out, strings.ToUpper(method)+" "+path)
			}
		}
	}
	return out
}
