package generate

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
		x.warn("the relay cannot be used, so a call is lost if this process is killed while it waits for the answer: " + media.ErrorText(err.Error()))
		return nil
	}
	return &journal.Carried{ID: a.ID}
}

// forget releases a call whose receipt or whose task is saved, or that was not made.
func (x *execution) forget(c call, a Attempt) {
	r := c.plan.relay()
	if r == nil {
		return
	}
	x.mu.Lock()
	_, unlogged := x.unlogged[a.ID]
	x.mu.Unlock()
	if !unlogged {
		r.Forget(a.ID)
	}
}

// forgetPast releases the calls of earlier processes, when the operation is over. Those that were given
// up stay, while a result of theirs is missing: [Gateway.Retry] asks for their answers.
func (x *execution) forgetPast(ctx context.Context) {
	if x.op.Status == StatusRunning {
		return
	}
	for _, all := range x.past {
		for _, a := range all {
			if r := x.planOf(ctx, a).relay(); r != nil && !x.awaited(a) {
				r.Forget(a.ID)
			}
		}
	}
}

// awaited reports whether a call was given up and its answer would still be of use.
func (x *execution) awaited(a Attempt) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(a.Slots, func(index int) bool {
		return index <= len(x.slots) && x.slots[index-1].Output == nil && (x.unsettled[index] || a.Usage.Unsettled > 0)
	})
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
		letGo := !left(ctx) && errors.Is(context.Cause(ctx), ErrLetGo) && x.resumable()
		if letGo {
			x.mu.Lock()
			x.aside = c.plan.Model.Name + " is still at work: what is under way there goes on and is billed, so it was left to be fetched"
			x.mu.Unlock()
		}
		if letGo || left(ctx) || ctx.Err() == nil {
			x.fail(ctx, c, 0, x.leave(media.CodeConflict, "leave the call to its relay"))
			return begun{over: true}, true
		}
	case journal.FateUnknown:
	}
	return b, false
}

// relayed reports whether a call goes on, or is answered, though nobody here waits for it.
func (x *execution) relayed(ctx context.Context, c call, a Attempt) bool {
	fate := x.fate(ctx, c, a)
	return fate == journal.FateUnderWay || fate == journal.FateAnswered
}

// fate is what became of a call so far, where a relay carries it.
func (x *execution) fate(ctx context.Context, c call, a Attempt) journal.Fate {
	r := c.plan.relay()
	if r == nil {
		return journal.FateUnknown
	}
	now, stop := context.WithCancel(context.WithoutCancel(ctx))
	stop()
	return r.Fate(now, a.ID)
}

// recall delivers the answer of a call that an earlier process made.
func (x *execution) recall(ctx context.Context, c call, a Attempt) (got int, failed *media.Error) {
	return x.submit(ctx, c, x.task(ctx, c), a, &journal.Carried{ID: a.ID, Recalled: true})
}

// told has an answer given once more. What was paid for is kept also where nobody wants it any more.
func (x *execution) told(ctx context.Context, how *journal.Carried, step string, begin func(context.Context) (Update, error)) (Update, *media.Error) {
	save, done := saving(ctx)
	defer done()
	heard := false // what came of it is known
	if r, ok := x.journal.(journal.Recaller); ok {
		heard = r.Knows(step)
	}
	var why error
	u, failed := x.step(save, step, func(ctx context.Context) (u Update, err error) {
		u, err = begin(ctx)
		if !how.Used() {
			u, err = Update{Done: true}, unread(err)
		}
		heard, why = true, err
		return u, err
	})
	if failed != nil && (!heard || how.Used() && why == nil) { // the journal did not take it
		return Update{Done: true, Usage: Usage{Unsettled: 1}}, unread(failed)
	}
	return u, failed
}

// errUntold is the cause where an answer is kept and could not be had.
var errUntold = fmt.Errorf("not told: %w", ErrUnsettled)

// unread is for an answer that could not be had, because its request could not be put together
// again: the key is gone, for instance. The call was made all the same, and its answer stays where it is.
func unread(why error) *media.Error {
	failed := media.Errorf(media.CodeUnavailable, "the answer of a call that was made could not be read: it may have been billed, so it is not repeated; ask again, and it is looked for first")
	if why != nil {
		failed.Message += " (" + asError(why).Message + ")"
	}
	failed.Cause, failed.Retryable = errUntold, false
	return failed
}

// untold reports whether an answer is still to be had after a call that was recalled.
func untold(how *journal.Carried, u Update, failed *media.Error) bool {
	return how != nil && how.Recalled && u.Usage.Unsettled > 0 && (!how.Used() || errors.Is(failed, errUntold))
}
