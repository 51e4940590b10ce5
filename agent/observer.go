package agent

import (
	"context"
	"encoding/json"
	"time"

	"atelier/action"
	"atelier/chat"
	"atelier/generate"
	"atelier/media"
)

// Observer saves and shows what a run does. Save methods are upserts by ID: they
// are called when a thing begins, with status running, and again when it ended, so
// that media recorded meanwhile can refer to it. An error of a Save method becomes a
// warning of the run and stops nothing. Calls of one run may be concurrent where its
// acts are; they come also after ctx was cancelled, so implementations that save
// detach from its cancellation. Nothing passed holds media bytes or base64.
type Observer interface {
	// SaveRun saves a root run or the run of a sub-agent.
	SaveRun(ctx context.Context, r RunRecord) error
	// SaveStep saves one act: an action, a sub-agent call or the code of a Go agent.
	SaveStep(ctx context.Context, s StepRecord) error
	// SavePrompt saves one model call. Its slices are shared and must not be changed.
	SavePrompt(ctx context.Context, p PromptRecord) error
	// Emit publishes an event. It must not block.
	Emit(ctx context.Context, e Event)
}

// RunRecord is one row of a run tree.
type RunRecord struct {
	// ID is the run's; ParentID is empty and Tree equals ID for the root.
	ID       string `json:"id"`
	ParentID string `json:"parent_id,omitempty"`
	Tree     string `json:"tree"`
	// Agent is the slug, AgentPath the way from the root, slash separated; Depth is 0 for the root.
	Agent     string `json:"agent"`
	AgentPath string `json:"agent_path"`
	Depth     int    `json:"depth"`
	// DefinitionHash is the SHA-256 of Definition in hexadecimal.
	DefinitionHash string `json:"definition_hash"`
	// Definition is the YAML and the prompt that the run used; empty for Go agents.
	Definition string          `json:"definition"`
	Task       string          `json:"task"`
	Status     Status          `json:"status"`
	Message    string          `json:"message"`
	Payload    json.RawMessage `json:"payload,omitempty"`
	Error      *action.Problem `json:"error,omitempty"`
	// Turns counts the model calls whose answer was looked at.
	Turns    int      `json:"turns"`
	Usage    Usage    `json:"usage"`
	Cost     Cost     `json:"cost"`
	Warnings []string `json:"warnings,omitempty"`
	// Limits are what the caller of a root run allowed.
	Limits Limits `json:"limits,omitzero"`
	// InputImages came with the task; VisionContext are pictures of actions that the
	// model was shown by its policy.
	InputImages   []InputImage `json:"input_images,omitempty"`
	VisionContext []InputImage `json:"vision_context,omitempty"`
	// Dispositions tell which preferred chat models were substituted, and what became of
	// pictures that were changed or left out; set when the run ended.
	Dispositions []generate.Disposition `json:"dispositions,omitempty"`
	// Promoted are the items chosen for the answer, in order; set when the run ended.
	Promoted []media.Output `json:"promoted,omitempty"`
	// StartedAt and FinishedAt are UTC; FinishedAt is zero while it runs.
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
}

// StepKind says what an act was.
type StepKind string

// The kinds of acts.
const (
	StepAction StepKind = "action"
	StepAgent  StepKind = "agent"
	StepCode   StepKind = "code"
)

// StepRecord is one act of a run.
type StepRecord struct {
	ID        string `json:"id"`
	RunID     string `json:"run_id"`
	AgentPath string `json:"agent_path"`
	// Turn counts from 1, Index from 1 within the turn, in the order asked.
	Turn  int      `json:"turn"`
	Index int      `json:"index"`
	Kind  StepKind `json:"kind"`
	// Name is the action's name or the sub-agent's slug.
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Code is the action's result code, or an error's code.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// Params and Outputs are JSON without media bytes: what was asked, what the model sees of it.
	Params  json.RawMessage `json:"params,omitempty"`
	Outputs json.RawMessage `json:"outputs,omitempty"`
	// Media are the items that the act made or found.
	Media []media.Output `json:"media,omitempty"`
	// ChildRunID is the run of the sub-agent.
	ChildRunID string    `json:"child_run_id,omitempty"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
}

// PromptRecord is one model call with its sanitised messages.
type PromptRecord struct {
	ID        string `json:"id"`
	RunID     string `json:"run_id"`
	AgentPath string `json:"agent_path"`
	Turn      int    `json:"turn"`
	// Model is the id that answered, or that was asked while it runs.
	Model    string         `json:"model"`
	Provider string         `json:"provider"`
	System   string         `json:"system"`
	Messages []chat.Message `json:"messages"`
	Response string         `json:"response"`
	Status   Status         `json:"status"`
	Error    string         `json:"error,omitempty"`
	Usage    chat.Usage     `json:"usage"`
	// CostUSD is exact decimal text, nil if unknown.
	CostUSD    *string   `json:"cost_usd"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
}

// silent is the observer of a runner without one.
type silent struct{}

var _ Observer = silent{}

func (silent) SaveRun(context.Context, RunRecord) error       { return nil }
func (silent) SaveStep(context.Context, StepRecord) error     { return nil }
func (silent) SavePrompt(context.Context, PromptRecord) error { return nil }
func (silent) Emit(context.Context, Event)                    {}
