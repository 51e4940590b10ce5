package record_test

import (
	"path/filepath"
	"testing"

	"atelier/agent"
	"atelier/ledger"
	"atelier/ledger/sqlite"
	"atelier/media"
	"atelier/run/record"
	"atelier/run/runtest"
)

// TestRunEndsUnderItsOwnLease: the end of a run is saved under the lease of that run, whichever run's event the writer
// began with: the lease of the other run may have been released.
func TestRunEndsUnderItsOwnLease(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(runtest.Folder(t), "atelier.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	o, err := record.NewObserver(record.Config{Ledger: store})
	if err != nil {
		t.Fatal(err)
	}
	ctx := media.WithScope(t.Context(), media.Scope{Owner: "ann"})
	for _, id := range []string{"a", "b"} {
		if err := o.SaveRun(ctx, agent.RunRecord{ID: id, Tree: id, Agent: "painter", Status: agent.StatusRunning}); err != nil {
			t.Fatal(err)
		}
	}
	released := ledger.WithLease(ctx, ledger.Lease{Kind: ledger.LeaseRun, Work: "a", Holder: "x", Generation: 1})
	o.Emit(released, agent.Event{Type: agent.EventWarning, Tree: "a", RunID: "a", Data: agent.Warning{Message: "x"}})
	if err := o.SaveRun(ctx, agent.RunRecord{ID: "b", Tree: "b", Agent: "painter", Status: agent.StatusSucceeded, Message: "done"}); err != nil {
		t.Error(err)
	}
	if err := o.SaveRun(released, agent.RunRecord{ID: "a", Tree: "a", Agent: "painter", Status: agent.StatusSucceeded}); media.CodeOf(err) != media.CodeConflict {
		t.Errorf("without its lease: %v", err)
	}
	if row, err := store.Run(ctx, "ann", "b"); err != nil || row.Status != ledger.StatusSucceeded || row.Message != "done" {
		t.Errorf("%+v, %v", row, err)
	}
	if err := o.Flush(ctx); err != nil {
		t.Error(err)
	}
}
