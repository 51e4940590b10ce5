package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"atelier/agent/internal/meter"
	"atelier/agent/internal/plain"
	"atelier/agent/vision"
	"atelier/generate"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// identity identifies a run and its run tree. It is immutable.
type identity struct {
	id, parent  string
	tree, owner string
	path        string // slash-separated slugs from the root
	depth       int
	part        int // number of times the tree was resumed
}

// scope returns the scope of the run's media.
func (i identity) scope() media.Scope {
	return media.Scope{Owner: i.owner, Tree: i.tree, Run: i.id, AgentPath: i.path}
}

// runLog reports the events of a run to the observer and collects its outcome. It holds events until the
// run's record is saved or its saving has failed, so that events always belong to a known run.
type runLog struct {
	*runTree
	identity
	// repeated returns the part in which a retry repeats a turn, 0 for none.
	repeated func(turn int) int
	outcome  *outcome     // what the run has done, used and reported
	meter    *meter.Meter // measures how long the run worked
	turns    int

	mu    sync.Mutex // guards begun and held
	begun bool       // the run's record was saved, or saving it failed
	held  []Event    // events emitted before that
}

// newLog returns the log of a run that has not begun.
func (t *runTree) newLog(id identity, worked *meter.Meter) *runLog {
	return &runLog{
		runTree: t, identity: id, meter: worked,
		outcome: &outcome{sum: tally{cost: Cost{Complete: true}, known: map[media.Ref]bool{}}},
	}
}

// releaseHeld marks the run as known and returns the held events.
func (l *runLog) releaseHeld() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := l.held
	l.begun, l.held = true, nil
	return held
}

// warn records warnings for a person, each only once.
func (l *runLog) warn(ctx context.Context, warnings ...string) {
	for _, w := range warnings {
		isNew := false
		if w = plain.Clip(media.ErrorText(strings.TrimSpace(w)), 1000); w != "" {
			l.outcome.update(func(t *tally) { isNew = plain.AddOnce(&t.warnings, w) })
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
	turn := strconv.Itoa(l.turns)
	if part := l.repeated(l.turns); part > 0 {
		turn += " in part " + strconv.Itoa(part)
	}
	e.Key = e.key(turn, l.part)
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

// send passes an event to the observer, unless it was sent before.
func (l *runLog) send(ctx context.Context, e Event) {
	if l.wait.markEmitted(e) {
		l.r.cfg.Observer.Emit(ctx, e)
	}
}

// save calls the observer. A failure to save a record is only a warning.
func (l *runLog) save(ctx context.Context, what string, f func(context.Context) error) {
	if journal.HandedOver(ctx) {
		return // the process that continues saves it
	}
	if err := f(context.WithoutCancel(ctx)); err != nil {
		l.warn(ctx, fmt.Sprintf("the record of a %s was not saved: %s", what, err))
	}
}

// stored reports items that are new to the run and counts pictures.
func (l *runLog) stored(ctx context.Context, items []media.Output) {
	for _, o := range items {
		isNew := false
		if l.outcome.update(func(t *tally) { isNew = t.store(o) }); isNew {
			l.emit(ctx, EventMediaStored, MediaEvent{Output: o})
		}
	}
}

func (l *runLog) saveStep(ctx context.Context, rec StepRecord) {
	l.save(ctx, "step", func(ctx context.Context) error { return l.r.cfg.Observer.SaveStep(ctx, rec) })
}

// newID returns the ID of a record. It is the same in every replay, unless the position is nested. kind distinguishes
// records with the same position.
func (l *runLog) newID(kind string, at callIndex) string {
	if at.within.Kind != step.KindOther {
		kind, at = kind+" "+at.within.String(), callIndex{turn: at.turn, nested: at.nested}
	}
	if at.nested {
		return l.r.cfg.NewID()
	}
	return journal.ID(l.tree, l.id+"/"+kind, at.turn, at.index)
}

// begin returns the record of a starting act.
func (l *runLog) begin(kind StepKind, name string, at callIndex) StepRecord {
	return StepRecord{
		ID: l.newID("act", at), RunID: l.id, AgentPath: l.path, Turn: at.turn, Index: at.index, Kind: kind,
		Name: plain.Clip(name, 80), Status: StatusRunning, StartedAt: l.now(),
	}
}

// end saves the finished act and adds it to the outcome.
func (l *runLog) end(ctx context.Context, rec StepRecord) {
	if rec.FinishedAt.IsZero() {
		rec.FinishedAt = l.now()
	}
	l.saveStep(ctx, rec)
	l.outcome.update(func(t *tally) { t.steps = append(t.steps, rec) })
}

// tally is what a run has done, used and reported.
type tally struct {
	warnings     []string
	usage        Usage
	cost         Cost
	steps        []StepRecord
	models       []ModelUse
	dispositions []generate.Disposition
	drawn        drawn
	// shown are the pictures of actions shown by the vision policy; answers are the answers of people.
	shown   []vision.InputImage
	answers []step.Reply
	// spent is the number of tokens of the run's own model calls; latest is that of the most recent one.
	spent, latest int64
	// unstored is the reason why generated media could not be stored; empty if all media was stored.
	unstored string
	known    map[media.Ref]bool // items whose media-stored event was emitted
}

// outcome collects a tally. It is safe for concurrent use: parallel acts of one step add to it.
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

// snapshot returns the current tally. Its lists do not change afterwards, because the outcome only
// appends to its lists or replaces them.
func (o *outcome) snapshot() tally {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.sum
	t.warnings, t.steps, t.models = slices.Clip(t.warnings), slices.Clip(t.steps), slices.Clip(t.models)
	t.dispositions, t.shown, t.answers = slices.Clip(t.dispositions), slices.Clip(t.shown), slices.Clip(t.answers)
	return t
}

// addDisposition records the disposition of a requested setting, once.
func (o *outcome) addDisposition(d generate.Disposition) {
	o.update(func(t *tally) { plain.AddOnce(&t.dispositions, d) })
}

// spend counts the tokens of a model call.
func (t *tally) spend(u Usage) {
	t.usage.add(u)
	t.latest = u.InputTokens + u.OutputTokens
	t.spent += t.latest
}

// store records an item and reports whether it is new. It counts new pictures made by a model.
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

// absorb adds the outcome of a finished sub-agent.
func (o *outcome) absorb(child *outcome) {
	c := child.snapshot() // its known items do not change after this
	o.update(func(t *tally) {
		maps.Copy(t.known, c.known)
		t.usage.add(c.usage)
		t.cost.add(c.cost)
		t.drawn.add(c.drawn)
		t.unstored = cmp.Or(t.unstored, c.unstored)
		t.steps, t.answers = append(t.steps, c.steps...), append(t.answers, c.answers...)
		for _, d := range c.dispositions {
			plain.AddOnce(&t.dispositions, d)
		}
		for _, m := range c.models {
			plain.AddOnce(&t.models, m)
		}
		for _, w := range c.warnings {
			plain.AddOnce(&t.warnings, w)
		}
	})
}

// drawn records whether a run and its sub-agents requested and got pictures from image models.
type drawn struct {
	asked, made bool
	why         string // of the last call that made no picture
}

func (d *drawn) add(e drawn) {
	d.asked, d.made = d.asked || e.asked, d.made || e.made
	d.why = cmp.Or(e.why, d.why)
}
