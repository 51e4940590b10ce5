package agent

import (
	"strconv"
	"time"

	"atelier/action"
	"atelier/media"
)

// EventType names an event, noun-action. The list is closed: command line, event
// stream and UI know these and no others.
type EventType string

// The events. The comment names the payload.
const (
	EventRunStarted         EventType = "run-started"         // RunStarted
	EventRunPaused          EventType = "run-paused"          // RunFinished
	EventRunResumed         EventType = "run-resumed"         // RunStarted
	EventRunSucceeded       EventType = "run-succeeded"       // RunFinished
	EventRunFailed          EventType = "run-failed"          // RunFinished
	EventRunCancelled       EventType = "run-cancelled"       // RunFinished
	EventTurnStarted        EventType = "turn-started"        // TurnStarted
	EventTurnFinished       EventType = "turn-finished"       // TurnFinished
	EventMessageDelta       EventType = "message-delta"       // MessageDelta
	EventActionStarted      EventType = "action-started"      // ActionStarted
	EventActionFinished     EventType = "action-finished"     // ActionFinished
	EventAgentStarted       EventType = "agent-started"       // AgentStarted
	EventAgentFinished      EventType = "agent-finished"      // AgentFinished
	EventOperationProgress  EventType = "operation-progress"  // OperationProgress
	EventOperationPartial   EventType = "operation-partial"   // MediaEvent
	EventMediaStored        EventType = "media-stored"        // MediaEvent
	EventMediaPromoted      EventType = "media-promoted"      // MediaEvent
	EventMediaPruned        EventType = "media-pruned"        // MediaEvent
	EventInteractionPatched EventType = "interaction-patched" // reserved for workflows
	EventWarning            EventType = "warning"             // Warning
)

// EventTypes lists every event there is.
func EventTypes() []EventType {
	return []EventType{
		EventRunStarted, EventRunPaused, EventRunResumed, EventRunSucceeded, EventRunFailed, EventRunCancelled,
		EventTurnStarted, EventTurnFinished, EventMessageDelta, EventActionStarted, EventActionFinished,
		EventAgentStarted, EventAgentFinished, EventOperationProgress, EventOperationPartial, EventMediaStored,
		EventMediaPromoted, EventMediaPruned, EventInteractionPatched, EventWarning,
	}
}

// Event is something that happened in a run tree. Run events are emitted for the
// root only; sub-agents are told by agent-started and agent-finished. A run that is
// resumed from its [State] emits what is new: what happened before it paused is not
// emitted again. Where a process died and a journal replays the run, nobody knows what the
// observer has seen: what happened before is emitted again with the same Key, and an
// observer that keeps events keeps one of each.
type Event struct {
	Type EventType `json:"type"`
	// Tree is the root run's id, RunID the run in which it happened.
	Tree      string    `json:"tree"`
	RunID     string    `json:"run_id"`
	AgentPath string    `json:"agent_path"`
	At        time.Time `json:"at"`
	// Key is the key to deduplicate by: it names the event, is the same in every replay of
	// the run, and no two events have the same one. It is empty for progress and previews,
	// which have no place in a replay, and for what is said of a run from outside.
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
		of = strconv.Itoa(turn)
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
	case OperationProgress:
		return ""
	}
	return e.RunID + " " + string(e.Type) + " " + of
}

// RunStarted tells that a run began.
type RunStarted struct {
	Agent string `json:"agent"`
	Name  string `json:"name"`
	Task  string `json:"task"`
	Model string `json:"model,omitempty"`
	// InputImages are the pictures that came with the task.
	InputImages []InputImage `json:"input_images,omitempty"`
}

// RunFinished tells how a run ended, or that it paused; Error is set when it failed or
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

// TurnStarted tells that a model is being asked. Turn counts from 1.
type TurnStarted struct {
	Turn  int    `json:"turn"`
	Model string `json:"model"`
}

// TurnFinished tells what a model asked for.
type TurnFinished struct {
	Turn         int      `json:"turn"`
	Model        string   `json:"model"`
	Reasoning    string   `json:"reasoning,omitempty"`
	Actions      []string `json:"actions,omitempty"`
	Agents       []string `json:"agents,omitempty"`
	Done         bool     `json:"done"`
	InputTokens  int64    `json:"input_tokens"`
	OutputTokens int64    `json:"output_tokens"`
	// Error tells why the answer could not be used.
	Error string `json:"error,omitempty"`
}

// MessageDelta is the message to the person, as far as it is known.
type MessageDelta struct {
	Text string `json:"text"`
}

// ActionStarted tells that an action begins.
type ActionStarted struct {
	StepID string `json:"step_id"`
	Name   string `json:"name"`
	Turn   int    `json:"turn"`
}

// ActionFinished tells how an action ended.
type ActionFinished struct {
	StepID  string      `json:"step_id"`
	Name    string      `json:"name"`
	Turn    int         `json:"turn"`
	Success bool        `json:"success"`
	Code    string      `json:"code"`
	Message string      `json:"message"`
	Refs    []media.Ref `json:"refs,omitempty"`
	// Cut tells that the run was ended while the action was under way; it is told again when
	// the run is tried again.
	Cut bool `json:"cut,omitempty"`
}

// AgentStarted tells that a sub-agent begins.
type AgentStarted struct {
	StepID     string `json:"step_id"`
	Agent      string `json:"agent"`
	Name       string `json:"name"`
	ChildRunID string `json:"child_run_id"`
	Task       string `json:"task"`
}

// AgentFinished tells how a sub-agent ended.
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
}

// MediaEvent is about one item.
type MediaEvent struct {
	Output media.Output `json:"output"`
}

// Warning is something that a person should know and that stopped nothing.
type Warning struct {
	Message string `json:"message"`
}
