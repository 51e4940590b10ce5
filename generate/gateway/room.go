package gateway

import (
	"cmp"
	"context"
	"fmt"

	"atelier/generate/internal/fault"
	"atelier/generate/plan"
	"atelier/media"
)

// Reserver is an optional ability of a [generate.Storage]: it sets disk space aside.
type Reserver interface {
	// Reserve sets need bytes aside for results until release is called, and leaves so many free for
	// others; a need of 0 only looks. The error has code media.CodeDiskFull where there is too little space, and says how much is
	// needed; any other error means that the free space is not known.
	Reserve(ctx context.Context, need, leave int64) (release func(), err error)
}

const (
	// defaultMinFree is how many bytes a billable call leaves free for databases and logs.
	defaultMinFree = 32 << 20
	// Bytes of a picture by its pixels, and of results whose size is not known.
	bytesPerPixel, usualResult = 3, 4 << 20
)

// room reserves the space that n results may need, before they are paid for; the error has code
// media.CodeDiskFull. The caller releases it.
func (g *Gateway) room(ctx context.Context, p *plan.Plan, n int) (release func(), failed *media.Error) {
	return g.setAside(ctx, p, bytesOf(p, n), g.minFree())
}

// lookForRoom reports whether there is space for all results; the error is as for room.
func (g *Gateway) lookForRoom(ctx context.Context, p *plan.Plan) (failed *media.Error) {
	_, failed = g.setAside(ctx, p, 0, bytesOf(p, p.Makes)+g.minFree())
	return failed
}

func (g *Gateway) setAside(ctx context.Context, p *plan.Plan, need, leave int64) (release func(), failed *media.Error) {
	none := func() {}
	store, ok := g.config.Storage.(Reserver)
	if !ok || p.Model.Provider == plan.Offline {
		return none, nil
	}
	release, err := store.Reserve(ctx, need, leave)
	switch {
	case err == nil:
		return release, nil
	case media.CodeOf(err) != media.CodeDiskFull: // not known: storing says so
		return none, nil
	}
	return nil, fault.Of(fault.Wrap(p.Model.Name+" was not asked", err))
}

// minFree is the room that is left alone.
func (g *Gateway) minFree() int64 { return max(0, cmp.Or(g.config.MinFree, defaultMinFree)) }

// mebibytes writes a number of bytes for people, rounded up.
func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", (max(n, 0)+1<<20-1)>>20) }

// bytesOf is a modest guess of the room that n results need.
func bytesOf(p *plan.Plan, n int) int64 {
	each := int64(usualResult)
	if size, _ := p.Expects(); size.W > 0 {
		each = max(1<<20, int64(size.Pixels())*bytesPerPixel)
	}
	return each * int64(max(n, 1))
}

// withRoom adds to the error of a full disk how much room the pending results need.
func (d *delivery) withRoom(err *media.Error) *media.Error {
	if err.Code != media.CodeDiskFull {
		return err
	}
	e := *err
	e.Retryable = true
	e.Message += fmt.Sprintf("; about %s are needed for it", mebibytes(bytesOf(d.call.plan, 1)+d.x.g.minFree()))
	return &e
}
