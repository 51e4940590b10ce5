package agent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"atelier/media"
)

// Problem is one thing that is wrong in a definition.
type Problem struct {
	// File is the file as it was read, with the name of its folder before it.
	File string `json:"file"`
	// Line and Column count from 1.
	Line   int `json:"line"`
	Column int `json:"column"`
	// Message says what is wrong and what to do.
	Message string `json:"message"`

	also []string // further files that take part: the other agents of a circle
}

// String gives file:line:column: message, as compilers do.
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Concerns reports whether the problem is in a file, or in a circle that goes through it.
func (p Problem) Concerns(file string) bool { return p.File == file || slices.Contains(p.also, file) }

// DefinitionError is everything that is wrong with definitions, in the order of files
// and lines. It stands behind the errors of [Load] and [NewRunner]; its code is
// [media.CodeInvalid].
type DefinitionError struct{ Problems []Problem }

// Error gives one problem a line.
func (e *DefinitionError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// wrong makes the error of some problems; none is nil.
func wrong(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return media.Errorf(media.CodeInvalid, "%w", &DefinitionError{Problems: problems})
}

// problemAt makes a problem; what it quotes is free of media.
func problemAt(p position, format string, args ...any) Problem {
	return Problem{File: p.file, Line: max(p.line, 1), Column: max(p.column, 1), Message: clip(media.ErrorText(fmt.Sprintf(format, args...)), 1000)}
}

// Catalogue is what definitions may name besides each other.
type Catalogue struct {
	// Actions are the names of all actions, each with the source that it needs; "" for none.
	Actions map[string]string
	// Priced are the names of the actions whose calls have a price.
	Priced []string
	// Tags are what actions are grouped by.
	Tags []string
	// GoAgents are the slugs of agents written in Go.
	GoAgents []string
	// Sources are names that an agent may require, besides files, web, db and kb.
	Sources []string
}

// Check reads definitions as [LoadFolders] does and looks up every name in them: the
// actions, those of sources that are not configured included, the sub-agents, the
// sources. It gives the agents that could be read, and all problems in the order of
// files and lines.
func Check(c Catalogue, folders ...Folder) ([]*Definition, []Problem) {
	d, problems := load(folders)
	for _, def := range d.list {
		problems = append(problems, c.check(d, def)...)
	}
	var e *DefinitionError
	if errors.As(wrong(problems), &e) {
		problems = e.Problems
	}
	return d.All(), problems
}

// check finds what a definition names that does not exist.
func (c Catalogue) check(all *Definitions, d *Definition) (problems []Problem) {
	problems = all.unknownNames(d, c.GoAgents, c.Sources)
	problems = append(problems, c.unknownSources(d)...)
	actions := make([]string, 0, len(c.Actions))
	for name := range c.Actions {
		actions = append(actions, name)
	}
	for _, a := range d.Actions {
		i := slices.IndexFunc(actions, func(name string) bool { return sameName(name, a.Name) })
		if i < 0 {
			problems = append(problems, problemAt(a.pos, "unknown action %q: use one of %s", clip(a.Name, 80), joined(sorted(actions))))
			continue
		}
		problems = append(problems, a.unpriced(slices.ContainsFunc(c.Priced, func(name string) bool { return sameName(name, a.Name) }))...)
		if source := c.Actions[actions[i]]; source != "" && !slices.Contains(d.Requires, source) {
			problems = append(problems, problemAt(a.pos, "action %q needs the source %s: add it to requires, or no agent runs where it is not configured", a.Name, source))
		}
	}
	return problems
}

// knownSources are those that the command line can configure.
func knownSources() []string { return []string{"files", "web", "db", "kb"} }

// unknownNames finds sub-agents and sources that do not exist.
func (d *Definitions) unknownNames(def *Definition, goAgents, sources []string) (problems []Problem) {
	for _, a := range def.Agents {
		if _, err := d.Find(a.Slug); err == nil || slices.Contains(goAgents, a.Slug) {
			continue
		}
		slugs := slices.Clone(goAgents)
		for _, o := range d.list {
			slugs = append(slugs, o.Slug)
		}
		problems = append(problems, problemAt(a.pos, "agent %q is not known: there are %s", clip(a.Slug, 80), joined(sorted(slugs))))
	}
	sources = slices.Concat(knownSources(), sources)
	for i, s := range def.Requires {
		if !slices.Contains(sources, s) {
			problems = append(problems, problemAt(def.requiresAt[i], "requires: %q is no source: use %s", clip(s, 40), joined(sources)))
		}
	}
	return problems
}
