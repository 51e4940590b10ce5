package gateway

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/operation"
	"atelier/internal/safehttp"
	"atelier/media"
)

// delivery receives the items of one call as they arrive. Its methods run one at a time.
type delivery struct {
	x             *execution
	call          call
	seen          int                 // provider items received, including failed ones
	got           int                 // results: a grid of items has several
	producedCount int                 // results that the provider made
	outputCount   int                 // results that have become outputs
	bad           []operation.Event   // the ends of results that were refused
	why           *generate.SlotError // of the first result that was refused
	last          *generate.Slot      // the newest one, not final until it is known whether it ends the call

	inFlight map[string]*linkDownload // downloads in progress, by URL

	updateCount int          // updates with results
	pollable    bool         // the task can be asked for new links
	begun       time.Time    // when the call was made; zero means the present
	pending     []pending    // results that were made but not yet fetched or stored
	blocked     *media.Error // why a grid could not be fetched yet; its slots are not known before
}

// trusting allows links to lead to the configured address of the provider that returned them.
func (d *delivery) trusting(ctx context.Context) context.Context {
	return safehttp.WithTrusted(ctx, d.x.g.config.Origins[d.call.plan.Model.Provider])
}

// take handles the new items of an update, and those that could not be fetched before. Asynchronous providers repeat
// old items.
func (d *delivery) take(ctx context.Context, u driver.Update) {
	if d.seen >= len(u.Items) && len(d.pending) == 0 {
		return
	}
	ctx, done := saveContext(ctx)
	defer done()
	d.updateCount++
	defer d.fetchAhead(ctx, u)()
	waits := d.pending
	d.pending = nil
	for _, p := range waits { // by the links of this update if it has them
		d.settle(ctx)
		p.item = p.newest(u)
		d.fill(ctx, p.item, p, u.Metadata)
	}
	for d.blocked = nil; d.seen < len(u.Items) && d.blocked == nil; {
		item := u.Items[d.seen]
		if item.Tiles == nil || item.Err != nil {
			d.deliverItem(ctx, item, u.Metadata)
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

// grid splits a grid into its slots. A grid that could not be fetched yet blocks the items after it.
func (d *delivery) grid(ctx context.Context, item driver.Item, metadata map[string]any) {
	err := d.ensureBlob(ctx, &item)
	var tiles []driver.Item
	if err == nil {
		tiles, err = d.cut(ctx, item, metadata)
	}
	if err != nil && d.isAvailableLater(item, err) {
		d.blocked = d.withRequiredSpace(err)
		return
	}
	if err != nil {
		tiles = []driver.Item{{Err: err}}
	}
	before := d.producedCount
	for _, tile := range tiles {
		d.deliverItem(ctx, tile, metadata)
	}
	d.producedCount = max(d.producedCount, before+1) // a grid that cannot be cut was still made
}

// settle makes the newest slot final.
func (d *delivery) settle(ctx context.Context) {
	if d.last != nil {
		d.x.settleSlot(ctx, *d.last, slotEnd(*d.last))
		d.last = nil
	}
}

// end writes the receipt of a call, in one commit with the newest slot.
func (d *delivery) end(ctx context.Context, a operation.Attempt, u driver.Update, failed *media.Error) {
	x := d.x
	save, done := saveContext(ctx)
	defer done()
	d.conclude(save, failed)
	// Some providers report the price only when the task starts.
	a.Usage, a.ReportedUSD = u.Usage, cmp.Or(reported(d.call.plan.Model, u), a.ReportedUSD)
	if a.Usage.Calls == 0 {
		a.Usage.Calls = 1
	}
	if a.Usage.Images == 0 {
		a.Usage.Images = d.producedCount
	}
	a.Error = d.why
	a.Status = x.notes.next(operation.SubjectAttempt, a.Status, d.outcome(failed))
	if failed != nil && !stillRunning(failed) {
		a.Error = slotError(failed)
	}
	if a.Status.Finished() {
		a.FinishedAt = x.g.config.Now().UTC()
	}
	x.notes.add(u.Metadata)
	x.bill.Count(d.call.plan, a)
	if u.Usage.Unsettled > 0 {
		x.board.markUnsettled(d.call.slots)
	}
	if d.last == nil {
		x.recorder.call(save, a)
		return
	}
	x.settleSlot(save, *d.last, slotEnd(*d.last), func(ctx context.Context) { x.recorder.call(ctx, a) })
	d.last = nil
}

// deliverItem turns an item into a slot and settles the previous one. A slot that an earlier process filled is kept.
func (d *delivery) deliverItem(ctx context.Context, item driver.Item, metadata map[string]any) {
	d.settle(ctx)
	x := d.x
	index := d.place(ctx, &item)
	d.got++
	if item.Err == nil || item.Err.Code == media.CodeDiskFull {
		d.producedCount++
	}
	if x.board.slot(index).Output != nil {
		d.outputCount++
		x.board.change(func(s *slotState) { s.maker = d.call.plan }, index)
		return
	}
	d.fill(ctx, item, pending{at: d.seen, index: index, item: item}, metadata)
}

// fill sets a slot's result, or its error. A result that was made but may only be available later becomes pending.
func (d *delivery) fill(ctx context.Context, item driver.Item, at pending, metadata map[string]any) {
	x, index := d.x, at.index
	s := generate.Slot{
		Index: index, RevisedPrompt: item.RevisedPrompt, Seed: item.Seed, Safety: item.Safety,
	}
	out, err := d.output(ctx, item, index, metadata)
	if err != nil && d.isAvailableLater(item, err) {
		at.why = d.withRequiredSpace(err)
		d.pending = append(d.pending, at)
		return
	}
	if err != nil {
		d.fail(s, err)
		x.board.change(func(s *slotState) { s.unbilled = item.Err != nil && item.Unbilled }, index)
		return
	}
	x.board.change(func(s *slotState) { s.unbilled, s.maker = false, d.call.plan }, index)
	d.outputCount++
	s.Output = &out
	d.last = &s
}

// place returns the slot of the next result: a requested one, an extra one of an earlier process, or a new one.
func (d *delivery) place(ctx context.Context, item *driver.Item) int {
	if d.got < d.call.n() {
		return d.call.slots[d.got]
	}
	x := d.x
	if d.got >= d.call.plan.Model.Grid { // else it was expected
		x.notes.warn(fmt.Sprintf("%s returned more than the %d requested results; all are kept", x.op.Model, d.call.n()))
	}
	if len(x.history.attempts[d.call.number]) > 0 && d.ensureBlob(ctx, item) == nil {
		if index := x.board.extraOf(*item.Blob); index > 0 {
			return index
		}
	}
	return x.board.add(operation.EventExtra)
}

func (d *delivery) outcome(failed *media.Error) operation.Event {
	switch {
	case stillRunning(failed):
		return operation.EventLeave
	case d.outputCount > 0 && (failed != nil || len(d.bad) > 0 || d.got < d.call.n()):
		return operation.EventSucceedInPart
	case d.outputCount > 0:
		return operation.EventSucceed
	case failed != nil:
		return endOf(failed.Code)
	case slices.Contains(d.bad, operation.EventModerate) && !slices.Contains(d.bad, operation.EventFail):
		return operation.EventModerate
	}
	return operation.EventFail
}

func slotEnd(s generate.Slot) operation.Event {
	if s.Output != nil {
		return operation.EventSucceed
	}
	return endOf(s.Error.Code)
}

func endOf(c media.Code) operation.Event {
	switch c {
	case media.CodeModerated:
		return operation.EventModerate
	case media.CodeCancelled:
		return operation.EventCancel
	default:
		return operation.EventFail
	}
}

// slotError converts an error to the form that results contain.
func slotError(err *media.Error) *generate.SlotError {
	return &generate.SlotError{Code: err.Code, Message: media.ErrorText(err.Message), Retryable: err.Retryable}
}

// settleSlot makes a slot final, or leaves it, records it and emits an event. The record of its output, the slot and
// the other saves (more) are one commit.
func (x *execution) settleSlot(ctx context.Context, s generate.Slot, e operation.Event, more ...func(context.Context)) {
	s.Status = x.notes.next(operation.SubjectSlot, x.board.slot(s.Index).Status, e)
	final := s
	save := func(ctx context.Context) {
		final = s
		if s.Output != nil {
			final.Output = new(x.recorder.output(ctx, *s.Output))
		} else {
			final = x.keepPreview(ctx, s)
		}
		x.recorder.slot(ctx, final)
		for _, also := range more {
			also(ctx)
		}
	}
	// If they cannot be saved together, each part is saved separately, with its own warning.
	if log, ok := x.recorder.log.(operation.Batcher); !ok || log.InTransaction(ctx, save) != nil {
		save(ctx)
	}
	s = final
	x.board.put(s)
	x.previews.drop(ctx, s)
	x.emit(ctx, generate.Event{Kind: generate.EventSlot, Slot: s.Index, Status: s.Status, Output: s.Output, Error: s.Error, Progress: -1})
}

// fail ends the slots of a call that have no result, unless another process has taken the operation: it ends them then.
func (x *execution) fail(ctx context.Context, c call, got int, err *media.Error) {
	if leaseTaken(ctx) {
		return
	}
	save, done := saveContext(ctx)
	defer done()
	for _, index := range c.slots[min(got, c.n()):] {
		if x.board.slot(index).Output != nil {
			continue
		}
		if stillRunning(err) {
			x.settleSlot(save, generate.Slot{Index: index}, operation.EventLeave)
			continue
		}
		s := generate.Slot{Index: index, Error: slotError(err)}
		x.settleSlot(save, s, slotEnd(s))
	}
}

// missingResultsError is the error for the missing results of a call that succeeded with fewer items than requested.
func (c call) missingResultsError(got int) *media.Error {
	e := media.Errorf(media.CodeBadResponse, "%s returned %d of %d results without a reason: request the missing ones again", c.plan.Model.Name, got, c.n())
	e.Retryable = got > 0 // by a person: see [Gateway.Retry]
	return e
}
