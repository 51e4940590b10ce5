package atelier

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"path/filepath"
	"slices"

	"atelier/api"
	"atelier/internal/shipped"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
	"atelier/run/subactions"
	"atelier/run/workflows"
	"atelier/workflow"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
	"atelier/workflow/subaction"
)

// servedWorkflows implements the resource of workflow definitions: the examples and those of a folder.
type servedWorkflows struct {
	*Atelier
	folder string
}

// files reads the current workflows: those in the folder, and the examples that they do not replace.
func (s servedWorkflows) files() (out []shipped.WorkflowFile, err error) {
	if s.folder != "" {
		if out, err = shipped.Workflows(s.folder, s.workflows.Modules()); err != nil && media.CodeOf(err) != media.CodeInvalid { // which is a folder without files
			return nil, err
		}
	}
	examples, err := shipped.Workflows("", s.workflows.Modules())
	for _, e := range examples {
		if !slices.ContainsFunc(out, func(f shipped.WorkflowFile) bool { return f.MayDefine(e.Definition.ID) }) {
			out = append(out, e)
		}
	}
	return out, err
}

// ListWorkflows lists the workflows, and the files with problems.
func (s servedWorkflows) ListWorkflows(context.Context) ([]api.Workflow, error) {
	files, err := s.files()
	var out []api.Workflow
	for _, f := range files {
		if f.Definition != nil {
			out = append(out, workflowView(f.Definition))
		} else {
			name := filepath.Base(f.Name)
			out = append(out, api.Workflow{ID: name, Title: name, Problem: firstProblem(f), Steps: []api.WorkflowStep{}})
		}
	}
	return out, err
}

// firstProblem names the file, but not its folder.
func firstProblem(f shipped.WorkflowFile) string {
	p := f.Problems[0]
	p.File = filepath.Base(p.File)
	return p.String()
}

// Workflow returns a workflow with its definition.
func (s servedWorkflows) Workflow(_ context.Context, id string) (api.Workflow, error) {
	f, err := s.find(id)
	if err != nil {
		return api.Workflow{}, err
	}
	v := workflowView(f.Definition)
	v.Text, v.Definition = string(f.Text), ledger.JSON(f.Definition)
	return v, nil
}

// find returns a workflow by its id. Paths are not accepted. If a file with problems may define the workflow, the error
// is its first problem.
func (s servedWorkflows) find(id string) (shipped.WorkflowFile, error) {
	files, err := s.files()
	if err != nil {
		return shipped.WorkflowFile{}, err
	}
	err = media.Errorf(media.CodeNotFound, "there is no workflow %.80q", media.ErrorText(id))
	for _, f := range files {
		switch {
		case !f.MayDefine(id):
		case f.Definition != nil:
			return f, nil
		default:
			err = media.Errorf(media.CodeInvalid, "%s", firstProblem(f))
		}
	}
	return shipped.WorkflowFile{}, err
}

// CheckWorkflow checks a definition in YAML or JSON.
func (s servedWorkflows) CheckWorkflow(ctx context.Context, t api.WorkflowText) (api.WorkflowCheck, error) {
	file := "workflow.yaml"
	if json.Valid([]byte(t.Text)) { // YAML does not read all escapes of JSON
		file = "workflow.json"
	}
	d, found := workflow.Read(s.workflows.Modules(), file, []byte(t.Text))
	out := api.WorkflowCheck{Problems: []api.WorkflowProblem{}}
	for _, p := range found {
		out.Problems = append(out.Problems, api.WorkflowProblem{Line: p.Line, Column: p.Column, Pointer: p.Pointer, Message: p.Message})
	}
	if d == nil {
		return out, nil
	}
	v := workflowView(d)
	v.Definition = ledger.JSON(d)
	out.Workflow = &v
	var err error
	state := &ordered.Object{}
	if len(t.State) > 0 {
		if state, err = ordered.DecodeObject(t.State); err != nil {
			return out, validationErrorAt("/state", err)
		}
	}
	out.Preview, _ = preview(ctx, d, state, s.workflows.Actions()) // there may be none to show yet
	return out, nil
}

