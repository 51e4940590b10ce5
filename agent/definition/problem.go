package definition

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier/agent/internal/plain"
	"atelier/media"
)

// Problem is one error in a definition.
type Problem struct {
	// File is the file name, prefixed with the name of its folder.
	File string `json:"file"`
	// Line and Column count from 1.
	Line   int `json:"line"`
	Column int `json:"column"`
	// Message says what is wrong and how to fix it.
	Message string `json:"message"`

	relatedFiles []string // other files that are involved: the other agents of a cycle
}

// String returns file:line:column: message, as compilers do.
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Concerns reports whether the problem is in a file, or in a cycle that includes it.
func (p Problem) Concerns(file string) bool {
	return p.File == file || slices.Contains(p.relatedFiles, file)
}

// Error lists all problems of definitions, ordered by file and line. The errors of [Load] and
// agent.NewRunner wrap it; its code is [media.CodeInvalid].
type Error struct{ Problems []Problem }

// Error returns one line per problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// sorted sorts problems by file and line, in place.
func sorted(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return problems
}

// errorOf returns an error for problems, or nil if there are none.
func errorOf(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return media.Errorf(media.CodeInvalid, "%w", &Error{Problems: sorted(problems)})
}

// problemAt returns a problem; media in quoted values is removed.
func problemAt(p position, format string, args ...any) Problem {
	return Problem{File: p.file, Line: max(p.line, 1), Column: max(p.column, 1), Message: plain.Clip(media.ErrorText(fmt.Sprintf(format, args...)), 1000)}
}

// Catalogue lists the names that definitions may use besides each other's.
type Catalogue struct {
	// Actions maps the name of each action to the source that it needs, or "" for none.
	Actions map[string]string
	// Priced lists the names of the actions whose calls have a price.
	Priced []string
	// Tags are the tags that group actions.
	Tags []string
	// GoAgents are the slugs of agents written in Go.
	GoAgents []string
	// Sources lists names that an agent may require, in addition to files, web, db and kb.
	Sources []string
	// Offered reports whether an agent is offered; the actions of an agent that is not offered may be missing. Nil means
	// that every agent is.
	Offered func(d *Agent) bool
}

// Check reads definitions as [LoadFolders] does and looks up every name in them: the actions
// (including those of sources that are not configured), the sub-agents and the sources. It returns
// the agents that could be read, and all problems ordered by file and line.
func Check(c Catalogue, folders ...Folder) ([]*Agent, []Problem) {
	d, problems := load(folders)
	return d.All(), sorted(append(problems, d.unknown(c)...))
}

// Verify looks up every name in the definitions. The error wraps an [Error].
func (d *Set) Verify(c Catalogue) error { return errorOf(d.unknown(c)) }

// unknown returns problems for unknown names, and for price thresholds of actions without a price.
func (d *Set) unknown(c Catalogue) (problems []Problem) {
	actions := slices.Sorted(maps.Keys(c.Actions))
	sources := slices.Concat([]string{"files", "web", "db", "kb"}, c.Sources) // the command line can configure the first four
	agents := slices.Clone(c.GoAgents)
	for _, def := range d.list {
		agents = append(agents, def.Slug)
	}
	slices.Sort(agents)
	for _, def := range d.list {
		for _, a := range def.Agents {
			if _, err := d.Find(a.Slug); err != nil && !slices.Contains(c.GoAgents, a.Slug) {
				problems = append(problems, problemAt(a.pos, "agent %q is not known: there are %s", plain.Clip(a.Slug, 80), plain.Joined(agents)))
			}
		}
		for i, s := range def.Requires {
			if !slices.Contains(sources, s) {
				problems = append(problems, problemAt(def.requiresAt[i], "requires: %q is not a source: use %s", plain.Clip(s, 40), plain.Joined(sources)))
			}
		}
		if c.Offered != nil && !c.Offered(def) {
			continue
		}
		for _, a := range def.Actions {
			same := func(name string) bool { return plain.SameName(name, a.Name) }
			i := slices.IndexFunc(actions, same)
			if i < 0 {
				problems = append(problems, problemAt(a.pos, "unknown action %q: use one of %s", plain.Clip(a.Name, 80), plain.Joined(actions)))
				continue
			}
			if a.ApprovalOver != "" && !slices.ContainsFunc(c.Priced, same) {
				problems = append(problems, problemAt(a.pos, "approval_over: action %q costs nothing that is known before: use approval: always", plain.Clip(a.Name, 80)))
			}
			if source := c.Actions[actions[i]]; source != "" && !slices.Contains(def.Requires, source) {
				problems = append(problems, problemAt(a.pos, "action %q needs the source %s: add it to requires, or no agent runs where it is not configured", a.Name, source))
			}
		}
		problems = append(problems, def.unknownSources(slices.Concat(c.Tags, actions))...)
	}
	return problems
}
