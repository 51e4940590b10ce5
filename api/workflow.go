package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"atelier/media"
)

// WorkflowService lists and checks workflow definitions.
type WorkflowService interface {
	ListWorkflows(ctx context.Context) ([]Workflow, error)
	// Workflow returns a workflow with its definition.
	Workflow(ctx context.Context, id string) (Workflow, error)
	// CheckWorkflow returns the problems of a definition, and a preview of its first interaction.
	CheckWorkflow(ctx context.Context, t WorkflowText) (WorkflowCheck, error)
}

// WorkflowRunService executes workflows. A run belongs to the server and continues when its client disconnects.
type WorkflowRunService interface {
	// StartWorkflowRun starts a run with a new id, or returns the run that an earlier attempt started with the id.
	StartWorkflowRun(ctx context.Context, id string, r NewWorkflowRun) (Started, error)
	// ListWorkflowRuns lists runs, newest first.
	ListWorkflowRuns(ctx context.Context, q WorkflowRunQuery) (List[WorkflowRun], error)
	WorkflowRun(ctx context.Context, id string) (WorkflowRun, error)
	// CancelWorkflowRun cancels a run, whichever process executes it.
	CancelWorkflowRun(ctx context.Context, id string) (Started, error)
	// ForkWorkflowRun starts a run with a new id that repeats another run from a step, or returns the run that an
	// earlier attempt started with the id.
	ForkWorkflowRun(ctx context.Context, newID, id string, f WorkflowFork) (Started, error)
}

// Workflow is a workflow definition.
type Workflow struct {
	ID          string          `json:"id"`
	Title       string          `json:"title"`
	Description string          `json:"description,omitempty"`
	Problem     string          `json:"problem,omitempty" doc:"The first problem of a file that cannot run; its id is the file name."`
	StateSchema json.RawMessage `json:"state_schema,omitempty" doc:"The JSON Schema of a run's initial state."`
	StandIn     string          `json:"stand_in,omitempty" enum:"offline" doc:"offline substitutes the offline painter for a provider without a key."`
	Timeout     string          `json:"timeout,omitempty" doc:"How long an interaction waits for its answer."`
	Steps       []WorkflowStep  `json:"steps" nullable:"false"`
	Definition  json.RawMessage `json:"definition,omitempty" doc:"The definition as JSON; omitted in lists."`
	Text        string          `json:"text,omitempty" doc:"The unchanged text of the file; omitted in lists."`
}

// WorkflowStep is one step of a definition.
type WorkflowStep struct {
	ID       string `json:"id"`
	Title    string `json:"title,omitempty"`
	ModuleID string `json:"module_id"`
}

// WorkflowText is a definition to check.
type WorkflowText struct {
	Text  string          `json:"text" maxLength:"900000"`
	State json.RawMessage `json:"state,omitempty" doc:"The initial state of the preview."`
}

// WorkflowCheck is the result of checking a definition.
type WorkflowCheck struct {
	Problems []WorkflowProblem `json:"problems" nullable:"false" doc:"In the order of the text; empty if there are none."`
	Workflow *Workflow         `json:"workflow,omitempty"`
	Preview  *Interaction      `json:"preview,omitempty" doc:"The first interaction, if no step before it has to run."`
}

// WorkflowProblem is one problem of a definition.
type WorkflowProblem struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

// NewWorkflowRun is a run to start. Exactly one of WorkflowID and Definition is required.
type NewWorkflowRun struct {
	WorkflowID string          `json:"workflow_id,omitempty" maxLength:"64"`
	Definition json.RawMessage `json:"definition,omitempty"`
	State      json.RawMessage `json:"state,omitempty" doc:"An object that matches the workflow's state_schema."`
}

