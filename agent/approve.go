package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"

	"atelier/action"
	"atelier/agent/contract"
	"atelier/agent/definition"
	"atelier/agent/internal/object"
	"atelier/agent/internal/plain"
	"atelier/generate/money"
	"atelier/journal/step"
	"atelier/media"
)

// shownParam is how many characters of each text of an action's parameters a person sees
// in an approval.
const shownParam = 500

// approve asks a person, where the agent's definition or the run says so, whether an
// action may be run. A no is media.CodeForbidden. What was approved once, or needed no
// approval, is not looked at again in a replay, and what was done needs none.
func (a *acts) approve(ctx context.Context, call contract.ActionCall, at callIndex, env action.Env) error {
	if _, done := a.journal.Known(at.name()); done {
		return nil
	}
	var use definition.ActionUse
	if a.spec.def != nil {
		use, _ = a.spec.def.Uses(call.Name)
	}
	over := use.ApprovalOver
	costs := a.runner.cfg.Actions.Costs(call.Name)
	if a.approveOver != "" && costs {
		over = a.approveOver
	}
	if use.Approval == "" && over == "" {
		return nil
	}
	name := at.name().With(step.TailApproval)
	p, err := a.pauses.awaitIf(ctx, name, at, func(ctx context.Context) (*Question, error) {
		return a.permissionFor(ctx, call, use.Approval, over, env)
	})
	if err != nil || p.Free {
		return err
	}
	if said := p.approval(); !said.Approve {
		return media.Errorf(media.CodeForbidden, "refused by a person%s", noted(p, said))
	}
	return nil
}

// permissionFor is the question for an act, or nil if the act needs no approval: it costs
// little enough, or cannot be run as it was asked and will say so itself.
func (a *acts) permissionFor(ctx context.Context, call contract.ActionCall, approval, over string, env action.Env) (*Question, error) {
	price, err := a.runner.cfg.Actions.Price(ctx, call.Name, call.Params, env)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, nil //nolint:nilnil // the action will fail with the same error, and cost nothing
	}
	reason := "this agent may take the action only with approval"
	if approval == "" {
		limit, ok := definition.USD(over)
		if !ok {
			return nil, media.Errorf(media.CodeInvalid, "%q is not an amount in US dollars: give a plain decimal number, such as 0.05", plain.Clip(over, 40))
		}
		reason = "its price is not known"
		if price.USD != nil {
			cost, ok := new(big.Rat).SetString(*price.USD)
			if ok && cost.Cmp(limit) <= 0 {
				return nil, nil //nolint:nilnil // it needs none
			}
			reason = fmt.Sprintf("it would cost %s, more than $%s", money.About(*price.USD), over)
		}
	}
	short := object.MapStrings(any(call.Params), func(s string) string { return plain.Clip(s, shownParam) })
	return &Question{
		Kind: QuestionApproval, Question: fmt.Sprintf("May agent %s run %s? It needs approval: %s.", a.spec.name, plain.Clip(call.Name, 80), reason),
		Schema: json.RawMessage(approvalForm), Details: &Details{
			Action: plain.Clip(call.Name, 80), Params: plain.JSON(short), EstimatedUSD: price.USD, Estimate: price.Note, Reason: reason,
		},
	}, nil
}
