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

// EventType names an event in the form noun-action. The list is complete: the command line, the
// event stream and the UI know only these events.
type EventType string

// The events, each with its payload type.
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

// EventTypes returns every event type.
func EventTypes() []EventType {
	return []EventType{
		EventRunStarted, EventRunPaused, EventRunResumed, EventRunSucceeded, EventRunFailed, EventRunCancelled,
		EventTurnStarted, EventTurnFinished, EventMessageDelta, EventMessageWithdrawn, EventActionStarted, EventActionFinished,
		EventAgentStarted, EventAgentFinished, EventOperationProgress, EventOperationPartial, EventOperationFinished, EventMediaStored,
		EventMediaPromoted, EventMediaPruned, EventStepStarted, EventStepFinished, EventInteractionOpened, EventInteractionPatched,
		EventInteractionAnswered, EventWarning,
	}
}

// Event is something that happened in a run tree. Run events are emitted for the root only; sub-agents have
// agent-started and agent-finished. A resumed run emits only new events: when it is resumed from its [State], none that
// were emitted before it paused; when a journal replays it after its process died, none that the observer has recorded,
// see [RecordReader]. record.Observer implements it, and so does an observer that embeds it. Events that were emitted
// but not recorded when the process died are repeated with the same Key; an observer that is not a RecordReader gets
// all events of a replayed run again.
type Event struct {
	Type EventType `json:"type"`
	// Tree is the ID of the root run; RunID is the ID of the run to which the event belongs.
	Tree      string    `json:"tree"`
	RunID     string    `json:"run_id"`
	AgentPath string    `json:"agent_path"`
	At        time.Time `json:"at"`
	// Key is the deduplication key: it is unique per event and the same in every replay of the run.
	// It is empty for progress, previews and partial messages, which a replay does not repeat, and
	// for events emitted about a run from outside it.
	Key string `json:"key,omitempty"`
	// Data is the payload struct named in the type's comment, without media bytes.
	Data any `json:"data"`
}