// preview returns the first interaction of a workflow; nil if it has none. An error means that a step before the
// interaction has to be executed, or that the state is not sufficient. Modules of the program are not executed: they may
// have effects.
func preview(ctx context.Context, d *workflow.Definition, state *ordered.Object, actions *subaction.Registry) (*api.Interaction, error) {
	modules, results := shipped.Modules(), &ordered.Object{}
	for _, step := range d.Steps {
		m, err := modules.Find(step.ModuleID)
		if err != nil {
			return nil, err
		}
		inputs, err := step.Resolve(state, results)
		if err == nil {
			err = workflow.CheckInputs(m, inputs)
		}
		if err != nil {
			return nil, err
		}
		run := workflow.Run{StepID: step.ID, Inputs: inputs, State: state}
		r, err := m.Request(ctx, run)
		if err != nil {
			return nil, err
		}
		if r != nil {
			i, err := workflow.Open(*r, nil, actions)
			if err != nil {
				return nil, err
			}
			v := interactionView(workflows.InteractionView{InteractionRequest: i.Request(), Row: ledger.Interaction{StepID: step.ID, Status: ledger.InteractionOpen}})
			return &v, nil
		}
		out, err := m.Execute(ctx, run, nil)
		if err == nil {
			state, err = step.Store(state, out)
		}
		if err != nil {
			return nil, err
		}
		results.Set(step.ID, out)
	}
	return nil, nil //nolint:nilnil // the workflow has no interaction
}

func workflowView(d *workflow.Definition) api.Workflow {
	v := api.Workflow{ID: d.ID, Title: d.Title, Description: d.Description, StandIn: d.StandIn, Timeout: d.Timeout, Steps: []api.WorkflowStep{}}
	if d.StateSchema != nil {
		v.StateSchema = ordered.Encode(d.StateSchema)
	}
	for _, s := range d.Steps {
		v.Steps = append(v.Steps, stepView(s))
	}
	return v
}

func stepView(s workflow.Step) api.WorkflowStep {
	return api.WorkflowStep{ID: s.ID, Title: s.Title, ModuleID: s.ModuleID}
}

// validationErrorAt converts an error in a part of a request to a problem of the request; an empty pointer means that the
// error is one only if it has pointers.
func validationErrorAt(under string, err error) error {
	found := problem.Of(err)
	if under != "" {
		found = problem.Under(under, err)
	}
	if len(found) == 0 {
		return err
	}
	flaws := make([]api.Flaw, len(found))
	for i, p := range found {
		flaws[i] = api.Flaw{Pointer: p.Pointer, Detail: p.Message}
	}
	return &api.ValidationError{Err: err, Flaws: flaws}
}

// servedWorkflowRuns implements the resource of workflow runs.
type servedWorkflowRuns struct {
	servedRuns
	folder string
}

// StartWorkflowRun starts a run, or returns the run that an earlier attempt started with the id.
func (s servedWorkflowRuns) StartWorkflowRun(ctx context.Context, id string, r api.NewWorkflowRun) (api.Started, error) {
	return s.startOnce(ctx, id, func() (*run.Run, error) {
		n := workflows.StartRequest{Owner: s.owner(ctx), ID: id}
		var err error
		if r.WorkflowID != "" {
			f, err := servedWorkflows{s.Atelier, s.folder}.find(r.WorkflowID)
			if err != nil {
				return nil, err
			}
			n.Definition = f.Definition
		} else if n.Definition, err = s.inlineWorkflow(r.Definition); err != nil {
			return nil, err
		}
		if len(r.State) > 0 {
			if n.State, err = ordered.DecodeObject(r.State); err != nil {
				return nil, validationErrorAt("/state", err)
			}
		}
		begun, err := s.workflows.Start(ctx, n)
		return begun, validationErrorAt("", err)
	})
}

// inlineWorkflow reads a definition from a request.
func (s servedWorkflowRuns) inlineWorkflow(text []byte) (*workflow.Definition, error) {
	v, err := ordered.Decode(text)
	if err != nil {
		return nil, validationErrorAt("/definition", err)
	}
	d, found := workflow.Check(s.workflows.Modules(), v)
	return d, validationErrorAt("/definition", problem.Join(found...))
}

// ListWorkflowRuns lists runs, newest first.
func (s servedWorkflowRuns) ListWorkflowRuns(ctx context.Context, q api.WorkflowRunQuery) (api.List[api.WorkflowRun], error) {
	list, err := s.workflows.List(ctx, s.owner(ctx), ledger.Status(q.Status), pageOf(q.Page))
	return views(list, func(h workflows.RunSummary) api.WorkflowRun {
		v := workflowRunView(h.Run)
		v.WorkflowID = h.WorkflowID
		return v
	}), err
}

