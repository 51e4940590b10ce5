package run

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"atelier/agent"
	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/operations"
)

// closeOpen ends the open generations of a run that ends: an act in a killed process may have started them, and the act
// is not repeated. Unless the run was cancelled, tasks whose results are to be fetched later stay open.
func (p player) closeOpen(ctx context.Context, req agent.Request, status agent.Status) (made []media.Output) {
	if p.gateway == nil {
		return nil
	}
	save, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	open, err := p.open(save, req, status)
	ctx = media.WithScope(ctx, media.Scope{Owner: req.Owner, Tree: req.RunID, Run: req.RunID})
	ended, failed := make([]*generate.Result, len(open)), make([]error, len(open))
	var all sync.WaitGroup
	for i, op := range open { // together, because to take one from another process takes seconds
		end := p.gateway.Abandon
		if operations.OfSubAction(op) { // a living server executes it, and must not finish what the person cancels
			end = p.gateway.Cancel
		}
		all.Go(func() { ended[i], failed[i] = end(ctx, op.ID) })
	}
	all.Wait()
	for i, res := range ended {
		switch {
		case failed[i] == nil:
			made = append(made, res.Outputs()...)
		case media.CodeOf(failed[i]) != media.CodeConflict: // otherwise another process is working on it
			err = errors.Join(err, failed[i])
		}
	}
	if err != nil {
		slog.WarnContext(ctx, "open generations of a run not cancelled", slog.String("run", req.RunID), slog.String("error", media.ErrorText(err.Error())))
	}
	return made
}

// open lists the open generations of a run that will not be continued, oldest first. Those of sub-actions stay open
// unless the run was cancelled: the answer to the interaction decides about them.
func (p player) open(ctx context.Context, req agent.Request, status agent.Status) ([]ledger.Operation, error) {
	ops, err := ledger.All(func(page ledger.Page) (ledger.List[ledger.Operation], error) {
		return p.ledger.ListOperations(ctx, req.Owner, ledger.OperationQuery{Tree: req.RunID, Page: page})
	})
	slices.Reverse(ops)
	return slices.DeleteFunc(ops, func(op ledger.Operation) bool {
		stays := status != agent.StatusCancelled && (op.Status == string(generate.StatusRunning) || operations.OfSubAction(op))
		return stays || !op.FinishedAt.IsZero()
	}), err
}
