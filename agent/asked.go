package agent

import (
	"context"
	"encoding/json"
	"sync"

	"atelier/chat"
	"atelier/journal/step"
	"atelier/media"
)

// Witness is an optional ability of an [Observer]: it knows what earlier processes began.
// Without it nothing was begun. Its methods are called under contexts that do not end.
type Witness interface {
	// OpenPrompts gives the ids of the model calls of a run that are on record without an end.
	OpenPrompts(ctx context.Context, owner, runID string) ([]string, error)
	// StatusOf gives the status of a run on record; empty where there is none.
	StatusOf(ctx context.Context, owner, runID string) Status
}

// openCalls are the calls of a run that earlier processes made and had no answer to when they
// ended. It is read when the run comes to its first new call.
type openCalls struct {
	once sync.Once
	open map[string]bool
}

// unanswered tells how often earlier processes made a call and had no answer when they ended:
// nobody knows whether it is billed. Where nobody can tell, it was not made.
func (r *run) unanswered(ctx context.Context, name step.Name, id string) (times int) {
	if !r.replays || r.journal.Knows(name.String()) || r.model.Profile().Offline {
		return 0
	}
	r.calledBefore.once.Do(func() {
		a, ok := r.r.cfg.Observer.(Witness)
		if !ok {
			return
		}
		ids, err := a.OpenPrompts(context.WithoutCancel(ctx), r.owner, r.id)
		if err != nil {
			return
		}
		r.calledBefore.open = map[string]bool{}
		for _, id := range ids {
			r.calledBefore.open[id] = true
		}
	})
	if !r.calledBefore.open[id] {
		return 0
	}
	return r.losses(name) + 1
}

// losses is how often the journal says that a model call was made again.
func (r *run) losses(name step.Name) (n int) {
	for r.journal.Knows(name.Numbered(step.TailAgain, n+1).String()) {
		n++
	}
	return n
}

// forgo lets the budgets count a call that an earlier process made and that was not answered,
// and notes that it is made again: should this process end in it too, both count.
func (r *run) forgo(ctx context.Context, name step.Name, times int, req chat.Request) {
	c := r.expected(req)
	c.ID = media.ScopeOf(ctx).PromptRun
	_ = r.r.cfg.Budget.Settle(context.WithoutCancel(ctx), c) // else what was reserved stays so
	// Where the step cannot be kept, neither can the call, which tells why.
	_, _ = r.journal.Step(ctx, name.Numbered(step.TailAgain, times).String(), func(context.Context) ([]byte, error) { return []byte("{}"), nil })
}

// mayCost counts calls that may be billed though no answer came: those of earlier processes,
// and one that failed so.
func (r *run) mayCost(usd *string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cost.add(Cost{EstimatedUSD: usd})
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

// countRedone counts the model calls that a retry does anew, before the run is on record as
// one that begins.
func (r *run) countRedone(ctx context.Context) {
	r.whole = r.endedBefore(ctx)
	if r.wait.before == nil {
		return
	}
	u, ok := r.wait.before.Redone[string(r.journal.Place())]
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.usage.add(u.Usage)
	r.cost.add(u.Cost)
	r.spend(chat.Usage{InputTokens: u.Usage.InputTokens, OutputTokens: u.Usage.OutputTokens})
}
