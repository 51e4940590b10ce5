package generate

import (
	"context"
	"fmt"
	"time"

	"atelier/internal/safehttp"
	"atelier/media"
)

// delivery takes the items of one call as they arrive. Its methods run one at a time.
type delivery struct {
	x     *execution
	call  call
	seen  int // items of the provider, failed ones included
	got   int // results: a grid of items has several
	given int // results that the provider made
	made  int // results that became outputs
	bad   map[Status]int
	why   *SlotError // of the first result that was refused
	last  *Slot      // the newest one, until it is known whether it ends the call

	coming map[string]*arrival // links that are fetched, by their address

	takes   int          // updates with results
	asks    bool         // the task can be asked for new links
	begun   time.Time    // when the call was made; zero means now
	pending []pending    // results that were made and could not be had yet
	blocked *media.Error // why a grid could not be had yet, whose slots are not known before
}

// trusting lets a link lead to the configured address of the provider that gave it.
func (d *delivery) trusting(ctx context.Context) context.Context {
	return safehttp.WithTrusted(ctx, d.x.g.config.Origins[d.call.plan.Model.Provider])
}

// take handles the items that are new in an update, and those that could not be had before:
// asynchronous providers repeat the old ones.
func (d *delivery) take(ctx context.Context, u Update) {
	if d.seen >= len(u.Items) && len(d.pending) == 0 {
		return
	}
	ctx, done := saving(ctx)
	defer done()
	d.takes++
	defer d.fetchAhead(ctx, u)()
	d.retake(ctx, u)
	for d.blocked = nil; d.seen < len(u.Items) && d.blocked == nil; {
		item := u.Items[d.seen]
		if item.Tiles == nil || item.Err != nil {
			d.one(ctx, item, u.Metadata)
		} else {
			d.grid(ctx, item, u.Metadata)
		}
		if d.blocked == nil {
			d.seen++
		}
	}
	if !u.Done {
		d.settle(ctx)
	}
}

// grid turns a grid into its slots; one that could not be had yet blocks what comes after it.
func (d *delivery) grid(ctx context.Context, item Item, said map[string]any) {
	err := d.arrive(ctx, &item)
	var tiles []Item
	if err == nil {
		tiles, err = d.cut(ctx, item, said)
	}
	if err != nil && d.later(item, err) {
		d.blocked = d.withRoom(ctx, err)
		return
	}
	if err != nil {
		tiles = []Item{{Err: err}}
	}
	before := d.given
	for _, tile := range tiles {
		d.one(ctx, tile, said)
	}
	d.given = max(d.given, before+1) // a grid that cannot be cut was made all the same
}

// settle makes the newest slot final.
func (d *delivery) settle(ctx context.Context) {
	if d.last != nil {
		d.x.settleSlot(ctx, *d.last)
		d.last = nil
	}
}

// end writes the receipt of a call; with the newest slot it is one commit.
func (d *delivery) end(ctx context.Context, a Attempt, u Update, failed *media.Error) {
	save, done := saving(ctx)
	defer done()
	d.conclude(save, failed)
	d.x.receive(&a, u, d, failed)
	if d.last == nil {
		d.x.logAttempt(save, a)
		return
	}
	d.x.settleSlot(save, *d.last, func(ctx context.Context) { d.x.logAttempt(ctx, a) })
	d.last = nil
}

// one turns an item into a slot; the one before it is settled. A slot that an earlier
// process filled stays.
func (d *delivery) one(ctx context.Context, item Item, said map[string]any) {
	d.settle(ctx)
	x := d.x
	index := d.place(ctx, &item)
	d.got++
	if item.Err == nil || item.Err.Code == media.CodeDiskFull {
		d.given++
	}
	if x.filled(index) {
		d.made++
		x.credit(index, d.call.plan)
		return
	}
	d.fill(ctx, item, pending{at: d.seen, index: index, item: item}, said)
}

// fill gives a slot its result, or the reason why it has none; one that was made and may be had
// later is pending.
func (d *delivery) fill(ctx context.Context, item Item, at pending, said map[string]any) {
	x, index := d.x, at.index
	s := Slot{
		Index: index, RevisedPrompt: item.RevisedPrompt, Seed: item.Seed, Safety: item.Safety,
	}
	out, err := d.output(ctx, item, index, said)
	if err != nil && d.later(item, err) {
		at.why = d.withRoom(ctx, err)
		d.pending = append(d.pending, at)
		return
	}
	if err != nil {
		d.fail(s, err)
		x.mark(index, item.Err != nil && item.Unbilled)
		return
	}
	x.mark(index, false)
	x.credit(index, d.call.plan)
	d.made++
	s.Status, s.Output = StatusSucceeded, &out
	d.last = &s
}

// place is the slot of the next result: one that was asked for, that of an earlier process where it
// is one beyond those, or a new one.
func (d *delivery) place(ctx context.Context, item *Item) int {
	if d.got < d.call.n() {
		return d.call.slots[d.got]
	}
	x := d.x
	if d.got >= d.call.plan.Model.Grid { // else it was to be expected
		x.warn(fmt.Sprintf("%s gave more than the %d results that a call asked for; all are kept", x.op.Model, d.call.n()))
	}
	if len(x.past[d.call.number]) > 0 && d.arrive(ctx, item) == nil {
		if index := x.spare(*item.Blob); index > 0 {
			return index
		}
	}
	return x.extraSlot()
}

