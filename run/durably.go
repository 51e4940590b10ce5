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
	if over, err := s.recallRun(ctx, r, agents, &w); err != nil {
		r.err = err
		return journal.ErrLeft
	} else if over {
		return nil
	}
	r.setConversation(w)
	w.remembering(j)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.stop, cancel)() //nolint:contextcheck // the run is cancelled by itself or by the engine
	if r.stop.Err() != nil {
		cancel() // before anything begins
	}
	r.result, r.err = s.play(ctx, agents, w)
	return s.leaves(ctx, r, w.Request)
}

// leaves tells the engine whether a part that was played is over or, as journal.ErrLeft, goes on
// later. How it ended is in the ledger.
func (s *Service) leaves(ctx context.Context, r *Run, req agent.Request) error {
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
		s.fail(ctx, req, r.err)
	}
	return nil
}

// recallRun reads what there is of a part that another process may have begun. It is read
// also for a run that is cancelled, which ends as such. over tells that the part has ended.
func (s *Service) recallRun(ctx context.Context, r *Run, agents Agents, w *work) (over bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	var row ledger.Run
	unknown := error(nil)
	if !r.fresh {
		row, unknown = s.cfg.Ledger.Run(ctx, w.Request.Owner, w.Request.RunID)
	}
	r.result, err = s.recallPart(ctx, w, !r.fresh && unknown == nil)
	w.taken = !r.fresh
	if err == nil && r.result == nil && !r.fresh && unknown == nil {
		s.takenOver(ctx, agents, row)
	}
	return r.result != nil, err
}

// setConversation says what conversation the run belongs to, once: its caller may read
// it while the work begins.
func (r *Run) setConversation(w work) {
	if w.Thread != nil && r.Conversation == "" {
		r.Conversation = w.Thread.ID
	}
}

// claim finds the run that was started or resumed here, or admits one that the engine
// brings. It gives none where another part of the run is here: this one has ended.
func (s *Service) claim(ctx context.Context, w work) (*Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.here[w.Request.RunID]
	if ok && r.part != w.Part {
		return nil, nil
	}
	if ok && r.claimed {
		return nil, media.Errorf(media.CodeConflict, "run %s is under way already", r.ID)
	}
	if !ok {
		r = newRun(ctx, w.Request.RunID)
		r.part, r.brought = w.Part, true
		if err := s.admit(r); err != nil {
			return nil, err
		}
	}
	r.claimed = true
	close(r.taken)
	return r, nil
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

// Healthy reports whether what runs cannot do without can be used: the database of the
// engine, and what it looks at beside.
func (s *Service) Healthy(ctx context.Context) error {
	if s.cfg.Engine == nil {
		return nil
	}
	return s.cfg.Engine.Healthy(ctx)
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
		slog.WarnContext(ctx, "last events not saved", slog.String("error", media.ErrorText(err.Error())))
	}
}

// closeAll closes the engine and what was made for runs that were taken over.
func (s *Service) closeAll(ctx context.Context) {
	if s.cfg.Engine != nil {
		if err := s.cfg.Engine.Close(ctx); err != nil {
			slog.WarnContext(ctx, "durable engine not closed", slog.String("error", media.ErrorText(err.Error())))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, o := range s.outfits {
		o.closer()
		delete(s.outfits, key)
	}
}
