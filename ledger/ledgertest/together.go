package ledgertest

import (
	"context"
	"errors"
	"testing"

	"atelier/ledger"
	"atelier/media"
)

// savedTogether checks that saves in one commit see each other, and that a failed save does not affect the others
// unless its error is returned.
func savedTogether(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	r := f.run(t, owner, nil)
	child := ledger.Run{ID: f.deps.NewID(), Owner: owner, Tree: r.ID, Parent: r.ID, Depth: 1, Agent: "a", Status: ledger.StatusRunning}
	steps := func() int {
		list, err := f.ListSteps(ctx, owner, child.ID, ledger.Page{})
		if err != nil {
			return -1
		}
		return len(list.Items)
	}
	save := func(ctx context.Context) {
		step := ledger.Step{ID: "s-1", RunID: child.ID, Turn: 1, Kind: "action", Name: "Draw", Status: ledger.StatusRunning}
		for _, err := range []error{f.CreateRun(ctx, child), f.SaveStep(ctx, step)} {
			if err != nil {
				t.Error(err)
			}
		}
		wantCode(t, f.SaveStep(ctx, ledger.Step{ID: "s-2", RunID: "nothing", Kind: "action", Status: ledger.StatusRunning}), media.CodeNotFound)
		if _, err := f.AppendEvents(ctx, []ledger.Event{{ID: "e-1", Tree: r.ID, RunID: child.ID, Kind: "warning"}}); err != nil {
			t.Error(err)
		}
		if n := steps(); n != -1 {
			t.Errorf("%d steps are seen before the commit", n)
		}
	}
	gone := errors.New("given up")
	err := f.InTransaction(ctx, func(ctx context.Context) error { save(ctx); return gone })
	if !errors.Is(err, gone) || steps() != -1 {
		t.Errorf("given up: %v, %d steps", err, steps())
	}
	if err := f.InTransaction(ctx, func(ctx context.Context) error { save(ctx); return nil }); err != nil {
		t.Fatal(err)
	}
	events, err := f.ListEvents(ctx, owner, r.ID, 0, 10)
	if err != nil || len(events) != 1 || events[0].Sequence != 1 || steps() != 1 {
		t.Errorf("%d steps, events %+v, %v", steps(), events, err)
	}
}
