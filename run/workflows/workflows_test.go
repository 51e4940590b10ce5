package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"atelier/agent"
	"atelier/generate/catalog"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
	"atelier/run/workflows"
	"atelier/workflow"
	"atelier/workflow/module"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
	"atelier/workflow/subaction"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// askingWorkflow does something, asks, and does something again.
const askingWorkflow = `{"id":"asks","title":"Asks","steps":[
 {"id":"before","module_id":"test.count","inputs":{},"output":"before"},
 {"id":"approve","module_id":"review.approve","inputs":{"title":"Go on?","data":{"n":"{{ state.before.count }}"}},"output":"review"},
 {"id":"after","module_id":"test.count","inputs":{},"output":"after"}]}`

// choosingWorkflow asks for a choice.
const choosingWorkflow = `{"id":"picks","title":"Picks","steps":[{"id":"pick","module_id":"media.generation","inputs":{"title":"Pick","data":{"offline":{"b":"one","a":"two"}}}}]}`

const yes = `{"approved":true,"comment":"yes"}`

func state(o *ordered.Object) string { return string(ordered.Encode(o)) }

// TestStepsAreDoneOnce: steps before a pause are not repeated after it, and the state has the results in the order of
// the steps.
func TestStepsAreDoneOnce(t *testing.T) {
	t.Parallel()
	h := build(t)
	st := h.start(askingWorkflow, `{"z":1,"a":2}`)
	if st.Status != ledger.StatusPaused || st.Interaction == "" || state(st.State) != `{"z":1,"a":2,"before":{"count":1}}` {
		t.Fatalf("%s at %q with %s", st.Status, st.Interaction, state(st.State))
	}
	r, err := h.Answer(t.Context(), owner, st.Interaction, []byte(yes))
	must(t, err)
	st = h.waitForStatus(r)
	want := `{"z":1,"a":2,"before":{"count":1},"review":{"approved":true,"comment":"yes"},"after":{"count":1}}`
	if st.Status != ledger.StatusSucceeded || state(st.State) != want || h.called("before") != 1 || h.called("after") != 1 {
		t.Errorf("%s with %s", st.Status, state(st.State))
	}
	for kind, n := range map[string]int{"step-started": 3, "step-finished": 3, "interaction-opened": 1, "interaction-answered": 1, "run-paused": 1} {
		if got := h.eventCounts(st.ID); got[kind] != n {
			t.Errorf("%d × %s, want %d", got[kind], kind, n)
		}
	}
}

// TestTwoAnswers: of many simultaneous answers, one is accepted.
func TestTwoAnswers(t *testing.T) {
	t.Parallel()
	h := build(t)
	st := h.start(askingWorkflow, `{}`)
	var all sync.WaitGroup
	taken := make(chan *run.Run, 8)
	for n := range cap(taken) {
		all.Go(func() {
			r, err := h.Answer(t.Context(), owner, st.Interaction, fmt.Appendf(nil, `{"approved":true,"comment":"%d"}`, n))
			if err == nil {
				taken <- r
			} else if media.CodeOf(err) != media.CodeConflict {
				t.Errorf("refused with %v", err)
			}
		})
	}
	all.Wait()
	if len(taken) != 1 {
		t.Fatalf("%d answers were taken", len(taken))
	}
	st = h.waitForStatus(<-taken)
	row, err := h.store.Interaction(t.Context(), owner, st.Steps[1].Interactions[0])
	must(t, err)
	var answer struct {
		Comment string `json:"comment"`
	}
	must(t, json.Unmarshal(row.Answer, &answer))
	if !strings.Contains(state(st.State), `"comment":"`+answer.Comment+`"`) || row.Status != ledger.InteractionAnswered || h.called("after") != 1 {
		t.Errorf("the interaction has %s, the state is %s", row.Answer, state(st.State))
	}
}

// TestAnswerWithoutItsEnd: the process ends when the run has the answer and the interaction is still open: the run
// closes it.
func TestAnswerWithoutItsEnd(t *testing.T) {
	t.Parallel()
	h := build(t)
	st := h.start(askingWorkflow, `{}`)
	r, err := h.runs.Resume(t.Context(), owner, st.ID, &agent.Reply{Value: json.RawMessage(`{"interaction_id":"` + st.Interaction + `","answer":` + yes + `}`)})
	must(t, err)
	after := h.waitForStatus(r)
	row, err := h.store.Interaction(t.Context(), owner, st.Interaction)
	must(t, err)
	if after.Status != ledger.StatusSucceeded || row.Status != ledger.InteractionAnswered || string(row.Answer) != yes {
		t.Errorf("%s with %+v", after.Status, row)
	}
}

