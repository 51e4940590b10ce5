package durable

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// flows is the work that is, or recently was, executed by an engine.
type flows struct {
	mu      sync.Mutex // guards the following
	running map[string]*flow
	// ended is work that ended here and whose row may not be final.
	ended map[string]bool
}

// enter adds work that runs under ctx until stop is called.
func (s *flows) enter(ctx context.Context, f *flow, stop context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.ctx, f.stop = ctx, stop
	s.running[f.id] = f
}

// leave removes work that returned err, and records whether it has ended. Work that stopped because another process
// holds it has not ended.
func (s *flows) leave(f *flow, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, f.id)
	if f.hasEnded(err) {
		s.ended[f.id] = true
	}
}

// ids returns the ids of running work.
func (s *flows) ids() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.running))
}

// unsettled returns ended work whose row may not be final, and the number of running works.
func (s *flows) unsettled() (ended []string, running int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.ended)), len(s.running)
}

// settle forgets ended work, and reports whether no ended or running work remains.
func (s *flows) settle(ids ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		delete(s.ended, id)
	}
	return len(s.ended) == 0 && len(s.running) == 0
}

// stop ends the given running work.
func (s *flows) stop(reason error, ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if f, ok := s.running[id]; ok {
			f.stop(reason)
		}
	}
}
