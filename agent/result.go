package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"math/big"
	"time"

	"atelier/action"
	"atelier/agent/definition"
	"atelier/agent/evidence"
	"atelier/agent/internal/object"
	"atelier/agent/vision"
	"atelier/chat"
	"atelier/generate"
	"atelier/journal"
	"atelier/media"
)

// Status is the state of a run, a step or a model call.
type Status string

// The states. Succeeded, failed and cancelled are the final states of a run. A paused run waits for
// a person, holds no resources and continues when it is resumed.
const (
	StatusRunning   Status = "running"
	StatusSucceeded Status = "succeeded"
	StatusPaused    Status = "paused"
	StatusFailed    Status = "failed"
	StatusCancelled Status = "cancelled"
)

// Request asks a [Runner] to run an agent. A program that decodes a request from an untrusted
// source must set Owner itself and clear RunID, Granted, Extracted, Warnings, Admitted and Fitted: these
// are trusted, also regarding the owner of a picture.
type Request struct {
	// Agent is a slug or a display name; required.
	Agent string `json:"agent"`
	// Message is the task as a person wrote it; required.
	Message string `json:"message"`
	// Granted are media items that the run may use by ref: attachments, earlier results.
	Granted []media.Output `json:"granted,omitempty"`
	// Images come with the message and are shown to the model. They are stored before anything
	// else; see [Runner.StoreImages].
	Images []Image `json:"images,omitempty"`
	// LenientImages leaves out, with a warning, pictures that the model does not accept. Otherwise
	// they are an error before the model is called.
	LenientImages bool `json:"lenient_images,omitempty"`
	// LostImages determines what happens if bytes of Images are missing or damaged after the run
	// began; empty means LostDrop. Before that, it is an error unless LenientImages is set.
	LostImages vision.LostImages `json:"lost_images,omitempty"`
	// Vision overrides the definition's policy for pictures made by actions; nil keeps that policy.
	Vision *definition.VisionContextPolicy `json:"vision,omitempty"`
	// Conversation is the conversation that the run continues: its ID, or "new" to start one; empty
	// means none. Package run keeps conversations; a [Runner] ignores the field.
	Conversation string `json:"conversation,omitempty"`
	// History is the conversation before the message, oldest first. Only the text of its messages
	// is used; it refers to media by ref, which must be granted separately.
	History []chat.Message `json:"history,omitempty"`
	// Input is given to the model with the task; may be nil.
	Input Input `json:"input,omitempty"`
	// ToolContext is passed to actions and Go agents, including those of sub-agents, but to no model.
	ToolContext action.ToolContext `json:"tool_context,omitempty"`
	// RunID is the root run's ID: letters a to z in either case, digits, - and _, at most 128 bytes,
	// and no dot, which separates the parts of a run's names. Empty means a new ID. A [Runner] does
	// not check it; package run refuses invalid ones.
	RunID string `json:"run_id,omitempty"`
	// Owner is the owner of the run; empty means "local".
	Owner string `json:"owner,omitempty"`
	// ChatModels and ImageModels, best first, take precedence over those of the definitions.
	ChatModels  []string `json:"chat_models,omitempty"`
	ImageModels []string `json:"image_models,omitempty"`
	// MaxTurns is the maximum number of turns of each agent of the run; 0 leaves it to the definitions, whose limits it
	// never raises. MaxTokens is the maximum number of input and output tokens of the whole run, including sub-agents;
	// 0 means no limit. When either is reached, agents get one last turn to finish; a run that does not finish is
	// over_budget. The last turn comes when two more calls like the previous one would not fit; in a sub-agent, one
	// more for each agent above it. No sub-agent begins once the tokens, or MaxTime, are used up. A run whose calls grow,
	// or whose sub-agents run concurrently, may exceed the limit by the difference.
	MaxTurns  int   `json:"max_turns,omitempty"`
	MaxTokens int64 `json:"max_tokens,omitempty"`
	// MaxTime is the maximum working time of the run tree: the time in which model calls and acts are in progress, with
	// concurrent ones counted once. It excludes waiting for a person and includes the work of earlier processes; 0
	// means no limit. When it has elapsed, agents get one last turn. Work in progress may take as long again, at most a
	// minute; then it is stopped, and the run is over_budget.
	MaxTime time.Duration `json:"max_time_ns,omitempty"`
	// MaxImages is the maximum number of pictures that models may make for the run tree; 0 means no
	// limit. A request for more than remain is refused before any call, with an error to the model.
	MaxImages int64 `json:"max_images,omitempty"`
	// MaxCost is the maximum cost of the run tree's model calls and generations, in US dollars as exact decimal text
	// ("0.25"); empty means no limit, "0" allows only what is free. An act whose estimate exceeds the rest is refused;
	// a model call without a price passes as long as something is left. A refused model call ends the run with
	// over_budget; a refused generation is an error to the model.
	MaxCost string `json:"max_cost,omitempty"`
	// Deadline is when the run ends, including sub-agents and generations, with media.CodeDeadline
	// and what was made; zero means never. A process that adopts the run uses the same deadline.
	Deadline time.Time `json:"deadline,omitzero"`
	// Extracted are items that [Runner.Prepare] extracted from Message and Input.
	Extracted []media.Output `json:"found,omitempty"`
	// Warnings are those of the preparation. The result of the run begins with them.
	Warnings []string `json:"noted,omitempty"`
	// Admitted is set if [Runner.Prepare] found that the model accepts Images.
	Admitted bool `json:"admitted,omitempty"`
	// Fitted are the forms of Images that it made for the model, so that they are not made again.
	Fitted []vision.FittedImage `json:"fitted,omitempty"`
	// ApproveOver asks a person for approval before every action that would cost more than this
	// many US dollars (exact decimal text, such as 0.05), or whose price is unknown. It takes
	// precedence over approval_over in the definitions; empty leaves it to them.
	ApproveOver string `json:"approve_over,omitempty"`
	// State is the state from which a paused run continues: the steps that it contains are not executed
	// again, see [Runner.Answered]. The other fields are then those of State.Request. Nil starts a new run.
	State *State `json:"-"`
	// Journal makes this run durable; nil means the runner's journal. A *journal.Transcript is used
	// as it is: with a State, create it with [State.Known].
	Journal journal.Journal `json:"-"`
	// Begun is set if another process may have started the run tree or this part of it. An
	// unanswered call of that process then counts, even if the process finished no step.
	Begun bool `json:"-"`
	// OnClose, if set, is called with the final status when the run tree has ended, before the end is reported. It ends
	// the work that earlier processes left in the tree, and returns its results. ctx may have ended.
	OnClose func(ctx context.Context, status Status) []media.Output `json:"-"`
}