// mark notes whether a slot may be asked for again.
func (x *execution) mark(index int, again bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.again[index] = again
}

// credit notes which model filled a slot.
func (x *execution) credit(index int, p *Plan) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.makers[index] = p
}

// filled reports whether a slot has its output.
func (x *execution) filled(index int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.slots[index-1].Output != nil
}

// status is what became of the call.
func (d *delivery) status(failed *media.Error) Status {
	switch {
	case stillRunning(failed):
		return StatusRunning
	case d.made > 0 && (failed != nil || len(d.bad) > 0 || d.got < d.call.n()):
		return StatusPartial
	case d.made > 0:
		return StatusSucceeded
	case failed != nil:
		return statusOf(failed)
	case d.bad[StatusModerated] > 0 && d.bad[StatusFailed] == 0:
		return StatusModerated
	}
	return StatusFailed
}

// statusOf is the status of a slot with this error.
func statusOf(err *media.Error) Status {
	switch err.Code {
	case media.CodeModerated:
		return StatusModerated
	case media.CodeCancelled:
		return StatusCancelled
	default:
		return StatusFailed
	}
}

// slotError is the part of an error that goes into results.
func slotError(err *media.Error) *SlotError {
	return &SlotError{Code: err.Code, Message: media.ErrorText(err.Message), Retryable: err.Retryable}
}

// spare finds the slot of a result beyond what was asked for that is there already; 0 if it is not.
func (x *execution) spare(b media.Blob) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range x.slots[min(x.op.N, len(x.slots)):] {
		if s.Output != nil && s.Output.Digest == b.Digest {
			return s.Index
		}
	}
	return 0
}

// extraSlot adds a slot for a result beyond what was asked for.
func (x *execution) extraSlot() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.slots = append(x.slots, Slot{Index: len(x.slots) + 1, Status: StatusRunning})
	return len(x.slots)
}

// settleSlot makes a slot final, records it and tells: its output's record, what became of
// it and what else is to be saved are one commit.
func (x *execution) settleSlot(ctx context.Context, s Slot, more ...func(context.Context)) {
	final := s
	x.together(ctx, func(ctx context.Context) {
		final = x.saveSlot(ctx, s)
		for _, save := range more {
			save(ctx)
		}
	})
	s = final
	x.mu.Lock()
	x.slots[s.Index-1] = s
	x.mu.Unlock()
	x.dropFrames(ctx, s)
	x.emit(ctx, Event{Kind: EventSlot, Slot: s.Index, Status: s.Status, Output: s.Output, Error: s.Error, Progress: -1})
}

// saveSlot records the slot's media, or its last preview, and journals the slot.
func (x *execution) saveSlot(ctx context.Context, s Slot) Slot {
	if s.Output != nil {
		o := x.record(ctx, *s.Output)
		s.Output = &o
	} else {
		s = x.keepPreview(ctx, s)
	}
	x.journalSlot(ctx, s)
	return s
}

// journalSlot journals the slot, or notes that it could not be.
func (x *execution) journalSlot(ctx context.Context, s Slot) {
	err := x.g.config.Operations.SlotDone(ctx, x.op.ID, s)
	x.mu.Lock()
	if x.unkept == nil {
		x.unkept = map[int]bool{}
	}
	x.unkept[s.Index] = err != nil
	x.mu.Unlock()
	if err != nil {
		x.warn(fmt.Sprintf("result %d could not be journalled: %s", s.Index, asError(err).Message))
	}
}

// together makes one commit of what fn saves, where the log can. If that comes to nothing,
// each is saved by itself, and warns by itself.
func (x *execution) together(ctx context.Context, fn func(context.Context)) {
	if b, ok := x.g.config.Operations.(Batcher); ok && b.Together(ctx, fn) == nil {
		return
	}
	fn(ctx)
}

// fail ends the slots of a call that nothing came for, unless another process has taken
// them: then they are its to end.
func (x *execution) fail(ctx context.Context, c call, got int, err *media.Error) {
	if taken(ctx) {
		return
	}
	save, done := saving(ctx)
	defer done()
	for _, index := range c.slots[min(got, c.n()):] {
		if x.filled(index) {
			continue
		}
		s := Slot{Index: index, Status: statusOf(err), Error: slotError(err)}
		if stillRunning(err) {
			s = Slot{Index: index, Status: StatusRunning}
		}
		x.settleSlot(save, s)
	}
}

// short ends the slots of a call that succeeded with fewer items than asked for.
func (x *execution) short(ctx context.Context, c call, got int) {
	e := media.Errorf(media.CodeBadResponse, "%s gave %d of %d results and no reason: ask for the missing ones again", c.plan.Model.Name, got, c.n())
	e.Retryable = got > 0 // by hand: see [Gateway.Retry]
	x.fail(ctx, c, got, e)
}
