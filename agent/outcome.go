package agent

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"atelier/agent/vision"
	"atelier/generate"
	"atelier/media"
)

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
