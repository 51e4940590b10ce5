package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// TraceService shows the steps and calls of a run. The id of any run in a tree identifies the steps of the tree.
type TraceService interface {
	// ListSteps lists the finished steps of a run tree. A fork can begin at any of them.
	ListSteps(ctx context.Context, run string) ([]Step, error)
	// ListModelCalls lists the chat model calls of a run as they were sent.
	ListModelCalls(ctx context.Context, q TraceQuery) (List[ModelCall], error)
	// ListActs lists the actions and sub-agents of a run.
	ListActs(ctx context.Context, q TraceQuery) (List[Act], error)
	// Sight returns the pictures that the model of a run was shown, and the rule by which they were selected.
	Sight(ctx context.Context, run string) (Sight, error)
}

// TraceQuery selects a page of a list that belongs to a run.
type TraceQuery struct {
	ID string `path:"id" maxLength:"128"`
	Page
}

// Step is a finished step of a run.
type Step struct {
	Name       string    `json:"name" doc:"Identifies the step in a fork."`
	FinishedAt time.Time `json:"finished_at"`
}

// ModelCall is one request to a chat model.
type ModelCall struct {
	ID           string          `json:"id"`
	Turn         int             `json:"turn"`
	Model        string          `json:"model"`
	Provider     string          `json:"provider,omitempty"`
	Status       string          `json:"status"`
	Messages     json.RawMessage `json:"messages,omitempty" doc:"The messages that were sent, with the instructions; media are refs, never bytes."`
	Answer       string          `json:"answer,omitempty"`
	InputTokens  int64           `json:"input_tokens"`
	OutputTokens int64           `json:"output_tokens"`
	CostUSD      *string         `json:"cost_usd"`
	Error        *Failure        `json:"error,omitempty"`
	StartedAt    time.Time       `json:"started_at"`
	FinishedAt   *time.Time      `json:"finished_at,omitempty"`
}

// Act is an action or the work of a sub-agent.
type Act struct {
	ID         string          `json:"id"`
	Turn       int             `json:"turn"`
	Position   int             `json:"position" doc:"The position within the turn, from 1."`
	Kind       string          `json:"kind" enum:"action,agent,code"`
	Name       string          `json:"name"`
	Status     string          `json:"status"`
	Code       string          `json:"code,omitempty"`
	Message    string          `json:"message,omitempty"`
	Params     json.RawMessage `json:"params,omitempty"`
	Outputs    json.RawMessage `json:"outputs,omitempty" doc:"The outputs that the model received."`
	ChildRunID string          `json:"child_run_id,omitempty" doc:"The sub-agent's run, which has its own trace."`
	StartedAt  time.Time       `json:"started_at"`
	FinishedAt *time.Time      `json:"finished_at,omitempty"`
}

// Sight describes what the model of a run received in addition to text.
type Sight struct {
	Agent         string         `json:"agent" doc:"The path from the root agent to the one that ran."`
	LenientImages bool           `json:"lenient_images" doc:"Pictures that the model does not accept are omitted; otherwise, they are an error."`
	Vision        *VisionContext `json:"vision,omitempty" doc:"The rule by which the model is shown the actions' pictures; omitted if it is shown none."`
	Given         []SeenImage    `json:"given" nullable:"false" doc:"Pictures of the message."`
	Shown         []SeenImage    `json:"shown" nullable:"false" doc:"Pictures of actions shown to the model."`
	Settings      []Setting      `json:"settings" nullable:"false" doc:"The dispositions of the requested pictures and models."`
}

// VisionContext is the rule by which a model is shown the actions' pictures.
type VisionContext struct {
	MaxImages      int      `json:"max_images"`
	MaxTotalBytes  int64    `json:"max_total_bytes"`
	TurnsToLive    int      `json:"turns_to_live"`
	AllowedSources []string `json:"allowed_sources" nullable:"false" doc:"Names or tags of actions."`
}

// SeenImage is a picture that a model was shown.
type SeenImage struct {
	Ref      string `json:"ref"`
	MIMEType string `json:"mime_type"`
	FileName string `json:"file_name,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

func registerTrace(rt *routes, ts TraceService) {
	const path, tag = "/api/runs/{id}", "runs"
	byID(rt, on(http.MethodGet, path+"/steps", "List steps", tag), func(ctx context.Context, id string) (List[Step], error) {
		steps, err := ts.ListSteps(ctx, id)
		return List[Step]{Items: append([]Step{}, steps...)}, err
	})
	paged(rt, path+"/model-calls", "List model calls", tag, ts.ListModelCalls)
	byID(rt, on(http.MethodGet, path+"/sight", "Get sight", tag), ts.Sight)
	paged(rt, path+"/acts", "List acts", tag, ts.ListActs)
}
