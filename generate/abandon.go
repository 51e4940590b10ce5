package generate

import (
	"context"

	"atelier/journal"
	"atelier/media"
)

// Begun tells whether an operation with an idempotency key and the owner of ctx was begun, in
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
// an earlier process left of the same request, see [Request.TakeUp], is ended as if that process had
// been told: its tasks are stopped where their provider can, what came is kept, and the rest is
// cancelled. It waits until the hold of that process is over.
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
	for {
		res, err := g.resumeUnder(save, ctx, id, false)
		if media.CodeOf(err) != media.CodeConflict {
			return res, err
		}
		if (journal.Memory{}).Sleep(save, holdTime/10) != nil {
			return nil, gone
		}
	}
}
