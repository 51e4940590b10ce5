package action

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"

	"atelier/media"
)

// Env is the environment of one invocation.
type Env struct {
	// Media is the media set of the run; required.
	Media *media.Set
	// Agent is the slug of the caller; Prefer lists its preferred image models.
	Agent  string
	Prefer []string
	// ToolContext is copied to [Call].
	ToolContext ToolContext
	// Threshold overrides [Config.Threshold] for this agent; 0 keeps it.
	Threshold int
	// Progress receives short notes about long actions; may be nil.
	Progress func(note string)
	// See and InUse are passed to [Call]; may be nil.
	See   func(o media.Output) error
	InUse func(r media.Ref) string
}

// Outcome is the result of one invocation. It contains no media bytes and no base64. Its JSON is what a model sees.
type Outcome struct {
	Name    string `json:"name"`
	Success bool   `json:"success"`
	// Code is SUCCESS, PARTIAL, ERROR or the action's own code.
	Code    string `json:"code"`
	Message string `json:"message"`
	// Outputs contain JSON types only; a media item is {refId, mimeType, width, height, label}.
	Outputs map[string]any `json:"outputs,omitempty"`
	// Error is set when the invocation failed.
	Error *Problem `json:"error,omitempty"`
	// Warnings are added to the run's result.
	Warnings []string `json:"warnings,omitempty"`
	// Media are the action's items, stored, recorded and in the set.
	Media []media.Output `json:"-"`
	// Substituted is copied from the [Result].
	Substituted *Substitution `json:"-"`
	// Changes are the action's changes to items of the run, already applied.
	Changes []media.Change `json:"-"`
	// Err is the cause of Error in a form that may be displayed; nil on success.
	Err error `json:"-"`
}

// Problem is a failure in a form that a model can act on.
type Problem struct {
	Code      media.Code `json:"code"`
	Message   string     `json:"message"`
	Retryable bool       `json:"retryable,omitempty"`
	// Valid lists accepted values, such as refs or names.
	Valid []string `json:"valid,omitempty"`
}

// Invoke executes the named action with parameters as a model wrote them. It never returns a Go
// error and never panics: every failure is in the outcome. Media that the action made is stored,
// recorded and in env.Media before Invoke returns, even if the action failed.
func (r *Registry) Invoke(ctx context.Context, name string, raw map[string]any, env Env) Outcome {
	a, call, err := r.call(name, raw, env)
	if err != nil {
		e := shown(err) // the error may quote the model's input
		return Outcome{Name: cmp.Or(a.Name, clip(line(name), 80)), Code: Failure, Message: e.Message, Error: problemOf(e), Err: e}
	}
	result, runErr := a.run(ctx, call)
	out := r.interceptor.outcome(ctx, a, Target{Media: call.Media, Source: a.Name, Threshold: env.Threshold}, result, runErr)
	out.Changes = call.changes
	return out
}

// call finds an action and binds the parameters of an invocation.
func (r *Registry) call(name string, raw map[string]any, env Env) (Action, *Call, error) {
	a, err := r.Lookup(name)
	if err != nil {
		return a, nil, err
	}
	set := env.Media
	if set == nil {
		set = &media.Set{}
	}
	params, err := a.bind(raw, set)
	if err != nil {
		return a, nil, err
	}
	c := &Call{
		Params: params, given: raw, Media: set, Agent: env.Agent, Prefer: env.Prefer, ToolContext: maps.Clone(env.ToolContext),
		Progress: env.Progress, See: env.See, InUse: env.InUse,
		Open: func(ctx context.Context, o media.Output) (io.ReadCloser, error) { // only items of this run (law 6)
			known, ok := set.Lookup(o.Ref)
			if !ok {
				return nil, set.Unknown(string(o.Ref))
			}
			return r.interceptor.cfg.Store.Open(ctx, known.Digest)
		},
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	return a, c, nil
}

// Costs reports whether calls of an action can cost money.
func (r *Registry) Costs(name string) bool {
	a, err := r.Lookup(name)
	return err == nil && a.Price != nil
}

// Recoverable reports whether an earlier process started the call of the current step, in the scope of ctx. Invoking it
// again with an ended context then completes what that process left: see [Action].
func (r *Registry) Recoverable(ctx context.Context, name string) bool {
	a, err := r.Lookup(name)
	return err == nil && a.Recoverable != nil && a.Recoverable(ctx)
}

// Price returns what a call would cost, without executing it; a free action costs "0". An error is one that Invoke
// would return before any cost.
func (r *Registry) Price(ctx context.Context, name string, raw map[string]any, env Env) (p Price, err error) {
	a, call, err := r.call(name, raw, env)
	if err != nil {
		return Price{}, shown(err)
	}
	if a.Price == nil {
		free := "0"
		return Price{USD: &free}, nil
	}
	defer func() {
		if v := recover(); v != nil { // the price is unknown, so a person decides
			p, err = Price{Note: media.Defect(fmt.Sprintf("the price of action %q", a.Name), v).Message}, nil
		}
	}()
	if p, err = a.Price(ctx, call); err != nil {
		return Price{}, shown(err)
	}
	p.Note = clip(line(p.Note), 300)
	return p, nil
}

// run calls Run and converts a panic to an error, including a panic of the returned error's Error method, as with a nil
// pointer.
func (a Action) run(ctx context.Context, c *Call) (res Result, err error) {
	defer media.CatchPanic(&err, fmt.Sprintf("action %q", a.Name))
	if res, err = a.Run(ctx, c); err != nil {
		_ = err.Error()
	}
	return res, err
}

func problemOf(e *media.Error) *Problem {
	return &Problem{Code: e.Code, Message: e.Message, Retryable: e.Retryable, Valid: e.Valid}
}
