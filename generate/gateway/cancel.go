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

// hearTime is how long another process may take to hear that it lost the right to work on an
// operation, and to stop: it asks for that right three times in [holdTime].
const hearTime = holdTime / 2

// Cancel ends an operation that is not finished, whether another process works on it or
// none does. The other one is asked to stop and leaves everything as it is, which takes five
// seconds; a task at a provider is cancelled where its driver can, and counts as one that may have
// been billed where it cannot; so does a call that was sent and not answered. What was reserved is given back. Results that are there stay. Nothing is asked for, so neither a key nor the
// provider is needed. What was cancelled before gives its result. ctx has the owner in its scope.
//
// It is for people, who end what they see. [Gateway.Abandon] is for a program that clears up behind
// its work: that takes nothing from a living process and refuses nothing that has ended.
//
// Errors: media.CodeNotFound for an unknown operation; media.CodeConflict for one that ended otherwise, and for one
// that this very gateway works on: there its own context ends it; media.CodeUnsupported if the log cannot resume.
func (g *Gateway) Cancel(ctx context.Context, id string) (*generate.Result, error) {
	return g.enter(ctx, id, operation.EventCancel, func(c *claim) (*generate.Result, error) {
		res := g.stop(ctx, c.Saved)
		if res.Status != generate.StatusCancelled { // all of it had come
			return nil, operation.TooLate(operation.EventCancel, id, res.Status)
		}
		return res, nil
	})
}

// seize takes the right to work on an operation, from another process too: that one is given the time to learn of it.
func (c *claim) seize(ctx context.Context) error {
	err := c.log.Hold(ctx, c.id, c.holder)
	if media.CodeOf(err) != media.CodeConflict {
		return err
	}
	for range 3 { // another one may come between
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
	if err := (journal.Memory{}).Sleep(ctx, hearTime); err != nil {
		_ = c.release(ctx) // else it expires
		return fault.Of(err)
	}
	return nil
}

// stop ends an operation that no other process works on: calls that are under way, with
// whatever model, then the results that were never asked for.
func (g *Gateway) stop(ctx context.Context, saved *operation.Saved) *generate.Result {
	op := saved.Operation
	p, err := g.Read(op.Request)
	if err != nil { // the request is no longer known, what was done is
		row, _ := g.config.Catalogue.Of(op.Provider, op.APIModel)
		row.Name, row.Provider, row.APIModel, row.MaxN = op.Model, op.Provider, op.APIModel, max(row.MaxN, 1)
		p = &plan.Plan{Model: row}
	}
	x := g.recollect(ctx, p, saved)
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
			x.keep(ended, c, a) // its results could not be saved
		}
	}
	save, done := saving(ended)
	defer done()
	for _, s := range x.board.all() {
		if s.Output == nil && s.Error == nil {
			x.settleSlot(save, generate.Slot{Index: s.Index, Error: slotError(fault.Of(ended.Err()))}, operation.EventCancel)
		}
	}
	return x.finish(ended)
}

// stopCall ends a call that is under way; what came of it is kept.
func (x *execution) stopCall(ended context.Context, c call, a operation.Attempt) {
	if a.Provider == plan.Offline { // no provider is at work
		x.recorder.end(ended, a, operation.EventCancel, fault.Of(ended.Err()))
		return
	}
	if c.plan.Driver == nil {
		if c.plan.Driver = x.g.Driver(a.Provider); c.plan.Driver == nil {
			c.plan.Driver = absent{}
		}
	}
	if a.Task == (driver.Handle{}) {
		x.adopt(ended, c, a)
		return
	}
	x.followTask(ended, c, a, func() {})
}

// absent stands for a provider that the program knows no more. Nothing but Cancel is asked of it.
type absent struct{ driver.Driver }

// Cancel is media.CodeUnsupported.
func (absent) Cancel(context.Context, driver.Handle) error {
	return media.Errorf(media.CodeUnsupported, "the provider is no longer set up, so its task cannot be stopped")
}

// Begun reports whether an operation with an idempotency key and the owner of ctx was begun, in
// whatever process. A log that cannot tell knows of none. It does not look at the end of ctx.
func (g *Gateway) Begun(ctx context.Context, key string) bool {
	id, err := g.operationOf(ctx, key)
	return err == nil && id != ""
}

// operationOf finds an operation by its key, also when ctx has ended.
func (g *Gateway) operationOf(ctx context.Context, key string) (string, error) {
	log, ok := g.config.Operations.(operation.Recaller)
	if !ok {
		return "", media.Errorf(media.CodeUnsupported, "this gateway keeps no operations by their keys")
	}
	save, done := saving(ctx)
	defer done()
	return log.OperationOf(save, key)
}

