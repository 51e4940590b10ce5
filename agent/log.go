package agent

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"atelier/agent/internal/meter"
	"atelier/agent/internal/plain"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// identity says which run of which tree a run is. It does not change.
type identity struct {
	id, parent  string
	tree, owner string
	path        string // slugs from the root, slash separated
	depth       int
	part        int // how often the tree was resumed
}

// scope is where the run's media belongs.
func (i identity) scope() media.Scope {
	return media.Scope{Owner: i.owner, Tree: i.tree, Run: i.id, AgentPath: i.path}
}

// runLog reports what happens in a run to the observer, and keeps the outcome. Events are held until the
// run's row was saved, or could not be: they belong to a run that is known.
type runLog struct {
	identity
	observer    Observer
	now         func() time.Time
	newRecordID func() string    // for what cannot be derived from the run
	fresh       func(Event) bool // reports whether the observer does not have an event yet
	outcome     *outcome         // what the run has done, used and reported
	meter       *meter.Meter     // for how long the run worked
	turns       int

	mu    sync.Mutex // guards begun and held
	begun bool       // the run's row was saved, or could not be
	held  []Event    // what was emitted before
}

// newLog makes the log of a run that has not begun.
func (t *runTree) newLog(id identity, worked *meter.Meter) *runLog {
	return &runLog{
		identity: id, observer: t.r.cfg.Observer, now: t.r.cfg.Now, newRecordID: t.r.cfg.NewID, fresh: t.wait.fresh,
		outcome: &outcome{sum: tally{cost: Cost{Complete: true}, known: map[media.Ref]bool{}}}, meter: worked,
	}
}

// known notes that the run is known, and gives the events that were held.
func (l *runLog) known() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := l.held
	l.begun, l.held = true, nil
	return held
}

// warn notes what a person should know, once each.
func (l *runLog) warn(ctx context.Context, warnings ...string) {
	for _, w := range warnings {
		isNew := false
		if w = plain.Clip(media.ErrorText(strings.TrimSpace(w)), 1000); w != "" {
			l.outcome.update(func(t *tally) { isNew = addOnce(&t.warnings, w) })
		}
		if isNew {
			l.emit(ctx, EventWarning, Warning{Message: w})
		}
	}
}

func (l *runLog) emit(ctx context.Context, t EventType, data any) {
	if journal.HandedOver(ctx) {
		return
	}
	e := Event{Type: t, Tree: l.tree, RunID: l.id, AgentPath: l.path, At: l.now(), Data: data}
	e.Key = e.key(l.turns, l.part)
	l.mu.Lock()
	wait := !l.begun
	if wait {
		l.held = append(l.held, e)
	}
	l.mu.Unlock()
	if !wait {
		l.send(ctx, e)
	}
}

// send hands an event to the observer, unless it was before.
func (l *runLog) send(ctx context.Context, e Event) {
	if l.fresh(e) {
		l.observer.Emit(ctx, e)
	}
}

// save calls the observer. A record that cannot be saved is a warning, no more.
func (l *runLog) save(ctx context.Context, what string, f func(context.Context) error) {
	if journal.HandedOver(ctx) {
		return // the process that continues saves it
	}
	if err := f(context.WithoutCancel(ctx)); err != nil {
		l.warn(ctx, fmt.Sprintf("the record of a %s was not saved: %s", what, err))
	}
}

// stored reports items that the run has not seen before and counts pictures.
func (l *runLog) stored(ctx context.Context, items []media.Output) {
	for _, o := range items {
		isNew := false
		if l.outcome.update(func(t *tally) { isNew = t.store(o) }); isNew {
			l.emit(ctx, EventMediaStored, MediaEvent{Output: o})
		}
	}
}

func (l *runLog) saveStep(ctx context.Context, rec StepRecord) {
	l.save(ctx, "step", func(ctx context.Context) error { return l.observer.SaveStep(ctx, rec) })
}

// newID gives a record of the run its id: in every replay the same, where the run's id
// can be derived from. kind distinguishes records of one place.
func (l *runLog) newID(kind string, at callIndex) string {
	if at.within.Kind != step.KindOther {
		kind, at = kind+" "+at.within.String(), callIndex{turn: at.turn, nested: at.nested}
	}
	if id, ok := journal.ID(l.tree, l.id+"/"+kind, at.turn, at.index); ok && !at.nested {
		return id
	}
	return l.newRecordID()
}

// begin makes the record of an act.
func (l *runLog) begin(kind StepKind, name string, at callIndex) StepRecord {
	return StepRecord{
		ID: l.newID("act", at), RunID: l.id, AgentPath: l.path, Turn: at.turn, Index: at.index, Kind: kind,
		Name: plain.Clip(name, 80), Status: StatusRunning, StartedAt: l.now(),
	}
}

// end saves the finished act and puts it into the log.
func (l *runLog) end(ctx context.Context, rec StepRecord) {
	if rec.FinishedAt.IsZero() {
		rec.FinishedAt = l.now()
	}
	l.saveStep(ctx, rec)
	l.outcome.update(func(t *tally) { t.steps = append(t.steps, rec) })
}
