package run

import (
	"context"

	"atelier/agent"
	"atelier/ledger"
)

var _ agent.Witness = (*Observer)(nil)

// OpenPrompts gives the ids of the model calls of a run that are on record without an end:
// those that its process had no answer to when it ended.
func (o *Observer) OpenPrompts(ctx context.Context, owner, runID string) (open []string, err error) {
	for p := (ledger.Page{Limit: ledger.MaxLimit}); ; {
		list, err := o.store.ListPrompts(ctx, owner, runID, p)
		if err != nil {
			return nil, err
		}
		for _, call := range list.Items {
			if call.FinishedAt.IsZero() {
				open = append(open, call.ID)
			}
		}
		if p.After = list.Next; p.After == "" {
			return open, nil
		}
	}
}

// StatusOf gives the status of a run in the ledger; empty where it cannot be read.
func (o *Observer) StatusOf(ctx context.Context, owner, runID string) agent.Status {
	row, err := o.store.Run(ctx, owner, runID)
	if err != nil {
		return ""
	}
	return agent.Status(row.Status)
}
