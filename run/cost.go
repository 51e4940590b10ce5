package run

import (
	"cmp"
	"context"
	"encoding/json"

	"atelier/agent"
	"atelier/generate"
	"atelier/ledger"
)

// total adds the generations of a run to the cost of its model calls: for a root
// run those of the whole tree, else the run's own. Of each counts what its provider
// reported, else its estimate. The cost is complete only if every generation that was paid
// has a price; where nothing was paid, it is known to be nothing. On an error it is what is
// known.
func (o *Observer) total(ctx context.Context, owner, tree, runID string, c agent.Cost) (agent.Cost, error) {
	p := ledger.Page{Limit: ledger.MaxLimit}
	for {
		list, err := o.store.ListOperations(ctx, owner, ledger.OperationQuery{Tree: tree, Page: p})
		if err != nil {
			c.Complete = false
			return c, err
		}
		for _, op := range list.Items {
			if runID != tree && op.RunID != runID || unpaid(op) {
				continue
			}
			cost := cmp.Or(op.ReportedUSD, op.EstimatedUSD)
			c.EstimatedUSD = agent.AddUSD(c.EstimatedUSD, cost)
			c.ReportedUSD = agent.AddUSD(c.ReportedUSD, op.ReportedUSD)
			c.Complete = c.Complete && cost != nil && usageOf(op).Unsettled == 0
		}
		if p.After = list.Next; p.After == "" {
			if nothing := "0"; c.Complete && c.EstimatedUSD == nil {
				c.EstimatedUSD = &nothing
			}
			return c, nil
		}
	}
}

// unpaid tells operations that gave nothing and for which nothing was charged.
func unpaid(op ledger.Operation) bool {
	switch generate.Status(op.Status) {
	case generate.StatusFailed, generate.StatusModerated, generate.StatusCancelled:
		u := usageOf(op)
		return op.ReportedUSD == nil && u.Images == 0 && u.Unsettled == 0
	default:
		return false
	}
}

// usageOf is what the provider counted. Rows that cannot be read count nothing.
func usageOf(op ledger.Operation) (u generate.Usage) {
	_ = json.Unmarshal(op.Usage, &u)
	return u
}
