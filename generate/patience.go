package generate

import (
	"context"
	"time"

	"atelier/media"
)

// heed makes a wait that a provider asked one call or poll for hold for other calls. A long one is
// that of a used-up allowance, which models have of their own, so it holds for the model alone.
func (g *Gateway) heed(m Model, failed *media.Error) {
	if failed == nil || failed.RetryAfter <= 0 {
		return
	}
	model := ""
	if failed.RetryAfter > g.config.MaxRetryWait {
		model = m.APIModel
	}
	g.lanes[m.Provider].waits.Ask(model, g.config.Now(), failed.RetryAfter)
}

// turn waits as long as the provider asked other calls to wait, unless the call has waited
// until then. It is an error if that is longer than a call waits, or than ctx lasts, and
// ctx's when it ends. Polls do not wait.
func (x *execution) turn(ctx context.Context, c call, waited time.Time) *media.Error {
	m := c.plan.Model
	for {
		if ctx.Err() != nil {
			return x.ended(ctx)
		}
		wait, until := x.g.lanes[m.Provider].waits.Left(m.APIModel, x.g.config.Now(), waited)
		if wait == 0 {
			return nil
		}
		why := media.Errorf(media.CodeRateLimited, "%s asked another call to wait: %s are left", m.Provider, wait.Round(time.Second))
		if why.RetryAfter = wait; wait > x.g.config.MaxRetryWait {
			return why
		}
		if end, limited := ctx.Deadline(); limited && end.Before(until) {
			return asError(context.DeadlineExceeded)
		}
		// Not all at once when it is over.
		wait += time.Duration(x.g.config.Rand() * float64(time.Second))
		x.emit(ctx, Event{Kind: EventWait, Error: slotError(why), Wait: wait, Progress: -1})
		if err := x.journal.Sleep(ctx, wait); err != nil && ctx.Err() == nil {
			return asError(err)
		}
		waited = until
	}
}

// before waits before a call is made again after an attempt that failed, and gives until
// when that was asked for. The error is why it is not made again.
func (x *execution) before(ctx context.Context, c call, number, got int, failed *media.Error) (until time.Time, err *media.Error) {
	wait, again := x.g.pause(failed, number)
	if got > 0 || !again || x.plan.found(c) {
		if failed.RetryAfter > 0 {
			failed.Message += "; it asks to wait " + failed.RetryAfter.Round(time.Second).String()
		}
		return until, failed
	}
	until = x.g.lanes[c.plan.Model.Provider].waits.End(c.plan.Model.APIModel)
	if asked := until.Sub(x.g.config.Now()); asked <= x.g.config.MaxRetryWait {
		wait = max(wait, asked) // another call may have heard of more
	} else {
		until = time.Time{}
	}
	x.emit(ctx, Event{Kind: EventRetry, Error: slotError(failed), Wait: wait, Progress: -1})
	if ended := x.journal.Sleep(ctx, wait); ended != nil {
		if ctx.Err() != nil {
			return until, x.ended(ctx)
		}
		return until, asError(ended)
	}
	return until, nil
}
