package agent

import (
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// meter tells for how long a run worked: while a call of a model or an act was under way.
// What was under way at once counts once, and waiting for a person does not count. It is
// derived from when calls and acts began and ended, which the journal remembers, so a
// replay comes to the same. What a sub-agent worked counts for its parents too.
type meter struct {
	up *meter // the parent's; nil for a root run

	mu    sync.Mutex // guards what follows
	spans []span     // in order, apart from each other
	open  map[int]time.Time
	next  int
	// added is called after each change; nil is nobody.
	added func()
}

// span is a stretch of time.
type span struct{ from, to time.Time }

// begin notes that something is under way until the function that it gives is called.
func (m *meter) begin(now func() time.Time) (end func()) {
	m.mu.Lock()
	if m.open == nil {
		m.open = map[int]time.Time{}
	}
	from, key := now(), m.next
	m.open[key], m.next = from, m.next+1
	m.mu.Unlock()
	endUp := func() {}
	if m.up != nil {
		endUp = m.up.begin(now)
	}
	return func() {
		endUp()
		m.mu.Lock()
		delete(m.open, key)
		m.mu.Unlock()
	}
}

// during is begin for what no journal remembers: its end adds it.
func (m *meter) during(now func() time.Time) (end func()) {
	from := now()
	done := m.begin(now)
	return func() {
		done()
		m.add(from, now())
	}
}

// watch names who is called after time was added.
func (m *meter) watch(added func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.added = added
}

// add counts what is over: also what an earlier process did, which a replay brings again.
func (m *meter) add(from, to time.Time) {
	if from.IsZero() || !to.After(from) {
		return
	}
	m.mu.Lock()
	m.spans = merged(m.spans, span{from, to})
	added := m.added
	m.mu.Unlock()
	if m.up != nil {
		m.up.add(from, to)
	}
	if added != nil {
		added()
	}
}

// worked is the time until now, with what is under way.
func (m *meter) worked(now time.Time) time.Duration {
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

// worked is how long the steps of the parts before took; nil took none.
func (s *State) worked() time.Duration {
	if s == nil {
		return 0
	}
	var m meter
	for _, step := range s.Steps {
		var did struct {
			Began time.Time `json:"began"`
			Ended time.Time `json:"ended"`
		}
		if json.Unmarshal(step, &did) == nil {
			m.add(did.Began, did.Ended)
		}
	}
	return m.worked(time.Time{})
}
