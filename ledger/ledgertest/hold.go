package ledgertest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/ledger"
	"atelier/media"
)

// beginOperation returns an operation of owner that has begun.
func (f *fixture) beginOperation(t *testing.T) ledger.Operation {
	t.Helper()
	o := ledger.Operation{ID: f.deps.NewID(), Owner: owner, Tree: "t", Status: "queued"}
	must(t, f.BeginOperation(t.Context(), o))
	return o
}

// reopened checks that a finished operation is reopened once, without the results that are requested again.
func reopened(t *testing.T, f *fixture) {
	t.Helper()
	ctx, o := t.Context(), f.beginOperation(t)
	for index := 1; index <= 3; index++ {
		must(t, f.SaveSlot(ctx, ledger.Slot{OperationID: o.ID, Index: index, Status: "failed", Failure: ledger.Failure{Code: "unavailable", Message: "out"}}))
	}
	wantCode(t, f.ReopenOperation(ctx, o, nil), media.CodeConflict) // not finished
	o.Status, o.FinishedAt, o.Failure = "failed", f.deps.Now(), ledger.Failure{Code: "unavailable", Message: "out", Retryable: true}
	must(t, f.FinishOperation(ctx, o))
	o.Status, o.Request = "queued", []byte(`{"n":3}`)
	must(t, f.ReopenOperation(ctx, o, []int{1, 3}))
	wantCode(t, f.ReopenOperation(ctx, o, []int{2}), media.CodeConflict) // already reopened

	got, slots, _, err := f.Operation(ctx, owner, o.ID)
	must(t, err)
	if got.Status != "queued" || !got.FinishedAt.IsZero() || got.Failure != (ledger.Failure{}) || string(got.Request) != `{"n":3}` {
		t.Errorf("reopened: %+v", got)
	}
	if len(slots) != 1 || slots[0].Index != 2 || slots[0].Failure.Code != "unavailable" {
		t.Errorf("slots: %+v", slots)
	}
	foreign, missing := o, o
	foreign.Owner, missing.ID = "bob", f.deps.NewID()
	wantCode(t, f.ReopenOperation(ctx, foreign, nil), media.CodeNotFound)
	wantCode(t, f.ReopenOperation(ctx, missing, nil), media.CodeNotFound)
}

