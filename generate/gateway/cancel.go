package gateway

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
	"atelier/generate/operation"
	"atelier/generate/plan"
	"atelier/journal"
	"atelier/media"
)

// leaseLossGrace is how long another process may take to notice that it lost the lease of an operation, and to stop: it
// checks the lease three times in [leaseTTL].
const leaseLossGrace = leaseTTL / 2

// Cancel ends an unfinished operation, whether or not another process works on it. That process is told to stop and
// leaves everything as it is, which takes five seconds. A task at a provider is cancelled if its driver can; if not, it
// counts as possibly billed, and so does a call that was sent and not answered. The reservation is refunded. Finished
// results are kept. Nothing is requested, so neither a key nor the provider is needed. A cancelled operation returns
// its result. ctx has the owner in its scope.
//
// Cancel is for people, who end operations that they see. [Gateway.Abandon] is for programs that clean up after their
// work: it takes nothing from a living process and rejects no operation that has ended.
//
// Errors: media.CodeNotFound for an unknown operation; media.CodeConflict for one that ended otherwise, and for one
// that this gateway works on, which its own context ends; media.CodeUnsupported if the log cannot resume.
func (g *Gateway) Cancel(ctx context.Context, id string) (*generate.Result, error) {
	return g.withClaim(ctx, id, operation.EventCancel, func(c *claim) (*generate.Result, error) {
		res := g.stop(ctx, c.Saved)
		if res.Status != generate.StatusCancelled { // all results had come
			return nil, operation.TooLate(operation.EventCancel, id, res.Status)
		}
		return res, nil
	})
}

// seize takes the lease of an operation, even from another process, and gives that process the time to notice.
func (c *claim) seize(ctx context.Context) error {
	err := c.log.Hold(ctx, c.id, c.holder)
	if media.CodeOf(err) != media.CodeConflict {
		return err
	}
	for range 3 { // another process may intervene
		saved, failed := c.log.Saved(ctx, c.id)
		if failed != nil {
			return failed
		}
		if err = nil; saved.Operation.Holder != "" {
			err = c.log.Release(ctx, c.id, saved.Operation.Holder)
		}
		if err == nil {
			err = c.log.Hold(ctx, c.id, c.holder)
		}
		if media.CodeOf(err) != media.CodeConflict {
			break
		}
	}
	if err != nil {
		return err
	}
	if err := (journal.Memory{}).Sleep(ctx, leaseLossGrace); err != nil {
		_ = c.release(ctx) // else it expires
		return fault.Of(err)
	}
	return nil
}

// stop ends an operation that no other process works on: first the calls in progress, of any model, then the results
// that were never requested.
func (g *Gateway) stop(ctx context.Context, saved *operation.Saved) *generate.Result {
	op := saved.Operation
	p, err := g.Read(op.Request)
	if err != nil { // the request cannot be read, but the calls made are known
		row, _ := g.config.Catalogue.LookupForProvider(op.Provider, op.APIModel)
		row.Name, row.Provider, row.APIModel, row.MaxN = op.Model, op.Provider, op.APIModel, max(row.MaxN, 1)
		p = &plan.Plan{Model: row}
	}
	x := g.restoreExecution(ctx, p, saved)
	x.steps.Journal, x.departure.stopped = journal.Memory{}, true
	scope := saved.Scope
	scope.Operation = op.ID
	held, release := x.hold(media.WithScope(ctx, scope))
	defer release()
	ended, end := context.WithCancel(held)
	end()
	for _, a := range saved.Attempts {
		switch c := (call{plan: x.chain.planOf(ended, a), number: a.Call, slots: a.Slots}); {
		case a.FinishedAt.IsZero():
			x.stopCall(ended, c, a)
		case a.Status == generate.StatusSucceeded && !x.board.settled(c.slots):
			x.settleUnsavedCall(ended, c, a) // its results could not be saved
		}
	}
	save, done := saveContext(ended)
	defer done()
	for _, s := range x.board.all() {
		if s.Output == nil && s.Error == nil {
			x.settleSlot(save, generate.Slot{Index: s.Index, Error: slotError(fault.Of(ended.Err()))}, operation.EventCancel)
		}
	}
	return x.finish(ended)
}

