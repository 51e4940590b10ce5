package agent

import (
	"cmp"
	"slices"
	"sync"

	"atelier/agent/vision"
	"atelier/chat"
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
}

// outcome collects a tally. It is safe for concurrent use: acts of one step add to it in parallel.
type outcome struct {
	mu    sync.Mutex // guards what follows
	sum   tally
	known map[media.Ref]bool // items whose media-stored event was emitted
}

func newOutcome() *outcome {
	return &outcome{sum: tally{cost: Cost{Complete: true}}, known: map[media.Ref]bool{}}
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

// warn adds a warning and reports whether it is new.
func (o *outcome) warn(text string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return addOnce(&o.sum.warnings, text)
}

// dispose notes what became of something that was asked for, once.
func (o *outcome) dispose(d generate.Disposition) {
	o.mu.Lock()
	defer o.mu.Unlock()
	addOnce(&o.sum.dispositions, d)
}

// show notes a picture that the vision policy showed, once.
func (o *outcome) show(i vision.InputImage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	addOnce(&o.sum.shown, i)
}

// call adds an answered model call.
func (o *outcome) call(p chat.Profile, resp chat.Response) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sum.usage.add(usageOf(resp))
	o.sum.spend(resp.Usage.InputTokens + resp.Usage.OutputTokens)
	o.sum.cost.addCall(resp, p.Offline)
	addOnce(&o.sum.models, ModelUse{ID: p.ID, Name: p.Name, Offline: p.Offline})
}

// redone adds a model call of an earlier process that is made anew.
func (o *outcome) redone(u Use) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sum.usage.add(u.Usage)
	o.sum.cost.add(u.Cost)
	o.sum.spend(u.Usage.InputTokens + u.Usage.OutputTokens)
}

func (t *tally) spend(tokens int64) { t.spent, t.latest = t.spent+tokens, tokens }

// tokens are those of the run's own model calls, and of the newest one.
func (o *outcome) tokens() (spent, latest int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sum.spent, o.sum.latest
}

// mayCost adds the price of calls that may be billed though no answer came.
func (o *outcome) mayCost(usd *string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sum.cost.add(Cost{EstimatedUSD: usd})
}

// draw adds what became of an action that asks an image model for pictures.
func (o *outcome) draw(d drawn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sum.drawn.add(d)
}

// lack notes why media could not be stored; the first reason stays.
func (o *outcome) lack(why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sum.unstored = cmp.Or(o.sum.unstored, why)
}

// answer adds what a person answered.
func (o *outcome) answer(p replied) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sum.answers = append(o.sum.answers, p)
}

// step adds an act to the log.
func (o *outcome) step(rec StepRecord) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sum.steps = append(o.sum.steps, rec)
}

// dropPaused takes the acts that wait for a person out of the log.
func (o *outcome) dropPaused() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sum.steps = slices.DeleteFunc(slices.Clone(o.sum.steps), func(s StepRecord) bool { return s.Status == StatusPaused })
}

// stepsOf adds the acts of a sub-agent that are not in the log yet.
func (o *outcome) stepsOf(child []StepRecord) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range child {
		if !slices.ContainsFunc(o.sum.steps, func(own StepRecord) bool { return own.ID == s.ID }) {
			o.sum.steps = append(o.sum.steps, s)
		}
	}
}

// store notes an item and reports whether it is new; new pictures that a model made are counted.
func (o *outcome) store(item media.Output) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known[item.Ref] {
		return false
	}
	o.known[item.Ref] = true
	if item.Modality == media.ModalityImage && item.Origin.Operation != "" {
		o.sum.usage.Images++
	}
	return true
}

// has notes an item that the run was granted.
func (o *outcome) has(ref media.Ref) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known[ref] = true
}

// absorb adds the outcome of a sub-agent that has ended.
func (o *outcome) absorb(child *outcome) {
	c := child.soFar()
	child.mu.Lock()
	defer child.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	for ref := range child.known {
		o.known[ref] = true
	}
	t := &o.sum
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
