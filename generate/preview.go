package generate

import (
	"context"
	"time"

	"atelier/media"
)

// previewTime bounds the fetching of one preview: the task is asked for again after it.
const previewTime = 5 * time.Second

// show shows the preview that a task links to, where previews are asked for and the link
// is new. It is tried once; what does not come, or is no picture, is passed over.
func (x *execution) show(ctx context.Context, p *polling, d *delivery, link string) {
	if p.task.Partial == nil || link == "" || link == p.seen {
		return
	}
	p.seen = link
	// A preview that nobody needs any more is not taken for a result of the operation.
	scope := media.ScopeOf(ctx)
	scope.Operation = ""
	brief, stop := context.WithTimeout(media.WithScope(ctx, scope), previewTime)
	defer stop()
	b, _, err := x.fetchOnce(d.trusting(brief), link)
	if err != nil || d.acceptable(b) != nil || x.isShown(p.call, b) {
		return
	}
	p.task.Partial(1, b)
}

// isShown reports whether a frame is the newest preview of a call's first result.
func (x *execution) isShown(c call, b media.Blob) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.previews[c.slots[0]].last.Digest == b.Digest
}
