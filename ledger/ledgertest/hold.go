package ledgertest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/ledger"
	"atelier/media"
)

// begun is an operation that was begun by owner.
func (f *fixture) begun(t *testing.T) ledger.Operation {
	t.Helper()
	o := ledger.Operation{ID: f.deps.NewID(), Owner: owner, Tree: "t", Status: "queued"}
	must(t, f.BeginOperation(t.Context(), o))
	return o
}

func heldByOne(t *testing.T, f *fixture) {
	t.Helper()
	ctx, o := t.Context(), f.begun(t)
	far := f.deps.Now().Add(time.Hour)
	must(t, f.HoldOperation(ctx, owner, o.ID, "a", far))
	must(t, f.HoldOperation(ctx, owner, o.ID, "a", far.Add(time.Hour)))
	wantCode(t, f.HoldOperation(ctx, owner, o.ID, "b", far), media.CodeConflict)
	must(t, f.HoldOperation(ctx, owner, o.ID, "a", time.Time{}))
	must(t, f.HoldOperation(ctx, owner, o.ID, "b", f.deps.Now().Add(-time.Hour)))
	must(t, f.HoldOperation(ctx, owner, o.ID, "a", far)) // b's time is over
	wantCode(t, f.HoldOperation(ctx, "bob", o.ID, "a", far), media.CodeNotFound)
	wantCode(t, f.HoldOperation(ctx, owner, f.deps.NewID(), "a", far), media.CodeNotFound)
	wantCode(t, f.HoldOperation(ctx, "", o.ID, "a", far), media.CodeForbidden)

	began := ledger.Operation{ID: f.deps.NewID(), Owner: owner, Tree: "t", Status: "queued", HeldBy: "a", HeldUntil: far}
	must(t, f.BeginOperation(ctx, began))
	wantCode(t, f.HoldOperation(ctx, owner, began.ID, "b", far), media.CodeConflict)
	began.Status = "running"
	must(t, f.FinishOperation(ctx, began))
	wantCode(t, f.HoldOperation(ctx, owner, began.ID, "b", far), media.CodeConflict)
	began.Status, began.FinishedAt = "succeeded", f.deps.Now()
	must(t, f.FinishOperation(ctx, began))
	must(t, f.HoldOperation(ctx, owner, began.ID, "b", far))

	raced := f.begun(t)
	var won atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		holder := f.deps.NewID()
		all.Go(func() {
			if f.HoldOperation(ctx, owner, raced.ID, holder, far) == nil {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("%d hold it, want one", won.Load())
	}
}

func operationOfTask(t *testing.T, f *fixture) {
	t.Helper()
	ctx, o := t.Context(), f.begun(t)
	must(t, f.SaveTask(ctx, ledger.Task{ID: f.deps.NewID(), OperationID: o.ID, Call: 1, Attempt: 1, Provider: "bfl", TaskID: "x-1", Status: "running"}))
	got, err := f.OperationOfTask(ctx, "bfl", "x-1")
	if err != nil || got.ID != o.ID || got.Owner != owner {
		t.Errorf("%+v, %v", got, err)
	}
	for provider, id := range map[string]string{"bfl": "x-2", "leonardo": "x-1", "": ""} {
		_, err := f.OperationOfTask(ctx, provider, id)
		wantCode(t, err, media.CodeNotFound)
	}
}

func blobsAdrift(t *testing.T, f *fixture) {
	t.Helper()
	o := f.begun(t)
	ctx := media.WithScope(t.Context(), media.Scope{Owner: owner, Tree: "t", Operation: o.ID})
	first, second := picture("first", media.Meta{}), picture("second", media.Meta{})
	must(t, f.RegisterBlob(ctx, first.Blob))
	must(t, f.RegisterBlob(ctx, second.Blob))
	second.Origin.Operation = o.ID
	f.record(ctx, t, second)
	got, err := f.AdriftBlobs(ctx, owner, o.ID)
	if err != nil || len(got) != 1 || got[0].Digest != first.Digest {
		t.Errorf("%+v, %v; want the first alone", got, err)
	}
	if got, err := f.AdriftBlobs(ctx, "bob", o.ID); err != nil || len(got) != 0 {
		t.Errorf("bob sees %+v, %v", got, err)
	}
}

func pico(t *testing.T, usd string) ledger.Pico {
	t.Helper()
	p, err := ledger.ParsePico(usd)
	must(t, err)
	return p
}

func (f *fixture) wantBudget(t *testing.T, name, spent, reserved string) {
	t.Helper()
	s, r, err := f.Budget(t.Context(), name)
	if err != nil || s.USD() != spent || r.USD() != reserved {
		t.Errorf("%s: spent %s, reserved %s, %v; want %s and %s", name, s.USD(), r.USD(), err, spent, reserved)
	}
}

func budgets(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	limits := []ledger.Limit{{Name: "day", Most: pico(t, "1")}, {Name: "owner", Most: pico(t, "0.3")}}
	must(t, f.ReserveMoney(ctx, "op-1", pico(t, "0.2"), limits))
	must(t, f.ReserveMoney(ctx, "op-1", pico(t, "0.2"), limits))
	wantCode(t, f.ReserveMoney(ctx, "op-2", pico(t, "0.100000000001"), limits), media.CodeOverBudget)
	f.wantBudget(t, "day", "0", "0.2") // all or none
	must(t, f.ReserveMoney(ctx, "op-3", pico(t, "0.1"), limits))
	must(t, f.SettleMoney(ctx, "op-1", pico(t, "0.000000000001")))
	must(t, f.SettleMoney(ctx, "op-1", pico(t, "0.000000000001")))
	f.wantBudget(t, "owner", "0.000000000001", "0.1")
	f.wantBudget(t, "nobody's", "0", "0")
	must(t, f.SettleMoney(ctx, "op-3", pico(t, "0.5"))) // dearer than thought
	wantCode(t, f.ReserveMoney(ctx, "op-4", 0, limits), media.CodeOverBudget)
	wantCode(t, f.ReserveMoney(ctx, "op-5", -1, limits), media.CodeInvalid)
}

func budgetsUnderPressure(t *testing.T, f *fixture) {
	t.Helper()
	limits := []ledger.Limit{{Name: "day", Most: pico(t, "1")}}
	var passed atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		id := f.deps.NewID()
		all.Go(func() {
			if f.ReserveMoney(t.Context(), id, 100_000_000_000, limits) == nil {
				passed.Add(1)
			}
		})
	}
	all.Wait()
	if passed.Load() != 10 {
		t.Errorf("%d of 20 times ten cents fit into a dollar", passed.Load())
	}
}
