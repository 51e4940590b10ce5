package media

import "context"

// Scope is the owner and the run of an operation. A ref is valid only inside its run tree; without
// a scope, access is denied.
type Scope struct {
	// Owner is the person or tenant; "local" for the command line.
	Owner string
	// Tree is the id of the root run. Wire tokens are signed for it.
	Tree string
	// Run, Step and PromptRun are the ledger ids of what is running now; empty where there is none.
	Run       string
	Step      string
	PromptRun string
	// SubAction is the metadata id of the sub-action of a workflow that a person started, if it is one's.
	SubAction string
	// Operation is the generation in flight, if any.
	Operation string
	// AgentPath is the way from the root agent, slash separated.
	AgentPath string
}

type scopeKey struct{}

// WithScope puts the scope into the context of a run, a step or a call.
func WithScope(ctx context.Context, s Scope) context.Context {
	return context.WithValue(ctx, scopeKey{}, s)
}

// ScopeOf reads the scope; the zero scope if there is none.
func ScopeOf(ctx context.Context) Scope {
	s, _ := ctx.Value(scopeKey{}).(Scope)
	return s
}
