package gateway

import (
	"context"
	"errors"
	"slices"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
	"atelier/generate/operation"
	"atelier/generate/plan"
	"atelier/media"
)

// Again says which failed results of a finished operation are asked for again.
type Again struct {
	// Operation is the operation's id.
	Operation string
	// All asks also for results that were moderated, cancelled or deleted, and for those
	// whose call was billed or may have been: that can pay for them a second time.
	All bool
	// Slots are the indexes, from 1, that are asked for; empty means all that failed.
	Slots []int
}

// Retry asks again for the results that failed in a finished operation and waits for them
// as [Gateway.Generate] does. They keep their slots beside those that are there, which are
// never asked for twice; the new calls are attempts of the same operation, with their own
// idempotency keys, against the same budgets. Before that, results whose call may have been
// billed are looked for at a provider that is [driver.Listed]. What is
// there is fetched, without a call and without new money; so is the result of a task that its provider still
// has. An operation that is not finished is continued, as by [Gateway.Resume]; what it lacks of a call that
// had no answer, or whose answer could not be stored, is then asked for under [Again.All]. Asked for are results whose error is
// retryable or whose call was not billed, see [Again.All] for the others. An operation
// that has all its results gives them, without a call. A process that dies here leaves
// an operation that [Gateway.Resume] continues. ctx has the owner in its scope.
//
// Errors: media.CodeNotFound for an unknown operation, media.CodeConflict for one that
// another caller works on, media.CodeUnsupported if the log cannot
// resume, media.CodeInvalid if only results are missing that need [Again.All], or the code of
// the list that could not be read to look for them (a key that is refused:
// media.CodeUnauthorized), media.CodeMissingKey, media.CodeOverBudget.
func (g *Gateway) Retry(ctx context.Context, again Again) (*generate.Result, error) {
	res, err := g.enter(ctx, again.Operation, operation.EventRetry, func(c *claim) (*generate.Result, error) {
		if c.Over() {
			return c.retry(ctx, again)
		}
		if !again.All && c.undecided() {
			lost := slices.IndexFunc(c.Attempts, isLost)
			return nil, errors.Join(media.Errorf(media.CodeInvalid, "%s", c.Attempts[lost].Error.Message), c.release(ctx))
		}
		sent := slices.ContainsFunc(c.Attempts, func(a operation.Attempt) bool { return again.All && unanswered(a) })
		res, err := c.work(ctx, false) // what was begun is fetched, and nothing asked for again
		if err != nil || !sent || !res.Status.Over() {
			return res, err
		}
		if err := c.take(ctx); err != nil {
			return nil, err
		}
		if !c.Over() { // its end could not be saved
			return res, c.release(ctx)
		}
		return c.retry(ctx, again)
	})
	if media.CodeOf(err) == media.CodeConflict {
		return nil, unfinished(again.Operation)
	}
	return res, err
}

// retry asks again for what the operation, which is over, lacks, after what its providers have of it
// was fetched.
func (c *claim) retry(ctx context.Context, again Again) (res *generate.Result, err error) {
	found, unseen, err := c.retrieve(ctx)
	switch {
	case err != nil:
		return nil, err
	case found != nil && found.Status == generate.StatusRunning:
		return found, nil
	case unseen != nil && errors.Is(unseen, errTaskUnseen) && !again.All:
		return nil, unlooked(c.id, unseen)
	}
	if err := c.take(ctx); err != nil { // looking takes its time
		return nil, err
	}
	slots, err := c.Missing(again.All, again.Slots)
	switch {
	case err != nil && found != nil: // what is still missing is not safe to ask for, but something was found
	case err != nil && unseen != nil:
		return nil, unlooked(c.id, unseen)
	case err != nil:
		return nil, err
	}
	if len(slots) == 0 {
		res, err = c.leave(ctx)
	} else if err = c.requeue(ctx, slots); err == nil {
		res, err = c.work(ctx, false)
	}
	if res != nil && unseen != nil {
		res.Warnings = append(slices.Clone(res.Warnings), "results that may be there could not be looked for: "+unseen.Message)
	}
	return res, err
}

func unfinished(operation string) error {
	return media.Errorf(media.CodeConflict, "operation %s is not finished: wait for it (atelier generate --wait %[1]s), then ask again for what failed", operation)
}

