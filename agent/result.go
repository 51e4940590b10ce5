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
	"atelier/agent/vision"
	"atelier/chat"
	"atelier/generate"
	"atelier/journal"
	"atelier/media"
)

// Status is the state of a run, a step or a model call.
type Status string

// The states. Only the last three are final states of a run; a paused one waits for a
// person, holds nothing meanwhile and continues when it is resumed.
const (
	StatusRunning   Status = "running"
	StatusSucceeded Status = "succeeded"
	StatusPaused    Status = "paused"
	StatusFailed    Status = "failed"
	StatusCancelled Status = "cancelled"
)

// Request asks a [Runner] to run an agent. A program that decodes one of somebody
// else sets Owner itself, and empties RunID, Granted, Found, Noted, Admitted and Fitted: they
// are believed, also about whose a picture is.
type Request struct {
	// Agent is a slug or a display name; required.
	Agent string `json:"agent"`
	// Message is the task as a person wrote it; required.
	Message string `json:"message"`
	// Granted are media items that the run may use by ref: attachments, earlier results.
	Granted []media.Output `json:"granted,omitempty"`
	// Images come with the message, and the model is shown them. They are stored before
	// anything else; see [Runner.StoreImages].
	Images []Image `json:"images,omitempty"`
	// LenientImages leaves pictures out, with a warning, that the model does not take.
	// Otherwise they are an error before the model is asked.
	LenientImages bool `json:"lenient_images,omitempty"`
	// LostImages says what to do when bytes of Images are missing or damaged after the run
	// began; empty means LostDrop. Before, it is an error, or left to LenientImages.
	LostImages vision.LostImages `json:"lost_images,omitempty"`
	// Vision goes before the definition's policy for pictures that actions make; nil
	// leaves it.
	Vision *definition.VisionContextPolicy `json:"vision,omitempty"`
	// Conversation is the conversation that the run continues: an id, or new to begin one;
	// empty means none. Package run keeps conversations; a [Runner] leaves it alone.
	Conversation string `json:"conversation,omitempty"`
	// History is what was said before, oldest first. Only the text of its messages
	// counts; media stands in it by ref and is granted beside it.
	History []chat.Message `json:"history,omitempty"`
	// Input is put before the model beside the task; may be nil.
	Input map[string]any `json:"input,omitempty"`
	// ToolContext reaches actions and Go agents, those of sub-agents too, and no model.
	ToolContext action.ToolContext `json:"tool_context,omitempty"`
	// RunID is the root run's id: letters a to z in either case, digits, - and _, at most 40
	// bytes, and no dot, which names the parts of a run. Empty means a new one. A [Runner]
	// takes it as it is; package run refuses others.
	RunID string `json:"run_id,omitempty"`
	// Owner is whose run it is; empty means "local".
	Owner string `json:"owner,omitempty"`
	// ChatModels and ImageModels, best first, go before what the definitions prefer.
	ChatModels  []string `json:"chat_models,omitempty"`
	ImageModels []string `json:"image_models,omitempty"`
	// MaxTurns is how many turns each agent of the run may take at most; 0 leaves it to
	// the definitions, which it never raises. MaxTokens is how many input and output
	// tokens the whole run may use, sub-agents included; 0 means no limit. At the end of
	// either, agents get one last turn to finish; who does not is over_budget. The last turn
	// comes when two more calls like the one before would not fit, in a sub-agent one more for
	// each agent above it; a run whose calls grow, or
	// whose sub-agents work at once, may end above its limit by what they take beyond that.
	MaxTurns  int   `json:"max_turns,omitempty"`
	MaxTokens int64 `json:"max_tokens,omitempty"`
	// MaxTime is for how long the run tree may work: the time in which model calls and
	// acts are under way, those at once counted once, without the waiting for a person and
	// with what earlier processes worked; 0 means no limit. When it is up, agents get one
	// last turn. What is under way may take as long again, a minute at most; then it
	// is ended, and the run is over_budget.
	MaxTime time.Duration `json:"max_time_ns,omitempty"`
	// MaxImages is how many pictures models may make for the run tree; 0 means no limit. A
	// request for more than are left is refused before any call, with an error to the model.
	MaxImages int64 `json:"max_images,omitempty"`
	// MaxCost is what model calls and generations of the run tree may cost, in US dollars as
	// exact decimal text ("0.25"); empty means no limit, "0" only what is free. An act is
	// refused whose estimate is more than what is left; a model call without a price passes
	// as long as something is left. A model call that is refused ends the run with
	// over_budget; a generation that is refused is an error to the model.
	MaxCost string `json:"max_cost,omitempty"`
	// Deadline is when the run ends, sub-agents and generations included, as
	// media.CodeDeadline and with what was made; zero means never. It is the same for
	// the process that takes the run over.
	Deadline time.Time `json:"deadline,omitzero"`
	// Found are items that [Runner.Prepare] took out of Message and Input, Noted what it
	// has to say about them.
	Found []media.Output `json:"found,omitempty"`
	Noted []string       `json:"noted,omitempty"`
	// Admitted is set where [Runner.Prepare] found that the model takes Images.
	Admitted bool `json:"admitted,omitempty"`
	// Fitted are the forms of Images that it made for the model, so that they are not made again.
	Fitted []vision.FittedImage `json:"fitted,omitempty"`
	// ApproveOver asks a person before every action that would cost more than this many US
	// dollars (exact decimal text, such as 0.05), or whose price is not known. It goes
	// before the approval_over of the definitions; empty leaves it to them.
	ApproveOver string `json:"approve_over,omitempty"`
	// State is from where a paused run continues: the steps that it knows are not done again, see
	// [Runner.Answered]. The other fields are then those of State.Request. Nil begins.
	State *State `json:"-"`
	// Journal makes this run durable; nil means the runner's. A *journal.Transcript is
	// used as it is: with a State, make it with [State.Known].
	Journal journal.Journal `json:"-"`
	// Begun is set where another process may have begun the run tree or this part of it: a call that it
	// made and had no answer to counts, also where it finished no step.
	Begun bool `json:"-"`
	// Closing, if set, is called when the run tree has ended, with how it did, and before that is
	// told. It ends what processes before this one left in it, and gives what came of that. ctx may
	// have ended.
	Closing func(ctx context.Context, status Status) []media.Output `json:"-"`
}

