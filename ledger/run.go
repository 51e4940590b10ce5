package ledger

import (
	"context"
	"encoding/json"
	"time"

	"atelier/media"
)

// Status is the status of a run or a step.
type Status string

// The statuses.
const (
	StatusRunning   Status = "running"
	StatusPaused    Status = "paused"
	StatusSucceeded Status = "succeeded"
	StatusFailed    Status = "failed"
	StatusCancelled Status = "cancelled"
)

// Run is one execution of one agent; a sub-agent's run has a parent.
type Run struct {
	ID    string `json:"id"`
	Owner string `json:"owner"`
	// Tree is the id of the root run; a root run's tree is its own id.
	Tree   string `json:"tree"`
	Parent string `json:"parent,omitempty"`
	// Depth is 0 for a root run.
	Depth int `json:"depth"`
	// Agent is the slug; AgentPath is the path from the root agent, separated by slashes.
	Agent     string `json:"agent"`
	AgentPath string `json:"agent_path,omitempty"`
	// Definition is the content of the agent's definition and DefinitionHash its digest.
	DefinitionHash string          `json:"definition_hash,omitempty"`
	Definition     json.RawMessage `json:"definition,omitempty"`
	Status         Status          `json:"status"`
	// Task is the request, Message the answer; both keep placeholders.
	Task    string `json:"task"`
	Message string `json:"message,omitempty"`
	// Payload is the final payload; it keeps placeholders forever.
	Payload  json.RawMessage `json:"payload,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
	Usage    Usage           `json:"usage"`
	Cost     Cost            `json:"cost"`
	Failure  Failure         `json:"failure,omitzero"`
	// ForkedFrom is the run that this one was forked from, ForkedStep the first step of that run that was repeated;
	// both are empty for a run that is not a fork.
	ForkedFrom string `json:"forked_from,omitempty"`
	ForkedStep string `json:"forked_step,omitempty"`
	// InputImages came with the task. VisionContext are pictures of actions that the model's vision policy showed it:
	// refs with type, file name and detail, never bytes.
	InputImages   []InputImage `json:"input_images,omitempty"`
	VisionContext []InputImage `json:"vision_context,omitempty"`
	// Dispositions report what became of requested pictures and models.
	Dispositions json.RawMessage `json:"dispositions,omitempty"`
	// Limits are the limits set by the caller of a root run, as small JSON; empty means only those of the definitions
	// and the configured budgets.
	Limits json.RawMessage `json:"limits,omitempty"`

	StartedAt  time.Time `json:"started_at,omitzero"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// InputImage is a stored picture that a model is shown.
type InputImage = media.InputImage

// Usage counts what a run used.
type Usage struct {
	// Turns counts only the run itself; the other fields include sub-agents.
	Turns        int64 `json:"turns"`
	ModelCalls   int64 `json:"model_calls"`
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	Images       int64 `json:"images"`
	// WorkedMS is how many milliseconds model calls and acts were in progress. Concurrent ones count once, and waiting
	// for a person does not count.
	WorkedMS int64 `json:"worked_ms"`
}

// Cost is money in US dollars as exact decimal text; nil means unknown, not zero.
type Cost struct {
	// EstimatedUSD is the sum over all calls of the cost reported by the provider, or else the estimate.
	EstimatedUSD *string `json:"estimated_usd"`
	// ReportedUSD is the part of it that providers reported.
	ReportedUSD *string `json:"reported_usd"`
	// Complete means that every billable call had a known price.
	Complete bool `json:"complete"`
}

// Failure is why something has no result; the zero value means that there is a result.
type Failure struct {
	// Code is a media.Code.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// Retryable means that the same request may succeed later.
	Retryable bool `json:"retryable,omitempty"`
}

// Step is one act of a run: an action, a call of a sub-agent, or Go code.
type Step struct {
	ID    string `json:"id"`
	RunID string `json:"run_id"`
	// Turn counts from 1 within the run, Position from 1 within the turn, in request order.
	Turn     int `json:"turn"`
	Position int `json:"position"`
	// Kind is action, agent or code; Name is the action's name or the sub-agent's slug.
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Code is the result code or an error's code; Message describes the result.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// Params is the request, Outputs the part of the result that the model sees.
	Params  json.RawMessage `json:"params,omitempty"`
	Outputs json.RawMessage `json:"outputs,omitempty"`
	// ChildRunID is the sub-agent's run.
	ChildRunID string `json:"child_run_id,omitempty"`

	StartedAt  time.Time `json:"started_at,omitzero"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// RunQuery filters a list of runs; zero fields match all.
type RunQuery struct {
	// Roots omits sub-agents' runs; Tree selects one tree.
	Roots  bool
	Tree   string
	Status Status
	Agent  string
	Page
}

// Runs stores agent runs and their steps.
type Runs interface {
	// CreateRun inserts a run. ID, Owner, Tree and Agent are required. The error has code media.CodeConflict if the id
	// exists.
	CreateRun(ctx context.Context, r Run) error
	// FinishRun saves the outcome of a run: status, message, payload, warnings, usage, cost, failure, vision context,
	// dispositions and FinishedAt; and input images and limits, if there are any. A second call overwrites. The error
	// has code media.CodeNotFound for an unknown id or a run that is not r.Owner's.
	FinishRun(ctx context.Context, r Run) error
	// Run returns one run.
	Run(ctx context.Context, owner, id string) (Run, error)
	// HasRun reports whether a run with this id exists, of any owner, even a deleted one.
	HasRun(ctx context.Context, id string) (bool, error)
	// ListRuns lists runs, newest first.
	ListRuns(ctx context.Context, owner string, q RunQuery) (List[Run], error)
	// SaveStep inserts a step or overwrites the one with its id.
	SaveStep(ctx context.Context, s Step) error
	// ListSteps lists a run's steps in order.
	ListSteps(ctx context.Context, owner, runID string, p Page) (List[Step], error)
}
