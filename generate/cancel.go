package generate

import (
	"context"
	"slices"
	"time"

	"atelier/journal"
	"atelier/media"
)

// hearTime is how long another process may take to hear that it lost the right to work on an
// operation, and to stop: it asks for that right three times in [holdTime].
const hearTime = holdTime / 2

// Cancel gives up an operation that is not finished, whether another process works on it or
// none does. The other one is told to stop and leaves everything as it is, which takes five
// seconds; a task at a provider is cancelled where its driver can, and counts as one that may have
// been billed where it cannot; so does a call that was sent and not answered. What was reserved is given back. Results that are there stay. Nothing is asked for, so neither a key nor the
// provider is needed. What was cancelled before gives its result. ctx has the owner in its scope.
//
// It is for people, who end what they see. [Gateway.Abandon] is for a program that clears up behind
// its work: that takes nothing from a living process and refuses nothing that has ended.
//
// Errors: media.CodeNotFound for an unknown operation; media.CodeConflict for one that ended
// otherwise, and for one that this very gateway works on: there its own context ends it;
// media.CodeUnsupported if the log cannot resume.
func (g *Gateway) Cancel(ctx context.Context, operation string) (*Result, error) {
	log, ok := g.config.Operations.(Resumer)
	if !ok {
		return nil, media.Errorf(media.CodeUnsupported, "this gateway keeps no operations that can be cancelled")
	}
	saved, err := log.Saved(ctx, operation)
	if err != nil {
		return nil, err
	}
	if !saved.Operation.FinishedAt.IsZero() {
		return cancelled(resultOf(saved))
	}
	if err := g.here.enter(operation); err != nil {
		return nil, err
	}
	defer g.here.leave(operation)
	if err := g.seize(ctx, log, operation); err != nil {
		return nil, err
	}
	// What was read before the right to work on it may be old.
	if saved, err = log.Saved(ctx, operation); err != nil {
		return nil, g.release(ctx, log, operation, err)
	}
	if !saved.Operation.FinishedAt.IsZero() {
		_ = g.release(ctx, log, operation, nil) // it ends by itself
		return cancelled(resultOf(saved))
	}
	return cancelled(g.stop(ctx, saved))
}

// cancelled is the result of an operation that was cancelled, and an error for any other.
func cancelled(res *Result) (*Result, error) {
	if res.Status != StatusCancelled {
		return nil, media.Errorf(media.CodeConflict, "operation %s is over (%s): there is nothing to cancel", res.Operation, res.Status)
	}
	return res, nil
}

// seize takes the right to work on an operation, from another process too: that one is given
// the time to hear of it.
func (g *Gateway) seize(ctx context.Context, log Resumer, operation string) error {
	take := func() error { return log.Hold(ctx, operation, g.holder, g.config.Now().Add(holdTime)) }
	err := take()
	if media.CodeOf(err) != media.CodeConflict {
		return err
	}
	for range 3 { // another one may come between
		saved, failed := log.Saved(ctx, operation)
		if failed != nil {
			return failed
		}
		// In its name: a conflict is that it gave it up meanwhile.
		if by := saved.Operation.Holder; by != "" {
			err = log.Hold(ctx, operation, by, time.Time{})
		}
		if err == nil || media.CodeOf(err) == media.CodeConflict {
			err = take()
		}
		if media.CodeOf(err) != media.CodeConflict {
			break
		}
	}
	if err != nil {
		return err
	}
	if err := (journal.Memory{}).Sleep(ctx, hearTime); err != nil {
		return g.release(ctx, log, operation, asError(err))
	}
	return take()
}

// stop ends an operation that nobody else works on any more: calls that are under way, with
// whatever model, then the results that were never asked for.
func (g *Gateway) stop(ctx context.Context, saved *Saved) *Result {
	op := saved.Operation
	p, err := g.planned(op.Request)
	if err != nil { // what was asked is not known any more, what was done is
		row, _ := g.config.Catalogue.of(op.Provider, op.APIModel)
		row.Name, row.Provider, row.APIModel, row.MaxN = op.Model, op.Provider, op.APIModel, max(row.MaxN, 1)
		p = &Plan{Model: row}
	}
	x := g.recollect(ctx, p, saved)
	x.journal, x.stopped = journal.Memory{}, true
	scope := saved.Scope
	scope.Operation = op.ID
	held, release := x.hold(media.WithScope(ctx, scope))
	defer release()
	ended, end := context.WithCancel(held)
	end()
	for _, a := range saved.Attempts {
		switch c := (call{plan: x.planOf(ended, a), number: a.Call, slots: a.Slots}); {
		case a.FinishedAt.IsZero():
			x.stopCall(ended, c, a)
		case a.Status == StatusSucceeded && !x.settled(c):
			x.keep(ended, c, a) // its results could not be saved
		}
	}
	save, done := saving(ended)
	defer done()
	for _, s := range slices.Clone(x.slots) {
		if s.Output == nil && s.Error == nil {
			x.settleSlot(save, Slot{Index: s.Index, Status: StatusCancelled, Error: slotError(asError(ended.Err()))})
		}
	}
	return x.finish(ended)
}

// stopCall ends a call that is under way; what came of it is kept.
func (x *execution) stopCall(ended context.Context, c call, a Attempt) {
	if a.Provider == offlineProvider { // nobody is at work
		a.Status, a.Error, a.FinishedAt = StatusCancelled, slotError(asError(ended.Err())), x.g.config.Now().UTC()
		x.logAttempt(ended, a)
		return
	}
	if c.plan.driver == nil {
		if c.plan.driver = x.g.drivers[a.Provider]; c.plan.driver == nil {
			c.plan.driver = absent{}
		}
	}
	if a.Task == (Handle{}) {
		x.adopt(ended, c, a)
		return
	}
	x.followTask(ended, c, a, func() {})
}

// absent stands for a provider that the program knows no more. Nothing but Cancel is asked of it.
type absent struct{ Driver }

// Cancel is media.CodeUnsupported.
func (absent) Cancel(context.Context, Handle) error {
	return media.Errorf(media.CodeUnsupported, "the provider is not set up any more, so its task cannot be stopped")
}
