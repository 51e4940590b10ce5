// Package definition reads the definitions of agents: a YAML file and a Markdown prompt for each, in folders. Agents of
// later folders replace those of earlier ones. Problems are reported with file, line and column.
//
// Errors are media.Error values: invalid, which wraps an [Error] with all problems, and not_found
// for missing agents and files. It may import action, media and wire.
package definition

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"atelier/agent/internal/plain"
	"atelier/media"
)

// Agent is one agent as described by its YAML file and prompt.
type Agent struct {
	// Slug identifies the agent: lower case with dashes. Name is the display name.
	Slug string
	Name string
	// Description tells other agents, and people, what the agent is for.
	Description string
	// Prompt is the instruction in Markdown.
	Prompt string
	// ChatModels and ImageModels list the preferred models, best first; empty means the default order.
	ChatModels  []string
	ImageModels []string
	// Requires lists the sources (files, web, db, kb, or one of the program's own) without which
	// the agent is not offered.
	Requires []string
	Actions  []ActionUse
	Agents   []AgentUse
	// Turns is the maximum number of turns of a run, 1 to 200, default 20. In the last turn the model is asked to
	// finish with what it has. A run that does not finish is over_budget and keeps what it made.
	Turns int
	// Tokens is the maximum total of input and output tokens of the run's own model calls, 100 to
	// 1,000,000,000; 0 means no limit. When they are used up, the model gets one last turn, as with
	// Turns. A sub-agent has the budget of its own definition.
	Tokens int
	// InterceptionThreshold is the minimum length in characters at which base64 without a media
	// signature is treated as media; 0 means the registry's value.
	InterceptionThreshold int
	// SeesGranted shows the agent, as a sub-agent, the pixels of pictures that it is granted;
	// otherwise it knows only their refs, labels and descriptions.
	SeesGranted bool
	// VisionContext determines which pictures made by its actions the agent is shown without requesting them.
	VisionContext VisionContextPolicy
	// PayloadSchema is the JSON Schema that the final payload must match; nil accepts any payload.
	PayloadSchema json.RawMessage
	// File is the file of the definition, prefixed with the name of its folder.
	File string
	// Source is the text of the YAML and the prompt; Hash is its SHA-256 in hexadecimal.
	Source string
	Hash   string

	pos        position
	requiresAt []position // of each of Requires
	sourcesAt  []position // of each of VisionContext.AllowedSources
	schema     *jsonschema.Schema
}

// ActionUse is an action that an agent may call.
type ActionUse struct {
	Name string
	// ExpirationTurns is the number of further turns for which a result stays in the context
	// unchanged; 0 means always. Every ref of a result stays in sight with its label in every mode.
	ExpirationTurns int
	// ExpirationMode determines what happens then: None keeps the result, Remove removes its
	// outputs, Compact shortens them. Empty means Remove if turns are set.
	ExpirationMode string
	// CompactMode determines how: Truncate keeps the beginning, Summarize asks the agent's own
	// model for a summary, once per result, which costs a model call. If the summary fails, the
	// result is truncated with a warning. Empty means Truncate.
	CompactMode string
	// CompactLength is the number of characters that a compacted result keeps; default 2,000.
	CompactLength int
	// Approval is "always" if a person must approve each use, otherwise empty. ApprovalOver
	// requires approval only for uses that cost more than this many US dollars, as exact decimal
	// text, or whose price is unknown; empty requires none.
	Approval     string
	ApprovalOver string

	pos position
}

// Values of [ActionUse.ExpirationMode] and [ActionUse.CompactMode].
const (
	ExpireNone    = "None"
	ExpireRemove  = "Remove"
	ExpireCompact = "Compact"

	CompactTruncate  = "Truncate"
	CompactSummarize = "Summarize"
)

// Expired reports whether a result of the turn made is too old in the turn now according to the entry.
func (u ActionUse) Expired(made, now int) bool {
	return u.ExpirationTurns > 0 && u.ExpirationMode != ExpireNone && now-made > u.ExpirationTurns
}

// decimalForm matches an exact decimal amount of money without an exponent.
var decimalForm = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,18})?$`)

// USD parses an amount in US dollars; it returns false if the text is not one.
func USD(text string) (*big.Rat, bool) {
	if !decimalForm.MatchString(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// AgentUse is a sub-agent that an agent may call.
type AgentUse struct {
	Slug string
	// PayloadKey is the destination of the sub-agent's final payload in the parent's payload: a
	// key, a dotted path, or "." to merge it at the top; empty means that it is only shown.
	PayloadKey string
	// Input lists the parent's payload keys that are passed to the sub-agent.
	Input []string

	pos position
}

// position is a position in a file.
type position struct {
	file         string
	line, column int
}

// String returns file:line:column, as compilers do.
func (p position) String() string { return fmt.Sprintf("%s:%d:%d", p.file, p.line, p.column) }

// Set is an immutable set of agents.
type Set struct {
	list []*Agent // sorted by slug
}

// All returns the definitions sorted by slug. Callers must not modify them.
func (d *Set) All() []*Agent { return slices.Clone(d.list) }

// Find returns the definition with the given slug or display name, ignoring case. The error has
// code not_found and lists the slugs.
func (d *Set) Find(name string) (*Agent, error) {
	want := strings.TrimSpace(name)
	for _, def := range d.list {
		if strings.EqualFold(def.Slug, want) || strings.EqualFold(def.Name, want) {
			return def, nil
		}
	}
	var valid []string
	for _, def := range d.list {
		valid = append(valid, def.Slug)
	}
	e := media.Errorf(media.CodeNotFound, "there is no agent %q: there are %s", plain.Clip(name, 80), plain.Joined(valid))
	e.Valid = valid
	return nil, e
}

// Uses returns a definition's entry for an action.
func (d *Agent) Uses(action string) (ActionUse, bool) {
	i := slices.IndexFunc(d.Actions, func(a ActionUse) bool { return plain.SameName(a.Name, action) })
	if i < 0 {
		return ActionUse{}, false
	}
	return d.Actions[i], true
}
