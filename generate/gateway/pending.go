package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/operation"
	"atelier/media"
)

// defaultLinkLife is how long the link to a result lives at a provider of which that is not known:
// one that is refused before that is asked for again.
const defaultLinkLife = 24 * time.Hour

// pending is a result that its provider made, and that could not be fetched or stored yet.
type pending struct {
	at    int // its place in the provider's list
	index int // its slot
	item  driver.Item
	why   *media.Error
}

// later reports whether a result that could not be had may be had another time: its link may
// work, or there may be a new one, or room to store it.
func (d *delivery) later(item driver.Item, err *media.Error) bool {
	switch {
	case err.Code == media.CodeDiskFull:
		return true
	case item.URL == "" || item.Blob != nil:
		return false
	case errors.Is(err, errRefusedLink):
		return d.asks && (!d.expired() || d.takes < 2 && !d.x.once) // by its age it may be another link
	default:
		return passing(err)
	}
}

// expired reports whether links of the call are dead by their age.
func (d *delivery) expired() bool {
	life := cmp.Or(time.Duration(d.call.plan.Model.LinkSeconds)*time.Second, defaultLinkLife)
	return !d.begun.IsZero() && d.x.g.config.Now().Sub(d.begun) > life
}

// retake tries once more for what is pending, by the links of a newer update where it has them.
func (d *delivery) retake(ctx context.Context, u driver.Update) {
	waits := d.pending
	d.pending = nil
	for _, p := range waits {
		d.settle(ctx)
		p.item = p.newest(u)
		d.fill(ctx, p.item, p, u.Metadata)
	}
}

// newest is the result as a newer update has it, whose link may be another one.
func (p pending) newest(u driver.Update) driver.Item {
	if p.at < len(u.Items) && p.item.URL != "" {
		return u.Items[p.at]
	}
	return p.item
}

// lacking is why a result is pending; nil if none is.
func (d *delivery) lacking() *media.Error {
	if len(d.pending) > 0 {
		return d.pending[0].why
	}
	return d.blocked
}

// hopeless reports whether asking again at once is of no use.
func (d *delivery) hopeless(why *media.Error) bool { return why.Code == media.CodeDiskFull }

// putOff leaves a call whose results could not be had to the process that continues the operation. Where
// nobody can, it is nil, and the results are lost.
func (d *delivery) putOff(why *media.Error) *media.Error {
	x := d.x
	if !x.departure.resumable {
		return nil
	}
	return x.departure.leave(media.CodeDeadline, "leave the results to be fetched",
		"a result is made and paid for, but could not be fetched or stored yet, so it was left to be fetched (atelier generate --wait ", x.op.ID, "): ", why.Message)
}

// undecided leaves a call whose answer came and could not be stored, until a person decides whether it is paid
// for again. It is nil for any other call, and where nobody could continue the operation.
func (d *delivery) undecided() *media.Error {
	why := d.lacking()
	if why == nil || why.Code != media.CodeDiskFull || d.asks || !d.x.departure.resumable {
		return nil
	}
	for i := range d.pending {
		d.pending[i].why = d.lost(d.pending[i].why)
	}
	if d.blocked != nil {
		d.blocked = d.lost(d.blocked)
	}
	d.why = slotError(d.lacking())
	return d.x.departure.leave(media.CodeDiskFull, "leave the lost results to a decision")
}

// lost is the error of a result that cannot be fetched again.
func (d *delivery) lost(why *media.Error) *media.Error {
	e := *why
	e.Retryable = false
	e.Message = fmt.Sprintf("the provider made the result, and it could not be stored: %s: the answer cannot be fetched again; atelier operations retry %s --all asks again and pays again, atelier operations cancel %[2]s ends it", why.Message, d.x.op.ID)
	return &e
}

// unanswered reports whether a call was sent and is not over, and has no task to ask for.
func unanswered(a operation.Attempt) bool {
	return a.Status == generate.StatusSubmitted && a.Task == (driver.Handle{})
}

// isLost reports whether the answer of a call came and could not be stored.
func isLost(a operation.Attempt) bool {
	return unanswered(a) && a.Error != nil && a.Error.Code == media.CodeDiskFull
}

// undecided reports whether an operation lacks only answers that came and could not be stored: it waits for
// [Gateway.Retry] under [Again.All], or [Gateway.Cancel].
func (c *claim) undecided() bool {
	lost := false
	for _, a := range c.Attempts {
		if !a.Status.Over() && !isLost(a) {
			return false
		}
		lost = lost || isLost(a)
	}
	return lost && !c.Over()
}

// insist goes on to fetch the results of an answer that has no task to ask again, for as long as
// the model's wait lasts. What could not be had then is lost.
func (d *delivery) insist(ctx context.Context, u driver.Update) {
	x, waited := d.x, time.Duration(0)
	wait := cmp.Or(time.Duration(d.call.plan.Model.WaitSeconds)*time.Second, defaultWait)
	for tries := 0; ; tries++ {
		why := d.lacking()
		if why == nil {
			return
		}
		pause := min(fetchPause<<min(tries, 10), longestFetchPause)
		if waited += pause; waited > wait || x.once || d.hopeless(why) || x.steps.Sleep(ctx, pause) != nil {
			return
		}
		d.take(ctx, u)
	}
}

// conclude ends what is pending: the slots are left, with the reason, where the call is, and lost
// otherwise.
func (d *delivery) conclude(ctx context.Context, failed *media.Error) {
	waits := d.pending
	d.pending = nil
	if d.blocked != nil {
		waits = append(waits, pending{index: d.place(ctx, &driver.Item{}), why: d.blocked})
		d.got, d.given = d.got+1, d.given+1
	}
	d.blocked = nil
	for _, p := range waits {
		d.settle(ctx)
		if stillRunning(failed) {
			d.x.settleSlot(ctx, generate.Slot{Index: p.index, Error: slotError(p.why)}, operation.EventLeave)
			continue
		}
		why := *p.why
		if failed != nil && operation.GaveUp(failed.Code) {
			why.Code = failed.Code
		}
		what := " --all asks for it again, and it is paid for again"
		if d.asks {
			what = " looks for it there"
		}
		why.Message = "the provider made the result, and it could not be fetched or stored: " + why.Message + ": it may be billed; atelier operations retry " + d.x.op.ID + what
		why.Cause, why.Retryable = nil, false
		d.fail(generate.Slot{Index: p.index}, &why)
	}
}

// fail makes a slot that has no result the newest one.
func (d *delivery) fail(s generate.Slot, err *media.Error) {
	s.Error = slotError(err)
	if d.bad == nil {
		d.bad = map[operation.Event]int{}
	}
	d.bad[slotEnd(s)]++
	if d.why == nil { // a result is not asked for again because the call is
		d.why = &generate.SlotError{Code: s.Error.Code, Message: s.Error.Message}
	}
	d.last = &s
}
