package record

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"atelier/ledger"
	"atelier/media"
)

const (
	// entryBatch is the maximum number of entries per commit.
	entryBatch = 128
	// gather is how long the writer waits for more entries before a commit, unless a caller waits: a run's records
	// arrive in bursts, and each commit is synced.
	gather = 10 * time.Millisecond
)

// entry is an event to save and publish, or a record to save.
type entry struct {
	event ledger.Event
	// transient marks an event that is published and not saved.
	transient bool
	// what names the record, and save saves it. For an event, save is nil.
	what string
	save func(context.Context) error
	// key identifies the record whose state this is: its newest state replaces the others. It is empty for a record
	// with one state.
	key string
	// done, if not nil, receives the error of the commit.
	done chan<- error
}

// eventLog saves events and records in the background, and then publishes the events to the feed. Commits are in order.
// Within a commit, the records come first, each in its newest state, followed by the events in order. A writer runs
// only while there is something to write.
type eventLog struct {
	store  ledger.Store
	logger *slog.Logger
	feed   feed

	mu      sync.Mutex // guards the following
	queue   []entry
	writing bool          // whether the writer runs
	waiting int           // the number of queued entries that a caller waits for
	hurry   chan struct{} // receives a value when waiting increases
	// failed is the error of the first record that was not saved since the last flush.
	failed error
}

// saveAsync queues a state of a record.
func (l *eventLog) saveAsync(ctx context.Context, what, id string, save func(context.Context) error) {
	l.add(ctx, entry{what: what, key: what + " " + id, save: save})
}

// saveAndWait saves a record after all earlier ones and waits for the commit. The error is that of save or of the
// commit.
func (l *eventLog) saveAndWait(ctx context.Context, what string, save func(context.Context) error) error {
	var own error
	done := make(chan error, 1)
	l.add(ctx, entry{what: what, done: done, save: func(ctx context.Context) error {
		own = save(ctx)
		return nil
	}})
	err := <-done // a write takes at most a minute
	return errors.Join(own, err)
}

// add queues an entry and starts the writer if none runs. A record is saved under the lease of ctx, not under that of
// the run whose entry started the writer.
func (l *eventLog) add(ctx context.Context, e entry) {
	if save := e.save; save != nil {
		lease := ledger.LeaseOf(ctx)
		e.save = func(ctx context.Context) error { return save(ledger.WithLease(ctx, lease)) }
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, e)
	if l.hurry == nil {
		l.hurry = make(chan struct{}, 1)
	}
	if e.done != nil {
		l.waiting++
		select {
		case l.hurry <- struct{}{}:
		default:
		}
	}
	if !l.writing {
		l.writing = true
		go l.drain(context.WithoutCancel(ctx)) // until the queue is empty
	}
}

// drain writes batches until the queue is empty.
func (l *eventLog) drain(ctx context.Context) {
	for {
		l.mu.Lock()
		hurried := l.waiting > 0
		l.mu.Unlock()
		if !hurried {
			select {
			case <-time.After(gather):
			case <-l.hurry:
			}
		}
		l.mu.Lock()
		batch := l.queue[:min(len(l.queue), entryBatch)]
		l.queue = l.queue[len(batch):]
		l.writing = len(batch) > 0
		for _, e := range batch {
			if e.done != nil {
				l.waiting--
			}
		}
		l.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		l.save(ctx, batch)
	}
}

// save commits a batch and publishes its events.
func (l *eventLog) save(ctx context.Context, batch []entry) {
	var shown []ledger.Event
	records, groups := sorted(batch)
	write := func(ctx context.Context) {
		shown = shown[:0] // the transaction may be retried
		for _, e := range records {
			l.failedSave(ctx, e.what, e.save(ctx))
		}
		for _, e := range groups {
			if !e.passing {
				saved, err := l.store.AppendEvents(ctx, e.list)
				if err != nil { // they are published without a sequence number
					l.logger.WarnContext(ctx, "run events not saved", slog.String("tree", e.list[0].Tree),
						slog.Int("events", len(e.list)), slog.String("error", media.ErrorText(err.Error())))
				} else {
					e.list = saved
				}
			}
			shown = append(shown, e.list...)
		}
	}
	var err error
	ctx = ledger.Relaxed(ctx)
	if len(records)+len(groups) > 1 {
		err = l.store.InTransaction(ctx, func(ctx context.Context) error {
			write(ctx)
			return nil
		})
	} else {
		write(ctx)
	}
	if err != nil { // the whole batch was rolled back, so no event has a number
		l.failedSave(ctx, "events and records", err)
		shown = shown[:0]
	}
	for _, e := range batch {
		if err != nil && e.save == nil {
			shown = append(shown, e.event)
		}
	}
	l.feed.publish(shown)
	for _, e := range batch {
		if e.done != nil {
			e.done <- err
		}
	}
}

// events are consecutive events of one tree that are saved, or published unsaved, together.
type events struct {
	passing bool
	list    []ledger.Event
}

// sorted returns the records of a batch without superseded states, and its events by tree, so that a tree without a
// root run does not affect the others.
func sorted(batch []entry) (records []entry, groups []events) {
	newest, trees := map[string]int{}, map[string]int{}
	for i, e := range batch {
		newest[e.key] = i
	}
	for i, e := range batch {
		switch {
		case e.save == nil:
			n, ok := trees[e.event.Tree]
			if !ok || groups[n].passing != e.transient {
				n = len(groups)
				trees[e.event.Tree] = n
				groups = append(groups, events{passing: e.transient})
			}
			groups[n].list = append(groups[n].list, e.event)
		case e.key == "" || newest[e.key] == i:
			records = append(records, e)
		}
	}
	return records, groups
}

func (l *eventLog) failedSave(ctx context.Context, what string, err error) {
	if err == nil {
		return
	}
	l.logger.WarnContext(ctx, "record of a run not saved", slog.String("what", what), slog.String("error", media.ErrorText(err.Error())))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		l.failed = err
	}
}

// flush waits until everything added so far is saved and published, and returns the error of the first record that was
// not saved since the last flush.
func (l *eventLog) flush(ctx context.Context) error {
	done := make(chan error, 1)
	l.add(ctx, entry{what: "flush", done: done, save: func(context.Context) error { return nil }})
	select {
	case <-done: //nolint:errcheck // it is in failed, too
	case <-ctx.Done():
		return ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.failed
	l.failed = nil
	return err
}

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
