package module

import (
	"context"
	"encoding/json"

	"atelier/workflow"
	"atelier/workflow/conform"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
	"atelier/workflow/schema"
)

// review implements review.approve: a person reviews data and approves or rejects it.
type review struct{ declaration }

func (review) Check(in *ordered.Object) []problem.Problem { return checkDisplay(in) }

func (review) Request(_ context.Context, run workflow.Run) (*workflow.InteractionRequest, error) {
	data, _ := run.Inputs.Get("data")
	display := run.Inputs.Object("display_schema")
	if display == nil {
		for depth := range shownDepth + 1 { // of much data, fewer levels
			display = ordered.New("type", "object", "properties", ordered.New("data", shown(data, depth)))
			if conform.Shape(display) == nil {
				break
			}
		}
	}
	r := request(workflow.TypeApproval, run, display)
	r.DisplayData = ordered.New("variant", "cards", "data", data)
	return r, nil
}

func (review) Execute(_ context.Context, run workflow.Run, a *workflow.Answer) (*ordered.Object, error) {
	return run.Interaction.Result(a)
}

// shownDepth is the depth to which data without a schema is displayed in parts. Deeper data is displayed as JSON.
const shownDepth = 4

// shown returns a display schema that displays every value of data.
func shown(data any, depth int) *ordered.Object {
	render := func(t string, as schema.Render) *ordered.Object {
		return ordered.New("type", t, "_ux", ordered.New("render_as", string(as)))
	}
	switch data := data.(type) {
	case *ordered.Object:
		if depth == shownDepth || data.Len() > 100 {
			return render("object", schema.RenderCode)
		}
		fields := &ordered.Object{}
		for k, v := range data.All() {
			fields.Set(k, shown(v, depth+1))
		}
		return render("object", schema.RenderKeyValue).With("properties", fields)
	case []any:
		if depth == shownDepth || len(data) == 0 {
			return render("array", schema.RenderCode)
		}
		return render("array", schema.RenderGrid).With("items", shownItem(data, depth+1))
	case string:
		return render("string", schema.RenderText)
	case bool:
		return render("boolean", schema.RenderText)
	case json.Number:
		return render("number", schema.RenderText)
	}
	return render("null", schema.RenderText)
}

// shownItem returns the schema of a list's items. For objects, it covers all their keys.
func shownItem(list []any, depth int) *ordered.Object {
	all := &ordered.Object{}
	for _, e := range list {
		o, ok := e.(*ordered.Object)
		if !ok {
			return &ordered.Object{}
		}
		for k, v := range o.All() {
			if !all.Has(k) {
				all.Set(k, v)
			}
		}
	}
	return shown(all, depth)
}
