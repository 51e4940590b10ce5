// Package shipped provides what is shipped with Atelier, together with what folders of the same
// kind add: actions, definitions of agents, and workflows.
//
// Errors have code media.CodeInvalid or media.CodeNotFound and name the file. It may import action
// and its families, agent, agents, media, workflow and examples/workflows.
package shipped

import (
	"slices"

	"atelier/action/visual"

	"atelier/action"
	"atelier/action/database"
	"atelier/action/file"
	"atelier/action/knowledge"
	"atelier/action/mediaset"
	"atelier/action/picture"
	tables "atelier/action/table"
	"atelier/action/web"
	"atelier/agent/definition"
	"atelier/media"
)

// Family is a group of shipped actions.
type Family struct {
	// Name and Note are for display.
	Name, Note string
	// Source is the source that must be configured for them: files, kb, db or web; empty means none.
	Source  string
	Actions []action.Description
}

// Families returns every shipped action, including those of sources that are not configured.
func Families() []Family {
	return []Family{
		{Name: "Pictures", Note: "They ask an image model, which may cost money. Every picture is kept, also when others of the same call fail.", Actions: action.Document(picture.Actions(nil)...)},
		{Name: "Drawings", Note: "They draw by rule, without a model, and cost nothing. The same input gives the same bytes; every drawing can be read in light and dark.", Actions: action.Document(visual.Actions()...)},
		{Name: "Media of the run", Note: "Every agent has these; a definition need not list them. They decide what is shown, never what is kept.", Actions: action.Document(mediaset.Actions()...)},
		{Name: "Files", Note: "With `--files DIR`.", Source: "files", Actions: slices.Concat(file.Descriptions(), tables.Descriptions())},
		{Name: "Knowledge base", Note: "With `--kb DIR`.", Source: "kb", Actions: knowledge.Descriptions()},
		{Name: "Database", Note: "With `--db URL`. The database is read-only.", Source: "db", Actions: database.Descriptions()},
		{Name: "Web", Note: "With `SEARXNG_URL`, `BRAVE_SEARCH_API_KEY` or `TAVILY_API_KEY`.", Source: "web", Actions: web.Descriptions()},
	}
}

// Drew reports whether an item was made by one of [visual.Actions], not by a provider, a chat model or a person.
func Drew(o media.Output) bool {
	return slices.ContainsFunc(visual.Actions(), func(a action.Action) bool { return a.Name == o.Origin.Source })
}

// Catalogue returns the names that definitions may use.
func Catalogue() definition.Catalogue {
	c := definition.Catalogue{Actions: map[string]string{}}
	for _, f := range Families() {
		for _, a := range f.Actions {
			c.Actions[a.Name] = f.Source
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

// SourceActions returns the names of the actions whose results are the contents of a source.
func SourceActions() []string {
	var names []string
	for _, f := range Families() {
		for _, a := range f.Actions {
			if slices.Contains(a.Tags, action.TagSource) {
				names = append(names, a.Name)
			}
		}
	}
	return names
}
