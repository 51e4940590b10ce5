package generate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"atelier/media"
)

// askAgain asks for the results that failed alone beside others that came, where the
// driver says that they were not billed.
func (x *execution) askAgain(ctx context.Context) {
	for range x.g.config.MaxAttempts - 1 {
		x.mu.Lock()
		var slots []int
		for _, index := range x.asked {
			if x.slots[index-1].Output == nil && x.again[index] && !x.unsettled[index] {
				slots = append(slots, index)
			}
		}
		x.mu.Unlock()
		if len(slots) == 0 || x.halted(ctx) {
			return
		}
		x.run(ctx, x.further(x.plan, slots))
	}
}

// further makes the calls for slots. Those to the model that an earlier process made beyond
// the calls so far are gone on with as they were.
func (x *execution) further(p *Plan, slots []int) []call {
	calls := x.furtherPast(p)
	for _, c := range calls {
		slots = slices.DeleteFunc(slices.Clone(slots), func(index int) bool { return slices.Contains(c.slots, index) })
	}
	return append(calls, x.parted(p, slots)...)
}

// parted parts slots into calls, numbered on from those so far.
func (x *execution) parted(p *Plan, slots []int) []call {
	var calls []call
	for _, n := range split(len(slots), p.Model.MaxN) {
		x.numbered++
		calls = append(calls, call{plan: p, number: x.numbered, slots: slots[:n]})
		slots = slots[n:]
	}
	return calls
}

// furtherPast lists the calls to a model that an earlier process made beyond those so far,
// until it went on to another model.
func (x *execution) furtherPast(p *Plan) []call {
	var calls []call
	for a, ok := x.nextPast(); ok && a.Provider == p.Model.Provider && a.APIModel == p.Model.APIModel; a, ok = x.nextPast() {
		x.numbered = a.Call
		calls = append(calls, call{plan: p, number: a.Call, slots: a.Slots})
	}
	return calls
}

// fallBack asks the request's next models for the results that failed, one model after
// the other. A call that may have been billed is not made up for: that would pay twice.
func (x *execution) fallBack(ctx context.Context) {
	var dear error
	before, reasons := x.plan.Model.Name, []string(nil)
	for k, name := range x.plan.req.Fallback {
		missing, why := x.missing()
		if len(missing) == 0 || x.halted(ctx) {
			return
		}
		p, err := x.standIn(ctx, k, len(missing))
		if err == nil {
			err = x.g.prepare(ctx, p)
		}
		if err == nil {
			err = x.reserve(ctx, p)
		}
		if err != nil {
			x.warn(passedOver(name, err))
			if media.CodeOf(err) == media.CodeOverBudget {
				dear = cmp.Or(dear, err)
			}
			continue
		}
		reasons = append(reasons, before+": "+why.Message)
		if p.why = why.Message; len(reasons) > 1 {
			p.why = strings.Join(reasons, "; ")
		}
		before = p.Model.Name
		x.substitute(p)
		x.emit(ctx, Event{Kind: EventFallback, Status: StatusRunning, Error: why, Progress: -1})
		x.run(ctx, x.further(p, missing))
	}
	if dear != nil && ctx.Err() == nil {
		x.tooDear(ctx, asError(dear))
	}
}

// windUp ends calls of an earlier process, such as those to models that stood in, that are not gone on
// with because ctx has ended.
func (x *execution) windUp(ctx context.Context) {
	if ctx.Err() == nil || left(ctx) {
		return
	}
	for _, past := range x.past {
		if a := past[len(past)-1]; a.Call > x.numbered && a.FinishedAt.IsZero() {
			x.stopCall(ctx, call{plan: x.planOf(ctx, a), number: a.Call, slots: a.Slots}, a)
		}
	}
}

func passedOver(name string, why error) string {
	return "the next model " + clip(name) + " was passed over: " + asError(why).Message
}

