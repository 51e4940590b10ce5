package run

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"atelier/media"
	"atelier/run/durable"
)

// startTimeout bounds how long adopted work may take to start: a busy machine is slow, and other work may have to end
// first.
const startTimeout = 30 * time.Second

// adoptRun adopts a run and waits until it starts. If several processes try, one succeeds.
func (s *Service) adoptRun(ctx context.Context, r *Run) (*Run, error) {
	if err := s.local.enter(r); err != nil {
		return nil, err
	}
	if err := s.cfg.Engine.Adopt(ctx, partID(r.ID, r.part)); err != nil {
		s.local.abandon(r)
		return nil, inProgressError(r.ID, err)
	}
	return s.local.awaitStart(ctx, r)
}

// ErrInProgress is wrapped by errors that name the process that executes a run, its start time, and how to follow the
// run. These errors have code media.CodeConflict.
var ErrInProgress = durable.ErrInProgress

// inProgressError adds the run to an error of the engine.
func inProgressError(run string, err error) error {
	if !errors.Is(err, ErrInProgress) {
		return err
	}
	return media.Errorf(media.CodeConflict, "run %s is already running: %w (atelier runs events %[1]s)", run, err)
}

// handLimit bounds how long steps of adopted runs without a caller may continue when the service closes.
const handLimit = 10 * time.Second

// Adopt adopts the runs whose processes have died and whose settings this service can create agents for, as far as
// the engine has room, and returns their number. Cancelled runs whose process died before it noticed end as cancelled.
// Failures are logged, and those runs stay.
func (s *Service) Adopt(ctx context.Context) (int, error) {
	if s.cfg.Engine == nil {
		return 0, nil
	}
	orphans, err := s.cfg.Engine.Orphans(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, o := range orphans {
		if full, err := s.cfg.Engine.Full(); full || err != nil {
			return n, err
		}
		var w work
		err := json.Unmarshal(o.Input, &w)
		if err == nil {
			_, err = s.agentsBySetting.forSetting(ctx, w.Setting)
		}
		if err == nil {
			err = s.cfg.Engine.Adopt(ctx, o.ID)
		}
		if errors.Is(err, ErrInProgress) {
			continue // another process was faster
		}
		if err != nil {
			slog.WarnContext(ctx, "run not adopted", slog.String("run", o.ID), slog.String("error", media.ErrorText(err.Error())))
			continue
		}
		n++
	}
	// Parts whose answers were accepted by processes that then died.
	answered, err := s.cfg.Ledger.ListAnswered(ctx, s.cfg.Now().Add(-answerGracePeriod))
	if err != nil {
		return n, err
	}
	for _, st := range answered {
		if _, _, err := s.cfg.Engine.State(partID(st.RunID, st.Number)); media.CodeOf(err) != media.CodeNotFound {
			continue // it has started, and may be an orphan
		}
		if _, err := s.restart(ctx, st); err != nil {
			slog.WarnContext(ctx, "answered run not continued", slog.String("run", st.RunID), slog.String("error", media.ErrorText(err.Error())))
			continue
		}
		n++
	}
	return n, nil
}

// answerGracePeriod is how long the process that accepted an answer may take to continue the run.
const answerGracePeriod = 5 * time.Second

// Kind is a kind of work that can outlive its process: [Service] is the kind of agent runs.
type Kind interface {
	// Adopt adopts this kind's work of dead processes, as far as there is room, and returns its amount. It does not
	// wait for that work, which is handed over when ctx ends. It leaves work of living processes and of earlier calls
	// alone. One goroutine calls it every few seconds.
	Adopt(ctx context.Context) (int, error)
}

var _ Kind = (*Service)(nil)
