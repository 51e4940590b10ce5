package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"atelier/chat"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// startReplay starts the replay of recorded work, if there is any. For a root run, the returned
// context stays valid until all recorded work has been replayed, even if the caller cancels it. The
// run then ends with everything that it did, and starts nothing new.
func (r *run) startReplay(ctx context.Context) (replayed context.Context, over func()) {
	over = func() {}
	if r.depth == 0 { // a sub-agent uses a part of its parent's context
		if r.past.replays = r.request.Begun || len(r.journal.Recalled()) > 0; r.past.replays {
			if w := r.past.records; w != nil {
				has, err := w.Emitted(context.WithoutCancel(ctx), r.owner, r.tree)
				if err == nil { // otherwise events are emitted again with the same keys
					r.wait.recorded = has
				}
			}
			ctx, over = journal.WithGrace(ctx)
		}
	}
	if p := &r.past; r.spec.code != nil && r.depth > 0 && p.records != nil && p.replays { // before the run is recorded as running
		status := p.records.StatusOf(context.WithoutCancel(ctx), r.owner, r.id)
		// A sub-agent that failed in an earlier part may be what a retry repeats, so it does not count.
		p.codeFinished = status == StatusSucceeded || status == StatusFailed && r.part == 0
	}
	if r.wait.before != nil { // before the run is recorded as running
		if u, ok := r.wait.before.Redone[string(r.journal.Place())]; ok { // model calls that a retry repeats
			r.outcome.update(func(t *tally) {
				t.spend(u.Usage)
				t.cost.add(u.Cost)
			})
			r.spent.Add(u.Usage.InputTokens + u.Usage.OutputTokens)
		}
	}
	return ctx, over
}

// past gives access to what earlier parts of a run, and earlier processes, did. Its sources are the
// journal, the state from which the run is resumed, and the observer.
type past struct {
	log          *runLog
	journal      *journal.Transcript
	records      RecordReader // nil if the observer is not one
	replays      bool         // the tree was started before
	codeFinished bool         // the code of a Go agent had finished

	// askedByActs lists the answered questions of the code of actions.
	askedByActs func() []step.Name

	// open lists the model calls without a recorded end. It is read when the run reaches its first new call.
	once sync.Once
	open []string
}

// finishedBefore reports whether a step was finished before this part of the run began.
func (p *past) finishedBefore(name step.Name) bool {
	before := p.log.wait.before
	if before == nil {
		return false
	}
	_, ok := before.Steps[p.journal.Name(name)]
	return ok
}

// continued reports whether an earlier part of the run did something after the answer of a turn, so
// that the turn was not its last one.
func (p *past) continued(turn int) bool {
	for full := range p.log.wait.before.Steps {
		own, _, ok := p.journal.Place().Top(full)
		if ok && (own.Turn == turn && own.Asked() || own.Turn == turn+1) {
			return true
		}
	}
	return false
}

// recorded reports whether a step was finished and recorded before the run paused.
func (p *past) recorded(name step.Name) bool { return p.log.part > 0 && p.finishedBefore(name) }

// answersTo returns the replies to the questions that the code of a finished act asked.
func (p *past) answersTo(act step.Name) (replies []step.Reply) {
	for _, n := range p.askedByActs() {
		var reply step.Reply
		b, ok := p.journal.Known(n)
		if ok && strings.HasPrefix(n.String(), act.String()+"-") && json.Unmarshal(b, &reply) == nil {
			replies = append(replies, reply)
		}
	}
	return replies
}

// checkMayBegin returns an error if an act must not begin, because it is new and the run has ended.
func (p *past) checkMayBegin(ctx context.Context, name step.Name) error {
	if p.journal.Knows(name) {
		return nil
	}
	_ = journal.Live(ctx) // ctx carries the error
	return checkNotEnded(ctx)
}

// checkNotEnded returns an error if the run ended while an act waited for its turn.
func checkNotEnded(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return media.Errorf(media.CodeOf(err), "not started, because the run had ended: %w", err)
	}
	return nil
}

// recall holds the earlier operations of a Go agent that its code has not requested again. The code
// reaches new work when none are left, or when it requests something else.
type recall struct {
	// codeFinished is set if the code had finished: it does nothing new.
	codeFinished bool
	mu           sync.Mutex // guards steps
	steps        map[string]bool
}

// markRequested records that the code requested something; the empty name is the start of the code. Once
// everything recorded has been requested again, markRequested may wait for the end of the context. It does
// nothing for nil, because the code of an action runs within a step.
func (c *recall) markRequested(ctx context.Context, name step.Name) {
	if c == nil || c.codeFinished {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.steps, name.String())
	if len(c.steps) == 0 {
		_ = journal.Live(ctx) // the next operation checks the context
	}
}

// RecordReader is an optional interface of an [Observer] that knows what earlier processes started.
// Without it, nothing counts as started. Its methods get contexts that are not cancelled.
type RecordReader interface {
	// OpenPrompts returns the IDs of a run's model calls that are recorded without an end.
	OpenPrompts(ctx context.Context, owner, runID string) ([]string, error)
	// StatusOf returns the recorded status of a run; empty if there is none.
	StatusOf(ctx context.Context, owner, runID string) Status
	// Emitted returns a function that reports whether an event of a run tree is recorded. A replay
	// does not emit recorded events again. The function must be safe for concurrent use.
	Emitted(ctx context.Context, owner, tree string) (has func(Event) bool, err error)
}

// unanswered returns how often earlier processes made a model call and ended without an answer, so
// that it is unknown whether the call is billed. It returns 0 if the observer cannot tell.
func (p *past) unanswered(ctx context.Context, name step.Name, id string) (times int) {
	if p.records == nil || !p.replays || p.journal.Knows(name) {
		return 0
	}
	p.once.Do(func() {
		p.open, _ = p.records.OpenPrompts(context.WithoutCancel(ctx), p.log.owner, p.log.id) // on error none are known
	})
	if !slices.Contains(p.open, id) {
		return 0
	}
	for p.journal.Knows(name.Numbered(step.TailAgain, times+1)) { // it was repeated
		times++
	}
	return times + 1
}

// Use is the usage and cost of model calls.
type Use struct {
	Usage Usage `json:"usage"`
	Cost  Cost  `json:"cost"`
}

// UseOf returns the usage of a finished model call from the result of its step, including the
// possible cost of the step's unanswered calls. Other steps have no usage.
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

// Add adds v to u.
func (u *Use) Add(v Use) {
	u.Usage.add(v.Usage)
	u.Cost.add(v.Cost)
}

// usageOf returns the usage of one model call.
func usageOf(resp chat.Response) Usage {
	return Usage{
		ModelCalls: 1, InputTokens: resp.Usage.InputTokens, OutputTokens: resp.Usage.OutputTokens, Images: pictures(resp.Media),
	}
}
