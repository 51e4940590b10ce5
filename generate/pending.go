package generate

import (
	"cmp"
	"context"
	"errors"
	"time"

	"atelier/media"
)

// defaultLinkLife is how long the link to a result lives at a provider of which that is not known:
// one that is refused before that is asked for again.
const defaultLinkLife = 24 * time.Hour

// pending is a result that its provider made, and that could not be fetched or stored yet.
type pending struct {
	at    int // its place in the provider's list
	index int // its slot
	item  Item
	why   *media.Error
}

// later reports whether a result that could not be had may be had another time: its link may
// work, or there may be a new one, or room to store it.
func (d *delivery) later(item Item, err *media.Error) bool {
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
func (d *delivery) retake(ctx context.Context, u Update) {
	waits := d.pending
	d.pending = nil
	for _, p := range waits {
		d.settle(ctx)
		p.item = p.newest(u)
		d.fill(ctx, p.item, p, u.Metadata)
	}
}

// newest is the result as a newer update has it, whose link may be another one.
func (p pending) newest(u Update) Item {
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

// putOff leaves a call whose results could not be had to whoever goes on with the operation. Where
// nobody can, it is nil, and the results are lost.
func (d *delivery) putOff(why *media.Error) *media.Error {
	x := d.x
	if !x.resumable() {
		return nil
	}
	x.mu.Lock()
	x.aside = "a result is made and paid for, and could not be had yet, so it was left to be fetched (atelier generate --wait " + x.op.ID + "): " + why.Message
	x.mu.Unlock()
	return x.leave(media.CodeDeadline, "leave the results to be fetched")
}

// insist goes on to fetch the results of an answer that has no task to ask again, for as long as
// the model's wait lasts. What could not be had then is lost.
func (d *delivery) insist(ctx context.Context, u Update) {
	x, waited := d.x, time.Duration(0)
	wait := cmp.Or(time.Duration(d.call.plan.Model.WaitSeconds)*time.Second, defaultWait)
	for tries := 0; ; tries++ {
		why := d.lacking()
		if why == nil {
			return
		}
		pause := min(fetchPause<<min(tries, 10), longestFetchPause)
		if waited += pause; waited > wait || x.once || d.hopeless(why) || x.journal.Sleep(ctx, pause) != nil {
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
		waits = append(waits, pending{index: d.place(ctx, &Item{}), why: d.blocked})
		d.got, d.given = d.got+1, d.given+1
	}
	d.blocked = nil
	for _, p := range waits {
		d.settle(ctx)
		if stillRunning(failed) {
			d.x.settleSlot(ctx, Slot{Index: p.index, Status: StatusRunning, Error: slotError(p.why)})
			continue
		}
		why := *p.why
		if failed != nil && gaveUp(failed.Code) {
			why.Code = failed.Code
		}
		what := " --all asks for it again, and it is paid for again"
		if d.asks {
			what = " looks for it there"
		}
		why.Message = "the provider made the result, and it could not be had: " + why.Message + ": it may be billed; atelier operations retry " + d.x.op.ID + what
		why.Cause, why.Retryable = nil, false
		d.fail(Slot{Index: p.index}, &why)
	}
}

// fail makes a slot that has no result the newest one.
func (d *delivery) fail(s Slot, err *media.Error) {
	s.Status, s.Error = statusOf(err), slotError(err)
	if d.bad == nil {
		d.bad = map[Status]int{}
	}
	d.bad[s.Status]++
	if d.why == nil { // a result is not asked for again because the call is
		d.why = &SlotError{Code: s.Error.Code, Message: s.Error.Message}
	}
	d.last = &s
}
