package journal

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"atelier/journal/step"
)

// Transcript is a journal that keeps the results of its steps, so that the workflow can be replayed later, elsewhere
// and on another journal: a run that waits for a person is its request and a transcript. It is safe for concurrent use.
type Transcript struct {
	inner Journal
	place step.Place
	book  *book
	slept atomic.Int64
}

var (
	_ Journal  = (*Transcript)(nil)
	_ Recaller = (*Transcript)(nil)
)

// book is the state shared by all parts of a workflow.
type book struct {
	mu    sync.Mutex // guards steps
	steps map[string][]byte
	// before contains the full names of the steps that were known when the work started.
	before []string
}

// NewTranscript returns a journal that returns known results, by the full names of their steps, and executes other
// steps through inner and keeps their results. The full name of a step is its own name after the names of the children
// that contain it, joined by slashes. Errors are not kept. known is copied; it may be nil.
func NewTranscript(inner Journal, known map[string][]byte) *Transcript {
	b := &book{steps: make(map[string][]byte, len(known))}
	maps.Copy(b.steps, known)
	for name := range known {
		b.before = append(b.before, name)
	}
	return &Transcript{inner: inner, book: b}
}

// Steps returns a copy of all known results by full name: those passed to [NewTranscript] and those of the steps since.
// The results themselves must not be changed.
func (t *Transcript) Steps() map[string][]byte {
	t.book.mu.Lock()
	defer t.book.mu.Unlock()
	return maps.Clone(t.book.steps)
}

// Place returns the place of this part in the workflow.
func (t *Transcript) Place() step.Place { return t.place }

// Name returns the full name of a step of this part.
func (t *Transcript) Name(name step.Name) string { return t.place.Full(name) }

// Known returns the result of a step of this part, if it is known.
func (t *Transcript) Known(name step.Name) ([]byte, bool) {
	t.book.mu.Lock()
	defer t.book.mu.Unlock()
	got, ok := t.book.steps[t.place.Full(name)]
	return got, ok
}

// keep keeps the result of a step of this part.
func (t *Transcript) keep(name step.Name, result []byte) {
	t.book.mu.Lock()
	defer t.book.mu.Unlock()
	t.book.steps[t.place.Full(name)] = result
}

// Knows reports whether a step of this part is finished, in the transcript or in the inner journal.
func (t *Transcript) Knows(name step.Name) bool {
	_, known := t.Known(name)
	inner, ok := t.inner.(Recaller)
	return known || ok && inner.Knows(name)
}

// begin returns the known result of a step. A new step does not begin if the caller of a context with grace has ended.
func (t *Transcript) begin(ctx context.Context, name step.Name) (result []byte, known bool, err error) {
	result, known = t.Known(name)
	if !known && !t.Knows(name) {
		err = Live(ctx)
	}
	return result, known, err
}

// Recalled returns the names of the finished steps of this part that were known when the work started.
func (t *Transcript) Recalled() []step.Name {
	var names []step.Name
	for _, full := range t.book.before {
		if own, ok := t.place.Own(full); ok {
			names = append(names, own)
		}
	}
	if inner, ok := t.inner.(Recaller); ok {
		names = append(names, inner.Recalled()...)
	}
	slices.SortFunc(names, step.Name.Compare)
	return slices.CompactFunc(names, func(a, b step.Name) bool { return a.Compare(b) == 0 })
}

type withinStep struct{}

// Step returns the known result, or runs fn through the inner journal and keeps its result. A new step does not start
// if the caller of a context with grace has ended, see [WithGrace].
func (t *Transcript) Step(ctx context.Context, name step.Name, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	if ctx.Value(withinStep{}) == t.book { // a part of the outer step
		if b, known := t.Known(name); known {
			return b, nil
		}
		return fn(ctx)
	}
	b, known, err := t.begin(ctx, name)
	if known || err != nil {
		return b, err
	}
	b, err = t.inner.Step(ctx, name, func(ctx context.Context) ([]byte, error) {
		return fn(context.WithValue(ctx, withinStep{}, t.book))
	})
	if err == nil {
		t.keep(name, b)
	}
	return b, err
}

// Sleep waits through the inner journal. A completed sleep is not repeated.
func (t *Transcript) Sleep(ctx context.Context, d time.Duration) error {
	name := step.Name{Kind: step.KindSleep, Index: int(t.slept.Add(1))}
	_, known, err := t.begin(ctx, name)
	if known || err != nil {
		return err
	}
	if err = t.inner.Sleep(ctx, d); err == nil {
		t.keep(name, []byte("true"))
	}
	return err
}

// Child calls [Transcript.Part].
func (t *Transcript) Child(ctx context.Context, name step.Name) (Journal, error) {
	part, err := t.Part(ctx, name)
	if err != nil {
		return nil, err
	}
	return part, nil
}

// Part returns the journal of a part, which keeps its results in the same transcript.
func (t *Transcript) Part(ctx context.Context, name step.Name) (*Transcript, error) {
	inner, err := t.inner.Child(ctx, name)
	if err != nil {
		return nil, err
	}
	return &Transcript{inner: inner, place: t.place.Part(name), book: t.book}, nil
}