// key returns the key of an event emitted in a turn, after the run was resumed part times. A turn that a retry repeats,
// and a failed operation that is retried, get new keys.
func (e Event) key(turn string, part int) string {
	of := ""
	switch d := e.Data.(type) {
	case RunStarted:
		if e.Type == EventRunResumed {
			of = strconv.Itoa(part)
		}
	case RunFinished:
		if part > 0 { // it paused or ended earlier
			of = strconv.Itoa(part)
		}
	case TurnStarted:
		of = turn
	case TurnFinished:
		of = turn + " " + d.Error
	case MessageDelta:
		if d.Partial {
			return ""
		}
		of = turn
	case MessageWithdrawn:
		return ""
	case ActionStarted:
		of = d.StepID
	case ActionFinished:
		if of = d.StepID; d.Interrupted {
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
		if of = d.StepID; d.Status != StatusSucceeded { // it may be retried
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

// RunFinished reports how a run ended, or that it paused; Error is set if it failed or was cancelled.
type RunFinished struct {
	Status  Status          `json:"status"`
	Message string          `json:"message"`
	Turns   int             `json:"turns"`
	Usage   Usage           `json:"usage"`
	Cost    Cost            `json:"cost"`
	Error   *action.Problem `json:"error,omitempty"`
	// Questions are the open questions of a paused run, oldest first.
	Questions []Question `json:"questions,omitempty"`
}

// TurnStarted reports that a model is being called. Turn counts from 1.
type TurnStarted struct {
	Turn  int    `json:"turn"`
	Model string `json:"model"`
}

// TurnFinished reports what a model requested.
type TurnFinished struct {
	Turn         int      `json:"turn"`
	Model        string   `json:"model"`
	Reasoning    string   `json:"reasoning,omitempty"`
	Actions      []string `json:"actions,omitempty"`
	Agents       []string `json:"agents,omitempty"`
	Done         bool     `json:"done"`
	InputTokens  int64    `json:"input_tokens"`
	OutputTokens int64    `json:"output_tokens"`
	// Error is the reason why the answer could not be used.
	Error string `json:"error,omitempty"`
}

// MessageDelta is a part of the message to the person. While the model writes it, partial deltas
// are emitted; once its step is parsed, the whole message is emitted at offset 0.
type MessageDelta struct {
	Text string `json:"text"`
	// Offset is the position of the part in the turn's message, in characters (code points): the
	// part replaces everything from that position on. At 0 the message starts over.
	Offset int `json:"offset"`
	// Partial marks a part that is only shown and not recorded.
	Partial bool `json:"partial,omitempty"`
}

// MessageWithdrawn reports that a message shown while the model wrote it is withdrawn, because the
// answer could not be used. It is not recorded either.
type MessageWithdrawn struct {
	Turn int `json:"turn"`
}

// Transient reports whether an event is only shown and not recorded: partial messages, progress and previews.
func (e Event) Transient() bool {
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

// ActionStarted reports that an action has started.
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
	// Interrupted is set if the run ended while the action was in progress; the action is reported again
	// when the run is retried.
	Interrupted bool `json:"cut,omitempty"`
}

// AgentStarted reports that a sub-agent has started.
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

// OperationProgress is a progress note of a long action or generation.
type OperationProgress struct {
	StepID    string `json:"step_id,omitempty"`
	Operation string `json:"operation,omitempty"`
	Note      string `json:"note"`
	// MetadataID is the workflow's sub-action to which the note belongs. It comes with the elapsed
	// time and, if known, the progress from 0 to 1.
	MetadataID string   `json:"metadata_id,omitempty"`
	ElapsedMS  int64    `json:"elapsed_ms,omitempty"`
	Progress   *float64 `json:"progress,omitempty"`
}

// SubActionFinished reports that a sub-action of a workflow has ended.
type SubActionFinished struct {
	MetadataID    string `json:"metadata_id"`
	InteractionID string `json:"interaction_id"`
	Operation     string `json:"operation,omitempty"`
	// Status is a status of an operation.
	Status string `json:"status"`
}

// MediaEvent is about one item.
type MediaEvent struct {
	Output media.Output `json:"output"`
	// StepID is the action to which a preview belongs.
	StepID string `json:"step_id,omitempty"`
	// MetadataID is the workflow's sub-action to which a preview belongs.
	MetadataID string `json:"metadata_id,omitempty"`
}

// StepStarted reports that a stage of a Go agent, a step of a workflow, has started.
type StepStarted struct {
	// StepID is the stage's name; Number is its position, counting from 1.
	StepID string `json:"step_id"`
	Number int    `json:"number"`
}

// StepFinished reports how a stage ended.
type StepFinished struct {
	StepID string `json:"step_id"`
	Number int    `json:"number"`
	Status Status `json:"status"`
	// Error is the reason why the stage did not succeed.
	Error *action.Problem `json:"error,omitempty"`
}

// InteractionEvent reports that a workflow waits for a person at a step, or that the person answered.
type InteractionEvent struct {
	InteractionID string `json:"interaction_id"`
	StepID        string `json:"step_id"`
	Title         string `json:"title,omitempty"`
}

// InteractionPatched reports a change in an open interaction. It is recorded, but not repeated by a replay.
type InteractionPatched struct {
	InteractionID string `json:"interaction_id"`
	// Version is the version of the data after the change: the previous version plus one.
	Version int `json:"version"`
	// Patch is the change of the data as JSON Patch; Changes are the view's nodes that it changed.
	Patch   json.RawMessage `json:"patch"`
	Changes json.RawMessage `json:"changes"`
}

// Warning is a message for a person about a problem that stopped nothing.
type Warning struct {
	Message string `json:"message"`
}

// Observer saves and publishes what a run does. Save methods are upserts by ID: they are called with status running
// when something starts, and again when it ends, so that media recorded in between can refer to it. An error of a Save
// method becomes a warning of the run and stops nothing. Calls for one run may be concurrent if its acts are. Calls
// also come after ctx was cancelled, so implementations that save must detach from its cancellation. No argument
// contains media bytes or base64.
type Observer interface {
	// SaveRun saves a root run or the run of a sub-agent.
	SaveRun(ctx context.Context, r RunRecord) error
	// SaveStep saves one act: an action, a sub-agent call or the code of a Go agent.
	SaveStep(ctx context.Context, s StepRecord) error
	// SavePrompt saves one model call. Its slices are shared and must not be modified.
	SavePrompt(ctx context.Context, p PromptRecord) error
	// Emit publishes an event. It must not block.
	Emit(ctx context.Context, e Event)
}

// RunRecord is the record of one run of a tree.
type RunRecord struct {
	// ID is the run's ID. For the root, ParentID is empty and Tree equals ID.
	ID       string `json:"id"`
	ParentID string `json:"parent_id,omitempty"`
	Tree     string `json:"tree"`
	// Agent is the slug; AgentPath is the slash-separated path from the root; Depth is 0 for the root.
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
	// Turns counts the turns that have begun.
	Turns    int      `json:"turns"`
	Usage    Usage    `json:"usage"`
	Cost     Cost     `json:"cost"`
	Warnings []string `json:"warnings,omitempty"`
	// Limits are the limits set by the caller of a root run.
	Limits Limits `json:"limits,omitzero"`
	// InputImages came with the task; VisionContext are the actions' pictures that the vision
	// policy showed to the model.
	InputImages   []vision.InputImage `json:"input_images,omitempty"`
	VisionContext []vision.InputImage `json:"vision_context,omitempty"`
	// Dispositions say which preferred chat models were substituted, and which pictures were
	// changed or left out; set when the run has ended.
	Dispositions []generate.Disposition `json:"dispositions,omitempty"`
	// Promoted are the items chosen for the answer, in order; set when the run has ended.
	Promoted []media.Output `json:"promoted,omitempty"`
	// StartedAt and FinishedAt are UTC; FinishedAt is zero while the run is in progress.
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
}

// StepKind is the kind of an act.
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
	// Turn counts from 1; Index counts from 1 within the turn, in the requested order.
	Turn  int      `json:"turn"`
	Index int      `json:"index"`
	Kind  StepKind `json:"kind"`
	// Name is the action's name or the sub-agent's slug.
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Code is the action's result code, or an error's code.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// Params and Outputs are JSON without media bytes: the request, and the result as the model sees it.
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
	// Model is the ID of the model that answered, or that was called while no answer exists.
	Model    string         `json:"model"`
	Provider string         `json:"provider"`
	System   string         `json:"system"`
	Messages []chat.Message `json:"messages"`
	Response string         `json:"response"`
	Status   Status         `json:"status"`
	Error    string         `json:"error,omitempty"`
	Usage    chat.Usage     `json:"usage"`
	// CostUSD is exact decimal text; nil if unknown.
	CostUSD    *string   `json:"cost_usd"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
}

// noopObserver is the observer of a runner without one.
type noopObserver struct{}

var _ Observer = noopObserver{}

func (noopObserver) SaveRun(context.Context, RunRecord) error       { return nil }
func (noopObserver) SaveStep(context.Context, StepRecord) error     { return nil }
func (noopObserver) SavePrompt(context.Context, PromptRecord) error { return nil }
func (noopObserver) Emit(context.Context, Event)                    {}
