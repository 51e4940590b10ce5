package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"atelier/ledger"
)

// reviewed is a workflow that asks a person, lets an agent paint, and asks again.
const reviewed = `{"id":"reviewed","title":"Reviewed pictures","state_schema":{"type":"object","required":["what"],"properties":{"what":{"type":"string"}}},"steps":[
 {"id":"begin","module_id":"review.approve","inputs":{"title":"Paint {{ state.what }}?","data":{"what":"{{ state.what }}"}},"output":"begin"},
 {"id":"paint","module_id":"agent.run","inputs":{"agent":"boss","message":"paint {{ state.what }}"},"output":{"media":"pictures"}},
 {"id":"end","title":"Publish","module_id":"review.approve","inputs":{"title":"Publish?","data":{"pictures":"{{ state.pictures }}"}},"output":"end"}]}`

// TestWorkflowIsRun: a workflow runs offline from the command line: it pauses with a URL, refuses invalid answers,
// accepts a valid one, and succeeds.
func TestWorkflowIsRun(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	flow := p.write("flow.json", `{"id":"ask","title":"Ask","state_schema":{"type":"object","required":["what"],"properties":{"what":{"type":"string","minLength":1}}},
	 "steps":[{"id":"approve","title":"Approval","module_id":"review.approve","inputs":{"title":"Take {{ state.what }}?","data":{"what":"{{ state.what }}"}}}]}`)
	for _, state := range []string{"", `{"what":""}`, `{`, `[]`} {
		if o := p.atelier("workflow", "run", flow, "--state", state); o.code != exitInput || !strings.Contains(o.stderr, "state") {
			t.Errorf("--state %s: exit %d, %s", state, o.code, o.stderr)
		}
	}
	o := p.atelier("workflow", "run", flow, "--state", "@"+p.write("state.json", `{"what":"a hat"}`), "--json")
	asked := decode[workflowAnswer](t, o)
	if o.code != exitPaused || asked.Status != ledger.StatusPaused || asked.InteractionID == "" || asked.URL != "http://127.0.0.1:8484/workflows/runs/"+asked.RunID || asked.WorkflowID != "ask" {
		t.Fatalf("exit %d, %+v", o.code, asked)
	}
	for answer, says := range map[string]string{`{}`: "approved", `{"approved":true,"why":1}`: "/why", `yes`: "not valid JSON"} {
		if o := p.atelier("workflow", "answer", asked.RunID, answer); o.code != exitInput || !strings.Contains(o.stderr, says) {
			t.Errorf("%s: exit %d, %s", answer, o.code, o.stderr)
		}
	}
	answer := "atelier workflow answer " + asked.RunID
	if o := p.atelier("resume", "last"); o.code != exitPaused || !strings.Contains(o.stdout, answer) || strings.Contains(o.stdout, "interaction_id") {
		t.Errorf("resume without an answer: exit %d, %s", o.code, o.stdout)
	}
	p.atelier("resume", "last", "--approve").checkRefused(t, exitInput, answer)
	if o := p.atelier("resume", "last", "--answer", `{"approved":true}`); o.code != exitInput {
		t.Errorf("an answer that goes around the interaction: exit %d, %s", o.code, o.stderr)
	}
	out := p.must("workflow", "answer", "last", `{"approved":true,"comment":"nice"}`).stdout
	if want := `{"what":"a hat","approved":true,"comment":"nice"}`; !strings.Contains(out, want) || !strings.Contains(out, "succeeded  Approval") {
		t.Errorf("got %s", out)
	}
	if o := p.atelier("workflow", "answer", "last", `{"approved":true}`); o.code != exitInput || !strings.Contains(o.stderr, "succeeded") {
		t.Errorf("a second answer: exit %d, %s", o.code, o.stderr)
	}
	if o := p.atelier("workflow", "fork", "last", "later"); o.code != exitInput || !strings.Contains(o.stderr, "approve") {
		t.Errorf("a fork from a step that there is not: exit %d, %s", o.code, o.stderr)
	}
	o = p.atelier("workflow", "fork", asked.RunID, "approve", "--json")
	fork := decode[workflowAnswer](t, o)
	if o.code != exitPaused || fork.RunID == asked.RunID || fork.InteractionID == "" || fork.InteractionID == asked.InteractionID || !strings.Contains(string(fork.State), "a hat") || strings.Contains(string(fork.State), "approved") {
		t.Fatalf("a fork: exit %d, %+v, %s", o.code, fork, o.stderr)
	}
	if out := p.must("workflow", "answer", fork.RunID, `{"approved":false}`).stdout; !strings.Contains(out, `"approved":false`) {
		t.Errorf("the fork ends with %s", out)
	}
}

