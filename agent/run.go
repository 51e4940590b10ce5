package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"atelier/action"
	"atelier/agent/evidence"
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

// finish ends the run: status, result, records, events.
func (r *run) finish(ctx context.Context, err error) (*Result, error) {
	if journal.HandedOver(ctx) {
		return r.result(r.record(StatusRunning, nil)), media.Errorf(media.CodeUnavailable, "the run continues in another process: %w", journal.ErrHandedOver)
	}
	status := StatusFailed
	if cut := context.Cause(ctx); err != nil && media.CodeOf(cut) == media.CodeOverBudget {
		err = cut
	}
	if media.CodeOf(err) == media.CodeOverBudget { // choose what the answer embeds so far
		r.acceptRefs(ctx)
		err = &media.Error{Code: media.CodeOverBudget, Message: "over budget: " + strings.TrimPrefix(err.Error(), "over budget: ") + "; what was made is kept", Cause: err}
	}
	if unstored := r.outcome.snapshot().unstored; err == nil && unstored != "" {
		err = media.Errorf(media.CodeDiskFull, "media of this run could not be stored: %s; all other media is kept", unstored)
	}
	switch {
	case err == nil:
		status = StatusSucceeded
	case media.CodeOf(err) == media.CodeOverBudget:
	case errors.Is(err, ErrPaused) && ctx.Err() == nil:
		return r.pause(ctx), nil
	case media.CodeOf(err) == media.CodeCancelled || errors.Is(ctx.Err(), context.Canceled):
		status = StatusCancelled
		err = media.Errorf(media.CodeCancelled, "the run was cancelled; what it made is kept")
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = media.Errorf(media.CodeDeadline, "the run exceeded its time limit; what it made is kept")
	}
	if err != nil {
		r.endWaiting(ctx, err)
	}
	r.wait.drop(r.journal.Place())
	if r.depth == 0 { // end the work that earlier processes left in the run tree; its results belong to the root
		if r.request.OnClose != nil {
			made := r.request.OnClose(ctx, status)
			if err := r.set.Merge(made); err != nil {
				r.warn(ctx, err.Error())
			}
			r.stored(ctx, made)
		}
		if d := r.outcome.snapshot().drawn; d.asked && !d.made {
			r.warn(ctx, "the run asked for a picture and none was made: "+d.why)
		}
	}
	rec := r.record(status, err)
	res := r.result(rec)
	for _, o := range res.Outputs {
		r.emit(ctx, EventMediaPromoted, MediaEvent{Output: o})
	}
	if r.depth == 0 { // before the record, so that an observer can save and publish both at once
		r.emit(ctx, endEvents[status], RunFinished{
			Status: status, Message: rec.Message, Turns: rec.Turns, Usage: rec.Usage, Cost: rec.Cost, Error: rec.Error,
		})
	}
	r.save(ctx, "run", func(ctx context.Context) error { return r.r.cfg.Observer.SaveRun(ctx, rec) })
	res.Warnings = slices.Clone(r.outcome.snapshot().warnings)
	return res, err
}

// endEvents maps the final status of a run to its event.
var endEvents = map[Status]EventType{StatusSucceeded: EventRunSucceeded, StatusFailed: EventRunFailed, StatusCancelled: EventRunCancelled}

// pause ends this part of a run that waits for a person. Nothing of the run stays in memory; the
// process that resumes it gets the state.
func (r *run) pause(ctx context.Context) *Result {
	rec := r.record(StatusPaused, nil)
	res := r.result(rec)
	rec.Promoted = nil // chosen when the run ends
	r.save(ctx, "run", func(ctx context.Context) error { return r.r.cfg.Observer.SaveRun(ctx, rec) })
	res.Warnings = slices.Clone(r.outcome.snapshot().warnings)
	if r.depth > 0 {
		return res
	}
	res.State = r.state()
	res.Pending = res.State.Pending
	r.emit(ctx, EventRunPaused, RunFinished{
		Status: StatusPaused, Message: rec.Message, Turns: rec.Turns, Usage: rec.Usage, Cost: rec.Cost, Questions: res.Pending,
	})
	return res
}

