package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"atelier/ledger"
	"atelier/media"
	"atelier/run/workflows"
)

// TestLongTitle: the title of an interaction may contain a long text of a person, such as a brief.
func TestLongTitle(t *testing.T) {
	t.Parallel()
	h := build(t)
	brief := strings.Repeat("a lighthouse at dusk, ", 1000)
	st := h.start(strings.Replace(askingWorkflow, "Go on?", "Go on with {{ state.brief }}?", 1), `{"brief":"`+brief+`"}`)
	if st.Status != ledger.StatusPaused {
		t.Fatalf("%s: %+v", st.Status, st.Failure)
	}
	shown, err := h.Show(t.Context(), owner, st.Interaction)
	if err != nil || shown.Title != "Go on with "+brief+"?" {
		t.Errorf("%.60s, %v", shown.Title, err)
	}
}

// TestEditDuringAnApproval: what a person approves is the version that the answer names: an edit that arrives while the
// answer is accepted is refused. An edit before it is part of the result.
func TestEditDuringAnApproval(t *testing.T) {
	t.Parallel()
	h := build(t)
	st := h.start(`{"id":"text","title":"Text","steps":[{"id":"approve","module_id":"review.approve","inputs":{"title":"Right?","data":{"text":"first"},"display_schema":
	 {"properties":{"data":{"_ux":{"input_schema":{"type":"object","properties":{"text":{"type":"string"}}}}}}}},"output":"review"}]}`, `{}`)
	edit := func(base int, text string) error {
		_, err := h.Patch(context.WithoutCancel(t.Context()), owner, st.Interaction, base, []byte(`[{"op":"replace","path":"/data/text","value":"`+text+`"}]`))
		return err
	}
	must(t, edit(0, "second"))
	late := make(chan error, 1)
	h.checking = func() {
		go func() { late <- edit(1, "third") }()
		time.Sleep(50 * time.Millisecond) // enough for an edit that does not wait
	}
	r, err := h.Answer(t.Context(), owner, st.Interaction, []byte(`{"approved":true,"version":1}`))
	must(t, err)
	wantCode(t, <-late, media.CodeConflict)
	if st = h.waitForStatus(r); state(st.State) != `{"review":{"approved":true,"comment":"","data":{"text":"second"}}}` {
		t.Errorf("%s: %s", st.Status, state(st.State))
	}
}

// TestNothingToChoose: a step at which nothing can be generated or selected fails, because nobody could answer it.
func TestNothingToChoose(t *testing.T) {
	t.Parallel()
	h := build(t)
	for _, data := range []string{`{}`, `{"offline":{}}`} {
		st := h.start(`{"id":"picks","title":"Picks","steps":[{"id":"pick","module_id":"media.generation","inputs":{"title":"Pick","data":"{{ state.prompts }}"}}]}`, `{"prompts":`+data+`}`)
		if st.Status != ledger.StatusFailed || !strings.Contains(st.Failure.Message, "step pick: ") || !strings.Contains(st.Failure.Message, "no prompt") {
			t.Errorf("%s: %s %+v", data, st.Status, st.Failure)
		}
	}
}

// TestDataDoesNotGrowWithoutLimit: an edit after which the interaction could no longer be read is refused.
func TestDataDoesNotGrowWithoutLimit(t *testing.T) {
	t.Parallel()
	h := build(t)
	st := h.start(choosingWorkflow, `{}`)
	edit := func(base int, text string) error {
		_, err := h.Patch(t.Context(), owner, st.Interaction, base, []byte(`[{"op":"replace","path":"/prompts/offline/a","value":"`+text+`"}]`))
		return err
	}
	wantCode(t, edit(0, strings.Repeat("\u2028", 1_500_000)), media.CodeInvalid)
	must(t, edit(0, "short"))
}

// TestItem: a step names an item by its id, its ref, its placeholder, or the URL that results and exported files have.
func TestItem(t *testing.T) {
	t.Parallel()
	h := build(t)
	scope := media.Scope{Owner: owner, Tree: "wr_1", Run: "wr_1"}
	b := media.Blob{Digest: media.DigestOf([]byte("picture")), SizeBytes: 7, Facts: media.Facts{MIMEType: "image/png", Width: 8, Height: 4}}
	o, err := h.store.Record(media.WithScope(t.Context(), scope), media.NewOutput(b, media.Meta{}))
	must(t, err)
	for _, name := range []string{o.ID, string(o.Ref), o.Ref.Placeholder(), "/media/" + o.ID, "/media/" + string(o.Ref)} {
		if found, err := workflows.Item(t.Context(), h.store, owner, "wr_1", name); err != nil || found.ID != o.ID {
			t.Errorf("%s: %q, %v", name, found.ID, err)
		}
	}
	for _, name := range []string{"", "/media/", "/media/none", "img-00000000"} {
		_, err := workflows.Item(t.Context(), h.store, owner, "wr_1", name)
		wantCode(t, err, media.CodeNotFound)
	}
}

// TestExpireDoesNotWait: a run that is not paused yet, because it is adopted, does not delay the others.
func TestExpireDoesNotWait(t *testing.T) {
	t.Parallel()
	h := build(t)
	st := h.start(strings.Replace(askingWorkflow, `"id":"approve"`, `"id":"approve","timeout":"72h"`, 1), `{}`)
	saved, err := h.store.RunState(t.Context(), owner, st.ID)
	must(t, err)
	saved.Status = ledger.WaitAnswered
	must(t, h.store.ChangeRunState(t.Context(), ledger.WaitPaused, saved))
	h.now.Store(73)
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	if n, err := h.Expire(ctx); n != 0 || err != nil || ctx.Err() != nil {
		t.Errorf("%d expired, %v, %v", n, err, ctx.Err())
	}
	for i := range 120 { // more than one call reads at once
		_, err := h.store.CreateInteraction(t.Context(), ledger.Interaction{
			ID: fmt.Sprint("early-", i), Owner: owner, WorkflowRunID: st.ID, StepID: fmt.Sprint("step-", i), Status: ledger.InteractionOpen,
			Request: json.RawMessage(`{}`), Version: 1, ExpiresAt: time.Unix(int64(i), 0),
		})
		must(t, err)
	}
	h.now.Store(0)
	h.start(strings.Replace(askingWorkflow, `"id":"approve"`, `"id":"approve","timeout":"72h"`, 1), `{}`)
	h.now.Store(73)
	if n, err := h.Expire(ctx); n != 1 || err != nil {
		t.Errorf("%d behind those that cannot expire yet expired, %v", n, err)
	}
}

// TestNothingToStart: without a definition there is no run, and a run without steps says how to begin again.
func TestNothingToStart(t *testing.T) {
	t.Parallel()
	h := build(t)
	_, err := h.Start(t.Context(), workflows.StartRequest{Owner: owner})
	wantCode(t, err, media.CodeInvalid)
	must(t, h.store.CreateRun(t.Context(), ledger.Run{ID: "early", Owner: owner, Tree: "early", Agent: workflows.AgentName, AgentPath: workflows.AgentName, Status: ledger.StatusFailed}))
	if _, err := h.Fork(t.Context(), owner, "early", "", ""); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "start the workflow again") {
		t.Errorf("a fork of a run without steps: %v", err)
	}
}