func workflowRunView(r ledger.Run) api.WorkflowRun {
	return api.WorkflowRun{
		ID: r.ID, Title: r.Task, Status: string(r.Status), Steps: []api.WorkflowRunStep{}, Cost: api.Cost(r.Cost), Error: failureView(r.Failure),
		ForkedFrom: r.ForkedFrom, StartedAt: r.StartedAt.UTC(), EndedAt: timeOrNil(r.FinishedAt),
	}
}

// WorkflowRun returns a run.
func (s servedWorkflowRuns) WorkflowRun(ctx context.Context, id string) (api.WorkflowRun, error) {
	st, err := s.workflows.Status(ctx, s.owner(ctx), id)
	if err != nil {
		return api.WorkflowRun{}, err
	}
	v := workflowRunView(st.Run)
	v.InteractionID, v.State = st.Interaction, ordered.Encode(st.State)
	if st.Definition != nil {
		v.WorkflowID, v.Definition = st.Definition.ID, ledger.JSON(st.Definition)
	}
	for _, step := range st.Steps {
		v.Steps = append(v.Steps, api.WorkflowRunStep{
			WorkflowStep: stepView(step.Step), Status: cmp.Or(string(step.Status), "pending"), Error: failureView(step.Failure),
			Interactions: step.Interactions, StartedAt: timeOrNil(step.StartedAt), EndedAt: timeOrNil(step.FinishedAt),
		})
	}
	return v, nil
}

// CancelWorkflowRun cancels a run.
func (s servedWorkflowRuns) CancelWorkflowRun(ctx context.Context, id string) (api.Started, error) {
	if err := s.workflows.Cancel(ctx, s.owner(ctx), id); err != nil {
		return api.Started{}, err
	}
	return s.started(ctx, id)
}

// ForkWorkflowRun repeats a run from a step.
func (s servedWorkflowRuns) ForkWorkflowRun(ctx context.Context, newID, id string, f api.WorkflowFork) (api.Started, error) {
	return s.startOnce(ctx, newID, func() (*run.Run, error) { return s.workflows.Fork(ctx, s.owner(ctx), id, f.Step, newID) })
}

// servedInteractions implements the resource of interactions.
type servedInteractions struct{ *Atelier }

// Interaction returns an interaction.
func (s servedInteractions) Interaction(ctx context.Context, id string) (api.Interaction, error) {
	i, err := s.workflows.Show(ctx, s.owner(ctx), id)
	if err != nil {
		return api.Interaction{}, err
	}
	return interactionView(i), nil
}

func interactionView(i workflows.InteractionView) api.Interaction {
	v := api.Interaction{
		WorkflowRunID: i.WorkflowRunID, InteractionID: i.InteractionID, StepID: i.Row.StepID, Status: string(i.Row.Status), InteractionType: string(i.Type),
		Title: i.Title, Mode: i.Mode, DisplayData: ordered.Encode(i.DisplayData), DisplaySchema: ordered.Encode(i.DisplaySchema), Version: i.Version,
		Answer: i.Row.Answer, ExpiresAt: timeOrNil(i.Row.ExpiresAt), CreatedAt: i.Row.CreatedAt, AnsweredAt: timeOrNil(i.Row.AnsweredAt), View: ledger.JSON(i.View),
	}
	if i.InputSchema != nil {
		v.InputSchema = ordered.Encode(i.InputSchema)
	}
	if i.Layout != nil {
		v.Layout = ordered.Encode(i.Layout)
	}
	return v
}

// PatchInteraction applies an edit.
func (s servedInteractions) PatchInteraction(ctx context.Context, id string, version int, ops []api.PatchOperation) (api.InteractionChange, error) {
	p, err := s.workflows.Patch(ctx, s.owner(ctx), id, version, ledger.JSON(ops))
	if err != nil {
		return api.InteractionChange{}, validationErrorAt("", err)
	}
	c := api.InteractionChange{InteractionID: id, Version: p.Version, Patch: []api.PatchOperation{}, Changes: ledger.JSON(p.Changes)}
	for _, op := range p.Patch {
		one := api.PatchOperation{Op: op.Op, Path: op.Path}
		if op.Op != "remove" {
			one.Value = ordered.Encode(op.Value)
		}
		c.Patch = append(c.Patch, one)
	}
	return c, nil
}

