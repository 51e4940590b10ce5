package agent

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"atelier/action"
	"atelier/agent/internal/draft"
	"atelier/agent/internal/meter"
	"atelier/agent/internal/plain"
	"atelier/agent/transcript"
	"atelier/agent/vision"
	"atelier/chat"
	"atelier/generate"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// run is one agent in progress: the root or a sub-agent.
type run struct {
	*core
	brief

	intake     intake
	draft      draft.Draft
	history    transcript.History
	calls      calls
	acts       acts
	turnBudget turnBudget
}

// core is what the parts of a run share.
type core struct {
	*runLog

	spec    spec
	set     *media.Set // the run's media
	journal *journal.Transcript
	sights  *vision.Sights // knows the model and which pictures have missing bytes
	past    past
	pauses  pauses
}

// runTree is shared by all runs of a tree.
type runTree struct {
	r       *Runner
	request Request  // the request of the tree
	wait    *waiting // what the tree waits for
	// spent counts the tokens of all runs of the tree; worked is the meter of the root; allowed limits pictures and
	// money, and is passed in the context.
	spent   atomic.Int64
	worked  *meter.Meter
	allowed *generate.Allowance
}

func (t *runTree) now() time.Time { return t.r.cfg.Now() }

// brief is the task of a run with its context.
type brief struct {
	task         string
	input        map[string]any
	conversation []chat.Message // before the task
	extracted    []media.Output // media that the request contained as data
	warnings     []string       // of the preparation
}

// initialize initializes a run that has not begun: it has no media and no outcome.
func (r *run) initialize(s vision.Sights) *run {
	cfg, log := &r.r.cfg, r.runLog
	r.set = &media.Set{}
	r.draft.Set = r.set
	r.intake.core = r.core
	images := r.request.ImageModels
	if d := r.spec.def; d != nil {
		r.intake.threshold = d.InterceptionThreshold
		images = slices.Clip(slices.Concat(images, d.ImageModels))
	}
	s.Agent, s.System, s.Journal, s.Set, s.Warn = r.spec.slug, r.r.systems[r.spec.slug], r.journal, r.set, r.warn
	s.Actions, s.Blobs, s.Recorder = cfg.Actions, cfg.Codec, cfg.Recorder
	s.ModelsWithVision = func(images int) []string { return modelsWithVision(r.r.cfg.Models, images) }
	s.RecordDisposition, s.Show = r.outcome.addDisposition, func(i vision.InputImage) { r.outcome.update(func(t *tally) { plain.AddOnce(&t.shown, i) }) }
	r.sights = &s
	r.past.log, r.past.journal = log, r.journal
	log.repeated = func(turn int) int {
		if r.wait.before == nil {
			return 0
		}
		return r.wait.before.Repeated[r.journal.Name(step.In(turn, step.KindModel))]
	}
	r.past.askedByActs = sync.OnceValue(func() []step.Name {
		return slices.DeleteFunc(r.journal.Recalled(), func(n step.Name) bool { return !n.Ends(step.TailAsk) })
	})
	r.past.records, _ = cfg.Observer.(RecordReader)
	r.pauses.log, r.pauses.journal = log, r.journal
	r.calls.core, r.turnBudget.core = r.core, r.core
	r.acts.core, r.acts.newContext = r.core, r.newContext
	r.acts.env = action.Env{
		Media: r.set, Agent: r.spec.slug, Prefer: images, ToolContext: r.request.ToolContext,
		See: r.sights.CanSee, InUse: r.draft.InUse, Threshold: r.intake.threshold,
	}
	return r
}

// do runs the agent to its end and reports to the observer. The result is never nil.
func (r *run) do(ctx context.Context, granted []media.Output) (*Result, error) {
	r.wait.started(string(r.journal.Place()), r.now())
	ctx = r.scoped(ctx)
	if r.depth == 0 {
		timed, stop := r.withTimeLimit(ctx, r.now)
		defer stop()
		ctx = timed
	}
	ctx, over := r.startReplay(ctx)
	defer over()
	var refused []string
	for _, o := range r.extracted {
		if _, err := r.set.Add(o); err != nil {
			refused = append(refused, fmt.Sprintf("%s cannot be used: %s", o, err))
		}
	}
	r.grant(ctx, granted)
	var err error
	if r.r.cfg.Guardrail != nil && r.depth == 0 {
		err = r.screen(ctx)
	}
	r.open(ctx)
	r.stored(ctx, r.extracted)
	r.warn(ctx, append(refused, r.warnings...)...)
	switch {
	case err != nil:
	case r.spec.code != nil:
		err = r.code(ctx)
	default:
		err = r.loop(ctx)
	}
	return r.finish(ctx, err)
}

// scoped returns a context with the run's media scope and allowance.
func (r *run) scoped(ctx context.Context) context.Context {
	ctx = generate.WithAllowance(ctx, r.allowed)
	return media.WithScope(ctx, r.scope())
}

// grant adds granted items to the run's set.
func (r *run) grant(ctx context.Context, granted []media.Output) {
	for _, o := range granted {
		if o.Origin.Direction == "" {
			o.Origin.Direction = "input"
		}
		o.Promoted = false
		r.outcome.update(func(t *tally) { t.known[o.Ref] = true })
		if _, err := r.set.Add(o); err != nil {
			r.warn(ctx, fmt.Sprintf("%s could not be handed to the run: %s", o, err))
		}
	}
}

// open saves the run and emits its start events. Events held until then, such as warnings about granted
// media, follow, because events must belong to a known run. The pictures of the task come last.
func (r *run) open(ctx context.Context) {
	r.save(ctx, "run", func(ctx context.Context) error { return r.r.cfg.Observer.SaveRun(ctx, r.record(StatusRunning, nil)) })
	held := r.releaseHeld()
	if r.depth == 0 {
		started := RunStarted{Agent: r.spec.slug, Name: r.spec.name, Task: r.task, InputImages: r.sights.Given}
		r.emit(ctx, EventRunStarted, started)
		if r.part > 0 {
			r.emit(ctx, EventRunResumed, started)
		}
	}
	for _, e := range held {
		r.send(ctx, e)
	}
	if r.depth > 0 {
		return
	}
	for _, i := range r.sights.Given {
		if o, ok := r.set.Lookup(i.Ref); ok {
			r.emit(ctx, EventMediaStored, MediaEvent{Output: o})
		}
	}
}
