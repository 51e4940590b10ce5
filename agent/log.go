package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier/agent/internal/meter"
	"atelier/agent/internal/plain"
	"atelier/agent/vision"
	"atelier/generate"
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

// tally is what a run has done, used and reported so far.
type tally struct {
	warnings     []string
	usage        Usage
	cost         Cost
	steps        []StepRecord
	models       []ModelUse
	dispositions []generate.Disposition
	drawn        drawn
	// shown are the pictures of actions that the vision policy showed, answers those of people.
	shown   []vision.InputImage
	answers []replied
	// spent are the tokens of the run's own model calls, latest those of the newest one.
	spent, latest int64
	// unstored is why media that was made could not be stored; empty if all was.
	unstored string
	known    map[media.Ref]bool // items whose media-stored event was emitted
}

// outcome collects a tally. It is safe for concurrent use: acts of one step add to it in parallel.
type outcome struct {
	mu  sync.Mutex // guards sum
	sum tally
}

// update changes the tally.
func (o *outcome) update(change func(t *tally)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(&o.sum)
}

// soFar gives the tally as it is now. Its lists do not change any more: those of the outcome are only
// appended to, or replaced.
func (o *outcome) soFar() tally {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.sum
	t.warnings, t.steps, t.models = slices.Clip(t.warnings), slices.Clip(t.steps), slices.Clip(t.models)
	t.dispositions, t.shown, t.answers = slices.Clip(t.dispositions), slices.Clip(t.shown), slices.Clip(t.answers)
	return t
}

// dispose notes what became of something that was asked for, once.
func (o *outcome) dispose(d generate.Disposition) {
	o.update(func(t *tally) { addOnce(&t.dispositions, d) })
}

// spend counts a model call that used tokens.
func (t *tally) spend(u Usage) {
	t.usage.add(u)
	t.latest = u.InputTokens + u.OutputTokens
	t.spent += t.latest
}

// store notes an item and reports whether it is new; new pictures that a model made are counted.
func (t *tally) store(item media.Output) bool {
	if t.known[item.Ref] {
		return false
	}
	t.known[item.Ref] = true
	if item.Modality == media.ModalityImage && item.Origin.Operation != "" {
		t.usage.Images++
	}
	return true
}

// absorb adds the outcome of a sub-agent that has ended.
func (o *outcome) absorb(child *outcome) {
	c := child.soFar() // its known items do not change any more
	o.update(func(t *tally) {
		maps.Copy(t.known, c.known)
		t.usage.add(c.usage)
		t.cost.add(c.cost)
		t.drawn.add(c.drawn)
		t.unstored = cmp.Or(t.unstored, c.unstored)
		t.steps, t.answers = append(t.steps, c.steps...), append(t.answers, c.answers...)
		for _, d := range c.dispositions {
			addOnce(&t.dispositions, d)
		}
		for _, m := range c.models {
			addOnce(&t.models, m)
		}
		for _, w := range c.warnings {
			addOnce(&t.warnings, w)
		}
	})
}

// addOnce adds a value to a list unless it is there, and reports whether it did.
func addOnce[T comparable](list *[]T, v T) bool {
	if slices.Contains(*list, v) {
		return false
	}
	*list = append(*list, v)
	return true
}

// drawn is what became of the pictures that a run and its sub-agents asked image models for.
type drawn struct {
	asked, made bool
	why         string // of the last call that made none
}

func (d *drawn) add(e drawn) {
	d.asked, d.made = d.asked || e.asked, d.made || e.made
	d.why = cmp.Or(e.why, d.why)
}
