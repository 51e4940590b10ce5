package run

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"atelier/media"
)

// local contains the runs of this process, from their admission until they leave.
type local struct {
	mu     sync.Mutex // guards runs and closed, and claimed, adopted and setting of each run
	runs   map[string]*Run
	closed bool
	active sync.WaitGroup
}

// find returns a run, or nil if it is not in this process.
func (l *local) find(id string) *Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.runs[id]
}

// uses reports whether a run in this process has a setting.
func (l *local) uses(setting string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.runs {
		if r.setting == setting {
			return true
		}
	}
	return false
}

// stopAdmitting admits no new runs, and returns those in this process.
func (l *local) stopAdmitting() []*Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return slices.Collect(maps.Values(l.runs))
}

// enter admits a run unless the service is closed or the run is already in this process.
func (l *local) enter(r *Run) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.admit(r)
}

// admit is enter; the caller holds mu.
func (l *local) admit(r *Run) error {
	if l.closed {
		return media.Errorf(media.CodeUnavailable, "the service is closing: start the run again later")
	}
	if _, ok := l.runs[r.ID]; ok {
		return media.Errorf(media.CodeConflict, "run %s is already running", r.ID)
	}
	l.runs[r.ID] = r
	l.active.Add(1)
	return nil
}

func (l *local) leave(r *Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(r)
}

// abandon removes a run whose work has not started in this process, and reports whether it did. Otherwise the work
// removes the run when it ends.
func (l *local) abandon(r *Run) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !r.claimed {
		l.remove(r)
	}
	return !r.claimed
}

// remove is leave; the caller holds mu.
func (l *local) remove(r *Run) {
	delete(l.runs, r.ID)
	r.cancel()
	close(r.released)
	l.active.Done()
}

// claim finds the run that was started or resumed here, or admits one that the engine adopted. It returns nil if
// another part of the run is here, because then this part has ended.
func (l *local) claim(ctx context.Context, w work) (*Run, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.runs[w.Request.RunID]
	if ok && r.part != w.Part {
		return nil, nil
	}
	if ok && r.claimed {
		return nil, media.Errorf(media.CodeConflict, "run %s is already running", r.ID)
	}
	if !ok {
		r = newRun(ctx, w.Request.RunID)
		r.part, r.adopted = w.Part, true
		if err := l.admit(r); err != nil {
			return nil, err
		}
	}
	r.claimed, r.setting = true, string(w.Setting)
	return r, nil
}

// claimAdopted returns a run that the engine adopted from another process and that is in the given part or a later one,
// and gives it a caller; nil if there is none.
func (l *local) claimAdopted(id string, part int) *Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.runs[id]
	if !ok || !r.adopted || r.part < part || l.closed {
		return nil
	}
	r.adopted = false
	return r
}

// awaitStart waits until work on a run of this process starts.
func (l *local) awaitStart(ctx context.Context, r *Run) (*Run, error) {
	limit := time.NewTimer(startTimeout)
	defer limit.Stop()
	var err error
	select {
	case <-r.started:
		return r, nil
	case <-limit.C:
		err = media.Errorf(media.CodeUnavailable, "run %s is queued until this process can start it: follow it with atelier runs events %[1]s", r.ID)
	case <-ctx.Done():
		err = ctx.Err()
	}
	if !l.abandon(r) {
		<-r.started // it has just started
		return r, nil
	}
	return nil, err
}
