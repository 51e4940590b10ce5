package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
	"atelier/run/conversation"
	"atelier/run/durable"
	"atelier/run/lease"
)

// questionAnswers returns the answers of a model that draws, asks for a colour and finishes.
func questionAnswers() []string {
	return []string{
		`{"reasoning":"draw first","actions":[{"name":"Draw","params":{}}]}`,
		`{"reasoning":"unsure","ask":{"question":"Which colour?","schema":{"type":"object","required":["colour"],"properties":{"colour":{"type":"string","enum":["red","blue"]}},"additionalProperties":false}}}`,
		`{"reasoning":"finished","message":"Painted.","done":true}`,
	}
}

// engineConfig returns the configuration of an engine beside the service's ledger, with its own leases.
func (h *testService) engineConfig() durable.Config {
	c := engineConfig(h.path)
	c.Leases = lease.NewKeeper(h.store)
	return c
}

// newDurableService returns a service on the engine of the service's folder, as in a new process.
func (h *testService) newDurableService(t *testing.T) *run.Service {
	t.Helper()
	c := h.engineConfig()
	c.Adopts = true
	var err error
	h.engine, err = durable.Open(t.Context(), c)
	must(t, err)
	s, err := run.NewService(run.Config{Agents: h.runner, Ledger: h.store, Observer: h.observer, Engine: h.engine, Gateway: h.gateway})
	must(t, err)
	t.Cleanup(s.Close)
	return s
}

// withAndWithoutEngine runs a test on a service without and with an engine.
func withAndWithoutEngine(t *testing.T, answers []string, test func(t *testing.T, h *testService)) {
	t.Helper()
	for name, service := range map[string]func(*testing.T, *testService){
		"in process": func(t *testing.T, h *testService) {
			t.Helper()
			var err error
			h.service, err = run.NewService(run.Config{Agents: h.runner, Ledger: h.store, Observer: h.observer})
			must(t, err)
			t.Cleanup(h.service.Close)
		},
		"durably": func(t *testing.T, h *testService) {
			t.Helper()
			h.service = h.newDurableService(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, answers...)
			service(t, h)
			test(t, h)
		})
	}
}

func colour(c string) *agent.Reply {
	return &agent.Reply{Value: json.RawMessage(`{"colour":"` + c + `"}`)}
}

// paused runs the painter until it asks.
func (h *testService) paused(t *testing.T, conversation string) *agent.Result {
	t.Helper()
	res, err := h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner, Conversation: conversation})
	must(t, err)
	if res.Status != agent.StatusPaused || len(res.Pending) != 1 {
		t.Fatalf("%s with %+v, want paused", res.Status, res.Pending)
	}
	return res
}

// finish resumes a run and waits for its end.
func (h *testService) finish(t *testing.T, id string, reply *agent.Reply) *agent.Result {
	t.Helper()
	r, err := h.service.Resume(t.Context(), owner, id, reply)
	must(t, err)
	res, err := r.Wait(t.Context())
	must(t, err)
	return res
}

func (h *testService) status(t *testing.T, id string) ledger.Status {
	t.Helper()
	row, err := h.store.Run(t.Context(), owner, id)
	must(t, err)
	return row.Status
}

// eventCounts counts the events of a run.
func (h *testService) eventCounts(t *testing.T, id string) map[string]int {
	t.Helper()
	must(t, h.observer.Flush(t.Context()))
	events, err := h.store.ListEvents(t.Context(), owner, id, 0, ledger.MaxLimit)
	must(t, err)
	count := map[string]int{}
	for _, e := range events {
		count[e.Kind]++
	}
	return count
}