// abandon is Generate for a caller whose context has ended. Nothing more is asked for; but what
// an earlier process left of the same request, see [generate.Request.TakeUp], is ended, see [Gateway.Abandon].
func (g *Gateway) abandon(ctx context.Context, r generate.Request) (*generate.Result, error) {
	gone := fault.Of(ctx.Err())
	if !r.TakeUp || handedOver(ctx) {
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

// Abandon ends an operation that a process left and that is no longer wanted, as that process would
// have: its tasks are stopped where their provider can, what came is kept, what may be billed
// counts, and the rest is cancelled; where ctx has ended, for its reason. It waits until the hold of that
// process is over, half a minute at most. ctx has the owner in its scope. A finished operation gives its result.
// Unlike [Gateway.Cancel] it needs the provider and its key, and takes nothing from a living process.
//
// Errors: those of [Gateway.Resume], and media.CodeConflict where another process works on it.
func (g *Gateway) Abandon(ctx context.Context, id string) (*generate.Result, error) {
	if handedOver(ctx) {
		return nil, fault.Of(ctx.Err())
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	save, done := saving(gone)
	defer done()
	return await(save, func() (*generate.Result, error) { return g.resume(save, gone, id, operation.EventAbandon, false) })
}

// ErrHandedOver is the cause of a context that ends because its caller no longer waits: tasks
// continue at their providers, and [Gateway.Resume] finds them.
var ErrHandedOver = journal.ErrHandedOver

// ErrLetGo is the cause of a context that ends because no more results are wanted, except those that will be paid for
// anyway: a task that its provider stops is cancelled, and one that it cannot stop is left as by [ErrHandedOver]. Under
// any other cause such a task is cancelled as well, and counts as one that may have been billed.
var ErrLetGo error = media.Errorf(media.CodeCancelled, "cancelled before it was finished")

// submitTime is how long a call that begins a task may run after the end of its context:
// only with the task's name can it be stopped, left, or fetched later.
const submitTime = 10 * time.Second

// sending gives the context of a call: it ends with ctx, or after the grace that the end of
// ctx leaves to such a call. The caller calls the function when the call is over.
func sending(ctx context.Context, m catalog.Model) (context.Context, context.CancelFunc) {
	if m.PollSeconds == 0 {
		return journal.Ending(ctx)
	}
	patient, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if !handedOver(ctx) { // a hand-over has its own grace, and an operation that was taken has none
			_ = journal.Memory{}.Sleep(patient, submitTime)
		}
		end(context.Cause(ctx))
	})
	call, over := journal.Ending(patient)
	return call, func() {
		stop()
		over()
		end(nil)
	}
}

// errRunning is the cause where a task runs past the wait: that is no failure.
var errRunning = errors.New("the task continues")

func stillRunning(err *media.Error) bool { return err != nil && errors.Is(err.Cause, errRunning) }

func handedOver(ctx context.Context) bool { return journal.HandedOver(ctx) || taken(ctx) }

func taken(ctx context.Context) bool {
	return media.CodeOf(context.Cause(ctx)) == media.CodeConflict
}

// departure is how this process leaves an operation: with a task that another process fetches, or at
// the end of its context. It is safe for concurrent use.
type departure struct {
	notes     *notes
	resumable bool        // [Gateway.Resume] can continue the operation
	stopped   bool        // the operation is being cancelled, see [Gateway.Cancel]
	running   atomic.Bool // work continues without this process
}

// leave makes the operation one that continues without this process; the note, if any, is for people.
func (l *departure) leave(code media.Code, reason string, note ...string) *media.Error {
	if len(note) > 0 {
		l.notes.warnUnsaved(strings.Join(note, ""))
	}
	l.running.Store(true)
	return media.Errorf(code, "%s: %w", reason, errRunning)
}

// ended is why work that has not begun ends with ctx. The process that continues the operation begins what is left.
func (l *departure) ended(ctx context.Context) *media.Error {
	if handedOver(ctx) {
		return l.leave(media.CodeConflict, "leave the call to another process")
	}
	return fault.Of(ctx.Err())
}

// halted reports whether ctx ended, so that nothing more begins; what is left is noted.
func (l *departure) halted(ctx context.Context) bool {
	if ctx.Err() == nil {
		return false
	}
	_ = l.ended(ctx) // the calls that had begun say why
	return true
}

// shutOut leaves a task that this process may not ask for: it is paid for, and another key, or
// the same one when the provider accepts it again, can fetch it. advice says what becomes of it.
func (l *departure) shutOut(err *media.Error, advice string) *media.Error {
	return l.leave(err.Code, "leave the task to its provider", err.Message, ": ", advice)
}

// giveUp ends the polling of a task whose context has ended, with what it gave last: it
// leaves the task where another process continues it, or asks the provider to stop.
func (l *departure) giveUp(ctx context.Context, p polling, last driver.Update) (driver.Update, *media.Error) {
	if handedOver(ctx) {
		return last, l.leave(media.CodeConflict, "leave the task to another process")
	}
	reason := context.Cause(ctx)
	save, done := saving(ctx)
	defer done()
	err := p.call.plan.Driver.Cancel(save, p.handle)
	if err == nil {
		return last, fault.Of(reason)
	}
	if errors.Is(reason, ErrLetGo) && l.resumable {
		return last, l.leave(media.CodeCancelled, "leave the task to its provider",
			fault.Of(err).Message, ": the task continues there and is billed, so it was left to be fetched")
	}
	l.notes.warn("the task continues at its provider, which may bill it: " + fault.Of(err).Message)
	last.Usage.Unsettled = 1
	return last, fault.Of(reason)
}
