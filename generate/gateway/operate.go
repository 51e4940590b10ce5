package gateway

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"atelier/generate"
	"atelier/generate/internal/bill"
	"atelier/generate/internal/fault"
	"atelier/generate/operation"
	"atelier/generate/plan"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// saveTime is how long paid results are still fetched and saved after the caller's context has ended.
const saveTime = 30 * time.Second

// execution is one operation in progress: it makes the calls of a plan, delivers their results and asks other models
// for missing ones. Its state is in its parts, which do not depend on each other.
type execution struct {
	g       *Gateway
	plan    *plan.Plan
	op      operation.Operation
	started time.Time
	once    bool // tasks of earlier processes are polled once

	board     *slotTable
	history   *history
	chain     chain
	bill      *bill.Bill
	recorder  recorder
	notes     *notes
	previews  previews
	downloads downloads
	steps     steps
	departure departure
}

func (g *Gateway) begin(ctx context.Context, p *plan.Plan) (*execution, context.Context, error) {
	id, act := g.config.NewID(), media.ScopeOf(ctx).Step
	derived := p.Request.Adopt && act != ""
	if derived { // the same id in the process that takes it up, so that this reservation counts once
		id = journal.ID(act, p.Request.IdempotencyKey, 0, 0)
	}
	if _, full := g.reserveSpace(ctx, p, 0, bytesOf(p, p.ResultCount)+g.config.MinFree); full != nil {
		return nil, ctx, full
	}
	p, err := g.reserve(ctx, p, id)
	if err != nil {
		return nil, ctx, fault.Of(err)
	}
	refund := func() { _ = g.config.Budget.Settle(ctx, generate.Charge{ID: id}) } // else it is refunded later
	if err := p.Accept(ctx); err != nil {
		refund()
		return nil, ctx, err
	}
	now := g.config.Now().UTC()
	x := g.newExecution(p, operation.Operation{
		ID: id, Key: cmp.Or(p.Request.IdempotencyKey, id), Method: p.Request.Method, Modality: p.Request.Modality,
		Provider: p.Model.Provider, Model: p.Model.Name, APIModel: p.Model.APIModel,
		Prompt: p.Task.Prompt, N: p.N(), Dispositions: p.Dispositions,
		Warnings: p.Warnings, Cost: generate.Cost{EstimatedUSD: p.EstimatedUSD}, Request: p.Save(), StartedAt: now,
		Holder: g.holder,
	})
	x.op.Status = x.notes.next(operation.SubjectOperation, x.op.Status, operation.EventGenerate)
	if x.steps.Journal, err = g.config.Journal.Child(ctx, step.Name{Kind: step.KindGenerate, Label: x.op.Key}); err != nil {
		refund()
		return nil, ctx, fault.Wrap("open journal", err)
	}
	scope := media.ScopeOf(ctx)
	scope.Operation = id
	ctx = media.WithScope(ctx, scope)
	if err := g.config.Operations.Begin(ctx, x.op); err != nil {
		if !derived || media.CodeOf(err) != media.CodeConflict { // else another process began it: the reservation is that one's
			refund()
		}
		return nil, ctx, fault.Wrap("journal operation", err)
	}
	ctx = media.WithScope(ctx, inTree(scope))
	x.emit(ctx, generate.Event{Kind: generate.EventStarted, Status: x.op.Status, Progress: -1})
	return x, ctx, nil
}

// inTree uses the operation as the tree of a scope that belongs to no run: pictures are sent to providers through
// tokens that are signed for a tree.
func inTree(s media.Scope) media.Scope {
	s.Tree = cmp.Or(s.Tree, s.Operation)
	return s
}

func (g *Gateway) newExecution(p *plan.Plan, op operation.Operation) *execution {
	log := &notes{warnings: slices.Clone(op.Warnings)}
	x := &execution{
		g: g, plan: p, op: op, started: g.config.Now().UTC(), bill: bill.New(p, op, g.config.Budget),
		notes: log, board: newBoard(op.N, log), departure: departure{notes: log, resumable: g.resumer != nil && len(op.Request) > 0},
		history: &history{}, previews: previews{storage: g.config.Storage, operation: op.ID},
		recorder: recorder{
			log: g.config.Operations, records: g.config.Recorder, operation: op.ID, now: g.config.Now, newID: g.config.NewID, notes: log,
			slots: map[int]bool{}, calls: map[string]operation.Attempt{},
		},
		downloads: downloads{storage: g.config.Storage, get: g.config.Fetch},
	}
	x.chain = chain{g: g, plan: p, operation: op.ID, history: x.history}
	if p.Round != nil {
		x.board.targets, x.history.lastNumber = p.Round.Slots, p.Round.First-1
	}
	return x
}

func (x *execution) emit(ctx context.Context, e generate.Event) {
	e.Operation, e.Provider, e.Model, e.N = x.op.ID, x.op.Provider, x.op.Model, x.op.N
	e.Elapsed = x.g.config.Now().Sub(x.started)
	x.g.config.Events(ctx, e)
}

// hold keeps the operation's lease while it is worked on; a finished operation is not released.
func (x *execution) hold(ctx context.Context) (context.Context, func()) {
	held, end := x.g.lease(x.op.ID).keepAlive(ctx)
	return held, func() {
		if err := end(x.op.FinishedAt.IsZero()); err != nil {
			x.notes.warn("the operation could not be released: " + fault.Of(err).Message)
		}
	}
}

