package relay

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
)

// syncer makes the names in a folder last. One sync serves all who asked before it began. It is
// safe for concurrent use.
type syncer struct {
	folder string
	asked  atomic.Int64

	mu   sync.Mutex // held during a sync; guards done
	done int64      // how many of those who asked are served
}

func (s *syncer) sync() error {
	number := s.asked.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done >= number {
		return nil
	}
	all := s.asked.Load()
	d, err := os.Open(s.folder)
	if err != nil {
		return err
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return err
	}
	s.done = all
	return nil
}
