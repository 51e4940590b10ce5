package generate

import (
	"context"
	"errors"
	"slices"

	"atelier/media"
)

// retrieve goes on with calls of a finished operation that were given up as unsettled, and
// that their provider lists; nil if there is none. unseen is why a list could not be read that may
// have more. It leaves the operation held, but where one still runs.
func (g *Gateway) retrieve(ctx context.Context, log Resumer, operation string) (found *Result, unseen *media.Error, err error) {
	tried := map[string]bool{}
	for {
		if err := log.Hold(ctx, operation, g.holder, g.config.Now().Add(holdTime)); err != nil {
			return nil, nil, err
		}
		// What was read before the right to work on it may be old.
		saved, err := log.Saved(ctx, operation)
		if err != nil {
			return nil, nil, err
		}
		var again *Saved
		again, unseen, err = g.revive(ctx, log, saved, tried)
		if err != nil || again == nil {
			return found, unseen, err
		}
		if found, err = g.goOn(ctx, again, false); err != nil || found.Status == StatusRunning {
			return found, unseen, err
		}
	}
}

// revive makes an operation with a call that is found one that can be gone on with; nil
// if none is. unseen is as for retrieve.
func (g *Gateway) revive(ctx context.Context, log Resumer, saved *Saved, tried map[string]bool) (again *Saved, unseen *media.Error, err error) {
	p, err := g.planned(saved.Operation.Request)
	if err != nil || saved.Operation.FinishedAt.IsZero() {
		return nil, nil, nil //nolint:nilerr // Whoever asks again is told.
	}
	x := g.newExecution(p, saved.Operation)
	for _, a := range slices.Concat(saved.givenUp(), saved.unfetched()) {
		there, failed := x.seek(ctx, saved, &a, tried)
		if failed != nil {
			unseen = failed
		}
		if there {
			again, err = g.takeBack(ctx, log, saved, a)
			return again, unseen, err
		}
	}
	return nil, unseen, nil
}

// unfetched lists the tasks that ended without results, and not because their provider refused or failed:
// it may have them still.
func (s *Saved) unfetched() []Attempt {
	return slices.DeleteFunc(slices.Clone(s.Attempts), func(a Attempt) bool {
		return a.Task == (Handle{}) || len(a.Slots) == 0 || a.Error == nil || a.Usage.Images == 0 && !gaveUp(a.Error.Code) || !passingCode(a.Error.Code) && !gaveUp(a.Error.Code) ||
			len(s.unanswered(a)) == 0
	})
}

// errTaskUnseen is the cause where nobody knows whether the provider of a task has its results still.
var errTaskUnseen = errors.New("the task could not be asked for")

// has asks once whether the provider of a task has a result of it; the error has errTaskUnseen as its cause.
func (x *execution) has(ctx context.Context, saved *Saved, a Attempt) (bool, *media.Error) {
	ctx = media.WithScope(ctx, saved.Scope)
	p := x.planOf(ctx, a)
	if p.driver == nil {
		return false, nil
	}
	ctx, stop := context.WithTimeout(ctx, lookTime)
	defer stop()
	err := p.driver.Ready()
	var u Update
	if err == nil {
		u, err = p.driver.Poll(ctx, x.task(ctx, call{plan: p, number: a.Call, slots: a.Slots}), a.Task)
	}
	switch code := media.CodeOf(err); {
	case err == nil:
		return u.Done && slices.ContainsFunc(u.Items, func(it Item) bool { return it.Err == nil }), nil
	case code == media.CodeUnsupported, code == media.CodeNotFound:
		return false, nil
	default:
		unseen := *asError(err)
		unseen.Cause = errTaskUnseen
		return false, &unseen
	}
}

// seek looks once for the task of a call that was given up, which the attempt then names. The error
// is as for lookFor, or for has.
func (x *execution) seek(ctx context.Context, saved *Saved, a *Attempt, tried map[string]bool) (there bool, unseen *media.Error) {
	if a.Task != (Handle{}) {
		known := tried[a.ID]
		if tried[a.ID] = true; known {
			return false, nil
		}
		return x.has(ctx, saved, *a)
	}
	a.Task, unseen = x.lookFor(ctx, saved, *a)
	return a.Task != (Handle{}), unseen
}

