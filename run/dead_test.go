package run_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
	"atelier/run/record"
)

// startAbandoned begins a run whose second model call, after pictures and a sub-agent, has no answer yet.
func startAbandoned(t *testing.T, h *testService, req agent.Request) *run.Run {
	t.Helper()
	h.blockedCall = 2
	h.service = h.newDurableService(t)
	req.Agent, req.Message, req.Owner = "painter", "paint", owner
	r, err := h.service.Start(t.Context(), req)
	must(t, err)
	select {
	case <-h.arrived:
	case <-time.After(time.Minute):
		t.Fatal("the second model call did not come: the run ended before it")
	}
	must(t, h.observer.Flush(t.Context()))
	return r
}

// kill ends the service like a killed process: its run is abandoned.
func (h *testService) kill(t *testing.T) {
	t.Helper()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	h.service.HandOver(gone)
	h.service = h.newDurableService(t)
}

// ended returns what the ledger says about a run and its parts.
func (h *testService) ended(t *testing.T, id string) (all []string) {
	t.Helper()
	must(t, h.observer.Flush(t.Context()))
	list, err := h.store.ListRuns(t.Context(), owner, ledger.RunQuery{Tree: id})
	must(t, err)
	for _, r := range list.Items {
		r.Usage.WorkedMS = 0
		all = append(all, fmt.Sprintf("%s %s %+v %s", r.AgentPath, r.Status, r.Usage, r.Failure.Code))
	}
	calls, err := h.store.ListPrompts(t.Context(), owner, id, ledger.Page{})
	must(t, err)
	for _, c := range calls.Items {
		all = append(all, fmt.Sprintf("call of turn %d: %s", c.Turn, c.Status))
	}
	acts, err := h.store.ListSteps(t.Context(), owner, id, ledger.Page{})
	must(t, err)
	for _, a := range acts.Items {
		all = append(all, fmt.Sprintf("%s: %s", a.Name, a.Status))
	}
	kinds := h.eventCounts(t, id)
	delete(kinds, "run-resumed") // emitted by the process that adopts it
	return append(all, fmt.Sprint(kinds))
}

// TestEndOfADeadRun: a run without a process that is cancelled or out of time ends with all of its results, as a run
// with a live process does.
func TestEndOfADeadRun(t *testing.T) {
	t.Parallel()
	cancel := func(t *testing.T, h *testService, id string) {
		t.Helper()
		must(t, h.service.End(t.Context(), owner, id))
	}
	wait := func(t *testing.T, h *testService, id string) {
		t.Helper()
		r, err := h.service.Resume(t.Context(), owner, id, nil)
		must(t, err)
		if res, err := r.Wait(t.Context()); media.CodeOf(err) != media.CodeDeadline || len(res.AlsoMade)+len(res.Outputs) != 3 {
			t.Errorf("%d made, %v", len(res.AlsoMade)+len(res.Outputs), err)
		}
	}
	for name, c := range map[string]struct {
		given time.Duration
		end   func(*testing.T, *testService, string)
	}{"cancelled": {0, cancel}, "out of time": {6 * time.Second, wait}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := agent.Request{}
			begin := func() *testService {
				h := build(t, drawThenDone()...)
				if c.given > 0 {
					req.Deadline = time.Now().Add(c.given)
				}
				return h
			}
			live := begin()
			r := startAbandoned(t, live, req)
			if c.given == 0 {
				r.Cancel()
			}
			if _, err := r.Wait(t.Context()); err == nil {
				t.Fatal("the run was not ended")
			}
			want := live.ended(t, r.ID)

			dead := begin()
			id := startAbandoned(t, dead, req).ID
			dead.kill(t)
			if c.given > 0 {
				time.Sleep(time.Until(req.Deadline))
			}
			asked := dead.modelCalls()
			c.end(t, dead, id)
			if d := cmp.Diff(want, dead.ended(t, id)); d != "" {
				t.Error(d)
			}
			if dead.modelCalls() != asked || dead.eventCounts(t, id)["run-resumed"] != 1 {
				t.Errorf("%d questions more, events %v", dead.modelCalls()-asked, dead.eventCounts(t, id))
			}
		})
	}
}