// TestExpiry: an interaction without an answer in time fails its run with a clear error; the timeout of a step takes
// precedence over that of the workflow.
func TestExpiry(t *testing.T) {
	t.Parallel()
	h := build(t)
	timed := strings.Replace(askingWorkflow, `"title":"Asks"`, `"title":"Asks","timeout":"1000h"`, 1)
	long, short := h.start(timed, `{}`), h.start(strings.Replace(timed, `"id":"approve"`, `"id":"approve","timeout":"72h"`, 1), `{}`)
	never := h.start(askingWorkflow, `{}`)
	if n, err := h.Expire(t.Context()); n != 0 || err != nil {
		t.Fatalf("%d expired, %v", n, err)
	}
	h.now.Store(73)
	_, err := h.Answer(t.Context(), owner, short.Interaction, []byte(yes))
	wantCode(t, err, media.CodeConflict)
	if _, err := h.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.waitForEnd(short.ID)
	st := h.status(short.ID)
	if st.Status != ledger.StatusFailed || st.Failure.Code != string(media.CodeDeadline) || !strings.Contains(st.Failure.Message, "step approve: the interaction timed out without an answer") {
		t.Errorf("%s: %+v", st.Status, st.Failure)
	}
	row, err := h.store.Interaction(t.Context(), owner, short.Interaction)
	if err != nil || row.Status != ledger.InteractionExpired {
		t.Errorf("%+v, %v", row, err)
	}
	for _, other := range []string{long.ID, never.ID} {
		if st := h.status(other); st.Status != ledger.StatusPaused {
			t.Errorf("another one is %s", st.Status)
		}
	}
	r, err := h.Fork(t.Context(), owner, short.ID, "approve", "")
	must(t, err)
	if st := h.waitForStatus(r); st.Status != ledger.StatusPaused || st.Interaction == short.Interaction || h.called("before") != 3 {
		t.Errorf("a fork is %s at %s", st.Status, st.Interaction)
	}
}

// TestReadWhileItExpires: readers of an interaction that expires, each of which would close it, all get it.
func TestReadWhileItExpires(t *testing.T) {
	t.Parallel()
	h := build(t)
	st := h.start(strings.Replace(askingWorkflow, `"id":"approve"`, `"id":"approve","timeout":"72h"`, 1), `{}`)
	h.now.Store(73)
	var readers sync.WaitGroup
	for range 16 {
		readers.Go(func() {
			if _, err := h.Show(context.WithoutCancel(t.Context()), owner, st.Interaction); err != nil {
				t.Error(err)
			}
		})
	}
	readers.Wait()
	h.waitForEnd(st.ID)
	if row, err := h.store.Interaction(t.Context(), owner, st.Interaction); err != nil || row.Status != ledger.InteractionExpired {
		t.Errorf("%+v, %v", row, err)
	}
}

// waitForEnd waits for the end of a run that this test did not start.
func (h *testService) waitForEnd(id string) {
	h.t.Helper()
	for {
		if st := h.status(id); !st.FinishedAt.IsZero() {
			return
		}
		must(h.t, h.events.Flush(h.t.Context()))
		must(h.t, h.t.Context().Err())
	}
}

// TestFailedStep: a failed step is reported; the run can be retried from it, or forked from any step.
func TestFailedStep(t *testing.T) {
	t.Parallel()
	h := build(t)
	st := h.start(askingWorkflow, `{}`)
	h.failing(media.Errorf(media.CodeUnavailable, "the press is broken"))
	r, err := h.Answer(t.Context(), owner, st.Interaction, []byte(yes))
	must(t, err)
	st = h.waitForStatus(r)
	if st.Status != ledger.StatusFailed || st.Steps[2].Status != ledger.StatusFailed || !strings.Contains(st.Failure.Message, "step after: the press is broken") {
		t.Fatalf("%s: %+v", st.Status, st.Failure)
	}
	h.failing(nil)
	r, err = h.runs.Retry(t.Context(), owner, st.ID, run.ContinueOptions{})
	must(t, err)
	if st = h.waitForStatus(r); st.Status != ledger.StatusSucceeded || h.called("before") != 1 || h.called("after") != 2 {
		t.Errorf("%s: %+v", st.Status, st.Failure)
	}
	for from, want := range map[string]ledger.Status{"after": ledger.StatusSucceeded, "approve": ledger.StatusPaused} {
		r, err := h.Fork(t.Context(), owner, st.ID, from, "")
		must(t, err)
		if fork := h.waitForStatus(r); fork.Status != want || h.called("before") != 1 || fork.ForkedFrom != st.ID {
			t.Errorf("from %s: %s, %d calls", from, fork.Status, h.called("before"))
		}
	}
	r, err = h.Fork(t.Context(), owner, st.ID, "", "")
	must(t, err)
	if fork := h.waitForStatus(r); fork.Status != ledger.StatusPaused || h.called("before") != 2 {
		t.Errorf("from the beginning: %s, %d calls", fork.Status, h.called("before"))
	}
	_, err = h.Fork(t.Context(), owner, st.ID, "none", "")
	wantCode(t, err, media.CodeInvalid)
}

