package record

import (
	"sync"

	"atelier/ledger"
)

// feedBuffer is the number of events a reader may fall behind before it is dropped.
const feedBuffer = 256

// feed passes events to the readers of this process. Slow readers are dropped.
type feed struct {
	mu      sync.Mutex // guards readers and closing them
	readers map[*reader]struct{}
}

type reader struct {
	tree   string
	events chan ledger.Event
}

// subscribe opens a reader for one run tree, or for all if tree is empty, which first receives the events that first
// returns. No event is published between these and the first one that the reader receives. The channel is closed when
// the reader is too slow, or by stop, which may be called twice.
func (f *feed) subscribe(tree string, first func(tree string) []ledger.Event) (events <-chan ledger.Event, stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := first(tree)
	r := &reader{tree: tree, events: make(chan ledger.Event, feedBuffer+len(now))}
	for _, e := range now {
		r.events <- e
	}
	if f.readers == nil {
		f.readers = map[*reader]struct{}{}
	}
	f.readers[r] = struct{}{}
	return r.events, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.drop(r)
	}
}

// drop closes a reader once; the caller holds mu.
func (f *feed) drop(r *reader) {
	if _, ok := f.readers[r]; ok {
		delete(f.readers, r)
		close(r.events)
	}
}

func (f *feed) publish(events []ledger.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for r := range f.readers {
		for _, e := range events {
			if r.tree != "" && r.tree != e.Tree {
				continue
			}
			select {
			case r.events <- e:
				continue
			default:
			}
			f.drop(r)
			break
		}
	}
}
