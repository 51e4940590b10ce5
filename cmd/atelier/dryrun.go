package main

import (
	"cmp"
	"context"

	"atelier/generate"
	"atelier/generate/plan"
	"atelier/media"
)

// planView is the JSON form of what a request would do.
type planView struct {
	*plan.Plan
	// Error is why the request would still be refused: a budget.
	Error *generate.SlotError `json:"error,omitempty"`
}

// slotError returns the JSON form of an error; nil for none.
func slotError(err error) *generate.SlotError {
	if err == nil {
		return nil
	}
	return &generate.SlotError{Code: media.CodeOf(err), Message: media.ErrorText(err.Error())}
}

// plan shows the calls and the cost of a request. It returns the error with which the request would be
// refused before any call, including that of a budget.
func (c *generateCmd) plan(ctx context.Context, w *world, a *app, req generate.Request) error {
	plan, err := a.Gateway.DryRun(ctx, req)
	if err != nil && media.CodeOf(err) != media.CodeOverBudget {
		return err
	}
	if w.json {
		return cmp.Or(w.printJSON(planView{plan, slotError(err)}), err)
	}
	w.line("model     %s (%s)", plan.Model.Name, plan.Model.Provider)
	w.line("calls     %s", callsText(plan))
	w.line("estimate  %s", estimateText(plan.EstimatedUSD))
	w.dispositions(plan.Dispositions)
	w.warnings(plan.Warnings)
	return err
}

// callsText describes the number of calls, and the number of results if it differs from the requested one.
func callsText(p *plan.Plan) string {
	text := plural(len(p.Calls), "call")
	if p.ResultCount != p.N() {
		text += ", " + plural(p.ResultCount, "result")
	}
	return text
}

// comparePlans shows the calls and the cost of a comparison. It fails if no model fits into the
// budgets, and warns if the models do not fit together.
func (c *generateCmd) comparePlans(ctx context.Context, w *world, a *app, rivals []comparisonEntry) error {
	var views []planView
	var plans []*plan.Plan
	var rows [][]string
	var refused error
	fitting := 0
	for _, r := range rivals {
		err := a.Gateway.CheckRemaining(ctx, r.plan)
		if err != nil && media.CodeOf(err) != media.CodeOverBudget {
			return err
		}
		if refused = cmp.Or(refused, err); err == nil {
			fitting++
		}
		views, plans = append(views, planView{r.plan, slotError(err)}), append(plans, r.plan)
		rows = append(rows, []string{r.plan.Model.Name, r.plan.Model.Provider, callsText(r.plan), estimateText(r.plan.EstimatedUSD)})
	}
	together := a.Gateway.CheckRemaining(ctx, plans...)
	if w.json {
		if err := w.printJSON(map[string]any{"comparison": views, "error": slotError(together)}); err != nil {
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
