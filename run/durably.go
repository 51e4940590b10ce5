package run

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"atelier/action"
	"atelier/agent"
	"atelier/journal"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/durable"
)

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
	return s.cfg.Engine.Start(ctx, partID(r.ID, w.Part), input)
}

// perform is the work of the engine: a part of a run, from its beginning or from where
// an earlier process left it.
func (s *Service) perform(ctx context.Context, j journal.Journal, _ string, input []byte) error {
	var w work
	if err := json.Unmarshal(input, &w); err != nil {
		return media.Errorf(media.CodeCorrupt, "read a run: %w", err)
	}
	r, err := s.claim(ctx, w)
	if err != nil {
		return journal.ErrLeft
	}
	if r == nil {
		return nil // a later part is here
	}
	defer s.leave(r)
	defer close(r.done)
	agents, err := s.outfit(ctx, w.Setting)
	if err != nil {
		r.err = err
		return journal.ErrLeft // another process may have what it needs
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.stop, cancel)() //nolint:contextcheck // the run is cancelled by itself or by the engine
	row, unknown := s.cfg.Ledger.Run(ctx, w.Request.Owner, w.Request.RunID)
	if r.result, r.err = s.recallPart(ctx, &w, unknown == nil); r.err != nil {
		return journal.ErrLeft
	}
	if r.result != nil {
		return nil
	}
	if unknown == nil && !r.fresh {
		s.takenOver(ctx, row)
	}
	r.setConversation(w)
	w.remembering(j)
	r.result, r.err = s.play(ctx, agents, w)
	if journal.Left(ctx) {
		if why := durable.Lost(ctx); why != nil {
			r.err = media.Errorf(media.CodeUnavailable, "run %s stopped where it is: %w; when that is mended, atelier resume %[1]s or atelier serve goes on with it", r.ID, why)
		}
		return journal.ErrLeft
	}
	if lost := (*unsaved)(nil); errors.As(r.err, &lost) {
		return journal.ErrLeft
	}
	if r.result == nil && r.err != nil {
		s.fail(ctx, w.Request, r.err)
	}
	return nil // how the part ended is in the ledger
}

// setConversation tells what conversation the run belongs to.
func (r *Run) setConversation(w work) {
	if w.Thread != nil {
		r.Conversation = w.Thread.ID
	}
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
	s.endAs(ctx, row, agent.StatusFailed, why)
}

// endAs ends a run outside of its agent. What it had counted stays.
func (s *Service) endAs(ctx context.Context, row ledger.Run, status agent.Status, why error) {
	p := action.Problem{Code: media.CodeOf(why), Message: media.Scrub(why.Error()), Retryable: media.Retryable(why)}
	row.Status, row.FinishedAt = ledger.Status(status), s.cfg.Now()
	row.Failure = ledger.Failure{Code: string(p.Code), Message: p.Message, Retryable: p.Retryable}
	if err := s.cfg.Ledger.FinishRun(ctx, row); err != nil {
		slog.WarnContext(ctx, "end of run not saved", slog.String("run", row.ID), slog.String("error", media.Scrub(err.Error())))
	}
	if row.Parent != "" {
		return
	}
	kind := agent.EventRunFailed
	if status == agent.StatusCancelled {
		kind = agent.EventRunCancelled
	}
	ctx = media.WithScope(ctx, media.Scope{Owner: row.Owner, Tree: row.Tree, Run: row.ID, AgentPath: row.AgentPath})
	s.cfg.Observer.Emit(ctx, agent.Event{
		Type: kind, Tree: row.Tree, RunID: row.ID, AgentPath: row.AgentPath, At: row.FinishedAt,
		Data: agent.RunFinished{Status: status, Error: &p},
	})
}

// claim finds the run that was started or resumed here, or admits one that the engine
// brings. It gives none where another part of the run is here: this one has ended.
func (s *Service) claim(ctx context.Context, w work) (*Run, error) {
	s.mu.Lock()
	r, ok := s.here[w.Request.RunID]
	s.mu.Unlock()
	if ok && r.part != w.Part {
		return nil, nil
	}
	if !ok {
		r = newRun(ctx, w.Request.RunID)
		r.part = w.Part
		if err := s.enter(r); err != nil {
			return nil, err
		}
	}
	close(r.taken)
	return r, nil
}

// takenOver tells that a run that had begun goes on in this process. That it goes on with
// an answer is told by its agent.
func (s *Service) takenOver(ctx context.Context, row ledger.Run) {
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

// Healthy tells whether what runs cannot do without can be used: the database of the
// engine, and what it looks at beside.
func (s *Service) Healthy(ctx context.Context) error {
	if s.cfg.Engine == nil {
		return nil
	}
	return s.cfg.Engine.Healthy(ctx)
}

// takenWithin is how long it may take until what was handed over begins: a busy machine
// is slow, and who waits longer is told that another process has it.
const takenWithin = 30 * time.Second

// End cancels a run wherever it is: one of another process stops there within a second,
// one that waits or whose process has ended is ended here. What it made is kept. The
// errors are those of [Service.Resume], but for a run that is under way.
func (s *Service) End(ctx context.Context, owner, runID string) error {
	row, err := s.cfg.Ledger.Run(ctx, owner, runID)
	if err != nil {
		return err
	}
	st, err := s.state(ctx, row)
	if err != nil {
		return err
	}
	if st.Status == ledger.WaitPaused {
		return s.endPaused(ctx, st)
	}
	if s.Cancel(row.Tree) == nil {
		return nil
	}
	if s.cfg.Engine == nil {
		_, err := s.goOn(ctx, row, st)
		return err
	}
	id := partID(row.Tree, st.Number)
	state, _, err := s.cfg.Engine.State(id)
	if err == nil && state == durable.StateUnderWay {
		return s.cfg.Engine.Cancel(ctx, id)
	}
	if state != durable.StateOrphaned {
		_, err = s.goOn(ctx, row, st) // says why not
		return err
	}
	r := newRun(ctx, row.Tree)
	r.part = st.Number
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

// endPaused ends a run that waits for a person.
func (s *Service) endPaused(ctx context.Context, st ledger.RunState) error {
	v, err := readSaved(st)
	if err != nil {
		return err
	}
	st.Status, st.Pending = ledger.WaitOver, nil
	if err := s.cfg.Ledger.ChangeRunState(ctx, ledger.WaitPaused, st); err != nil {
		return err
	}
	why := media.Errorf(media.CodeCancelled, "the run was cancelled while it waited for an answer; what it made is kept")
	for p := (ledger.Page{Limit: ledger.MaxLimit}); ; {
		list, err := s.cfg.Ledger.ListRuns(ctx, st.Owner, ledger.RunQuery{Tree: st.RunID, Status: ledger.StatusPaused, Page: p})
		if err != nil {
			return err
		}
		for _, row := range list.Items {
			s.endAs(ctx, row, agent.StatusCancelled, why)
		}
		if p.After = list.Next; p.After == "" {
			break
		}
	}
	if v.Thread != nil {
		s.answer(ctx, v.Thread, v.State.Request, nil, why)
	}
	return s.cfg.Observer.Flush(ctx)
}

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
	s.flush(ctx)
}

// flush saves what the observer was told last, before the ledger is closed.
func (s *Service) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	if err := s.cfg.Observer.Flush(ctx); err != nil {
		slog.WarnContext(ctx, "last events not saved", slog.String("error", media.Scrub(err.Error())))
	}
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
