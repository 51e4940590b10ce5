package generate

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"atelier/journal/step"
	"atelier/media"
)

// polling is a task that is asked for.
type polling struct {
	call   call
	task   Task
	handle Handle
	seen   string // the newest link to a preview
	// limit is the most that one poll takes; after the first one the end of the wait counts too.
	limit time.Duration
	end   time.Time
}

// pollTime is the most that one poll takes, where the wait is not shorter.
const pollTime = 30 * time.Second

// poll asks for a task until it is done, the wait is over or ctx ends; a notification
// comes before the next poll is due. A failed poll says nothing about the task, so
// polling goes on, and so does one that is not answered in time; the wait counts the time of the clock. Only an answer about the task itself ends it. A wait that it asks for
// holds for calls that have not begun, while tasks are asked for at their own pace. One that refuses the key or
// the account says nothing about the task either, but will not change by asking: the task is
// left to be fetched. So is one that is finished and whose results cannot be fetched or stored: as
// long as the wait lasts, it is asked for their links again.
//
// begin runs when notifications can be heard, before the first poll.
func (x *execution) poll(ctx context.Context, p polling, d *delivery, begin func()) (Update, *media.Error) {
	m, h := p.task.Model, p.handle
	every := cmp.Or(time.Duration(m.PollSeconds)*time.Second, defaultPoll)
	wait := cmp.Or(time.Duration(m.WaitSeconds)*time.Second, defaultWait)
	told := x.g.notices.wait(m.Provider, h.ID)
	defer x.g.notices.leave(m.Provider, h.ID, told)
	begin()
	d.asks, p.limit = true, min(pollTime, wait)
	patience, over := context.WithTimeout(ctx, wait)
	defer over()
	p.end, _ = patience.Deadline()
	last, pause, waited := Update{Task: h}, every, time.Duration(0)
	for number := 1; ; number++ {
		if waited += pause; waited > wait || number > 1 && patience.Err() != nil && ctx.Err() == nil {
			if lacking := d.lacking(); lacking != nil {
				return last, d.putOff(lacking)
			}
			return last, x.leave(media.CodeDeadline, fmt.Sprintf("wait %s for %s", wait, m.Name))
		}
		nap := patience
		if number == 1 { // it comes whatever the wait is
			nap = ctx
		}
		if x.rest(nap, pause, told) != nil {
			if ctx.Err() == nil {
				continue // the wait is over
			}
			return x.giveUp(ctx, p, last)
		}
		u, err := x.ask(ctx, p, told, number)
		pause = every
		switch {
		case ctx.Err() != nil:
			d.take(ctx, u)
			return x.giveUp(ctx, p, last)
		case err != nil && refused(err) && x.resumable():
			return last, x.shutOut(err, "the task goes on there and is paid for, so it was left to be fetched when the key is let in")
		case err != nil && !transient(err):
			d.take(ctx, u)
			return u, taskLost(err)
		case err != nil:
			x.g.heed(m, err)
			pause = max(every, min(err.RetryAfter, x.g.config.MaxRetryWait))
			continue
		}
		last = u
		d.take(ctx, u)
		switch lacking := d.lacking(); {
		case lacking != nil && d.hopeless(lacking):
			return u, d.putOff(lacking)
		case lacking != nil:
			pause = max(every, min(fetchPause<<min(d.takes, 10), longestFetchPause))
			continue
		case u.Done:
			return u, nil
		}
		x.emit(ctx, Event{Kind: EventProgress, Progress: u.Progress, Status: StatusRunning})
		x.show(ctx, &p, d, u.Preview)
	}
}

// ask gives the state of a task: what its provider told, or the answer of a poll.
func (x *execution) ask(ctx context.Context, p polling, told *waiting, number int) (Update, *media.Error) {
	if news := told.take(); news != nil && (news.Done || len(news.Items) > 0) {
		return *news, nil
	}
	return x.step(ctx, step.Name{Kind: step.KindPoll, Call: p.call.number, Index: number}, func(ctx context.Context) (Update, error) {
		brief, stop := context.WithTimeout(ctx, p.limit)
		defer stop()
		if number > 1 {
			brief, stop = context.WithDeadline(brief, p.end)
			defer stop()
		}
		u, err := within(brief, func() (Update, error) { return p.call.plan.driver.Poll(brief, p.task, p.handle) })
		if err != nil && brief.Err() != nil && ctx.Err() == nil {
			err = media.Errorf(media.CodeDeadline, "%s did not say in time how a task stands", p.task.Model.Name)
		}
		return u, err
	})
}

// pollGrace is how long a driver has to come back from a poll whose time is over.
const pollGrace = time.Second

// within gives what ask gives, or the error of ctx where a driver ignores its end: the poll is then
// left to itself, which costs nothing.
func within(ctx context.Context, ask func() (Update, error)) (u Update, err error) {
	came := make(chan struct{})
	var panicked any
	var answer Update
	var failed error
	go func() {
		defer close(came)
		defer func() { panicked = recover() }()
		answer, failed = ask()
	}()
	select {
	case <-came:
	case <-ctx.Done():
		select {
		case <-came:
		case <-time.After(pollGrace):
			return Update{}, ctx.Err()
		}
	}
	if panicked != nil {
		panic(panicked) // for whoever takes panics here
	}
	return answer, failed
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
	_ = x.journal.Sleep(nap, pause) // its only failure that counts is the end of ctx
	return ctx.Err()
}

// taskLost is the error of a task that nobody can ask for any more. The task was paid for,
// so the call is not made again; that its provider does not know it is no bad input.
func taskLost(err *media.Error) *media.Error {
	err.Retryable = false
	if err.Code == media.CodeNotFound || err.Code == media.CodeInvalid {
		err.Code = media.CodeBadResponse
	}
	return err
}

// refused tells that a poll, or a look at the list of tasks, failed by who asked.
func refused(err *media.Error) bool {
	return err.Code == media.CodeUnauthorized || err.Code == media.CodeForbidden || err.Code == media.CodeQuotaExceeded
}

// shutOut leaves a task that this process may not ask for: it is paid for, and another key, or
// the same one when it is let in again, can fetch it. People are told what becomes of it.
func (x *execution) shutOut(err *media.Error, told string) *media.Error {
	x.mu.Lock()
	x.aside = err.Message + ": " + told
	x.mu.Unlock()
	return x.leave(err.Code, "leave the task to its provider")
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
