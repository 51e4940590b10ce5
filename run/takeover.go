package run

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/durable"
)

// namer is a runner that knows the display names of its agents; *agent.Runner is one.
type namer interface {
	DisplayName(slug string) string
}

// takenOver tells that a run that had begun goes on in this process. That it goes on with
// an answer is told by its agent.
func (s *Service) takenOver(ctx context.Context, agents Agents, row ledger.Run) {
	data := agent.RunStarted{Agent: row.Agent, Name: row.Agent, Task: row.Task}
	if n, ok := agents.(namer); ok {
		data.Name = n.DisplayName(row.Agent)
	}
	for _, i := range row.InputImages {
		data.InputImages = append(data.InputImages, agent.InputImage(i))
	}
	s.cfg.Observer.Emit(ctx, agent.Event{
		Type: agent.EventRunResumed, Tree: row.ID, RunID: row.ID, AgentPath: row.AgentPath, At: s.cfg.Now(), Data: data,
	})
}

// takenWithin is how long it may take until what this process has begins: a busy machine
// is slow, and other work may have to end first.
const takenWithin = 30 * time.Second

// take takes a run over and waits until it begins. Of several processes one does.
func (s *Service) take(ctx context.Context, r *Run) (*Run, error) {
	if err := s.enter(r); err != nil {
		return nil, err
	}
	if err := s.cfg.Engine.TakeOver(ctx, partID(r.ID, r.part)); err != nil {
		s.abandon(r)
		return nil, underWay(r.ID, err)
	}
	return s.begun(ctx, r)
}

// ErrUnderWay is what errors wrap that say which process has a run, since when, and how to
// follow it. Their code is media.CodeConflict.
var ErrUnderWay = durable.ErrUnderWay

// underWay says of which run the engine speaks.
func underWay(run string, err error) error {
	if !errors.Is(err, ErrUnderWay) {
		return err
	}
	return media.Errorf(media.CodeConflict, "run %s is under way: %w (atelier runs events %[1]s)", run, err)
}

// brought gives a run that the engine took up from another process, and that is in this part or
// a later one: from now on somebody asked for it. Nil if there is none.
func (s *Service) brought(id string, part int) *Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.here[id]
	if !ok || !r.brought || r.part < part || s.closed {
		return nil
	}
	r.brought = false
	return r
}

// begun waits until work on a run that is this process's begins.
func (s *Service) begun(ctx context.Context, r *Run) (*Run, error) {
	limit := time.NewTimer(takenWithin)
	defer limit.Stop()
	var err error
	select {
	case <-r.taken:
		return r, nil
	case <-limit.C:
		err = media.Errorf(media.CodeUnavailable, "run %s waits until this process has room for it: follow it with atelier runs events %[1]s", r.ID)
	case <-ctx.Done():
		err = ctx.Err()
	}
	if !s.abandon(r) {
		return r, nil // just now
	}
	return nil, err
}

// handLimit is how long steps of runs that nobody asked a service for may go on when it
// closes.
const handLimit = 10 * time.Second

// TakeOver takes over all runs whose processes have ended and whose settings this
// service has, no more than the engine has room for, and gives how many there were; those that were cancelled before their process
// heard of that end as such. The others are logged and stay.
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
		if full, err := s.cfg.Engine.Full(); full || err != nil {
			return n, err
		}
		var w work
		err := json.Unmarshal(o.Input, &w)
		if err == nil {
			_, err = s.outfit(ctx, w.Setting)
		}
		if err == nil {
			err = s.cfg.Engine.TakeOver(ctx, o.ID)
		}
		if errors.Is(err, ErrUnderWay) {
			continue // another process was faster
		}
		if err != nil {
			slog.WarnContext(ctx, "run not taken over", slog.String("run", o.ID), slog.String("error", media.ErrorText(err.Error())))
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
			slog.WarnContext(ctx, "answered run not begun", slog.String("run", st.RunID), slog.String("error", media.ErrorText(err.Error())))
			continue
		}
		n++
	}
	return n, nil
}