// record returns the run's record for the observer.
func (r *run) record(status Status, err error) RunRecord {
	sum := r.outcome.snapshot()
	rec := RunRecord{
		ID: r.id, ParentID: r.parent, Tree: r.tree, Agent: r.spec.slug, AgentPath: r.path, Depth: r.depth,
		Task: r.task, Status: status, Message: r.draft.Message, Turns: r.turns, Usage: sum.usage, Cost: sum.cost,
		Warnings: sum.warnings, StartedAt: r.wait.span(string(r.journal.Place())).StartedAt,
		InputImages: r.sights.Given, VisionContext: sum.shown,
	}
	rec.Usage.WorkedMS = r.meter.Worked(r.now()).Milliseconds()
	if r.depth == 0 {
		q := r.request
		rec.Limits = Limits{Turns: q.MaxTurns, Tokens: q.MaxTokens, Images: q.MaxImages, TimeMS: q.MaxTime.Milliseconds(), USD: q.MaxCost, LenientImages: r.sights.Lenient}
		if r.sights.Policy.Enabled {
			rec.Limits.Vision = &r.sights.Policy
		}
	}
	if r.spec.def != nil {
		rec.DefinitionHash, rec.Definition = r.spec.def.Hash, r.spec.def.Source
	}
	if status == StatusRunning {
		return rec
	}
	if status != StatusPaused {
		rec.FinishedAt = r.wait.ended(string(r.journal.Place()), r.now())
	}
	rec.Dispositions = sum.dispositions
	rec.Promoted = r.set.Promoted()
	if r.draft.Payload != nil {
		rec.Payload = plain.JSON(r.draft.Payload)
	}
	if err != nil {
		p := transcript.Problem(err)
		rec.Error = &p
	}
	return rec
}

// result returns the run's result. The caller may modify its lists.
func (r *run) result(rec RunRecord) *Result {
	res, sum := resultOf(rec, r.set.All(), r.draft.Payload), r.outcome.snapshot()
	res.Steps, res.Models, res.Dispositions = slices.Clone(sum.steps), slices.Clone(sum.models), slices.Clone(sum.dispositions)
	if r.depth == 0 && rec.Status != StatusRunning && rec.Status != StatusPaused {
		// The log of steps is the same after a replay and includes those of sub-agents.
		res.Evidence = r.r.evidence(evidenceSources{task: r.task, input: r.input, earlier: r.conversation, answers: sum.answers, steps: sum.steps, lookup: r.set.Lookup})
	}
	return res
}

// resultOf returns the result that a run's record and its items describe; payload is that of the record.
func resultOf(rec RunRecord, items []media.Output, payload map[string]any) *Result {
	res := &Result{
		RunID: rec.ID, Agent: rec.Agent, Status: rec.Status, Message: rec.Message, Payload: rec.Payload,
		Outputs: rec.Promoted, AlsoMade: []media.Output{}, Warnings: rec.Warnings, Usage: rec.Usage, Cost: rec.Cost,
		Turns: rec.Turns, Error: rec.Error, InputImages: rec.InputImages, Dispositions: rec.Dispositions, all: items,
	}
	for _, o := range items {
		if !o.Promoted && o.Origin.Direction != "input" && !isCopy(payload, o) {
			res.AlsoMade = append(res.AlsoMade, o)
		}
	}
	return res
}

// Past is the recorded data of a run tree; [Runner.Recorded] converts it to a [Result].
type Past struct {
	// Run is the root's record, with the items that it promoted.
	Run RunRecord
	// Items are all items of the tree, including granted ones, in order.
	Items []media.Output
	// Steps are the log of the tree, in order of completion within each agent.
	Steps []StepRecord
	// Models are the IDs of the chat models that answered, in order of first use.
	Models []string
	// Input and History are those of the request.
	Input   map[string]any
	History []chat.Message
	// Journal holds results of steps by their full names, including the answers of people.
	Journal map[string]json.RawMessage
}

