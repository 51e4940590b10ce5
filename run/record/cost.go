package record

import (
	"cmp"
	"context"

	"atelier/agent"
	"atelier/ledger"
	"atelier/run/operations"
)

// Total adds the generations of a run to the cost of its model calls: for a root run those of the
// whole tree, otherwise the run's own. The cost that a provider reported takes precedence over the
// estimate. The cost is complete only if every paid generation has a price; if nothing was paid, it
// is known to be zero. After an error it is what is known.
func (o *Observer) Total(ctx context.Context, owner, tree, runID string, c agent.Cost) (agent.Cost, error) {
	ops, err := ledger.All(func(p ledger.Page) (ledger.List[ledger.Operation], error) {
		return o.store.ListOperations(ctx, owner, ledger.OperationQuery{Tree: tree, Page: p})
	})
	if err != nil {
		c.Complete = false
		return c, err
	}
	for _, op := range ops {
		if runID != tree && op.RunID != runID || operations.Unpaid(op) {
			continue
		}
		cost := cmp.Or(op.ReportedUSD, op.EstimatedUSD)
		c.EstimatedUSD = agent.AddUSD(c.EstimatedUSD, cost)
		c.ReportedUSD = agent.AddUSD(c.ReportedUSD, op.ReportedUSD)
		c.Complete = c.Complete && cost != nil && operations.UsageOf(op).Unsettled == 0
	}
	if nothing := "0"; c.Complete && c.EstimatedUSD == nil {
		c.EstimatedUSD = &nothing
	}
	return c, nil
}
