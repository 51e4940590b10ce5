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
	text, object := ordered.New("type", "string"), ordered.New("type", "object")
	texts := ordered.New("type", "array", "items", text)
	byKey := object.With("additionalProperties", object)
	mediaIDs := ordered.New("anyOf", []any{text, texts, ordered.New("type", "null")}) // null is an optional choice of nothing
	oneOrMore := texts.With("minItems", ordered.Int(1))
	promptKeys := ordered.New("type", "object", "minProperties", ordered.Int(1), "additionalProperties", oneOrMore)
	return []workflow.Module{
		generation{declare("media.generation", nil, []any{"title", "data"},
			"title", text, "data", object, "display_schema", object, "param_schemas", byKey, "param_defaults", byKey, "input_schema", byKey, "layout", byKey)},
		draft{asking{silent{
			declare("prompt.draft", []string{"prompts"}, []any{"brief", "providers"},
				"brief", ordered.New("type", []any{"string", "object"}), "agent", text, "providers", ordered.New("anyOf", []any{oneOrMore, promptKeys})),
			c.draft,
		}}},
		review{declare("review.approve", []string{"approved", "comment", "data"}, []any{"title", "data"}, "title", text, "data", ordered.New(), "display_schema", object)},
		asking{silent{
			declare("agent.run", []string{"message", "payload", "media"}, []any{"agent", "message"}, "agent", text, "message", text, "media", mediaIDs),
			c.run,
		}},
		asking{silent{
			declare("report.write", []string{"report", "message"}, []any{"task", "data"}, "task", text, "data", ordered.New(), "media", mediaIDs),
			c.report,
		}},
		silent{
			declare("media.export", []string{"files"}, []any{"media"}, "media", mediaIDs, "format", ordered.New("type", "string", "enum", []any{"png", "jpeg", "webp"})),
			c.export,
		},
	}
}

// declaration is what a module declares: its id, the JSON Schema of its inputs and the keys of its result.
type declaration struct {
	id      string
	inputs  *ordered.Object
	results []string
}

// declare returns a declaration. inputs alternates names and their JSON Schemas.
func declare(id string, results []string, required []any, inputs ...any) declaration {
	return declaration{id, ordered.New("type", "object", "required", required, "properties", ordered.New(inputs...), "additionalProperties", false), results}
}

func (d declaration) ID() string { return d.id }

func (d declaration) InputSchema() *ordered.Object { return d.inputs }

func (d declaration) ResultKeys(*ordered.Object) []string { return d.results }

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

// silent is a module without an interaction.
type silent struct {
	declaration
	execute func(ctx context.Context, run workflow.Run) (*ordered.Object, error)
}

func (silent) Request(context.Context, workflow.Run) (*workflow.InteractionRequest, error) {
	return nil, nil //nolint:nilnil // not interactive, as [workflow.Module] defines
}

func (s silent) Execute(ctx context.Context, run workflow.Run, _ *workflow.Answer) (*ordered.Object, error) {
	return s.execute(ctx, run)
}

// asking is a module that asks agents.
type asking struct{ silent }

var _ workflow.AgentModule = asking{}

func (asking) AsksAgents() {}

func (c Config) ask(ctx context.Context, run workflow.Run, task Task) (Reply, error) {
	if c.Agents == nil {
		return Reply{}, media.Errorf(media.CodeUnsupported, "this program does not run agents in workflows")
	}
	task.Owner, task.RunID, task.StepID = run.Owner, run.WorkflowRunID, run.StepID
	return c.Agents.Ask(ctx, task)
}
