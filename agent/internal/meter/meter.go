// Package meter measures for how long a run works. It has no errors and imports the standard library.
package meter

import (
	"slices"
	"sync"
	"time"
)

// Meter measures for how long a run worked: while a call of a model or an act was under way.
// What was under way at once counts once, and waiting for a person does not count. It is
// derived from when calls and acts began and ended, which the journal remembers, so a
// replay comes to the same. What a sub-agent worked counts for its parents too.
type Meter struct {
	// Up is the parent's; nil for a root run.
	Up *Meter

	mu    sync.Mutex // guards what follows
	spans []span     // in order, apart from each other
	open  map[int]time.Time
	next  int
	// added is called after each change, unless it is nil.
	added func()
}

// span is a stretch of time.
type span struct{ from, to time.Time }

// Begin notes that something is under way until the function that it gives is called.
func (m *Meter) Begin(now func() time.Time) (end func()) {
	m.mu.Lock()
	if m.open == nil {
		m.open = map[int]time.Time{}
	}
	from, key := now(), m.next
	m.open[key], m.next = from, m.next+1
	m.mu.Unlock()
	endUp := func() {}
	if m.Up != nil {
		endUp = m.Up.Begin(now)
	}
	return func() {
		endUp()
		m.mu.Lock()
		delete(m.open, key)
		m.mu.Unlock()
	}
}

// During is Begin for what no journal remembers: its end adds it.
func (m *Meter) During(now func() time.Time) (end func()) {
	from := now()
	done := m.Begin(now)
	return func() {
		done()
		m.Add(from, now())
	}
}

// Watch sets the function that is called after time was added.
func (m *Meter) Watch(added func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.added = added
}

// Add counts what is over: also what an earlier process did, which a replay brings again.
func (m *Meter) Add(from, to time.Time) {
	if from.IsZero() || !to.After(from) {
		return
	}
	m.mu.Lock()
	m.spans = merged(m.spans, span{from, to})
	added := m.added
	m.mu.Unlock()
	if m.Up != nil {
		m.Up.Add(from, to)
	}
	if added != nil {
		added()
	}
}

// Worked is the time until now, with what is under way.
func (m *Meter) Worked(now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	spans := m.spans
	for _, from := range m.open {
		if now.After(from) {
			spans = merged(spans, span{from, now})
		}
	}
	var sum time.Duration
	for _, s := range spans {
		sum += s.to.Sub(s.from)
	}
	return sum
}

// merged adds a stretch to others and makes one of those that touch.
func merged(spans []span, s span) []span {
	first, _ := slices.BinarySearchFunc(spans, s.from, func(e span, t time.Time) int { return e.to.Compare(t) })
	last := first
	for last < len(spans) && !spans[last].from.After(s.to) {
		if e := spans[last]; e.from.Before(s.from) {
			s.from = e.from
		}
		if e := spans[last]; e.to.After(s.to) {
			s.to = e.to
		}
		last++
	}
	return slices.Concat(spans[:first], []span{s}, spans[last:])
}
