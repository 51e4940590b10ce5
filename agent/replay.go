package agent

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"atelier/chat"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// replayed begins the replay of what was done before, where there is such. The context that it gives
// to a root run lasts until all of that was done again, also where the caller ends it: then the run
// ends with all that it did, and nothing new begins.
func (r *run) replayed(ctx context.Context) (replayed context.Context, over func()) {
	over = func() {}
	if r.depth == 0 { // a sub-agent has a part of its parent's context
		if r.past.replays = r.request.Begun || len(r.journal.Recalled()) > 0; r.past.replays {
			if w := r.past.witness; w != nil {
				has, err := w.Emitted(context.WithoutCancel(ctx), r.owner, r.tree)
				if err == nil { // else events are emitted again, with the keys that they had
					r.wait.recorded = has
				}
			}
			ctx, over = journal.WithGrace(ctx)
		}
	}
	r.past.whole = r.spec.code != nil && r.past.ended(ctx)
	if r.wait.before != nil { // before the run is on record as one that begins
		if u, ok := r.wait.before.Redone[string(r.journal.Place())]; ok { // model calls that a retry makes anew
			r.outcome.update(func(t *tally) {
				t.spend(u.Usage)
				t.cost.add(u.Cost)
			})
			r.max.spent.Add(u.Usage.InputTokens + u.Usage.OutputTokens)
		}
	}
	return ctx, over
}

// past is what earlier parts of a run, and earlier processes, did: the journal, the state that the
// run is resumed from and the observer tell it.
type past struct {
	log     *runLog
	journal *journal.Transcript
	state   *State  // nil where the tree begins
	witness Witness // nil where the observer is none
	replays bool    // the tree was begun before
	whole   bool    // the code of a Go agent came to its end

	// open are the model calls that have no end on record. They are read when the run comes to its
	// first new call.
	once sync.Once
	open []string
}

// before reports whether a step was done before this part of the run began.
func (p *past) before(name step.Name) bool {
	if p.state == nil {
		return false
	}
	_, ok := p.state.Steps[p.journal.Name(name)]
	return ok
}

// continued reports whether, in an earlier part of the run, the agent did something after the
// answer of a turn: then the turn was not its last one.
func (p *past) continued(turn int) bool {
	for full := range p.state.Steps {
		own, ok := p.journal.Place().Top(full)
		if ok && (own.Turn == turn && own.Asked() || own.Turn == turn+1) {
			return true
		}
	}
	return false
}

// recorded reports whether a step was done, and put on record, before the run paused.
func (p *past) recorded(name step.Name) bool { return p.log.part > 0 && p.before(name) }

// begins says why an act does not begin: it is new, and the run was ended before.
func (p *past) begins(ctx context.Context, name step.Name) error {
	if p.journal.Knows(name) {
		return nil
	}
	_ = journal.Live(ctx) // ctx has the error
	return notBegun(ctx)
}

// notBegun says why an act is not begun: the run ended while it waited its turn.
func notBegun(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return media.Errorf(media.CodeOf(err), "not started, because the run had ended: %w", err)
	}
	return nil
}

// recall is what a Go agent did before and has not asked for again: its code comes to
// something new when it has, or when it asks for something else.
type recall struct {
	// whole is set where the code came to its end: it does nothing new.
	whole bool
	mu    sync.Mutex // guards steps
	steps map[string]bool
}

// ended reports whether the code of a sub-agent came to its end in an earlier process. It
// is asked before the run is on record as one that begins. One that failed in an earlier part
// may be what is tried again.
func (p *past) ended(ctx context.Context) bool {
	if p.witness == nil || !p.replays || p.log.depth == 0 {
		return false
	}
	status := p.witness.StatusOf(context.WithoutCancel(ctx), p.log.owner, p.log.id)
	return status == StatusSucceeded || status == StatusFailed && p.log.part == 0
}

// recalled lists what the code of a Go agent did before: acts, and answers that it was given.
func (p *past) recalled() *recall {
	c := &recall{whole: p.whole, steps: map[string]bool{}}
	for _, n := range p.journal.Recalled() {
		asks := n.Kind == step.KindCodeQuestion || n.Kind == step.KindCode || n.Kind == step.KindStageAsk || n.Kind == step.KindAction && n.Turn == 1
		if asks && len(n.Tail) == 0 {
			c.steps[n.String()] = true
		}
	}
	return c
}

// ask notes that the code asked for something; the empty name is its beginning. When it has
// all that it had before, it may wait for the end of its context. Nil notes nothing: the code
// of an action runs within a step.
func (c *recall) ask(ctx context.Context, name step.Name) {
	if c == nil || c.whole {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.steps, name.String())
	if len(c.steps) == 0 {
		_ = journal.Live(ctx) // what comes next finds out
	}
}

// Witness is an optional ability of an [Observer]: it knows what earlier processes began.
// Without it nothing was begun. Its methods are called under contexts that do not end.
type Witness interface {
	// OpenPrompts gives the ids of the model calls of a run that are on record without an end.
	OpenPrompts(ctx context.Context, owner, runID string) ([]string, error)
	// StatusOf gives the status of a run on record; empty where there is none.
	StatusOf(ctx context.Context, owner, runID string) Status
	// Emitted gives what reports whether an event of a run tree is on record. A replay does not
	// emit such an event again. The function is called by several goroutines at once.
	Emitted(ctx context.Context, owner, tree string) (has func(Event) bool, err error)
}

// unanswered is how often earlier processes made a model call and ended without an answer: it is
// not known whether the call is billed. Where the observer cannot tell, it was not made.
func (p *past) unanswered(ctx context.Context, name step.Name, id string) (times int) {
	if p.witness == nil || !p.replays || p.journal.Knows(name) {
		return 0
	}
	p.once.Do(func() {
		p.open, _ = p.witness.OpenPrompts(context.WithoutCancel(ctx), p.log.owner, p.log.id) // unknown: none
	})
	if !slices.Contains(p.open, id) {
		return 0
	}
	for p.journal.Knows(name.Numbered(step.TailAgain, times+1)) { // it was made again
		times++
	}
	return times + 1
}

// Use is what model calls used.
type Use struct {
	Usage Usage `json:"usage"`
	Cost  Cost  `json:"cost"`
}

// UseOf reads what a finished model call used from its step, with what calls of the step may
// have cost that were made and not answered. Other steps used nothing.
func UseOf(result []byte) Use {
	u := Use{Cost: Cost{Complete: true}}
	var a CallResult
	if json.Unmarshal(result, &a) != nil {
		return u
	}
	if a.MayHaveCost {
		u.Cost.add(Cost{EstimatedUSD: a.MayCostUSD})
	}
	if (a.Failure == nil || a.Response.Usage != (chat.Usage{})) && !a.Ended.IsZero() { // a refusal may be billed
		u.Usage = usageOf(a.Response)
		u.Cost.addCall(a.Response, a.Offline)
	}
	return u
}

// Add sums up.
func (u *Use) Add(v Use) {
	u.Usage.add(v.Usage)
	u.Cost.add(v.Cost)
}

// usageOf is what a model call counts as.
func usageOf(resp chat.Response) Usage {
	return Usage{
		ModelCalls: 1, InputTokens: resp.Usage.InputTokens, OutputTokens: resp.Usage.OutputTokens, Images: pictures(resp.Media),
	}
}
