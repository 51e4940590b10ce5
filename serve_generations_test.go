package atelier_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"atelier"
	"atelier/api"
	"atelier/generate"
	"atelier/journal"
	"atelier/run"
	"atelier/run/runtest"
)

// waitForGeneration waits for the end of a generation and returns it.
func (s *testServer) waitForGeneration(id string) (g api.Generation) {
	s.t.Helper()
	s.waitUntil("the end of generation "+id, func() bool {
		g = as[api.Generation](s, http.StatusOK, s.do(http.MethodGet, "/api/generations/"+id, nil))
		return g.FinishedAt != nil
	})
	return g
}

// TestGenerationsOverHTTP: generations are planned, started, followed, listed and edited; no finished one is cancelled.
func TestGenerationsOverHTTP(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{Budget: run.BudgetConfig{Day: generate.Bounds{Images: 4}}})
	ask := api.NewGeneration{Prompt: "a lighthouse", N: 2, Size: "512x512", Style: "vivid"}
	plan := as[api.Plan](s, http.StatusOK, s.do(http.MethodPost, "/api/generations/plan", ask))
	if plan.Provider != "offline" || plan.Makes != 2 || len(plan.Settings) == 0 || plan.EstimatedUSD == nil {
		t.Errorf("%+v", plan)
	}
	if list := as[api.List[api.Generation]](s, http.StatusOK, s.do(http.MethodGet, "/api/generations", nil)); len(list.Items) != 0 {
		t.Errorf("a plan did something: %+v", list)
	}
	var id string
	begin := func() {
		id = as[api.Generation](s, http.StatusAccepted, s.do(http.MethodPost, "/api/generations", ask, "Idempotency-Key", "g")).ID
	}
	seen := map[string]bool{}
	s.following("/api/events", begin, func(e receivedEvent) bool {
		seen[e.kind] = true
		return e.kind == "operation-finished" && e.id == 0
	})
	if !seen["operation-started"] || !seen["operation-progress"] {
		t.Errorf("%v", seen)
	}
	g := s.waitForGeneration(id)
	if g.Status != "succeeded" || len(g.Slots) != 2 || g.Slots[0].Media == nil || g.Slots[0].Media.Width != 512 || g.Prompt != ask.Prompt || len(g.Settings) == 0 {
		t.Errorf("%+v", g)
	}
	if again := as[api.Generation](s, http.StatusAccepted, s.do(http.MethodPost, "/api/generations", ask, "Idempotency-Key", "g")); again.ID != g.ID {
		t.Errorf("asked twice: %s and %s", g.ID, again.ID)
	}
	edit := as[api.Generation](s, http.StatusAccepted, s.do(http.MethodPost, "/api/generations", api.NewGeneration{Prompt: "bluer", Inputs: []api.RunFile{{MediaID: g.Slots[0].Media.ID}}}))
	if e := s.waitForGeneration(edit.ID); e.Status != "succeeded" || e.Method != "edit" {
		t.Errorf("%+v", e)
	}
	d := as[api.MediaDetails](s, http.StatusOK, s.do(http.MethodGet, "/api/media/"+g.Slots[0].Media.ID, nil))
	if len(d.Children) != 1 || d.Origin.Results != 2 {
		t.Errorf("%+v", d)
	}
	budgets := as[api.List[api.Budget]](s, http.StatusOK, s.do(http.MethodGet, "/api/budgets", nil))
	if len(budgets.Items) != 1 || budgets.Items[0] != (api.Budget{Name: "day", Unit: "images", Limit: "4", Spent: "3", Reserved: "0"}) {
		t.Errorf("%+v", budgets)
	}
	for path, want := range map[string]int{"": 2, "?status=failed": 0, "?status=succeeded": 2} {
		if list := as[api.List[api.Generation]](s, http.StatusOK, s.do(http.MethodGet, "/api/generations"+path, nil)); len(list.Items) != want {
			t.Errorf("%s: %d", path, len(list.Items))
		}
	}
	for _, row := range []struct {
		path   string
		body   any
		status int
	}{
		{"/api/generations", api.NewGeneration{Prompt: "a boat", N: 3}, http.StatusPaymentRequired},
		{"/api/generations", api.NewGeneration{}, http.StatusBadRequest},
		{"/api/generations", api.NewGeneration{Prompt: "x", Model: "GPT Image 2"}, http.StatusFailedDependency},
		{"/api/generations", api.NewGeneration{Prompt: "x", Model: "nobody"}, http.StatusBadRequest},
		{"/api/generations", api.NewGeneration{Prompt: "x", Inputs: []api.RunFile{{MediaID: "nobody"}}}, http.StatusNotFound},
		{"/api/generations", `{"prompt":"x","n":0}`, http.StatusUnprocessableEntity},
		{"/api/generations", `{"prompt":"x","owner":"bob"}`, http.StatusUnprocessableEntity},
		{"/api/generations/plan", `{"prompt":"x","size":"big"}`, http.StatusBadRequest},
		{"/api/generations/" + g.ID + "/cancel", nil, http.StatusConflict},
	} {
		if r := s.do(http.MethodPost, row.path, row.body); r.status != row.status {
			t.Errorf("%s %+v: %d, want %d: %s", row.path, row.body, r.status, row.status, r.body)
		}
	}
	if r := as[api.Generation](s, http.StatusAccepted, s.do(http.MethodPost, "/api/generations/"+g.ID+"/retry", nil)); r.ID != g.ID || r.Status != "succeeded" {
		t.Errorf("nothing to retry: %+v", r)
	}
}

