package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

type polling struct {
	call   call
	task   driver.Task
	handle driver.Handle
	seen   string // the newest link to a preview
	unread string // why the newest poll failed, for people
	// limit is the maximum time of one poll; from the second poll on, end applies too.
	limit time.Duration
	end   time.Time
}

// pollTime is the maximum time of one poll, unless the wait is shorter.
const pollTime = 30 * time.Second

// poll polls a task until it is done, the wait is over or ctx ends; a notification ends the pause before the next poll.
// A poll that fails or times out says nothing about the task, so polling continues; only an answer about the task
// itself ends it. The wait is measured by the clock. A retry delay that a poll returns applies to calls that have not
// begun; tasks are polled at their own pace. A poll that refuses the key or the account says nothing about the task
// either, but polling again does not help: the task is left to be fetched. So is a finished task whose results cannot
// be fetched or stored: until the wait is over it is polled for new links.
//
// begin runs when notifications can be received, before the first poll.
func (x *execution) poll(ctx context.Context, p polling, d *delivery, begin func()) (driver.Update, *media.Error) {
	m, h := p.task.Model, p.handle
	every := cmp.Or(time.Duration(m.PollSeconds)*time.Second, defaultPoll)
	wait := cmp.Or(time.Duration(m.WaitSeconds)*time.Second, defaultWait)
	notices := x.g.notices.wait(m.Provider, h.ID)
	defer x.g.notices.leave(m.Provider, h.ID, notices)
	begin()
	d.pollable, p.limit = true, min(pollTime, wait)
	patience, over := context.WithTimeout(ctx, wait)
	defer over()
	p.end, _ = patience.Deadline()
	last, pause, waited := driver.Update{Task: h}, every, time.Duration(0)
	// The first poll is made whatever the wait is.
	for number, nap := 1, ctx; ; number, nap = number+1, patience {
		if waited += pause; waited > wait || number > 1 && patience.Err() != nil && ctx.Err() == nil {
			if lacking := d.pendingReason(); lacking != nil {
				return last, d.leaveResults(lacking)
			}
			return last, x.departure.leave(media.CodeDeadline, fmt.Sprintf("wait %s for %s", wait, m.Name), p.unread)
		}
		news := x.steps.waitForPoll(nap, pause, notices)
		switch {
		case ctx.Err() != nil:
			return x.departure.endPolling(ctx, p, last)
		case nap.Err() != nil:
			continue // the wait is over
		}
		u, err := x.steps.pollTask(ctx, p, news, number)
		pause = every
		switch {
		case ctx.Err() != nil && (err != nil || !u.Done || handedOver(ctx)):
			d.take(ctx, u)
			return x.departure.endPolling(ctx, p, last)
		case err != nil && refused(err) && x.departure.resumable:
			return last, x.departure.leave(err.Code, "leave the task to its provider", err.Message, ": the task continues there and is billed, so it was left to be fetched once the provider accepts the key")
		case err != nil && !transient(err):
			u = taskLost(u, err)
			d.take(ctx, u)
			return u, err
		case err != nil:
			pause = max(every, x.g.shareWait(m, err))
			if patience.Err() == nil && (p.unread == "" || err.Code != media.CodeDeadline) { // else the end of the wait cut the poll off
				p.unread = err.Message + ": the task may be finished, so it was left to be fetched"
			}
			continue
		}
		last, p.unread = u, ""
		d.take(ctx, u)
		switch lacking := d.pendingReason(); {
		case lacking != nil && lacking.Code == media.CodeDiskFull: // polling again at once does not help
			return u, d.leaveResults(lacking)
		case lacking != nil:
			pause = max(every, min(fetchPause<<min(d.updateCount, 10), maxFetchPause))
			continue
		case u.Done:
			return u, nil
		}
		x.show(ctx, &p, d, u)
	}
}

// grace is how long a driver's poll, or a download, may take to return after its time is over.
const grace = time.Second

// callWithGrace returns the result of ask, or the error of ctx if ask ignores the end of ctx. ask then keeps running.
func callWithGrace[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	answer, came := sync.OnceValues(ask), make(chan struct{})
	go func() {
		defer close(came)
		defer func() { _ = recover() }() // the caller panics, if it still waits
		_, _ = answer()
	}()
	select {
	case <-came:
	case <-ctx.Done():
		select {
		case <-came:
		case <-time.After(grace):
			var none T
			return none, ctx.Err()
		}
	}
	return answer()
}

// taskLost ends a task that can no longer be polled. The call is not repeated. A task that its provider accepted may
// have been billed, unless its content was refused; one that the provider no longer knows is no invalid input.
func taskLost(u driver.Update, err *media.Error) driver.Update {
	err.Retryable = false
	if err.Code != media.CodeModerated {
		u.Usage.Unsettled = 1
	}
	if err.Code == media.CodeNotFound || err.Code == media.CodeInvalid {
		err.Code = media.CodeBadResponse
	}
	return u
}

// refused reports whether a poll or a list of tasks failed because of the key or the account.
func refused(err *media.Error) bool {
	return err.Code == media.CodeUnauthorized || err.Code == media.CodeForbidden || err.Code == media.CodeQuotaExceeded
}

func transient(err *media.Error) bool {
	switch err.Code {
	case media.CodeUnavailable, media.CodeRateLimited, media.CodeBadResponse, media.CodeDeadline, media.CodeInternal:
		return true
	default:
		return err.Retryable
	}
}

// previewTime limits the download of one preview, after which the task is polled again.
const previewTime = 5 * time.Second

