package agent_test

import (
	"context"
	"testing"
	"testing/synctest"

	"atelier/action"
	"atelier/agent"
	"atelier/media"
)

// TestCancelEndsPendingActs: a run that is cancelled while a sub-agent and one of its acts wait for a person, and
// another act is in progress, leaves nothing waiting.
func TestCancelEndsPendingActs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		slow := action.Action{Name: "Slow", Description: "Ends the run.", Run: func(ctx context.Context, _ *action.Call) (action.Result, error) {
			synctest.Wait() // until all others wait for a person
			cancel()
			return action.Result{}, ctx.Err()
		}}
		w := build(t, setup{
			agents: map[string]string{
				"painter": "agents: [writer]\nactions: [Slow, {name: Paint, approval: always}]\n", "writer": "agents: [illustrator]\n", "illustrator": painter,
			},
			actions: []action.Action{slow},
			answers: map[string][]any{
				"painter":     {`{"actions":[{"name":"Slow"},{"name":"Paint","params":{"Number":1}}],"agents":[{"name":"writer","task":"write"}]}`},
				"writer":      {`{"agents":[{"name":"illustrator","task":"draw"}]}`},
				"illustrator": {asks("Which?")},
			},
		})
		res, err := w.runner.Run(ctx, agent.Request{Agent: "painter", Message: "x", RunID: runID})
		if media.CodeOf(err) != media.CodeCancelled || res.Status != agent.StatusCancelled {
			t.Fatalf("got %v, %s", err, res.Status)
		}
		w.checkCancelled(t, res)
	})
}

// checkCancelled checks that the last record of each run and act has the status cancelled, and that their ends were
// emitted.
func (w *testEnv) checkCancelled(t *testing.T, res *agent.Result) {
	t.Helper()
	runs, steps, events := map[string]agent.Status{}, map[string]agent.Status{}, map[agent.EventType]int{}
	for _, r := range w.watcher.runs {
		runs[r.AgentPath] = r.Status
	}
	for _, s := range append(w.watcher.steps, res.Steps...) {
		steps[s.AgentPath+" "+s.Name] = s.Status
	}
	for _, e := range w.watcher.types() {
		events[e]++
	}
	for name, status := range steps {
		if status != agent.StatusCancelled {
			t.Errorf("act %s is %s", name, status)
		}
	}
	for path, status := range runs {
		if status != agent.StatusCancelled {
			t.Errorf("%s is %s", path, status)
		}
	}
	if len(runs) != 3 || len(steps) != 4 || len(res.Steps) != 4 {
		t.Errorf("runs %v, acts %v, %d in the result", runs, steps, len(res.Steps))
	}
	if events[agent.EventAgentFinished] != 2 || events[agent.EventActionFinished] != 2 || events[agent.EventRunCancelled] != 1 {
		t.Errorf("events %v", events)
	}
}
