package run_test

import (
	"encoding/json"
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
	"atelier/run/conversation"
)

func (h *testService) modelCalls() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.asked)
}

func (h *testService) generations(t *testing.T, id string) int {
	t.Helper()
	ops, err := h.store.ListOperations(t.Context(), owner, ledger.OperationQuery{Tree: id})
	must(t, err)
	return len(ops.Items)
}

func (h *testService) stepNames(t *testing.T, id string) (names []string) {
	t.Helper()
	steps, err := h.service.Steps(t.Context(), owner, id)
	must(t, err)
	for _, s := range steps {
		names = append(names, s.Name)
	}
	return names
}

// TestRetry: a run whose model was unavailable continues from its last good step, twice.
func TestRetry(t *testing.T) {
	t.Parallel()
	h := build(t, drawThenDone()[0], failingCall, failingCall, `{"reasoning":"finished","message":"Here they are.","done":true}`)
	h.service = h.newDurableService(t)
	ctx := t.Context()
	res, err := h.service.Run(ctx, agent.Request{Agent: "painter", Message: "paint", Owner: owner, Conversation: conversation.New})
	if media.CodeOf(err) != media.CodeUnavailable {
		t.Fatalf("error %v", err)
	}
	steps, err := h.service.Steps(ctx, owner, res.RunID)
	must(t, err)
	if len(steps) == 0 || !steps[len(steps)-1].Failed || steps[len(steps)-1].FinishedAt.IsZero() {
		t.Errorf("steps %+v", steps)
	}
	want := []string{"given", "turn-1-model", "turn-1-action-1", "turn-2-model"}
	if d := cmp.Diff(want, h.stepNames(t, res.RunID)); d != "" {
		t.Error(d)
	}
	h.service.Close()
	h.service = h.newDurableService(t)
	r, err := h.service.Retry(ctx, owner, res.RunID, run.ContinueOptions{})
	must(t, err)
	if again, err := r.Wait(ctx); media.CodeOf(err) != media.CodeUnavailable || again.RunID != res.RunID {
		t.Fatalf("second try %+v, %v", again, err)
	}
	r, err = h.service.Retry(ctx, owner, res.RunID, run.ContinueOptions{})
	must(t, err)
	if _, err := h.service.Retry(ctx, owner, res.RunID, run.ContinueOptions{}); media.CodeOf(err) != media.CodeConflict {
		t.Errorf("tried again while it is tried: %v", err)
	}
	done, err := r.Wait(ctx)
	must(t, err)
	if done.Status != agent.StatusSucceeded || done.RunID != res.RunID || len(done.AlsoMade)+len(done.Outputs) != 3 || done.Usage.ModelCalls != 2 {
		t.Errorf("result %+v", done)
	}
	if n := h.modelCalls(); n != 4 {
		t.Errorf("the model was asked %d times, want 4", n)
	}
	if n := h.generations(t, res.RunID); n != 1 {
		t.Errorf("%d generations, want 1", n)
	}
	if n := h.eventCounts(t, res.RunID); n["run-failed"] != 2 || n["run-succeeded"] != 1 || n["run-resumed"] != 2 || n["action-finished"] != 1 || n["run-started"] != 1 ||
		n["turn-started"] != 4 || n["turn-finished"] != 4 { // turn 2 three times, twice with the same error
		t.Errorf("events %v", n)
	}
	row, err := h.store.Run(ctx, owner, res.RunID)
	if err != nil || row.Status != ledger.StatusSucceeded || row.Failure.Code != "" {
		t.Errorf("row %+v, %v", row, err)
	}
	if messages, _ := h.stored(t, done.Conversation); len(messages) != 2 || messages[1].Text != "Here they are." {
		t.Errorf("messages %+v", messages)
	}
	for _, try := range []func() (*run.Run, error){
		func() (*run.Run, error) { return h.service.Retry(ctx, owner, res.RunID, run.ContinueOptions{}) },
		func() (*run.Run, error) { return h.service.Resume(ctx, owner, res.RunID, nil) },
	} {
		if _, err := try(); media.CodeOf(err) != media.CodeConflict {
			t.Errorf("after its end: %v", err)
		}
	}
	for who, id := range map[string]string{"bob": res.RunID, owner: "nothing"} {
		if _, err := h.service.Retry(ctx, who, id, run.ContinueOptions{}); media.CodeOf(err) != media.CodeNotFound {
			t.Errorf("%s retries %s: %v", who, id, err)
		}
	}
}

