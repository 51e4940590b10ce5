package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"atelier/chat"
	"atelier/generate"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// overtime is how long, at most, what is under way may go on when the time is up.
const overtime = time.Minute

// Limits are what the caller of a run allowed the whole tree; zero fields bound nothing.
type Limits struct {
	// Turns are those of each agent.
	Turns int `json:"turns,omitempty"`
	// Tokens are those in and out together, Images pictures that models make.
	Tokens int64 `json:"tokens,omitempty"`
	Images int64 `json:"images,omitempty"`
	// TimeMS is time of work in milliseconds, USD money as decimal text.
	TimeMS int64  `json:"time_ms,omitempty"`
	USD    string `json:"usd,omitempty"`
}

// limits are what the caller of a run tree allows, beside the budgets of the
// definitions. They are the same for all its runs.
type limits struct {
	turns  int
	tokens int64
	time   time.Duration
	// spent counts the tokens of all runs of the tree.
	spent *atomic.Int64
	// worked is the meter of the root.
	worked *meter
	// allowed bounds pictures and money; it goes with the context.
	allowed *generate.Allowance
}

// limits reads what a request allows. The error has code media.CodeInvalid.
func (q Request) limits(m *meter) (limits, error) {
	if q.MaxTurns < 0 || q.MaxTokens < 0 || q.MaxImages < 0 || q.MaxTime < 0 {
		return limits{}, media.Errorf(media.CodeInvalid, "MaxTurns, MaxTokens, MaxImages and MaxTime must not be negative: leave them out for no limit")
	}
	b := generate.Bounds{USD: q.MaxCost, Images: q.MaxImages}
	if err := b.Validate(); err != nil {
		return limits{}, media.Errorf(media.CodeInvalid, "MaxCost: %w", err)
	}
	return limits{
		turns: q.MaxTurns, tokens: q.MaxTokens, time: q.MaxTime, spent: &atomic.Int64{}, worked: m,
		allowed: &generate.Allowance{Bounds: b},
	}, nil
}

// record are the limits as the observer saves them.
func (l limits) record() Limits {
	return Limits{
		Turns: l.turns, Tokens: l.tokens, TimeMS: l.time.Milliseconds(),
		Images: l.allowed.Bounds.Images, USD: l.allowed.Bounds.USD,
	}
}

// maxTurns is how many turns this run may take.
func (r *run) maxTurns() int {
	return min(r.spec.def.Turns, cmp.Or(r.max.turns, r.spec.def.Turns))
}

// spend counts tokens against the budgets. The caller holds mu.
func (r *run) spend(u chat.Usage) {
	n := u.InputTokens + u.OutputTokens
	r.spent, r.latest = r.spent+n, n
	r.max.spent.Add(n)
}

// billed asks the model, if the budgets let it: the tokens and the price of the request
// are held while it is under way, then those of the call are counted.
func (r *run) billed(ctx context.Context, req chat.Request) (chat.Response, error) {
	p, budget := r.model.Profile(), r.r.cfg.Budget
	c := r.expected(req)
	c.ID = media.ScopeOf(ctx).PromptRun
	if err := r.priced(ctx, c); err != nil {
		return chat.Response{}, err
	}
	if err := budget.Reserve(ctx, c); err != nil {
		return chat.Response{}, err
	}
	end := r.meter.begin(r.r.cfg.Now)
	resp, err := r.model.Generate(ctx, req)
	end()
	switch {
	case err == nil || resp.Usage != (chat.Usage{}): // a refusal may be billed
		c.Tokens, c.USD = resp.Usage.InputTokens+resp.Usage.OutputTokens, price(p, resp.CostUSD)
		c.Images = int64(pictures(resp.Media))
	case journal.Left(ctx):
		return resp, err // whoever goes on makes this call again and settles it
	case !errors.Is(err, chat.ErrUnsettled):
		c = generate.Charge{ID: c.ID}
	}
	_ = budget.Settle(context.WithoutCancel(ctx), c) // else what was reserved stays so
	return resp, err
}

