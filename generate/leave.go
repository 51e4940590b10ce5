package generate

import (
	"context"
	"errors"
	"time"

	"atelier/journal"
	"atelier/media"
)

// ErrLeft is the cause of a context that ends because somebody does not want to wait any
// longer: tasks at their providers go on, and [Gateway.Resume] finds them.
var ErrLeft = journal.ErrLeft

// ErrLetGo is the cause of a context that ends because nobody wants more results, though
// those that will be paid for anyway are wanted: a task that its provider stops is
// cancelled, and one that it cannot stop is left as by [ErrLeft]. Under any other cause
// such a task is cancelled as well, and counts as one that may have been billed.
var ErrLetGo error = media.Errorf(media.CodeCancelled, "cancelled before it was finished")

// submitTime is how long a call that begins a task may go on after the end of its context:
// only with the task's name can it be stopped, left, or fetched later.
const submitTime = 10 * time.Second

// sending gives the context of a call: it ends with ctx, or after the grace that the end of
// ctx leaves to such a call. The caller calls the function when the call is over.
func sending(ctx context.Context, m Model) (context.Context, context.CancelFunc) {
	if m.PollSeconds == 0 {
		return journal.Ending(ctx)
	}
	patient, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if !left(ctx) { // who leaves says how long, and where another process has it nothing is waited for
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

// errRunning is the cause where a task goes on past the wait: that is no failure.
var errRunning = errors.New("task goes on")

// stillRunning reports whether a task was left to go on.
func stillRunning(err *media.Error) bool { return err != nil && errors.Is(err.Cause, errRunning) }

// left reports whether another process goes on with the operation, or has it already.
func left(ctx context.Context) bool { return journal.Left(ctx) || taken(ctx) }

// taken reports whether another process has the operation already.
func taken(ctx context.Context) bool {
	return media.CodeOf(context.Cause(ctx)) == media.CodeConflict
}

// leave makes the operation one that goes on without this process.
func (x *execution) leave(code media.Code, why string) *media.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running = true
	return media.Errorf(code, "%s: %w", why, errRunning)
}

// ended is why work that has not begun ends with ctx. What is left is begun by whoever
// goes on with the operation.
func (x *execution) ended(ctx context.Context) *media.Error {
	if left(ctx) {
		return x.leave(media.CodeConflict, "leave the call to another process")
	}
	return asError(ctx.Err())
}

// halted reports whether ctx ended, so that nothing more begins; what is left is noted.
func (x *execution) halted(ctx context.Context) bool {
	if ctx.Err() == nil {
		return false
	}
	_ = x.ended(ctx) // why is told of the calls that had begun
	return true
}

// giveUp ends the polling of a task whose context has ended, with what it gave last: it
// leaves the task where another process goes on with it, or asks the provider to stop.
func (x *execution) giveUp(ctx context.Context, p polling, last Update) (Update, *media.Error) {
	if left(ctx) {
		return last, x.leave(media.CodeConflict, "leave the task to another process")
	}
	why := context.Cause(ctx)
	save, done := saving(ctx)
	defer done()
	err := p.call.plan.driver.Cancel(save, p.handle)
	if err == nil {
		return last, asError(why)
	}
	if errors.Is(why, ErrLetGo) && x.resumable() {
		x.mu.Lock()
		x.aside = asError(err).Message + ": what is under way there goes on and is billed, so it was left to be fetched"
		x.mu.Unlock()
		return last, x.leave(media.CodeCancelled, "leave the task to its provider")
	}
	x.warn("the task goes on at its provider, which may bill it: " + asError(err).Message)
	last.Usage.Unsettled = 1
	return last, asError(why)
}

// resumable reports whether [Gateway.Resume] can go on with the operation.
func (x *execution) resumable() bool {
	_, ok := x.g.config.Operations.(Resumer)
	return ok && len(x.op.Request) > 0
}