// TestEventsOfARepeatedTurn: a turn that a retry repeats is in the log with its new message and acts, once, also after
// the run pauses and continues.
func TestEventsOfARepeatedTurn(t *testing.T) {
	t.Parallel()
	h := build(t, `{"actions":[{"name":"Draw"}]}`, `{"message":"old","actions":[{"name":"Draw"}]}`, `{"message":"new","agents":[{"name":"helper","task":"x"}]}`, questionAnswers()[1], questionAnswers()[2])
	h.service = h.newDurableService(t)
	res, err := h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner, MaxTurns: 2})
	if media.CodeOf(err) != media.CodeOverBudget {
		t.Fatal(err)
	}
	r, err := h.service.Retry(t.Context(), owner, res.RunID, run.ContinueOptions{MaxTurns: 9})
	must(t, err)
	_, err = r.Wait(t.Context())
	must(t, err)
	h.finish(t, res.RunID, colour("red"))
	must(t, h.observer.Flush(t.Context()))
	events, err := h.store.ListEvents(t.Context(), owner, res.RunID, 0, ledger.MaxLimit)
	must(t, err)
	var got []string
	for _, e := range events {
		var d struct {
			Turn            int
			Text            string
			Actions, Agents []string
		}
		must(t, json.Unmarshal(e.Payload, &d))
		switch {
		case e.Kind == "message-delta":
			got = append(got, d.Text)
		case strings.HasPrefix(e.Kind, "turn-"):
			got = append(got, fmt.Sprint(e.Kind, d.Turn, d.Actions, d.Agents))
		}
	}
	want := []string{
		"turn-started1 [] []", "turn-finished1 [Draw] []", "turn-started2 [] []", "turn-finished2 [Draw] []", "old",
		"turn-started2 [] []", "turn-finished2 [] [helper]", "new", "turn-started3 [] []", "turn-finished3 [] []", "turn-started4 [] []", "turn-finished4 [] []", "Painted.",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestRetryOfBadAnswers: the last answer, which was unusable, is requested again.
func TestRetryOfBadAnswers(t *testing.T) {
	t.Parallel()
	h := build(t, "no", "step", "at", "all", `{"message":"fine","done":true}`)
	h.service = h.newDurableService(t)
	res, err := h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner})
	if media.CodeOf(err) != media.CodeBadResponse {
		t.Fatalf("error %v", err)
	}
	r, err := h.service.Retry(t.Context(), owner, res.RunID, run.ContinueOptions{})
	must(t, err)
	done, err := r.Wait(t.Context())
	if err != nil || done.Message != "fine" || h.modelCalls() != 5 {
		t.Errorf("%+v, %v after %d questions", done, err, h.modelCalls())
	}
	row, err := h.store.Run(t.Context(), owner, res.RunID)
	must(t, err)
	if u := row.Usage; u.ModelCalls != 5 || u.InputTokens != 50 || u.OutputTokens != 25 || done.Usage.ModelCalls != 5 || !row.Cost.Complete {
		t.Errorf("the row counts %+v, the result %+v, after 5 calls", u, done.Usage)
	}
}