// Recorded returns the result of a run as it was when the run ended or paused, without executing
// anything: the result of [Runner.Run] without State, Pending and Conversation.
func (r *Runner) Recorded(ctx context.Context, p Past) *Result {
	rec := p.Run
	var payload map[string]any
	_ = json.Unmarshal(rec.Payload, &payload) // a payload of another form contains no document
	res := resultOf(rec, p.Items, payload)
	res.Steps = p.Steps
	for _, id := range p.Models {
		use := ModelUse{ID: id, Name: id} // for a model that is unknown to this runner
		if r.cfg.Models != nil {
			if c, err := r.cfg.Models.Choose(ctx, []string{id}); err == nil && c.Model.Profile().ID == id {
				p := c.Model.Profile()
				use.Name, use.Offline = p.Name, p.Offline
			}
		}
		res.Models = append(res.Models, use)
	}
	if rec.Status != StatusRunning && rec.Status != StatusPaused {
		res.Evidence = r.evidence(evidenceSources{task: rec.Task, input: p.Input, earlier: p.History, answers: p.answers(), steps: p.Steps, lookup: res.Find})
	}
	return res
}

// answers returns the answers of people in the run tree, except approvals.
func (p Past) answers() []step.Reply {
	var out []step.Reply
	for _, name := range slices.Sorted(maps.Keys(p.Journal)) {
		own := step.ParsePath(name).Own()
		a, ok := contentOf(own).(*step.Reply)
		if ok && !own.Has(step.TailApproval) && json.Unmarshal(p.Journal[name], a) == nil && len(a.Value) > 0 {
			out = append(out, *a)
		}
	}
	return out
}

// evidenceSources is the material that the numbers of a report are compared with.
type evidenceSources struct {
	task    string
	input   map[string]any
	earlier []chat.Message
	answers []step.Reply
	steps   []StepRecord
	// lookup looks up an item of the run.
	lookup func(media.Ref) (media.Output, bool)
}

// evidence collects what the sources of the run tree and the person stated.
func (r *Runner) evidence(t evidenceSources) *evidence.Set {
	s := &evidence.Set{}
	s.AddText(evidence.Task, t.task)
	if t.input != nil {
		s.AddValue(evidence.Input, t.input)
	}
	for _, m := range t.earlier {
		if m.Role == chat.RoleUser {
			s.AddText(evidence.Conversation, m.Text())
		}
	}
	for _, a := range t.answers {
		s.AddText(evidence.Answer, string(a.Value)+"\n"+a.Note)
	}
	for _, step := range t.steps {
		if step.Kind == StepAction && step.Outputs != nil && r.fromSource(step, t.lookup) {
			s.AddResult(step.Name, step.Outputs)
		}
	}
	return s
}

// fromSource reports whether an action returned the content of a source: by its tag, or because it
// showed the text of a document that came from a person or a source.
func (r *Runner) fromSource(step StepRecord, lookup func(media.Ref) (media.Output, bool)) bool {
	if r.isSource(step.Name) {
		return true
	}
	var shown struct {
		Text  string
		Media struct{ RefID media.Ref }
	}
	if json.Unmarshal(step.Outputs, &shown) != nil || shown.Text == "" {
		return false
	}
	o, ok := lookup(shown.Media.RefID)
	return ok && (o.Origin.Direction == "input" || r.isSource(o.Origin.Source))
}

func (r *Runner) isSource(name string) bool {
	a, err := r.cfg.Actions.Lookup(name)
	if err != nil {
		return slices.Contains(r.cfg.SourceActions, name)
	}
	return slices.Contains(a.Tags, action.TagSource)
}
