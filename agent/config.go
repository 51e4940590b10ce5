// Package agent runs agents: definitions read from files, the loop that asks a chat model for one
// JSON step after another, the parallel acts of a step, sub-agents whose media is added to their
// parent's, and the completion of the answer.
//
// A [Runner] runs one agent per call and reports what happens to an [Observer], which saves and
// publishes it. Media that a run makes is stored and recorded immediately and is in the [Result]
// regardless of what the model does next, even if the run fails or is cancelled. A payload keeps
// its placeholders; package resolve renders them when it is read.
//
// Errors are media.Error values: invalid and not_found for definitions and requests, over_budget,
// conflict for late answers, bad_response, cancelled, and the errors of the chat model. It may
// import media, journal, blob, probe, wire, imaging, generate, chat and action.
package agent

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"atelier/action"
	"atelier/agent/definition"
	"atelier/chat"
	"atelier/generate"
	"atelier/journal"
	"atelier/media"
	"atelier/media/wire"
)

// ChatModels chooses a chat model; *chat.Registry implements it. prefer lists display names or IDs,
// best first; the choice says why a preference was not met.
type ChatModels interface {
	Choose(ctx context.Context, prefer []string) (chat.Choice, error)
}

// Source says whether a source that an agent may require is configured.
type Source struct {
	Configured bool `json:"configured"`
	// Reason tells models and people how to configure it; empty if it is configured.
	Reason string `json:"reason,omitempty"`
}

// Config configures a [Runner].
type Config struct {
	// Definitions are the agents' definitions; required unless GoAgents is set.
	Definitions *definition.Set
	// GoAgents are agents written in Go, by slug. They are called like other agents.
	GoAgents map[string]GoAgent
	// Actions are the actions that agents can call; required.
	Actions *action.Registry
	// Models chooses chat models; required unless every agent is a Go agent.
	Models ChatModels
	// Codec replaces media in model text and opens media; required.
	Codec *wire.Codec
	// Recorder records pictures that a chat model made itself; nil disables recording.
	Recorder media.Recorder
	// Find reads an owner's media record by its ID, for images given by ID; nil means that there
	// are none. An unknown ID is media.CodeNotFound.
	Find func(ctx context.Context, owner, id string) (media.Output, error)
	// Guardrail checks what a person wrote before a model sees it; nil accepts everything.
	Guardrail Guardrail
	// Journal makes the run durable; nil means [journal.Memory].
	Journal journal.Journal
	// Budget limits the calls of chat models; use the gateway's budget, so that both count against
	// the same limits. Nil means [generate.InMemory].
	Budget generate.Budget
	// Observer saves and publishes what happens; nil discards it.
	Observer Observer
	// Sources are files, web, db, kb and the program's own sources by name. A missing name means not configured.
	Sources map[string]Source
	// SourceActions are actions with the tag action.TagSource that Actions lacks because their source is not
	// configured. The numbers of a recorded run may have been compared with their results.
	SourceActions []string
	// Parallel is the maximum number of concurrent acts of a step; 0 means 8.
	Parallel int
	// Now is the clock; nil means time.Now in UTC.
	Now func() time.Time
	// NewID returns IDs for runs, steps and prompts; nil means UUIDv7.
	NewID func() string
}

// Validate returns an error that names a missing or invalid setting.
func (c Config) Validate() error {
	switch {
	case c.Actions == nil:
		return media.Errorf(media.CodeInvalid, "agent.Config.Actions is missing: give the action registry")
	case c.Codec == nil:
		return media.Errorf(media.CodeInvalid, "agent.Config.Codec is missing: give the wire codec")
	case c.Definitions == nil && len(c.GoAgents) == 0:
		return media.Errorf(media.CodeInvalid, "agent.Config.Definitions is missing: load some, or give GoAgents")
	case c.Definitions != nil && c.Models == nil:
		return media.Errorf(media.CodeInvalid, "agent.Config.Models is missing: give the chat registry")
	case c.Parallel < 0:
		return media.Errorf(media.CodeInvalid, "agent.Config.Parallel must not be negative")
	}
	return nil
}

func (c Config) withDefaults() Config {
	if c.Definitions == nil {
		c.Definitions = &definition.Set{}
	}
	if c.Journal == nil {
		c.Journal = journal.Memory{}
	}
	if c.Budget == nil {
		c.Budget = generate.InMemory{}
	}
	if c.Observer == nil {
		c.Observer = noopObserver{}
	}
	c.Parallel = cmp.Or(c.Parallel, 8)
	if c.Now == nil {
		c.Now = func() time.Time { return time.Now().UTC() } //nolint:forbidigo // the default clock
	}
	if c.NewID == nil {
		c.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	return c
}
