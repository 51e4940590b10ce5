package run

import (
	"sync"

	"atelier/ledger"
)

// feedBuffer is how many events a reader may be behind before it is dropped.
const feedBuffer = 256

// feed hands events to the readers of this process. Nobody waits for a slow reader.
type feed struct {
	mu      sync.Mutex // guards readers and their being closed
	readers map[*reader]struct{}
}

type reader struct {
	tree   string
	events chan ledger.Event
}

// subscribe opens a reader for one run tree, or for all if tree is empty. The channel is
// closed when the reader is too slow, or by stop, which may be called twice.
func (f *feed) subscribe(tree string) (events <-chan ledger.Event, stop func()) {
	r := &reader{tree: tree, events: make(chan ledger.Event, feedBuffer)}
	f.mu.Lock()
	defer f.mu.Unlock()
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
