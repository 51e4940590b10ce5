package workflow

import (
	"cmp"
	_ "embed" // the JSON Schema of definitions
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"atelier/media"
	"atelier/workflow/conform"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
	"atelier/workflow/template"
)

//go:embed definition.schema.json
var definitionSchema []byte

var vocabulary = sync.OnceValue(func() *conform.Schema { return conform.Vocabulary(definitionSchema, "") })

// Definition is a workflow definition: modules in order.
type Definition struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	// StateSchema is the JSON Schema of a run's initial state; nil permits any object.
	StateSchema *ordered.Object `json:"state_schema,omitempty"`
	// StandIn is offline if the offline painter may substitute for a provider without a key.
	StandIn string `json:"stand_in,omitempty"`
	// Timeout is how long an interaction waits for its answer, such as 72h; empty means no limit.
	Timeout string `json:"timeout,omitempty"`
	Steps   []Step `json:"steps"`
}

// Step is one module of a workflow.
type Step struct {
	// ID is unique within the workflow.
	ID       string `json:"id"`
	Title    string `json:"title,omitempty"`
	ModuleID string `json:"module_id"`
	// Timeout takes precedence over the timeout of the workflow.
	Timeout string `json:"timeout,omitempty"`
	// Inputs may contain templates. Config is literal.
	Inputs *ordered.Object `json:"inputs"`
	Config *ordered.Object `json:"config,omitempty"`
	// Output says where to store the result in the state: a path, an object of paths by key, or nil.
	Output any `json:"output,omitempty"`
}

// displaySchema is the input whose templates the view resolves for its nodes.
const displaySchema = "display_schema"

// Resolve returns the inputs of a step. It resolves their templates with the state, the step's config and the results
// of earlier steps by id. Inserted values are not resolved again, and an inline display_schema stays unchanged.
func (s Step) Resolve(state, results *ordered.Object) (*ordered.Object, error) {
	scope := template.Scope{"state": state, "step": s.Config, "steps": results}
	var found problem.List
	out := &ordered.Object{}
	for key, v := range s.Inputs.All() {
		if _, inline := v.(*ordered.Object); !inline || key != displaySchema {
			resolved, err := template.Resolve(v, scope)
			found.Check(ordered.Pointer("inputs", key), err)
			v = ordered.Clone(resolved)
		}
		out.Set(key, v)
	}
	return out, found.Err()
}

// Store returns a copy of the state that contains the step's result.
func (s Step) Store(state, result *ordered.Object) (*ordered.Object, error) {
	next, _ := ordered.Clone(state).(*ordered.Object)
	if next == nil {
		next = &ordered.Object{}
	}
	switch to := s.Output.(type) {
	case string:
		return next, put(next, strings.Split(to, "."), result)
	case *ordered.Object:
		for key, path := range to.All() {
			v, ok := result.Get(key)
			if !ok {
				return nil, media.Errorf(media.CodeInvalid, "output: the result of %s has no %s: it has %s", s.ModuleID, media.ErrorText(key), strings.Join(result.Keys(), ", "))
			}
			name, _ := path.(string)
			if err := put(next, strings.Split(name, "."), v); err != nil {
				return nil, err
			}
		}
		return next, nil
	}
	for key, v := range result.All() {
		next.Set(key, v)
	}
	return next, nil
}

// put sets the value at a path and creates missing parent objects.
func put(state *ordered.Object, path []string, v any) error {
	for _, key := range path[:len(path)-1] {
		child := state.Object(key)
		if child == nil {
			if state.Has(key) {
				return media.Errorf(media.CodeInvalid, "output: %s in the state is not an object", media.ErrorText(key))
			}
			child = &ordered.Object{}
			state.Set(key, child)
		}
		state = child
	}
	state.Set(path[len(path)-1], ordered.Clone(v)) // the next path may lead into it
	return nil
}

// CheckState checks a run's initial state. Pointers begin with /state.
func (d *Definition) CheckState(state *ordered.Object) error {
	if d.StateSchema == nil {
		return nil
	}
	return conform.Validate(d.StateSchema, "/state", state)
}

// StepTimeout returns how long an interaction of a step waits for its answer; 0 means no limit.
func (d *Definition) StepTimeout(s Step) time.Duration {
	wait, err := time.ParseDuration(cmp.Or(s.Timeout, d.Timeout, "0"))
	if err != nil { // the schema checks the syntax: it is too long
		return math.MaxInt64
	}
	return wait
}

// Problem is a problem of a definition, with its position in the text.
type Problem struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	problem.Problem
}

// String returns file:line:column: message, as compilers do.
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Problem)
}

// definition converts a value that matches the JSON Schema.
func definition(o *ordered.Object) *Definition {
	d := &Definition{ID: o.Text("id"), Title: o.Text("title"), Description: o.Text("description"), StateSchema: o.Object("state_schema"), StandIn: o.Text("stand_in"), Timeout: o.Text("timeout")}
	for i, v := range o.List("steps") {
		s, _ := v.(*ordered.Object)
		step := Step{ID: s.Text("id"), Title: s.Text("title"), ModuleID: s.Text("module_id"), Timeout: s.Text("timeout"), Inputs: s.Object("inputs"), Config: s.Object("config")}
		if step.Inputs == nil {
			step.Inputs = &ordered.Object{}
		}
		if step.ID == "" {
			step.ID = "step_" + strconv.Itoa(i+1)
		}
		step.Output, _ = s.Get("output")
		d.Steps = append(d.Steps, step)
	}
	return d
}
