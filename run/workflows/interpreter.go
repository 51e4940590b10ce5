package workflows

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/workflow"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
	"atelier/workflow/subaction"
)

// AgentName is the slug of the [Interpreter] among the runner's Go agents.
const AgentName = "workflow"

// The keys of a run's input: JSON texts whose keys keep their order.
const (
	inputDefinition = "definition"
	inputState      = "state"
)

// Config is the configuration of an [Interpreter]. Ledger, Modules and Actions are required.
type Config struct {
	Ledger  ledger.Store
	Modules *workflow.Modules
	Actions *subaction.Registry
	// Now is the clock; nil means time.Now in UTC.
	Now func() time.Time
	// NewID returns ids of interactions, which begin with wi_; nil means UUIDv7.
	NewID func() string
}

// Interpreter is the agent that executes a definition.
type Interpreter struct{ cfg Config }

// NewInterpreter returns an interpreter. The error has code media.CodeInvalid.
func NewInterpreter(c Config) (*Interpreter, error) {
	if c.Ledger == nil || c.Modules == nil || c.Actions == nil {
		return nil, media.Errorf(media.CodeInvalid, "workflows.Config requires Ledger, Modules and Actions")
	}
	if c.Now == nil {
		c.Now = func() time.Time { return time.Now().UTC() } //nolint:forbidigo // the default clock
	}
	if c.NewID == nil {
		c.NewID = func() string { return "wi_" + uuid.Must(uuid.NewV7()).String() }
	}
	return &Interpreter{cfg: c}, nil
}

// Modules returns the modules that workflows can use.
func (in *Interpreter) Modules() *workflow.Modules { return in.cfg.Modules }

var _ agent.GoAgent = (*Interpreter)(nil).Run

// definition reads a definition. One that was valid in an older program is returned with its problems.
func (in *Interpreter) definition(text []byte) (*workflow.Definition, error) {
	v, err := ordered.Decode(text)
	if err != nil {
		return nil, err
	}
	d, found := workflow.Check(in.cfg.Modules, v)
	return d, problem.Join(found...)
}

// stepDetails is the record of a step; the record of the first step also describes the whole run.
type stepDetails struct {
	ModuleID   string          `json:"module_id"`
	Title      string          `json:"title,omitempty"`
	Definition json.RawMessage `json:"definition,omitempty"`
	State      json.RawMessage `json:"state,omitempty"`
}

// Run executes the steps of a definition in order. The payload of the answer is the state.
func (in *Interpreter) Run(ctx context.Context, c *agent.Context) (agent.Answer, error) {
	text, _ := c.Input[inputDefinition].(string)
	if text == "" {
		return agent.Answer{}, media.Errorf(media.CodeInvalid, "the input has no definition: start workflows with atelier workflow run or the API")
	}
	first, _ := c.Input[inputState].(string)
	w := &walk{
		Interpreter: in, c: c, owner: media.ScopeOf(ctx).Owner,
		text: json.RawMessage(text), first: json.RawMessage(cmp.Or(first, "{}")), results: &ordered.Object{},
	}
	var err error
	if w.workflow, err = in.definition(w.text); err != nil {
		return agent.Answer{}, err
	}
	if w.state, err = ordered.DecodeObject(w.first); err != nil {
		return agent.Answer{}, err
	}
	for i, s := range w.workflow.Steps {
		if err := w.step(ctx, i, s); err != nil {
			return agent.Answer{}, err
		}
	}
	state, _ := ordered.Plain(w.state).(map[string]any)
	return agent.Answer{Message: w.workflow.Title, Payload: map[string]any{"state": state}}, nil
}

// walk is one execution of a definition.
type walk struct {
	*Interpreter
	c     *agent.Context
	owner string
	// text is the definition and first the initial state, as given.
	text, first json.RawMessage
	workflow    *workflow.Definition
	state       *ordered.Object
	results     *ordered.Object // by step
}

// step executes a step and puts its result into the state.
func (w *walk) step(ctx context.Context, i int, s workflow.Step) error {
	say := stepDetails{ModuleID: s.ModuleID, Title: s.Title}
	if i == 0 {
		say.Definition, say.State = w.text, w.first
	}
	params, err := json.Marshal(say)
	if err != nil {
		return media.Errorf(media.CodeInternal, "write step %s: %w", s.ID, err)
	}
	stage, err := w.c.Stage(ctx, i+1, s.ID, params)
	if err != nil {
		return err
	}
	out, err := w.do(ctx, stage, s)
	var next *ordered.Object
	if err == nil {
		next, err = s.Store(w.state, out)
	}
	if err != nil && !errors.Is(err, agent.ErrPaused) {
		e := media.Errorf(media.CodeOf(err), "step %s: %w", s.ID, err)
		e.Retryable = media.Retryable(err)
		err = e
	}
	var result json.RawMessage
	if err == nil {
		result = ordered.Encode(out)
	}
	if err := stage.End(ctx, result, err); err != nil {
		return err
	}
	w.results.Set(s.ID, out)
	w.state = next
	return nil
}