func TestPausedRunIsAnswered(t *testing.T) {
	t.Parallel()
	withAndWithoutEngine(t, questionAnswers(), func(t *testing.T, h *testService) {
		t.Helper()
		ctx := t.Context()
		res := h.paused(t, "")
		if got := h.status(t, res.RunID); got != ledger.StatusPaused {
			t.Errorf("the run is %s", got)
		}
		open, err := h.service.Questions(ctx, owner, res.RunID)
		if err != nil || len(open) != 1 || open[0].Question != "Which colour?" {
			t.Errorf("questions %+v, %v", open, err)
		}
		stale := colour("red")
		stale.Question = "another"
		for name, c := range map[string]struct {
			who, id string
			reply   *agent.Reply
			code    media.Code
			says    string
		}{
			"no answer":        {owner, res.RunID, nil, media.CodeConflict, `"Which colour?"`},
			"against its form": {owner, res.RunID, colour("green"), media.CodeInvalid, "colour"},
			"no JSON":          {owner, res.RunID, &agent.Reply{Value: json.RawMessage(`{`)}, media.CodeInvalid, "JSON"},
			"stale question":   {owner, res.RunID, stale, media.CodeConflict, "not open"},
			"foreign":          {"bob", res.RunID, colour("red"), media.CodeNotFound, ""},
			"unknown":          {owner, "nothing", colour("red"), media.CodeNotFound, ""},
		} {
			if _, err := h.service.Resume(ctx, c.who, c.id, c.reply); media.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := h.status(t, res.RunID); got != ledger.StatusPaused {
			t.Errorf("after refused answers the run is %s", got)
		}
		done := h.finish(t, res.RunID, colour("red"))
		if done.Status != agent.StatusSucceeded || done.Message != "Painted." || done.RunID != res.RunID || len(done.AlsoMade) != 2 || done.Usage.ModelCalls != 3 {
			t.Errorf("result %+v", done)
		}
		if sent := h.last(); !strings.Contains(sent[len(sent)-1].Text(), "red") {
			t.Errorf("the messages to the model were %+v", sent)
		}
		for _, reply := range []*agent.Reply{colour("blue"), nil} {
			if _, err := h.service.Resume(ctx, owner, res.RunID, reply); media.CodeOf(err) != media.CodeConflict {
				t.Errorf("resumed at its end: %v", err)
			}
		}
		if n := h.eventCounts(t, res.RunID); n["run-started"] != 1 || n["run-paused"] != 1 || n["run-resumed"] != 1 || n["run-succeeded"] != 1 || n["action-finished"] != 1 || n["media-stored"] != 2 {
			t.Errorf("events %v", n)
		}
		row, err := h.store.Run(ctx, owner, res.RunID)
		if err != nil || row.Status != ledger.StatusSucceeded || row.Usage.ModelCalls != 3 || row.FinishedAt.IsZero() || !row.StartedAt.Before(row.FinishedAt) {
			t.Errorf("row %+v, %v", row, err)
		}
		ops, err := h.store.ListOperations(ctx, owner, ledger.OperationQuery{Tree: res.RunID})
		if err != nil || len(ops.Items) != 1 {
			t.Errorf("%d generations, %v", len(ops.Items), err)
		}
	})
}

// TestOneAnswerWins: of many simultaneous answers in several processes, one is accepted.
func TestOneAnswerWins(t *testing.T) {
	t.Parallel()
	h := build(t, questionAnswers()...)
	h.service = h.newDurableService(t)
	res := h.paused(t, "")
	services := []*run.Service{h.service, h.newDurableService(t)}
	var won atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			r, err := services[i%2].Resume(t.Context(), owner, res.RunID, colour("red"))
			if err != nil {
				if media.CodeOf(err) != media.CodeConflict {
					t.Errorf("refused with %v", err)
				}
				return
			}
			won.Add(1)
			if done, err := r.Wait(t.Context()); err != nil || done.Status != agent.StatusSucceeded {
				t.Errorf("%+v, %v", done, err)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("%d answers were taken", won.Load())
	}
	if n := h.eventCounts(t, res.RunID); n["run-succeeded"] != 1 || n["run-resumed"] != 1 {
		t.Errorf("events %v", n)
	}
}

// TestAnswerWithoutItsProcess: the process ended after the answer was saved; the next resume continues the run, or a
// process that adopts runs does.
func TestAnswerWithoutItsProcess(t *testing.T) {
	t.Parallel()
	for name, goOn := range map[string]func(*testing.T, *testService, string){
		"resumed": func(t *testing.T, h *testService, id string) {
			t.Helper()
			if _, err := h.service.Resume(t.Context(), owner, id, colour("blue")); media.CodeOf(err) != media.CodeConflict {
				t.Errorf("a second answer: %v", err)
			}
			h.finish(t, id, nil)
		},
		"taken over": func(t *testing.T, h *testService, id string) {
			t.Helper()
			n, err := h.service.Adopt(t.Context())
			if n != 1 || err != nil {
				t.Errorf("took %d over, %v", n, err)
			}
			for h.status(t, id) != ledger.StatusSucceeded {
				time.Sleep(time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, questionAnswers()...)
			h.service = h.newDurableService(t)
			id := h.paused(t, "").RunID
			h.answerOnly(t, id)
			goOn(t, h, id)
			if got := h.status(t, id); got != ledger.StatusSucceeded {
				t.Errorf("the run is %s", got)
			}
			if n, err := h.service.Adopt(t.Context()); n != 0 || err != nil {
				t.Errorf("took %d more over, %v", n, err)
			}
		})
	}
}

// answerOnly saves an answer long ago, like a process that ends before the run continues.
func (h *testService) answerOnly(t *testing.T, id string) {
	t.Helper()
	st, err := h.store.RunState(t.Context(), owner, id)
	must(t, err)
	kept := map[string]json.RawMessage{}
	must(t, json.Unmarshal(st.State, &kept))
	var state agent.State
	must(t, json.Unmarshal(kept["state"], &state))
	state, err = h.runner.Answered(t.Context(), state, *colour("red"))
	must(t, err)
	kept["state"], err = json.Marshal(state)
	must(t, err)
	st.State, err = json.Marshal(kept)
	must(t, err)
	st.Status, st.Pending, st.AnsweredAt = ledger.WaitAnswered, nil, st.AskedAt.Add(-time.Hour)
	must(t, h.store.ChangeRunState(t.Context(), ledger.WaitPaused, st))
}

// TestPausedRunHoldsNothing: a paused run leaves no goroutine and no entry in the service.
func TestPausedRunHoldsNothing(t *testing.T) { //nolint:paralleltest // it counts the goroutines of the process
	answers := questionAnswers()[1:2]
	h := build(t, answers...)
	h.service = h.newDurableService(t)
	h.paused(t, "")
	before := runtime.NumGoroutine()
	for range 20 {
		id := h.paused(t, "").RunID
		for h.service.Cancel(id) == nil { // its entry is removed a moment after its waiters return
			time.Sleep(time.Millisecond)
		}
	}
	var after int
	for range 60_000 { // goroutines end a moment after their work
		if after = runtime.NumGoroutine(); after <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, before %d", after, before)
}

func TestPausedRunInConversation(t *testing.T) {
	t.Parallel()
	withAndWithoutEngine(t, questionAnswers(), func(t *testing.T, h *testService) {
		t.Helper()
		res := h.paused(t, conversation.New)
		if messages, _ := h.stored(t, res.Conversation); len(messages) != 1 {
			t.Errorf("messages of a paused run: %+v", messages)
		}
		done := h.finish(t, res.RunID, colour("blue"))
		if done.Conversation != res.Conversation {
			t.Errorf("conversation %q, want %q", done.Conversation, res.Conversation)
		}
		messages, _ := h.stored(t, res.Conversation)
		if len(messages) != 2 || messages[1].Text != "Painted." || messages[1].Status != ledger.StatusSucceeded {
			t.Errorf("messages %+v", messages)
		}
	})
}

func TestPausedRunIsCancelled(t *testing.T) {
	t.Parallel()
	withAndWithoutEngine(t, questionAnswers(), func(t *testing.T, h *testService) {
		t.Helper()
		res := h.paused(t, conversation.New)
		must(t, h.service.End(t.Context(), owner, res.RunID))
		row, err := h.store.Run(t.Context(), owner, res.RunID)
		if err != nil || row.Status != ledger.StatusCancelled || row.Usage.ModelCalls != 2 || row.FinishedAt.IsZero() {
			t.Errorf("run %+v, %v", row, err)
		}
		if _, err := h.service.Resume(t.Context(), owner, res.RunID, colour("red")); media.CodeOf(err) != media.CodeConflict {
			t.Errorf("answered after its end: %v", err)
		}
		if err := h.service.End(t.Context(), owner, res.RunID); media.CodeOf(err) != media.CodeConflict {
			t.Errorf("cancelled twice: %v", err)
		}
		if n := h.eventCounts(t, res.RunID); n["run-cancelled"] != 1 {
			t.Errorf("events %v", n)
		}
		if messages, _ := h.stored(t, res.Conversation); len(messages) != 2 || messages[1].Failure.Code != string(media.CodeCancelled) {
			t.Errorf("messages %+v", messages)
		}
	})
}

// TestPartTakenOver: the process ended in the middle of the part after an answer. The run continues from there, and
// asks that part's question again.
func TestPartTakenOver(t *testing.T) {
	t.Parallel()
	h := build(t, questionAnswers()[1], `{"actions":[{"name":"Wait","params":{}}]}`, questionAnswers()[1], questionAnswers()[2])
	h.service = h.newDurableService(t)
	id := h.paused(t, "").RunID
	_, err := h.service.Resume(t.Context(), owner, id, colour("red"))
	must(t, err)
	<-h.arrived
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	h.service.HandOver(gone) // Wait ends when its process is asked to stop
	h.service = h.newDurableService(t)
	if _, err := h.service.Resume(t.Context(), owner, id, colour("blue")); media.CodeOf(err) != media.CodeConflict {
		t.Errorf("answered twice: %v", err)
	}
	r, err := h.service.Resume(t.Context(), owner, id, nil)
	must(t, err)
	<-h.arrived
	h.release()
	res, err := r.Wait(t.Context())
	must(t, err)
	if res.Status != agent.StatusPaused || len(res.Pending) != 1 {
		t.Fatalf("%s, %+v", res.Status, res.Pending)
	}
	res = h.finish(t, id, colour("blue"))
	if res.Status != agent.StatusSucceeded || res.Usage.ModelCalls != 4 || len(res.AlsoMade) != 1 {
		t.Errorf("result %+v", res)
	}
	if n := h.eventCounts(t, id); n["run-paused"] != 2 || n["run-resumed"] != 3 || n["run-succeeded"] != 1 {
		t.Errorf("events %v", n)
	}
}

// cancelling is a ledger of a service whose runs are cancelled at the moment they pause.
type cancelling struct {
	ledger.Store
	cancel func(runID string) error
}

func (c cancelling) SaveRunState(ctx context.Context, st ledger.RunState) error {
	return errors.Join(c.cancel(st.RunID), c.Store.SaveRunState(ctx, st))
}

// TestCancelledWhilePausing: a cancellation of a run that is just pausing is not lost.
func TestCancelledWhilePausing(t *testing.T) {
	t.Parallel()
	h := build(t, questionAnswers()...)
	var s *run.Service
	s = h.serviceOn(t, cancelling{h.store, func(id string) error { return s.Cancel(id) }})
	r, err := s.Start(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner})
	must(t, err)
	if _, err := r.Wait(t.Context()); media.CodeOf(err) != media.CodeCancelled {
		t.Errorf("the run ends with %v", err)
	}
	st, err := h.store.RunState(t.Context(), owner, r.ID)
	if err != nil || st.Status != ledger.WaitFinished {
		t.Errorf("its state is %s, %v", st.Status, err)
	}
}

// TestWaitingActsAreCancelled: when a waiting run is cancelled, its acts that wait are cancelled too.
func TestWaitingActsAreCancelled(t *testing.T) {
	t.Parallel()
	withAndWithoutEngine(t, questionAnswers(), func(t *testing.T, h *testService) {
		t.Helper()
		id := h.paused(t, "").RunID
		must(t, h.store.SaveStep(t.Context(), ledger.Step{ID: "waiting", RunID: id, Turn: 2, Position: 1, Kind: "action", Name: "Wait", Status: ledger.StatusPaused}))
		must(t, h.service.End(t.Context(), owner, id))
		steps, err := ledger.AllOf(t.Context(), h.store.ListSteps, owner, id)
		must(t, err)
		want := map[string]ledger.Status{"Draw": ledger.StatusSucceeded, "Wait": ledger.StatusCancelled}
		for _, s := range steps {
			if s.Status != want[s.Name] || s.FinishedAt.IsZero() || (s.Code == string(media.CodeCancelled)) != (s.Name == "Wait") {
				t.Errorf("step %+v", s)
			}
		}
	})
}

// TestCancelOutlivesItsCaller: a caller who leaves while a waiting run is cancelled does not leave the run half ended.
func TestCancelOutlivesItsCaller(t *testing.T) {
	t.Parallel()
	withAndWithoutEngine(t, questionAnswers(), func(t *testing.T, h *testService) {
		t.Helper()
		id := h.paused(t, "").RunID
		ctx, leave := context.WithCancel(t.Context())
		h.service = h.serviceOn(t, leaving{h.store, leave})
		must(t, h.service.End(ctx, owner, id))
		if got := h.status(t, id); got != ledger.StatusCancelled {
			t.Errorf("the run is %s", got)
		}
	})
}

// leaving is a ledger whose caller leaves once the state of a run has changed.
type leaving struct {
	ledger.Store
	leave func()
}

func (l leaving) ChangeRunState(ctx context.Context, from ledger.WaitStatus, st ledger.RunState) error {
	defer l.leave()
	return l.Store.ChangeRunState(ctx, from, st)
}

// serviceOn returns another service without an engine on a ledger.
func (h *testService) serviceOn(t *testing.T, l ledger.Store) *run.Service {
	t.Helper()
	s, err := run.NewService(run.Config{Agents: h.runner, Ledger: l, Observer: h.observer})
	must(t, err)
	t.Cleanup(s.Close)
	return s
}
