// Package module holds the modules that ship with Atelier: media.generation, prompt.draft,
// review.approve, agent.run, report.write, media.export. What they need from a running program
// (agents, files) comes in by small interfaces. It may import media and the packages of workflow.
package module

import (
	"context"

	"atelier/media"
	"atelier/workflow"
	"atelier/workflow/ordered"
)

// Task is what an agent is asked.
type Task struct {
	// Agent is a slug or a display name.
	Agent, Message string
	// Media are ids or refs of media that it may use.
	Media []string
	// Owner is whose run it is; RunID and StepID make the task the same when it is asked again.
	Owner, RunID, StepID string
}

// Reply is what an agent answered.
type Reply struct {
	Message string
	Payload *ordered.Object
	// Media are the ids of what it made and promoted.
	Media []string
}

// Agents runs agents. Asking the same task again, after a crash, gives the same reply.
type Agents interface {
	Ask(ctx context.Context, task Task) (Reply, error)
}

// File is a file that was written for a person.
type File struct{ Name, URL string }

// Exports writes media out in a format; empty means as it is stored.
type Exports interface {
	Export(ctx context.Context, owner string, ids []string, format string) ([]File, error)
}

// Config is what modules work with. Without Agents or Exports the modules that need them are
// media.CodeUnsupported when a run comes to them; definitions that name them are valid.
type Config struct {
	Agents  Agents
	Exports Exports
}

// All lists the shipped modules.
func All(c Config) []workflow.Module {
	return []workflow.Module{
		&generation{}, &draft{agents: c.Agents}, &review{}, &agentRun{agents: c.Agents}, &report{agents: c.Agents}, &export{exports: c.Exports},
	}
}

// described is the schema of inputs: pairs of a name and its schema as JSON.
func described(required []any, pairs ...any) *ordered.Object {
	return ordered.New("type", "object", "required", required, "properties", ordered.New(pairs...), "additionalProperties", false)
}

func text() *ordered.Object { return ordered.New("type", "string") }

func anObject() *ordered.Object { return ordered.New("type", "object") }

func texts() *ordered.Object { return ordered.New("type", "array", "items", text()) }

// list reads a list of texts; one text is a list of one.
func list(in *ordered.Object, key string) (out []string) {
	v, _ := in.Get(key)
	values, ok := v.([]any)
	if !ok {
		values = []any{v}
	}
	for _, e := range values {
		if s, ok := e.(string); ok && s != "" {
			out = append(out, s)
		}
	}
	return out
}

func anyList(values []string) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

func ask(ctx context.Context, agents Agents, run workflow.Run, task Task) (Reply, error) {
	if agents == nil {
		return Reply{}, media.Errorf(media.CodeUnsupported, "this program does not run agents in workflows")
	}
	task.Owner, task.RunID, task.StepID = run.Owner, run.WorkflowRunID, run.StepID
	return agents.Ask(ctx, task)
}

// silent is the part of modules that are not interactive.
type silent struct{}

func (silent) Request(context.Context, workflow.Run) (*workflow.InteractionRequest, error) {
	return nil, nil //nolint:nilnil // the contract: not interactive
}

// asking is the part of modules that ask agents.
type asking struct{ silent }

func (asking) AsksAgents() {}

var _ workflow.AgentModule = (*agentRun)(nil)