// TestRunsCancelEndsWorkflows: runs cancel also closes the interaction of a workflow run.
func TestRunsCancelEndsWorkflows(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	flow := p.write("flow.json", `{"id":"ask","title":"Ask","steps":[{"id":"approve","module_id":"review.approve","inputs":{"title":"Take it?","data":{"what":"a hat"}}}]}`)
	asked := decode[workflowAnswer](t, p.atelier("workflow", "run", flow, "--json"))
	if out := p.must("runs", "cancel", asked.RunID).stdout; !strings.Contains(out, "cancelled") {
		t.Errorf("got %s", out)
	}
	w := &world{ctx: t.Context(), env: p.getenv}
	err := w.withStores(func(s *stores) error {
		i, err := s.Ledger.Interaction(t.Context(), owner, asked.InteractionID)
		if err == nil && i.Status != ledger.InteractionCancelled {
			t.Errorf("the interaction is %s", i.Status)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestWorkflowIsKilled: processes are killed while the run waits for a person and while an agent of a step works;
// another process continues, and nothing is paid for twice.
func TestWorkflowIsKilled(t *testing.T) {
	t.Parallel()
	s := newAgentEnv(t)
	o := s.start("workflow", "run", s.write("reviewed.json", reviewed), "--state", `{"what":"animals"}`, "--agents", filepath.Join(s.dir, "own"), "--json").wait()
	asked := decode[workflowAnswer](t, o)
	if o.code != exitPaused || asked.InteractionID == "" {
		t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	waiting, _ := s.startServer(t)
	killNow(waiting.cmd.Process)
	waiting.wait()
	s.mu.Lock() // until the process is known
	proc := s.start("workflow", "answer", asked.RunID, `{"approved":true}`)
	s.when, s.strike = interferencePoints()["poll"], func() { killNow(proc.cmd.Process) }
	s.mu.Unlock()
	if o := proc.wait(); o.code == exitOK || o.code == exitPaused {
		t.Fatalf("it was not killed: exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	last, _ := s.startServer(t)
	eventually(t, "the second question", func() bool {
		paused := read[ledger.List[pausedView]](s.testEnv, "runs", "list", "--status", "paused", "--json").Items
		return len(paused) == 1 && len(paused[0].Pending) == 1
	})
	killNow(last.cmd.Process)
	last.wait()
	o = s.start("workflow", "answer", asked.RunID, `{"approved":true,"comment":"done"}`, "--json").wait()
	if o.code != exitOK {
		t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	now := decode[workflowAnswer](t, o)
	var state struct {
		Pictures []string `json:"pictures"`
	}
	if err := json.Unmarshal(now.State, &state); err != nil || now.Status != ledger.StatusSucceeded || len(state.Pictures) != 3 {
		t.Errorf("%s: %s, %v", now.Status, now.State, err)
	}
	if got := fmt.Sprint(s.submitted(t)); got != "map[a boat:1 a fox:1 a hare:1]" {
		t.Errorf("asked for %s", got)
	}
	events := s.eventCounts(t, asked.RunID)
	for what, n := range map[string]int{"step-started": 3, "step-finished": 3, "interaction-opened": 2, "interaction-answered": 2, "run-succeeded": 1, "agent-finished": 1} {
		if events["workflow "+what] != n {
			t.Errorf("%d × %s, want %d: %v", events["workflow "+what], what, n, events)
		}
	}
}

// TestAddressOfAnInteraction: the address of a waiting run is that on which the server listens.
func TestAddressOfAnInteraction(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	flow := p.write("flow.json", `{"id":"ask","title":"Ask","steps":[{"id":"approve","title":"Approval","module_id":"review.approve","inputs":{"title":"Go on?","data":{"what":"it"}}}]}`)
	for listen, want := range map[string]string{":9000": "http://127.0.0.1:9000/", "localhost:9001": "http://localhost:9001/"} {
		p.env["ATELIER_LISTEN"] = listen
		if o := p.atelier("workflow", "run", flow, "--json"); o.code != exitPaused || !strings.HasPrefix(decode[workflowAnswer](t, o).URL, want) {
			t.Errorf("ATELIER_LISTEN=%s: exit %d\n%s%s", listen, o.code, o.stdout, o.stderr)
		}
	}
}
