package agent

import (
	"slices"

	"atelier/action"
	"atelier/agent/contract"
	"atelier/agent/definition"
	"atelier/agent/internal/plain"
	"atelier/agent/transcript"
)

// mediaActions are what every agent may do with its media set, where registered.
var mediaActions = []string{
	"List Agent Media", "Get Agent Media Details", "View Agent Media", "Label Agent Media", "Promote Agent Media", "Prune Agent Media",
}

// callable is what a prompt says about an agent's means.
type callable struct {
	Agent   string               `json:"agent"`
	Actions []action.Description `json:"actions"`
	Agents  []calleeView         `json:"agents"`
	Sources map[string]Source    `json:"sources"`
}

type calleeView struct {
	Name        string `json:"name"`
	Slug        string `json:"slug"`
	Description string `json:"description"`
}

// system builds an agent's system prompt: its own prompt, what it may call, and
// how to answer.
func (r *Runner) system(d *definition.Agent) (string, error) {
	names := r.actionNames(d)
	acts, err := r.cfg.Actions.Describe(names...)
	if err != nil {
		return "", err
	}
	c := callable{Agent: d.Slug, Actions: acts, Agents: []calleeView{}, Sources: r.cfg.Sources}
	if len(names) == 0 {
		c.Actions = []action.Description{}
	}
	if c.Sources == nil {
		c.Sources = map[string]Source{}
	}
	for _, a := range d.Agents {
		s, err := r.spec(a.Slug)
		if err != nil { // a source that it needs is not there: not offered
			continue
		}
		view := calleeView{Name: s.name, Slug: s.slug, Description: "Written in Go."}
		if s.def != nil {
			view.Description = s.def.Description
		}
		c.Agents = append(c.Agents, view)
	}
	schema := ""
	if d.PayloadSchema != nil {
		schema = "\n\n## Payload\nWhen you answer with `done`, the whole `payload` must fit this JSON Schema:\n```json\n" + string(d.PayloadSchema) + "\n```"
	}
	return d.Prompt + schema + "\n\n## Callable\n" + transcript.Fenced(c) + "\n\n" + contract.Instruction, nil
}

// actionNames lists what an agent may do, its own actions first.
func (r *Runner) actionNames(d *definition.Agent) []string {
	var names []string
	for _, a := range d.Actions {
		names = append(names, a.Name)
	}
	for _, n := range mediaActions {
		if r.cfg.Actions.Has(n) && !slices.ContainsFunc(names, func(have string) bool { return plain.SameName(have, n) }) {
			names = append(names, n)
		}
	}
	return names
}
