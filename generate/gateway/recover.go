package gateway

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
	"atelier/generate/operation"
	"atelier/generate/plan"
	"atelier/media"
)

// resumeCall recovers a call that an earlier process started, as far as possible. It returns the number of the next
// attempt; 0 if nothing remains to do.
func (x *execution) resumeCall(ctx context.Context, c call) (next int) {
	past := x.history.attempts[c.number]
	if len(past) == 0 {
		if slices.ContainsFunc(c.slots, func(index int) bool { return x.board.slot(index).Status != generate.StatusCancelled }) {
			return 1
		}
		return 0
	}
	a := past[len(past)-1]
	switch {
	case a.Provider != c.plan.Model.Provider || !slices.Equal(a.Slots, c.slots):
		// An earlier process took another path; its call cannot be continued from here.
		x.fail(ctx, c, 0, attemptError(operation.Attempt{}))
	case a.Status == generate.StatusRunning && a.Task != (driver.Handle{}):
		x.followTask(ctx, c, a, func() {})
	case a.Status == generate.StatusSubmitted && a.Provider == plan.Offline:
		// Offline results cost nothing, so they are made again.
		x.recorder.end(ctx, a, operation.EventFail, attemptError(operation.Attempt{}))
		return len(past) + 1
	case isLost(a):
		x.endUnansweredCall(ctx, c, a)
	case a.Status == generate.StatusSubmitted: // sent, or about to be sent, and not answered
		h, elsewhere := x.findTask(ctx, c, a)
		switch {
		case elsewhere != nil:
			x.fail(ctx, c, 0, elsewhere)
		case h == (driver.Handle{}):
			x.endUnansweredCall(ctx, c, a)
		default:
			a.Task, a.Status = h, x.notes.next(operation.SubjectAttempt, a.Status, operation.EventName)
			x.followTask(ctx, c, a, func() { x.recorder.call(ctx, a) })
		}
	case a.Error != nil && a.Error.Retryable && len(past) < x.g.config.MaxAttempts && !x.board.settled(c.slots):
		return len(past) + 1
	case !x.board.settled(c.slots):
		x.settleUnsavedCall(ctx, c, a)
	}
	return 0
}

// settleUnsavedCall ends a finished call whose slots were not saved: they get the results that arrived for them, and
// the remaining slots fail with the call's error.
func (x *execution) settleUnsavedCall(ctx context.Context, c call, a operation.Attempt) {
	c.slots = slices.DeleteFunc(slices.Clone(c.slots), func(index int) bool { return x.board.slot(index).Error != nil })
	save, done := saveContext(ctx)
	defer done()
	d := x.gather(save, c)
	d.settle(save)
	x.fail(ctx, c, d.got, attemptError(a))
}

func attemptError(a operation.Attempt) *media.Error {
	if a.Error == nil {
		return media.Errorf(media.CodeUnavailable, "the process ended before this result was saved: ask for it again")
	}
	return media.Errorf(a.Error.Code, "%s", a.Error.Message)
}

// followTask polls a task that an earlier process started; begin is as for poll.
func (x *execution) followTask(ctx context.Context, c call, a operation.Attempt, begin func()) {
	d := delivery{x: x, call: c, begun: a.StartedAt}
	p := polling{call: c, task: x.task(ctx, c), handle: a.Task}
	if x.once {
		p.task.Model.WaitSeconds = cmp.Or(p.task.Model.PollSeconds, int(defaultPoll.Seconds())) // each poll is preceded by a pause
	}
	u, failed := x.poll(ctx, p, &d, begin)
	d.end(ctx, a, u, failed)
	switch {
	case failed != nil:
		x.fail(ctx, c, d.got, failed)
	case d.got < c.n():
		x.fail(ctx, c, d.got, c.missingResultsError(d.got))
	}
}

// gather delivers the unsaved results that arrived for a call.
func (x *execution) gather(ctx context.Context, c call) *delivery {
	d := &delivery{x: x, call: c}
	for _, index := range c.slots {
		if x.board.slot(index).Output != nil {
			d.got, d.producedCount, d.outputCount = d.got+1, d.producedCount+1, d.outputCount+1
			continue
		}
		b, ok := x.history.take(x.chain.framed())
		if !ok {
			break
		}
		if x.chain.framed() {
			x.partial(ctx, c, slices.Index(c.slots, index)+1, b) // it may be the picture or an earlier frame
			break
		}
		d.deliverItem(ctx, driver.Item{Blob: &b}, nil)
	}
	return d
}

