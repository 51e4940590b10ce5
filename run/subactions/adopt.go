package subactions

import (
	"context"
	"log/slog"
	"time"

	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
)

const (
	// adoptDelay is the minimum age of a row that another process adopts: the row's own process is about to start it.
	adoptDelay = 5 * time.Second
	// recheckDelay is the pause between two checks of a sub-action that another process executes, or whose wait has
	// elapsed.
	recheckDelay = 15 * time.Second
)

var _ run.Kind = (*Service)(nil)

// Adopt continues the unfinished sub-actions of all owners and returns their number. Living processes keep theirs,
// because their generations have leases.
func (s *Service) Adopt(ctx context.Context) (n int, err error) {
	open, err := ledger.All(func(p ledger.Page) (ledger.List[ledger.ContentGeneration], error) {
		return s.cfg.Ledger.ListOpenContentGenerations(ctx, p)
	})
	if err != nil {
		return 0, err
	}
	for _, row := range open {
		if t := s.find(row.ID); t != nil && (!t.released() || s.cfg.Now().Sub(t.begun) < recheckDelay) || s.cfg.Now().Sub(row.UpdatedAt) < adoptDelay {
			continue
		}
		if row.OperationID == "" {
			err = s.again(ctx, row)
			_, unknown := s.cfg.Actions.Find(row.ActionType) // another process may know it
			if code := media.CodeOf(err); unknown == nil && (code == media.CodeInvalid || code == media.CodeNotFound || code == media.CodeUnsupported) {
				err = s.end(scope(ctx, row), &task{row: row, begun: s.cfg.Now()}, nil, err) // it can never start
			}
		} else {
			err = s.begin(row, func(ctx context.Context) (*generate.Result, error) { //nolint:contextcheck // it lives as long as the service
				return s.cfg.Gateway.PollOnce(ctx, row.OperationID)
			})
		}
		if err != nil {
			slog.WarnContext(ctx, "sub-action not adopted", slog.String("sub_action", row.ID), slog.String("error", media.ErrorText(err.Error())))
			continue
		}
		n++
	}
	return n, nil
}
