package generate

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"atelier/journal"
	"atelier/media"
)

// ErrLeft is the cause of a context that ends because somebody does not want to wait any
// longer: tasks at their providers go on, and [Gateway.Resume] finds them.
var ErrLeft = journal.ErrLeft

// errRunning is the cause where a task goes on past the wait: that is no failure.
var errRunning = errors.New("task goes on")

// stillRunning tells whether a task was left to go on.
func stillRunning(err *media.Error) bool { return err != nil && errors.Is(err.Cause, errRunning) }

// polling is a task that is asked for.
type polling struct {
	call   call
	task   Task
	handle Handle
	step   string // the name of its steps in the journal
}

// poll asks for a task until it is done, the wait is over or ctx ends; a notification
// comes before the next poll is due. A failed poll says nothing about the task, so
// polling goes on; only an answer about the task itself ends it.
//
// begin runs when notifications can be heard, before the first poll.
func (x *execution) poll(ctx context.Context, p polling, d *delivery, begin func()) (Update, *media.Error) {
	m, h := p.task.Model, p.handle
	every := cmp.Or(time.Duration(m.PollSeconds)*time.Second, defaultPoll)
	wait := cmp.Or(time.Duration(m.WaitSeconds)*time.Second, defaultWait)
	told := x.g.notices.wait(m.Provider, h.ID)
	defer x.g.notices.leave(m.Provider, h.ID, told)
	begin()
	last, pause, waited := Update{Task: h}, every, time.Duration(0)
	for number := 1; ; number++ {
		if waited += pause; waited > wait {
			x.mu.Lock()
			x.running = true
			x.mu.Unlock()
			return last, media.Errorf(media.CodeDeadline, "wait %s for %s: %w", wait, m.Name, errRunning)
		}
		if err := x.rest(ctx, pause, told); err != nil {
			return last, x.cancelTask(ctx, p.call, h, err)
		}
		u, err := x.ask(ctx, p, told, number)
		pause = every
		switch {
		case ctx.Err() != nil:
			d.take(ctx, u)
			return last, x.cancelTask(ctx, p.call, h, context.Cause(ctx))
		case err != nil && !transient(err):
			d.take(ctx, u)
			err.Retryable = false // the task was paid for: the call is not made again
			return u, err
		case err != nil:
			pause = max(every, min(err.RetryAfter, x.g.config.MaxRetryWait))
			continue
		}
		last = u
		d.take(ctx, u)
		if u.Done {
			return u, nil
		}
		x.emit(ctx, Event{Kind: EventProgress, Progress: u.Progress, Status: StatusRunning})
	}
}

// ask gives the state of a task: what its provider told, or the answer of a poll.
func (x *execution) ask(ctx context.Context, p polling, told *waiting, number int) (Update, *media.Error) {
	if news := told.take(); news != nil && (news.Done || len(news.Items) > 0) {
		return *news, nil
	}
	return x.step(ctx, p.step+"-"+strconv.Itoa(number), func(ctx context.Context) (Update, error) {
		return p.call.plan.driver.Poll(ctx, p.task, p.handle)
	})
}

// rest waits until the next poll, or until the provider tells something.
func (x *execution) rest(ctx context.Context, pause time.Duration, told *waiting) error {
	if told.pending() {
		return ctx.Err()
	}
	nap, wake := context.WithCancel(ctx)
	defer wake()
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-told.bell:
			wake()
		case <-done:
		}
	}()
	if err := x.journal.Sleep(nap, pause); err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return ctx.Err()
}

// transient tells a failed poll from an answer about the task.
func transient(err *media.Error) bool {
	switch err.Code {
	case media.CodeUnavailable, media.CodeRateLimited, media.CodeBadResponse, media.CodeDeadline, media.CodeInternal:
		return true
	default:
		return err.Retryable
	}
}

// stopped is why work whose context ended goes no further.
func (x *execution) stopped(ctx context.Context) *media.Error {
	if left := x.leave(context.Cause(ctx)); left != nil {
		return left
	}
	return asError(ctx.Err())
}

// halted tells whether ctx ended, so that nothing more begins.
func (x *execution) halted(ctx context.Context) bool {
	return ctx.Err() != nil && x.stopped(ctx) != nil
}

// leave leaves the operation as it is where another process goes on with it; nil otherwise.
func (x *execution) leave(why error) *media.Error {
	if !errors.Is(why, ErrLeft) && media.CodeOf(why) != media.CodeConflict {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running = true
	return media.Errorf(media.CodeConflict, "leave it to another process: %w", errRunning)
}

// cancelTask asks the provider to stop.
func (x *execution) cancelTask(ctx context.Context, c call, h Handle, why error) *media.Error {
	if left := x.leave(why); left != nil {
		return left
	}
	save, done := saving(ctx)
	defer done()
	if err := c.plan.driver.Cancel(save, h); err != nil {
		x.warn("the provider could not be told to stop: " + asError(err).Message)
	}
	return asError(why)
}
