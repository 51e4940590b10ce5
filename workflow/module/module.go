// Package module implements the modules that ship with Atelier: media.generation, prompt.draft, review.approve,
// agent.run, report.write, media.export. Small interfaces connect them to a running program (agents, files). The
// package may import media and the packages of workflow.
package module

import (
	"context"

	"atelier/media"
	"atelier/workflow"
	"atelier/workflow/ordered"
)

// Task is a task for an agent.
type Task struct {
	// Agent is a slug or a display name.
	Agent, Message string
	// Media are ids or refs of media that the agent may use.
	Media []string
	// Owner is the owner of the run. RunID and StepID identify the task when it is repeated.
	Owner, RunID, StepID string
}

// Reply is the answer of an agent.
type Reply struct {
	Message string
	Payload *ordered.Object
	// Media are the ids of the items that the agent made and promoted.
	Media []string
}

// Agents runs agents. Repeating a task after a crash returns the same reply.
type Agents interface {
	Ask(ctx context.Context, task Task) (Reply, error)
}

// File is a file that was written for a person.
type File struct{ Name, URL string }

// Exports writes media to files in a format; an empty format means the stored format.
type Exports interface {
	Export(ctx context.Context, owner string, ids []string, format string) ([]File, error)
}

// Config holds what modules depend on. Without Agents or Exports, the modules that need them fail with
// media.CodeUnsupported when a run executes them. Definitions that contain them are still valid.
type Config struct {
	Agents  Agents
	Exports Exports
}

// All returns the shipped modules.
func All(c Config) []workflow.Module {
	return []workflow.Module{
		&generation{}, &draft{agents: c.Agents}, &review{}, &agentRun{agents: c.Agents}, &report{agents: c.Agents}, &export{exports: c.Exports},
	}
}

// described returns the schema of inputs. pairs alternates names and their JSON Schemas.
func described(required []any, pairs ...any) *ordered.Object {
	return ordered.New("type", "object", "required", required, "properties", ordered.New(pairs...), "additionalProperties", false)
}

func text() *ordered.Object { return ordered.New("type", "string") }

func anObject() *ordered.Object { return ordered.New("type", "object") }

func texts() *ordered.Object { return ordered.New("type", "array", "items", text()) }

// list reads a list of texts. A single text counts as a list.
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

// silent is embedded in modules without an interaction.
type silent struct{}

func (silent) Request(context.Context, workflow.Run) (*workflow.InteractionRequest, error) {
	return nil, nil //nolint:nilnil // not interactive, as [workflow.Module] defines
}

// asking is embedded in modules that ask agents.
type asking struct{ silent }

func (asking) AsksAgents() {}

var _ workflow.AgentModule = (*agentRun)(nil)