// priced is nil unless money is bounded and the price of the run's model is not known:
// nothing would hold its calls back.
func (r *run) priced(ctx context.Context, c generate.Charge) error {
	p := r.model.Profile()
	if c.USD != nil || p.Priced() {
		return nil
	}
	bounded, err := r.r.cfg.Budget.Room(ctx, generate.Charge{ID: c.ID})
	if !bounded || err != nil {
		return nil //nolint:nilerr // what has no room is refused when it is reserved
	}
	return media.Errorf(media.CodeOverBudget, "the price of %s is unknown, and the budget is one of money: choose a chat model with a known price, give its input_usd and output_usd (ATELIER_CHAT_PROFILES), or bound the tokens instead", p)
}

// expected is what the request of a call may use: its tokens, and their price.
func (r *run) expected(req chat.Request) generate.Charge {
	p := r.model.Profile()
	u := chat.Usage{InputTokens: max(1, p.EstimateTokens(req))}
	return generate.Charge{Tokens: u.InputTokens, USD: price(p, p.Cost(u, r.r.cfg.Now()))}
}

// countAct counts an act that the journal knows: when it was under way and, where an earlier
// process did it, what it used. Nothing counts twice.
func (r *run) countAct(began, ended time.Time, live bool, c generate.Charge) {
	r.meter.add(began, ended)
	if !live {
		r.max.allowed.Recall(c)
	}
}

// generated counts the pictures that models made for an act.
func generated(items []media.Output) (n int64) {
	for _, o := range items {
		if o.Modality == media.ModalityImage && o.Origin.Operation != "" {
			n++
		}
	}
	return n
}

// price is the cost of a call; that of an offline model is known.
func price(p chat.Profile, usd *string) *string {
	if usd == nil && p.Offline {
		free := "0"
		return &free
	}
	return usd
}

// pictures counts the pictures among what a chat model made itself.
func pictures(items []media.Output) (n int) {
	for _, o := range items {
		if o.Modality == media.ModalityImage {
			n++
		}
	}
	return n
}

// spentUp says which budget ends with the turn that comes, or nothing; shared looks at those
// of the whole run as well, whose tokens end where one more turn before the last ones would not fit.
func (r *run) spentUp(shared bool) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	worked := r.max.worked.worked(r.r.cfg.Now())
	switch most := r.maxTurns(); {
	case r.turns > 0 && r.spec.def.Tokens > 0 && r.spent >= int64(r.spec.def.Tokens):
		return fmt.Sprintf("agent %s used %d tokens and may use %d", r.spec.slug, r.spent, r.spec.def.Tokens)
	case shared && r.turns > 0 && r.max.tokens > 0 && r.max.spent.Load()+int64(2+r.depth)*r.latest > r.max.tokens: // who asked for this agent has a turn to take as well
		return fmt.Sprintf("the run used %d tokens, %d of them in the call before this one, and may use %d", r.max.spent.Load(), r.latest, r.max.tokens)
	case shared && r.turns > 0 && r.max.time > 0 && worked >= r.max.time:
		return r.max.late(worked)
	case r.turns+1 >= most && (shared || !r.wentOn()):
		return fmt.Sprintf("agent %s may take %d turns", r.spec.slug, most)
	}
	return ""
}

// late says that the time is up.
func (l limits) late(worked time.Duration) string {
	return fmt.Sprintf("the run worked for %s and may work for %s", worked.Round(time.Millisecond), l.time)
}

// tight says which budget has no room for two more calls of the model, or nothing: then
// the one that comes is the last. bounded reports whether there is such a budget.
func (r *run) tight(ctx context.Context) (why string, bounded bool) {
	p := r.model.Profile()
	one := p.EstimateTokens(chat.Request{System: r.r.systems[r.spec.slug], Messages: r.history.messages()})
	two := chat.Usage{InputTokens: 2 * max(1, one)}
	bounded, err := r.r.cfg.Budget.Room(ctx, generate.Charge{Tokens: two.InputTokens, USD: price(p, p.Cost(two, r.r.cfg.Now()))})
	if media.CodeOf(err) != media.CodeOverBudget {
		return "", bounded // who cannot tell lets the call itself find out
	}
	return "two more calls of the model do not fit, " + strings.TrimSuffix(problemOf(err).Message, ": raise it or ask for less"), bounded
}