// TestRetryOfCancelled: the results of a cancelled run are kept, the interrupted step is repeated, and the run pauses
// as usual.
func TestRetryOfCancelled(t *testing.T) {
	t.Parallel()
	h := build(t, `{"actions":[{"name":"Wait","params":{}}]}`, questionAnswers()[1], questionAnswers()[2])
	h.service = h.newDurableService(t)
	r, err := h.service.Start(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner})
	must(t, err)
	<-h.arrived
	r.Cancel()
	if res, err := r.Wait(t.Context()); media.CodeOf(err) != media.CodeCancelled || res.Status != agent.StatusCancelled {
		t.Fatalf("%+v, %v", res, err)
	}
	if steps, err := h.service.Steps(t.Context(), owner, r.ID); err != nil || len(steps) != 2 || steps[0].Failed || !steps[1].Failed {
		t.Errorf("steps %+v, %v", steps, err)
	}
	again, err := h.service.Retry(t.Context(), owner, r.ID, run.ContinueOptions{})
	must(t, err)
	<-h.arrived
	h.release()
	res, err := again.Wait(t.Context())
	must(t, err)
	if res.Status != agent.StatusPaused || h.generations(t, r.ID) != 2 || h.modelCalls() != 2 {
		t.Fatalf("%+v with %d generations", res, h.generations(t, r.ID))
	}
	if _, err := h.service.Retry(t.Context(), owner, r.ID, run.ContinueOptions{}); media.CodeOf(err) != media.CodeConflict || !strings.Contains(err.Error(), "Which colour?") {
		t.Errorf("retry of a paused run: %v", err)
	}
	if res = h.finish(t, r.ID, colour("red")); res.Status != agent.StatusSucceeded || len(res.AlsoMade) != 1 {
		t.Errorf("result %+v", res)
	}
	counts := map[string]int{}
	events, err := h.store.ListEvents(t.Context(), owner, r.ID, 0, ledger.MaxLimit)
	must(t, err)
	for _, e := range events {
		var act agent.ActionFinished
		if e.Kind == "action-finished" {
			must(t, json.Unmarshal(e.Payload, &act))
			counts[fmt.Sprintf("cut %t, success %t", act.Interrupted, act.Success)]++
		}
	}
	if d := cmp.Diff(map[string]int{"cut true, success false": 1, "cut false, success true": 1}, counts); d != "" {
		t.Error(d)
	}
	acts, err := h.store.ListSteps(t.Context(), owner, r.ID, ledger.Page{})
	must(t, err)
	if len(acts.Items) != 1 || acts.Items[0].Status != ledger.StatusSucceeded {
		t.Errorf("acts %+v", acts.Items)
	}
}

