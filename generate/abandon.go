package generate

import (
	"context"

	"atelier/journal"
	"atelier/media"
)

// Begun reports whether an operation with an idempotency key and the owner of ctx was begun, in
// whatever process. A log that cannot tell knows of none. It does not look at the end of ctx.
func (g *Gateway) Begun(ctx context.Context, key string) bool {
	save, done := saving(ctx)
	defer done()
	id, err := g.operationOf(save, key)
	return err == nil && id != ""
}

// operationOf finds an operation by its key.
func (g *Gateway) operationOf(ctx context.Context, key string) (string, error) {
	finder, ok := g.config.Operations.(Finder)
	if !ok {
		return "", media.Errorf(media.CodeUnsupported, "this gateway keeps no operations by their keys")
	}
	return finder.OperationOf(ctx, key)
}

// abandon is Generate for a caller that has given up. Nothing is asked for any more; but what
// an earlier process left of the same request, see [Request.TakeUp], is ended, see [Gateway.Abandon].
func (g *Gateway) abandon(ctx context.Context, r Request) (*Result, error) {
	gone := asError(ctx.Err())
	if !r.TakeUp || left(ctx) {
		return nil, gone
	}
	save, done := saving(ctx)
	defer done()
	id, err := g.operationOf(save, r.IdempotencyKey)
	if err != nil {
		return nil, gone // there is nothing to end
	}
	res, err := g.end(save, ctx, id)
	if media.CodeOf(err) == media.CodeConflict {
		return nil, gone
	}
	return res, err
}

// Abandon ends an operation that a process left and that nobody wants any more, as if that process
// had been told: its tasks are stopped where their provider can, what came is kept, what may be billed
// counts, and the rest is cancelled; where ctx has ended, for its reason. It waits until the hold of that
// process is over, half a minute at most. ctx has the owner in its scope. A finished operation gives its result.
// Unlike [Gateway.Cancel] it needs the provider and its key, and takes nothing from a living process.
//
// Errors: those of [Gateway.Resume], and media.CodeConflict where another process works on it.
func (g *Gateway) Abandon(ctx context.Context, operation string) (*Result, error) {
	if left(ctx) {
		return nil, asError(ctx.Err())
	}
	if ctx.Err() == nil {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		ctx = gone
	}
	save, done := saving(ctx)
	defer done()
	return g.end(save, ctx, operation)
}

// end is [Gateway.Abandon] under a context that has ended; save lasts for as long as is waited.
func (g *Gateway) end(save, ctx context.Context, operation string) (*Result, error) {
	for {
		res, err := g.resumeUnder(save, ctx, operation, false)
		if media.CodeOf(err) != media.CodeConflict || (journal.Memory{}).Sleep(save, holdTime/10) != nil {
			return res, err
		}
	}
}
