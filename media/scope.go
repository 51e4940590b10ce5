package media

import "context"

// Scope is the owner and the run of an operation. A ref is valid only inside its run tree; without
// a scope, access is denied.
type Scope struct {
	// Owner is the person or tenant; "local" for the command line.
	Owner string
	// Tree is the id of the root run. Wire tokens are signed for it.
	Tree string
	// Run, Step and PromptRun are the ledger ids of what is in progress; empty if there is none.
	Run       string
	Step      string
	PromptRun string
	// SubAction is the metadata id of the workflow sub-action that a person started, if any.
	SubAction string
	// Operation is the generation in progress, if any.
	Operation string
	// AgentPath is the path from the root agent, separated by slashes.
	AgentPath string
}

type scopeKey struct{}

// WithScope returns a context that carries the scope of a run, a step or a call.
func WithScope(ctx context.Context, s Scope) context.Context {
	return context.WithValue(ctx, scopeKey{}, s)
}

// ScopeOf returns the scope of ctx, or the zero scope if there is none.
func ScopeOf(ctx context.Context) Scope {
	s, _ := ctx.Value(scopeKey{}).(Scope)
	return s
}
