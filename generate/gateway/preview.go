package gateway

import (
	"context"
	"sync"

	"atelier/generate"
	"atelier/media"
)

// preview is the newest frame of a slot without a result.
type preview struct {
	count int // frames so far
	last  media.Blob
	call  call
}

// previews holds the preview frames of an operation's slots. Frames are stored bytes without a record; drop deletes
// those of a slot that is final. It is safe for concurrent use.
type previews struct {
	storage   generate.Storage
	operation string

	mu     sync.Mutex             // guards all below
	newest map[int]preview        // by slot index
	frames map[int][]media.Digest // by slot index
}

// add adds a frame of a slot and returns its number, from 1.
func (p *previews) add(index int, c call, b media.Blob) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.newest == nil {
		p.newest, p.frames = map[int]preview{}, map[int][]media.Digest{}
	}
	n := p.newest[index].count + 1
	p.newest[index] = preview{count: n, last: b, call: c}
	p.frames[index] = append(p.frames[index], b.Digest)
	return n
}

func (p *previews) of(index int) (preview, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, ok := p.newest[index]
	return v, ok
}

// drop deletes the frames of a final slot, except the one that was kept in place of its result. Frames that cannot be
// deleted are collected later.
func (p *previews) drop(ctx context.Context, s generate.Slot) {
	storage, ok := p.storage.(Dropper)
	if !ok || s.Output == nil && s.Error == nil {
		return
	}
	p.mu.Lock()
	frames := p.frames[s.Index]
	delete(p.frames, s.Index)
	p.mu.Unlock()
	stays := media.Digest{}
	if s.Output != nil {
		stays = s.Output.Digest
	} else if n := len(frames); n > 0 {
		stays = frames[n-1]
	}
	scope := media.ScopeOf(ctx)
	scope.Operation = p.operation
	ctx = media.WithScope(context.WithoutCancel(ctx), scope)
	for _, d := range frames {
		if d != stays {
			_ = storage.Drop(ctx, d)
		}
	}
}

// partial emits a preview frame and keeps the newest one. A frame for a result beyond those of the call is ignored.
func (x *execution) partial(ctx context.Context, c call, slot int, b media.Blob) {
	if slot < 1 || slot > c.n() {
		return
	}
	index := c.slots[slot-1]
	x.emit(ctx, generate.Event{Kind: generate.EventPartial, Slot: index, Sequence: x.previews.add(index, c, b), Partial: &b, Shows: max(c.plan.ResultsPerCall, 1), Progress: -1, Status: generate.StatusRunning})
}

// keepPreview records the last preview of a slot that ended without its picture.
func (x *execution) keepPreview(ctx context.Context, s generate.Slot) generate.Slot {
	p, ok := x.previews.of(s.Index)
	if !ok || s.Error == nil || s.Status == generate.StatusRunning { // a result that is left may still arrive
		return s
	}
	if x.previews.storage != nil { // else the blob is the driver's own
		in, err := x.previews.storage.Open(ctx, p.last.Digest)
		if media.CodeOf(err) == media.CodeNotFound { // another operation with the same frame dropped it when it ended
			return s
		}
		if err == nil {
			_ = in.Close() // nothing is read
		}
	}
	d := delivery{x: x, call: p.call}
	o := d.describe(ctx, p.last, s.Index, nil)
	o.Partial = true
	if p.call.plan.ResultsPerCall > 1 {
		o.Label += " (grid)"
	}
	o.Label += " (preview)"
	o = x.recorder.output(ctx, o)
	failed := *s.Error
	failed.Message += "; the last preview was kept as " + string(o.Ref)
	s.Error = &failed
	return s
}
