package generatetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// Recorder stores records in memory. It is safe for concurrent use; the zero value is
// empty and ready.
type Recorder struct {
	// Fail, if set, is called before every record; its error is returned.
	Fail func(o media.Output) error

	mu      sync.Mutex // guards records
	records []media.Output
}

var _ media.Recorder = (*Recorder)(nil)

// Record stores the output under an id.
func (r *Recorder) Record(_ context.Context, o media.Output) (media.Output, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Fail != nil {
		if err := r.Fail(o); err != nil {
			return o, err
		}
	}
	o.ID = fmt.Sprintf("record-%d", len(r.records)+1)
	r.records = append(r.records, o)
	return o, nil
}

// Records returns the recorded outputs in order.
func (r *Recorder) Records() []media.Output {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.records)
}

// Journal is journal.Memory whose sleeps take no time and are recorded. It is safe for
// concurrent use; the zero value is ready.
type Journal struct {
	// OnSleep, if set, runs instead of each sleep, for tests in which something happens
	// meanwhile.
	OnSleep func(ctx context.Context, d time.Duration) error

	mu     sync.Mutex // guards slept
	slept  []time.Duration
	memory journal.Memory
}

var _ journal.Journal = (*Journal)(nil)

// Step runs fn.
func (j *Journal) Step(ctx context.Context, name step.Name, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	return j.memory.Step(ctx, name, fn)
}

// Sleep records d and returns at once.
func (j *Journal) Sleep(ctx context.Context, d time.Duration) error {
	j.mu.Lock()
	j.slept = append(j.slept, d)
	j.mu.Unlock()
	if j.OnSleep != nil {
		return j.OnSleep(ctx, d)
	}
	return ctx.Err()
}

// Child returns the same journal.
func (j *Journal) Child(context.Context, step.Name) (journal.Journal, error) { return j, nil }

// Slept returns the recorded sleeps.
func (j *Journal) Slept() []time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.slept)
}
