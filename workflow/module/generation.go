package module

import (
	"context"
	_ "embed" // the display schema of runs that provide none

	"atelier/workflow"
	"atelier/workflow/conform"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
	"atelier/workflow/schema"
)

//go:embed generation.schema.json
var generationSchema []byte

// generation implements media.generation: a person edits prompts, generates pictures from them and chooses one.
type generation struct{ declaration }

// Check checks the schemas in the definition.
func (generation) Check(in *ordered.Object) []problem.Problem {
	found := problem.List(checkDisplay(in))
	for provider, v := range in.Object("param_schemas").All() {
		if s, ok := v.(*ordered.Object); ok {
			_, err := conform.CompileParams(s)
			found.Check(ordered.Pointer("param_schemas", provider), err)
		}
	}
	for pointer, v := range in.Object("input_schema").All() {
		_, err := ordered.Path(pointer)
		found.Check(ordered.Pointer("input_schema", pointer), err)
		if s, ok := v.(*ordered.Object); ok {
			_, err := conform.Compile(s)
			found.Check(ordered.Pointer("input_schema", pointer), err)
		}
	}
	for pointer, v := range in.Object("layout").All() {
		if l, ok := v.(*ordered.Object); ok {
			found.Check(ordered.Pointer("layout", pointer), schema.CheckLayout(l))
		}
	}
	return found
}

// checkDisplay checks a display schema. The schema must be part of the definition: its strings are templates, so a
// schema from the state, which people and models write, is rejected.
func checkDisplay(in *ordered.Object) []problem.Problem {
	v, ok := in.Get("display_schema")
	if !ok {
		return nil
	}
	if _, isText := v.(string); isText {
		return []problem.Problem{problem.At("/display_schema", "a display_schema must be part of the workflow: write it here, or in config and refer to it as {{ step.NAME }}")}
	}
	_, err := schema.Parse(v)
	return problem.Under("/display_schema", err)
}

// displayed returns the display schema of inputs or, if they have none, the default.
func displayed(in *ordered.Object) *ordered.Object {
	o := in.Object("display_schema")
	if o == nil {
		o, _ = ordered.DecodeObject(generationSchema) // which is valid
	}
	return o
}

func (generation) ResultKeys(in *ordered.Object) []string {
	s, err := schema.Parse(displayed(in))
	if err != nil { // Check reports it
		return nil
	}
	key, _ := workflow.ResultKey(s.Groups)
	return []string{key}
}

func (generation) Request(_ context.Context, run workflow.Run) (*workflow.InteractionRequest, error) {
	r := request(workflow.TypeSubActions, run, displayed(run.Inputs))
	r.DisplayData = ordered.New("variant", "cards", "prompts", run.Inputs.Object("data"), "generations", &ordered.Object{})
	return r, nil
}

// request returns the part that all interactions have in common.
func request(t workflow.Type, run workflow.Run, display *ordered.Object) *workflow.InteractionRequest {
	in := run.Inputs
	return &workflow.InteractionRequest{
		WorkflowRunID: run.WorkflowRunID, Type: t, Title: in.Text("title"), Mode: "select", DisplaySchema: display,
		InputSchema: in.Object("input_schema"), Layout: in.Object("layout"), ParamSchemas: in.Object("param_schemas"), ParamDefaults: in.Object("param_defaults"),
	}
}

func (generation) Execute(_ context.Context, run workflow.Run, a *workflow.Answer) (*ordered.Object, error) {
	return run.Interaction.Result(a)
}
