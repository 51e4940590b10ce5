package run

import (
	"context"
	"log/slog"
	"sync"

	"atelier/ledger"
	"atelier/media"
)

// eventBatch is how many events one commit takes at most.
const eventBatch = 128

// eventLog saves events in order, without keeping those who emit them waiting, and
// then hands them to the feed. A writer runs only while there is something to write.
type eventLog struct {
	store  ledger.Events
	logger *slog.Logger
	feed   feed

	mu      sync.Mutex // guards queue and idle
	queue   []ledger.Event
	idle    chan struct{} // closed when the writer ends; nil while there is none
	writers sync.WaitGroup
}

func (l *eventLog) append(ctx context.Context, e ledger.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, e)
	if l.idle != nil {
		return
	}
	l.idle = make(chan struct{})
	ctx = context.WithoutCancel(ctx)
	l.writers.Go(func() { l.drain(ctx) })
}

// drain writes batches until the queue is empty.
func (l *eventLog) drain(ctx context.Context) {
	for {
		l.mu.Lock()
		if len(l.queue) == 0 {
			close(l.idle)
			l.idle = nil
			l.mu.Unlock()
			return
		}
		batch := nextBatch(l.queue)
		l.queue = l.queue[len(batch):]
		l.mu.Unlock()
		l.save(ctx, batch)
	}
}

// nextBatch takes the events of one tree from the front, so that a tree whose root
// is missing spoils no other's.
func nextBatch(queue []ledger.Event) []ledger.Event {
	n := 1
	for n < len(queue) && n < eventBatch && queue[n].Tree == queue[0].Tree {
		n++
	}
	return queue[:n:n]
}

// save keeps a batch. Events that cannot be saved are shown all the same, without
// a sequence number.
func (l *eventLog) save(ctx context.Context, batch []ledger.Event) {
	saved, err := l.store.AppendEvents(ctx, batch)
	if err != nil {
		l.logger.WarnContext(ctx, "run events not saved", slog.String("tree", batch[0].Tree),
			slog.Int("events", len(batch)), slog.String("error", media.Scrub(err.Error())))
		saved = batch
	}
	l.feed.publish(saved)
}

// flush waits until everything appended so far is saved and published.
func (l *eventLog) flush(ctx context.Context) error {
	l.mu.Lock()
	idle := l.idle
	l.mu.Unlock()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
