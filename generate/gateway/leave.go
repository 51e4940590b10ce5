package gateway

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
	"atelier/journal"
	"atelier/media"
)

// ErrHandedOver is the cause of a context that ends because its caller no longer waits: tasks
// continue at their providers, and [Gateway.Resume] finds them.
var ErrHandedOver = journal.ErrHandedOver

// ErrLetGo is the cause of a context that ends because no more results are wanted, except
// those that will be paid for anyway: a task that its provider stops is
// cancelled, and one that it cannot stop is left as by [ErrHandedOver]. Under any other cause
// such a task is cancelled as well, and counts as one that may have been billed.
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

// stillRunning reports whether a task was left running.
func stillRunning(err *media.Error) bool { return err != nil && errors.Is(err.Cause, errRunning) }

// handedOver reports whether another process continues the operation, or has it already.
func handedOver(ctx context.Context) bool { return journal.HandedOver(ctx) || taken(ctx) }

// taken reports whether another process has the operation already.
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
func (l *departure) leave(code media.Code, why string, note ...string) *media.Error {
	if len(note) > 0 {
		l.notes.warnHere(strings.Join(note, ""))
	}
	l.running.Store(true)
	return media.Errorf(code, "%s: %w", why, errRunning)
}

// ended is why work that has not begun ends with ctx. The process that continues the operation begins
// what is left.
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
	why := context.Cause(ctx)
	save, done := saving(ctx)
	defer done()
	err := p.call.plan.Driver.Cancel(save, p.handle)
	if err == nil {
		return last, fault.Of(why)
	}
	if errors.Is(why, ErrLetGo) && l.resumable {
		return last, l.leave(media.CodeCancelled, "leave the task to its provider",
			fault.Of(err).Message, ": the task continues there and is billed, so it was left to be fetched")
	}
	l.notes.warn("the task continues at its provider, which may bill it: " + fault.Of(err).Message)
	last.Usage.Unsettled = 1
	return last, fault.Of(why)
}
