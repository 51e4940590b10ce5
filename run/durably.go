package run

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"atelier/action"
	"atelier/agent"
	"atelier/journal"
	"atelier/media"
	"atelier/run/durable"
)

// work is a run as the engine keeps it.
type work struct {
	Request agent.Request   `json:"request"`
	Thread  *thread         `json:"thread,omitempty"`
	Setting json.RawMessage `json:"setting,omitempty"`
}

// outfit is agents that were made for a setting.
type outfit struct {
	agents Agents
	closer func()
}

func (s *Service) beginDurably(ctx context.Context, r *Run, w work) error {
	input, err := json.Marshal(w)
	if err != nil {
		return media.Errorf(media.CodeInternal, "write run %s: %w", r.ID, err)
	}
	return s.cfg.Engine.Start(ctx, r.ID, input)
}

// perform is the work of the engine: one run, from its beginning or from where an earlier
// process left it.
func (s *Service) perform(ctx context.Context, j journal.Journal, id string, input []byte) error {
	var w work
	if err := json.Unmarshal(input, &w); err != nil {
		return media.Errorf(media.CodeCorrupt, "read run %s: %w", id, err)
	}
	r, err := s.claim(ctx, id)
	if err != nil {
		return journal.ErrLeft
	}
	defer s.leave(r)
	defer close(r.done)
	if w.Thread != nil {
		r.Conversation = w.Thread.ID
	}
	agents, err := s.outfit(ctx, w.Setting)
	if err != nil {
		r.err = err
		return journal.ErrLeft // another process may have what it needs
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.stop, cancel)() //nolint:contextcheck // the run is cancelled by itself or by the engine
	w.Request.Journal = j
	s.resumed(ctx, w.Request)
	r.result, r.err = s.execute(ctx, agents, w.Request, w.Thread)
	if journal.Left(ctx) {
		return journal.ErrLeft
	}
	if r.result == nil && r.err != nil {
		s.fail(ctx, w.Request, r.err)
	}
	return nil // how the run ended is in the ledger
}

// fail ends a run that could not go on, where it had begun before: its agent is not
// there any more, for instance.
func (s *Service) fail(ctx context.Context, req agent.Request, why error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	row, err := s.cfg.Ledger.Run(ctx, req.Owner, req.RunID)
	if err != nil {
		return // it had not begun: its caller is told
	}
	rec := agent.RunRecord{
		ID: row.ID, Tree: row.Tree, Agent: row.Agent, AgentPath: row.AgentPath, Task: row.Task, Status: agent.StatusFailed,
		Error:     &action.Problem{Code: media.CodeOf(why), Message: media.Scrub(why.Error()), Retryable: media.Retryable(why)},
		StartedAt: row.StartedAt, FinishedAt: s.cfg.Now(),
	}
	ctx = media.WithScope(ctx, media.Scope{Owner: req.Owner, Tree: row.Tree, Run: row.ID, AgentPath: row.AgentPath})
	if err := s.cfg.Observer.SaveRun(ctx, rec); err != nil {
		slog.WarnContext(ctx, "end of run not saved", slog.String("run", row.ID), slog.String("error", media.Scrub(err.Error())))
	}
	s.cfg.Observer.Emit(ctx, agent.Event{
		Type: agent.EventRunFailed, Tree: row.Tree, RunID: row.ID, AgentPath: row.AgentPath, At: rec.FinishedAt,
		Data: agent.RunFinished{Status: rec.Status, Error: rec.Error},
	})
}

// claim finds the run that was started or resumed here, or admits one that the engine
// brings.
func (s *Service) claim(ctx context.Context, id string) (*Run, error) {
	s.mu.Lock()
	r, ok := s.here[id]
	s.mu.Unlock()
	if !ok {
		r = newRun(ctx, id)
		if err := s.enter(r); err != nil {
			return nil, err
		}
	}
	close(r.taken)
	return r, nil
}

// resumed tells that a run goes on, where an earlier process had begun it.
func (s *Service) resumed(ctx context.Context, req agent.Request) {
	row, err := s.cfg.Ledger.Run(ctx, req.Owner, req.RunID)
	if err != nil {
		return // it had not begun
	}
	s.cfg.Observer.Emit(ctx, agent.Event{
		Type: agent.EventRunResumed, Tree: row.ID, RunID: row.ID, AgentPath: row.AgentPath, At: s.cfg.Now(),
		Data: agent.RunStarted{Agent: row.Agent, Name: row.Agent, Task: row.Task},
	})
}

