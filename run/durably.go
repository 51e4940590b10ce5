package run

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"atelier/agent"
	"atelier/journal"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/durable"
)

func (s *Service) beginDurably(ctx context.Context, r *Run, w work) error {
	input, err := json.Marshal(w)
	if err != nil {
		return media.Errorf(media.CodeInternal, "write run %s: %w", r.ID, err)
	}
	return s.cfg.Engine.Start(ctx, partID(r.ID, w.Part), input)
}

// perform is the engine's work: it executes a part of a run, from its beginning or from where an earlier process
// stopped.
func (s *Service) perform(ctx context.Context, j journal.Journal, _ string, input []byte) error {
	var w work
	if err := json.Unmarshal(input, &w); err != nil {
		return media.Errorf(media.CodeCorrupt, "read a run: %w", err)
	}
	r, err := s.local.claim(ctx, w)
	if err != nil {
		return journal.ErrHandedOver
	}
	if r == nil {
		return nil // a later part is executed here
	}
	return s.execute(ctx, r, w, j)
}

// execute executes a part of a run that was admitted to this process. It returns journal.ErrHandedOver if another
// process continues the part. Without an engine, the part ends with its process, and j may be nil.
func (s *Service) execute(ctx context.Context, r *Run, w work, j journal.Journal) error {
	defer s.local.leave(r)
	defer close(r.done)
	defer r.markStarted()
	agents, err := s.agentsBySetting.forSetting(ctx, w.Setting)
	if err != nil {
		r.err = err
		return journal.ErrHandedOver // another process may have what is missing
	}
	if over, err := s.recallRun(ctx, r, agents, &w); err != nil {
		r.err = err
		return journal.ErrHandedOver
	} else if over {
		return nil
	}
	r.setConversation(w)
	r.markStarted()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.stop, cancel)() //nolint:contextcheck // the run or the engine cancels it
	if r.stop.Err() != nil {
		cancel() // before anything starts
	}
	r.result, r.err = s.player.play(ctx, agents, w, j)
	if s.cfg.Engine == nil {
		return nil
	}
	// A part that does not continue later has ended, and the ledger has its outcome.
	if s.cfg.Engine.StopIfAdopted(ctx, partID(r.ID, r.part)); journal.HandedOver(ctx) {
		if adopted, reason := durable.Abandoned(ctx); adopted {
			r.result, r.err = nil, inProgressError(r.ID, media.Errorf(media.CodeConflict, "%w: %w", reason, ErrInProgress))
		} else if reason != nil {
			r.err = media.Errorf(media.CodeUnavailable, "run %s was interrupted: %w; once that is repaired, atelier resume %[1]s or atelier serve continues it", r.ID, reason)
		}
		return journal.ErrHandedOver
	}
	if lost := (*unsaved)(nil); errors.As(r.err, &lost) {
		return journal.ErrHandedOver
	}
	if r.result == nil && r.err != nil {
		s.player.fail(ctx, w.Request, r.err)
	}
	return nil
}

// recallRun reads a part that another process may have started, even of a cancelled run, which ends as cancelled, and
// reports its continuation here. over reports that the part has ended.
func (s *Service) recallRun(ctx context.Context, r *Run, agents *agent.Runner, w *work) (over bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	var row ledger.Run
	unknown := error(nil)
	if !r.fresh {
		row, unknown = s.cfg.Ledger.Run(ctx, w.Request.Owner, w.Request.RunID)
	}
	r.result, err = s.player.recallPart(ctx, w, !r.fresh && unknown == nil)
	w.maybeStarted = !r.fresh
	if err != nil || r.result != nil || r.fresh || unknown != nil {
		return r.result != nil, err
	}
	// The agent reports the continuation of an answer.
	resumed := agent.RunStarted{Agent: row.Agent, Name: agents.DisplayName(row.Agent), Task: row.Task, InputImages: row.InputImages}
	s.player.observer.Emit(ctx, agent.Event{
		Type: agent.EventRunResumed, Tree: row.ID, RunID: row.ID, AgentPath: row.AgentPath, At: s.player.now(), Data: resumed,
	})
	return false, nil
}

// setConversation sets the run's conversation once, because the caller of the run may read it when the work starts.
func (r *Run) setConversation(w work) {
	if w.Thread != nil && r.Conversation == "" {
		r.Conversation = w.Thread.ID
	}
}

// Healthy reports whether the requirements of runs are available: the engine's database, and whatever else the engine
// checks.
func (s *Service) Healthy(ctx context.Context) error {
	if s.cfg.Engine == nil {
		return nil
	}
	return s.cfg.Engine.Healthy(ctx)
}

// HandOver ends the service without ending its runs: steps in progress may finish while ctx lasts, and another process
// continues the runs. Without an engine, it is [Service.Close].
func (s *Service) HandOver(ctx context.Context) {
	if s.cfg.Engine == nil {
		s.Close() //nolint:contextcheck // there is nothing to hand over
		return
	}
	s.local.stopAdmitting()
	s.shutDown(ctx)
}

// shutDown closes the engine, which hands over its runs, and the agents created for settings, and saves the last events.
func (s *Service) shutDown(ctx context.Context) {
	if s.cfg.Engine != nil {
		if err := s.cfg.Engine.Close(ctx); err != nil {
			slog.WarnContext(ctx, "durable engine not closed", slog.String("error", media.ErrorText(err.Error())))
		}
	}
	s.agentsBySetting.close()
	s.local.active.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	if err := s.cfg.Observer.Flush(ctx); err != nil {
		slog.WarnContext(ctx, "last events not saved", slog.String("error", media.ErrorText(err.Error())))
	}
}
