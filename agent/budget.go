package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"atelier/agent/definition"
	"atelier/agent/transcript"
	"atelier/chat"
	"atelier/generate"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// gracePeriod is the maximum time that work in progress may take after the time limit.
const gracePeriod = time.Minute

// Limits are the limits of a run tree: those set by its caller, of which zero means no limit, and those for pictures.
type Limits struct {
	// Turns is the limit of each agent.
	Turns int `json:"turns,omitempty"`
	// Tokens counts input and output tokens together; Images counts pictures made by models.
	Tokens int64 `json:"tokens,omitempty"`
	Images int64 `json:"images,omitempty"`
	// TimeMS is the working time in milliseconds; USD is an amount of money as decimal text.
	TimeMS int64  `json:"time_ms,omitempty"`
	USD    string `json:"usd,omitempty"`
	// LenientImages leaves out pictures that the model does not accept; otherwise they are refused.
	LenientImages bool `json:"lenient_images,omitempty"`
	// Vision is the policy by which the root's model is shown pictures made by actions; nil if none are shown.
	Vision *definition.VisionContextPolicy `json:"vision,omitempty"`
}

// bounds returns the limits of pictures and money.
func (q Request) bounds() generate.Bounds {
	return generate.Bounds{USD: q.MaxCost, Images: q.MaxImages}
}

// callBudgeted calls the model if the budgets allow it. It reserves the tokens and the price of the
// request, and settles them with the actual usage.
func (c *calls) callBudgeted(ctx context.Context, req chat.Request) (chat.Response, error) {
	p, charge := c.profile(), c.estimateCharge(req)
	charge.ID = media.ScopeOf(ctx).PromptRun
	if charge.USD == nil && !p.Priced() { // nothing would limit its calls if the budget is money
		bounded, err := c.r.cfg.Budget.CheckRemaining(ctx, generate.Charge{ID: charge.ID})
		if bounded && err == nil { // Reserve refuses calls for which there is no room
			return chat.Response{}, media.Errorf(media.CodeOverBudget, "the price of %s is unknown, and the budget is one of money: choose a chat model with a known price, give its input_usd and output_usd (ATELIER_CHAT_PROFILES), or bound the tokens instead", p)
		}
	}
	if err := c.r.cfg.Budget.Reserve(ctx, charge); err != nil {
		return chat.Response{}, err
	}
	end := c.meter.Begin(c.now)
	resp, err := c.ask(ctx, req)
	end()
	switch {
	case err == nil || resp.Usage != (chat.Usage{}): // a refusal may be billed
		charge.Tokens, charge.USD, charge.Images = resp.Usage.InputTokens+resp.Usage.OutputTokens, resp.CostUSD, int64(pictures(resp.Media))
		if charge.USD == nil && p.Offline {
			charge.USD = new("0")
		}
	case journal.HandedOver(ctx):
		return resp, err // the process that continues makes this call again and settles it
	case !errors.Is(err, chat.ErrUnsettled):
		charge = generate.Charge{ID: charge.ID}
	}
	_ = c.r.cfg.Budget.Settle(context.WithoutCancel(ctx), charge) // on failure the reservation stays in place
	return resp, err
}

// ask calls the model. A panic in a model's code fails the call, which may have been billed.
func (c *calls) ask(ctx context.Context, req chat.Request) (resp chat.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			e := media.Defect("chat model "+c.profile().String(), p)
			e.Cause, err = chat.ErrUnsettled, e
		}
	}()
	return c.sights.Model.Generate(ctx, req)
}

// estimateCharge returns the estimated usage of a call's request: its tokens and their price.
func (c *calls) estimateCharge(req chat.Request) generate.Charge {
	p := c.profile()
	u := chat.Usage{InputTokens: max(1, p.EstimateTokens(req))}
	return generate.Charge{Tokens: u.InputTokens, USD: p.Cost(u, c.now())}
}

// pictures returns the number of pictures among the items that a chat model made itself.
func pictures(items []media.Output) (n int) {
	for _, o := range items {
		if o.Modality == media.ModalityImage {
			n++
		}
	}
	return n
}

// turnBudget decides which turn of an agent is its last one.
type turnBudget struct {
	*core

	lastTurnReason string // why the current turn is the last one; empty if it is not
}

// checkMayBegin returns an error if a sub-agent has not begun and the tokens or the time of the run are used up. The
// decision is a step, so that a replay repeats it.
func (b *turnBudget) checkMayBegin(ctx context.Context) error {
	if b.depth == 0 || b.request.MaxTokens == 0 && b.request.MaxTime == 0 || b.journal.Knows(step.In(1, step.KindModel)) {
		return nil
	}
	reason, err := journal.Do(ctx, b.journal, step.In(0, step.KindBudget), func(context.Context) (string, error) {
		worked, spent := b.worked.Worked(b.now()), b.spent.Load()
		switch {
		case b.request.MaxTokens > 0 && spent >= b.request.MaxTokens:
			return fmt.Sprintf("the run used %d tokens and may use %d", spent, b.request.MaxTokens), nil
		case b.request.MaxTime > 0 && worked >= b.request.MaxTime:
			return b.timeLimitReason(worked), nil
		}
		return "", nil
	})
	if err == nil && reason != "" {
		err = media.Errorf(media.CodeOverBudget, "%s, so agent %s did not begin: allow more tokens or time, or ask for less", reason, b.spec.slug)
	}
	return err
}

