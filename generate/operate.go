package generate

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// saveTime is how long paid work is still fetched and saved after the caller gave up.
const saveTime = 30 * time.Second

// execution is one operation under way.
type execution struct {
	g       *Gateway
	plan    *Plan
	op      Operation
	journal journal.Journal
	started time.Time
	past    map[int][]Attempt // attempts of earlier processes, by call
	once    bool              // tasks of earlier processes are asked for once
	stopped bool              // somebody gives it up, see [Gateway.Cancel]

	mu        sync.Mutex   // guards all below
	lost      []media.Blob // blobs of an earlier process that no slot has yet
	slots     []Slot       // by index - 1; extra results are appended
	receipts  []receipt
	acts      []string // what was reserved for the models that stood in
	usage     Usage
	warnings  []string
	metadata  map[string]any
	previews  map[int]preview        // by slot index
	frames    map[int][]media.Digest // of previews, by slot index
	makers    map[int]*Plan          // who gave what came, by slot index
	running   bool                   // a task goes on past the wait
	aside     string                 // a warning of this process alone, which is not kept
	unsettled map[int]bool           // slots whose call may have been billed
	again     map[int]bool           // slots whose result alone failed, unbilled
	asked     []int                  // slots that are asked for: all, or those of this round
	numbered  int                    // calls so far
	formats   formats
	bare      map[media.Digest]bool // outputs whose record could not be saved
	unkept    map[int]bool          // slots that could not be saved, by index
	unlogged  map[string]Attempt    // ended calls that could not be saved, by id

	counted map[string]bool // acts that the budget has counted; for the one that works
}

// preview is what came of a slot before its end.
type preview struct {
	count int
	last  media.Blob
	call  call
}

// begin journals the intent.
func (g *Gateway) begin(ctx context.Context, p *Plan) (*execution, context.Context, error) {
	id := g.operationID(ctx, p.req)
	enough, full := g.room(ctx, p, p.Makes)
	if full != nil {
		return nil, ctx, full
	}
	enough()
	p, err := g.reserve(ctx, p, id)
	if err != nil {
		return nil, ctx, asError(err)
	}
	if err := p.accept(ctx); err != nil {
		_ = g.config.Budget.Settle(ctx, Charge{ID: id}) // else it is given back later
		return nil, ctx, err
	}
	now := g.config.Now().UTC()
	x := g.newExecution(p, Operation{
		ID: id, Key: cmp.Or(p.req.IdempotencyKey, id), Method: p.req.Method, Modality: p.req.Modality,
		Provider: p.Model.Provider, Model: p.Model.Name, APIModel: p.Model.APIModel,
		Prompt: p.task.Prompt, N: p.N(), Status: StatusQueued, Dispositions: p.Dispositions,
		Warnings: p.Warnings, Cost: Cost{EstimatedUSD: p.EstimatedUSD}, Request: p.save(), StartedAt: now,
		Holder: g.holder, HeldUntil: now.Add(holdTime),
	})
	if x.journal, err = g.config.Journal.Child(ctx, step.Name{Kind: step.KindGenerate, Label: x.op.Key}.String()); err != nil {
		_ = g.config.Budget.Settle(ctx, Charge{ID: id}) // else it is given back later
		return nil, ctx, wrap("open journal", err)
	}
	scope := media.ScopeOf(ctx)
	scope.Operation = id
	ctx = media.WithScope(ctx, scope)
	if err := g.config.Operations.Begin(ctx, x.op); err != nil {
		_ = g.config.Budget.Settle(ctx, Charge{ID: id}) // else it is given back later
		return nil, ctx, wrap("journal operation", err)
	}
	ctx = media.WithScope(ctx, inTree(scope))
	x.emit(ctx, Event{Kind: EventStarted, Status: StatusQueued, Progress: -1})
	return x, ctx, nil
}

// inTree gives the scope of an operation outside of any run a tree of its own: pictures are
// sent to providers by tokens, which are signed for a tree.
func inTree(s media.Scope) media.Scope {
	s.Tree = cmp.Or(s.Tree, s.Operation)
	return s
}

// operationID is a new id. Where the operation may be taken up, it is the same for whoever
// does: what a process reserved for it before it died in between counts once.
func (g *Gateway) operationID(ctx context.Context, r Request) string {
	if r.TakeUp {
		if id, ok := journal.ID(media.ScopeOf(ctx).Step, r.IdempotencyKey, 0, 0); ok {
			return id
		}
	}
	return g.config.NewID()
}

func (g *Gateway) newExecution(p *Plan, op Operation) *execution {
	x := &execution{
		g: g, plan: p, op: op, started: g.config.Now().UTC(), previews: map[int]preview{}, frames: map[int][]media.Digest{}, unsettled: map[int]bool{}, again: map[int]bool{},
		warnings: slices.Clone(op.Warnings), past: map[int][]Attempt{}, counted: map[string]bool{}, makers: map[int]*Plan{},
	}
	for i := range op.N {
		x.slots = append(x.slots, Slot{Index: i + 1, Status: StatusQueued})
		x.asked = append(x.asked, i+1)
	}
	if p.round != nil {
		x.asked, x.numbered = p.round.Slots, p.round.First-1
	}
	return x
}

