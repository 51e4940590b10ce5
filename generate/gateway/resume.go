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

// PollOnce is [Gateway.Resume] for operations that have exceeded their wait: it polls each task once and leaves those
// that still run. While another caller works on the operation, the error has code media.CodeConflict.
func (g *Gateway) PollOnce(ctx context.Context, id string) (*generate.Result, error) {
	return g.resume(ctx, ctx, id, operation.EventResume, true)
}

// Resume continues an operation that an earlier process left or that exceeded its wait, and waits for it like
// [Gateway.Generate]. Calls that were never made are made; tasks are polled. A call that was sent and not answered is
// never repeated: its task is looked up if the provider is [driver.Listed]; otherwise the results that arrived are kept
// and the others fail as unsettled. An operation that lacks only answers that could not be stored is returned
// unchanged. A finished operation returns its result. ctx has the owner in its scope.
//
// Errors: media.CodeNotFound for an unknown operation, media.CodeUnsupported if the log cannot resume,
// media.CodeMissingKey for a provider without its key, ctx's error while another process holds the operation; under
// [ErrHandedOver] the operation is then returned as it stands.
func (g *Gateway) Resume(ctx context.Context, id string) (*generate.Result, error) {
	res, err := await(ctx, func() (*generate.Result, error) { return g.resume(ctx, ctx, id, operation.EventResume, false) })
	switch {
	case media.CodeOf(err) != media.CodeConflict:
		return res, err
	case !handedOver(ctx):
		return nil, fault.Of(ctx.Err())
	}
	save, done := saveContext(ctx)
	defer done()
	saved, err := g.resumer.Saved(save, id)
	if err != nil {
		return nil, err
	}
	res = saved.Result()
	if !saved.Finished() {
		res.Status, err = operation.Advance(operation.SubjectOperation, saved.Status(), operation.EventLeave)
	}
	return res, err
}

// resume continues an operation in progress. The log is read under a separate context.
func (g *Gateway) resume(read, ctx context.Context, id string, e operation.Event, once bool) (*generate.Result, error) {
	return g.withClaim(read, id, e, func(c *claim) (*generate.Result, error) {
		if e == operation.EventResume && c.undecided() {
			return c.releaseUnchanged(ctx)
		}
		return c.work(ctx, once)
	})
}

// restoreExecution creates the execution of a saved operation from its plan.
func (g *Gateway) restoreExecution(ctx context.Context, p *plan.Plan, saved *operation.Saved) *execution {
	op := saved.Operation
	op.Status = saved.Status()
	if p.Dispositions == nil {
		p.Dispositions = op.Dispositions
	}
	p.Warnings, p.EstimatedUSD = op.Warnings, op.Cost.EstimatedUSD
	x := g.newExecution(p, op)
	x.notes.add(op.Metadata)
	x.history.blobs = saved.Unassigned
	x.restore(ctx, saved)
	return x
}

// restore restores the work of earlier processes and earlier rounds.
func (x *execution) restore(ctx context.Context, saved *operation.Saved) {
	for _, s := range saved.Slots {
		x.board.extend(s.Index)
		if s.Status != generate.StatusRunning {
			x.board.put(s)
		}
	}
	x.history.add(saved.Attempts)
	for _, a := range saved.Attempts {
		p := x.chain.planOf(ctx, a)
		for _, index := range a.Slots {
			if index <= len(x.board.all()) && x.board.slot(index).Output != nil {
				x.board.change(func(s *slotState) { s.maker = p }, index)
			}
		}
		if a.FinishedAt.IsZero() {
			continue
		}
		x.bill.Count(p, a)
		if a.Usage.Unsettled > 0 && (x.plan.Round == nil || a.Call >= x.plan.Round.First) {
			x.board.markUnsettled(a.Slots)
		}
	}
}

