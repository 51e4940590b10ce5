package generate

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"atelier/journal"
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

	mu       sync.Mutex // guards all below
	slots    []Slot     // by index - 1; extra results are appended
	receipts []receipt
	usage    Usage
	warnings []string
	metadata map[string]any
	previews map[int]preview // by slot index
	running  bool            // a task goes on past the wait
	formats  formats
}

// preview is what came of a slot before its end.
type preview struct {
	count int
	last  media.Blob
}

// begin journals the intent.
func (g *Gateway) begin(ctx context.Context, p *Plan) (*execution, context.Context, error) {
	id := g.config.NewID()
	now := g.config.Now().UTC()
	x := &execution{
		g: g, plan: p, started: now, previews: map[int]preview{}, warnings: slices.Clone(p.Warnings),
		op: Operation{
			ID: id, Key: cmp.Or(p.req.IdempotencyKey, id), Method: p.req.Method, Modality: p.req.Modality,
			Provider: p.Model.Provider, Model: p.Model.Name, APIModel: p.Model.APIModel,
			Prompt: media.Scrub(p.task.Prompt), N: p.N(), Status: StatusQueued, Dispositions: p.Dispositions,
			Warnings: p.Warnings, Cost: Cost{EstimatedUSD: p.EstimatedUSD}, StartedAt: now,
		},
	}
	for i := range x.op.N {
		x.slots = append(x.slots, Slot{Index: i + 1, Status: StatusQueued})
	}
	var err error
	if x.journal, err = g.config.Journal.Child(ctx, "generate-"+x.op.Key); err != nil {
		return nil, ctx, wrap("open journal", err)
	}
	scope := media.ScopeOf(ctx)
	scope.Operation = id
	ctx = media.WithScope(ctx, scope)
	if err := g.config.Operations.Begin(ctx, x.op); err != nil {
		return nil, ctx, wrap("journal operation", err)
	}
	x.emit(ctx, Event{Kind: EventStarted, Status: StatusQueued, Progress: -1})
	return x, ctx, nil
}

// emit fills in what every event of the operation has.
func (x *execution) emit(ctx context.Context, e Event) {
	e.Operation, e.Provider, e.Model, e.N = x.op.ID, x.op.Provider, x.op.Model, x.op.N
	e.Elapsed = x.g.config.Now().Sub(x.started)
	x.g.config.Events(ctx, e)
}

// run makes all calls at once, as far as the provider's limit lets it.
func (x *execution) run(ctx context.Context) {
	var all sync.WaitGroup
	first := 1
	for i, n := range x.plan.Calls {
		c := call{number: i + 1, first: first, n: n}
		first += n
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
	x.judgeSize()
	x.judgeFormat()
	x.mu.Lock()
	x.op.Status = x.status()
	x.op.Usage = x.usage
	x.op.Cost.ReportedUSD = settle(x.plan.Model, x.receipts)
	x.op.Metadata = x.metadata
	x.op.Error = firstError(x.slots)
	x.mu.Unlock()
	if x.op.Status != StatusRunning {
		x.op.FinishedAt = x.g.config.Now().UTC()
	}
	x.op.Warnings = x.warnings
	save, done := saving(ctx)
	defer done()
	if err := x.g.config.Operations.Finish(save, x.op); err != nil {
		x.warn("the receipt of this operation could not be saved: " + asError(err).Message)
	}
	x.emit(save, Event{Kind: EventFinished, Status: x.op.Status, Error: x.op.Error, Progress: 1})
	return &Result{
		Operation: x.op.ID, Status: x.op.Status, Model: x.op.Model, Provider: x.op.Provider,
		Slots: x.slots, Dispositions: x.op.Dispositions, Usage: x.op.Usage, Cost: x.op.Cost,
		Warnings: x.warnings, Metadata: x.op.Metadata,
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
	case count[StatusCancelled] > 0:
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
