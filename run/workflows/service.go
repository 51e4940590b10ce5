package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
	"atelier/run/record"
	"atelier/workflow"
	"atelier/workflow/ordered"
	"atelier/workflow/subaction"
)

// SubActions are the generations that people start in interactions.
type SubActions interface {
	// Running counts the unfinished sub-actions of an interaction.
	Running(ctx context.Context, owner, interactionID string) (int, error)
	// CancelAll cancels the unfinished sub-actions of an interaction.
	CancelAll(ctx context.Context, owner, interactionID string) error
}

// Config configures a [Service]. All fields are required.
type Config struct {
	Ledger  ledger.Store
	Modules *workflow.Modules
	Actions *subaction.Registry
	// Runs returns the service of runs, whose runner has [Service.Run] as its Go agent [AgentName].
	Runs func(ctx context.Context) (*run.Service, error)
	// Emit adds an event to the log of a run; record.Observer.Emit implements it.
	Emit       func(ctx context.Context, e agent.Event)
	SubActions SubActions
	Now        func() time.Time
}

// Service starts and executes workflow runs, reports their status, and takes people's edits and answers. It is safe for
// concurrent use.
type Service struct {
	cfg Config
	// exclusive is held, by hash of the interaction's id, while an answer is accepted and while an edit is saved. Edits of
	// this process therefore cannot come between the check of an answer and the end of its interaction.
	exclusive [64]sync.Mutex
	seed      maphash.Seed
}

// NewService returns a service. The error has code media.CodeInvalid.
func NewService(c Config) (*Service, error) {
	if c.Ledger == nil || c.Modules == nil || c.Actions == nil || c.Runs == nil || c.Emit == nil || c.SubActions == nil || c.Now == nil {
		return nil, media.Errorf(media.CodeInvalid, "workflows.Config requires Ledger, Modules, Actions, Runs, Emit, SubActions and Now")
	}
	return &Service{cfg: c, seed: maphash.MakeSeed()}, nil
}

// Modules returns the modules that workflows can use.
func (s *Service) Modules() *workflow.Modules { return s.cfg.Modules }

// Actions returns the actions that people can start in interactions; a program may register more.
func (s *Service) Actions() *subaction.Registry { return s.cfg.Actions }

// lock excludes other edits and answers of an interaction until unlock is called.
func (s *Service) lock(id string) (unlock func()) {
	mu := &s.exclusive[maphash.String(s.seed, id)%uint64(len(s.exclusive))]
	mu.Lock()
	return mu.Unlock
}

// StartRequest describes a run to start.
type StartRequest struct {
	// Owner is the owner of the run; empty means "local".
	Owner string
	// ID is the id of the run; empty generates one.
	ID string
	// Definition is required; see [workflow.Read].
	Definition *workflow.Definition
	// State is the initial state; nil means an empty one.
	State *ordered.Object
}

// Start starts a run. For a state that does not match the definition's state_schema, the error has code
// media.CodeInvalid and pointers below /state.
func (s *Service) Start(ctx context.Context, n StartRequest) (*run.Run, error) {
	if n.Definition == nil {
		return nil, media.Errorf(media.CodeInvalid, "workflows.StartRequest.Definition is missing: read one with workflow.Read")
	}
	if n.State == nil {
		n.State = &ordered.Object{}
	}
	if err := n.Definition.CheckState(n.State); err != nil {
		return nil, err
	}
	runs, err := s.cfg.Runs(ctx)
	if err != nil {
		return nil, err
	}
	return runs.Start(ctx, agent.Request{
		RunID: n.ID, Owner: n.Owner, Agent: AgentName, Message: n.Definition.Title,
		Input: map[string]any{inputDefinition: string(ledger.JSON(n.Definition)), inputState: string(ordered.Encode(n.State))},
	})
}

// Status is the status of a run.
type Status struct {
	ledger.Run
	// Definition is nil until the first step has started.
	Definition *workflow.Definition
	// State is the state after the finished steps.
	State *ordered.Object
	// Interaction is the id of the interaction for which the run waits; empty if there is none.
	Interaction string
	Steps       []StepStatus
}

