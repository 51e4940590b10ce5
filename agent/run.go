package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"atelier/action"
	"atelier/chat"
	"atelier/generate"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// run is one agent at work: the root, or a sub-agent.
type run struct {
	r               *Runner
	spec            spec
	id, parent      string
	tree, owner     string
	path            string // slugs from the root, slash separated
	depth           int
	task            string
	input           map[string]any
	earlier         []chat.Message // the conversation before the task
	found           []media.Output // what the request held as data
	noted           []string       // what is to be said about that
	journal         *journal.Transcript
	prefer          preference
	set             *media.Set
	model           chat.Model
	history         history
	payload         map[string]any
	message         string
	turns           int
	refsSentBack    bool   // unknown refs went back to the model once
	lastTurn        string // why the turn under way is the last one; empty if it is not
	payloadSentBack bool   // a payload that does not fit went back once
	max             limits
	fitted          []FittedImage       // forms of the request's pictures
	images          []InputImage        // what came with the task, or was granted to be seen
	lenient         bool                // pictures that the model does not take are left out
	lostImages      LostImages          // what to do when their bytes go away
	vision          VisionContextPolicy // for pictures that actions make
	startedAt       time.Time
	meter           *meter       // for how long the run worked
	calls           atomic.Int64 // acts of Go code, for their index
	replays, whole  bool         // the run tree was begun before; the run came to its end then
	calledBefore    openCalls    // calls of earlier processes
	request         Request      // what the run tree was asked; of the root only
	part            int          // how often the run tree was resumed
	wait            *waiting     // what the run tree waits for; all its runs share it
	paused          atomic.Bool  // something of the run waits for a person

	mu            sync.Mutex // guards what follows; acts of a step write it at once
	warnings      []string
	usage         Usage
	cost          Cost
	steps         []StepRecord
	models        []ModelUse
	dispositions  []generate.Disposition
	drawn         drawn
	context       []InputImage       // pictures of actions that the policy showed
	told          []replied          // answers of people
	unseen        []string           // pictures that the model must be told it cannot see
	seen          map[media.Ref]bool // items whose media-stored event was emitted
	spent, latest int64              // tokens of the run's own calls, and of the newest one
	begun         bool               // the run's row was saved, or could not be
	held          []Event            // what was emitted before
	unstored      string             // why media that was made could not be stored; empty if all was
}

// preference is what the caller of a run prefers, before the definitions.
type preference struct{ chat, image []string }

// do runs the agent to its end and tells the observer. The result is never nil.
func (r *run) do(ctx context.Context, granted []media.Output) (*Result, error) {
	r.set, r.seen, r.cost.Complete = &media.Set{}, map[media.Ref]bool{}, true
	r.startedAt = r.wait.started(r.journal.Name(""), r.r.cfg.Now())
	ctx, stop := r.timed(r.scoped(ctx))
	defer stop()
	ctx, over := r.replayed(ctx)
	defer over()
	r.countRedone(ctx)
	var refused []string
	for _, o := range r.found {
		if _, err := r.set.Add(o); err != nil {
			refused = append(refused, fmt.Sprintf("%s cannot be used: %s", o, err))
		}
	}
	r.grant(ctx, granted)
	err := r.screen(ctx)
	r.open(ctx)
	r.showInputs(ctx)
	r.stored(ctx, r.found)
	r.warn(ctx, append(refused, r.noted...)...)
	switch {
	case err != nil:
	case r.spec.code != nil:
		err = r.code(ctx)
	default:
		err = r.loop(ctx)
	}
	return r.finish(ctx, err)
}

// scoped gives a context in which things belong to the run.
func (r *run) scoped(ctx context.Context) context.Context {
	ctx = generate.WithAllowance(ctx, r.max.allowed)
	return media.WithScope(ctx, media.Scope{Owner: r.owner, Tree: r.tree, Run: r.id, AgentPath: r.path})
}

// newID gives a record of the run its id: in every replay the same, where the run's id
// can be derived from. kind tells records of one place apart.
func (r *run) newID(kind string, at callIndex) string {
	if at.within.Kind != step.KindOther {
		kind, at = kind+" "+at.within.String(), callIndex{turn: at.turn, nested: at.nested}
	}
	if id, ok := journal.ID(r.tree, r.id+"/"+kind, at.turn, at.index); ok && !at.nested {
		return id
	}
	return r.r.cfg.NewID()
}

// grant puts items that the run may use into its set.
func (r *run) grant(ctx context.Context, granted []media.Output) {
	for _, o := range granted {
		if o.Origin.Direction == "" {
			o.Origin.Direction = "input"
		}
		o.Promoted = false
		r.mu.Lock()
		r.seen[o.Ref] = true
		r.mu.Unlock()
		if _, err := r.set.Add(o); err != nil {
			r.warn(ctx, fmt.Sprintf("%s could not be handed to the run: %s", o, err))
		}
	}
}

