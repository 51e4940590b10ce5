package generate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"atelier/media"
)

// Again says which failed results of a finished operation are asked for again.
type Again struct {
	// Operation is the operation's id.
	Operation string
	// All asks also for results that were moderated, cancelled or deleted, and for those
	// whose call was billed or may have been: that can pay for them a second time.
	All bool
}

// round is the part of an operation that is done again after it was finished.
type round struct {
	// First is the number of its first call; those below are of earlier rounds, and paid.
	First int `json:"first"`
	// Slots are the indexes, from 1, that are asked for again.
	Slots []int `json:"slots"`
	// Before is what the budgets counted when the operation was cut off, see rejoin; nil
	// for a round that was asked for.
	Before *Charge `json:"before,omitempty"`
	// Found says that nothing is asked for again: the first call, of an earlier round, is gone
	// on with, because its task was found.
	Found bool `json:"found,omitempty"`
}

// Retry asks again for the results that failed in a finished operation and waits for them
// as [Gateway.Generate] does. They keep their slots beside those that are there, which are
// never asked for twice; the new calls are attempts of the same operation, with their own
// idempotency keys, against the same budgets. Before that, results whose call may have been
// billed are looked for at a provider that is [Listed]. What is
// there is fetched, without a call and without new money; so is the result of a task that its provider still
// has. An operation that is not finished is gone on with, as by [Gateway.Resume]. Asked for are results whose error is
// retryable or whose call was not billed, see [Again.All] for the others. An operation
// that has all its results gives them, without a call. A process that dies here leaves
// an operation that [Gateway.Resume] goes on with. ctx has the owner in its scope.
//
// Errors: media.CodeNotFound for an unknown operation, media.CodeConflict for one that
// somebody works on, media.CodeUnsupported if the log cannot
// resume, media.CodeInvalid if only results are missing that need [Again.All], or the code of
// the list that could not be read to look for them (a key that is refused:
// media.CodeUnauthorized), media.CodeMissingKey, media.CodeOverBudget.
func (g *Gateway) Retry(ctx context.Context, again Again) (*Result, error) {
	log, ok := g.config.Operations.(Resumer)
	if !ok {
		return nil, media.Errorf(media.CodeUnsupported, "this gateway keeps no operations that can be asked for again")
	}
	saved, err := log.Saved(ctx, again.Operation)
	if err != nil {
		return nil, err
	}
	if saved.Operation.FinishedAt.IsZero() { // what was begun is fetched, and nothing asked for again
		res, err := g.resume(ctx, again.Operation, false)
		if media.CodeOf(err) == media.CodeConflict {
			return nil, unfinished(again.Operation)
		}
		return res, err
	}
	if err := g.here.enter(again.Operation); err != nil {
		return nil, err
	}
	defer g.here.leave(again.Operation)
	found, unseen, err := g.retrieve(ctx, log, again.Operation)
	if found != nil && found.Status == StatusRunning {
		return found, nil
	}
	if err == nil && unseen != nil && errors.Is(unseen, errTaskUnseen) && !again.All {
		err = unlooked(again.Operation, unseen)
	}
	if err != nil {
		return nil, g.release(ctx, log, again.Operation, err)
	}
	res, err := g.reopened(ctx, log, cmp.Or(found, resultOf(saved)), func() (*Saved, error) {
		reopened, err := g.reopen(ctx, log, again)
		switch {
		case media.CodeOf(err) != media.CodeInvalid:
			return reopened, err
		case found != nil: // what is still missing is not safe to ask for, but something was found
			return nil, nil
		case unseen != nil:
			return nil, unlooked(again.Operation, unseen)
		}
		return nil, err
	})
	if res != nil && unseen != nil {
		res.Warnings = append(slices.Clone(res.Warnings), "results that may be there could not be looked for: "+unseen.Message)
	}
	return res, err
}

// reopened holds a finished operation, opens it again and goes on with it; where it is not
// opened, it gives what is known. The caller has entered it.
func (g *Gateway) reopened(ctx context.Context, log Resumer, known *Result, open func() (*Saved, error)) (*Result, error) {
	if err := log.Hold(ctx, known.Operation, g.holder, g.config.Now().Add(holdTime)); err != nil {
		return nil, err
	}
	again, err := open()
	if err != nil {
		return nil, g.release(ctx, log, known.Operation, err)
	}
	if again == nil {
		if known.Status != StatusSucceeded { // somebody may have asked again meanwhile
			if now, err := log.Saved(ctx, known.Operation); err == nil {
				known = resultOf(now)
			}
		}
		return known, g.release(ctx, log, known.Operation, nil)
	}
	return g.goOn(ctx, again, false)
}

