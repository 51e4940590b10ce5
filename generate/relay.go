package generate

import (
	"context"
	"time"

	"atelier/journal"
	"atelier/media"
)

// glance is how long is waited for a call that a relay has under way, where nothing is to be
// waited for.
const glance = time.Second

// relay is what carries the calls of the plan; nil if nothing does.
func (p *Plan) relay() journal.Relay { return journal.RelayOf(p.driver) }

// prepare has a call carried, so that its answer is there when this process is not; nil where
// nothing carries it. It comes before the attempt is saved: one that was saved and not
// prepared would be taken for one that may have been sent.
func (x *execution) prepare(c call, a Attempt) *journal.Carried {
	r := c.plan.relay()
	if r == nil {
		return nil
	}
	if err := r.Prepare(a.ID); err != nil {
		x.warn("the relay cannot be used, so a call is lost if this process is killed while it waits for the answer: " + media.Scrub(err.Error()))
		return nil
	}
	return &journal.Carried{ID: a.ID}
}

// forget lets go of a call whose receipt is saved, or that was not made.
func (x *execution) forget(c call, how *journal.Carried) {
	if how == nil {
		return
	}
	x.mu.Lock()
	_, unlogged := x.unlogged[how.ID]
	x.mu.Unlock()
	if !unlogged {
		c.plan.relay().Forget(how.ID)
	}
}

// forgetPast lets go of the calls of earlier processes, when the operation is over.
func (x *execution) forgetPast(ctx context.Context) {
	if x.op.Status == StatusRunning {
		return
	}
	for _, all := range x.past {
		for _, a := range all {
			if r := x.planOf(ctx, a).relay(); r != nil {
				r.Forget(a.ID)
			}
		}
	}
}

// carriedOn is what is left of a call of an earlier process, where a relay knows what became of it.
func (x *execution) carriedOn(ctx context.Context, c call, a Attempt) (b begun, known bool) {
	r := c.plan.relay()
	if r == nil {
		return b, false
	}
	wait := ctx
	if x.once {
		var stop context.CancelFunc
		wait, stop = context.WithTimeout(ctx, glance)
		defer stop()
	}
	switch r.Fate(wait, a.ID) {
	case journal.FateUnsent:
		e := media.Errorf(media.CodeUnavailable, "the process ended before the call was sent")
		e.Retryable = true
		a.Status, a.Error, a.FinishedAt = StatusFailed, slotError(e), x.g.config.Now().UTC()
		x.logAttempt(ctx, a)
		return begun{next: a.Number + 1}, true
	case journal.FateAnswered:
		return begun{next: a.Number, kept: &a}, true
	case journal.FateUnderWay:
		if left(ctx) || ctx.Err() == nil {
			x.fail(ctx, c, 0, x.leave(media.CodeConflict, "leave the call to its relay"))
			return begun{over: true}, true
		}
	case journal.FateUnknown:
	}
	return b, false
}

// relayed tells whether a call goes on, or is answered, though nobody here waits for it.
func (x *execution) relayed(c call, a Attempt) bool {
	r := c.plan.relay()
	if r == nil {
		return false
	}
	now, stop := context.WithCancel(context.Background())
	stop()
	fate := r.Fate(now, a.ID)
	return fate == journal.FateUnderWay || fate == journal.FateAnswered
}

// recall delivers the answer of a call that an earlier process made. What was paid for is kept
// also where nobody wants it any more.
func (x *execution) recall(ctx context.Context, c call, a Attempt) (got int, failed *media.Error) {
	save, done := saving(ctx)
	defer done()
	return x.submit(save, c, x.task(ctx, c), a, &journal.Carried{ID: a.ID, Recalled: true})
}

// unread is for an answer that could not be read, because its request could not be put together
// again: an input is gone, for instance. The call was made all the same.
func unread(why *media.Error) (Update, *media.Error) {
	failed := media.Errorf(media.CodeUnavailable, "the answer of a call that was made could not be read: it may have been billed, so it is not repeated; ask again if you accept that")
	if why != nil {
		failed.Message += " (" + why.Message + ")"
	}
	failed.Cause = ErrUnsettled
	return Update{Done: true, Usage: Usage{Unsettled: 1}}, failed
}
