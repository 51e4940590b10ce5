package agent

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"atelier/action"
	"atelier/agent/vision"
	"atelier/chat"
	"atelier/generate"
	"atelier/media"
)

// EventType names an event, noun-action. The list is closed: command line, event
// stream and UI know these and no others.
type EventType string

// The events. The comment names the payload.
const (
	EventRunStarted          EventType = "run-started"          // RunStarted
	EventRunPaused           EventType = "run-paused"           // RunFinished
	EventRunResumed          EventType = "run-resumed"          // RunStarted
	EventRunSucceeded        EventType = "run-succeeded"        // RunFinished
	EventRunFailed           EventType = "run-failed"           // RunFinished
	EventRunCancelled        EventType = "run-cancelled"        // RunFinished
	EventTurnStarted         EventType = "turn-started"         // TurnStarted
	EventTurnFinished        EventType = "turn-finished"        // TurnFinished
	EventMessageDelta        EventType = "message-delta"        // MessageDelta
	EventMessageWithdrawn    EventType = "message-withdrawn"    // MessageWithdrawn
	EventActionStarted       EventType = "action-started"       // ActionStarted
	EventActionFinished      EventType = "action-finished"      // ActionFinished
	EventAgentStarted        EventType = "agent-started"        // AgentStarted
	EventAgentFinished       EventType = "agent-finished"       // AgentFinished
	EventOperationProgress   EventType = "operation-progress"   // OperationProgress
	EventOperationPartial    EventType = "operation-partial"    // MediaEvent
	EventOperationFinished   EventType = "operation-finished"   // SubActionFinished
	EventMediaStored         EventType = "media-stored"         // MediaEvent
	EventMediaPromoted       EventType = "media-promoted"       // MediaEvent
	EventMediaPruned         EventType = "media-pruned"         // MediaEvent
	EventStepStarted         EventType = "step-started"         // StepStarted
	EventStepFinished        EventType = "step-finished"        // StepFinished
	EventInteractionOpened   EventType = "interaction-opened"   // InteractionEvent
	EventInteractionPatched  EventType = "interaction-patched"  // InteractionPatched
	EventInteractionAnswered EventType = "interaction-answered" // InteractionEvent
	EventWarning             EventType = "warning"              // Warning
)

// EventTypes lists every event there is.
func EventTypes() []EventType {
	return []EventType{
		EventRunStarted, EventRunPaused, EventRunResumed, EventRunSucceeded, EventRunFailed, EventRunCancelled,
		EventTurnStarted, EventTurnFinished, EventMessageDelta, EventMessageWithdrawn, EventActionStarted, EventActionFinished,
		EventAgentStarted, EventAgentFinished, EventOperationProgress, EventOperationPartial, EventOperationFinished, EventMediaStored,
		EventMediaPromoted, EventMediaPruned, EventStepStarted, EventStepFinished, EventInteractionOpened, EventInteractionPatched,
		EventInteractionAnswered, EventWarning,
	}
}

// Event is something that happened in a run tree. Run events are emitted for the
// root only; sub-agents have agent-started and agent-finished. A run that is resumed
// emits what is new: from its [State], nothing that was emitted before it paused; where a
// process died and a journal replays the run, nothing that the observer has on record, see
// [Witness]. record.Observer has that ability, and so has an observer that embeds it. What was
// emitted and not yet on record when the process died comes again with the same Key; to an
// observer that is no Witness all of a replayed run does.
type Event struct {
	Type EventType `json:"type"`
	// Tree is the root run's id, RunID the run in which it happened.
	Tree      string    `json:"tree"`
	RunID     string    `json:"run_id"`
	AgentPath string    `json:"agent_path"`
	At        time.Time `json:"at"`
	// Key is the key to deduplicate by: it names the event, is the same in every replay of
	// the run, and no two events have the same one. It is empty for progress, previews and
	// parts of messages, which have no place in a replay, and for what is said of a run from outside.
	Key string `json:"key,omitempty"`
	// Data is the payload struct that the type's comment names; no media bytes.
	Data any `json:"data"`
}

