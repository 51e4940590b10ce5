package agent

import (
	"context"
	"sync"

	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// replayed gives the context of a root run that was begun before: where its caller ends it,
// what was done before is gone through all the same, so that the run ends with all that it
// did, and the first thing that is new does not begin.
func (r *run) replayed(ctx context.Context) (replayed context.Context, over func()) {
	if r.depth > 0 { // a sub-agent has a part of its parent's context
		return ctx, func() {}
	}
	if r.replays = r.request.Begun || len(r.journal.Recalled()) > 0; !r.replays {
		return ctx, func() {}
	}
	return journal.Lagging(ctx)
}

// begins says why an act does not begin: it is new, and the run was ended before.
func (r *run) begins(ctx context.Context, name step.Name) error {
	if r.journal.Knows(name.String()) {
		return nil
	}
	_ = journal.Live(ctx) // the end of its context tells
	return notBegun(ctx)
}

// notBegun says why an act is not begun: the run ended while it waited its turn.
func notBegun(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return media.Errorf(media.CodeOf(err), "not begun, because the run was ended before: %w", err)
	}
	return nil
}

// recall is what a Go agent did before and has not asked for again: its code comes to
// something new when it has, or when it asks for something else.
type recall struct {
	// whole tells that the code came to its end: it does nothing new.
	whole bool
	mu    sync.Mutex // guards steps
	steps map[string]bool
}

// endedBefore reports whether the code of a sub-agent came to its end in an earlier process. It
// is asked before the run is on record as one that begins. One that failed in an earlier part
// may be what is tried again.
func (r *run) endedBefore(ctx context.Context) bool {
	a, ok := r.r.cfg.Observer.(Witness)
	if !ok || !r.replays || r.depth == 0 || r.spec.code == nil {
		return false
	}
	status := a.StatusOf(context.WithoutCancel(ctx), r.owner, r.id)
	return status == StatusSucceeded || status == StatusFailed && r.part == 0
}

// recalled lists what the code of a Go agent did before: acts, and answers that it was given.
func (r *run) recalled() *recall {
	c := &recall{whole: r.whole, steps: map[string]bool{}}
	for _, name := range r.journal.Recalled() {
		if n := step.Parse(name); len(n.Tail) == 0 && (n.Kind == step.KindCodeQuestion || n.Kind == step.KindAction && n.Turn == 1) {
			c.steps[name] = true
		}
	}
	return c
}

// ask notes that the code asked for something; the empty name is its beginning. When it has
// all that it had before, it may wait for the end of its context. Nil notes nothing: the code
// of an action runs within a step.
func (c *recall) ask(ctx context.Context, name string) {
	if c == nil || c.whole {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.steps, name)
	if len(c.steps) == 0 {
		_ = journal.Live(ctx) // what comes next finds out
	}
}
