package generate

import (
	"context"
	"time"

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
					cancel(err)
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
