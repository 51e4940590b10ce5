package run

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"atelier/agent"
	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
)

// Abandoner ends a generation that nobody wants any more; *generate.Gateway does.
type Abandoner interface {
	// Abandon ends an operation of the owner in ctx that a process left, and gives what came of
	// it; media.CodeConflict where another process works on it.
	Abandon(ctx context.Context, operation string) (*generate.Result, error)
}

var _ Abandoner = (*generate.Gateway)(nil)

// closing gives what closes the open generations of a part when its run ends. What they made is
// the run's.
func (s *Service) closing(w work) func(context.Context, agent.Status) []media.Output {
	return func(ctx context.Context, status agent.Status) []media.Output {
		if status != agent.StatusCancelled && !w.taken && w.Part == 0 {
			return nil // no process before this one left any
		}
		return s.closeOpen(ctx, w.Request, status)
	}
}

// closeOpen ends the generations of a run that ends and that are open: code of an act may have
// begun them in a process that was killed, and the act is not begun again. Of a run that was not
// cancelled those stay whose tasks were left to be fetched.
func (s *Service) closeOpen(ctx context.Context, req agent.Request, status agent.Status) (made []media.Output) {
	if s.cfg.Gateway == nil {
		return nil
	}
	save, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	ids, err := s.open(save, req, status)
	for _, id := range ids {
		res, failed := s.cfg.Gateway.Abandon(media.WithScope(ctx, media.Scope{Owner: req.Owner, Tree: req.RunID, Run: req.RunID}), id)
		switch {
		case failed == nil:
			made = append(made, res.Outputs()...)
		case media.CodeOf(failed) != media.CodeConflict: // else somebody works on it
			err = errors.Join(err, failed)
		}
	}
	if err != nil {
		slog.WarnContext(ctx, "open generations of a run not ended", slog.String("run", req.RunID), slog.String("error", media.ErrorText(err.Error())))
	}
	return made
}

// open lists the open generations of a run that nobody is to go on with, oldest first.
func (s *Service) open(ctx context.Context, req agent.Request, status agent.Status) (ids []string, err error) {
	p := ledger.Page{Limit: ledger.MaxLimit}
	for {
		list, err := s.cfg.Ledger.ListOperations(ctx, req.Owner, ledger.OperationQuery{Tree: req.RunID, Page: p})
		if err != nil {
			return ids, err
		}
		for _, op := range list.Items {
			fetched := status != agent.StatusCancelled && op.Status == string(generate.StatusRunning)
			if op.FinishedAt.IsZero() && !fetched {
				ids = append(ids, op.ID)
			}
		}
		if p.After = list.Next; p.After == "" {
			slices.Reverse(ids)
			return ids, nil
		}
	}
}