// do executes the module of a step.
func (w *walk) do(ctx context.Context, stage *agent.Stage, s workflow.Step) (*ordered.Object, error) {
	module, err := w.cfg.Modules.Find(s.ModuleID)
	if err != nil {
		return nil, err
	}
	inputs, err := s.Resolve(w.state, w.results)
	if err != nil {
		return nil, err
	}
	if err := workflow.CheckInputs(module, inputs); err != nil {
		return nil, err
	}
	run := workflow.Run{WorkflowRunID: w.c.RunID(), StepID: s.ID, Owner: w.owner, Inputs: inputs, State: w.state}
	request, err := stage.Step(ctx, func(ctx context.Context) ([]byte, error) { return w.request(ctx, module, run) })
	if err != nil {
		return nil, err
	}
	if string(request) == "null" {
		return w.execute(ctx, stage, module, run, nil)
	}
	given, err := w.ask(ctx, stage, s, request)
	if err != nil {
		return nil, err
	}
	return w.answered(ctx, stage, module, run, given)
}

// request returns the module's request to a person as JSON, or null if it has none.
func (w *walk) request(ctx context.Context, m workflow.Module, run workflow.Run) ([]byte, error) {
	r, err := m.Request(ctx, run)
	if r == nil || err != nil {
		return []byte("null"), err
	}
	r.WorkflowRunID = run.WorkflowRunID
	if _, err := workflow.Open(*r, nil, w.cfg.Actions); err != nil {
		return nil, err
	}
	return json.Marshal(r)
}

type stageKey struct{}

// execute returns the module's result. The module runs as one step of the journal, unless it calls agents, which have
// their own steps.
func (w *walk) execute(ctx context.Context, stage *agent.Stage, m workflow.Module, run workflow.Run, answer *workflow.Answer) (*ordered.Object, error) {
	if _, asks := m.(workflow.AgentModule); asks {
		return m.Execute(context.WithValue(ctx, stageKey{}, stage), run, answer)
	}
	b, err := stage.Step(ctx, func(ctx context.Context) ([]byte, error) {
		out, err := m.Execute(ctx, run, answer)
		if err != nil {
			return nil, err
		}
		return ordered.Encode(out), nil
	})
	if err != nil {
		return nil, err
	}
	return ordered.DecodeObject(b)
}

// interactionAnswer is the value that answers the question of an interaction.
type interactionAnswer struct {
	InteractionID string          `json:"interaction_id"`
	Answer        json.RawMessage `json:"answer,omitempty"`
	// Expired means a timeout without an answer.
	Expired bool `json:"expired,omitempty"`
}

// ask opens the interaction of a step and waits for its answer.
func (w *walk) ask(ctx context.Context, stage *agent.Stage, s workflow.Step, request []byte) (g interactionAnswer, err error) {
	reply, err := stage.Ask(ctx, func(ctx context.Context) (string, json.RawMessage, error) {
		kept, err := w.open(ctx, s, request)
		if err != nil {
			return "", nil, err
		}
		stage.Emit(ctx, agent.EventInteractionOpened, agent.InteractionEvent{InteractionID: kept.ID, StepID: s.ID, Title: titleOf(kept)})
		schema, err := json.Marshal(map[string]any{ // only the interaction's own answer matches
			"type": "object", "required": []string{"interaction_id"}, "additionalProperties": false,
			"properties": map[string]any{
				"interaction_id": map[string]any{"const": kept.ID}, "answer": map[string]any{"type": "object"}, "expired": map[string]any{"const": true},
			},
		})
		return fmt.Sprintf("Step %s is waiting for a person: %.200s", s.ID, cmp.Or(titleOf(kept), s.Title, s.ID)), schema, err
	})
	if err != nil {
		return g, err
	}
	if err := json.Unmarshal(reply.Value, &g); err != nil {
		return g, media.Errorf(media.CodeCorrupt, "read the answer of step %s: %w", s.ID, err)
	}
	return g, nil
}

