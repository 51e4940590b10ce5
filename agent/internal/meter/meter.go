// Package meter measures the working time of a run. It has no errors and imports only the standard library.
package meter

import (
	"slices"
	"sync"
	"time"
)

// Meter measures the working time of a run: the time in which a model call or an act is in
// progress. Concurrent work counts once, and waiting for a person does not count. The time is
// derived from the start and end times of calls and acts, which the journal records, so a replay
// gets the same result. A sub-agent's working time counts for its parents too.
type Meter struct {
	// Parent is the parent's meter; nil for a root run.
	Parent *Meter

	mu    sync.Mutex // guards the fields below
	spans []span     // in order, without overlaps
	open  map[int]time.Time
	next  int
	// added is called after time was added, unless it is nil.
	added func()
}

// span is a period of time.
type span struct{ from, to time.Time }

// Begin marks work as in progress until the returned function is called.
func (m *Meter) Begin(now func() time.Time) (end func()) {
	m.mu.Lock()
	if m.open == nil {
		m.open = map[int]time.Time{}
	}
	from, key := now(), m.next
	m.open[key], m.next = from, m.next+1
	m.mu.Unlock()
	endUp := func() {}
	if m.Parent != nil {
		endUp = m.Parent.Begin(now)
	}
	return func() {
		endUp()
		m.mu.Lock()
		delete(m.open, key)
		m.mu.Unlock()
	}
}

// During is Begin for work that no journal records: its end adds the time.
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

// Add counts finished work, including work of an earlier process that a replay returns.
func (m *Meter) Add(from, to time.Time) {
	if from.IsZero() || !to.After(from) {
		return
	}
	m.mu.Lock()
	m.spans = merged(m.spans, span{from, to})
	added := m.added
	m.mu.Unlock()
	if m.Parent != nil {
		m.Parent.Add(from, to)
	}
	if added != nil {
		added()
	}
}

// Worked returns the working time until now, including work in progress.
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

// merged adds a period to others and joins those that touch.
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
