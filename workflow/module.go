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

// Module does the step of a workflow. Its methods may be called again for the same run after a
// crash; what they change outside must bear that.
type Module interface {
	// ID is the module_id of definitions, such as media.generation.
	ID() string
	// InputSchema is the JSON Schema of its inputs.
	InputSchema() *ordered.Object
	// Request returns the interaction at which the run waits for a person, nil for a module that is not
	// interactive. The engine sets the ids, the view and the version.
	Request(ctx context.Context, run Run) (*InteractionRequest, error)
	// Execute does the step, with the person's answer if there was an interaction, and gives its
	// result. Answers that break the rules of the interaction are media.CodeInvalid with pointers.
	Execute(ctx context.Context, run Run, answer *Answer) (*ordered.Object, error)
}

// AgentModule is a [Module] whose Execute asks agents. What they do is journalled by itself, so
// that Execute runs again in each replay and is to do nothing else that lasts.
type AgentModule interface {
	Module
	// AsksAgents marks the module.
	AsksAgents()
}

// Checker is a [Module] that checks inputs when a workflow is registered. Inputs that come from
// state or earlier steps are still templates. Pointers are those of the inputs.
type Checker interface {
	Check(inputs *ordered.Object) []problem.Problem
}

// Run is what a module knows of its run.
type Run struct {
	WorkflowRunID, StepID string
	// Owner is whose run it is.
	Owner string
	// Inputs are resolved and keep InputSchema; State is what earlier steps left.
	Inputs, State *ordered.Object
	// Interaction is the one that was answered; nil if there was none.
	Interaction *Interaction
}

// Modules finds modules by id. It is immutable and safe for concurrent use.
type Modules struct{ byID map[string]Module }

// NewModules creates a registry. Two modules of one id are media.CodeConflict.
func NewModules(modules ...Module) (*Modules, error) {
	m := &Modules{byID: map[string]Module{}}
	for _, one := range modules {
		if m.byID[one.ID()] != nil {
			return nil, media.Errorf(media.CodeConflict, "module %s is registered twice", one.ID())
		}
		m.byID[one.ID()] = one
	}
	return m, nil
}

// Find returns a module; an unknown one is media.CodeNotFound.
func (m *Modules) Find(id string) (Module, error) {
	if one := m.byID[id]; one != nil {
		return one, nil
	}
	return nil, media.Errorf(media.CodeNotFound, "module %s is unknown: the modules are %s", media.ErrorText(id), strings.Join(m.IDs(), ", "))
}

// IDs lists the modules.
func (m *Modules) IDs() []string { return slices.Sorted(maps.Keys(m.byID)) }
