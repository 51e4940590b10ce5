package agent

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"atelier/media"
)

// Limits of definitions.
const (
	defaultTurns         = 20
	maxTurns             = 200
	minTokens            = 100
	maxTokens            = 1_000_000_000
	defaultCompactLength = 2000
	maxDefinitionBytes   = 1 << 20
)

var slugForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Load reads the definitions (*.yaml, *.yml) of one or more file systems and the
// prompts beside them. An agent of a later one replaces the agent with the same slug
// of an earlier one. Whatever is wrong (an unknown field, a bad value, a missing
// prompt, an unknown sub-agent, a cycle) is [media.CodeInvalid] with file, line and
// column; all problems are reported at once.
func Load(files ...fs.FS) (*Definitions, error) {
	found := map[string]*Definition{}
	var problems []error
	for _, f := range files {
		if f == nil {
			continue
		}
		defs, errs := loadFS(f)
		problems = append(problems, errs...)
		for _, d := range defs {
			found[d.Slug] = d
		}
	}
	d := &Definitions{}
	for _, def := range found {
		d.list = append(d.list, def)
	}
	slices.SortFunc(d.list, func(a, b *Definition) int { return strings.Compare(a.Slug, b.Slug) })
	problems = append(problems, d.checkCycles()...)
	if err := errors.Join(problems...); err != nil {
		return nil, media.Errorf(media.CodeInvalid, "%w", err)
	}
	return d, nil
}

// loadFS reads one file system. Two agents of one slug in it are a mistake.
func loadFS(f fs.FS) (defs []*Definition, problems []error) {
	entries, err := fs.ReadDir(f, ".")
	if err != nil {
		return nil, []error{media.Errorf(media.CodeInvalid, "read agent definitions: %w", err)}
	}
	seen := map[string]position{}
	for _, e := range entries {
		ext := path.Ext(e.Name())
		if e.IsDir() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		def, errs := loadFile(f, e.Name())
		problems = append(problems, errs...)
		if def == nil {
			continue
		}
		if first, twice := seen[def.Slug]; twice {
			problems = append(problems, media.Errorf(media.CodeInvalid, "%s: agent %q is already defined at %s", def.pos, def.Slug, first))
			continue
		}
		seen[def.Slug] = def.pos
		defs = append(defs, def)
	}
	return defs, problems
}

func loadFile(f fs.FS, name string) (*Definition, []error) {
	text, err := readText(f, name)
	if err != nil {
		return nil, []error{err}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		// The message of the parser begins with "yaml: line N:".
		return nil, []error{media.Errorf(media.CodeInvalid, "%s: %s", name, strings.TrimPrefix(err.Error(), "yaml: "))}
	}
	r := &reader{file: name}
	if len(doc.Content) == 0 {
		return nil, []error{media.Errorf(media.CodeInvalid, "%s:1:1: the file is empty", name)}
	}
	def, promptFile := r.definition(doc.Content[0])
	if promptFile == "" {
		promptFile = def.Slug + ".md"
	}
	if def.Prompt == "" && def.Slug != "" {
		prompt, err := readText(f, path.Clean(promptFile))
		if err != nil {
			r.fail(doc.Content[0], "prompt: %v", err)
		}
		def.Prompt = strings.TrimSpace(prompt)
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	def.seal(text, def.Prompt)
	return def, nil
}

func readText(f fs.FS, name string) (string, error) {
	info, err := fs.Stat(f, name)
	if err != nil {
		return "", media.Errorf(media.CodeInvalid, "%s cannot be read: %w", name, err)
	}
	if info.Size() > maxDefinitionBytes {
		return "", media.Errorf(media.CodeInvalid, "%s has %d bytes: at most %d are read", name, info.Size(), maxDefinitionBytes)
	}
	b, err := fs.ReadFile(f, name)
	if err != nil {
		return "", media.Errorf(media.CodeInvalid, "%s cannot be read: %w", name, err)
	}
	return strings.ToValidUTF8(string(b), "�"), nil
}

// checkCycles finds agents that would call themselves through others.
func (d *Definitions) checkCycles() (problems []error) {
	state := map[string]int{} // 1 on the way, 2 done
	var visit func(def *Definition, way []string)
	visit = func(def *Definition, way []string) {
		state[def.Slug] = 1
		way = append(slices.Clone(way), def.Slug)
		for _, a := range def.Agents {
			next, err := d.Find(a.Slug)
			if err != nil {
				continue // a Go agent, or unknown: the runner tells
			}
			switch state[next.Slug] {
			case 1:
				problems = append(problems, media.Errorf(media.CodeInvalid, "%s: agents call each other in a circle: %s → %s", a.pos, strings.Join(way, " → "), next.Slug))
			case 0:
				visit(next, way)
			}
		}
		state[def.Slug] = 2
	}
	for _, def := range d.list {
		if state[def.Slug] == 0 {
			visit(def, nil)
		}
	}
	return problems
}
