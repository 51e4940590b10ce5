package main

import (
	"cmp"
	"context"

	"atelier/generate"
	"atelier/generate/plan"
	"atelier/media"
)

// planView is what a request would do, as programs see it.
type planView struct {
	*plan.Plan
	// Error is why it would be refused all the same: a budget.
	Error *generate.SlotError `json:"error,omitempty"`
}

// viewOfPlan is a plan with the refusal that it would meet; nil is none.
func viewOfPlan(p *plan.Plan, refusal error) planView {
	v := planView{Plan: p}
	if refusal != nil {
		v.Error = &generate.SlotError{Code: media.CodeOf(refusal), Message: media.ErrorText(refusal.Error())}
	}
	return v
}

// plan shows what a request would ask and cost. It ends as the request would that is
// refused before any call, with a budget's refusal too.
func (c *generateCmd) plan(ctx context.Context, w *world, a *app, req generate.Request) error {
	plan, err := a.Gateway.Rehearse(ctx, req)
	if err != nil && media.CodeOf(err) != media.CodeOverBudget {
		return err
	}
	if c.JSON {
		return cmp.Or(w.printJSON(viewOfPlan(plan, err)), err)
	}
	w.line("model     %s (%s)", plan.Model.Name, plan.Model.Provider)
	w.line("calls     %s", callsText(plan))
	w.line("estimate  %s", estimateText(plan.EstimatedUSD))
	w.dispositions(plan.Dispositions)
	w.warnings(plan.Warnings)
	return err
}

// callsText says how often a model is asked, and how many results come if those are not the
// ones that are requested.
func callsText(p *plan.Plan) string {
	text := plural(len(p.Calls), "call")
	if p.Makes != p.N() {
		text += ", " + plural(p.Makes, "result")
	}
	return text
}

// comparePlans shows what a comparison would ask and cost. It is refused if no model of it
// fits into the budgets; that they do not fit together is told.
func (c *generateCmd) comparePlans(ctx context.Context, w *world, a *app, rivals []rival) error {
	var views []planView
	var plans []*plan.Plan
	var rows [][]string
	var refused error
	fitting := 0
	for _, r := range rivals {
		err := a.Gateway.Room(ctx, r.plan)
		if err != nil && media.CodeOf(err) != media.CodeOverBudget {
			return err
		}
		if refused = cmp.Or(refused, err); err == nil {
			fitting++
		}
		views, plans = append(views, viewOfPlan(r.plan, err)), append(plans, r.plan)
		rows = append(rows, []string{r.plan.Model.Name, r.plan.Model.Provider, callsText(r.plan), estimateText(r.plan.EstimatedUSD)})
	}
	together := a.Gateway.Room(ctx, plans...)
	if c.JSON {
		if err := w.printJSON(map[string]any{"comparison": views, "error": viewOfPlan(nil, together).Error}); err != nil {
			return err
		}
	} else {
		table(w.stdout, []string{"MODEL", "PROVIDER", "CALLS", "ESTIMATE"}, rows)
		for _, p := range plans {
			w.warnings(p.Warnings)
		}
	}
	if fitting == 0 {
		return refused
	}
	if together != nil {
		w.note("warning: some results would not be made: %s", media.ErrorText(together.Error()))
	}
	return nil
}