// TestRunOfAnOlderProgram: a run whose definition is no longer valid, because its module is gone, is still shown.
func TestRunOfAnOlderProgram(t *testing.T) {
	t.Parallel()
	h := build(t)
	st := h.start(askingWorkflow, `{}`)
	modules, err := workflow.NewModules(module.All(module.Config{})...)
	must(t, err)
	newer, err := workflows.NewService(workflows.Config{
		Ledger: h.store, Modules: modules, Actions: subaction.New(&catalog.Catalog{}, time.Now),
		Runs: func(context.Context) (*run.Service, error) { return h.runs, nil }, Emit: h.events.Emit, SubActions: h, Now: time.Now,
	})
	must(t, err)
	shown, err := newer.Status(t.Context(), owner, st.ID)
	if err != nil || shown.Interaction != st.Interaction || len(shown.Steps) != 3 {
		t.Errorf("%+v, %v", shown, err)
	}
}

// TestRunsHaveAnOwner: nobody sees or changes the runs and interactions of another owner, and a run of another agent is
// not a run of a workflow.
func TestRunsHaveAnOwner(t *testing.T) {
	t.Parallel()
	h := build(t)
	ctx, st := t.Context(), h.start(askingWorkflow, `{}`)
	for what, do := range map[string]func() error{
		"status": func() error { _, err := h.Status(ctx, "bob", st.ID); return err },
		"cancel": func() error { return h.Cancel(ctx, "bob", st.ID) },
		"fork":   func() error { _, err := h.Fork(ctx, "bob", st.ID, "", ""); return err },
		"show":   func() error { _, err := h.Show(ctx, "bob", st.Interaction); return err },
		"read":   func() error { _, _, err := h.Read(ctx, "bob", st.Interaction); return err },
		"edit": func() error {
			_, err := h.Patch(ctx, "bob", st.Interaction, 0, []byte(`[{"op":"remove","path":"/a"}]`))
			return err
		},
		"answer": func() error { _, err := h.Answer(ctx, "bob", st.Interaction, []byte(yes)); return err },
		"result": func() error {
			return h.AppendItems(ctx, "bob", st.Interaction, []string{"generations", "a"}, workflow.Item{ContentID: "c"})
		},
	} {
		if err := do(); media.CodeOf(err) != media.CodeNotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	list, err := h.List(ctx, "bob", "", ledger.Page{})
	if err != nil || len(list.Items) > 0 {
		t.Errorf("bob sees %+v, %v", list, err)
	}
	res, err := h.runs.Run(ctx, agent.Request{Agent: "finder", Message: "x", Owner: owner})
	must(t, err)
	_, err = h.Status(ctx, owner, res.RunID)
	wantCode(t, err, media.CodeNotFound)
	_, err = h.runs.Run(ctx, agent.Request{Agent: "workflow", Message: "x", Owner: owner})
	wantCode(t, err, media.CodeInvalid)
}

// TestAgentModules: the work of a step's agent is part of the run: its record, its usage, its events. A replay after a
// pause does not call its model again.
func TestAgentModules(t *testing.T) {
	t.Parallel()
	h := build(t)
	st := h.start(`{"id":"a","title":"A","steps":[
	 {"id":"find","module_id":"agent.run","inputs":{"agent":"finder","message":"Find {{ state.what }}"},"output":{"message":"found","payload":"facts"}},
	 {"id":"approve","module_id":"review.approve","inputs":{"title":"Right?","data":{"found":"{{ state.found }}"}}}]}`, `{"what":"a hat"}`)
	if st.Status != ledger.StatusPaused || !strings.Contains(state(st.State), `"found":"Found.","facts":{`) || h.called("model") != 1 {
		t.Fatalf("%s: %+v %s, %d calls", st.Status, st.Failure, state(st.State), h.called("model"))
	}
	r, err := h.Answer(t.Context(), owner, st.Interaction, []byte(yes))
	must(t, err)
	st = h.waitForStatus(r)
	if st.Status != ledger.StatusSucceeded || h.called("model") != 1 || st.Usage.ModelCalls != 1 || st.Usage.InputTokens != 10 {
		t.Errorf("%s after %d calls with usage %+v", st.Status, h.called("model"), st.Usage)
	}
	tree, err := h.store.ListRuns(t.Context(), owner, ledger.RunQuery{Tree: st.ID})
	must(t, err)
	if len(tree.Items) != 2 || h.eventCounts(st.ID)["agent-finished"] != 1 {
		t.Errorf("%d runs in the tree, events %v", len(tree.Items), h.eventCounts(st.ID))
	}
}

// TestPromptsOfAnAgent: the prompts that an agent wrote are the cards of the next step. They are edited and kept during
// a pause without calling the model again.
func TestPromptsOfAnAgent(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.answer = `{"message":"Drafted.","done":true,"payload":{"prompts":{"offline":{"a":{"subject":"a red hat"},"b":"a blue hat"}}}}`
	st := h.start(`{"id":"a","title":"A","steps":[
	 {"id":"draft","module_id":"prompt.draft","inputs":{"brief":"{{ state.brief }}","agent":"finder","providers":{"offline":["a","b"]}}},
	 {"id":"pick","module_id":"media.generation","inputs":{"title":"Pick","data":"{{ state.prompts }}"}}]}`, `{"brief":"hats"}`)
	if st.Status != ledger.StatusPaused || st.Interaction == "" || h.called("model") != 1 {
		t.Fatalf("%s: %+v %s, %d calls", st.Status, st.Failure, state(st.State), h.called("model"))
	}
	_, err := h.Patch(t.Context(), owner, st.Interaction, 0, []byte(`[{"op":"replace","path":"/prompts/offline/a/subject","value":"a green hat"}]`))
	must(t, err)
	shown, err := h.Show(t.Context(), owner, st.Interaction)
	must(t, err)
	if got := string(ordered.Encode(shown.DisplayData)); !strings.Contains(got, `"prompts":{"offline":{"a":{"subject":"a green hat"},"b":"a blue hat"}}`) || h.called("model") != 1 {
		t.Errorf("%s after %d calls", got, h.called("model"))
	}
	h.mu.Lock()
	h.answer = `{"message":"Drafted.","done":true,"payload":{"prompts":{"offline":{"a":"one"}}}}`
	h.mu.Unlock()
	r, err := h.Fork(t.Context(), owner, st.ID, "draft", "")
	must(t, err)
	if st = h.waitForStatus(r); st.Status != ledger.StatusFailed || st.Failure.Code != string(media.CodeBadResponse) || !strings.Contains(st.Failure.Message, "offline.b") {
		t.Errorf("without a prompt: %s: %+v", st.Status, st.Failure)
	}
}

// TestAgentOfAStepAsks: a step's agent that asks pauses the run of the workflow; the reply resumes it.
func TestAgentOfAStepAsks(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.answer = `{"reasoning":"?","ask":{"question":"Which hat?"}}`
	st := h.start(`{"id":"a","title":"A","steps":[{"id":"find","module_id":"agent.run","inputs":{"agent":"finder","message":"Find a hat"}}]}`, `{}`)
	open, err := h.runs.Questions(t.Context(), owner, st.ID)
	if err != nil || st.Status != ledger.StatusPaused || st.Interaction != "" || len(open) != 1 || open[0].Question != "Which hat?" {
		t.Fatalf("%s, %+v, %v", st.Status, open, err)
	}
	h.mu.Lock()
	h.answer = `{"message":"Found.","done":true}`
	h.mu.Unlock()
	r, err := h.runs.Resume(t.Context(), owner, st.ID, &agent.Reply{Value: json.RawMessage(`{"answer":"the red one"}`)})
	must(t, err)
	if st = h.waitForStatus(r); st.Status != ledger.StatusSucceeded || !strings.Contains(state(st.State), "Found.") || h.called("model") != 2 {
		t.Errorf("%s: %+v %s", st.Status, st.Failure, state(st.State))
	}
}

// TestResults: each result is added once, during edits and from several callers at the same time; a closed interaction
// is unchanged.
func TestResults(t *testing.T) {
	t.Parallel()
	h := build(t)
	ctx, st := t.Context(), h.start(choosingWorkflow, `{}`)
	target := []string{"generations", "offline", "b"}
	item := func(n int) workflow.Item {
		return workflow.Item{ContentID: fmt.Sprintf("gc_%d", n), MetadataID: "gm", URL: fmt.Sprintf("/media/%d", n)}
	}
	var all sync.WaitGroup
	for n := range 5 {
		all.Go(func() {
			for range 2 {
				if err := h.AppendItems(ctx, owner, st.Interaction, target, item(n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	_, err := h.Patch(ctx, owner, st.Interaction, 0, []byte(`[{"op":"replace","path":"/prompts/offline/b","value":"three"}]`))
	must(t, err)
	all.Wait()
	shown, err := h.Show(ctx, owner, st.Interaction)
	must(t, err)
	list, _ := ordered.Get(shown.DisplayData, target...)
	items, _ := list.([]any)
	if len(items) != 5 || shown.Version != 6 || !strings.Contains(state(shown.DisplayData), `{"offline":{"b":"three","a":"two"}}`) {
		t.Errorf("version %d: %s", shown.Version, state(shown.DisplayData))
	}
	h.checkReplay(st.ID, shown.DisplayData)
	r, err := h.Answer(ctx, owner, st.Interaction, []byte(`{"selected_content_id":"gc_3"}`))
	must(t, err)
	if after := h.waitForStatus(r); state(after.State) != `{"selected_image":"gc_3"}` {
		t.Errorf("%s", state(after.State))
	}
	must(t, h.AppendItems(ctx, owner, st.Interaction, target, item(9)))
	later, err := h.Show(ctx, owner, st.Interaction)
	must(t, err)
	if later.Version != 6 || !ordered.Equal(later.DisplayData, shown.DisplayData) {
		t.Errorf("version %d: %s", later.Version, state(later.DisplayData))
	}
	_, _, err = h.Read(ctx, owner, st.Interaction)
	wantCode(t, err, media.CodeConflict)
}

// checkReplay checks that the patches of the events, applied in order, lead from the initial data to the expected data.
func (h *testService) checkReplay(id string, want *ordered.Object) {
	h.t.Helper()
	must(h.t, h.events.Flush(h.t.Context()))
	list, err := h.store.ListEvents(h.t.Context(), owner, id, 0, ledger.MaxLimit)
	must(h.t, err)
	data := h.object(`{"variant":"cards","prompts":{"offline":{"b":"one","a":"two"}},"generations":{}}`)
	versions := map[int]json.RawMessage{}
	for _, e := range list {
		var c agent.InteractionPatched
		if e.Kind == string(agent.EventInteractionPatched) && json.Unmarshal(e.Payload, &c) == nil {
			versions[c.Version] = c.Patch
		}
	}
	for n := 1; n <= len(versions); n++ {
		data = apply(h, data, versions[n])
	}
	if !ordered.Equal(data, want) {
		h.t.Errorf("the events lead to %s", state(data))
	}
}

// TestAnswersAreChecked: an answer that violates the rules of an interaction is refused with the position, and the run
// stays paused; an answer while sub-actions run must say what becomes of them.
func TestAnswersAreChecked(t *testing.T) {
	t.Parallel()
	h := build(t)
	ctx, st := t.Context(), h.start(choosingWorkflow, `{}`)
	must(t, h.AppendItems(ctx, owner, st.Interaction, []string{"generations", "offline", "a"}, workflow.Item{ContentID: "gc_1"}))
	for answer, pointer := range map[string]string{
		`{}`: "/selected_content_id", `{"selected_content_id":"gc_2"}`: "/selected_content_id", `{"selected_content_ids":["gc_1"]}`: "/selected_content_ids",
		`{"selected_content_id":"gc_1","x":1}`: "/x", `{"selected_content_id":["gc_1"]}`: "/selected_content_id",
	} {
		_, err := h.Answer(ctx, owner, st.Interaction, []byte(answer))
		found := problem.Of(err)
		if media.CodeOf(err) != media.CodeInvalid || len(found) == 0 || found[0].Pointer != pointer {
			t.Errorf("%s: %v", answer, err)
		}
	}
	h.mu.Lock()
	h.running = 2
	h.mu.Unlock()
	_, err := h.Answer(ctx, owner, st.Interaction, []byte(`{"selected_content_id":"gc_1"}`))
	wantCode(t, err, media.CodeActionsRunning)
	if now := h.status(st.ID); now.Interaction != st.Interaction || now.Status != ledger.StatusPaused {
		t.Errorf("the run is %s at %s", now.Status, now.Interaction)
	}
	h.mu.Lock()
	h.cancelErr = media.Errorf(media.CodeUnsupported, "the provider cannot cancel")
	h.mu.Unlock()
	r, err := h.Answer(ctx, owner, st.Interaction, []byte(`{"selected_content_id":"gc_1","running":"cancel"}`))
	must(t, err) // the answer was accepted
	if after := h.waitForStatus(r); after.Status != ledger.StatusSucceeded || len(h.stopped) != 1 || h.stopped[0] != st.Interaction {
		t.Errorf("%s, stopped %v", after.Status, h.stopped)
	}
}

// TestCancel: a paused run is cancelled with its interaction and the sub-actions there, also through the service of
// runs; a retry asks again.
func TestCancel(t *testing.T) {
	t.Parallel()
	h := build(t)
	ctx, st := t.Context(), h.start(askingWorkflow, `{}`)
	must(t, h.Cancel(ctx, owner, st.ID))
	row, err := h.store.Interaction(ctx, owner, st.Interaction)
	if err != nil || row.Status != ledger.InteractionCancelled || len(h.stopped) != 1 {
		t.Errorf("%+v, %v, stopped %v", row, err, h.stopped)
	}
	if now := h.status(st.ID); now.Status != ledger.StatusCancelled || now.Steps[1].Status != ledger.StatusCancelled || now.Steps[2].Status != "" {
		t.Errorf("%s: %+v", now.Status, now.Steps)
	}
	r, err := h.runs.Retry(ctx, owner, st.ID, run.ContinueOptions{})
	must(t, err)
	again := h.waitForStatus(r)
	if again.Status != ledger.StatusPaused || again.Interaction == st.Interaction || len(again.Steps[1].Interactions) != 2 {
		t.Fatalf("%s at %s", again.Status, again.Interaction)
	}
	must(t, h.runs.End(ctx, owner, st.ID))
	shown, err := h.Show(ctx, owner, again.Interaction)
	if err != nil || shown.Row.Status != ledger.InteractionCancelled {
		t.Errorf("%+v, %v", shown.Row, err)
	}
}

// TestCancelStopsAllSubActions: sub-actions that an answered interaction kept running are cancelled with the run, too.
func TestCancelStopsAllSubActions(t *testing.T) {
	t.Parallel()
	h := build(t)
	twice := strings.Replace(askingWorkflow, `"steps":[`, `"steps":[{"id":"first","module_id":"review.approve","inputs":{"title":"Begin?","data":{}},"output":"first"},`, 1)
	st := h.start(twice, `{}`)
	h.running = 1
	r, err := h.Answer(t.Context(), owner, st.Interaction, []byte(`{"approved":true,"running":"keep"}`))
	must(t, err)
	second := h.waitForStatus(r).Interaction
	must(t, h.Cancel(t.Context(), owner, st.ID))
	if want := []string{st.Interaction, second}; !slices.Equal(h.stopped, want) {
		t.Errorf("stopped %v, want %v", h.stopped, want)
	}
}

// TestPatchThatOnlyTests: the event of an edit that only tests values has an empty patch.
func TestPatchThatOnlyTests(t *testing.T) {
	t.Parallel()
	h := build(t)
	st := h.start(choosingWorkflow, `{}`)
	_, err := h.Patch(t.Context(), owner, st.Interaction, 0, []byte(`[{"op":"test","path":"/prompts/offline/b","value":"one"}]`))
	must(t, err)
	must(t, h.events.Flush(t.Context()))
	list, err := h.store.ListEvents(t.Context(), owner, st.ID, 0, ledger.MaxLimit)
	must(t, err)
	if e := list[len(list)-1]; e.Kind != "interaction-patched" || !strings.Contains(string(e.Payload), `"patch":[]`) {
		t.Errorf("%s %s", e.Kind, e.Payload)
	}
}

// TestBytesStayOut: media as data in people's input is refused; in the initial state of a run a placeholder replaces
// it.
func TestBytesStayOut(t *testing.T) {
	t.Parallel()
	h := build(t)
	ctx, st := t.Context(), h.start(choosingWorkflow, `{}`)
	picture := "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	_, err := h.Patch(ctx, owner, st.Interaction, 0, []byte(`[{"op":"replace","path":"/prompts/offline/b","value":"`+picture+`"}]`))
	wantCode(t, err, media.CodeInvalid)
	other := h.start(strings.Replace(askingWorkflow, "state.before.count", "state.picture", 1), `{"picture":"`+picture+`"}`)
	shown, err := h.Show(ctx, owner, other.Interaction)
	must(t, err)
	if data := state(shown.DisplayData); strings.Contains(data, "iVBORw0KGgo") || !strings.Contains(data, "${media:img-") {
		t.Errorf("the data is %s", data)
	}
	_, err = h.Answer(ctx, owner, other.Interaction, []byte(`{"approved":true,"comment":"`+picture+`"}`))
	wantCode(t, err, media.CodeInvalid)
}

// TestCost: generations while the run is paused are in its cost, before and after the answer.
func TestCost(t *testing.T) {
	t.Parallel()
	h := build(t)
	ctx, st := t.Context(), h.start(choosingWorkflow, `{}`)
	must(t, h.AppendItems(ctx, owner, st.Interaction, []string{"generations", "offline", "a"}, workflow.Item{ContentID: "gc_1"}))
	for id, cost := range map[string]string{"op_1": "0.04", "op_2": "0.02"} {
		op := ledger.Operation{ID: id, Owner: owner, Tree: st.ID, RunID: st.ID, Status: "submitted", EstimatedUSD: &cost}
		must(t, h.store.BeginOperation(ctx, op))
		op.Status, op.ReportedUSD, op.FinishedAt = "succeeded", &cost, time.Now()
		must(t, h.store.FinishOperation(ctx, op))
	}
	if st = h.status(st.ID); st.Cost.ReportedUSD == nil || *st.Cost.ReportedUSD != "0.06" || !st.Cost.Complete {
		t.Errorf("while it waits: %+v", st.Cost)
	}
	r, err := h.Answer(ctx, owner, st.Interaction, []byte(`{"selected_content_id":"gc_1"}`))
	must(t, err)
	if st = h.waitForStatus(r); st.Cost.ReportedUSD == nil || *st.Cost.ReportedUSD != "0.06" {
		t.Errorf("at its end: %+v", st.Cost)
	}
}

// TestListNamesTheWorkflow: a list names the workflow of each run, whatever its first step is called and however long
// its initial state is.
func TestListNamesTheWorkflow(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.start(strings.Replace(askingWorkflow, `"module_id"`, `"title":"definition","module_id"`, 1), `{"long":"`+strings.Repeat("a", 1<<20)+`"}`)
	list, err := h.List(t.Context(), owner, "", ledger.Page{})
	if err != nil || len(list.Items) != 1 || list.Items[0].WorkflowID != "asks" {
		t.Errorf("%d items, %v", len(list.Items), err)
	}
}

// TestFailedAgentIsRetried: a retry asks the model of a step's agent again whose answers were unusable.
func TestFailedAgentIsRetried(t *testing.T) {
	t.Parallel()
	h := build(t)
	good := h.answer
	h.answer = "no step at all"
	st := h.start(`{"id":"a","title":"A","steps":[{"id":"find","module_id":"agent.run","inputs":{"agent":"finder","message":"Find it"},"output":{"message":"found"}}]}`, `{}`)
	if calls := h.called("model"); st.Status != ledger.StatusFailed || st.Failure.Code != string(media.CodeBadResponse) || calls == 0 {
		t.Fatalf("%s: %+v after %d calls", st.Status, st.Failure, calls)
	}
	before := h.called("model")
	h.mu.Lock()
	h.answer = good
	h.mu.Unlock()
	r, err := h.runs.Retry(t.Context(), owner, st.ID, run.ContinueOptions{})
	must(t, err)
	if st = h.waitForStatus(r); st.Status != ledger.StatusSucceeded || h.called("model") != before+1 || !strings.Contains(state(st.State), `"found":"Found."`) {
		t.Errorf("%s: %+v, %d more calls, %s", st.Status, st.Failure, h.called("model")-before, state(st.State))
	}
}
