package run

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"time"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
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

// takenWithin is how long it may take until what was handed over begins: a busy machine
// is slow. Who waits longer is told that another process has it.
const takenWithin = 30 * time.Second

// takenPoll is how often it is looked whether another process has taken it meanwhile.
const takenPoll = 100 * time.Millisecond

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

// begun waits until work on a run that was admitted begins in this process. Where another
// one has taken it, that is media.CodeConflict at once.
func (s *Service) begun(ctx context.Context, r *Run) (*Run, error) {
	limit, look := time.NewTimer(takenWithin), time.NewTicker(takenPoll)
	defer limit.Stop()
	defer look.Stop()
	var err error = media.Errorf(media.CodeConflict, "another process goes on with run %s: wait for it (atelier runs events %[1]s)", r.ID)
	for waiting := true; waiting; {
		select {
		case <-r.taken:
			return r, nil
		case <-look.C:
			waiting = !s.cfg.Engine.Elsewhere(partID(r.ID, r.part))
		case <-limit.C:
			waiting = false
		case <-ctx.Done():
			err, waiting = ctx.Err(), false
		}
	}
	select {
	case <-r.taken: // just now
		return r, nil
	default:
	}
	s.leave(r)
	return nil, err
}

// handLimit is how long steps of runs that nobody asked a service for may go on when it
// closes.
const handLimit = 10 * time.Second

// Idle waits until none of the runs that are here now is under way, or ctx ends. A process
// that goes on with one run and then ends may have taken up another one's as well, whose
// own process was told so.
func (s *Service) Idle(ctx context.Context) {
	s.mu.Lock()
	here := slices.Collect(maps.Values(s.here))
	s.mu.Unlock()
	for _, r := range here {
		select {
		case <-r.left:
		case <-ctx.Done():
			return
		}
	}
}

// TakeOver takes over all runs whose processes have ended and whose settings this
// service has, and gives how many there were; those that were cancelled before their process
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
		var w work
		err := json.Unmarshal(o.Input, &w)
		if err == nil {
			_, err = s.outfit(ctx, w.Setting)
		}
		if err == nil {
			err = s.cfg.Engine.TakeOver(ctx, o.ID)
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