// key makes the key of an event that was emitted in a turn, after the run was resumed
// part times. What failed and was tried again has another key than before.
func (e Event) key(turn, part int) string {
	of := ""
	switch d := e.Data.(type) {
	case RunStarted:
		if e.Type == EventRunResumed {
			of = strconv.Itoa(part)
		}
	case RunFinished:
		if part > 0 { // it paused, or ended, before
			of = strconv.Itoa(part)
		}
	case TurnStarted:
		of = strconv.Itoa(d.Turn)
	case TurnFinished:
		of = strconv.Itoa(d.Turn) + " " + d.Error
	case MessageDelta:
		if d.Partial {
			return ""
		}
		of = strconv.Itoa(turn)
	case MessageWithdrawn:
		return ""
	case ActionStarted:
		of = d.StepID
	case ActionFinished:
		if of = d.StepID; d.Cut {
			of += " cut"
		}
	case AgentStarted:
		of = d.StepID
	case AgentFinished:
		of = d.StepID + " " + string(d.Status)
	case MediaEvent:
		of = string(d.Output.Ref)
	case Warning:
		of = d.Message
	case StepStarted:
		of = d.StepID
	case StepFinished:
		if of = d.StepID; d.Status != StatusSucceeded { // it may be tried again
			of += " " + string(d.Status) + " " + strconv.Itoa(part)
		}
	case InteractionEvent:
		of = d.InteractionID
	case SubActionFinished:
		of = d.MetadataID
	case OperationProgress, InteractionPatched:
		return ""
	}
	return e.RunID + " " + string(e.Type) + " " + of
}

// RunStarted reports that a run began.
type RunStarted struct {
	Agent string `json:"agent"`
	Name  string `json:"name"`
	Task  string `json:"task"`
	// InputImages are the pictures that came with the task.
	InputImages []vision.InputImage `json:"input_images,omitempty"`
}

// RunFinished reports how a run ended, or that it paused; Error is set when it failed or
// was cancelled.
type RunFinished struct {
	Status  Status          `json:"status"`
	Message string          `json:"message"`
	Turns   int             `json:"turns"`
	Usage   Usage           `json:"usage"`
	Cost    Cost            `json:"cost"`
	Error   *action.Problem `json:"error,omitempty"`
	// Questions are what a paused run waits for, the oldest first.
	Questions []Question `json:"questions,omitempty"`
}

// TurnStarted reports that a model is being asked. Turn counts from 1.
type TurnStarted struct {
	Turn  int    `json:"turn"`
	Model string `json:"model"`
}

// TurnFinished reports what a model asked for.
type TurnFinished struct {
	Turn         int      `json:"turn"`
	Model        string   `json:"model"`
	Reasoning    string   `json:"reasoning,omitempty"`
	Actions      []string `json:"actions,omitempty"`
	Agents       []string `json:"agents,omitempty"`
	Done         bool     `json:"done"`
	InputTokens  int64    `json:"input_tokens"`
	OutputTokens int64    `json:"output_tokens"`
	// Error says why the answer could not be used.
	Error string `json:"error,omitempty"`
}

// MessageDelta is a part of the message to the person. While the model writes it, parts come
// that are partial; the whole message comes when its step is read, at offset 0.
type MessageDelta struct {
	Text string `json:"text"`
	// Offset is where the part belongs, in characters (code points) of the turn's message: it
	// replaces what is there from that place on. At 0 the message begins anew.
	Offset int `json:"offset"`
	// Partial marks a part that is shown only: it is not in the record.
	Partial bool `json:"partial,omitempty"`
}

// MessageWithdrawn reports that the message that was shown while the model wrote it is none: the
// answer could not be used. It is not in the record either.
type MessageWithdrawn struct {
	Turn int `json:"turn"`
}

// Passing reports whether an event is shown only and not in the record: parts of messages,
// progress and previews.
func (e Event) Passing() bool {
	if e.Type == EventOperationProgress || e.Type == EventOperationPartial {
		return true
	}
	switch d := e.Data.(type) {
	case MessageDelta:
		return d.Partial
	case MessageWithdrawn:
		return true
	}
	return false
}