// standIn plans n results by the k-th model of the fallback.
func (x *execution) standIn(ctx context.Context, k, n int) (*Plan, error) {
	r := x.plan.req
	r.Model, r.Substitute, r.Fallback, r.Prefer, r.N = r.Fallback[k], false, nil, nil, n
	p, err := x.g.Plan(ctx, r)
	if err == nil {
		p.act, p.why = x.actOf(k), "the model before it could not give them"
	}
	return p, err
}

// actOf names the money of the k-th model of the fallback in this round. It begins with
// the operation's id, by which a ledger knows that the act is not over.
func (x *execution) actOf(k int) string {
	first := 1
	if x.plan.round != nil {
		first = x.plan.round.First
	}
	return fmt.Sprintf("%s/%d/%d", x.op.ID, first, k+1)
}

// missing lists the slots that another model may fill, and the first reason.
func (x *execution) missing() (slots []int, why *SlotError) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, index := range x.asked {
		s := x.slots[index-1]
		if s.Output != nil || s.Error == nil || s.Status == StatusRunning || x.unsettled[s.Index] || !replaceable(s.Error.Code) {
			continue
		}
		slots = append(slots, s.Index)
		if why == nil {
			why = s.Error
		}
	}
	return slots, why
}

// replaceable tells errors of a provider from those that every provider would give.
func replaceable(c media.Code) bool {
	return !slices.Contains([]media.Code{
		media.CodeInvalid, media.CodeTooLarge, media.CodeCancelled, media.CodeDiskFull, media.CodeInternal, media.CodeConflict,
	}, c)
}

// substitute writes down which model stands in.
func (x *execution) substitute(p *Plan) {
	x.op.Dispositions = stoodIn(x.op.Dispositions, x.plan.asked(), p.Model.Name, p.why)
	for _, w := range p.Warnings {
		x.warn(w)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !slices.ContainsFunc(x.slots, func(s Slot) bool { return s.Output != nil }) {
		x.op.Model, x.op.APIModel, x.op.Provider = p.Model.Name, p.Model.APIModel, p.Model.Provider
	}
}

// asked is the model that was asked for, as it was asked.
func (p *Plan) asked() string {
	if i := slices.IndexFunc(p.Dispositions, func(d Disposition) bool { return d.Setting == "model" }); i >= 0 {
		return p.Dispositions[i].Asked
	}
	return p.Model.Name
}

// stoodIn says that another model answers than the one that was asked.
func stoodIn(list []Disposition, asked, applied, why string) []Disposition {
	d := Disposition{Setting: "model", Asked: asked, Applied: applied, Outcome: OutcomeSubstituted, Reason: why}
	list = slices.Clone(list)
	if i := slices.IndexFunc(list, func(d Disposition) bool { return d.Setting == "model" }); i >= 0 {
		list[i] = d
		return list
	}
	return append(list, d)
}

// planAny plans the request with the first of its models that can be asked at all. Where
// there is none, the error has the reason of each.
func (g *Gateway) planAny(ctx context.Context, r Request) (*Plan, error) {
	p, err := g.Plan(ctx, r)
	var reasons []string
	for i := 0; err != nil && i < len(r.Fallback); i++ {
		if c := media.CodeOf(err); c != media.CodeMissingKey && c != media.CodeUnsupported || r.Strict {
			return p, err
		}
		next := r
		next.Model, next.Substitute, next.Fallback = r.Fallback[i], false, r.Fallback[i+1:]
		if reasons == nil {
			reasons = append(reasons, asError(err).Message)
		}
		q, second := g.Plan(ctx, next)
		if second != nil {
			reasons = append(reasons, asError(second).Message)
			continue
		}
		q.Dispositions = stoodIn(q.Dispositions, clip(g.wanted(r)), q.Model.Name, strings.Join(reasons, "; "))
		return q, nil
	}
	if len(reasons) > 1 {
		e := asError(err)
		e.Message = "no model of the chain can be asked: " + strings.Join(reasons, "; ")
		return p, e
	}
	return p, err
}

// wanted is the model that a request would like best; empty if it does not say.
func (g *Gateway) wanted(r Request) string {
	return cmp.Or(append([]string{r.Model, g.config.DefaultModel}, r.Prefer...)...)
}