// Input is the structured input of a run, of JSON types. Large whole numbers, such as ids, stay exact when it is decoded.
type Input map[string]any

// UnmarshalJSON implements json.Unmarshaler.
func (i *Input) UnmarshalJSON(b []byte) error {
	var exact map[string]any
	err := object.Decode(b, &exact)
	*i = object.Floats(exact)
	return err
}

// ImageModelSetting is the setting of a disposition in a [Result] for an image model that an agent
// named or prefers and for which another one was substituted.
const ImageModelSetting = "image_model"

// Result is the result of a run. It contains everything that was made, regardless of the status.
type Result struct {
	RunID string `json:"run_id"`
	// Conversation is the ID of the conversation to which the run belongs, if any.
	Conversation string `json:"conversation_id,omitempty"`
	// Agent is the agent's slug.
	Agent  string `json:"agent"`
	Status Status `json:"status"`
	// Message is the text of the answer. It may contain placeholders.
	Message string `json:"message"`
	// Payload is a JSON object with placeholders, or null.
	Payload json.RawMessage `json:"payload"`
	// Outputs are the promoted items; AlsoMade are the other items that the run made, in order,
	// without documents that only repeat a part of Payload.
	Outputs  []media.Output `json:"outputs"`
	AlsoMade []media.Output `json:"also_made"`
	Warnings []string       `json:"warnings"`
	Usage    Usage          `json:"usage"`
	Cost     Cost           `json:"cost"`
	// InputImages came with the message.
	InputImages []vision.InputImage `json:"input_images,omitempty"`
	// Dispositions say which chat and image models were substituted, and which pictures were
	// changed or left out, and why. Those with [ImageModelSetting] are also reported as warnings.
	Dispositions []generate.Disposition `json:"dispositions,omitempty"`
	// Models are the chat models that answered, in order of first use.
	Models []ModelUse `json:"models,omitempty"`
	// Steps is the log of the whole run tree, with agent paths, in order of completion within each agent.
	Steps []StepRecord `json:"steps,omitempty"`
	Turns int          `json:"turns"`
	// Error is the reason why the run did not succeed.
	Error *action.Problem `json:"error,omitempty"`
	// Pending are the open questions of a run with status paused, oldest first. State resumes it;
	// see [Runner.Answered]. Otherwise both are nil.
	Pending []Question `json:"pending,omitempty"`
	State   *State     `json:"-"`
	// Evidence is what the sources of the run tree and the person stated. The numbers of a report
	// are compared with it when the report is rendered. Nil while the run is in progress or paused.
	Evidence *evidence.Set `json:"-"`

	all []media.Output
}