// decided tells which budget ends with the turn that comes, or nothing. Where a budget is
// shared, or is time, that is a step: what was decided once is decided again in a
// replay, whatever the clock and the other agents do then. A turn that was taken before the
// run had its budgets of now is not ended by them.
func (r *run) decided(ctx context.Context) string {
	name, model := step.In(r.turns+1, step.KindBudget), step.In(r.turns+1, step.KindModel)
	if !r.before(name) && r.before(model) {
		return r.spentUp(false)
	}
	why := r.spentUp(true)
	if r.turns == 0 {
		return why
	}
	tight, bounded := r.tight(ctx)
	if why = cmp.Or(why, tight); !bounded && r.max.tokens == 0 && r.max.time == 0 {
		return why
	}
	if !r.journal.Knows(name.String()) && r.journal.Knows(model.String()) {
		return why // nothing new: there was no budget to decide by when the turn was taken
	}
	b, err := r.journal.Step(ctx, name.String(), func(context.Context) ([]byte, error) {
		return json.Marshal(why)
	})
	var before string
	if err != nil || json.Unmarshal(b, &before) != nil {
		return why
	}
	return before
}

// announceLast tells the model that its last turn has come, where a budget is at its
// end. Who has one turn only is not told: there is nothing yet to finish with.
func (r *run) announceLast(ctx context.Context) {
	r.lastTurn = r.decided(ctx)
	if r.lastTurn == "" || r.turns == 0 {
		return
	}
	r.history.notice("This is your last turn: " + r.lastTurn + ". Finish now with what you have: answer with done true, with the message and the payload as good as they can be. Nothing that you ask for will be run.")
	r.warn(ctx, r.lastTurn+": it was told to finish with what it had")
}

// overBudget ends a run that did not finish in its last turn.
func (r *run) overBudget() error {
	return media.Errorf(media.CodeOverBudget, "%s and did not finish: allow more (turns and tokens in the agent's definition, --max-turns, --max-tokens, --max-time and --max-cost on the command line) or ask for less", r.lastTurn)
}

// timed ends the context of a root run when its tree has worked for as long as it may
// and the overtime is over. What sub-agents and earlier processes worked counts; where that
// was more before the run had this limit, the overtime begins now.
func (r *run) timed(ctx context.Context) (timed context.Context, stop func()) {
	if r.depth > 0 || r.max.time == 0 {
		return ctx, func() {}
	}
	ctx, cut := context.WithCancelCause(ctx)
	most := min(max(r.max.time, r.wait.before.worked()), math.MaxInt64-overtime) + min(r.max.time, overtime)
	check := make(chan struct{}, 1)
	var watching sync.WaitGroup
	watching.Go(func() { r.watch(ctx, most, check, cut) })
	r.meter.watch(func() {
		select {
		case check <- struct{}{}:
		default:
		}
	})
	return ctx, func() {
		cut(nil)
		watching.Wait()
	}
}

// watch cuts the run when it has worked for the time given; check tells it to look again.
func (r *run) watch(ctx context.Context, most time.Duration, check <-chan struct{}, cut context.CancelCauseFunc) {
	for {
		worked := r.meter.worked(r.r.cfg.Now())
		if worked >= most {
			cut(media.Errorf(media.CodeOverBudget, "%s: what was under way was ended; allow more (--max-time) or ask for less", r.max.late(worked)))
			return
		}
		t := time.NewTimer(most - worked)
		select {
		case <-t.C:
		case <-check:
		case <-ctx.Done():
		}
		t.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// atEnd is the error of a run that a budget ended: what it made is kept, and the items
// that its answer embeds so far are chosen for it. Other errors stay.
func (r *run) atEnd(ctx context.Context, err error) error {
	if cut := context.Cause(ctx); err != nil && media.CodeOf(cut) == media.CodeOverBudget {
		err = cut
	}
	if media.CodeOf(err) != media.CodeOverBudget {
		return err
	}
	r.acceptRefs(ctx)
	why := strings.TrimPrefix(err.Error(), "over budget: ")
	return &media.Error{Code: media.CodeOverBudget, Message: "over budget: " + why + "; what was made is kept", Cause: err}
}
