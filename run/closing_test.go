package run_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atelier/agent"
	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/operation"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
	"atelier/run/lease"
	"atelier/run/operations"
)

// crashedProcess is a provider that never answers, and the records of a process that dies while it waits for the
// answer: nothing is saved after that.
type crashedProcess struct {
	driver.Synchronous
	*operations.Log
	*run.Budget
	arrived chan struct{}
	dead    atomic.Bool
}

func (*crashedProcess) Provider() string { return "offline" }
func (*crashedProcess) Ready() error     { return nil }

func (d *crashedProcess) Start(ctx context.Context, _ driver.Task) (driver.Update, error) {
	d.dead.Store(true)
	d.arrived <- struct{}{}
	<-ctx.Done()
	return driver.Update{}, ctx.Err()
}

func (d *crashedProcess) saveIfAlive(save func() error) error {
	if d.dead.Load() {
		return nil
	}
	return save()
}

func (d *crashedProcess) Hold(ctx context.Context, operation, holder string) error {
	return d.saveIfAlive(func() error { return d.Log.Hold(ctx, operation, holder) })
}

func (d *crashedProcess) Release(ctx context.Context, operation, holder string) error {
	return d.saveIfAlive(func() error { return d.Log.Release(ctx, operation, holder) })
}

func (d *crashedProcess) Attempt(ctx context.Context, a operation.Attempt) error {
	return d.saveIfAlive(func() error { return d.Log.Attempt(ctx, a) })
}

func (d *crashedProcess) SlotDone(ctx context.Context, operation string, s generate.Slot) error {
	return d.saveIfAlive(func() error { return d.Log.SlotDone(ctx, operation, s) })
}

func (d *crashedProcess) Finish(ctx context.Context, op operation.Operation) error {
	return d.saveIfAlive(func() error { return d.Log.Finish(ctx, op) })
}

func (d *crashedProcess) Settle(ctx context.Context, c generate.Charge) error {
	return d.saveIfAlive(func() error { return d.Budget.Settle(ctx, c) })
}

// TestOpenGenerationIsEnded: a generation whose process was killed is ended with its run, whether or not its act is
// repeated: nothing stays open or reserved.
func TestOpenGenerationIsEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end        func(*testing.T, *testService, string)
		status     ledger.Status
		operations map[string]int
	}{
		"cancelled": {
			func(t *testing.T, h *testService, id string) {
				t.Helper()
				must(t, h.service.End(t.Context(), owner, id))
			},
			ledger.StatusCancelled,
			map[string]int{"cancelled": 1},
		},
		"continued": {
			func(t *testing.T, h *testService, id string) { t.Helper(); h.finish(t, id, nil) },
			ledger.StatusSucceeded,
			map[string]int{"cancelled": 1, "partial": 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			h := build(t, `{"actions":[{"name":"Draw","params":{}}]}`, `{"message":"Done.","done":true}`)
			h.service = h.newDurableService(t)
			budget, err := run.NewBudget(h.store, run.BudgetConfig{})
			must(t, err)
			leases := lease.NewKeeper(h.store)
			d := &crashedProcess{Log: operations.NewLog(h.store, leases), Budget: budget, arrived: h.arrived}
			whole := h.gateway
			h.gateway, err = gateway.New(gateway.Config{
				Budget: d, Drivers: []driver.Driver{d}, Recorder: h.store, Operations: d, Events: h.observer.Progress,
			})
			must(t, err)
			r, err := h.service.Start(ctx, agent.Request{Agent: "painter", Message: "paint", Owner: owner, MaxImages: 9})
			must(t, err)
			<-h.arrived
			h.gateway = whole
			h.kill(t)
			list, err := h.store.ListOperations(ctx, owner, ledger.OperationQuery{Tree: r.ID})
			must(t, err)
			for _, op := range list.Items { // so that nothing waits until the lease expires
				must(t, leases.Release(ctx, ledger.LeaseGeneration, op.ID))
			}
			if b, err := h.store.Budget(ctx, "images:run:"+r.ID); err != nil || b.Reserved != 3 {
				t.Fatalf("%+v, %v", b, err)
			}
			c.end(t, h, r.ID)
			if got := h.status(t, r.ID); got != c.status {
				t.Errorf("the run is %s", got)
			}
			list, err = h.store.ListOperations(ctx, owner, ledger.OperationQuery{Tree: r.ID})
			must(t, err)
			got := map[string]int{}
			for _, op := range list.Items {
				if op.FinishedAt.IsZero() {
					t.Errorf("an operation is %s and open", op.Status)
				}
				got[op.Status]++
			}
			for status, n := range c.operations {
				if got[status] != n || len(list.Items) > 2 {
					t.Errorf("operations %v, want %v", got, c.operations)
				}
			}
			if b, err := h.store.Budget(ctx, "images:run:"+r.ID); err != nil || b.Reserved != 0 {
				t.Errorf("%+v, %v", b, err)
			}
			h.checkNothingAfterEnd(t, r.ID)
		})
	}
}