// stopCall ends a call in progress; its results are kept.
func (x *execution) stopCall(ended context.Context, c call, a operation.Attempt) {
	if a.Provider == plan.Offline { // no provider is working
		x.recorder.end(ended, a, operation.EventCancel, fault.Of(ended.Err()))
		return
	}
	if c.plan.Driver == nil {
		if c.plan.Driver = x.g.Driver(a.Provider); c.plan.Driver == nil {
			c.plan.Driver = unconfiguredDriver{}
		}
	}
	if a.Task == (driver.Handle{}) {
		x.endUnansweredCall(ended, c, a)
		return
	}
	x.followTask(ended, c, a, func() {})
}

// unconfiguredDriver stands for a provider that is not configured any more. Only its Cancel is called.
type unconfiguredDriver struct{ driver.Driver }

// Cancel returns media.CodeUnsupported.
func (unconfiguredDriver) Cancel(context.Context, driver.Handle) error {
	return media.Errorf(media.CodeUnsupported, "the provider is no longer set up, so its task cannot be stopped")
}

// HasOperation reports whether an operation with an idempotency key and the owner of ctx was begun, in any process. A
// log that cannot look up keys knows of none. HasOperation ignores the end of ctx.
func (g *Gateway) HasOperation(ctx context.Context, key string) bool {
	id, err := g.operationOf(ctx, key)
	return err == nil && id != ""
}

// operationOf returns the id of an operation by its key, even when ctx has ended.
func (g *Gateway) operationOf(ctx context.Context, key string) (string, error) {
	if g.resumer == nil {
		return "", media.Errorf(media.CodeUnsupported, "this gateway keeps no operations by their keys")
	}
	save, done := saveContext(ctx)
	defer done()
	return g.resumer.OperationOf(save, key)
}

// abandon is Generate for a caller whose context has ended. It requests nothing, but ends what an earlier process left
// of the same request (see [generate.Request.Adopt] and [Gateway.Abandon]).
func (g *Gateway) abandon(ctx context.Context, r generate.Request) (*generate.Result, error) {
	gone := fault.Of(ctx.Err())
	if !r.Adopt || handedOver(ctx) {
		return nil, gone
	}
	id, err := g.operationOf(ctx, r.IdempotencyKey)
	if err != nil {
		return nil, gone // there is nothing to end
	}
	res, err := g.Abandon(ctx, id)
	if media.CodeOf(err) == media.CodeConflict {
		return nil, gone
	}
	return res, err
}