// StepStatus is the status of a step, empty before it has started.
type StepStatus struct {
	workflow.Step
	Status  ledger.Status
	Failure ledger.Failure
	// Interactions are the ids of the step's interactions, oldest first.
	Interactions          []string
	StartedAt, FinishedAt time.Time
}

// Status reads a run. If it is not a workflow run, the error has code media.CodeNotFound.
func (s *Service) Status(ctx context.Context, owner, id string) (Status, error) {
	row, err := s.row(ctx, owner, id)
	if err != nil {
		return Status{}, err
	}
	st := Status{Run: row, State: &ordered.Object{}, Steps: []StepStatus{}}
	records, err := ledger.AllOf(ctx, s.cfg.Ledger.ListSteps, owner, id)
	records = slices.DeleteFunc(records, func(r ledger.Step) bool { return r.Kind != string(agent.StepCode) }) // without the steps of its agents
	if err != nil || len(records) == 0 {
		return st, err
	}
	var first stepDetails
	if err := json.Unmarshal(records[0].Params, &first); err != nil {
		return st, media.Errorf(media.CodeCorrupt, "read the first step of run %s: %w", id, err)
	}
	if st.Definition, err = s.definition(first.Definition); st.Definition == nil {
		return st, err
	}
	if st.State, err = ordered.DecodeObject(first.State); err != nil {
		return st, err
	}
	interactions, err := s.cfg.Ledger.ListInteractions(ctx, owner, id)
	if err != nil {
		return st, err
	}
	if err := s.completePaused(ctx, &st); err != nil {
		return st, err
	}
	for i, step := range st.Definition.Steps {
		v := StepStatus{Step: step, Interactions: []string{}}
		for _, w := range interactions {
			if w.StepID != step.ID {
				continue
			}
			v.Interactions = append(v.Interactions, w.ID)
			if w.Status == ledger.InteractionOpen && st.Status == ledger.StatusPaused {
				st.Interaction = w.ID
			}
		}
		if at := slices.IndexFunc(records, func(r ledger.Step) bool { return r.Turn == i+1 }); at >= 0 {
			if err := v.fillFrom(records[at], &st); err != nil {
				return st, err
			}
		}
		st.Steps = append(st.Steps, v)
	}
	return st, nil
}

// completePaused shows a paused run as running until its question is saved, because until then it cannot be answered,
// and adds the cost of the generations since then.
func (s *Service) completePaused(ctx context.Context, st *Status) error {
	if st.Status != ledger.StatusPaused {
		return nil
	}
	state, err := s.cfg.Ledger.RunState(ctx, st.Owner, st.ID)
	if code := media.CodeOf(err); err != nil && code != media.CodeNotFound {
		return err
	}
	if state.Status != ledger.WaitPaused {
		st.Status = ledger.StatusRunning
		return nil
	}
	ops, err := ledger.All(func(p ledger.Page) (ledger.List[ledger.Operation], error) {
		return s.cfg.Ledger.ListOperations(ctx, st.Owner, ledger.OperationQuery{Tree: st.ID, Page: p})
	})
	for _, op := range ops {
		if !op.CreatedAt.Before(state.AskedAt) {
			st.Cost = ledger.Cost(record.WithGeneration(agent.Cost(st.Cost), op))
		}
	}
	return err
}

// fillFrom copies the record of a step and stores its result in the state.
func (v *StepStatus) fillFrom(r ledger.Step, st *Status) error {
	v.Status, v.StartedAt, v.FinishedAt = r.Status, r.StartedAt, r.FinishedAt
	if ended := !st.FinishedAt.IsZero(); ended && (r.Status == ledger.StatusPaused || r.Status == ledger.StatusRunning) {
		v.Status = st.Status // the run was ended from outside
	}
	if r.Status == ledger.StatusFailed {
		v.Failure = ledger.Failure{Code: r.Code, Message: r.Message}
	}
	if r.Status != ledger.StatusSucceeded {
		return nil
	}
	out, err := ordered.DecodeObject(r.Outputs)
	if err != nil {
		return media.Errorf(media.CodeCorrupt, "read the result of step %s: %w", v.ID, err)
	}
	st.State, err = v.Store(st.State, out)
	return err
}

