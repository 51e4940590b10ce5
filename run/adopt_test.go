package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
	"atelier/run/durable"
)

// newSingleService returns a service that works on at most one adopted run at a time.
func (h *testService) newSingleService(t *testing.T) *run.Service {
	t.Helper()
	c := h.engineConfig()
	c.Adopts, c.Limit = true, 1
	engine, err := durable.Open(t.Context(), c)
	must(t, err)
	s, err := run.NewService(run.Config{Agents: h.runner, Ledger: h.store, Observer: h.observer, Engine: engine})
	must(t, err)
	t.Cleanup(s.Close)
	return s
}

// TestResumeBesideAnotherProcess: a run of another process is refused at once, with the name of that process, by a
// process with room for it and by one without. The log names the agent as usual.
func TestResumeBesideAnotherProcess(t *testing.T) {
	t.Parallel()
	waits := `{"actions":[{"name":"Wait","params":{}}]}`
	h := build(t, waits, waits, `{"message":"fine","done":true}`, `{"message":"fine","done":true}`)
	dying := h.newSingleService(t)
	var ids []string
	for range 2 {
		r, err := dying.Start(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner})
		must(t, err)
		<-h.arrived
		ids = append(ids, r.ID)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	dying.HandOver(gone)
	ctx := t.Context()
	first, second := h.newSingleService(t), h.newSingleService(t)
	for i, s := range []*run.Service{first, second} {
		// A process that adopts runs takes only as many as it has room for, so the other process gets one too.
		if n, err := s.Adopt(ctx); n != 1 || err != nil {
			t.Fatalf("process %d took over %d, %v", i, n, err)
		}
		<-h.arrived
	}
	for _, id := range ids {
		refused := 0
		for _, s := range []*run.Service{first, second, h.newSingleService(t)} {
			_, err := s.Resume(ctx, owner, id, nil)
			if err == nil {
				continue // it has the run
			}
			if !errors.Is(err, run.ErrInProgress) || !strings.Contains(err.Error(), " has been working on it since ") {
				t.Errorf("resumed beside another process: %v", err)
			}
			refused++
		}
		if refused != 2 {
			t.Errorf("run %s was refused by %d", id, refused)
		}
	}
	names := map[string]int{}
	must(t, h.observer.Flush(ctx)) // an emitted event is saved a moment later
	events, err := h.store.ListEvents(ctx, owner, ids[1], 0, ledger.MaxLimit)
	must(t, err)
	for _, e := range events {
		var data agent.RunStarted
		if e.Kind == "run-started" || e.Kind == "run-resumed" {
			must(t, json.Unmarshal(e.Payload, &data))
			names[e.Kind+" "+data.Agent+" "+data.Name]++
		}
	}
	if len(names) != 2 || names["run-started painter Painter"] != 1 || names["run-resumed painter Painter"] != 1 {
		t.Errorf("events %v", names)
	}
}

// adoptedRun returns a service that adopted a run that another one handed over, and the run's id.
func (h *testService) adoptedRun(t *testing.T) (*run.Service, string) {
	t.Helper()
	dying := h.newSingleService(t)
	r, err := dying.Start(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner})
	must(t, err)
	<-h.arrived
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	dying.HandOver(gone)
	next := h.newSingleService(t)
	if n, err := next.Adopt(t.Context()); err != nil || n != 1 {
		t.Fatalf("took over %d: %v", n, err)
	}
	<-h.arrived
	return next, r.ID
}

// TestResumeOfAnAdoptedRun: a run that the service adopted a moment before it is resumed can be followed to its end,
// once.
func TestResumeOfAnAdoptedRun(t *testing.T) {
	t.Parallel()
	waits := `{"actions":[{"name":"Wait","params":{}}]}`
	h := build(t, waits, waits, `{"message":"fine","done":true}`)
	next, id := h.adoptedRun(t)
	followed, err := next.Resume(t.Context(), owner, id, nil)
	must(t, err)
	if _, err := next.Resume(t.Context(), owner, id, nil); media.CodeOf(err) != media.CodeConflict {
		t.Errorf("resumed twice: %v", err)
	}
	close(h.released)
	if res, err := followed.Wait(t.Context()); err != nil || res.Message != "fine" {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestCloseKeepsAdoptedRuns: a service does not cancel adopted runs when it closes: the run continues in the next
// process that adopts it.
func TestCloseKeepsAdoptedRuns(t *testing.T) {
	t.Parallel()
	waits := `{"actions":[{"name":"Wait","params":{}}]}`
	h := build(t, waits, waits, `{"message":"fine","done":true}`, `{"message":"fine","done":true}`)
	closing, id := h.adoptedRun(t)
	closed := make(chan struct{})
	go func() { defer close(closed); closing.Close() }()
	for { // until it accepts no new runs
		if _, err := closing.Start(t.Context(), agent.Request{Agent: "nobody", Message: "x"}); media.CodeOf(err) == media.CodeUnavailable {
			break
		}
		runtime.Gosched()
	}
	close(h.released)
	<-closed
	row, err := h.store.Run(t.Context(), owner, id)
	must(t, err)
	if n := h.eventCounts(t, id)["run-cancelled"]; row.Status != ledger.StatusRunning || n != 0 {
		t.Errorf("the run is %s, %d events that it was cancelled", row.Status, n)
	}
	next := h.newSingleService(t)
	if n, err := next.Adopt(t.Context()); err != nil || n != 1 {
		t.Errorf("the next service took over %d: %v", n, err)
	}
	for row.Status == ledger.StatusRunning && t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
		row, err = h.store.Run(t.Context(), owner, id)
		must(t, err)
	}
	if row.Status != ledger.StatusSucceeded {
		t.Errorf("the run ended as %s", row.Status)
	}
}
