package run

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

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