// release gives up the right to work on an operation, also when ctx has ended; the error is why,
// or that of the log.
func (g *Gateway) release(ctx context.Context, log Resumer, operation string, why error) error {
	if err := log.Hold(context.WithoutCancel(ctx), operation, g.holder, time.Time{}); why == nil && err != nil {
		return wrap("release operation", err)
	}
	return why
}

func unfinished(operation string) error {
	return media.Errorf(media.CodeConflict, "operation %s is not finished: wait for it (atelier generate --wait %[1]s), then ask again for what failed", operation)
}

// reopen makes a finished operation one that can be gone on with; nil if nothing of it is
// missing. The caller holds it.
func (g *Gateway) reopen(ctx context.Context, log Resumer, again Again) (*Saved, error) {
	// What was read before the right to work on it may be old.
	saved, err := log.Saved(ctx, again.Operation)
	if err != nil {
		return nil, err
	}
	if saved.Operation.FinishedAt.IsZero() {
		return nil, unfinished(again.Operation)
	}
	slots, err := saved.missing(again.All)
	if err != nil || len(slots) == 0 {
		return nil, err
	}
	p, err := g.load(saved.Operation.Request)
	if err != nil {
		return nil, wrap("ask again for "+again.Operation, err)
	}
	p.round, p.frames = &round{First: saved.calls(p) + 1, Slots: slots}, p.frames || g.config.Partials
	op := g.queued(saved.Operation, p)
	p.Makes = p.makes(len(slots))
	p.EstimatedUSD = p.estimate(p.Makes)
	if err := g.config.Budget.Reserve(media.WithScope(ctx, saved.Scope), p.charge(op.ID)); err != nil {
		return nil, wrap("reserve money", err)
	}
	if err := log.Reopen(ctx, op, slots); err != nil {
		_ = g.config.Budget.Settle(ctx, Charge{ID: op.ID}) // else it is given back later
		return nil, wrap("take the operation up again", err)
	}
	return log.Saved(ctx, again.Operation)
}

// queued is a finished operation as one that this process goes on with by a plan.
func (g *Gateway) queued(op Operation, p *Plan) Operation {
	op.Request, op.Status, op.FinishedAt, op.Error = p.save(), StatusQueued, time.Time{}, nil
	op.Holder, op.HeldUntil = g.holder, g.config.Now().Add(holdTime)
	return op
}

// calls is the highest number of a call so far.
func (s *Saved) calls(p *Plan) int {
	most := len(p.Calls)
	for _, a := range s.Attempts {
		most = max(most, a.Call)
	}
	return most
}

// missing lists the slots that may be asked for again. The error says why there are none
// though results are missing.
func (s *Saved) missing(all bool) ([]int, error) {
	var slots []int
	var why []string
	for index := 1; index <= s.Operation.N; index++ {
		slot := Slot{Index: index, Status: StatusCancelled}
		if i := slices.IndexFunc(s.Slots, func(o Slot) bool { return o.Index == index }); i >= 0 {
			slot = s.Slots[i]
		}
		if slot.Output != nil {
			continue
		}
		if reason := s.objection(slot); reason != "" && !all {
			why = append(why, fmt.Sprintf("result %d %s", index, reason))
			continue
		}
		slots = append(slots, index)
	}
	if len(slots) == 0 && len(why) > 0 {
		return nil, media.Errorf(media.CodeInvalid, "operation %s has nothing left that is safe to ask for again: %s: ask for all (--all) if you accept that they may be billed once more",
			s.Operation.ID, strings.Join(why, ", "))
	}
	return slots, nil
}

// objection is why a slot is asked for again on an explicit wish only; empty if there is none.
func (s *Saved) objection(slot Slot) string {
	last := s.last(slot.Index)
	switch {
	case slot.Status == StatusModerated:
		return "was moderated"
	case last.Usage.Unsettled > 0:
		return "may have been billed"
	case slot.Error != nil && slot.Error.Retryable || last.ID == "" || !last.billed():
		return ""
	default:
		return "was billed, or was cancelled at the provider"
	}
}

// billed reports whether a call can have cost something. One that failed and of which its
// provider counted nothing has not.
func (a Attempt) billed() bool {
	u := a.Usage
	return u.Images > 0 || u.InputTokens > 0 || u.OutputTokens > 0 || u.Unsettled > 0 || a.ReportedUSD != "" || a.Status != StatusFailed
}