// endUnansweredCall ends a call that was sent and not answered, with the results that arrived for it.
func (x *execution) endUnansweredCall(ctx context.Context, c call, a operation.Attempt) {
	save, done := saveContext(ctx)
	defer done()
	d := x.gather(save, c)
	u := driver.Update{}
	failed := media.Errorf(media.CodeUnavailable,
		"the process ended while %s was at work: the call may have been billed, so it is not repeated; ask again if you accept that", c.plan.Model.Name)
	if isLost(a) {
		u.Usage, u.ReportedUSD, failed = a.Usage, a.ReportedUSD, attemptError(a)
	}
	if ctx.Err() != nil { // the caller has given up
		failed.Code = fault.Of(ctx.Err()).Code
	}
	failed.Cause, failed.Retryable = driver.ErrUnsettled, false
	if d.got >= c.n() {
		failed = nil
	} else {
		u.Usage.Unsettled = 1
	}
	d.end(ctx, a, u, failed)
	if failed != nil {
		x.fail(ctx, c, d.got, failed)
	}
}

const (
	// maxLookups is how many lists without the task are read; the provider may still be processing the request.
	maxLookups = 3
	// findTimeout limits the wait for a list that does not come: what caused the lost answer often persists for a
	// while.
	findTimeout = time.Minute
	// lookupTimeout limits one look; maxLookupPause limits the pause before the next one.
	lookupTimeout, maxLookupPause = 30 * time.Second, 10 * time.Second
)

// findTask asks for the task of a call whose answer was lost. It returns zero if the provider lists no matching task,
// or several. The error says that another process continues the call, or waits until the provider accepts the key: a
// list that refuses the key says nothing about the task.
func (x *execution) findTask(ctx context.Context, c call, a operation.Attempt) (driver.Handle, *media.Error) {
	d, ok := c.plan.Driver.(driver.Listed)
	if !ok {
		return driver.Handle{}, nil
	}
	t := x.task(ctx, c)
	t.Key = a.Key
	every := cmp.Or(time.Duration(t.Model.PollSeconds)*time.Second, defaultPoll)
	read, pause, waited := 0, time.Duration(0), time.Duration(0)
	for ctx.Err() == nil {
		h, err := x.g.lookUpTask(ctx, d, t, a.StartedAt)
		if err == nil {
			read++
		}
		if h != (driver.Handle{}) {
			return h, nil
		}
		if err != nil && ctx.Err() == nil && refused(fault.Of(err)) && x.departure.resumable {
			return driver.Handle{}, x.departure.leave(media.CodeOf(err), "leave the task to its provider", fault.Of(err).Message, ": the answer of a call was lost, and only the provider's list of tasks shows whether the call arrived, so it was left to be looked for once the provider accepts the key")
		}
		pause = min(pause+every, maxLookupPause)
		waited += pause
		if err != nil && !transient(fault.Of(err)) || read == maxLookups || waited > findTimeout || x.steps.Sleep(ctx, pause) != nil {
			break
		}
	}
	if handedOver(ctx) {
		return driver.Handle{}, x.departure.ended(ctx)
	}
	return driver.Handle{}, nil
}

// lookUpTask asks once. It ignores tasks that the log knows, since they belong to other calls.
func (g *Gateway) lookUpTask(ctx context.Context, d driver.Listed, t driver.Task, since time.Time) (_ driver.Handle, err error) {
	defer media.CatchPanic(&err, "the driver for "+d.Provider())
	ctx, stop := context.WithTimeout(ctx, lookupTimeout)
	defer stop()
	all, err := driver.Find(ctx, d, t, since)
	if err != nil {
		return driver.Handle{}, err
	}
	if g.resumer != nil {
		all = slices.DeleteFunc(all, func(h driver.Handle) bool {
			_, _, unknown := g.resumer.OperationOfTask(ctx, t.Model.Provider, h.ID)
			if media.CodeOf(unknown) != media.CodeNotFound {
				err = errors.Join(err, unknown)
				return true
			}
			return false
		})
	}
	if err != nil || len(all) != 1 {
		return driver.Handle{}, err
	}
	return all[0], nil
}