// Abandon ends an unwanted operation that a process left, as that process would have: its tasks are cancelled if their
// provider can, finished results are kept, possibly billed ones count, and the rest is cancelled; if ctx has ended, for
// its reason. It waits until the lease of that process is over, at most half a minute. ctx has the owner in its scope.
// A finished operation returns its result. Unlike [Gateway.Cancel] it needs the provider and its key, and takes nothing
// from a living process.
//
// Errors: those of [Gateway.Resume], and media.CodeConflict if another process works on it.
func (g *Gateway) Abandon(ctx context.Context, id string) (*generate.Result, error) {
	if handedOver(ctx) {
		return nil, fault.Of(ctx.Err())
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	save, done := saveContext(gone)
	defer done()
	return await(save, func() (*generate.Result, error) { return g.resume(save, gone, id, operation.EventAbandon, false) })
}

// ErrHandedOver is the cause of a context that ends because its caller stops waiting: tasks continue at their
// providers, and [Gateway.Resume] finds them.
var ErrHandedOver = journal.ErrHandedOver

// ErrCancelled is the cause of a context that ends because no more results are wanted, except those that will be billed
// anyway: a task that its provider can cancel is cancelled, and one that it cannot is left as by [ErrHandedOver]. Under
// any other cause such a task is cancelled too, and counts as possibly billed.
var ErrCancelled error = media.Errorf(media.CodeCancelled, "cancelled before it was finished")

// submitTime is how long a call that starts a task may run after its context has ended: without the task's id the task
// cannot be stopped, left, or fetched later.
const submitTime = 10 * time.Second

// sendContext returns the context of a call: it ends with ctx, or after the grace period that such a call has after the
// end of ctx. The caller calls the function when the call is over.
func sendContext(ctx context.Context, m catalog.Model) (context.Context, context.CancelFunc) {
	if m.PollSeconds == 0 {
		return journal.WithHandOverGrace(ctx)
	}
	patient, end := outlive(ctx, func() time.Duration {
		if handedOver(ctx) { // a hand-over has its own grace period, and a taken operation has none
			return 0
		}
		return submitTime
	})
	call, over := journal.WithHandOverGrace(patient)
	return call, func() {
		over()
		end()
	}
}

// errRunning is the cause if a task exceeds its wait, which is not a failure.
var errRunning = errors.New("the task continues")

func stillRunning(err *media.Error) bool { return err != nil && errors.Is(err.Cause, errRunning) }

func handedOver(ctx context.Context) bool { return journal.HandedOver(ctx) || leaseTaken(ctx) }

func leaseTaken(ctx context.Context) bool {
	return media.CodeOf(context.Cause(ctx)) == media.CodeConflict
}

// departure is how this process leaves an operation: with a task that another process fetches, or because its context
// ends. It is safe for concurrent use.
type departure struct {
	notes     *notes
	resumable bool        // [Gateway.Resume] can continue the operation
	stopped   bool        // the operation is being cancelled, see [Gateway.Cancel]
	running   atomic.Bool // work continues elsewhere
}

// leave marks the operation as continuing without this process; the note, if any, is for people.
func (l *departure) leave(code media.Code, reason string, note ...string) *media.Error {
	if text := strings.Join(note, ""); text != "" {
		l.notes.warnUnsaved(text)
	}
	l.running.Store(true)
	return media.Errorf(code, "%s: %w", reason, errRunning)
}

// ended returns why work that has not begun ends with ctx. The process that continues the operation starts the rest.
func (l *departure) ended(ctx context.Context) *media.Error {
	if handedOver(ctx) {
		return l.leave(media.CodeConflict, "leave the call to another process")
	}
	return fault.Of(ctx.Err())
}

// halted reports whether ctx has ended, so that nothing more begins; remaining work is marked as left.
func (l *departure) halted(ctx context.Context) bool {
	if ctx.Err() == nil {
		return false
	}
	_ = l.ended(ctx) // the calls in progress report the reason
	return true
}

// endPolling ends the polling of a task whose context has ended, with its last update: it leaves the task to another
// process, or asks the provider to stop it.
func (l *departure) endPolling(ctx context.Context, p polling, last driver.Update) (driver.Update, *media.Error) {
	if handedOver(ctx) {
		return last, l.leave(media.CodeConflict, "leave the task to another process")
	}
	reason := context.Cause(ctx)
	save, done := saveContext(ctx)
	defer done()
	d := p.call.plan.Driver
	_, err := guarded(d, nil, func() (driver.Update, error) { return last, d.Cancel(save, p.handle) })
	if err == nil {
		return last, fault.Of(reason)
	}
	if errors.Is(reason, ErrCancelled) && l.resumable {
		return last, l.leave(media.CodeCancelled, "leave the task to its provider",
			fault.Of(err).Message, ": the task continues there and is billed, so it was left to be fetched")
	}
	l.notes.warn("the task continues at its provider, which may bill it: " + fault.Of(err).Message)
	last.Usage.Unsettled = 1
	return last, fault.Of(reason)
}
