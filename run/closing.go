package run

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"atelier/agent"
	"atelier/generate"
	"atelier/generate/gateway"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/conversation"
	"atelier/run/operations"
	"atelier/run/record"
)

// endings ends runs and their open generations outside of the runs' agents.
type endings struct {
	ledger   ledger.Store
	observer *record.Observer
	gateway  *gateway.Gateway // nil: open generations stay
	threads  conversation.Store
	now      func() time.Time
}

// closeOpen ends the open generations of a run that ends: an act in a killed process may have started them, and the act
// is not repeated. Unless the run was cancelled, tasks whose results are to be fetched later stay open.
func (e endings) closeOpen(ctx context.Context, req agent.Request, status agent.Status) (made []media.Output) {
	if e.gateway == nil {
		return nil
	}
	save, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	open, err := e.open(save, req, status)
	for _, op := range open {
		end := e.gateway.Abandon
		if operations.OfSubAction(op) { // a living server executes it, and must not finish what the person cancels
			end = e.gateway.Cancel
		}
		res, failed := end(media.WithScope(ctx, media.Scope{Owner: req.Owner, Tree: req.RunID, Run: req.RunID}), op.ID)
		switch {
		case failed == nil:
			made = append(made, res.Outputs()...)
		case media.CodeOf(failed) != media.CodeConflict: // otherwise another process is working on it
			err = errors.Join(err, failed)
		}
	}
	if err != nil {
		slog.WarnContext(ctx, "open generations of a run not cancelled", slog.String("run", req.RunID), slog.String("error", media.ErrorText(err.Error())))
	}
	return made
}

// open lists the open generations of a run that will not be continued, oldest first. Those of sub-actions stay open
// unless the run was cancelled: the answer to the interaction decides about them.
func (e endings) open(ctx context.Context, req agent.Request, status agent.Status) ([]ledger.Operation, error) {
	ops, err := ledger.All(func(p ledger.Page) (ledger.List[ledger.Operation], error) {
		return e.ledger.ListOperations(ctx, req.Owner, ledger.OperationQuery{Tree: req.RunID, Page: p})
	})
	slices.Reverse(ops)
	return slices.DeleteFunc(ops, func(op ledger.Operation) bool {
		stays := status != agent.StatusCancelled && (op.Status == string(generate.StatusRunning) || operations.OfSubAction(op))
		return stays || !op.FinishedAt.IsZero()
	}), err
}