// AnswerInteraction accepts an answer.
func (s servedInteractions) AnswerInteraction(ctx context.Context, id string, a api.InteractionAnswer) (api.Started, error) {
	r, err := s.workflows.Answer(ctx, s.owner(ctx), id, ledger.JSON(a))
	return s.begun(ctx, r, validationErrorAt("", err))
}

// servedSubActions implements the resource of sub-actions.
type servedSubActions struct{ *Atelier }

// StartSubAction starts a sub-action.
func (s servedSubActions) StartSubAction(ctx context.Context, run, key string, body json.RawMessage) (string, error) {
	id, err := s.subActions.Start(ctx, subactions.Click{Owner: s.owner(ctx), WorkflowRunID: run, Key: key, Body: body})
	return id, validationErrorAt("", err)
}

// PriceSubAction returns the cost of a sub-action.
func (s servedSubActions) PriceSubAction(ctx context.Context, interaction string, body json.RawMessage) (api.SubActionPrice, error) {
	usd, err := s.subActions.Price(ctx, s.owner(ctx), interaction, body)
	return api.SubActionPrice{EstimatedUSD: usd}, validationErrorAt("", err)
}

// SubAction returns a sub-action.
func (s servedSubActions) SubAction(ctx context.Context, id string) (api.SubAction, error) {
	st, err := s.subActions.Status(ctx, s.owner(ctx), id)
	return subActionView(st), err
}

// ListSubActions lists the sub-actions of a run.
func (s servedSubActions) ListSubActions(ctx context.Context, run string, p api.Page) (api.List[api.SubAction], error) {
	if _, err := s.workflows.Status(ctx, s.owner(ctx), run); err != nil {
		return api.List[api.SubAction]{}, err
	}
	list, err := s.subActions.List(ctx, s.owner(ctx), run, pageOf(p))
	return views(list, subActionView), err
}

// CancelSubAction cancels a sub-action.
func (s servedSubActions) CancelSubAction(ctx context.Context, id string) (api.SubAction, error) {
	if err := s.subActions.Cancel(ctx, s.owner(ctx), id); err != nil {
		return api.SubAction{}, err
	}
	return s.SubAction(ctx, id)
}

// RetrySubAction retries failed results.
func (s servedSubActions) RetrySubAction(ctx context.Context, id string, r api.SubActionRetry) (api.SubAction, error) {
	if err := s.subActions.Retry(ctx, s.owner(ctx), id, r.Positions); err != nil {
		return api.SubAction{}, err
	}
	return s.SubAction(ctx, id)
}

// FollowSubAction returns the events of a sub-action.
func (s servedSubActions) FollowSubAction(ctx context.Context, id string, after int) iter.Seq2[api.SubActionEvent, error] {
	return func(yield func(api.SubActionEvent, error) bool) {
		for e, err := range s.subActions.Follow(ctx, s.owner(ctx), id, after) {
			v := api.SubActionEvent{ID: e.ID, Type: string(e.Type)}
			if err == nil {
				v.Data = ledger.JSON(e.Data)
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

func subActionView(st subactions.Status) api.SubAction {
	g := st.ContentGeneration
	v := api.SubAction{
		ID: g.ID, WorkflowRunID: g.WorkflowRunID, InteractionID: g.InteractionID, StepID: g.StepID, SubActionID: g.SubActionID, ActionType: g.ActionType,
		Provider: g.Provider, Model: g.Model, OperationID: g.OperationID, PromptID: g.PromptID, SourceData: g.SourceData, PromptAsSent: g.PromptAsSent,
		Params: g.Params, Settings: g.Dispositions, StandIn: g.StandIn, Status: g.Status, Error: failureView(g.Failure),
		Errors: []api.SubActionError{}, Contents: []api.GeneratedContent{}, ElapsedMS: g.ElapsedMS, CostUSD: g.CostUSD, CreatedAt: g.CreatedAt.UTC(), FinishedAt: timeOrNil(g.FinishedAt),
	}
	for _, e := range st.Errors {
		v.Errors = append(v.Errors, api.SubActionError(e))
	}
	for _, c := range st.Contents {
		v.Contents = append(v.Contents, api.GeneratedContent{
			ID: c.ID, Position: c.Position, MediaID: c.MediaID, URL: "/media/" + c.MediaID, Modality: string(c.Modality),
			Seed: c.Seed, RevisedPrompt: c.RevisedPrompt, SelectedAt: timeOrNil(c.SelectedAt),
		})
	}
	return v
}
