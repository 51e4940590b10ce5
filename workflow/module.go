package workflow

import (
	"context"
	"maps"
	"slices"
	"strings"

	"atelier/media"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
)

// Module implements a step of a workflow. After a crash, its methods may be called again for the same run, so any
// external effects must be repeatable.
type Module interface {
	// ID returns the module_id in definitions, such as media.generation.
	ID() string
	// InputSchema returns the JSON Schema of the inputs.
	InputSchema() *ordered.Object
	// Request returns the interaction at which the run waits for a person, or nil for a module without interaction. The
	// engine sets the ids, the view and the version.
	Request(ctx context.Context, run Run) (*InteractionRequest, error)
	// Execute executes the step, with the person's answer if there was an interaction, and returns its result. The
	// error for an answer that violates the rules of the interaction has code media.CodeInvalid, with pointers.
	Execute(ctx context.Context, run Run, answer *Answer) (*ordered.Object, error)
}

// AgentModule is a [Module] whose Execute asks agents. The work of agents is journalled separately, so Execute runs
// again in each replay and must have no other lasting effects.
type AgentModule interface {
	Module
	// AsksAgents marks the module as an AgentModule.
	AsksAgents()
}

// Checker is a [Module] that checks its inputs when a workflow is registered. At that time, inputs from the state or
// from earlier steps are still templates. Pointers are relative to the inputs.
type Checker interface {
	Check(inputs *ordered.Object) []problem.Problem
}

// Described is a [Module] whose result has known keys. Inputs are those of [Checker].
type Described interface {
	ResultKeys(inputs *ordered.Object) []string
}

// Run is the information that a module has about its run.
type Run struct {
	WorkflowRunID, StepID string
	// Owner is the owner of the run.
	Owner string
	// Inputs are resolved and match InputSchema. State is the state after the earlier steps.
	Inputs, State *ordered.Object
	// Interaction is the answered interaction; nil if there was none.
	Interaction *Interaction
}

// Modules finds modules by id. It is immutable and safe for concurrent use.
type Modules struct{ byID map[string]Module }

// NewModules creates a registry. The error has code media.CodeConflict for two modules with the same id, and
// media.CodeInvalid for nil.
func NewModules(modules ...Module) (*Modules, error) {
	m := &Modules{byID: map[string]Module{}}
	for i, one := range modules {
		if one == nil {
			return nil, media.Errorf(media.CodeInvalid, "module %d of %d is nil: omit it", i+1, len(modules))
		}
		if m.byID[one.ID()] != nil {
			return nil, media.Errorf(media.CodeConflict, "module %s is registered twice", one.ID())
		}
		m.byID[one.ID()] = one
	}
	return m, nil
}

// Find returns a module. The error for an unknown module has code media.CodeNotFound.
func (m *Modules) Find(id string) (Module, error) {
	if one := m.byID[id]; one != nil {
		return one, nil
	}
	return nil, media.Errorf(media.CodeNotFound, "module %s is unknown: the modules are %s", media.ErrorText(id), strings.Join(slices.Sorted(maps.Keys(m.byID)), ", "))
}
