package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"

	"atelier/action"
	"atelier/generate"
	"atelier/journal/step"
	"atelier/media"
)

// approvalAlways is the approval of an action that a person allows each time.
const approvalAlways = "always"

// shownParam is how many characters of each text of an action's parameters a person sees
// in an approval.
const shownParam = 500

// decimalForm is an amount of money as people write it: exact, without an exponent.
var decimalForm = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,18})?$`)

// usd reads an amount in US dollars.
func usd(text string) (*big.Rat, bool) {
	if !decimalForm.MatchString(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// unpriced finds a price limit on an action that has no price.
func (u ActionUse) unpriced(costs bool) []Problem {
	if u.ApprovalOver == "" || costs {
		return nil
	}
	return []Problem{problemAt(u.pos, "approval_over: action %q costs nothing that is known before: use approval: always", clip(u.Name, 80))}
}

// approve asks a person, where the agent's definition or the run says so, whether an
// action may be run. A no is media.CodeForbidden. What was approved once, or needed no
// approval, is not looked at again in a replay, and what was done needs none.
func (r *run) approve(ctx context.Context, call ActionCall, at callIndex, env action.Env) error {
	if _, done := r.journal.Known(at.name().String()); done {
		return nil
	}
	var use ActionUse
	if r.spec.def != nil {
		use, _ = r.spec.def.uses(call.Name)
	}
	over := use.ApprovalOver
	costs := r.r.cfg.Actions.Costs(call.Name)
	if r.request.ApproveOver != "" && costs {
		over = r.request.ApproveOver
	}
	if use.Approval == "" && over == "" {
		return nil
	}
	name := at.name().With(step.TailApproval)
	p, err := r.permission(ctx, name, at, func(ctx context.Context) (*Question, error) {
		return r.permissionFor(ctx, call, use.Approval, over, env)
	})
	if err != nil || p.Free {
		return err
	}
	if a := p.approval(); !a.Approve {
		return media.Errorf(media.CodeForbidden, "refused by a person%s", noted(p, a))
	}
	return nil
}

// permission is await for a question that may turn out not to be needed.
func (r *run) permission(ctx context.Context, name step.Name, at callIndex, need func(context.Context) (*Question, error)) (replied, error) {
	var p replied
	b, err := r.journal.Step(ctx, name.String(), func(ctx context.Context) ([]byte, error) {
		q, err := need(ctx)
		switch {
		case err != nil:
			return nil, err
		case q == nil:
			return json.Marshal(replied{Free: true})
		}
		return nil, r.pause(name, at, *q)
	})
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, media.Errorf(media.CodeCorrupt, "read approval %s: %w", name, err)
	}
	r.warn(ctx, p.Warning)
	return p, nil
}

// permissionFor is the question for an act, or nil if the act needs no approval: it costs
// little enough, or cannot be run as it was asked and will say so itself.
func (r *run) permissionFor(ctx context.Context, call ActionCall, approval, over string, env action.Env) (*Question, error) {
	price, err := r.r.cfg.Actions.Price(ctx, call.Name, call.Params, env)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, nil //nolint:nilnil // the action will fail with the same error, and cost nothing
	}
	reason := "this agent may take the action only with approval"
	if approval == "" {
		limit, ok := usd(over)
		if !ok {
			return nil, media.Errorf(media.CodeInvalid, "%q is no amount in US dollars: give a plain decimal number, such as 0.05", clip(over, 40))
		}
		reason = "its price is not known"
		if price.USD != nil {
			cost, ok := new(big.Rat).SetString(*price.USD)
			if ok && cost.Cmp(limit) <= 0 {
				return nil, nil //nolint:nilnil // it needs none
			}
			reason = fmt.Sprintf("it would cost %s, more than $%s", generate.About(*price.USD), over)
		}
	}
	short := mapStrings(any(call.Params), func(s string) string { return clip(s, shownParam) })
	return &Question{
		Kind: QuestionApproval, Question: fmt.Sprintf("May agent %s run %s? It needs approval: %s.", r.spec.name, clip(call.Name, 80), reason),
		Schema: json.RawMessage(approvalForm), Details: &Details{
			Action: clip(call.Name, 80), Params: plain(short), EstimatedUSD: price.USD, Estimate: price.Note, Reason: reason,
		},
	}, nil
}