// TestServeTakesGenerationsOfAllOwners: a server finishes a generation that a process left for another owner.
func TestServeTakesGenerationsOfAllOwners(t *testing.T) {
	t.Parallel()
	dir := runtest.Folder(t)
	left, leave := context.WithCancelCause(t.Context())
	bob, err := atelier.Open(t.Context(), atelier.Config{Dir: dir, Owner: "bob", OnGeneration: func(context.Context, generate.Event) { leave(journal.HandOver(0)) }})
	if err != nil {
		t.Fatal(err)
	}
	res, err := bob.Generate(left, generate.Request{Prompt: "a boat", Size: "512x512"})
	if err != nil || res.Status != generate.StatusRunning {
		t.Fatalf("%+v, %v", res, err)
	}
	if err := bob.Close(); err != nil {
		t.Fatal(err)
	}
	s := serve(t, atelier.Config{Dir: dir})
	s.waitUntil("the picture of the other owner", func() bool {
		op, err := s.Ledger.AnyOperation(t.Context(), res.Operation)
		return err == nil && op.Status == "succeeded"
	})
}

// TestBytesOfPreviews: bytes that a generation received are available by their digest, only to their owner; uploaded
// bytes are not.
func TestBytesOfPreviews(t *testing.T) {
	t.Parallel()
	dir := runtest.Folder(t)
	s := serve(t, atelier.Config{Dir: dir})
	res, err := s.Generate(t.Context(), generate.Request{Prompt: "a boat", Size: "512x512"})
	if err != nil {
		t.Fatal(err)
	}
	made := "/media/" + res.Outputs()[0].Digest.String()
	if r := s.do(http.MethodGet, made+"?w=320", nil); r.status != http.StatusOK || r.header.Get("Content-Type") != "image/png" {
		t.Errorf("%d %v", r.status, r.header)
	}
	given := s.upload("a.png", testPNG(t, 20, 20))
	other := serve(t, atelier.Config{Dir: dir, Owner: "bob"})
	for name, r := range map[string]reply{
		"uploaded": s.do(http.MethodGet, "/media/"+given.Digest, nil), "of another owner": other.do(http.MethodGet, made, nil),
		"the other's item": other.do(http.MethodGet, given.URL, nil), "unknown": s.do(http.MethodGet, "/media/sha256-"+strings.Repeat("0", 64), nil),
	} {
		if r.status != http.StatusNotFound {
			t.Errorf("%s: %d", name, r.status)
		}
	}
}
