package media

import "context"

// Scope says on whose behalf and in which run something happens. A ref means
// something only inside its run tree; missing scope denies.
type Scope struct {
	// Owner is the person or tenant; "local" for the command line.
	Owner string
	// Tree is the id of the root run. Wire tokens are signed for it.
	Tree string
	// Run, Step and PromptRun are the ledger ids of what is running now; empty where there is none.
	Run       string
	Step      string
	PromptRun string
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
