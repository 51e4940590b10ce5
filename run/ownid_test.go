package run_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/agent"
	"atelier/ledger"
)

// rows counts what the ledger has of a run.
func (h *testService) rows(t *testing.T, id string) map[string]int {
	t.Helper()
	all := h.eventCounts(t, id)
	calls, err := h.store.ListPrompts(t.Context(), owner, id, ledger.Page{})
	must(t, err)
	acts, err := h.store.ListSteps(t.Context(), owner, id, ledger.Page{})
	must(t, err)
	tree, err := h.store.ListRuns(t.Context(), owner, ledger.RunQuery{Tree: id})
	must(t, err)
	all["model call"], all["act"], all["run"] = len(calls.Items), len(acts.Items), len(tree.Items)
	return all
}

// TestOwnID: a run whose id the caller chose has the same rows as any other run, after an answer and after its process
// was killed: nothing is there twice.
func TestOwnID(t *testing.T) {
	t.Parallel()
	const own = "nightly-report_7"
	answered := func(t *testing.T, id string) map[string]int {
		t.Helper()
		h := build(t, questionAnswers()...)
		h.service = h.newDurableService(t)
		res, err := h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner, RunID: id})
		must(t, err)
		h.finish(t, res.RunID, colour("red"))
		return h.rows(t, res.RunID)
	}
	killed := func(t *testing.T, id string) map[string]int {
		t.Helper()
		h := build(t, drawThenDone()...)
		id = startAbandoned(t, h, agent.Request{RunID: id}).ID
		h.kill(t)
		h.mu.Lock()
		h.blockedCall = 0
		h.mu.Unlock()
		h.finish(t, id, nil)
		return h.rows(t, id)
	}
	for name, rows := range map[string]func(*testing.T, string) map[string]int{"answered": answered, "killed": killed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(rows(t, ""), rows(t, own)); d != "" {
				t.Error(d)
			}
		})
	}
}
