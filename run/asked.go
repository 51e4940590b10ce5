package run

import (
	"context"

	"atelier/ledger"
)

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

// Ended tells whether a run is on record as one that succeeded or failed.
func (o *Observer) Ended(ctx context.Context, owner, runID string) bool {
	row, err := o.store.Run(ctx, owner, runID)
	return err == nil && (row.Status == ledger.StatusSucceeded || row.Status == ledger.StatusFailed)
}
