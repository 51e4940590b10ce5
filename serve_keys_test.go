package atelier_test

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"testing"

	"atelier"
	"atelier/agent"
	"atelier/api"
	"atelier/generate/generatetest/leonardosim"
	"atelier/internal/sim"
	"atelier/run/runtest"
)

// dropKeyAnswers leaves the keys of a server as a process does that dies before it records their answers.
func dropKeyAnswers(t *testing.T, dir string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "atelier.db")+"?_pragma=busy_timeout(20000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // the statement has been committed
	if _, err := db.ExecContext(t.Context(), "UPDATE idempotency_keys SET answer = NULL"); err != nil {
		t.Fatal(err)
	}
}

// TestAKeyIsKeptWhenTheProcessDies: an answer, retry or fork took effect, but the process died before it recorded the
// response of the idempotency key; the same request does not take effect again.
func TestAKeyIsKeptWhenTheProcessDies(t *testing.T) {
	t.Parallel()
	dir := runtest.Folder(t)
	guard, err := agent.BlockedTerms(agent.DecisionPause, "boat")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, atelier.Config{Dir: dir, Guardrail: guard})
	begin := func() (path string) {
		id := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: "Draw a boat, 128x128"})).ID
		s.waitForRun(id)
		return "/api/runs/" + id
	}
	twice := func(path string, body any) (first, again api.Started) {
		t.Helper()
		first = as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, path, body, "Idempotency-Key", path))
		s.waitForRun(first.ID)
		dropKeyAnswers(t, dir)
		return first, as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, path, body, "Idempotency-Key", path))
	}
	yes := true
	run := begin()
	if first, again := twice(run+"/answer", api.Answer{Approve: &yes}); again.ID != first.ID || again.Status != "succeeded" {
		t.Errorf("answer: %+v and %+v", first, again)
	}
	if first, again := twice(run+"/fork", api.Fork{Message: "Draw a lighthouse, 128x128"}); again.ID != first.ID {
		t.Errorf("fork: %+v and %+v", first, again)
	}
	run = begin()
	as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, run+"/cancel", nil))
	first, again := twice(run+"/retry", nil)
	if again.ID != first.ID {
		t.Errorf("retry: %+v and %+v", first, again)
	}
	if r := s.do(http.MethodPost, "/api/runs/unknown/retry", nil, "Idempotency-Key", "u"); r.status != http.StatusNotFound {
		t.Errorf("an unknown run: %d %s", r.status, r.body)
	}
	if list := as[api.List[api.Run]](s, http.StatusOK, s.do(http.MethodGet, "/api/runs", nil)); len(list.Items) != 3 {
		t.Errorf("%d runs, want two and a fork", len(list.Items))
	}
}

// TestAWorkflowKeyIsKeptWhenTheProcessDies is [TestAKeyIsKeptWhenTheProcessDies] for workflow runs and their
// interactions.
func TestAWorkflowKeyIsKeptWhenTheProcessDies(t *testing.T) {
	t.Parallel()
	dir := runtest.Folder(t)
	s := serve(t, atelier.Config{Dir: dir})
	r := s.startWorkflow(`{"definition":{"id":"one","title":"One","steps":[{"id":"ok","module_id":"review.approve","inputs":{"title":"Right?","data":{}}}]}}`)
	for _, c := range []struct{ path, body string }{{"/api/interactions/" + r.InteractionID + "/answer", `{"approved":true}`}, {"/api/workflow-runs/" + r.ID + "/fork", `{}`}} {
		first := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, c.path, c.body, "Idempotency-Key", c.path))
		s.workflowRun(first.ID)
		dropKeyAnswers(t, dir)
		if again := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, c.path, c.body, "Idempotency-Key", c.path)); again.ID != first.ID {
			t.Errorf("%s: %+v and %+v", c.path, first, again)
		}
	}
	if list := as[api.List[api.WorkflowRun]](s, http.StatusOK, s.do(http.MethodGet, "/api/workflow-runs", nil)); len(list.Items) != 2 {
		t.Errorf("%d runs, want one and its fork", len(list.Items))
	}
}

// TestARetryOfASubActionIsNotRepeated is [TestAKeyIsKeptWhenTheProcessDies] for sub-actions.
func TestARetryOfASubActionIsNotRepeated(t *testing.T) {
	t.Parallel()
	w := newImageServer(t, leonardosim.Config{})
	w.leonardo.Inject(sim.Injection{Fault: sim.FaultQuota}, sim.Injection{Fault: sim.FaultQuota}, sim.Injection{Fault: sim.FaultQuota})
	r := w.startWorkflow(seedWorkflow(t))
	bad, err := w.generate(r.ID, `{"interaction_id":"`+r.InteractionID+`","path":"/prompts/leonardo/phoenix_1_0","sub_action_id":"generate"}`)
	if err != nil || len(bad) == 0 {
		t.Fatalf("%+v %v", bad, err)
	}
	list := as[api.List[api.SubAction]](w.testServer, http.StatusOK, w.do(http.MethodGet, "/api/workflow-runs/"+r.ID+"/sub-actions", nil))
	path := "/api/sub-actions/" + list.Items[0].ID
	for range 2 {
		as[api.SubAction](w.testServer, http.StatusAccepted, w.do(http.MethodPost, path+"/retry", `{"positions":[1]}`, "Idempotency-Key", "again"))
		w.waitUntil("the retry fails", func() bool {
			return as[api.SubAction](w.testServer, http.StatusOK, w.do(http.MethodGet, path, nil)).FinishedAt != nil
		})
		dropKeyAnswers(t, w.config.Dir)
	}
	if n := submissions(w.leonardo.Captured()); n != 2 {
		t.Errorf("Leonardo was asked %d times, want a click and a retry", n)
	}
}
