package main

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"atelier/agent/definition"
	"atelier/internal/shipped"
)

type agentsValidateCmd struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Folders or YAML files; each is checked together with the shipped agents. The default is the shipped agents alone."`
	JSON  bool     `help:"Print JSON."`
}

// validation is what validate --json prints.
type validation struct {
	OK       bool                 `json:"ok"`
	Agents   []string             `json:"agents"`
	Problems []definition.Problem `json:"problems"`
}

func (c *agentsValidateCmd) Run(w *world) error {
	all := validation{Agents: []string{}, Problems: []definition.Problem{}}
	paths := c.Paths
	if len(paths) == 0 {
		paths = []string{""}
	}
	seen := map[string]bool{}
	for _, p := range paths {
		slugs, problems, err := validate(p)
		if err != nil {
			return err
		}
		for _, p := range problems {
			if !seen[p.String()] {
				seen[p.String()] = true
				all.Problems = append(all.Problems, p)
			}
		}
		all.Agents = append(all.Agents, slugs...)
	}
	slices.Sort(all.Agents)
	all.Agents, all.OK = slices.Compact(all.Agents), len(all.Problems) == 0
	err := w.print(all, func() {
		files := map[string]bool{}
		for _, p := range all.Problems {
			files[p.File] = true
			w.line("%s", p)
		}
		if all.OK {
			w.line("ok: %s (%s)", plural(len(all.Agents), "agent"), strings.Join(all.Agents, ", "))
		} else {
			w.note("%s in %s", plural(len(all.Problems), "problem"), plural(len(files), "file"))
		}
	})
	return cmp.Or(err, exitIf(!all.OK, exitInput))
}

// validate checks a folder, a file with its folder, or, for an empty name, the shipped
// agents. It returns the slugs of the named definitions.
func validate(name string) (slugs []string, problems []definition.Problem, err error) {
	folders := []definition.Folder{shipped.Agents()}
	mine := func(file string) bool { return path.Dir(file) == shipped.Folder }
	about := func(definition.Problem) bool { return true }
	if name != "" {
		folder, only, err := definition.Locate(name)
		if err != nil {
			return nil, nil, err
		}
		folder.Name = filepath.ToSlash(folder.Name)
		folders = append(folders, folder)
		mine = func(file string) bool { return path.Dir(file) == path.Clean(folder.Name) }
		if only != "" {
			only = path.Join(folder.Name, only)
			mine = func(file string) bool { return file == only }
			about = func(p definition.Problem) bool { return p.Concerns(only) }
		}
	}
	defs, found := definition.Check(shipped.Catalogue(), folders...)
	for _, d := range defs {
		if mine(d.File) {
			slugs = append(slugs, d.Slug)
		}
	}
	for _, p := range found {
		if about(p) {
			problems = append(problems, p)
		}
	}
	return slugs, problems, nil
}
