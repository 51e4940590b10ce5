package gateway

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/url"
	"strconv"
	"time"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
	"atelier/generate/internal/lane"
	"atelier/generate/operation"
	"atelier/generate/plan"
	"atelier/journal/step"
	"atelier/media"
)

// call is one of the provider calls that an operation's results are split into.
type call struct {
	plan   *plan.Plan
	number int   // from 1
	slots  []int // indexes of the slots that it fills, from 1
}

func (c call) n() int { return len(c.slots) }

func (c call) key(operation string) string { return operation + "-" + strconv.Itoa(c.number) }

// executeCall executes the attempts of a call. A call is repeated only if its driver says that a repeat is safe and it
// returned nothing.
func (x *execution) executeCall(ctx context.Context, c call) {
	done, refused := x.g.lanes[c.plan.Model.Provider].Admit(ctx, c.plan.Model)
	switch {
	case refused == nil:
		defer done()
	case handedOver(ctx) || len(x.history.attempts[c.number]) == 0:
		x.fail(ctx, c, 0, x.departure.ended(ctx))
		return
	default: // an earlier process's call is ended, which needs no turn
	}
	var waited time.Time
	for number := x.resumeCall(ctx, c); number > 0; number++ {
		if early := x.waitForTurn(ctx, c, waited); early != nil {
			x.fail(ctx, c, 0, x.recorder.uncalled(ctx, c, number, early))
			return
		}
		got, err := x.attempt(ctx, c, number)
		switch {
		case err == nil && got >= c.n():
			return
		case err == nil:
			x.fail(ctx, c, got, c.missingResultsError(got))
			return
		case isUnbilledHandOver(ctx, err):
			x.fail(ctx, c, got, x.departure.ended(ctx))
			return
		}
		if waited, err = x.waitBeforeRetry(ctx, c, number, got, err); err != nil {
			x.fail(ctx, c, got, err)
			return
		}
	}
}

// attempt makes one provider call and delivers its results; got is the number of items.
func (x *execution) attempt(ctx context.Context, c call, number int) (got int, failed *media.Error) {
	t := x.task(ctx, c)
	leave, failed := x.g.lanes[c.plan.Model.Provider].Enter(ctx, c.plan.Model)
	if failed != nil {
		return 0, x.recorder.uncalled(ctx, c, number, failed)
	}
	called := false
	defer func() {
		switch {
		case called && (failed == nil || stillRunning(failed)): // a slow task is no outage
			leave(nil)
		case called && ctx.Err() == nil:
			leave(failed)
		default:
			leave(lane.ErrUnknown)
		}
		x.g.shareWait(c.plan.Model, failed)
	}()
	release, failed := x.g.reserveSpace(ctx, c.plan, bytesOf(c.plan, c.n()), x.g.config.MinFree)
	if failed != nil {
		return 0, failed
	}
	defer release()
	a := x.recorder.attempt(c, number)
	a.Status = x.notes.next(operation.SubjectAttempt, a.Status, operation.EventSend)
	if err := x.g.config.Operations.Attempt(ctx, a); err != nil {
		e := fault.Of(fault.Wrap("journal call", err))
		e.Retryable = false
		return 0, e
	}
	called = true
	var u driver.Update
	u, failed = x.steps.start(ctx, c, t, step.Name{Kind: step.KindAttempt, Call: c.number, Index: a.Number})
	if isUnbilledHandOver(ctx, failed) {
		failed.Retryable = true // by the process that continues it
	}
	d := delivery{x: x, call: c, begun: a.StartedAt, pollable: u.Task != (driver.Handle{})}
	d.take(ctx, u)
	if failed == nil && u.Done {
		d.fetchAgain(ctx, u)
		failed = d.undecided()
	}
	if u.Usage.Unsettled > 0 && d.got == 0 {
		switch h, elsewhere := x.findTask(ctx, c, a); { // the answer was lost
		case elsewhere != nil:
			u, failed = driver.Update{}, elsewhere
		case h != (driver.Handle{}):
			u, failed = driver.Update{Task: h, Progress: -1}, nil
		}
	}
	if failed == nil && !u.Done && u.Task != (driver.Handle{}) {
		a.Task, a.ReportedUSD = u.Task, reported(c.plan.Model, u)
		a.Status = x.notes.next(operation.SubjectAttempt, a.Status, operation.EventName)
		started := u
		p := polling{call: c, task: t, handle: u.Task}
		u, failed = x.poll(ctx, p, &d, func() { x.recorder.call(ctx, a) })
		u.Metadata = join(started.Metadata, u.Metadata)
	}
	d.end(ctx, a, u, failed)
	return d.got, failed
}

// isUnbilledHandOver reports whether a call produced nothing, and cost nothing, because the work was left.
func isUnbilledHandOver(ctx context.Context, failed *media.Error) bool {
	return failed != nil && failed.Code == media.CodeCancelled && handedOver(ctx) && !errors.Is(failed, driver.ErrUnsettled)
}