// emit fills in what every event of the operation has.
func (x *execution) emit(ctx context.Context, e Event) {
	e.Operation, e.Provider, e.Model, e.N = x.op.ID, x.op.Provider, x.op.Model, x.op.N
	e.Elapsed = x.g.config.Now().Sub(x.started)
	x.g.config.Events(ctx, e)
}

// work does the whole of an operation, as the only one who does.
func (x *execution) work(ctx context.Context) *Result {
	held, release := x.hold(ctx)
	defer release()
	x.run(held, x.parted(x.maker(held), x.asked))
	x.beyond()
	x.askAgain(held)
	x.fallBack(held)
	x.windUp(held)
	if taken(held) {
		return x.takenAway(ctx)
	}
	return x.finish(ctx)
}

// run makes all calls at once, as far as the provider's limits let it.
func (x *execution) run(ctx context.Context, calls []call) {
	var all sync.WaitGroup
	for _, c := range calls {
		all.Go(func() { x.carry(ctx, c) })
	}
	all.Wait()
}

// saving gives a context in which paid work is saved for a while though the caller gave up.
func saving(ctx context.Context) (context.Context, context.CancelFunc) {
	save, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		grace := time.NewTimer(saveTime)
		defer grace.Stop()
		select {
		case <-grace.C:
			cancel()
		case <-save.Done():
		}
	})
	return save, func() {
		stop()
		cancel()
	}
}

// warn notes something for people.
func (x *execution) warn(text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !slices.Contains(x.warnings, text) {
		x.warnings = append(x.warnings, text)
	}
}

// finish writes the receipt and makes the result.
func (x *execution) finish(ctx context.Context) *Result {
	x.tell()
	x.judgeSize()
	x.judgeFormat()
	x.mu.Lock()
	x.op.Status, x.op.Holder = x.status(), x.g.holder
	x.op.Usage = x.usage
	x.op.Cost = x.cost()
	x.op.Metadata = x.metadata
	x.op.Error = firstError(x.slots)
	x.mu.Unlock()
	if x.op.Status != StatusRunning {
		x.op.FinishedAt = x.g.config.Now().UTC()
	}
	save, done := saving(ctx)
	defer done()
	// The money first: an operation without its receipt is taken up again, and what is
	// settled twice is counted once. The other way round a reservation could stay for ever.
	settled := x.op.Status == StatusRunning || x.settleAll(save)
	_, ok := x.g.config.Operations.(Resumer)
	open := ok && (x.unsaved(save) || !settled)
	x.op.Warnings = x.warnings
	if open {
		x.op.FinishedAt = time.Time{}
		x.warn("the operation " + x.op.ID + " stays open, so that what could not be saved is when it is gone on with (atelier generate --wait)")
	} else if err := x.g.config.Operations.Finish(save, x.op); media.CodeOf(err) == media.CodeConflict {
		x.warn("another process went on with this operation, or ended it, meanwhile: what it saved counts (atelier operations show " + x.op.ID + ")")
	} else if err != nil {
		x.warn("the receipt of this operation could not be saved: " + asError(err).Message)
	}
	x.emit(save, Event{Kind: EventFinished, Status: x.op.Status, Error: x.op.Error, Progress: 1})
	return x.result()
}

// result shows the operation as it is.
func (x *execution) result() *Result {
	warnings := slices.Clone(x.warnings)
	if x.aside != "" {
		warnings = append(warnings, x.aside)
	}
	return &Result{
		Operation: x.op.ID, Status: x.op.Status, Model: x.op.Model, Provider: x.op.Provider,
		Slots: x.slots, Dispositions: x.op.Dispositions, Usage: x.op.Usage, Cost: x.op.Cost,
		Warnings: warnings, Metadata: x.op.Metadata,
	}
}

// firstError is the first slot's error if no slot succeeded.
func firstError(slots []Slot) *SlotError {
	var first *SlotError
	for _, s := range slots {
		if s.Output != nil {
			return nil
		}
		if first == nil {
			first = s.Error
		}
	}
	return first
}

// status sums up the slots; the caller holds mu.
func (x *execution) status() Status {
	count := map[Status]int{}
	for _, s := range x.slots {
		count[s.Status]++
	}
	switch {
	case x.running:
		return StatusRunning
	case count[StatusCancelled] > 0, x.stopped && count[StatusSucceeded] < len(x.slots):
		return StatusCancelled
	case count[StatusSucceeded] == len(x.slots):
		return StatusSucceeded
	case count[StatusSucceeded] > 0:
		return StatusPartial
	case count[StatusModerated] > 0 && count[StatusFailed] == 0:
		return StatusModerated
	}
	return StatusFailed
}

// note adds to what the provider said beside the media; the caller holds mu.
func (x *execution) note(said map[string]any) {
	if len(said) == 0 {
		return
	}
	if x.metadata == nil {
		x.metadata = map[string]any{}
	}
	maps.Copy(x.metadata, said)
}
