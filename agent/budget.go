package agent

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"

	"atelier/chat"
	"atelier/media"
)

// limits are what the caller of a run tree allows, beside the budgets of the
// definitions. They are the same for all its runs.
type limits struct {
	turns  int
	tokens int64
	// spent counts the tokens of all runs of the tree.
	spent *atomic.Int64
}

// maxTurns is how many turns this run may take.
func (r *run) maxTurns() int {
	return min(r.spec.def.Turns, cmp.Or(r.max.turns, r.spec.def.Turns))
}

// spend counts tokens against the budgets. The caller holds mu.
func (r *run) spend(u chat.Usage) {
	n := u.InputTokens + u.OutputTokens
	r.spent += n
	if r.max.spent != nil {
		r.max.spent.Add(n)
	}
}

// spentUp says which budget ends with the turn that comes, or nothing.
func (r *run) spentUp() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch most := r.maxTurns(); {
	case r.turns > 0 && r.spec.def.Tokens > 0 && r.spent >= int64(r.spec.def.Tokens):
		return fmt.Sprintf("agent %s used %d tokens and may use %d", r.spec.slug, r.spent, r.spec.def.Tokens)
	case r.turns > 0 && r.max.tokens > 0 && r.max.spent.Load() >= r.max.tokens:
		return fmt.Sprintf("the run used %d tokens and may use %d", r.max.spent.Load(), r.max.tokens)
	case r.turns+1 >= most:
		return fmt.Sprintf("agent %s may take %d turns", r.spec.slug, most)
	}
	return ""
}

// announceLast tells the model that its last turn has come, where a budget is at its
// end. Who has one turn only is not told: there is nothing yet to finish with.
func (r *run) announceLast(ctx context.Context) {
	r.lastTurn = r.spentUp()
	if r.lastTurn == "" || r.turns == 0 {
		return
	}
	r.history.notice("This is your last turn: " + r.lastTurn + ". Finish now with what you have: answer with done true, with the message and the payload as good as they can be. Nothing that you ask for will be run.")
	r.warn(ctx, r.lastTurn+": it was told to finish with what it had")
}

// overBudget ends a run that did not finish in its last turn. What it made is kept,
// and the items that its answer embeds so far are chosen for it.
func (r *run) overBudget(ctx context.Context) error {
	r.acceptRefs(ctx)
	return media.Errorf(media.CodeOverBudget, "over budget: %s and did not finish: what was made is kept; allow more turns or tokens (turns and tokens in the agent's definition, --max-turns and --max-tokens on the command line) or ask for less", r.lastTurn)
}
