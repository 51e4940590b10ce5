package main

import (
	"slices"

	"atelier/action"
	"atelier/action/database"
	"atelier/action/file"
	"atelier/action/knowledge"
	"atelier/action/mediaset"
	"atelier/action/picture"
	tables "atelier/action/table"
	"atelier/action/web"
	"atelier/agent"
)

// family is the shipped actions of one kind.
type family struct {
	name, note string
	// source is what has to be configured for them; empty means nothing.
	source  string
	actions []action.Description
}

// families lists every shipped action, those of sources that are not configured included.
func families() []family {
	return []family{
		{name: "Pictures", note: "They ask an image model, which may cost money. Every picture is kept, also when others of the same call fail.", actions: action.Document(picture.Actions(nil)...)},
		{name: "Drawings", note: "They draw by rule, without a model, and cost nothing. The same input gives the same bytes; every drawing can be read in light and dark.", actions: action.Document(drawings()...)},
		{name: "Media of the run", note: "Every agent has these; a definition need not list them. They decide what is shown, never what is kept.", actions: action.Document(mediaset.Actions()...)},
		{name: "Files", note: "With `--files DIR`.", source: "files", actions: slices.Concat(file.Descriptions(), tables.Descriptions())},
		{name: "Knowledge base", note: "With `--kb DIR`.", source: "kb", actions: knowledge.Descriptions()},
		{name: "Database", note: "With `--db URL`. The database is only read.", source: "db", actions: database.Descriptions()},
		{name: "Web", note: "With `SEARXNG_URL`, `BRAVE_SEARCH_API_KEY` or `TAVILY_API_KEY`.", source: "web", actions: web.Descriptions()},
	}
}

// agentCatalogue is what definitions may name.
func agentCatalogue() agent.Catalogue {
	c := agent.Catalogue{Actions: map[string]string{}}
	for _, f := range families() {
		for _, a := range f.actions {
			c.Actions[a.Name] = f.source
			c.Tags = append(c.Tags, a.Tags...)
		}
	}
	for _, a := range picture.Actions(nil) {
		if a.Price != nil {
			c.Priced = append(c.Priced, a.Name)
		}
	}
	return c
}

// sourceActions are the actions whose results are what a source says.
func sourceActions() []string {
	var names []string
	for _, f := range families() {
		for _, a := range f.actions {
			if slices.Contains(a.Tags, action.TagSource) {
				names = append(names, a.Name)
			}
		}
	}
	return names
}

// pictureActions are those that an image model answers.
func pictureActions(d *agent.Definition) bool {
	names := families()[0].actions
	return slices.ContainsFunc(d.Actions, func(u agent.ActionUse) bool {
		return slices.ContainsFunc(names, func(a action.Description) bool { return a.Name == u.Name })
	})
}
