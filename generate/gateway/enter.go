package gateway

import (
	"context"
	"fmt"
	"time"

	"atelier/generate"
	"atelier/generate/internal/fault"
	"atelier/generate/operation"
	"atelier/generate/plan"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// withClaim opens an operation of the log, for Resume, Retry, Notify, Cancel, Abandon and a Generate that finds its
// operation. If the operation is over and the event does not change that, withClaim returns its result. Otherwise do
// works on it exclusively; if do returns an error, no work has begun and the claim is released. The error has code
// media.CodeConflict while another caller has the claim, and if the event can no longer happen.
func (g *Gateway) withClaim(ctx context.Context, id string, e operation.Event, do func(*claim) (*generate.Result, error)) (*generate.Result, error) {
	if g.resumer == nil {
		return nil, media.Errorf(media.CodeUnsupported, "this gateway keeps no operations, so it cannot %s one", e)
	}
	saved, err := g.resumer.Saved(ctx, id)
	if err != nil {
		return nil, err
	}
	if res, err := saved.Ended(e); res != nil || err != nil {
		return res, err
	}
	leave, err := g.markBusy(id)
	if err != nil {
		return nil, err
	}
	defer leave()
	c := &claim{g: g, lease: g.lease(id)}
	if e == operation.EventCancel {
		if err := c.seize(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.acquire(ctx); err != nil {
		return nil, err
	}
	res, err := c.Ended(e)
	if res == nil && err == nil {
		if res, err = do(c); err == nil {
			return res, nil
		}
		res = nil
	}
	_ = c.release(ctx) // else it expires
	return res, err
}

// await retries entering an operation while another caller works on it, until ctx ends.
func await(ctx context.Context, enter func() (*generate.Result, error)) (*generate.Result, error) {
	for {
		res, err := enter()
		if media.CodeOf(err) != media.CodeConflict || (journal.Memory{}).Sleep(ctx, leaseTTL/10) != nil {
			return res, err
		}
	}
}

// claim is the exclusive right to work on an operation, with the operation as read under that right.
type claim struct {
	g *Gateway
	lease
	*operation.Saved
}

// acquire acquires or keeps the right and reads the operation again, because an earlier read may be stale.
func (c *claim) acquire(ctx context.Context) (err error) {
	if err := c.log.Hold(ctx, c.id, c.holder); err != nil {
		return err
	}
	if c.Saved, err = c.log.Saved(ctx, c.id); err != nil {
		_ = c.release(ctx) // else it expires
	}
	return err
}

func (c *claim) releaseUnchanged(ctx context.Context) (*generate.Result, error) {
	return c.Result(), c.release(ctx)
}

// work continues the operation, which is in progress; with once it polls each task once. After an error no work has
// begun.
func (c *claim) work(ctx context.Context, once bool) (*generate.Result, error) {
	g, op := c.g, c.Operation
	p, err := g.Load(op.Request)
	if err != nil {
		return nil, fault.Wrap("resume "+op.ID, err)
	}
	x := g.restoreExecution(ctx, p, c.Saved)
	x.once = once
	part := step.Name{Kind: step.KindResume, Label: op.Key}
	if p.Round != nil {
		part.Kind, part.Index = step.KindRetry, p.Round.First
		if p.Round.Found {
			part.Kind = step.KindFound
		}
	}
	if x.steps.Journal, err = g.config.Journal.Child(ctx, part); err != nil {
		return nil, fault.Wrap("open journal", err)
	}
	scope := c.Scope
	scope.Operation = op.ID
	ctx = media.WithScope(ctx, inTree(scope))
	x.emit(ctx, generate.Event{Kind: generate.EventStarted, Status: generate.StatusRunning, Progress: -1})
	return x.work(ctx), nil
}

// reopening says how a finished operation is queued again.
type reopening struct {
	event operation.Event
	plan  *plan.Plan // with its round
	slots []int      // whose outcome is deleted
	// money is the estimate of the further cost; nil if there is none.
	money *generate.Charge
	tasks []operation.Attempt // that are in progress again
}

// reopen sets a finished operation in progress again.
func (c *claim) reopen(ctx context.Context, a reopening) (err error) {
	op, budget := c.Operation, c.g.config.Budget
	if op.Status, err = operation.Advance(operation.SubjectOperation, c.Status(), a.event); err != nil {
		return err
	}
	op.Request, op.FinishedAt, op.Error = a.plan.Save(), time.Time{}, nil
	op.Holder = c.g.holder
	if a.money != nil {
		if err := budget.Reserve(media.WithScope(ctx, c.Scope), *a.money); err != nil {
			return fault.Wrap("reserve money", err)
		}
	}
	for _, task := range a.tasks {
		if err == nil {
			err = c.nameTask(ctx, task)
		}
	}
	if err == nil {
		err = c.log.Reopen(ctx, op, a.slots)
	}
	if err != nil && a.money != nil {
		_ = budget.Settle(ctx, generate.Charge{ID: op.ID}) // else it is refunded later
	}
	if err != nil {
		return fault.Wrap("take the operation up again", err)
	}
	c.Saved, err = c.log.Saved(ctx, c.id)
	return err
}

// nameTask sets an attempt whose task has become known in progress.
func (c *claim) nameTask(ctx context.Context, a operation.Attempt) (err error) {
	a.Error, a.Usage, a.FinishedAt = nil, generate.Usage{}, time.Time{}
	if a.Status, err = operation.Advance(operation.SubjectAttempt, a.Status, operation.EventName); err != nil {
		return err
	}
	if err := c.g.config.Operations.Attempt(ctx, a); err != nil {
		return fault.Wrap("journal call", err)
	}
	return nil
}

// workOnTask continues the operation and a call whose task has become known; a finished one is queued again for it.
func (c *claim) workOnTask(ctx context.Context, e operation.Event, a operation.Attempt) (*generate.Result, error) {
	if c.Finished() {
		p, err := c.g.Load(c.Operation.Request)
		if err != nil {
			return nil, fault.Wrap("resume "+c.id, err)
		}
		p.Round = &plan.Round{First: a.Call, Slots: a.Slots, Found: true}
		if err := c.reopen(ctx, reopening{event: e, plan: p, slots: c.Unanswered(a)}); err != nil {
			return nil, err
		}
	}
	err := c.nameTask(ctx, a)
	if err == nil {
		c.Saved, err = c.log.Saved(ctx, c.id)
	}
	if err != nil {
		return nil, err
	}
	return c.work(ctx, false)
}

// markBusy starts work on an operation. The error has code media.CodeConflict while another caller of this gateway
// works on it.
func (g *Gateway) markBusy(id string) (leave func(), err error) {
	if _, on := g.busy.LoadOrStore(id, true); on {
		return nil, media.Errorf(media.CodeConflict, "operation %s is in progress in this process: wait for it", id)
	}
	return func() { g.busy.Delete(id) }, nil
}

// leaseTTL is how long the lease of an operation outlives its process.
const leaseTTL = 10 * time.Second

// lateAnswerGrace is how long this process, after it has lost the lease, still reads and stores the answer of a call in
// progress: the answer may have been paid for.
const lateAnswerGrace = 3 * time.Second

// lease is this gateway's right to work on an operation, which one process holds at a time. If the log cannot resume
// operations, log is nil, and there is no lease to keep or lose.
type lease struct {
	log    operation.Resumer
	id     string // the operation
	holder string
}

func (g *Gateway) lease(id string) lease { return lease{g.resumer, id, g.holder} }

// release ends the lease of an operation that is not being worked on.
func (l lease) release(ctx context.Context) error {
	if err := l.log.Release(context.WithoutCancel(ctx), l.id, l.holder); err != nil {
		return fault.Wrap("release operation", err)
	}
	return nil
}

// lost reports whether another process has the operation.
func (l lease) lost(ctx context.Context) bool {
	return l.log != nil && media.CodeOf(l.log.Keep(context.WithoutCancel(ctx), l.id, l.holder)) == media.CodeConflict
}

// keepAlive extends the lease, which is already held, while the operation is worked on. held ends when another process
// has taken the operation, because this process was suspended for too long. end stops that, and releases the lease of
// an open operation unless another process has it.
func (l lease) keepAlive(ctx context.Context) (held context.Context, end func(open bool) error) {
	if l.log == nil {
		return ctx, func(bool) error { return nil }
	}
	held, cancel := context.WithCancelCause(ctx)
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(leaseTTL / 3)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				if err := l.log.Keep(context.WithoutCancel(ctx), l.id, l.holder); media.CodeOf(err) == media.CodeConflict {
					cancel(fmt.Errorf("%w: %w", journal.HandOver(lateAnswerGrace), err)) // the work in progress belongs to the other process
					return
				}
			}
		}
	}()
	return held, func(open bool) (err error) {
		close(stop)
		<-ended
		if open && (held.Err() == nil || ctx.Err() != nil) {
			err = l.log.Release(context.WithoutCancel(ctx), l.id, l.holder)
		}
		cancel(nil)
		return err
	}
}