// rejoin continues an operation that its caller cancelled, such as a cancelled run: existing tasks at the provider are
// polled instead of started again, and calls that were never made are made. Results that were already answered, and
// interrupted synchronous calls, stay as they are.
func (c *claim) rejoin(ctx context.Context) (*generate.Result, error) {
	if !c.Finished() {
		return c.work(ctx, false)
	}
	g, slots := c.g, c.CutOff()
	p, err := g.Load(c.Operation.Request)
	if err != nil {
		return nil, err
	}
	// The interrupted results of several models, or of a round that a person requested, cannot be told apart.
	other := func(a operation.Attempt) bool {
		return a.Provider != p.Model.Provider || a.APIModel != p.Model.APIModel
	}
	if p.Round != nil && p.Round.Before == nil || slices.ContainsFunc(c.Attempts, other) {
		return c.releaseUnchanged(ctx)
	}
	p.Round = nil
	before := g.newExecution(p, c.Operation)
	before.restore(ctx, c.Saved)
	counted := before.bill.Charge(c.id)
	p.Round, p.Frames = &plan.Round{First: 1, Slots: upTo(c.Operation.N), Before: &counted}, p.Frames || g.config.Partials
	// What the slots may still cost: tasks that were started are paid for, and results that may have been billed are
	// counted.
	money, calls := generate.Charge{ID: c.Operation.ID}, 0
	for _, index := range slots {
		last := c.Last(index)
		if c.Operation.Modality == media.ModalityImage && last.Usage.Unsettled == 0 {
			money.Images++
		}
		if last.Task == (driver.Handle{}) {
			calls++
		}
	}
	if money.USD = new("0"); calls > 0 {
		money.USD = p.Estimate(calls)
	}
	if err := c.reopen(ctx, reopening{event: operation.EventRejoin, plan: p, slots: slots, money: &money, tasks: c.Tasks(slots)}); err != nil {
		return nil, err
	}
	return c.work(ctx, false)
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// RetryOptions selects the failed results of a finished operation to request again.
type RetryOptions struct {
	// Operation is the operation's id.
	Operation string
	// All also selects results that were moderated, cancelled or deleted, and those whose call was or may have been
	// billed: they may be paid for twice.
	All bool
	// Slots are the indexes, from 1, to request; empty means all that failed.
	Slots []int
}

// Retry requests the failed results of a finished operation again and waits for them like [Gateway.Generate]. They keep
// their slots; existing results are never requested twice. The new calls are attempts of the same operation, with their
// own idempotency keys, against the same budgets. First, results whose call may have been billed are looked up at a
// provider that is [driver.Listed]. Existing results are fetched without a call and without new money; so is the result
// of a task that its provider still has. An unfinished operation is continued, as by [Gateway.Resume]; results of a
// call that had no answer, or whose answer could not be stored, are then requested under [RetryOptions.All]. Retry
// requests results whose error is retryable or whose call was not billed, see [RetryOptions.All] for the others. An
// operation that has all its results returns them, without a call. A process that dies during Retry leaves an operation
// that [Gateway.Resume] continues. ctx has the owner in its scope.
//
// Errors: media.CodeNotFound for an unknown operation, media.CodeConflict for one that another caller works on,
// media.CodeUnsupported if the log cannot resume, media.CodeInvalid if only results that need [RetryOptions.All] are
// missing, or the code of the list that could not be read to look them up (a refused key: media.CodeUnauthorized),
// media.CodeMissingKey, media.CodeOverBudget.
func (g *Gateway) Retry(ctx context.Context, again RetryOptions) (*generate.Result, error) {
	res, err := g.withClaim(ctx, again.Operation, operation.EventRetry, func(c *claim) (*generate.Result, error) {
		if c.Finished() {
			return c.retry(ctx, again)
		}
		if !again.All && c.undecided() {
			lost := slices.IndexFunc(c.Attempts, isLost)
			return nil, errors.Join(media.Errorf(media.CodeInvalid, "%s", c.Attempts[lost].Error.Message), c.release(ctx))
		}
		sent := slices.ContainsFunc(c.Attempts, func(a operation.Attempt) bool { return again.All && unanswered(a) })
		res, err := c.work(ctx, false) // started work is fetched, and nothing is requested again
		if err != nil || !sent || !res.Status.Finished() {
			return res, err
		}
		if err := c.acquire(ctx); err != nil {
			return nil, err
		}
		if !c.Finished() { // its end could not be saved
			return res, c.release(ctx)
		}
		return c.retry(ctx, again)
	})
	if media.CodeOf(err) == media.CodeConflict {
		return nil, unfinished(again.Operation)
	}
	return res, err
}

// retry requests the missing results of a finished operation again, after fetching those that its providers still have.
func (c *claim) retry(ctx context.Context, ask RetryOptions) (res *generate.Result, err error) {
	found, unseen, err := c.retrieve(ctx)
	switch {
	case err != nil:
		return nil, err
	case found != nil && found.Status == generate.StatusRunning:
		return found, nil
	case unseen != nil && errors.Is(unseen, errTaskUnseen) && !ask.All:
		return nil, lookupError(c.id, unseen)
	}
	if err := c.acquire(ctx); err != nil { // looking takes time
		return nil, err
	}
	slots, err := c.Missing(ask.All, ask.Slots)
	switch {
	case err != nil && found != nil: // the remaining results are not safe to request, but something was found
	case err != nil && unseen != nil:
		return nil, lookupError(c.id, unseen)
	case err != nil:
		return nil, err
	}
	if len(slots) == 0 {
		res, err = c.releaseUnchanged(ctx)
	} else {
		p, unread := c.g.Load(c.Operation.Request)
		if unread != nil {
			return nil, fault.Wrap("ask again for "+c.id, unread)
		}
		p.Round, p.Frames = &plan.Round{First: c.Calls(len(p.Calls)) + 1, Slots: slots}, p.Frames || c.g.config.Partials
		p.ResultCount = p.ResultCountFor(len(slots))
		p.EstimatedUSD = p.Estimate(p.ResultCount)
		money := p.Charge(c.id)
		if err := c.reopen(ctx, reopening{event: operation.EventRetry, plan: p, slots: slots, money: &money}); err != nil {
			return nil, err
		}
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

// retrieve continues calls of a finished operation that ended as unsettled and that their provider lists; nil if there
// are none. unseen is why a list that may contain more could not be read. The claim is kept unless a call still runs.
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
		if err = c.acquire(ctx); err != nil {
			return nil, nil, err
		}
	}
}

// findLost looks for calls that ended as unsettled, and returns the first one found, or nil. unseen is as for retrieve.
func (c *claim) findLost(ctx context.Context, tried map[string]bool) (_ *operation.Attempt, unseen *media.Error) {
	p, err := c.g.Read(c.Operation.Request)
	if err != nil || !c.Finished() {
		return nil, nil //nolint:nilerr // Retry returns the error.
	}
	x := c.g.newExecution(p, c.Operation)
	for _, a := range slices.Concat(c.GivenUp(), c.Unfetched()) {
		there, failed := x.lookUpAttempt(ctx, c.Saved, &a, tried)
		if failed != nil {
			unseen = failed
		}
		if there {
			return &a, unseen
		}
	}
	return nil, unseen
}

// errTaskUnseen is the cause if it is unknown whether the provider of a task still has its results.
var errTaskUnseen = errors.New("the task could not be asked for")

// lookUpAttempt looks once for a call that ended as unsettled: it checks whether the task's provider has a result or,
// if the task is unknown, looks it up in the list and sets it in the attempt. unseen is why that failed, including a
// missing key; errTaskUnseen is its cause if the task is known.
func (x *execution) lookUpAttempt(ctx context.Context, saved *operation.Saved, a *operation.Attempt, tried map[string]bool) (there bool, unseen *media.Error) {
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
		brief, stop := context.WithTimeout(ctx, lookupTimeout)
		defer stop()
		var u driver.Update
		u, err = guarded(p.Driver, nil, func() (driver.Update, error) { return p.Driver.Poll(brief, t, a.Task) })
		there = err == nil && u.Done && slices.ContainsFunc(u.Items, func(it driver.Item) bool { return it.Err == nil })
	default:
		t.Key = a.Key
		a.Task, err = x.g.lookUpTask(ctx, lister, t, a.StartedAt)
		there = a.Task != (driver.Handle{})
	}
	code := media.CodeOf(err)
	if err == nil || code == media.CodeUnsupported || code == media.CodeNotFound { // there is no list or no task
		return there, nil
	}
	reason := *fault.Of(err)
	if known {
		reason.Cause = errTaskUnseen
	}
	return false, &reason
}

// lookupError is the error if the only missing results may have been billed and could not be looked up, so that nothing
// is requested again.
func lookupError(operation string, reason *media.Error) error {
	e := *reason
	e.Message = "look for results of operation " + operation + " that may be there: " + reason.Message +
		": ask again when that is mended, or for all (--all) if you accept that they may be billed once more"
	return &e
}