// ImageModelSetting is the setting of a [Result]'s disposition that names an image model which an
// agent named or prefers, and in whose place another one answered.
const ImageModelSetting = "image_model"

// Result is what became of a run. It holds everything that was made, whatever the status.
type Result struct {
	RunID string `json:"run_id"`
	// Conversation is the id of the conversation that the run belongs to, if any.
	Conversation string `json:"conversation_id,omitempty"`
	// Agent is the slug.
	Agent  string `json:"agent"`
	Status Status `json:"status"`
	// Message is the chat text. It may hold placeholders.
	Message string `json:"message"`
	// Payload is a JSON object with placeholders, or null.
	Payload json.RawMessage `json:"payload"`
	// Outputs are the promoted items, AlsoMade the rest of what the run made, in order;
	// without the documents that only repeat a part of Payload.
	Outputs  []media.Output `json:"outputs"`
	AlsoMade []media.Output `json:"also_made"`
	Warnings []string       `json:"warnings"`
	Usage    Usage          `json:"usage"`
	Cost     Cost           `json:"cost"`
	// InputImages came with the message.
	InputImages []vision.InputImage `json:"input_images,omitempty"`
	// Dispositions tell which chat and image models were substituted, and what became of
	// pictures that were changed or left out, and why. A warning names those with
	// [ImageModelSetting] as well.
	Dispositions []generate.Disposition `json:"dispositions,omitempty"`
	// Models are the chat models that answered, in order of first use.
	Models []ModelUse `json:"models,omitempty"`
	// Steps is the log of the whole run tree, with origin paths, in order of completion
	// within each agent.
	Steps []StepRecord `json:"steps,omitempty"`
	Turns int          `json:"turns"`
	// Error says why the run did not succeed.
	Error *action.Problem `json:"error,omitempty"`
	// Pending are the open questions of a run with status paused, the oldest first, and
	// State is what resumes it; see [Runner.Answered]. Otherwise they are nil.
	Pending []Question `json:"pending,omitempty"`
	State   *State     `json:"-"`
	// Evidence is what the sources of the run tree and the person said: what the numbers of
	// a report are compared with when it is rendered. Nil while the run continues or is paused.
	Evidence *evidence.Set `json:"-"`

	all []media.Output
}

// All lists every item of the run, granted ones included, in order.
func (r *Result) All() []media.Output { return r.all }

// Find looks an item of the run up by ref.
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
	// Offline marks rules instead of a language model.
	Offline bool `json:"offline,omitempty"`
}

// Usage is what a run tree counted.
type Usage struct {
	ModelCalls   int   `json:"model_calls"`
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	// Images counts the pictures that models made for the run tree.
	Images int `json:"images"`
	// WorkedMS is for how many milliseconds the run and its sub-agents worked, see
	// [Request].MaxTime.
	WorkedMS int64 `json:"worked_ms"`
}

func (u *Usage) add(v Usage) {
	u.ModelCalls += v.ModelCalls
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
	u.Images += v.Images
}

// Cost is money in US dollars as exact decimal text for the model calls of a run
// tree. Generations are priced by their own operations, which the caller adds.
type Cost struct {
	// EstimatedUSD is the sum over all calls of what is known of each: what its provider
	// reported, else the estimate, which is also what budgets count; nil if nothing is known.
	EstimatedUSD *string `json:"estimated_usd"`
	// ReportedUSD is the part of EstimatedUSD that providers reported; nil if none did.
	ReportedUSD *string `json:"reported_usd"`
	// Complete says that every billable call had a known price.
	Complete bool `json:"complete"`
}

func (c *Cost) add(v Cost) {
	c.EstimatedUSD = AddUSD(c.EstimatedUSD, v.EstimatedUSD)
	c.ReportedUSD = AddUSD(c.ReportedUSD, v.ReportedUSD)
	c.Complete = c.Complete && v.Complete
}

// addCall counts one model call; offline models cost nothing.
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