// show shows the progress of a task, and the preview that it links to if previews are requested and the link is new. It
// is tried once; a preview that fails or is not a picture is ignored.
func (x *execution) show(ctx context.Context, p *polling, d *delivery, u driver.Update) {
	x.emit(ctx, generate.Event{Kind: generate.EventProgress, Progress: u.Progress, Status: generate.StatusRunning})
	link := u.Preview
	if p.task.Partial == nil || link == "" || link == p.seen {
		return
	}
	p.seen = link
	// A preview must not count as a result of the operation.
	scope := media.ScopeOf(ctx)
	scope.Operation = ""
	brief, stop := context.WithTimeout(media.WithScope(ctx, scope), previewTime)
	defer stop()
	got, err := x.downloads.once(d.trusting(brief), link)
	if err != nil || d.validateBlob(got.blob) != nil {
		return
	}
	if shown, _ := x.previews.of(p.call.slots[0]); shown.last.Digest == got.blob.Digest {
		return
	}
	p.task.Partial(1, got.blob)
}

// steps runs driver methods as durable steps of one operation: a step that an earlier process finished returns its
// saved outcome without calling the driver. Errors are those of the driver, with driver.ErrUnsettled or
// driver.ErrContested as their cause if they had it, and media.CodeCorrupt for a saved outcome that cannot be read.
type steps struct{ journal.Journal }

func (s steps) run(ctx context.Context, name step.Name, fn func(context.Context) (driver.Update, error)) (driver.Update, *media.Error) {
	out, err := journal.Do(ctx, s, name, func(ctx context.Context) (out step.ProviderCall[driver.Update], _ error) {
		u, err := fn(ctx)
		out.Update = u.Clean()
		if err == nil {
			return out, nil
		}
		out.Err = fault.Of(err)
		out.Err.Cause = nil
		// A driver's conflict is one at its provider and must not be mistaken for a conflict of two processes over one
		// operation.
		if out.Contested = errors.Is(err, driver.ErrContested) || out.Err.Code == media.CodeConflict; out.Contested {
			out.Err.Code = media.CodeUnavailable
		}
		if errors.Is(err, driver.ErrUnsettled) {
			out.Err.Retryable, out.Update.Usage.Unsettled = false, 1
		}
		return out, nil
	})
	if err != nil {
		return driver.Update{}, fault.Of(err)
	}
	switch { // the cause itself is not saved
	case out.Err == nil:
	case out.Update.Usage.Unsettled > 0:
		out.Err.Cause = driver.ErrUnsettled
	case out.Contested:
		out.Err.Cause = driver.ErrContested
	}
	return out.Update, out.Err
}

// guarded executes a driver's method. A panic becomes an error with that cause.
func guarded(d driver.Driver, cause error, call func() (driver.Update, error)) (u driver.Update, err error) {
	defer func() {
		if p := recover(); p != nil {
			e := media.Defect("the driver for "+d.Provider(), p)
			e.Cause, err = cause, e
		}
	}()
	return call()
}

// start makes the call within the model's timeout, and after the end of ctx within the grace period of [sendContext].
func (s steps) start(ctx context.Context, c call, t driver.Task, name step.Name) (driver.Update, *media.Error) {
	limit := cmp.Or(time.Duration(t.Model.TimeoutSeconds)*time.Second, defaultTimeout)
	u, err := s.run(ctx, name, func(ctx context.Context) (driver.Update, error) {
		call, over := sendContext(ctx, t.Model)
		defer over()
		call, stop := context.WithTimeout(call, limit)
		defer stop()
		u, err := guarded(c.plan.Driver, driver.ErrUnsettled, func() (driver.Update, error) { return c.plan.Driver.Start(call, t) })
		if media.CodeOf(err) == media.CodeCancelled && errors.Is(ctx.Err(), context.DeadlineExceeded) { // the call's own context does not show that
			e := fault.Of(err)
			e.Code, e.Message, e.Cause = media.CodeDeadline, "the time was over before "+t.Model.Name+" answered", err
			return u, e
		}
		return u, err
	})
	if err != nil && err.Code == media.CodeDeadline && ctx.Err() == nil {
		err = media.Errorf(media.CodeDeadline, "%s did not answer within %s; the call may have been billed", t.Model.Name, limit)
	}
	return u, err
}

// pollTask returns the state of a task: from a notification, or from a poll.
func (s steps) pollTask(ctx context.Context, p polling, news driver.Update, number int) (driver.Update, *media.Error) {
	if len(news.Items) > 0 { // an end without results is polled: why is not known
		return news, nil
	}
	return s.run(ctx, step.Name{Kind: step.KindPoll, Call: p.call.number, Index: number}, func(ctx context.Context) (driver.Update, error) {
		brief, stop := context.WithTimeout(ctx, p.limit)
		defer stop()
		if number > 1 {
			brief, stop = context.WithDeadline(brief, p.end)
			defer stop()
		}
		d := p.call.plan.Driver
		u, err := callWithGrace(brief, func() (driver.Update, error) {
			return guarded(d, nil, func() (driver.Update, error) { return d.Poll(brief, p.task, p.handle) })
		})
		if err != nil && brief.Err() != nil && ctx.Err() == nil {
			err = media.Errorf(media.CodeDeadline, "%s did not report the state of a task in time", p.task.Model.Name)
		}
		return u, err
	})
}

// waitForPoll waits until the next poll is due or a notification arrives, which it returns.
func (s steps) waitForPoll(ctx context.Context, pause time.Duration, notices <-chan driver.Update) (news driver.Update) {
	nap, wake := context.WithCancel(ctx)
	defer wake()
	var listening sync.WaitGroup
	listening.Go(func() {
		select {
		case news = <-notices:
			wake()
		case <-nap.Done():
		}
	})
	_ = s.Sleep(nap, pause) // the caller looks at ctx
	wake()
	listening.Wait()
	if len(news.Items) == 0 { // both may have come at once
		select {
		case news = <-notices:
		default:
		}
	}
	return news
}