// checkNothingAfterEnd checks that the log of a run has no event after the run's end.
func (h *testService) checkNothingAfterEnd(t *testing.T, id string) {
	t.Helper()
	must(t, h.observer.Flush(t.Context()))
	events, err := h.store.ListEvents(t.Context(), owner, id, 0, ledger.MaxLimit)
	must(t, err)
	if last := events[len(events)-1].Kind; last != "run-cancelled" && last != "run-succeeded" {
		t.Errorf("the last event is %s", last)
	}
}

// TestTaskLeftByACancelledRun: a generation that a run did not wait for is ended if the run is cancelled, and otherwise
// can still be fetched.
func TestTaskLeftByACancelledRun(t *testing.T) {
	t.Parallel()
	for _, cancelled := range []bool{true, false} {
		h := build(t, questionAnswers()...)
		h.service = h.newDurableService(t)
		id := h.paused(t, "").RunID
		scope := media.WithScope(t.Context(), media.Scope{Owner: owner, Tree: id, Run: id})
		must(t, h.store.BeginOperation(scope, ledger.Operation{
			ID: "left-" + id, Key: "left-" + id, Owner: owner, Tree: id, RunID: id, Status: "running", Modality: "image", Provider: "offline", APIModel: "offline-painter",
			Request: []byte(`{"prompt":"a pier","n":1,"plan":` + h.planOf(t, id) + `}`),
		}))
		if cancelled {
			must(t, h.service.End(t.Context(), owner, id))
		} else {
			h.finish(t, id, colour("red"))
		}
		op, _, _, err := h.store.Operation(t.Context(), owner, "left-"+id)
		if err != nil || op.FinishedAt.IsZero() == cancelled {
			t.Errorf("cancelled %t: the operation is %s, %v", cancelled, op.Status, err)
		}
	}
}

// together is the log of a gateway that cancels two generations: each waits for a moment until the other is cancelled, too.
type together struct {
	*operations.Log
	begun atomic.Int32
	both  chan struct{}
	alone atomic.Bool
}

func (g *together) Hold(ctx context.Context, operation, holder string) error {
	if strings.HasPrefix(operation, "left-") {
		if g.begun.Add(1) == 2 {
			close(g.both)
		}
		select {
		case <-g.both:
		case <-time.After(time.Second):
			g.alone.Store(true)
		}
	}
	return g.Log.Hold(ctx, operation, holder)
}

// TestGenerationsAreCancelledTogether: the open generations of a cancelled run are cancelled at the same time, because
// each takes seconds if another process works on it.
func TestGenerationsAreCancelledTogether(t *testing.T) {
	t.Parallel()
	h := build(t, questionAnswers()...)
	log := &together{Log: operations.NewLog(h.store, nil), both: make(chan struct{})}
	h.service = h.newDurableService(t)
	id := h.paused(t, "").RunID
	scope := media.WithScope(t.Context(), media.Scope{Owner: owner, Tree: id, Run: id})
	for _, key := range []string{"gm_1", "gm_2"} {
		must(t, h.store.BeginOperation(scope, ledger.Operation{
			ID: "left-" + key, Key: key, Owner: owner, Tree: id, RunID: id, Status: "submitted", Modality: "image", Provider: "offline", APIModel: "offline-painter",
			Request: []byte(`{"prompt":"a pier","n":1,"plan":` + h.planOf(t, id) + `}`),
		}))
	}
	var err error
	h.gateway, err = gateway.New(gateway.Config{Drivers: []driver.Driver{&generatetest.Driver{Name: "offline"}}, Recorder: h.store, Operations: log})
	must(t, err)
	must(t, h.newDurableService(t).End(t.Context(), owner, id))
	open, err := ledger.All(func(p ledger.Page) (ledger.List[ledger.Operation], error) {
		return h.store.ListOpenOperations(t.Context(), p)
	})
	if err != nil || len(open) > 0 || log.alone.Load() {
		t.Errorf("%d open, one after the other: %v, %v", len(open), log.alone.Load(), err)
	}
}

// planOf returns the plan of the generation that a run made.
func (h *testService) planOf(t *testing.T, id string) string {
	t.Helper()
	list, err := h.store.ListOperations(t.Context(), owner, ledger.OperationQuery{Tree: id})
	must(t, err)
	var in struct {
		Plan json.RawMessage `json:"plan"`
	}
	must(t, json.Unmarshal(list.Items[0].Request, &in))
	return string(in.Plan)
}