// unlooked is why nothing is asked for again where only results are missing that may have been
// billed, and that could not be looked for.
func unlooked(operation string, why *media.Error) error {
	e := *why
	e.Message = "look for results of operation " + operation + " that may be there: " + why.Message +
		": ask again when that is mended, or for all (--all) if you accept that they may be billed once more"
	return &e
}

// takeBack makes a finished operation one that can be gone on with, with a call that was given
// up and whose task is known by now. The caller holds it.
func (g *Gateway) takeBack(ctx context.Context, log Resumer, saved *Saved, a Attempt) (*Saved, error) {
	p, err := g.load(saved.Operation.Request)
	if err != nil {
		return nil, wrap("resume "+saved.Operation.ID, err)
	}
	p.round = &round{First: a.Call, Slots: a.Slots, Found: true}
	op := g.queued(saved.Operation, p)
	if err := log.Reopen(ctx, op, saved.unanswered(a)); err != nil {
		return nil, wrap("take the operation up again", err)
	}
	if err := g.config.Operations.Attempt(ctx, a.underWay()); err != nil {
		return nil, wrap("journal call", err)
	}
	return log.Saved(ctx, op.ID)
}

// givenUp lists the calls, to whatever model, that may have been billed, and of whose results
// none is there or was asked for since.
func (s *Saved) givenUp() []Attempt {
	var lost []Attempt
	for _, a := range s.Attempts {
		if len(a.Slots) > 0 && a.Usage.Unsettled > 0 && a.Task == (Handle{}) && !slices.ContainsFunc(a.Slots, func(index int) bool { return s.answered(a, index) }) {
			lost = append(lost, a)
		}
	}
	return lost
}

// unanswered lists the slots of a call that have no result and were not asked for since.
func (s *Saved) unanswered(a Attempt) []int {
	return slices.DeleteFunc(slices.Clone(a.Slots), func(index int) bool { return s.answered(a, index) })
}

// answered reports whether a slot has its result, or was asked for after a call.
func (s *Saved) answered(a Attempt, index int) bool {
	return slices.ContainsFunc(s.Slots, func(o Slot) bool { return o.Index == index && o.Output != nil }) ||
		slices.ContainsFunc(s.Attempts, func(o Attempt) bool { return o.Call > a.Call && slices.Contains(o.Slots, index) })
}

// lookFor asks once for the task of a call that was given up, where the model that it was made
// with is listed; zero if it cannot be told. The error is that the list cannot be read, for the
// want of a key too.
func (x *execution) lookFor(ctx context.Context, saved *Saved, a Attempt) (Handle, *media.Error) {
	ctx = media.WithScope(ctx, saved.Scope)
	p := x.planOf(ctx, a)
	d, ok := p.driver.(Listed)
	if !ok {
		return Handle{}, nil
	}
	if err := d.Ready(); err != nil {
		return Handle{}, asError(err)
	}
	t := x.task(ctx, call{plan: p, number: a.Call, slots: a.Slots})
	t.Key = a.Key
	h, err := x.look(ctx, d, t, a.StartedAt)
	switch code := media.CodeOf(err); {
	case err == nil:
		return h, nil
	case code == media.CodeUnsupported, code == media.CodeNotFound: // there is no list
		return Handle{}, nil
	default:
		return Handle{}, asError(err)
	}
}

// maker is the plan of the calls that a round begins with: the operation's, or that of the
// model whose call was found.
func (x *execution) maker(ctx context.Context) *Plan {
	r := x.plan.round
	if r == nil || !r.Found || len(x.past[r.First]) == 0 {
		return x.plan
	}
	if p := x.planOf(ctx, x.past[r.First][0]); p.driver != nil {
		return p
	}
	return x.plan
}

// beyond numbers further calls on from all that there are, where the round is that of a call
// that was found.
func (x *execution) beyond() {
	if x.plan.round == nil || !x.plan.round.Found {
		return
	}
	for number := range x.past {
		x.numbered = max(x.numbered, number)
	}
}