// warn notes what a person should know, once each.
func (r *run) warn(ctx context.Context, warnings ...string) {
	for _, w := range warnings {
		w = clip(media.ErrorText(strings.TrimSpace(w)), 1000)
		r.mu.Lock()
		known := w == ""
		for _, have := range r.warnings {
			known = known || have == w
		}
		if !known {
			r.warnings = append(r.warnings, w)
		}
		r.mu.Unlock()
		if !known {
			r.emit(ctx, EventWarning, Warning{Message: w})
		}
	}
}

func (r *run) warned() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.warnings...)
}

// open saves the run and tells of it. What was emitted before, as warnings about
// granted media, follows: events belong to a run that is known.
func (r *run) open(ctx context.Context) {
	r.save(ctx, "run", func(ctx context.Context) error { return r.r.cfg.Observer.SaveRun(ctx, r.record(StatusRunning, nil)) })
	r.mu.Lock()
	held := r.held
	r.begun, r.held = true, nil
	r.mu.Unlock()
	if r.depth == 0 {
		started := RunStarted{Agent: r.spec.slug, Name: r.spec.name, Task: r.task, InputImages: r.images}
		r.emit(ctx, EventRunStarted, started)
		if r.part > 0 {
			r.emit(ctx, EventRunResumed, started)
		}
	}
	for _, e := range held {
		r.send(ctx, e)
	}
}

func (r *run) emit(ctx context.Context, t EventType, data any) {
	if journal.Left(ctx) {
		return
	}
	e := Event{Type: t, Tree: r.tree, RunID: r.id, AgentPath: r.path, At: r.r.cfg.Now(), Data: data}
	e.Key = e.key(r.turns, r.part)
	r.mu.Lock()
	wait := !r.begun
	if wait {
		r.held = append(r.held, e)
	}
	r.mu.Unlock()
	if !wait {
		r.send(ctx, e)
	}
}

// send hands an event to the observer, unless it was before.
func (r *run) send(ctx context.Context, e Event) {
	if r.wait.fresh(e.Key) {
		r.r.cfg.Observer.Emit(ctx, e)
	}
}

// save calls the observer. A record that cannot be saved is a warning, no more.
func (r *run) save(ctx context.Context, what string, f func(context.Context) error) {
	if journal.Left(ctx) {
		return // whoever goes on saves it
	}
	if err := f(context.WithoutCancel(ctx)); err != nil {
		r.warn(ctx, fmt.Sprintf("the record of a %s was not saved: %s", what, err))
	}
}

// stored tells of items that the run has not seen before and counts pictures.
func (r *run) stored(ctx context.Context, items []media.Output) {
	for _, o := range items {
		r.mu.Lock()
		fresh := !r.seen[o.Ref]
		r.seen[o.Ref] = true
		if fresh && o.Modality == media.ModalityImage && o.Origin.Operation != "" {
			r.usage.Images++
		}
		r.mu.Unlock()
		if fresh {
			r.emit(ctx, EventMediaStored, MediaEvent{Output: o})
		}
	}
}

// target says to the interceptor where media of this run belongs.
func (r *run) target(source string) action.Target {
	t := action.Target{Media: r.set, Source: source}
	if r.spec.def != nil {
		t.Threshold = r.spec.def.InterceptionThreshold
	}
	return t
}

// clean takes media out of values that a person or a program gave; without any they stay
// what they are.
func (r *run) clean(ctx context.Context, values map[string]any) map[string]any {
	text := string(plain(values))
	safe := r.cleanText(ctx, text)
	var out map[string]any
	if safe == text || json.Unmarshal([]byte(safe), &out) != nil {
		return values
	}
	return out
}

// intercept stores the media of a value of Go code and gives the value without it.
func (r *run) intercept(ctx context.Context, source string, v any) any {
	safe := r.r.interceptor.Value(ctx, r.target(source), v)
	r.stored(ctx, safe.Media)
	r.warn(ctx, safe.Warnings...)
	return safe.Value
}

// cleanText takes media out of a text that a person or a program gave; a placeholder
// stands in its place, and all other text is untouched.
func (r *run) cleanText(ctx context.Context, s string) string {
	s, found := r.r.interceptor.Text(ctx, r.target("text"), s)
	r.stored(ctx, found.Media)
	r.warn(ctx, found.Warnings...)
	return s
}

// nextCall numbers the acts of Go code. Those of an action, within an act, have no place
// by their number that a replay would find again.
func (r *run) nextCall(ctx context.Context) callIndex {
	return callIndex{turn: 1, index: int(r.calls.Add(1)), nested: media.ScopeOf(ctx).Step != ""}
}

// callIndex is the place of an act in its run.
type callIndex struct {
	turn, index int
	nested      bool
	// within names an act by what it is part of and what it does, where its number does not
	// tell; see [Context.callWithin].
	within step.Name
}

// name is that of the act's step in the journal of its run.
func (at callIndex) name() step.Name {
	if at.within.Kind != step.KindOther {
		return at.within
	}
	return step.Action(at.turn, at.index)
}