// WorkflowRun is a run of a workflow.
type WorkflowRun struct {
	ID            string            `json:"id"`
	WorkflowID    string            `json:"workflow_id,omitempty" doc:"Empty until the first step has started."`
	Title         string            `json:"title"`
	Status        string            `json:"status" enum:"running,paused,succeeded,failed,cancelled"`
	InteractionID string            `json:"interaction_id,omitempty" doc:"The interaction at which a paused run is waiting; omitted in lists."`
	State         json.RawMessage   `json:"state,omitempty" doc:"The state after the finished steps; omitted in lists."`
	Steps         []WorkflowRunStep `json:"steps" nullable:"false" doc:"Empty in lists."`
	Definition    json.RawMessage   `json:"definition,omitempty" doc:"Omitted in lists."`
	Cost          Cost              `json:"cost"`
	Error         *Failure          `json:"error,omitempty"`
	ForkedFrom    string            `json:"forked_from,omitempty"`
	StartedAt     time.Time         `json:"started_at"`
	EndedAt       *time.Time        `json:"ended_at,omitempty"`
}

// WorkflowRunStep is one step of a workflow run.
type WorkflowRunStep struct {
	WorkflowStep
	Status       string     `json:"status" enum:"pending,running,paused,succeeded,failed,cancelled"`
	Error        *Failure   `json:"error,omitempty"`
	Interactions []string   `json:"interactions" nullable:"false" doc:"The interactions, oldest first."`
	StartedAt    *time.Time `json:"started_at,omitempty"`
	EndedAt      *time.Time `json:"ended_at,omitempty"`
}

// WorkflowFork selects the step from which a run is repeated.
type WorkflowFork struct {
	Step string `json:"step,omitempty" maxLength:"64" doc:"The first step to execute again; the default is the first step of all."`
}

// WorkflowRunQuery filters a list of workflow runs.
type WorkflowRunQuery struct {
	Status string `query:"status" enum:"running,paused,succeeded,failed,cancelled"`
	Page
}

func registerWorkflows(rt *routes, ws WorkflowService) {
	const path, tag = "/api/workflows", "workflows"
	registerList(rt, path, "List workflows", tag, ws.ListWorkflows)
	byID(rt, on(http.MethodGet, path+"/{id}", "Get workflow", tag), ws.Workflow)
	handle(rt, on(http.MethodPost, path+"/validate", "Check workflow", tag), func(ctx context.Context, in *with[WorkflowText]) (*answer[WorkflowCheck], error) {
		return found(ws.CheckWorkflow(ctx, in.Body))
	})
}

func registerWorkflowRuns(rt *routes, rs WorkflowRunService) {
	const path, tag = "/api/workflow-runs", "workflows"
	handle(rt, accepted(path, "Start workflow run", tag), func(ctx context.Context, in *withKey[NewWorkflowRun]) (*answer[Started], error) {
		if (in.Body.WorkflowID == "") == (len(in.Body.Definition) == 0) {
			return nil, media.Errorf(media.CodeInvalid, "give either workflow_id or definition")
		}
		return idempotent(ctx, &rt.keys, in.Key, call{Name: "workflow-runs", Body: in.Body}, func(ctx context.Context, id string) (Started, error) {
			return rs.StartWorkflowRun(ctx, id, in.Body)
		})
	})
	paged(rt, path, "List workflow runs", tag, rs.ListWorkflowRuns)
	byID(rt, on(http.MethodGet, path+"/{id}", "Get workflow run", tag), rs.WorkflowRun)
	byID(rt, accepted(path+"/{id}/cancel", "Cancel workflow run", tag), rs.CancelWorkflowRun)
	handle(rt, accepted(path+"/{id}/fork", "Fork workflow run", tag), func(ctx context.Context, in *withIDAndKey[WorkflowFork]) (*answer[Started], error) {
		return idempotent(ctx, &rt.keys, in.Key, call{Name: "fork workflow run " + in.ID, Body: in.Body}, func(ctx context.Context, id string) (Started, error) {
			return rs.ForkWorkflowRun(ctx, id, in.ID, in.Body)
		})
	})
}
