package atelier

import (
	"context"

	"atelier/internal/export"
	"atelier/media"
	"atelier/run/subactions"
	"atelier/run/workflows"
	"atelier/workflow"
	"atelier/workflow/module"
	"atelier/workflow/subaction"
)

// newWorkflows creates the service of workflows.
func (a *Atelier) newWorkflows(actions *subaction.Registry) (*workflows.Service, error) {
	c := module.Config{Agents: workflows.Agents{Ledger: a.Ledger}, Exports: export.Exports{Ledger: a.Ledger, Codec: a.Codec}}
	all := module.All(c)
	if a.Config.Modules != nil {
		all = append(all, a.Config.Modules(c)...)
	}
	modules, err := workflow.NewModules(all...)
	if err != nil {
		return nil, err
	}
	return workflows.NewService(workflows.Config{
		Ledger: a.Ledger, Modules: modules, Actions: actions, Runs: a.Runs, Emit: a.observer.Emit, SubActions: a.subActions, Now: now,
	})
}

// newSubActions creates the service of sub-actions.
func (a *Atelier) newSubActions(actions *subaction.Registry) *subactions.Service {
	return subactions.New(subactions.Config{
		Ledger: a.Ledger, Gateway: a.Gateway, Interactions: func() subactions.Interactions { return a.workflows }, Actions: actions, Emit: a.observer.Emit, Now: now,
		Item: func(ctx context.Context, owner, run, id string) (media.Output, error) {
			return workflows.Item(ctx, a.Ledger, owner, run, id)
		},
	})
}

// Workflows returns the service that runs media workflows, shows and edits their interactions, and accepts answers.
func (a *Atelier) Workflows() *workflows.Service { return a.workflows }
