package generate

import (
	"cmp"
	"context"
	"fmt"

	"atelier/media"
)

// Spacious is an optional ability of a [Storage]: it knows how much room there is.
type Spacious interface {
	// Free is how many bytes can still be stored. The error has code media.CodeUnsupported
	// where that is not known.
	Free(ctx context.Context) (int64, error)
}

const (
	// defaultMinFree is how many bytes a billable call leaves free for databases and logs.
	defaultMinFree = 32 << 20
	// Bytes of a picture by its pixels, and of results whose size is not known.
	bytesPerPixel, usualResult = 3, 4 << 20
)

// room reports whether there is room for what n results may need, before they are paid for; the
// error has code media.CodeDiskFull. What is held is let go of by done.
func (g *Gateway) room(ctx context.Context, p *Plan, n int) (done func(), failed *media.Error) {
	store, ok := g.config.Storage.(Spacious)
	if !ok || p.Model.Provider == offlineProvider {
		return func() {}, nil
	}
	free, err := store.Free(ctx)
	if err != nil {
		return func() {}, nil //nolint:nilerr // Nobody knows: storing tells.
	}
	need := p.bytes(n)
	others := g.expected.Add(need) - need
	if least := need + others + g.minFree(); free < least {
		g.expected.Add(-need)
		return nil, fullDisk(fmt.Sprintf("%s was not asked", p.Model.Name), free, least)
	}
	return func() { g.expected.Add(-need) }, nil
}

// minFree is the room that is left alone.
func (g *Gateway) minFree() int64 { return max(0, cmp.Or(g.config.MinFree, defaultMinFree)) }

// fullDisk says how much room is needed.
func fullDisk(what string, free, least int64) *media.Error {
	return media.Errorf(media.CodeDiskFull, "%s: the disk of the media has %s free, and about %s are needed: free some, or use another data folder", what, mebibytes(free), mebibytes(least))
}

// mebibytes writes a number of bytes for people, rounded up.
func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", (max(n, 0)+1<<20-1)>>20) }

// bytes is a modest guess of the room that n results need.
func (p *Plan) bytes(n int) int64 {
	each := int64(usualResult)
	if size, _ := p.expects(); size.w > 0 {
		each = max(1<<20, int64(size.pixels())*bytesPerPixel)
	}
	return each * int64(max(n, 1))
}

// withRoom adds to the error of a full disk how much room the pending results need.
func (d *delivery) withRoom(ctx context.Context, err *media.Error) *media.Error {
	if err.Code != media.CodeDiskFull {
		return err
	}
	e := *err
	e.Retryable = true
	e.Message += fmt.Sprintf("; about %s are needed for it", mebibytes(d.call.plan.bytes(1)+d.x.g.minFree()))
	if store, ok := d.x.g.config.Storage.(Spacious); ok {
		if free, err := store.Free(ctx); err == nil {
			e.Message += ", and " + mebibytes(free) + " are free"
		}
	}
	return &e
}