// row reads the row of a workflow run.
func (s *Service) row(ctx context.Context, owner, id string) (ledger.Run, error) {
	row, err := s.cfg.Ledger.Run(ctx, owner, id)
	if media.CodeOf(err) == media.CodeNotFound || err == nil && (row.Agent != AgentName || row.Parent != "") {
		return row, media.Errorf(media.CodeNotFound, "there is no workflow run %.64q", media.ErrorText(id))
	}
	return row, err
}

// RunSummary is a run in a list.
type RunSummary struct {
	ledger.Run
	// WorkflowID is empty until the first step has started.
	WorkflowID string
}

// List lists runs, newest first.
func (s *Service) List(ctx context.Context, owner string, status ledger.Status, p ledger.Page) (ledger.List[RunSummary], error) {
	list, err := s.cfg.Ledger.ListRuns(ctx, owner, ledger.RunQuery{Roots: true, Agent: AgentName, Status: status, Page: p})
	out := ledger.List[RunSummary]{Next: list.Next, Items: []RunSummary{}}
	if err != nil {
		return out, err
	}
	for _, row := range list.Items {
		first, err := s.cfg.Ledger.ListSteps(ctx, owner, row.ID, ledger.Page{Limit: 1})
		if err != nil {
			return out, err
		}
		h := RunSummary{Run: row}
		if len(first.Items) > 0 {
			var step struct{ Definition struct{ ID string } }
			_ = json.Unmarshal(first.Items[0].Params, &step) // an unreadable record has no id
			h.WorkflowID = step.Definition.ID
		}
		out.Items = append(out.Items, h)
	}
	return out, nil
}

// Cancel cancels a run in any process, with its open interaction and all its running sub-actions.
func (s *Service) Cancel(ctx context.Context, owner, id string) error {
	if _, err := s.row(ctx, owner, id); err != nil {
		return err
	}
	runs, err := s.cfg.Runs(ctx)
	if err != nil {
		return err
	}
	if err := runs.End(ctx, owner, id); err != nil {
		return err
	}
	list, err := s.cfg.Ledger.ListInteractions(ctx, owner, id)
	if err != nil {
		return err
	}
	for _, i := range list {
		if i.Status == ledger.InteractionOpen {
			_, failed := s.close(ctx, owner, i.ID, ledger.InteractionCancelled, nil)
			err = errors.Join(err, failed)
		}
		err = errors.Join(err, s.cfg.SubActions.CancelAll(ctx, owner, i.ID))
	}
	return err
}

// Fork starts a run that keeps the steps of another run before a given step and repeats that step and the later ones.
// An empty step means the first one. For a step that has not started, the error has code media.CodeInvalid. NewID is the
// id of the new run; empty means a generated one.
func (s *Service) Fork(ctx context.Context, owner, id, step, newID string) (*run.Run, error) {
	st, err := s.Status(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	var started []string
	at := -1
	for i, v := range st.Steps {
		if v.Status != "" {
			started = append(started, v.ID)
		}
		if v.Status != "" && (v.ID == step || step == "" && i == 0) {
			at = i
		}
	}
	switch {
	case len(started) == 0:
		return nil, media.Errorf(media.CodeInvalid, "run %s has not started its first step: start the workflow again", id)
	case at < 0:
		e := media.Errorf(media.CodeInvalid, "run %s has not started a step %.80q: fork it from one of %s", id, media.ErrorText(step), strings.Join(started, ", "))
		e.Valid = started
		return nil, e
	}
	runs, err := s.cfg.Runs(ctx)
	if err != nil {
		return nil, err
	}
	return runs.Fork(ctx, owner, id, run.Fork{ID: newID, From: agent.StageName(at + 1)})
}
