package client

import (
	"context"
	"net/http"
	"strconv"

	"atelier/api"
)

func (c workflows) ListWorkflows(ctx context.Context) ([]api.Workflow, error) {
	return listAll[api.Workflow](ctx, c.transport, "/api/workflows")
}

func (c workflows) Workflow(ctx context.Context, id string) (api.Workflow, error) {
	return get[api.Workflow](ctx, c.transport, at("/api/workflows/", id, ""))
}

func (c workflows) CheckWorkflow(ctx context.Context, t api.WorkflowText) (api.WorkflowCheck, error) {
	return sendJSON[api.WorkflowCheck](ctx, c.transport, request{method: http.MethodPost, path: "/api/workflows/validate", body: t})
}

func (c workflowRuns) StartWorkflowRun(ctx context.Context, id string, r api.NewWorkflowRun) (api.Started, error) {
	return sendJSON[api.Started](ctx, c.transport, request{method: http.MethodPost, path: "/api/workflow-runs", body: r, needsKey: true, key: id})
}

func (c workflowRuns) ListWorkflowRuns(ctx context.Context, q api.WorkflowRunQuery) (api.List[api.WorkflowRun], error) {
	return list[api.WorkflowRun](ctx, c.transport, "/api/workflow-runs", q)
}

func (c workflowRuns) WorkflowRun(ctx context.Context, id string) (api.WorkflowRun, error) {
	return get[api.WorkflowRun](ctx, c.transport, at("/api/workflow-runs/", id, ""))
}

func (c workflowRuns) CancelWorkflowRun(ctx context.Context, id string) (api.Started, error) {
	return sendJSON[api.Started](ctx, c.transport, request{method: http.MethodPost, path: at("/api/workflow-runs/", id, "/cancel")})
}

func (c workflowRuns) ForkWorkflowRun(ctx context.Context, newID, id string, f api.WorkflowFork) (api.Started, error) {
	return sendJSON[api.Started](ctx, c.transport, request{method: http.MethodPost, path: at("/api/workflow-runs/", id, "/fork"), body: f, needsKey: true, key: newID})
}

func (c interactions) Interaction(ctx context.Context, id string) (api.Interaction, error) {
	return get[api.Interaction](ctx, c.transport, at("/api/interactions/", id, ""))
}

func (c interactions) PatchInteraction(ctx context.Context, id string, version int, ops []api.PatchOperation) (api.InteractionChange, error) {
	return sendJSON[api.InteractionChange](ctx, c.transport, request{
		method: http.MethodPatch, path: at("/api/interactions/", id, ""), body: ops, header: http.Header{"If-Match": {strconv.Quote(strconv.Itoa(version))}},
	})
}

func (c interactions) AnswerInteraction(ctx context.Context, id string, a api.InteractionAnswer) (api.Started, error) {
	return sendJSON[api.Started](ctx, c.transport, request{method: http.MethodPost, path: at("/api/interactions/", id, "/answer"), body: a, needsKey: true})
}