// requeue queues the operation, which is over, once more for slots.
func (c *claim) requeue(ctx context.Context, slots []int) error {
	p, err := c.g.Load(c.Operation.Request)
	if err != nil {
		return fault.Wrap("ask again for "+c.id, err)
	}
	p.Round, p.Frames = &plan.Round{First: c.Calls(len(p.Calls)) + 1, Slots: slots}, p.Frames || c.g.config.Partials
	p.Makes = p.Yields(len(slots))
	p.EstimatedUSD = p.Estimate(p.Makes)
	money := p.Charge(c.id)
	return c.queue(ctx, again{event: operation.EventRetry, plan: p, slots: slots, money: &money})
}

// retrieve continues calls of a finished operation that ended as unsettled, and that their
// provider lists; nil if there is none. unseen is why a list could not be read that may
// have more. The claim stays, but where one still runs.
func (c *claim) retrieve(ctx context.Context) (found *generate.Result, unseen *media.Error, err error) {
	tried := map[string]bool{}
	for {
		var a *operation.Attempt
		if a, unseen = c.findLost(ctx, tried); a == nil {
			return found, unseen, nil
		}
		if found, err = c.workOnTask(ctx, operation.EventRetry, *a); err != nil || found.Status == generate.StatusRunning {
			return found, unseen, err
		}
		if err = c.take(ctx); err != nil {
			return nil, nil, err
		}
	}
}

// findLost looks for the calls that ended as unsettled, and gives the first that is found; nil if none
// is. unseen is as for retrieve.
func (c *claim) findLost(ctx context.Context, tried map[string]bool) (_ *operation.Attempt, unseen *media.Error) {
	p, err := c.g.Read(c.Operation.Request)
	if err != nil || !c.Over() {
		return nil, nil //nolint:nilerr // Asking again gives the error.
	}
	x := c.g.newExecution(p, c.Operation)
	for _, a := range slices.Concat(c.GivenUp(), c.Unfetched()) {
		there, failed := x.seek(ctx, c.Saved, &a, tried)
		if failed != nil {
			unseen = failed
		}
		if there {
			return &a, unseen
		}
	}
	return nil, unseen
}

// errTaskUnseen is the cause where it is unknown whether the provider of a task still has its results.
var errTaskUnseen = errors.New("the task could not be asked for")

// seek looks once for a call that ended as unsettled: whether the provider of its task has a result of it,
// or, where the task is unknown, for the one of its list, which the attempt then names. unseen is
// why that could not be asked, for the want of a key too; errTaskUnseen is its cause where the task
// is known.
func (x *execution) seek(ctx context.Context, saved *operation.Saved, a *operation.Attempt, tried map[string]bool) (there bool, unseen *media.Error) {
	ctx = media.WithScope(ctx, saved.Scope)
	p := x.chain.planOf(ctx, *a)
	lister, lists := p.Driver.(driver.Listed)
	known := a.Task != (driver.Handle{})
	if p.Driver == nil || known && tried[a.ID] || !known && !lists {
		return false, nil
	}
	t := x.task(ctx, call{plan: p, number: a.Call, slots: a.Slots})
	err := p.Driver.Ready()
	switch {
	case err != nil:
	case known:
		tried[a.ID] = true
		there, err = has(ctx, p.Driver, t, a.Task)
	default:
		t.Key = a.Key
		a.Task, err = x.g.look(ctx, lister, t, a.StartedAt)
		there = a.Task != (driver.Handle{})
	}
	code := media.CodeOf(err)
	if err == nil || code == media.CodeUnsupported || code == media.CodeNotFound { // there is no list, or no task
		return there, nil
	}
	why := *fault.Of(err)
	if known {
		why.Cause = errTaskUnseen
	}
	return false, &why
}

// has asks once whether a task has a result.
func has(ctx context.Context, d driver.Driver, t driver.Task, h driver.Handle) (bool, error) {
	ctx, stop := context.WithTimeout(ctx, lookTime)
	defer stop()
	u, err := d.Poll(ctx, t, h)
	return err == nil && u.Done && slices.ContainsFunc(u.Items, func(it driver.Item) bool { return it.Err == nil }), err
}

// unlooked is why nothing is asked for again where only results are missing that may have been
// billed, and that could not be looked for.
func unlooked(operation string, why *media.Error) error {
	e := *why
	e.Message = "look for results of operation " + operation + " that may be there: " + why.Message +
		": ask again when that is mended, or for all (--all) if you accept that they may be billed once more"
	return &e
}
