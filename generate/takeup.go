package generate

import (
	"cmp"
	"context"
	"slices"

	"atelier/media"
)

// begun is what is left of a call that an earlier process began.
type begun struct {
	// next is the number of the attempt that comes next.
	next int
	// over says that nothing is left.
	over bool
}

// takeUp does what can be done for a call that an earlier process began.
func (x *execution) takeUp(ctx context.Context, c call) begun {
	past := x.past[c.number]
	if len(past) == 0 {
		return begun{next: 1, over: x.cancelled(c)}
	}
	a := past[len(past)-1]
	switch {
	case a.Provider != c.plan.Model.Provider || !slices.Equal(a.Slots, c.slots):
		// An earlier process went another way: what it began cannot be told from here.
		x.fail(ctx, c, 0, attemptError(Attempt{}))
	case a.Status == StatusRunning && a.Task != (Handle{}):
		x.followTask(ctx, c, a, func() {})
	case a.Status == StatusSubmitted && a.Provider == offlineProvider:
		// What is made here costs nothing, so it is made again.
		a.Status, a.Error, a.FinishedAt = StatusFailed, slotError(attemptError(Attempt{})), x.g.config.Now().UTC()
		x.logAttempt(ctx, a)
		return begun{next: len(past) + 1}
	case a.Status == StatusSubmitted:
		x.recover(ctx, c, a)
	case a.Error != nil && a.Error.Retryable && len(past) < x.g.config.MaxAttempts && !x.settled(c):
		return begun{next: len(past) + 1}
	case !x.settled(c):
		x.keep(ctx, c, a)
	}
	return begun{over: true}
}

// keep ends a call that is over, with slots that were not saved: what arrived for them is
// theirs, and the rest fails as the call did.
func (x *execution) keep(ctx context.Context, c call, a Attempt) {
	c.slots = slices.DeleteFunc(slices.Clone(c.slots), x.refused)
	save, done := saving(ctx)
	defer done()
	d := x.gather(save, c)
	d.settle(save)
	x.fail(ctx, c, d.got, attemptError(a))
}

// attemptError is why an earlier process ended an attempt.
func attemptError(a Attempt) *media.Error {
	if a.Error == nil {
		return media.Errorf(media.CodeUnavailable, "the process ended before this result was saved: ask for it again")
	}
	return media.Errorf(a.Error.Code, "%s", a.Error.Message)
}

// cancelled reports whether a call was given up before it began: nobody wants its results
// any more, see [ErrLetGo].
func (x *execution) cancelled(c call) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !slices.ContainsFunc(c.slots, func(index int) bool { return x.slots[index-1].Status != StatusCancelled })
}

// settled reports whether every slot of a call is final.
func (x *execution) settled(c call) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, index := range c.slots {
		if s := x.slots[index-1]; s.Output == nil && s.Error == nil {
			return false
		}
	}
	return true
}

// followTask polls a task that an earlier process started; begin is as for poll.
func (x *execution) followTask(ctx context.Context, c call, a Attempt, begin func()) {
	d := delivery{x: x, call: c, begun: a.StartedAt}
	p := polling{call: c, task: x.task(ctx, c), handle: a.Task}
	if x.once {
		p.task.Model.WaitSeconds = cmp.Or(p.task.Model.PollSeconds, int(defaultPoll.Seconds())) // a poll comes after a pause
	}
	u, failed := x.poll(ctx, p, &d, begin)
	d.end(ctx, a, u, failed)
	switch {
	case failed != nil:
		x.fail(ctx, c, d.got, failed)
	case d.got < c.n():
		x.short(ctx, c, d.got)
	}
}

// gather gives a call what arrived for it and was not saved as its results.
func (x *execution) gather(ctx context.Context, c call) *delivery {
	d := &delivery{x: x, call: c}
	for _, index := range c.slots {
		if x.filled(index) {
			d.got, d.given, d.made = d.got+1, d.given+1, d.made+1
			continue
		}
		b, ok := x.adrift()
		if !ok {
			break
		}
		if x.framed() {
			x.partial(ctx, c, slices.Index(c.slots, index)+1, b) // nobody knows whether it is the picture or a frame before it
			break
		}
		d.one(ctx, Item{Blob: &b}, nil)
	}
	return d
}

// adopt gives a call that was sent and not answered what arrived for it.
func (x *execution) adopt(ctx context.Context, c call, a Attempt) {
	save, done := saving(ctx)
	defer done()
	d := x.gather(save, c)
	u := Update{}
	failed := media.Errorf(media.CodeUnavailable,
		"the process ended while %s was at work: the call may have been billed, so it is not repeated; ask again if you accept that", c.plan.Model.Name)
	if ctx.Err() != nil { // nobody wants it any more
		failed.Code = asError(ctx.Err()).Code
	}
	failed.Cause, failed.Retryable = ErrUnsettled, false
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

// refused reports whether a slot has its error.
func (x *execution) refused(index int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.slots[index-1].Error != nil
}

// framed reports whether what arrived for the operation may be frames of previews.
func (x *execution) framed() bool {
	for _, all := range x.past {
		if x.plan.frames && slices.ContainsFunc(all, func(a Attempt) bool { return x.modelOf(a).streams() }) {
			return true
		}
	}
	return false
}

// adrift gives one of the blobs of the earlier process; the newest, where they may be frames.
func (x *execution) adrift() (media.Blob, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.lost) == 0 {
		return media.Blob{}, false
	}
	at := 0
	if x.framed() {
		at = len(x.lost) - 1
	}
	b := x.lost[at]
	x.lost = slices.Delete(x.lost, at, at+1)
	return b, true
}
