package generate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"atelier/journal"
	"atelier/media"
)

// holdTime is how long the right to work on an operation lasts unless it is kept.
const holdTime = 10 * time.Second

// hold keeps the right to work on the operation while it is worked on; whoever began or
// resumed it has it already, and a finished operation needs no giving up. The context ends when somebody else has taken it: then this process has slept too long.
func (x *execution) hold(ctx context.Context) (context.Context, func()) {
	log, ok := x.g.config.Operations.(Resumer)
	if !ok {
		return ctx, func() {}
	}
	g := x.g
	held, cancel := context.WithCancelCause(ctx)
	keep := func(until time.Time) error {
		return log.Hold(context.WithoutCancel(ctx), x.op.ID, g.holder, until)
	}
	stop := make(chan struct{})
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(holdTime / 3)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				if err := keep(g.config.Now().Add(holdTime)); media.CodeOf(err) == media.CodeConflict {
					cancel(fmt.Errorf("%w: %w", ErrLeft, err)) // what is under way is the other one's
					return
				}
			}
		}
	}()
	return held, func() {
		close(stop)
		<-gone
		if x.op.FinishedAt.IsZero() && (held.Err() == nil || ctx.Err() != nil) {
			if err := keep(time.Time{}); err != nil {
				x.warn("the operation could not be released: " + asError(err).Message)
			}
		}
		cancel(nil)
	}
}

// takenAwayTime is how long is waited for what another process does with an operation that it
// took: one that gives it up waits for [hearTime] itself, and then asks its provider.
const takenAwayTime = hearTime + holdTime

// takenAway is the result where another process took the operation: how it ended there, if
// that comes soon, else that it is there.
func (x *execution) takenAway(ctx context.Context) *Result {
	for waited := time.Duration(0); waited < takenAwayTime; waited += holdTime / 20 {
		saved, err := x.g.config.Operations.(Resumer).Saved(context.WithoutCancel(ctx), x.op.ID)
		if err == nil && !saved.Operation.FinishedAt.IsZero() {
			return endedElsewhere(resultOf(saved))
		}
		if (journal.Memory{}).Sleep(ctx, holdTime/20) != nil {
			break
		}
	}
	x.warn("another process took this operation over: it goes on or ends there (atelier operations show " + x.op.ID + ")")
	x.mu.Lock()
	defer x.mu.Unlock()
	x.op.Status = StatusRunning
	return x.result()
}

// endedElsewhere says of an operation that another process ended it.
func endedElsewhere(r *Result) *Result {
	what := "ended"
	if r.Status == StatusCancelled {
		what = "cancelled"
	}
	r.Warnings = append(slices.Clone(r.Warnings), "another process "+what+" this operation: atelier operations show "+r.Operation)
	return r
}
