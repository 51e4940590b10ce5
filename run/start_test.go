package run_test

import (
	"strings"
	"testing"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
)

// TestStartUnderTheIDOfAnother: a run with the id of an existing one, also of another owner, is refused before it calls
// a model or stores or writes anything.
func TestStartUnderTheIDOfAnother(t *testing.T) {
	t.Parallel()
	withAndWithoutEngine(t, []string{`{"message":"first","done":true}`, `{"message":"second","done":true}`}, func(t *testing.T, h *testService) {
		t.Helper()
		ctx := t.Context()
		first, err := h.service.Run(ctx, agent.Request{Agent: "painter", Message: "paint", Owner: owner})
		must(t, err)
		events := len(h.eventCounts(t, first.RunID))
		for _, who := range []string{"bob", owner} {
			_, err := h.service.Run(ctx, agent.Request{
				Agent: "painter", Message: "paint", Owner: who, RunID: first.RunID, Images: []agent.Image{{Data: picture(t, 1)}}, LenientImages: true,
			})
			if media.CodeOf(err) != media.CodeConflict {
				t.Errorf("%s: %v", who, err)
			}
			list, err := h.store.ListMedia(ctx, who, ledger.MediaQuery{})
			must(t, err)
			row, err := h.store.Run(ctx, owner, first.RunID)
			must(t, err)
			if row.Message != "first" || h.modelCalls() != 1 || len(list.Items) != 0 || len(h.eventCounts(t, first.RunID)) != events {
				t.Errorf("%s left %q, %d model calls, %d pictures", who, row.Message, h.modelCalls(), len(list.Items))
			}
		}
	})
}

// TestStartUnderNoID: a run does not start with an invalid id, such as a path or a text that is too long; it does with
// a valid one.
func TestStartUnderNoID(t *testing.T) {
	t.Parallel()
	withAndWithoutEngine(t, []string{`{"message":"done","done":true}`}, func(t *testing.T, h *testService) {
		t.Helper()
		ask := func(id string) (*agent.Result, error) {
			return h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner, RunID: id})
		}
		for _, id := range []string{"../../x", "X.1", "a b", "a/b", "a:b", "größe", "a\n", "a\x00", ".", "%41", strings.Repeat("a", 129)} {
			if _, err := ask(id); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "the run id") {
				t.Errorf("%q: %v", id, err)
			}
		}
		if h.modelCalls() != 0 {
			t.Errorf("%d model calls", h.modelCalls())
		}
		id := "Mine_1-" + strings.Repeat("a", 121)
		if res, err := ask(id); err != nil || res.RunID != id {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// TestAnswerBeforeTheQuestionIsKept: if a process died between saving the row of a paused run and its state, an answer
// is refused with an instruction.
func TestAnswerBeforeTheQuestionIsKept(t *testing.T) {
	t.Parallel()
	h := build(t)
	must(t, h.store.CreateRun(t.Context(), ledger.Run{ID: "r", Owner: owner, Tree: "r", Agent: "painter", Status: ledger.StatusPaused}))
	s, err := run.NewService(run.Config{Agents: h.runner, Ledger: h.store, Observer: h.observer})
	must(t, err)
	t.Cleanup(s.Close)
	_, err = s.Resume(t.Context(), owner, "r", colour("red"))
	if media.CodeOf(err) != media.CodeConflict || !strings.Contains(err.Error(), "continue the run up to the question with atelier resume r") {
		t.Errorf("answered: %v", err)
	}
}