// announce decides whether the next turn is the last one and tells the model if it is. It does not
// tell the model of a single-turn run, which has nothing to finish with.
func (b *turnBudget) announce(ctx context.Context, h *transcript.History) {
	b.lastTurnReason = b.decideExhausted(ctx, h)
	if b.lastTurnReason == "" || b.turns == 0 {
		return
	}
	h.Notice("This is your last turn: " + b.lastTurnReason + ". Finish now with what you have: answer with done true, with the message and the payload as good as they can be. Nothing that you ask for will be run.")
	b.warn(ctx, b.lastTurnReason+": the model was asked to finish with what it had")
}

// exhausted returns which budget ends with the next turn, or "". If shared is set, it also checks the budgets
// of the whole run; its tokens end when there is no room for one more turn before the last turns.
func (b *turnBudget) exhausted(shared bool) string {
	sum := b.outcome.snapshot()
	turns, d := b.turns, b.spec.def
	worked := b.worked.Worked(b.now())
	switch most := min(d.Turns, cmp.Or(b.request.MaxTurns, d.Turns)); {
	case turns > 0 && d.Tokens > 0 && sum.spent >= int64(d.Tokens):
		return fmt.Sprintf("agent %s used %d tokens and may use %d", b.spec.slug, sum.spent, d.Tokens)
	case shared && turns > 0 && b.request.MaxTokens > 0 && b.spent.Load()+int64(2+b.depth)*sum.latest > b.request.MaxTokens: // the agents above this one need a turn too
		return fmt.Sprintf("the run used %d tokens, %d of them in the call before this one, and may use %d", b.spent.Load(), sum.latest, b.request.MaxTokens)
	case shared && turns > 0 && b.request.MaxTime > 0 && worked >= b.request.MaxTime:
		return b.timeLimitReason(worked)
	case turns+1 >= most && (shared || !b.past.continued(turns+1)):
		return fmt.Sprintf("agent %s may take %d turns", b.spec.slug, most)
	}
	return ""
}

// timeLimitReason returns the reason that the time limit was reached.
func (t *runTree) timeLimitReason(worked time.Duration) string {
	return fmt.Sprintf("the run worked for %s and may work for %s", worked.Round(time.Millisecond), t.request.MaxTime)
}

// decideExhausted returns which budget ends with the next turn, or "". If a budget is shared or limits
// time, the decision is a step, so that a replay repeats it regardless of the clock and the other
// agents. Turns that were taken before the run had its current budgets are not ended by them.
func (b *turnBudget) decideExhausted(ctx context.Context, h *transcript.History) string {
	name, model := step.In(b.turns+1, step.KindBudget), step.In(b.turns+1, step.KindModel)
	if !b.past.finishedBefore(name) && b.past.finishedBefore(model) {
		return b.exhausted(false)
	}
	reason := b.exhausted(true)
	if b.turns == 0 {
		return reason
	}
	p := b.sights.Model.Profile()
	two := chat.Usage{InputTokens: 2 * max(1, p.EstimateTokens(chat.Request{System: b.sights.System, Messages: h.Messages()}))}
	bounded, err := b.r.cfg.Budget.CheckRemaining(ctx, generate.Charge{Tokens: two.InputTokens, USD: p.Cost(two, b.now())})
	if media.CodeOf(err) == media.CodeOverBudget && reason == "" { // if the budget cannot tell, the call itself finds out
		reason = "two more calls of the model do not fit, " + strings.TrimSuffix(transcript.Problem(err).Message, ": raise it or ask for less")
	}
	if !bounded && b.request.MaxTokens == 0 && b.request.MaxTime == 0 {
		return reason
	}
	if !b.journal.Knows(name) && b.journal.Knows(model) {
		return reason // not a new turn: there was no budget when it was taken
	}
	before, err := journal.Do(ctx, b.journal, name, func(context.Context) (string, error) { return reason, nil })
	if err != nil {
		return reason
	}
	return before
}

// withTimeLimit ends the context of a root run when its tree has worked for the maximum time plus the
// overtime. Work of sub-agents and earlier processes counts. If the working time of earlier parts
// exceeds the limit, the overtime starts now.
func (t *runTree) withTimeLimit(ctx context.Context, now func() time.Time) (timed context.Context, stop func()) {
	limit := t.request.MaxTime
	if limit == 0 {
		return ctx, func() {}
	}
	ctx, cut := context.WithCancelCause(ctx)
	most := min(max(limit, t.wait.before.worked()), math.MaxInt64-gracePeriod) + min(limit, gracePeriod)
	var timer *time.Timer
	check := func() {
		if worked := t.worked.Worked(now()); ctx.Err() == nil && worked >= most {
			cut(media.Errorf(media.CodeOverBudget, "%s: work in progress was stopped; allow more time or ask for less", t.timeLimitReason(worked)))
		} else if ctx.Err() == nil {
			timer.Reset(most - worked)
		}
	}
	timer = time.AfterFunc(math.MaxInt64, check)
	t.worked.Watch(check)
	check()
	return ctx, func() {
		cut(nil)
		timer.Stop()
	}
}
