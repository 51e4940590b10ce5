package record

import (
	"context"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
)

var _ agent.Witness = (*Observer)(nil)

// OpenPrompts returns the ids of a run's recorded model calls without an end: those that had no
// response when their process ended.
func (o *Observer) OpenPrompts(ctx context.Context, owner, runID string) (open []string, err error) {
	calls, err := ledger.AllOf(ctx, o.store.ListPrompts, owner, runID)
	for _, call := range calls {
		if call.FinishedAt.IsZero() {
			open = append(open, call.ID)
		}
	}
	return open, err
}

// Emitted returns a function that reports whether an event of a run tree is in the ledger.
func (o *Observer) Emitted(ctx context.Context, owner, tree string) (has func(agent.Event) bool, err error) {
	known := map[string]bool{}
	for after := int64(0); ; {
		part, err := o.store.ListEvents(ctx, owner, tree, after, ledger.MaxLimit)
		if err != nil && media.CodeOf(err) != media.CodeNotFound {
			return nil, err
		}
		for _, e := range part {
			known[e.ID], after = true, e.Sequence
		}
		if len(part) < ledger.MaxLimit {
			return func(e agent.Event) bool { return known[eventID(e)] }, nil
		}
	}
}

// StatusOf returns the status of a run in the ledger; empty if it cannot be read.
func (o *Observer) StatusOf(ctx context.Context, owner, runID string) agent.Status {
	row, err := o.store.Run(ctx, owner, runID)
	if err != nil {
		return ""
	}
	return agent.Status(row.Status)
}