// open saves the interaction of a step, or finds the open one.
func (w *walk) open(ctx context.Context, s workflow.Step, request []byte) (ledger.Interaction, error) {
	var r workflow.InteractionRequest
	if err := json.Unmarshal(request, &r); err != nil {
		return ledger.Interaction{}, media.Errorf(media.CodeCorrupt, "read the request of step %s: %w", s.ID, err)
	}
	data := r.DisplayData
	r.DisplayData, r.View, r.Version, r.StandIn = nil, nil, 0, w.workflow.StandIn
	text, err := json.Marshal(r)
	if err != nil {
		return ledger.Interaction{}, media.Errorf(media.CodeInternal, "write the request of step %s: %w", s.ID, err)
	}
	i := ledger.Interaction{ID: w.cfg.NewID(), Owner: w.owner, WorkflowRunID: w.c.RunID(), StepID: s.ID, Request: text, Data: ordered.Encode(data)}
	if wait := w.workflow.StepTimeout(s); wait > 0 {
		i.ExpiresAt = w.cfg.Now().Add(wait)
	}
	return w.cfg.Ledger.CreateInteraction(ctx, i)
}

func titleOf(i ledger.Interaction) string {
	var r struct{ Title string }
	_ = json.Unmarshal(i.Request, &r) // unreadable data has no title
	return r.Title
}

// answered closes the interaction, returns the module's result, and records the choice.
func (w *walk) answered(ctx context.Context, stage *agent.Stage, m workflow.Module, run workflow.Run, g interactionAnswer) (*ordered.Object, error) {
	_, asks := m.(workflow.AgentModule)
	var out *ordered.Object
	b, err := stage.Step(ctx, func(ctx context.Context) ([]byte, error) {
		row, err := w.closeAs(ctx, w.owner, g)
		if err != nil || g.Expired {
			return []byte("null"), err
		}
		answer, err := w.parseAnswer(&run, row, g)
		if err == nil && !asks {
			out, err = m.Execute(ctx, run, answer)
		}
		if err != nil {
			return nil, err
		}
		if ids := answer.Chosen(); len(ids) > 0 {
			err = w.cfg.Ledger.SelectContents(ctx, w.owner, g.InteractionID, ids, w.cfg.Now())
		}
		if media.CodeOf(err) == media.CodeNotFound {
			err = nil // results without a sub-action have no row
		}
		return ordered.Encode(out), err
	})
	if err != nil {
		return nil, err
	}
	if g.Expired {
		return nil, media.Errorf(media.CodeDeadline, "the interaction timed out without an answer: fork the run from this step to ask again")
	}
	stage.Emit(ctx, agent.EventInteractionAnswered, agent.InteractionEvent{InteractionID: g.InteractionID, StepID: run.StepID})
	if !asks {
		return ordered.DecodeObject(b)
	}
	row, err := w.cfg.Ledger.Interaction(ctx, w.owner, g.InteractionID)
	if err != nil {
		return nil, err
	}
	answer, err := w.parseAnswer(&run, row, g)
	if err != nil {
		return nil, err
	}
	return w.execute(ctx, stage, m, run, answer)
}

// parseAnswer parses an answer and sets the interaction of run.
func (w *walk) parseAnswer(run *workflow.Run, row ledger.Interaction, g interactionAnswer) (a *workflow.Answer, err error) {
	if run.Interaction, err = openRow(row, w.cfg.Actions); err != nil {
		return nil, err
	}
	return workflow.ParseAnswer(g.Answer)
}

// closeAs closes the interaction of an answer, if it is open, and returns its row.
func (in *Interpreter) closeAs(ctx context.Context, owner string, g interactionAnswer) (ledger.Interaction, error) {
	if g.Expired {
		return in.close(ctx, owner, g.InteractionID, ledger.Interaction{Status: ledger.InteractionExpired})
	}
	return in.close(ctx, owner, g.InteractionID, ledger.Interaction{Status: ledger.InteractionAnswered, Answer: g.Answer, AnsweredAt: in.cfg.Now()})
}

// close closes an interaction with the status, answer and time of end, if it is open, and returns its row.
func (in *Interpreter) close(ctx context.Context, owner, id string, end ledger.Interaction) (ledger.Interaction, error) {
	for {
		row, err := in.cfg.Ledger.Interaction(ctx, owner, id)
		if err != nil || row.Status != ledger.InteractionOpen {
			return row, err
		}
		base := row.Version
		row.Status, row.Answer, row.AnsweredAt = end.Status, end.Answer, end.AnsweredAt
		err = in.cfg.Ledger.ChangeInteraction(ctx, row, base)
		if code := media.CodeOf(err); code != media.CodeVersion && code != media.CodeConflict {
			return row, err
		}
	}
}
