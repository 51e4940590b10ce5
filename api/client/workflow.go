package client

import (
	"context"
	"net/http"
	"strconv"

	"atelier/api"
)

// ListWorkflows lists the server's workflows.
func (c Workflows) ListWorkflows(ctx context.Context) ([]api.Workflow, error) {
	return listAll[api.Workflow](ctx, c.transport, "/api/workflows")
}

// Workflow returns a workflow with its definition.
func (c Workflows) Workflow(ctx context.Context, id string) (api.Workflow, error) {
	return get[api.Workflow](ctx, c.transport, at("/api/workflows/", id, ""))
}

// CheckWorkflow returns the problems of a definition.
func (c Workflows) CheckWorkflow(ctx context.Context, t api.WorkflowText) (api.WorkflowCheck, error) {
	return sendJSON[api.WorkflowCheck](ctx, c.transport, request{method: http.MethodPost, path: "/api/workflows/validate", body: t})
}

// StartWorkflowRun starts a run. The id is the Idempotency-Key of the request; empty means a new one.
func (c WorkflowRuns) StartWorkflowRun(ctx context.Context, id string, r api.NewWorkflowRun) (api.Started, error) {
	return sendJSON[api.Started](ctx, c.transport, request{method: http.MethodPost, path: "/api/workflow-runs", body: r, needsKey: true, key: id})
}

// ListWorkflowRuns lists runs, newest first.
func (c WorkflowRuns) ListWorkflowRuns(ctx context.Context, q api.WorkflowRunQuery) (api.List[api.WorkflowRun], error) {
	return list[api.WorkflowRun](ctx, c.transport, "/api/workflow-runs", q)
}

// WorkflowRun returns a run.
func (c WorkflowRuns) WorkflowRun(ctx context.Context, id string) (api.WorkflowRun, error) {
	return get[api.WorkflowRun](ctx, c.transport, at("/api/workflow-runs/", id, ""))
}

// CancelWorkflowRun cancels a run.
func (c WorkflowRuns) CancelWorkflowRun(ctx context.Context, id string) (api.Started, error) {
	return sendJSON[api.Started](ctx, c.transport, request{method: http.MethodPost, path: at("/api/workflow-runs/", id, "/cancel")})
}

// ForkWorkflowRun starts a run that repeats another run from a step. newID is the Idempotency-Key of the request; empty
// means a new one.
func (c WorkflowRuns) ForkWorkflowRun(ctx context.Context, newID, id string, f api.WorkflowFork) (api.Started, error) {
	return sendJSON[api.Started](ctx, c.transport, request{method: http.MethodPost, path: at("/api/workflow-runs/", id, "/fork"), body: f, needsKey: true, key: newID})
}

// Interaction returns an interaction.
func (c Interactions) Interaction(ctx context.Context, id string) (api.Interaction, error) {
	return get[api.Interaction](ctx, c.transport, at("/api/interactions/", id, ""))
}

// PatchInteraction applies an edit that was made on a version.
func (c Interactions) PatchInteraction(ctx context.Context, id string, version int, ops []api.PatchOperation) (api.InteractionChange, error) {
	return sendJSON[api.InteractionChange](ctx, c.transport, request{
		method: http.MethodPatch, path: at("/api/interactions/", id, ""), body: ops, header: http.Header{"If-Match": {strconv.Quote(strconv.Itoa(version))}},
	})
}

// AnswerInteraction answers an interaction.
func (c Interactions) AnswerInteraction(ctx context.Context, id string, a api.InteractionAnswer) (api.Started, error) {
	return sendJSON[api.Started](ctx, c.transport, request{method: http.MethodPost, path: at("/api/interactions/", id, "/answer"), body: a, needsKey: true})
}