// ownObserver is a library's wrapper around the observer of the ledger.
type ownObserver struct {
	*record.Observer
	h *testService
}

func (o ownObserver) Emit(ctx context.Context, e agent.Event) {
	if e.Key != "" {
		o.h.mu.Lock()
		o.h.emitted = append(o.h.emitted, e.Key)
		o.h.mu.Unlock()
	}
	o.Observer.Emit(ctx, e)
}

// TestReplayRepeatsNoEvent: the process of a run is killed and the next one replays the run; a library's own observer
// gets only the new events, none that is on record.
func TestReplayRepeatsNoEvent(t *testing.T) {
	t.Parallel()
	h := build(t, drawThenDone()...)
	id := startAbandoned(t, h, agent.Request{}).ID
	h.kill(t)
	h.mu.Lock()
	before := slices.Clone(h.emitted)
	h.blockedCall = 0
	h.mu.Unlock()
	h.finish(t, id, nil)
	h.mu.Lock()
	after := h.emitted[len(before):]
	h.mu.Unlock()
	if len(before) < 5 || len(after) == 0 || !strings.Contains(strings.Join(after, "\n"), string(agent.EventRunSucceeded)) {
		t.Fatalf("emitted before %q, after %q", before, after)
	}
	for _, key := range after {
		if slices.Contains(before, key) {
			t.Errorf("emitted again: %s", key)
		}
	}
}

// TestCancelledAndKilled: a run that was cancelled, and whose process was killed before it learned of that, is ended by
// the next process that adopts, resumes or ends it, once, with the result that it would have had in its own process.
func TestCancelledAndKilled(t *testing.T) {
	t.Parallel()
	live := build(t, drawThenDone()...)
	r := startAbandoned(t, live, agent.Request{})
	r.Cancel()
	if _, err := r.Wait(t.Context()); media.CodeOf(err) != media.CodeCancelled {
		t.Fatal(err)
	}
	want := live.ended(t, r.ID)
	for name, end := range map[string]func(*testing.T, *testService, string){
		"serve": func(t *testing.T, h *testService, _ string) {
			t.Helper()
			if n, err := h.service.Adopt(t.Context()); n != 1 || err != nil {
				t.Errorf("%d taken over, %v", n, err)
			}
		},
		"resume": func(t *testing.T, h *testService, id string) {
			t.Helper()
			r, err := h.service.Resume(t.Context(), owner, id, nil)
			must(t, err)
			if res, err := r.Wait(t.Context()); media.CodeOf(err) != media.CodeCancelled || len(res.AlsoMade)+len(res.Outputs) != 3 {
				t.Errorf("%d made, %v", len(res.AlsoMade)+len(res.Outputs), err)
			}
		},
		"cancel": func(t *testing.T, h *testService, id string) {
			t.Helper()
			must(t, h.service.End(t.Context(), owner, id))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, drawThenDone()...)
			id := startAbandoned(t, h, agent.Request{}).ID
			h.kill(t)
			must(t, h.engine.Cancel(t.Context(), id))
			asked := h.modelCalls()
			events, stop := h.observer.Subscribe(id)
			defer stop()
			end(t, h, id)
			for e := range events {
				if e.Kind == string(agent.EventRunCancelled) {
					break
				}
			}
			h.kill(t)
			if n, err := h.service.Adopt(t.Context()); n != 0 || err != nil {
				t.Errorf("%d taken over again, %v", n, err)
			}
			if d := cmp.Diff(want, h.ended(t, id)); d != "" {
				t.Error(d)
			}
			if h.modelCalls() != asked || h.eventCounts(t, id)["run-resumed"] != 1 {
				t.Errorf("%d questions more, events %v", h.modelCalls()-asked, h.eventCounts(t, id))
			}
		})
	}
}
