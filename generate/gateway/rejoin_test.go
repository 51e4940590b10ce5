package gateway_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/operation"
	"atelier/media"
)

// TestRepeatedRequestAdoptsOperation: a cancelled request that is repeated with its key adopts its operation: a task is
// polled and not started again, a call that was never made is made, and a call that was cut off while it was being
// answered is not repeated. The budgets count everything once.
func TestRepeatedRequestAdoptsOperation(t *testing.T) {
	t.Parallel()
	money := &ledgerBudget{}
	h := build(t, func(_ *testGateway, c *gateway.Config) { c.Budget, c.Concurrency = money, 2 })
	ctx, stop := context.WithCancelCause(t.Context())
	var healed atomic.Bool
	var cut string // the key of the call that is cut off
	var busy sync.WaitGroup
	busy.Add(2)
	h.gemini.OnStart = func(ctx context.Context, task driver.Task, number int) (driver.Update, error) {
		switch number {
		case 1:
			return driver.Update{Task: driver.Handle{ID: "task"}, ReportedUSD: "0.1"}, nil
		case 2:
			cut = task.Key
			busy.Done()
			<-ctx.Done()
			return driver.Update{}, ctx.Err()
		}
		return driver.Update{Done: true, Items: []driver.Item{h.picture(ctx, t, uint8(number))}, ReportedUSD: "0.2"}, nil
	}
	h.gemini.OnPoll = func(ctx context.Context, _ driver.Task, handle driver.Handle, _ int) (driver.Update, error) {
		if !healed.Load() {
			busy.Done()
			<-ctx.Done()
			return driver.Update{}, ctx.Err()
		}
		return driver.Update{Task: handle, Done: true, Items: []driver.Item{h.picture(ctx, t, 99)}}, nil
	}
	go func() {
		busy.Wait()
		stop(media.Errorf(media.CodeDeadline, "the run reached its time limit"))
	}()
	ask := threeImages()
	ask.IdempotencyKey, ask.Adopt = "act", true
	first, err := h.Generate(ctx, ask)
	if err != nil || len(first.Outputs()) != 0 || len(h.gemini.Tasks()) != 2 {
		t.Fatalf("%+v, %v after %d calls", first, err, len(h.gemini.Tasks()))
	}
	healed.Store(true)
	second, err := h.Generate(t.Context(), ask)
	if err != nil || second.Operation != first.Operation || len(h.gemini.Tasks()) != 3 || len(second.Warnings) != 0 {
		t.Fatalf("%+v, %v after %d calls", second, err, len(h.gemini.Tasks()))
	}
	for _, slot := range second.Slots {
		lost := strings.HasSuffix(cut, "-"+strconv.Itoa(slot.Index))
		if lost != (slot.Output == nil) || lost != (slot.Error != nil) {
			t.Errorf("slot %d: %+v", slot.Index, slot)
		}
	}
	if second.Status != generate.StatusCancelled || second.Usage.Images != 2 {
		t.Errorf("%s, usage %+v", second.Status, second.Usage)
	}
	spent := map[string]int64{}
	for _, c := range money.settled {
		spent[*c.USD] += c.Images
	}
	if len(money.settled) != 2 || spent["0.1"] != 0 || spent["0.2"] != 2 {
		t.Errorf("settled %+v", spent)
	}
	if r := money.reserved; len(r) != 2 || r[1].Images != 2 || r[1].ID != first.Operation {
		t.Errorf("reserved %+v", r)
	}
	third, err := h.Generate(t.Context(), ask)
	if err != nil || third.Status != second.Status || len(h.gemini.Tasks()) != 3 || len(money.settled) != 2 {
		t.Errorf("%+v, %v after %d calls", third, err, len(h.gemini.Tasks()))
	}
	ask.Adopt = false
	if fourth, err := h.Generate(t.Context(), ask); err != nil || fourth.Operation != first.Operation || len(h.gemini.Tasks()) != 3 {
		t.Errorf("recalled %+v, %v", fourth, err)
	}
}

// TestAbandonedWhileAnotherProcessContinues: a caller that shuts down does not wait for another process and gets the
// operation's status; a cancelled one gets an error. The operation does not change.
func TestAbandonedWhileAnotherProcessContinues(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	op := interruptedOperation(t, h, generate.Request{Model: "gpt-image-2", Prompt: "a house"}, operation.Attempt{ID: "a", Call: 1, Number: 1, Status: generate.StatusRunning, Task: driver.Handle{ID: "t"}})
	if err := h.log.Hold(t.Context(), op, "another process"); err != nil {
		t.Fatal(err)
	}
	before := len(h.log.Entries())
	for name, c := range map[string]struct {
		why  error
		code media.Code
	}{"left": {gateway.ErrHandedOver, ""}, "given up": {context.Canceled, media.CodeCancelled}} {
		ctx, end := context.WithCancelCause(t.Context())
		end(c.why)
		got, err := h.successor(t, nil).Resume(ctx, op)
		if c.code == "" && (err != nil || got.Status != generate.StatusRunning || got.Operation != op) || c.code != "" && media.CodeOf(err) != c.code {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if now := h.log.Entries()[before:]; len(now) > 0 {
		t.Errorf("it did %q", now)
	}
}

// TestOperationBegunElsewhere: a process that finds its operation begun by another one does not refund the money that
// the other one reserved under the same id.
func TestOperationBegunElsewhere(t *testing.T) {
	t.Parallel()
	p := &recordingBudget{}
	h := build(t, func(_ *testGateway, c *gateway.Config) { c.Budget = p })
	h.log.Fail = func(string) error { return media.Errorf(media.CodeConflict, "it already exists") }
	ctx := media.WithScope(t.Context(), media.Scope{Step: uuid.Must(uuid.NewV7()).String()})
	for adopt, settled := range map[bool]int{true: 0, false: 1} {
		p.settled = nil
		_, err := h.Generate(ctx, generate.Request{Model: "Nano Banana Pro", Prompt: "a fox", IdempotencyKey: "act", Adopt: adopt})
		if media.CodeOf(err) != media.CodeConflict || len(p.settled) != settled {
			t.Errorf("adopt %v: %v, settled %v", adopt, err, p.settled)
		}
	}
}