// outfit gives the agents for a setting.
func (s *Service) outfit(ctx context.Context, setting json.RawMessage) (Agents, error) {
	key := string(setting)
	if s.cfg.Outfit == nil || key == string(s.cfg.Setting) {
		return s.cfg.Agents, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, ok := s.outfits[key]; ok {
		return o.agents, nil
	}
	agents, closer, err := s.cfg.Outfit(context.WithoutCancel(ctx), setting)
	if err != nil {
		return nil, err
	}
	s.outfits[key] = outfit{agents, closer}
	return agents, nil
}

// takenWithin is how long it may take until what was handed over begins: a busy machine
// is slow, and who waits longer is told that another process has it.
const takenWithin = 30 * time.Second

// Resume goes on with a run whose process has ended, from its last finished step; any
// run of its tree names it. Errors: media.CodeNotFound for an unknown run or somebody
// else's, media.CodeConflict for one that is over or under way, media.CodeUnsupported for
// one that was not begun durably.
func (s *Service) Resume(ctx context.Context, owner, runID string) (*Run, error) {
	row, err := s.cfg.Ledger.Run(ctx, owner, runID)
	if err != nil {
		return nil, err
	}
	if s.cfg.Engine == nil {
		return nil, media.Errorf(media.CodeUnsupported, "run %s cannot be resumed: this service has no durable engine", runID)
	}
	state, input, err := s.cfg.Engine.State(row.Tree)
	switch {
	case media.CodeOf(err) == media.CodeNotFound && row.FinishedAt.IsZero():
		return nil, media.Errorf(media.CodeUnsupported, "run %s cannot be resumed: it was begun without the durable engine; start it anew", runID)
	case media.CodeOf(err) == media.CodeNotFound || err == nil && state == durable.StateOver:
		return nil, media.Errorf(media.CodeConflict, "run %s is over, it %s: atelier runs show %[1]s tells what it made", row.ID, row.Status)
	case err != nil:
		return nil, err
	case state == durable.StateUnderWay:
		return nil, media.Errorf(media.CodeConflict, "run %s is under way in another process: wait for it (atelier runs events %[1]s)", row.ID)
	}
	var w work
	if err := json.Unmarshal(input, &w); err != nil {
		return nil, media.Errorf(media.CodeCorrupt, "read run %s: %w", row.Tree, err)
	}
	if _, err := s.outfit(ctx, w.Setting); err != nil {
		return nil, err
	}
	return s.take(ctx, newRun(ctx, row.Tree))
}

// End cancels a run wherever it is: one of another process stops there within a second,
// one whose process has ended is ended here. What it made is kept. The errors are those
// of [Service.Resume], but for a run that is under way.
func (s *Service) End(ctx context.Context, owner, runID string) error {
	row, err := s.cfg.Ledger.Run(ctx, owner, runID)
	if err != nil {
		return err
	}
	if s.cfg.Engine == nil || s.Cancel(row.Tree) == nil {
		return nil
	}
	state, _, err := s.cfg.Engine.State(row.Tree)
	if err == nil && state == durable.StateUnderWay {
		return s.cfg.Engine.Cancel(ctx, row.Tree)
	}
	if state != durable.StateOrphaned {
		_, err = s.Resume(ctx, owner, runID) // says why not
		return err
	}
	r := newRun(ctx, row.Tree)
	r.cancel()
	if r, err = s.take(ctx, r); err != nil {
		return err
	}
	_, err = r.Wait(ctx)
	if media.CodeOf(err) == media.CodeCancelled {
		return nil
	}
	return err
}

// take takes a run over and waits until it begins.
func (s *Service) take(ctx context.Context, r *Run) (*Run, error) {
	id := r.ID
	if err := s.enter(r); err != nil {
		return nil, err
	}
	err := s.cfg.Engine.TakeOver(ctx, id)
	if err == nil {
		limit := time.NewTimer(takenWithin)
		defer limit.Stop()
		select {
		case <-r.taken:
			return r, nil
		case <-limit.C:
			err = media.Errorf(media.CodeConflict, "another process goes on with run %s: wait for it (atelier runs events %[1]s)", id)
		case <-ctx.Done():
			err = ctx.Err()
		}
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
	return n, nil
}

// HandOver ends the service without ending its runs: steps that have begun may end while
// ctx lasts, and another process goes on from there. Without an engine it is [Service.Close].
func (s *Service) HandOver(ctx context.Context) {
	if s.cfg.Engine == nil {
		s.Close() //nolint:contextcheck // there is nothing to hand over: it ends at once
		return
	}
	s.shut()
	s.closeAll(ctx)
	s.runs.Wait()
}

// closeAll closes the engine and what was made for runs that were taken over.
func (s *Service) closeAll(ctx context.Context) {
	if s.cfg.Engine != nil {
		if err := s.cfg.Engine.Close(ctx); err != nil {
			slog.WarnContext(ctx, "durable engine not closed", slog.String("error", media.Scrub(err.Error())))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, o := range s.outfits {
		o.closer()
		delete(s.outfits, key)
	}
}
