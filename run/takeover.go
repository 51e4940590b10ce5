package run

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
)

// takenOver tells that a run that had begun goes on in this process. That it goes on with
// an answer is told by its agent.
func (s *Service) takenOver(ctx context.Context, row ledger.Run) {
	s.cfg.Observer.Emit(ctx, agent.Event{
		Type: agent.EventRunResumed, Tree: row.ID, RunID: row.ID, AgentPath: row.AgentPath, At: s.cfg.Now(),
		Data: agent.RunStarted{Agent: row.Agent, Name: row.Agent, Task: row.Task},
	})
}

// takenWithin is how long it may take until what was handed over begins: a busy machine
// is slow, and who waits longer is told that another process has it.
const takenWithin = 30 * time.Second

// take takes a run over and waits until it begins.
func (s *Service) take(ctx context.Context, r *Run) (*Run, error) {
	if err := s.enter(r); err != nil {
		return nil, err
	}
	if err := s.cfg.Engine.TakeOver(ctx, partID(r.ID, r.part)); err != nil {
		s.leave(r)
		return nil, err
	}
	return s.begun(ctx, r)
}

// begun waits until work on a run that was admitted begins in this process.
func (s *Service) begun(ctx context.Context, r *Run) (*Run, error) {
	limit := time.NewTimer(takenWithin)
	defer limit.Stop()
	var err error
	select {
	case <-r.taken:
		return r, nil
	case <-limit.C:
		err = media.Errorf(media.CodeConflict, "another process goes on with run %s: wait for it (atelier runs events %[1]s)", r.ID)
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.leave(r)
	return nil, err
}

// TakeOver takes over all runs whose processes have ended and whose settings this
// service has, and gives how many there were. The others are logged and stay.
func (s *Service) TakeOver(ctx context.Context) (int, error) {
	if s.cfg.Engine == nil {
		return 0, nil
	}
	orphans, err := s.cfg.Engine.Orphans(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, o := range orphans {
		var w work
		err := json.Unmarshal(o.Input, &w)
		if err == nil {
			_, err = s.outfit(ctx, w.Setting)
		}
		if err == nil {
			err = s.cfg.Engine.TakeOver(ctx, o.ID)
		}
		if err != nil {
			slog.WarnContext(ctx, "run not taken over", slog.String("run", o.ID), slog.String("error", media.Scrub(err.Error())))
			continue
		}
		n++
	}
	m, err := s.beginAnswered(ctx)
	return n + m, err
}

// answeredBefore is how long whoever took an answer may take to go on with the run.
const answeredBefore = 5 * time.Second

// beginAnswered begins the parts whose answers were taken by processes that ended then.
func (s *Service) beginAnswered(ctx context.Context) (n int, err error) {
	answered, err := s.cfg.Ledger.ListAnswered(ctx, s.cfg.Now().Add(-answeredBefore), ledger.MaxLimit)
	if err != nil {
		return 0, err
	}
	for _, st := range answered {
		if _, _, err := s.cfg.Engine.State(partID(st.RunID, st.Number)); media.CodeOf(err) != media.CodeNotFound {
			continue // it has begun, and may be an orphan
		}
		if _, err := s.again(ctx, st); err != nil {
			slog.WarnContext(ctx, "answered run not begun", slog.String("run", st.RunID), slog.String("error", media.Scrub(err.Error())))
			continue
		}
		n++
	}
	return n, nil
}