// ActionStarted reports that an action begins.
type ActionStarted struct {
	StepID string `json:"step_id"`
	Name   string `json:"name"`
	Turn   int    `json:"turn"`
}

// ActionFinished reports how an action ended.
type ActionFinished struct {
	StepID  string      `json:"step_id"`
	Name    string      `json:"name"`
	Turn    int         `json:"turn"`
	Success bool        `json:"success"`
	Code    string      `json:"code"`
	Message string      `json:"message"`
	Refs    []media.Ref `json:"refs,omitempty"`
	// Cut is set where the run was ended while the action was under way; it is reported again when
	// the run is tried again.
	Cut bool `json:"cut,omitempty"`
}

// AgentStarted reports that a sub-agent begins.
type AgentStarted struct {
	StepID     string `json:"step_id"`
	Agent      string `json:"agent"`
	Name       string `json:"name"`
	ChildRunID string `json:"child_run_id"`
	Task       string `json:"task"`
}

// AgentFinished reports how a sub-agent ended.
type AgentFinished struct {
	StepID     string      `json:"step_id"`
	Agent      string      `json:"agent"`
	ChildRunID string      `json:"child_run_id"`
	Status     Status      `json:"status"`
	Message    string      `json:"message"`
	Refs       []media.Ref `json:"refs,omitempty"`
}

// OperationProgress is a note of a long action or generation.
type OperationProgress struct {
	StepID    string `json:"step_id,omitempty"`
	Operation string `json:"operation,omitempty"`
	Note      string `json:"note"`
	// MetadataID is the sub-action of a workflow that it belongs to; then there are the time since it
	// began, and how far it is, 0 to 1, if that is known.
	MetadataID string   `json:"metadata_id,omitempty"`
	ElapsedMS  int64    `json:"elapsed_ms,omitempty"`
	Progress   *float64 `json:"progress,omitempty"`
}

// SubActionFinished reports that a sub-action of a workflow has ended.
type SubActionFinished struct {
	MetadataID    string `json:"metadata_id"`
	InteractionID string `json:"interaction_id"`
	Operation     string `json:"operation,omitempty"`
	// Status is one of those of an operation.
	Status string `json:"status"`
}

// MediaEvent is about one item.
type MediaEvent struct {
	Output media.Output `json:"output"`
	// StepID is the action that a preview belongs to.
	StepID string `json:"step_id,omitempty"`
	// MetadataID is the sub-action of a workflow that a preview belongs to.
	MetadataID string `json:"metadata_id,omitempty"`
}

// StepStarted reports that a stage of a Go agent begins: a step of a workflow.
type StepStarted struct {
	// StepID is the stage's name, Number its place from 1.
	StepID string `json:"step_id"`
	Number int    `json:"number"`
}

// StepFinished reports how a stage ended.
type StepFinished struct {
	StepID string `json:"step_id"`
	Number int    `json:"number"`
	Status Status `json:"status"`
	// Error says why it did not succeed.
	Error *action.Problem `json:"error,omitempty"`
}

// InteractionEvent reports that a workflow waits for a person at a step, or was answered.
type InteractionEvent struct {
	InteractionID string `json:"interaction_id"`
	StepID        string `json:"step_id"`
	Title         string `json:"title,omitempty"`
}

// InteractionPatched reports what changed in an open interaction. It is in the record, but a
// replay does not bring it.
type InteractionPatched struct {
	InteractionID string `json:"interaction_id"`
	// Version is that of the data after the change, which is one more than before.
	Version int `json:"version"`
	// Patch is the change of the data as JSON Patch, Changes are the nodes of the view that it changed.
	Patch   json.RawMessage `json:"patch"`
	Changes json.RawMessage `json:"changes"`
}

// Warning is something that a person should know and that stopped nothing.
type Warning struct {
	Message string `json:"message"`
}

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
	InputImages   []vision.InputImage `json:"input_images,omitempty"`
	VisionContext []vision.InputImage `json:"vision_context,omitempty"`
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
