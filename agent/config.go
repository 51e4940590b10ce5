// Package agent runs agents: definitions read from files, the loop that asks a
// chat model for one JSON step after another, the acts of a step in parallel,
// sub-agents whose media roll up to their parent, and the finishing of an answer.
//
// A [Runner] runs one agent at a time per call; what happens is reported to an
// [Observer], which saves and shows it. Media that a run made is stored and recorded
// when it appears and is in the [Result] whatever the model does next, also when the
// run fails or is cancelled. A payload keeps its placeholders; package resolve renders them
// at read time.
//
// Errors are media.Error values: invalid and not_found for definitions and requests,
// over_budget, conflict for answers that come too late, bad_response, cancelled and what the chat model
// reports. It may import media, journal, blob, probe, wire, imaging, generate, chat
// and action.
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

// ChatModels opens a chat model; *chat.Registry is one. prefer lists display names
// or ids, best first; the choice says why a wish was not met.
type ChatModels interface {
	Choose(ctx context.Context, prefer []string) (chat.Choice, error)
}

// Source says whether something that an agent may require is there.
type Source struct {
	Configured bool `json:"configured"`
	// Reason says, for models and people, how to configure it; empty if it is.
	Reason string `json:"reason,omitempty"`
}

// Config is what a [Runner] needs.
type Config struct {
	// Definitions are the agents; required unless GoAgents has some.
	Definitions *definition.Set
	// GoAgents are agents written in Go, by slug. They are called like the others.
	GoAgents map[string]GoAgent
	// Actions are what agents can do; required.
	Actions *action.Registry
	// Models opens chat models; required unless every agent is a Go agent.
	Models ChatModels
	// Codec cleans model text and opens media; required.
	Codec *wire.Codec
	// Recorder records pictures that a chat model made itself; nil records nothing.
	Recorder media.Recorder
	// Find reads a media record of an owner by its id, for images that are given by id;
	// nil knows none. An unknown id is media.CodeNotFound.
	Find func(ctx context.Context, owner, id string) (media.Output, error)
	// Guardrail looks at what a person wrote before a model does; nil lets all pass.
	Guardrail Guardrail
	// Journal makes the run durable; nil means [journal.Memory].
	Journal journal.Journal
	// Budget bounds the calls of chat models; give the one of the gateway, so that both
	// count against the same. Nil means [generate.InMemory].
	Budget generate.Budget
	// Observer saves and shows what happens; nil discards it.
	Observer Observer
	// Sources are files, web, db, kb and the program's own by name. A name that is
	// missing is not configured.
	Sources map[string]Source
	// SourceActions are actions with the tag action.TagSource that Actions lacks, because their
	// source is not configured now: the numbers of a recorded run were compared with what they gave.
	SourceActions []string
	// Parallel is how many acts of one step run at once; 0 means 8.
	Parallel int
	// Now is the clock; nil means time.Now in UTC.
	Now func() time.Time
	// NewID makes ids of runs, steps and prompts; nil means UUIDv7.
	NewID func() string
}

// Validate names the setting that is missing.
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
		c.Observer = silent{}
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
