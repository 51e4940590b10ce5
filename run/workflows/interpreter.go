package workflows

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/workflow"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
)

// AgentName is the slug of [Service.Run] among the runner's Go agents.
const AgentName = "workflow"

// The keys of a run's input: JSON texts whose keys keep their order.
const (
	inputDefinition = "definition"
	inputState      = "state"
)

var _ agent.GoAgent = (*Service)(nil).Run

// definition reads a definition. One that was valid in an older program is returned with its problems.
func (s *Service) definition(text []byte) (*workflow.Definition, error) {
	v, err := ordered.Decode(text)
	if err != nil {
		return nil, err
	}
	d, found := workflow.Check(s.cfg.Modules, v)
	return d, problem.Join(found...)
}

// stepDetails is the record of a step; the record of the first step also describes the whole run.
type stepDetails struct {
	ModuleID   string          `json:"module_id"`
	Title      string          `json:"title,omitempty"`
	Definition json.RawMessage `json:"definition,omitempty"`
	State      json.RawMessage `json:"state,omitempty"`
}

// Run is the agent that executes the steps of a definition in order. The payload of the answer is the state.
func (s *Service) Run(ctx context.Context, c *agent.Context) (agent.Answer, error) {
	text, _ := c.Input[inputDefinition].(string)
	if text == "" {
		return agent.Answer{}, media.Errorf(media.CodeInvalid, "the input has no definition: start workflows with atelier workflow run or the API")
	}
	first, _ := c.Input[inputState].(string)
	w := &walk{
		service: s, c: c, owner: media.ScopeOf(ctx).Owner,
		text: json.RawMessage(text), first: json.RawMessage(cmp.Or(first, "{}")), results: &ordered.Object{},
	}
	var err error
	if w.workflow, err = s.definition(w.text); err != nil {
		return agent.Answer{}, err
	}
	if w.state, err = ordered.DecodeObject(w.first); err != nil {
		return agent.Answer{}, err
	}
	for i, step := range w.workflow.Steps {
		if err := w.step(ctx, i, step); err != nil {
			return agent.Answer{}, err
		}
	}
	state, _ := ordered.Plain(w.state).(map[string]any)
	return agent.Answer{Message: w.workflow.Title, Payload: map[string]any{"state": state}}, nil
}

// walk is one execution of a definition.
type walk struct {
	service *Service
	c       *agent.Context
	owner   string
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
	stage, err := w.c.Stage(ctx, i+1, s.ID, ledger.JSON(say))
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
	module, err := w.service.cfg.Modules.Find(s.ModuleID)
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
	i, err := workflow.Open(*r, nil, w.service.cfg.Actions)
	if err == nil {
		err = i.Answerable()
	}
	if err != nil {
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
		id, title, err := w.open(ctx, s, request)
		if err != nil {
			return "", nil, err
		}
		stage.Emit(ctx, agent.EventInteractionOpened, agent.InteractionEvent{InteractionID: id, StepID: s.ID, Title: title})
		schema := ledger.JSON(map[string]any{ // only the interaction's own answer matches
			"type": "object", "required": []string{"interaction_id"}, "additionalProperties": false,
			"properties": map[string]any{
				"interaction_id": map[string]any{"const": id}, "answer": map[string]any{"type": "object"}, "expired": map[string]any{"const": true},
			},
		})
		return fmt.Sprintf("Step %s is waiting for a person: %.200s", s.ID, cmp.Or(title, s.Title, s.ID)), schema, nil
	})
	if err != nil {
		return g, err
	}
	if err := json.Unmarshal(reply.Value, &g); err != nil {
		return g, media.Errorf(media.CodeCorrupt, "read the answer of step %s: %w", s.ID, err)
	}
	return g, nil
}

// open saves the interaction of a step, or finds the open one, and returns its id and title.
func (w *walk) open(ctx context.Context, s workflow.Step, request []byte) (id, title string, err error) {
	var r workflow.InteractionRequest
	if err := json.Unmarshal(request, &r); err != nil {
		return "", "", media.Errorf(media.CodeCorrupt, "read the request of step %s: %w", s.ID, err)
	}
	data := r.DisplayData
	r.DisplayData, r.View, r.Version, r.StandIn = nil, nil, 0, w.workflow.StandIn
	i := ledger.Interaction{ID: "wi_" + uuid.Must(uuid.NewV7()).String(), Owner: w.owner, WorkflowRunID: w.c.RunID(), StepID: s.ID, Request: ledger.JSON(r), Data: ordered.Encode(data)}
	if wait := w.workflow.StepTimeout(s); wait > 0 {
		i.ExpiresAt = w.service.cfg.Now().Add(wait)
	}
	i, err = w.service.cfg.Ledger.CreateInteraction(ctx, i)
	return i.ID, r.Title, err
}

// answered closes the interaction, returns the module's result, and records the choice.
func (w *walk) answered(ctx context.Context, stage *agent.Stage, m workflow.Module, run workflow.Run, g interactionAnswer) (*ordered.Object, error) {
	_, asks := m.(workflow.AgentModule)
	var out *ordered.Object
	b, err := stage.Step(ctx, func(ctx context.Context) ([]byte, error) {
		status := ledger.InteractionAnswered
		if g.Expired {
			status = ledger.InteractionExpired
		}
		row, err := w.service.close(ctx, w.owner, g.InteractionID, status, g.Answer)
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
			err = w.service.cfg.Ledger.SelectContents(ctx, w.owner, g.InteractionID, ids, w.service.cfg.Now())
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
	row, err := w.service.cfg.Ledger.Interaction(ctx, w.owner, g.InteractionID)
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
	if run.Interaction, err = openRow(row, w.service.cfg.Actions); err != nil {
		return nil, err
	}
	return workflow.ParseAnswer(g.Answer)
}