func TestRetryNeedsSteps(t *testing.T) {
	t.Parallel()
	h := newTestService(t, failingCall)
	res, err := h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner})
	if media.CodeOf(err) != media.CodeUnavailable {
		t.Fatalf("error %v", err)
	}
	for name, err := range map[string]error{
		"retry": func() error {
			_, err := h.service.Retry(t.Context(), owner, res.RunID, run.ContinueOptions{})
			return err
		}(),
		"fork": func() error {
			_, err := h.service.Fork(t.Context(), owner, res.RunID, run.Fork{From: "turn-1-model"})
			return err
		}(),
		"steps": func() error { _, err := h.service.Steps(t.Context(), owner, res.RunID); return err }(),
		"with an engine, retry": func() error {
			_, err := h.newDurableService(t).Retry(t.Context(), owner, res.RunID, run.ContinueOptions{})
			return err
		}(),
		"with an engine, resume": func() error { _, err := h.newDurableService(t).Steps(t.Context(), owner, res.RunID); return err }(),
	} {
		if media.CodeOf(err) != media.CodeUnsupported {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// forked forks a run and waits for the end.
func (h *testService) forked(t *testing.T, id string, f run.Fork) *agent.Result {
	t.Helper()
	r, err := h.service.Fork(t.Context(), owner, id, f)
	must(t, err)
	res, err := r.Wait(t.Context())
	must(t, err)
	if res.RunID == id || res.RunID != r.ID {
		t.Errorf("the fork is run %s of %s", res.RunID, id)
	}
	return res
}

func TestFork(t *testing.T) {
	t.Parallel()
	h := build(t, drawThenDone()[0], `{"reasoning":"finished","message":"Here they are.","done":true}`,
		`{"message":"In blue.","done":true}`, drawThenDone()[0], `{"message":"All anew.","done":true}`)
	h.service = h.newDurableService(t)
	ctx := t.Context()
	first, err := h.service.Run(ctx, agent.Request{Agent: "painter", Message: "paint", Owner: owner, Conversation: conversation.New})
	must(t, err)
	var refs []media.Ref
	for _, o := range append(slices.Clone(first.Outputs), first.AlsoMade...) {
		refs = append(refs, o.Ref)
	}
	second := h.forked(t, first.RunID, run.Fork{From: "turn-2-model", Message: "paint it blue"})
	if second.Status != agent.StatusSucceeded || second.Message != "In blue." || h.modelCalls() != 3 || h.generations(t, second.RunID) != 0 {
		t.Errorf("result %+v after %d questions", second, h.modelCalls())
	}
	if asked := h.last(); !strings.Contains(asked[0].Text(), "paint it blue") {
		t.Errorf("the messages to the model were %+v", asked)
	}
	list, err := h.store.ListMedia(ctx, owner, ledger.MediaQuery{Tree: second.RunID})
	must(t, err)
	var have []media.Ref
	for _, rec := range list.Items {
		have = append(have, rec.Ref)
		if o, ok := second.Find(rec.Ref); !ok || o.ID != rec.ID {
			t.Errorf("%s has id %s in the run and %s in the ledger", rec.Ref, o.ID, rec.ID)
		}
	}
	slices.Sort(refs)
	slices.Sort(have)
	if d := cmp.Diff(refs, have); d != "" {
		t.Error(d)
	}
	row, err := h.store.Run(ctx, owner, second.RunID)
	if err != nil || row.ForkedFrom != first.RunID || row.ForkedStep != "turn-2-model" || row.Task != "paint it blue" {
		t.Errorf("row %+v, %v", row, err)
	}
	if before, err := h.store.Run(ctx, owner, first.RunID); err != nil || before.Status != ledger.StatusSucceeded || before.Task != "paint" || before.ForkedFrom != "" {
		t.Errorf("the first run is %+v, %v", before, err)
	}
	if messages, _ := h.stored(t, first.Conversation); len(messages) != 2 {
		t.Errorf("messages %+v", messages)
	}
	third := h.forked(t, second.RunID, run.Fork{From: "turn-1-model"})
	if third.Message != "All anew." || h.generations(t, third.RunID) != 1 || h.modelCalls() != 5 {
		t.Errorf("result %+v after %d questions", third, h.modelCalls())
	}
	for name, c := range map[string]struct {
		who, id, from string
		code          media.Code
	}{
		"unknown step": {owner, first.RunID, "turn-9-model", media.CodeInvalid}, "no step": {owner, first.RunID, "", media.CodeInvalid},
		"foreign": {"bob", first.RunID, "turn-1-model", media.CodeNotFound}, "unknown run": {owner, "x", "turn-1-model", media.CodeNotFound},
	} {
		if _, err := h.service.Fork(ctx, c.who, c.id, run.Fork{From: c.from}); media.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestForkKeepsAnswers: a fork after a question keeps its answer, one before it asks again.
func TestForkKeepsAnswers(t *testing.T) {
	t.Parallel()
	h := build(t, append(questionAnswers(), `{"message":"Again.","done":true}`, questionAnswers()[1], questionAnswers()[2])...)
	h.service = h.newDurableService(t)
	id := h.paused(t, "").RunID
	early := h.stepNames(t, id)
	h.finish(t, id, colour("red"))
	want := []string{"turn-1-model", "turn-1-action-1", "turn-2-model", "turn-2-ask", "turn-3-model"}
	if d := cmp.Diff(want, h.stepNames(t, id)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want[:3], early); d != "" {
		t.Error(d)
	}
	res := h.forked(t, id, run.Fork{From: "turn-3-model"})
	if asked, err := json.Marshal(h.last()); err != nil || res.Message != "Again." || !strings.Contains(string(asked), "red") {
		t.Errorf("result %+v", res)
	}
	res = h.forked(t, id, run.Fork{From: "turn-2-model"})
	if res.Status != agent.StatusPaused {
		t.Fatalf("result %+v", res)
	}
	if res = h.finish(t, res.RunID, colour("blue")); res.Status != agent.StatusSucceeded || len(res.AlsoMade) != 2 {
		t.Errorf("result %+v", res)
	}
}

// TestRetryAfterTheDeadline: a run that exceeded its deadline is not bound by it when it is retried.
func TestRetryAfterTheDeadline(t *testing.T) {
	t.Parallel()
	h, res := interruptedRun(t, 500*time.Millisecond)
	ctx := t.Context()
	r, err := h.service.Retry(ctx, owner, res.RunID, run.ContinueOptions{})
	must(t, err)
	<-h.arrived // the step that the deadline interrupted is repeated
	h.release()
	done, err := r.Wait(ctx)
	if err != nil || done.Message != "Waited." || h.generations(t, res.RunID) != 2 {
		t.Errorf("%+v, %v", done, err)
	}
}

// interruptedRun returns a run that its deadline ended in Wait. On a busy machine the deadline is extended until the
// run reaches Wait.
func interruptedRun(t *testing.T, given time.Duration) (*testService, *agent.Result) {
	t.Helper()
	h := build(t, `{"actions":[{"name":"Wait","params":{}}]}`, `{"message":"Waited.","done":true}`)
	h.service = h.newDurableService(t)
	res, err := h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner, Deadline: time.Now().Add(given)})
	if media.CodeOf(err) != media.CodeDeadline {
		t.Fatalf("error %v", err)
	}
	select {
	case <-h.arrived:
		return h, res
	default:
		if given > time.Minute {
			t.Fatal("the run never came so far as to wait")
		}
		return interruptedRun(t, 2*given)
	}
}

// TestForkKeepsImages: pictures that came with the message and with an answer are in the fork.
func TestForkKeepsImages(t *testing.T) {
	t.Parallel()
	h := build(t, `{"ask":{"question":"What does it show?"}}`, `{"message":"Seen.","done":true}`)
	h.service = h.newDurableService(t)
	ctx := t.Context()
	res, err := h.service.Run(ctx, agent.Request{
		Agent: "painter", Message: "look", Owner: owner, LenientImages: true, Images: []agent.Image{{Data: picture(t, 1)}},
	})
	must(t, err)
	res = h.finish(t, res.RunID, &agent.Reply{Value: json.RawMessage(`{"answer":"this"}`), Images: []agent.Image{{Data: picture(t, 2)}}})
	if len(res.All()) != 2 {
		t.Fatalf("the run has %v", res.All())
	}
	for from, want := range map[string]int{"turn-2-model": 2, "turn-1-ask": 1, "turn-1-model": 1} {
		r, err := h.service.Fork(ctx, owner, res.RunID, run.Fork{From: from})
		must(t, err)
		forked, err := r.Wait(ctx)
		must(t, err)
		list, err := h.store.ListMedia(ctx, owner, ledger.MediaQuery{Tree: r.ID})
		must(t, err)
		if len(forked.All()) != want || len(list.Items) != want || len(forked.InputImages) == 0 {
			t.Errorf("from %s: %s with %v and %d records, want %d", from, forked.Status, forked.All(), len(list.Items), want)
		}
		for _, o := range forked.All() {
			if rec, err := h.store.MediaRecord(ctx, owner, o.ID); err != nil || rec.Tree != res.RunID {
				t.Errorf("from %s: %s is of run %s, %v", from, o.Ref, rec.Tree, err)
			}
		}
	}
}