func operationsOfAnyOwner(t *testing.T, f *fixture) {
	t.Helper()
	ctx, o := t.Context(), f.beginOperation(t)
	must(t, f.SaveTask(ctx, ledger.Task{ID: f.deps.NewID(), OperationID: o.ID, Call: 1, Attempt: 1, Provider: "bfl", TaskID: "x-1", Status: "running"}))
	got, err := f.OperationOfTask(ctx, "bfl", "x-1")
	if err != nil || got.ID != o.ID || got.Owner != owner {
		t.Errorf("%+v, %v", got, err)
	}
	for provider, id := range map[string]string{"bfl": "x-2", "leonardo": "x-1", "": ""} {
		_, err := f.OperationOfTask(ctx, provider, id)
		wantCode(t, err, media.CodeNotFound)
	}
	if got, err = f.AnyOperation(ctx, o.ID); err != nil || got.ID != o.ID || got.Owner != owner || got.Tree != o.Tree {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = f.AnyOperation(ctx, f.deps.NewID())
	wantCode(t, err, media.CodeNotFound)
	over, other := o, o
	over.ID, other.ID, other.Owner = f.deps.NewID(), f.deps.NewID(), "bob"
	must(t, f.BeginOperation(ctx, over))
	must(t, f.BeginOperation(ctx, other))
	over.Status, over.FinishedAt = "failed", time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	must(t, f.FinishOperation(ctx, over))
	open, err := ledger.All(func(p ledger.Page) (ledger.List[ledger.Operation], error) {
		p.Limit = 1
		return f.ListOpenOperations(ctx, p)
	})
	if err != nil || len(open) != 2 || open[0].ID != other.ID || open[1].ID != o.ID {
		t.Errorf("open: %+v, %v", open, err)
	}
}

// unassignedBlobs checks that received bytes are unassigned until a slot with a record has them, except previews and
// bytes from which others were made.
func unassignedBlobs(t *testing.T, f *fixture) {
	t.Helper()
	o := f.beginOperation(t)
	ctx := media.WithScope(t.Context(), media.Scope{Owner: owner, Tree: "t", Operation: o.ID})
	all := map[string]media.Output{}
	for _, name := range []string{"first", "second", "preview", "whole", "tile"} {
		out := picture(name, media.Meta{})
		out.Origin.Operation, out.Partial = o.ID, name == "preview"
		must(t, f.RegisterBlob(ctx, out.Blob))
		if name == "tile" {
			out.Lineage = []media.Parent{{Ref: all["whole"].Ref, Role: "tile"}}
		}
		if name != "first" {
			out = f.record(ctx, t, out)
		}
		all[name] = out
	}
	want := func(who string, names ...string) {
		t.Helper()
		got, err := f.UnassignedBlobs(ctx, who, o.ID)
		if err != nil || len(got) != len(names) {
			t.Errorf("%s sees %+v, %v; want %q", who, got, err, names)
			return
		}
		for i, name := range names {
			if got[i].Digest != all[name].Digest {
				t.Errorf("%s sees %s, want %s", who, got[i].Digest, name)
			}
		}
	}
	want(owner, "first", "second", "tile")
	want("bob")
	for i, name := range []string{"tile", "second"} {
		must(t, f.SaveSlot(ctx, ledger.Slot{OperationID: o.ID, Index: i + 1, Status: "succeeded", Ref: all[name].Ref, Digest: all[name].Digest}))
	}
	want(owner, "first")
	lost := ledger.Slot{OperationID: o.ID, Index: 3, Status: "succeeded", Ref: all["first"].Ref, Digest: all["first"].Digest}
	must(t, f.SaveSlot(ctx, lost))
	want(owner, "first") // its record could not be saved
	lost.MediaID = f.record(ctx, t, all["first"]).ID
	must(t, f.SaveSlot(ctx, lost))
	want(owner)
}

func pico(t *testing.T, usd string) ledger.Pico {
	t.Helper()
	p, err := ledger.ParsePico(usd)
	must(t, err)
	return p
}

// moneyLimit returns a limit in dollars.
func moneyLimit(t *testing.T, name, most string) ledger.Limit {
	t.Helper()
	return ledger.Limit{Name: name, Unit: ledger.UnitMoney, Max: int64(pico(t, most))}
}

func (f *fixture) wantBudget(t *testing.T, name, spent, reserved string) {
	t.Helper()
	b, err := f.Budget(t.Context(), name)
	if got, want := b.Unit.Format(b.Spent)+", "+b.Unit.Format(b.Reserved), spent+", "+reserved; err != nil || got != want {
		t.Errorf("%s: %s, %v; want %s", name, got, err, want)
	}
}

func budgets(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	limits := []ledger.Limit{moneyLimit(t, "day", "1"), moneyLimit(t, "owner", "0.3")}
	must(t, f.Reserve(ctx, "op-1", ledger.Amount{Money: pico(t, "0.2")}, limits))
	must(t, f.Reserve(ctx, "op-1", ledger.Amount{Money: pico(t, "0.2")}, limits))
	wantCode(t, f.Reserve(ctx, "op-2", ledger.Amount{Money: pico(t, "0.100000000001")}, limits), media.CodeOverBudget)
	f.wantBudget(t, "day", "$0", "$0.2") // all or none
	must(t, f.Reserve(ctx, "op-3", ledger.Amount{Money: pico(t, "0.1")}, limits))
	must(t, f.Settle(ctx, "op-1", ledger.Amount{Money: pico(t, "0.000000000001")}))
	must(t, f.Settle(ctx, "op-1", ledger.Amount{Money: pico(t, "0.000000000001")}))
	f.wantBudget(t, "owner", "$0.000000000001", "$0.1")
	f.wantBudget(t, "nobody's", "$0", "$0")
	must(t, f.Settle(ctx, "op-3", ledger.Amount{Money: pico(t, "0.5")})) // more than reserved
	wantCode(t, f.Reserve(ctx, "op-4", ledger.Amount{Money: 0}, limits), media.CodeOverBudget)
	wantCode(t, f.Reserve(ctx, "op-5", ledger.Amount{Money: -1}, limits), media.CodeInvalid)
}

// orphanedReservations checks that a reservation for an operation that never began, or was finished, is refunded, and
// that one for a begun operation stays until it is settled.
func orphanedReservations(t *testing.T, f *fixture) {
	t.Helper()
	ctx, o := t.Context(), f.beginOperation(t)
	limits := []ledger.Limit{moneyLimit(t, "day", "1"), moneyLimit(t, "owner", "1")}
	must(t, f.Reserve(ctx, o.ID, ledger.Amount{Money: pico(t, "0.2")}, limits))
	must(t, f.Reserve(ctx, o.ID+"/1/1", ledger.Amount{Money: pico(t, "0.1")}, limits)) // a substitute model
	must(t, f.Reserve(ctx, "never-begun", ledger.Amount{Money: pico(t, "0.5")}, limits))
	must(t, f.Reserve(ctx, "op-1", ledger.Amount{Money: 1}, limits))
	over := f.beginOperation(t)
	over.Status, over.FinishedAt = "failed", f.deps.Now()
	must(t, f.FinishOperation(ctx, over))
	must(t, f.Reserve(ctx, over.ID, ledger.Amount{Money: pico(t, "0.1")}, limits)) // to be resumed, which never happens
	f.wantBudget(t, "day", "$0", "$0.900000000001")
	for start := f.deps.Now(); f.deps.Now().Sub(start) < time.Minute; { // each reading advances the clock
	}
	must(t, f.Reserve(ctx, "op-2", ledger.Amount{Money: 1}, limits))
	f.wantBudget(t, "day", "$0", "$0.300000000001")
	f.wantBudget(t, "owner", "$0", "$0.300000000001")
	must(t, f.Settle(ctx, "never-begun", ledger.Amount{Money: pico(t, "0.5")}))
	must(t, f.Settle(ctx, o.ID, ledger.Amount{Money: pico(t, "0.2")}))
	must(t, f.Settle(ctx, o.ID+"/1/1", ledger.Amount{Money: pico(t, "0.1")}))
	f.wantBudget(t, "day", "$0.3", "$0.000000000001")
}

func budgetsUnderPressure(t *testing.T, f *fixture) {
	t.Helper()
	limits := []ledger.Limit{moneyLimit(t, "day", "1")}
	var passed atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		id := f.deps.NewID()
		all.Go(func() {
			if f.Reserve(t.Context(), id, ledger.Amount{Money: 100_000_000_000}, limits) == nil {
				passed.Add(1)
			}
		})
	}
	all.Wait()
	if passed.Load() != 10 {
		t.Errorf("%d of 20 times ten cents fit into a dollar", passed.Load())
	}
}