func (x *execution) task(ctx context.Context, c call) driver.Task {
	t := c.plan.Task
	if t.N = c.n(); c.slots[t.N-1] != t.N {
		t.Slots = c.slots
	}
	t.Key = c.key(x.op.ID)
	t.Options = maps.Clone(t.Options)
	if t.Seed != nil {
		// Each call has its own seeds, or the calls would make equal pictures.
		t.Seed = new(t.Model.FoldSeed(*t.Seed + int64(c.slots[0]-1)))
	}
	t = driver.WithDerivedSeed(c.plan.Driver, t)
	if x.g.config.Notify != nil {
		t.NotifyURL, t.NotifySecret = x.g.config.Notify(t.Model.Provider)
		if at, err := url.Parse(t.NotifyURL); err == nil && t.NotifyURL != "" {
			query := at.Query()
			query.Set(callParameter, t.Key)
			at.RawQuery = query.Encode()
			t.NotifyURL = at.String()
		}
	}
	if x.g.config.Partials && c.plan.Model.Streams() && x.plan.Frames { // else the resuming process could not tell a frame from the picture
		t.Partial = func(slot int, b media.Blob) { x.partial(ctx, c, slot, b) }
	}
	return t
}

// reported returns the cost that the provider reports; empty if it reports none.
func reported(m catalog.Model, u driver.Update) string {
	return cmp.Or(u.ReportedUSD, m.CreditCost(u.ReportedCredits))
}

func join(first, later map[string]any) map[string]any {
	if len(first) == 0 {
		return later
	}
	out := maps.Clone(first)
	maps.Copy(out, later)
	return out
}

// maxRetryWait is the longest wait before a call is repeated. A provider that requests more fails the call.
const maxRetryWait = time.Minute

// shareWait applies a wait that a provider requested for one call or poll to other calls. A long wait means an
// exhausted quota, which is per model, so it applies only to that model. It returns the wait, at most maxRetryWait.
func (g *Gateway) shareWait(m catalog.Model, failed *media.Error) time.Duration {
	if failed == nil || failed.RetryAfter <= 0 {
		return 0
	}
	model := ""
	if failed.RetryAfter > maxRetryWait {
		model = m.APIModel
	}
	g.lanes[m.Provider].Waits.Ask(model, g.config.Now(), failed.RetryAfter)
	return min(failed.RetryAfter, maxRetryWait)
}

// waitForTurn waits as long as the provider asked other calls to wait, unless the call has already waited until then.
// The error is for a wait beyond maxRetryWait or ctx's deadline, or ctx's own. Polls do not wait.
func (x *execution) waitForTurn(ctx context.Context, c call, waited time.Time) *media.Error {
	m := c.plan.Model
	for {
		if ctx.Err() != nil {
			return x.departure.ended(ctx)
		}
		wait, until := x.g.lanes[m.Provider].Waits.Remaining(m.APIModel, x.g.config.Now(), waited)
		if wait == 0 {
			return nil
		}
		reason := media.Errorf(media.CodeRateLimited, "%s asked callers to wait: %s remain", m.Provider, wait.Round(time.Second))
		if reason.RetryAfter = wait; wait > maxRetryWait {
			return reason
		}
		if end, limited := ctx.Deadline(); limited && end.Before(until) {
			return fault.Of(context.DeadlineExceeded)
		}
		// Spread the calls when the wait is over.
		wait += time.Duration(x.g.config.Rand() * float64(time.Second))
		x.emit(ctx, generate.Event{Kind: generate.EventWait, Error: slotError(reason), Wait: wait, Progress: -1})
		if err := x.steps.Sleep(ctx, wait); err != nil && ctx.Err() == nil {
			return fault.Of(err)
		}
		waited = until
	}
}

// waitBeforeRetry waits after a failed attempt before the call is repeated, and returns until when the provider asked
// to wait. The error says why the call is not repeated.
func (x *execution) waitBeforeRetry(ctx context.Context, c call, number, got int, failed *media.Error) (until time.Time, err *media.Error) {
	const base, most = time.Second, 30 * time.Second
	config, attempts := x.g.config, x.g.config.MaxAttempts
	if errors.Is(failed, driver.ErrContested) || failed.Code == media.CodeQuotaExceeded {
		attempts = min(attempts, 2)
	}
	if got > 0 || !failed.Retryable || number >= attempts || failed.RetryAfter > maxRetryWait || x.plan.Round.Continues(c.number) {
		failed.Retryable = failed.Retryable && failed.Code != media.CodeQuotaExceeded
		if failed.RetryAfter > 0 {
			failed.Message += "; it asks to wait " + failed.RetryAfter.Round(time.Second).String()
		}
		return until, failed
	}
	wait := time.Duration(float64(min(base<<min(number-1, 10), most)) * (0.5 + config.Rand()/2))
	wait = max(wait, failed.RetryAfter)
	until = x.g.lanes[c.plan.Model.Provider].Waits.End(c.plan.Model.APIModel)
	if requested := until.Sub(config.Now()); requested <= maxRetryWait {
		wait = max(wait, requested) // another call may have been told a longer wait
	} else {
		until = time.Time{}
	}
	x.emit(ctx, generate.Event{Kind: generate.EventRetry, Error: slotError(failed), Wait: wait, Progress: -1})
	if ended := x.steps.Sleep(ctx, wait); ended != nil {
		if ctx.Err() != nil {
			return until, x.departure.ended(ctx)
		}
		return until, fault.Of(ended)
	}
	return until, nil
}