// work executes the whole operation. The caller has the exclusive right to it.
func (x *execution) work(ctx context.Context) *generate.Result {
	held, release := x.hold(ctx)
	defer release()
	x.run(held, x.history.split(x.chain.first(held), x.board.targets))
	if r := x.plan.Round; r != nil && r.Found {
		for number := range x.history.attempts { // the round is only a call that was found
			x.history.lastNumber = max(x.history.lastNumber, number)
		}
	}
	// Request results again that failed individually beside successful ones, if they were surely not billed.
	for range x.g.config.MaxAttempts - 1 {
		slots := x.board.repeatable()
		if len(slots) == 0 || x.departure.halted(held) {
			break
		}
		x.run(held, x.history.nextCalls(x.plan, slots))
	}
	x.fallBack(held)
	// End open calls of an earlier process, such as those to fallback models: they are not continued after ctx has ended.
	if held.Err() != nil && !handedOver(held) {
		for _, a := range x.history.open() {
			x.stopCall(held, call{plan: x.chain.planOf(held, a), number: a.Call, slots: a.Slots}, a)
		}
	}
	slots, calls := x.recorder.backlog()
	if leaseTaken(held) || len(slots)+len(calls) > 0 && x.g.lease(x.op.ID).lost(ctx) {
		return x.takenAway(ctx)
	}
	return x.finish(ctx)
}

func (x *execution) run(ctx context.Context, calls []call) {
	var all sync.WaitGroup
	for _, c := range calls {
		all.Go(func() { x.executeCall(ctx, c) })
	}
	all.Wait()
}

// outlive returns a context that ends some time after ctx, for the same cause. The caller calls the function when it
// does not need the context any more.
func outlive(ctx context.Context, grace func() time.Duration) (context.Context, context.CancelFunc) {
	longer, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		_ = journal.Memory{}.Sleep(longer, grace())
		end(context.Cause(ctx))
	})
	return longer, func() {
		stop()
		end(nil)
	}
}

func saveContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return outlive(ctx, func() time.Duration { return saveTime })
}

func (x *execution) finish(ctx context.Context) *generate.Result {
	x.judge()
	running, end := x.departure.running.Load(), operation.EventLeave
	if !running {
		end = x.board.end(x.departure.stopped)
	}
	x.op.Holder = x.g.holder
	x.op.Usage = x.bill.Used()
	x.op.Cost = x.bill.Cost(x.op.Cost.EstimatedUSD, !running)
	x.op.Metadata = x.notes.joined()
	x.op.Error = x.board.failure()
	x.op.Status = x.notes.next(operation.SubjectOperation, x.op.Status, end)
	if x.op.Status.Finished() {
		x.op.FinishedAt = x.g.config.Now().UTC()
	}
	save, done := saveContext(ctx)
	defer done()
	// The money is settled first: an operation without a receipt is resumed, and settling twice counts once. In the
	// other order a reservation could remain forever.
	settled := !x.op.Status.Finished() || x.bill.SettleAll(save)
	open := x.g.resumer != nil && (x.recorder.retry(save, x.board) || !settled)
	x.op.Warnings = x.notes.saved()
	if open {
		x.op.FinishedAt = time.Time{}
		x.notes.warn("the operation " + x.op.ID + " stays open: what could not be saved is saved when the operation is continued (atelier generate --wait)")
	} else if err := x.g.config.Operations.Finish(save, x.op); media.CodeOf(err) == media.CodeConflict {
		x.notes.warn("another process continued or ended this operation in the meantime: what that process saved counts (atelier operations show " + x.op.ID + ")")
	} else if err != nil {
		x.notes.warn("the receipt of this operation could not be saved: " + fault.Of(err).Message)
	}
	x.emit(save, generate.Event{Kind: generate.EventFinished, Status: x.op.Status, Error: x.op.Error, Progress: 1})
	return x.result()
}

func (x *execution) result() *generate.Result {
	saved := operation.Saved{Operation: x.op}
	for _, s := range x.board.all() {
		saved.Slots = append(saved.Slots, s.Slot)
	}
	r := saved.Result()
	r.Warnings = x.notes.shown()
	return r
}

// takenAwayTime limits the wait for the end of an operation that another process took. A process that cancels it first
// waits for [leaseLossGrace] and then asks the provider.
const takenAwayTime = leaseLossGrace + leaseTTL

// takenAway returns the result if another process took the operation: the end that it reached there if that comes soon,
// else a result that says so.
func (x *execution) takenAway(ctx context.Context) *generate.Result {
	for waited := time.Duration(0); waited < takenAwayTime; waited += leaseTTL / 20 {
		saved, err := x.g.resumer.Saved(context.WithoutCancel(ctx), x.op.ID)
		if err == nil && !saved.Operation.FinishedAt.IsZero() {
			r, what := saved.Result(), "ended"
			if r.Status == generate.StatusCancelled {
				what = "cancelled"
			}
			r.Warnings = append(slices.Clone(r.Warnings), "another process "+what+" this operation: atelier operations show "+r.Operation)
			return r
		}
		if (journal.Memory{}).Sleep(ctx, leaseTTL/20) != nil {
			break
		}
	}
	x.notes.warn("another process took this operation over: it continues or ends there (atelier operations show " + x.op.ID + ")")
	x.op.Status = x.notes.next(operation.SubjectOperation, x.op.Status, operation.EventLeave)
	return x.result()
}

// judge corrects the model and the dispositions by the actual results.
func (x *execution) judge() {
	if all := x.board.makersOf(x.plan); len(all) > 0 && len(x.plan.Request.Fallback) > 0 {
		m := all[0].plan.Model
		x.op.Model, x.op.APIModel, x.op.Provider = m.Name, m.APIModel, m.Provider
		x.op.Dispositions = byMakers(x.plan, all)
	}
	x.op.Dispositions = slices.Clone(x.op.Dispositions) // a plan keeps its own
	judgeSizes(x.op.Dispositions, x.board.pictures(x.plan))
	judgeFormat(x.op.Dispositions, x.board.formats, x.op.Model, x.plan.Request.OutputFormat)
}
