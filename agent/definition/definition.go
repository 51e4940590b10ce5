// Package definition reads the definitions of agents: a YAML file and a Markdown prompt for each, in
// folders of which later ones replace agents of earlier ones. It says what is wrong in them with file,
// line and column.
//
// Errors are media.Error values: invalid, behind which stands an [Error] with all problems, and
// not_found for agents and files that are not there. It may import action, media and wire.
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

// Agent is one agent as its YAML file and prompt describe it.
type Agent struct {
	// Slug is the file's name of the agent, lower case with dashes; Name is for people.
	Slug string
	Name string
	// Description tells other agents, and people, what it is for.
	Description string
	// Prompt is the instruction, Markdown.
	Prompt string
	// ChatModels and ImageModels are preferred, best first; empty means the default order.
	ChatModels  []string
	ImageModels []string
	// Requires names sources (files, web, db, kb, or one of the program's own) without
	// which the agent is not offered.
	Requires []string
	Actions  []ActionUse
	Agents   []AgentUse
	// Turns is how many turns a run may take, 1 to 200; 20 if the file says nothing. In
	// the last one the model is asked to finish with what it has; a run that does not is
	// over_budget and keeps what it made.
	Turns int
	// Tokens is how many input and output tokens the run's own model calls may use
	// together, 100 to 1,000,000,000; 0 means no limit. When they are used up, the model
	// gets one last turn, as with Turns. A sub-agent has the budget of its own definition.
	Tokens int
	// InterceptionThreshold is the length in characters from which base64 without a
	// media signature is taken for media; 0 keeps the registry's.
	InterceptionThreshold int
	// SeesGranted shows the agent, as a sub-agent, the pixels of pictures that it is
	// granted; otherwise it knows them by ref, label and description.
	SeesGranted bool
	// VisionContext says which pictures that its actions make the agent is shown without
	// asking for them.
	VisionContext VisionContextPolicy
	// PayloadSchema is the JSON Schema that the final payload must fit; nil takes any.
	PayloadSchema json.RawMessage
	// File is where the definition was read, with the name of its folder before it.
	File string
	// Source is the YAML and the prompt as they were read; Hash its SHA-256 in hexadecimal.
	Source string
	Hash   string

	pos        position
	requiresAt []position // of each of Requires
	sourcesAt  []position // of each of VisionContext.AllowedSources
	schema     *jsonschema.Schema
}

// ActionUse is an action that an agent may take.
type ActionUse struct {
	Name string
	// ExpirationTurns is for how many further turns its result stays in the context as it
	// is; 0 means always. Every ref of a result stays in sight with its label, whatever
	// the mode.
	ExpirationTurns int
	// ExpirationMode is what happens then: None keeps the result, Remove leaves its
	// outputs out, Compact makes them shorter. Empty means Remove where turns are set.
	ExpirationMode string
	// CompactMode is how: Truncate keeps the beginning, Summarize asks the agent's own
	// model for a summary, once per result, which costs a model call; where that fails,
	// the result is truncated with a warning. Empty means Truncate.
	CompactMode string
	// CompactLength is how many characters a compacted result keeps; 2,000 if unset.
	CompactLength int
	// Approval is always where a person has to approve each use, else empty. ApprovalOver
	// asks only for uses that would cost more than this many US dollars, exact decimal text,
	// or whose price is not known; empty asks for none.
	Approval     string
	ApprovalOver string

	pos position
}

// What [ActionUse.ExpirationMode] and [ActionUse.CompactMode] may be.
const (
	ExpireNone    = "None"
	ExpireRemove  = "Remove"
	ExpireCompact = "Compact"

	CompactTruncate  = "Truncate"
	CompactSummarize = "Summarize"
)

// Expired reports whether a result of an earlier turn is too old by its action's entry.
func (u ActionUse) Expired(made, now int) bool {
	return u.ExpirationTurns > 0 && u.ExpirationMode != ExpireNone && now-made > u.ExpirationTurns
}

// approvalAlways is the approval of an action that a person allows each time.
const approvalAlways = "always"

// decimalForm is an amount of money as people write it: exact, without an exponent.
var decimalForm = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,18})?$`)

// USD reads an amount in US dollars; false where the text is none.
func USD(text string) (*big.Rat, bool) {
	if !decimalForm.MatchString(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// AgentUse is a sub-agent that an agent may ask.
type AgentUse struct {
	Slug string
	// PayloadKey is where the sub-agent's final payload goes in the parent's: a key,
	// or "." to merge it at the top; empty means that it is only shown.
	PayloadKey string
	// Input names the parent's payload keys that are handed down.
	Input []string

	pos position
}

// position is where in which file something stands.
type position struct {
	file         string
	line, column int
}

// String gives file:line:column, as compilers do.
func (p position) String() string { return fmt.Sprintf("%s:%d:%d", p.file, p.line, p.column) }

// Set is a set of agents. It does not change once loaded.
type Set struct {
	list []*Agent // by slug
}

// All lists the definitions by slug. They must not be changed.
func (d *Set) All() []*Agent { return slices.Clone(d.list) }

// Find gives the definition with this slug or display name, without regard to case.
// The error has code not_found and lists the slugs.
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

// Uses finds how a definition uses an action.
func (d *Agent) Uses(action string) (ActionUse, bool) {
	i := slices.IndexFunc(d.Actions, func(a ActionUse) bool { return plain.SameName(a.Name, action) })
	if i < 0 {
		return ActionUse{}, false
	}
	return d.Actions[i], true
}