// All returns every item of the run, including granted ones, in order.
func (r *Result) All() []media.Output { return r.all }

// Find looks up an item of the run by ref.
func (r *Result) Find(ref media.Ref) (media.Output, bool) {
	for _, o := range r.all {
		if o.Ref == ref {
			return o, true
		}
	}
	return media.Output{}, false
}

// ModelUse is one chat model that answered.
type ModelUse struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Offline marks a rule-based model instead of a language model.
	Offline bool `json:"offline,omitempty"`
}

// Usage is the usage of a run tree.
type Usage struct {
	ModelCalls   int   `json:"model_calls"`
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	// Images counts the pictures that models made for the run tree.
	Images int `json:"images"`
	// WorkedMS is the working time of the run and its sub-agents in milliseconds, see [Request].MaxTime.
	WorkedMS int64 `json:"worked_ms"`
}

func (u *Usage) add(v Usage) {
	u.ModelCalls += v.ModelCalls
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
	u.Images += v.Images
}

// Cost is the cost of a run tree's model calls in US dollars, as exact decimal text. Generations
// are priced by their own operations, whose costs the caller adds.
type Cost struct {
	// EstimatedUSD is the sum of the known costs of all calls: what the provider reported,
	// otherwise the estimate, as budgets count them; nil if nothing is known.
	EstimatedUSD *string `json:"estimated_usd"`
	// ReportedUSD is the part of EstimatedUSD that providers reported; nil if none did.
	ReportedUSD *string `json:"reported_usd"`
	// Complete reports whether every billable call had a known price.
	Complete bool `json:"complete"`
}

func (c *Cost) add(v Cost) {
	c.EstimatedUSD = AddUSD(c.EstimatedUSD, v.EstimatedUSD)
	c.ReportedUSD = AddUSD(c.ReportedUSD, v.ReportedUSD)
	c.Complete = c.Complete && v.Complete
}

// addCall counts one model call; offline models are free of charge.
func (c *Cost) addCall(r chat.Response, offline bool) {
	if r.CostUSD == nil && offline {
		return
	}
	c.EstimatedUSD = AddUSD(c.EstimatedUSD, r.CostUSD)
	if r.CostReported {
		c.ReportedUSD = AddUSD(c.ReportedUSD, r.CostUSD)
	}
	c.Complete = c.Complete && r.CostUSD != nil && !r.CostIncomplete
}

// AddUSD adds two amounts of exact decimal text; nil is unknown and adds nothing.
func AddUSD(a, b *string) *string {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	x, okX := new(big.Rat).SetString(*a)
	y, okY := new(big.Rat).SetString(*b)
	if !okX || !okY {
		return a
	}
	return chat.USD(x.Add(x, y))
}
