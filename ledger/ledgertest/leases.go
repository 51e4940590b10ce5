package ledgertest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/ledger"
	"atelier/media"
)

func leaseClauses() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"leases have one holder":           leaseHolder,
		"leases expire":                    leaseExpires,
		"leases of one of two handles":     leaseRaced,
		"saves of a replaced holder":       leaseReplaced,
		"what arrives late is kept":        leaseLate,
		"leases of operations":             leaseOfOperation,
		"leases do not change under saves": leaseShared,
	}
}

// newLease returns a lease of work by a holder.
func newLease(work, holder string) ledger.Lease {
	return ledger.Lease{Kind: ledger.LeaseRun, Work: work, Holder: holder, Host: "studio", PID: 7, Machine: "m"}
}

func (f *fixture) acquire(t *testing.T, l ledger.Lease) ledger.Lease {
	t.Helper()
	got, err := f.AcquireLease(t.Context(), l, ledger.Lease{})
	must(t, err)
	return got
}

func leaseHolder(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	first := f.acquire(t, newLease("w", "a"))
	if got := first.ExpiresAt.Sub(first.StartedAt); !first.Live || first.Generation != 1 || got < ledger.LeaseTime-1e9 || got > ledger.LeaseTime+1e9 {
		t.Errorf("%+v lasts %s", first, got)
	}
	if again := f.acquire(t, newLease("w", "a")); again.Generation != 1 || !again.StartedAt.Equal(first.StartedAt) {
		t.Errorf("acquired again: %+v", again)
	}
	_, err := f.AcquireLease(ctx, newLease("w", "b"), ledger.Lease{Holder: "a", Generation: 2}) // another holding of a
	if wantCode(t, err, media.CodeConflict); !strings.Contains(fmt.Sprint(err), "process 7 on studio has been working on run w since 20") {
		t.Errorf("refused with %v", err)
	}
	f.acquire(t, newLease("v", "a"))
	f.acquire(t, newLease("u", "b"))
	if n, err := f.RenewLeases(ctx, "a"); n != 2 || err != nil {
		t.Errorf("renewed %d, %v", n, err)
	}
	must(t, f.ReleaseLeases(ctx, "b", ledger.LeaseRun, "w", "v")) // they are a's
	taken, err := f.AcquireLease(ctx, newLease("w", "b"), first)  // a's process is known to have ended
	if err != nil || taken.Holder != "b" || taken.Generation != 2 {
		t.Errorf("%+v, %v", taken, err)
	}
	older := taken
	older.Generation--
	for l, want := range map[ledger.Lease]bool{taken: true, first: false, older: false, newLease("none", "b"): false} {
		if has, err := f.HasLease(ctx, l); has != want || err != nil {
			t.Errorf("%+v is there: %v, %v", l, has, err)
		}
	}
	must(t, f.ReleaseLeases(ctx, "b", ledger.LeaseRun, "w", "u"))
	list, err := f.Leases(ctx, ledger.LeaseRun)
	if err != nil || len(list) != 1 || list[0].Work != "v" || list[0].Machine != "m" {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err = f.Leases(ctx, ledger.LeaseGeneration); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	must(t, f.SweepLeases(ctx))
	if list, err = f.Leases(ctx, ledger.LeaseRun, "v", "w"); err != nil || len(list) != 1 {
		t.Errorf("swept: %+v, %v", list, err)
	}
	_, err = f.AcquireLease(ctx, ledger.Lease{Kind: ledger.LeaseRun, Work: "w"}, ledger.Lease{})
	wantCode(t, err, media.CodeInvalid)
}

// leaseExpires checks that any process may acquire an expired lease, and that its holder may renew it before that.
func leaseExpires(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	for _, at := range []string{"2000-01-01T00:00:00.000000Z", "2999-01-01T00:00:00.000000Z"} { // by a wrong clock
		f.acquire(t, newLease("w"+at, "a"))
		f.acquire(t, newLease("v"+at, "a"))
		f.h.Expire(t, f.Store, at)
		if list, err := f.Leases(ctx, ledger.LeaseRun, "w"+at); err != nil || len(list) != 1 || list[0].Live {
			t.Errorf("%+v, %v", list, err)
		}
		if got := f.acquire(t, newLease("w"+at, "b")); got.Generation != 2 || !got.Live {
			t.Errorf("%+v", got)
		}
		if n, err := f.RenewLeases(ctx, "a"); n < 1 || err != nil {
			t.Errorf("renewed %d, %v", n, err)
		}
		_, err := f.AcquireLease(ctx, newLease("v"+at, "b"), ledger.Lease{})
		wantCode(t, err, media.CodeConflict)
	}
	f.h.Expire(t, f.Store, "2000-01-01T00:00:00.000000Z")
	must(t, f.SweepLeases(ctx))
	if list, err := f.Leases(ctx, ledger.LeaseRun); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

func leaseRaced(t *testing.T, f *fixture) {
	t.Helper()
	stores := []ledger.Store{f.Store, f.open(t)}
	for round := range 5 {
		var won atomic.Int32
		var all sync.WaitGroup
		for i := range 8 {
			l := newLease(fmt.Sprint("w", round), f.deps.NewID())
			all.Go(func() {
				switch _, err := stores[i%2].AcquireLease(t.Context(), l, ledger.Lease{}); media.CodeOf(err) {
				case "":
					won.Add(1)
				case media.CodeConflict:
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 {
			t.Errorf("%d hold it, want one", won.Load())
		}
	}
}

// leaseReplaced checks that no save of a former holder advances work that another process holds or has held since.
func leaseReplaced(t *testing.T, f *fixture) {
	t.Helper()
	ctx, r, o := t.Context(), f.run(t, owner, nil), f.beginOperation(t)
	st := ledger.RunState{RunID: r.ID, Owner: owner, Number: 1, Status: ledger.WaitPaused}
	must(t, f.SaveRunState(ctx, st))
	conversation := ledger.Conversation{ID: f.deps.NewID(), Owner: owner}
	must(t, f.CreateConversation(ctx, conversation))
	old := f.acquire(t, newLease("w", "a"))
	must(t, f.FinishRun(ledger.WithLease(ctx, old), r))
	next, err := f.AcquireLease(ctx, newLease("w", "b"), old)
	must(t, err)
	over := o
	over.Status, over.FinishedAt = "succeeded", f.deps.Now()
	child := ledger.Run{ID: f.deps.NewID(), Owner: owner, Tree: r.ID, Agent: "x", Status: ledger.StatusRunning}
	later := st
	later.Number++
	saves := map[string]func(ledger.Lease) error{
		"create run":   func(l ledger.Lease) error { return f.CreateRun(ledger.WithLease(ctx, l), child) },
		"finish run":   func(l ledger.Lease) error { return f.FinishRun(ledger.WithLease(ctx, l), r) },
		"save state":   func(l ledger.Lease) error { return f.SaveRunState(ledger.WithLease(ctx, l), later) },
		"change state": func(l ledger.Lease) error { return f.ChangeRunState(ledger.WithLease(ctx, l), ledger.WaitPaused, st) },
		"begin operation": func(l ledger.Lease) error {
			return f.BeginOperation(ledger.WithLease(ctx, l), ledger.Operation{ID: "o", Owner: owner, Tree: "t", Status: "queued"})
		},
		"save slot": func(l ledger.Lease) error {
			return f.SaveSlot(ledger.WithLease(ctx, l), ledger.Slot{OperationID: o.ID, Index: 1, Status: "failed"})
		},
		"save call": func(l ledger.Lease) error {
			return f.SaveTask(ledger.WithLease(ctx, l), ledger.Task{ID: "c", OperationID: o.ID, Call: 1, Attempt: 1, Status: "submitted"})
		},
		"finish operation": func(l ledger.Lease) error { return f.FinishOperation(ledger.WithLease(ctx, l), over) },
		"reopen":           func(l ledger.Lease) error { return f.ReopenOperation(ledger.WithLease(ctx, l), o, nil) },
		"reserve": func(l ledger.Lease) error {
			return f.Reserve(ledger.WithLease(ctx, l), o.ID, ledger.Amount{Images: 1}, []ledger.Limit{{Name: "day", Unit: ledger.UnitImages, Max: 1}})
		},
		"answer": func(l ledger.Lease) error {
			return f.SaveMessage(ledger.WithLease(ctx, l), owner, ledger.Message{ID: "m", ConversationID: conversation.ID, Role: ledger.RoleAssistant, Text: "late"})
		},
	}
	refused := func() {
		t.Helper()
		for what, save := range saves {
			if err := save(old); media.CodeOf(err) != media.CodeConflict || !strings.Contains(err.Error(), "process") {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	refused()
	if err := saves["finish run"](next); err != nil {
		t.Error(err)
	}
	must(t, f.ReleaseLeases(ctx, "b", ledger.LeaseRun, "w"))
	refused()
	f.acquire(t, newLease("w", "c")) // with the generation that a's lease had
	refused()
	if got, slots, calls, err := f.Operation(ctx, owner, o.ID); err != nil || got.Status != "queued" || len(slots)+len(calls) > 0 {
		t.Errorf("%+v, %v, %v, %v", got, slots, calls, err)
	}
	if st, err := f.RunState(ctx, owner, r.ID); err != nil || st.Number != 1 {
		t.Errorf("%+v, %v", st, err)
	}
}

// leaseLate checks that received results and records of a replaced holder are saved.
func leaseLate(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	old := f.acquire(t, newLease("w", "a"))
	_, err := f.AcquireLease(t.Context(), newLease("w", "b"), old)
	must(t, err)
	ctx := ledger.WithLease(scoped(t, r), old)
	out := picture("late", media.Meta{})
	must(t, f.RegisterBlob(ctx, out.Blob))
	f.record(ctx, t, out)
	must(t, f.SaveStep(ctx, ledger.Step{ID: f.deps.NewID(), RunID: r.ID, Turn: 1, Kind: "action", Name: "Draw", Status: ledger.StatusSucceeded}))
	if _, err := f.AppendEvents(ctx, []ledger.Event{{Tree: r.ID, RunID: r.ID, Kind: "warning"}}); err != nil {
		t.Error(err)
	}
}

// leaseOfOperation checks that an operation shows its holder until it is finished.
func leaseOfOperation(t *testing.T, f *fixture) {
	t.Helper()
	ctx, o := t.Context(), f.beginOperation(t)
	l := newLease(o.ID, "a")
	l.Kind = ledger.LeaseGeneration
	look := func(holder string) {
		t.Helper()
		got, _, _, err := f.Operation(ctx, owner, o.ID)
		if err != nil || got.HeldBy != holder || got.HeldUntil.IsZero() != (holder == "") || got.Orphaned() != (holder == "" && got.FinishedAt.IsZero()) {
			t.Errorf("held by %q until %s, %v; want %q", got.HeldBy, got.HeldUntil, err, holder)
		}
	}
	look("")
	l = f.acquire(t, l)
	look("a")
	f.h.Expire(t, f.Store, "2000-01-01T00:00:00.000000Z")
	look("")
	o.Status = "running"
	must(t, f.FinishOperation(ledger.WithLease(ctx, l), o)) // no other process has acquired it
	if n, err := f.RenewLeases(ctx, "a"); n != 1 || err != nil {
		t.Errorf("renewed %d, %v", n, err)
	}
	look("a")
	o.Status, o.FinishedAt = "succeeded", f.deps.Now()
	must(t, f.FinishOperation(ledger.WithLease(ctx, l), o))
	look("")
	wantCode(t, f.FinishOperation(ledger.WithLease(ctx, l), o), media.CodeConflict)
}

// leaseShared checks that no process acquires a lease while a commit that has compared it is in progress.
func leaseShared(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	old := f.acquire(t, newLease("w", "a"))
	other := f.open(t)
	var taken atomic.Bool
	var all sync.WaitGroup
	must(t, f.InTransaction(t.Context(), func(ctx context.Context) error {
		if err := f.FinishRun(ledger.WithLease(ctx, old), r); err != nil {
			return err
		}
		all.Go(func() { //nolint:contextcheck // it is another process
			_, err := other.AcquireLease(t.Context(), newLease("w", "b"), old)
			if taken.Store(true); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(20 * time.Millisecond) // long enough for it to succeed
		if taken.Load() {
			t.Error("the lease was taken within the commit")
		}
		return nil
	}))
	all.Wait()
}
