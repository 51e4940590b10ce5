package definition

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"atelier/agent/internal/plain"
	"atelier/media"
	"atelier/media/wire"
)

// MaxTurns is the maximum number of turns that a definition may allow. DefaultCompactLength is the
// [ActionUse.CompactLength] of an action whose entry does not set it.
const (
	MaxTurns             = 200
	DefaultCompactLength = 2000
)

// Limits of definitions.
const (
	defaultTurns       = 20
	minTokens          = 100
	maxTokens          = 1_000_000_000
	maxDefinitionBytes = 1 << 20
)

var slugForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Folder is a folder of definitions. Its name prefixes file names in problems and may be empty.
type Folder struct {
	Name  string
	Files fs.FS
}

// path returns the display path of a file in the folder.
func (f Folder) path(name string) string { return path.Join(f.Name, name) }

// Load is [LoadFolders] for folders without names.
func Load(files ...fs.FS) (*Set, error) {
	folders := make([]Folder, 0, len(files))
	for _, f := range files {
		folders = append(folders, Folder{Files: f})
	}
	return LoadFolders(folders...)
}

// LoadFolders reads the definitions (*.yaml, *.yml) of one or more folders and their prompts. An
// agent of a later folder replaces the agent with the same slug of an earlier one. Any problem (an
// unknown field, an invalid value, a missing prompt, an invalid schema, a cycle) is reported as an
// [Error] with code [media.CodeInvalid], which contains all problems. The names of actions, sources
// and sub-agents are checked by agent.NewRunner and [Check], which know them.
func LoadFolders(folders ...Folder) (*Set, error) {
	d, problems := load(folders)
	if err := errorOf(problems); err != nil {
		return nil, err
	}
	return d, nil
}

// load reads every definition that can be read. Definitions with problems are in the set if they
// have a slug, so that definitions that name them get no further problems.
func load(folders []Folder) (*Set, []Problem) {
	found := map[string]*Agent{}
	var problems []Problem
	for _, f := range folders {
		if f.Files == nil {
			continue
		}
		defs, wrong := loadFolder(f)
		problems = append(problems, wrong...)
		for _, d := range defs {
			found[d.Slug] = d
		}
	}
	d := &Set{}
	for _, def := range found {
		d.list = append(d.list, def)
	}
	slices.SortFunc(d.list, func(a, b *Agent) int { return strings.Compare(a.Slug, b.Slug) })
	for _, def := range d.list {
		other, err := d.Find(def.Name)
		if err == nil && other != def && def.Name != "" {
			problems = append(problems, problemAt(def.pos, "agent %s is called %q like agent %s: give one of them another name", def.Slug, plain.Clip(def.Name, 80), other.Slug))
		}
	}
	return d, append(problems, d.checkCycles()...)
}

// loadFolder reads one folder. Two agents with the same slug in it are a problem.
func loadFolder(f Folder) (defs []*Agent, problems []Problem) {
	entries, err := fs.ReadDir(f.Files, ".")
	if err != nil {
		return nil, []Problem{problemAt(position{file: f.path(".")}, "the folder of definitions cannot be read: %v", err)}
	}
	seen := map[string]position{}
	for _, e := range entries {
		if e.IsDir() || !isYAML(e.Name()) {
			continue
		}
		def, wrong := loadFile(f, e.Name())
		problems = append(problems, wrong...)
		if def == nil {
			continue
		}
		if first, twice := seen[def.Slug]; twice {
			problems = append(problems, problemAt(def.pos, "agent %q is already defined in %s at line %d: give one of them another slug", def.Slug, path.Base(first.file), first.line))
			continue
		}
		seen[def.Slug] = def.pos
		defs = append(defs, def)
	}
	return defs, problems
}

// loadFile reads one definition and its prompt. It returns nil for a definition without a usable slug.
func loadFile(f Folder, name string) (*Agent, []Problem) {
	r := &reader{file: f.path(name)}
	text, err := readText(f.Files, name)
	if err != nil {
		return nil, []Problem{problemAt(position{file: r.file}, "%v", err)}
	}
	root := r.parse(text)
	if root == nil {
		return nil, r.problems
	}
	if r.aliases(root); len(r.problems) > 0 {
		return nil, r.problems
	}
	def, prompt := r.definition(root)
	def.File = r.file
	if def.Slug != "" {
		def.Prompt = r.prompt(f.Files, def, prompt)
	}
	if !slugForm.MatchString(def.Slug) {
		return nil, r.problems
	}
	def.Source = text + "\n---\n" + def.Prompt
	sum := sha256.Sum256([]byte(def.Source))
	def.Hash = hex.EncodeToString(sum[:])
	return def, r.problems
}

// promptName is the prompt file that a definition names; value is nil if it names none.
type promptName struct {
	name  string
	value *yaml.Node
}

// prompt reads the prompt file; the default file name is the slug with the extension .md.
func (r *reader) prompt(files fs.FS, d *Agent, p promptName) string {
	at := d.pos
	if p.value != nil {
		at = r.at(p.value)
	}
	name := cmp.Or(p.name, d.Slug+".md")
	text, err := readText(files, path.Clean(name))
	switch {
	case err != nil:
		r.problems = append(r.problems, problemAt(at, "prompt: %v: write the agent's instruction into a Markdown file beside the definition", err))
	case plain.Blank(text):
		r.problems = append(r.problems, problemAt(at, "prompt: %s is empty: write there what the agent does and what it brings back", name))
	}
	return strings.TrimSpace(text)
}

// yamlLine matches the line number in an error of the YAML parser, which reports no columns.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// parse reads the only document of a file. It returns nil after a problem.
func (r *reader) parse(text string) *yaml.Node {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var doc, next yaml.Node
	err := decoder.Decode(&doc)
	if err == nil {
		if err = decoder.Decode(&next); err == nil {
			r.fail(&next, "a second document begins here: give each agent a file of its own")
			return nil
		}
	}
	if errors.Is(err, io.EOF) && len(doc.Content) > 0 {
		return doc.Content[0]
	}
	at, reason := position{file: r.file}, "the file is empty: give at least slug, name and description"
	if !errors.Is(err, io.EOF) {
		reason = "this is not valid YAML: " + yamlLine.ReplaceAllString(err.Error(), "")
		if found := yamlLine.FindStringSubmatch(err.Error()); found != nil {
			at.line, _ = strconv.Atoi(found[1]) // without a number it is the first line
		}
	}
	r.problems = append(r.problems, problemAt(at, "%s", reason))
	return nil
}

// readText reads a text file. It normalizes line endings to line feeds and removes a byte order mark.
func readText(f fs.FS, name string) (string, error) {
	info, err := fs.Stat(f, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", media.Errorf(media.CodeInvalid, "%s cannot be read: there is no such file", name)
	case err != nil:
		return "", media.Errorf(media.CodeInvalid, "%s cannot be read: %w", name, err)
	case !info.Mode().IsRegular():
		return "", media.Errorf(media.CodeInvalid, "%s cannot be read: it is not a file", name)
	case info.Size() > maxDefinitionBytes:
		return "", media.Errorf(media.CodeInvalid, "%s has %d bytes: at most %d are read", name, info.Size(), maxDefinitionBytes)
	}
	b, err := fs.ReadFile(f, name)
	if err != nil {
		return "", media.Errorf(media.CodeInvalid, "%s cannot be read: %w", name, err)
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		return "", media.Errorf(media.CodeInvalid, "%s is not UTF-8 text: save it as UTF-8", name)
	}
	text := strings.ReplaceAll(string(b), "\r\n", "\n")
	if named := wire.NameMedia(text); named != text { // media as base64 would enter every prompt and record
		same := 0
		for same < len(named) && named[same] == text[same] {
			same++
		}
		return "", media.Errorf(media.CodeInvalid, "line %d of %s contains media as base64: remove it and give the media with the task, which names it by its ref",
			strings.Count(text[:same], "\n")+1, name)
	}
	return text, nil
}

// checkCycles finds agents that would call themselves through other agents.
func (d *Set) checkCycles() (problems []Problem) {
	state := map[string]int{} // 1: being visited, 2: done
	var visit func(def *Agent, way []*Agent)
	visit = func(def *Agent, way []*Agent) {
		state[def.Slug] = 1
		way = append(slices.Clone(way), def)
		for _, a := range def.Agents {
			next, err := d.Find(a.Slug)
			if err != nil {
				continue // a Go agent, or unknown: checked where all names are known
			}
			switch state[next.Slug] {
			case 1:
				var slugs, files []string
				for _, d := range way[slices.Index(way, next):] {
					slugs, files = append(slugs, d.Slug), append(files, d.File)
				}
				p := problemAt(a.pos, "agents call each other in a circle: %s → %s: take one of these calls out", strings.Join(slugs, " → "), next.Slug)
				p.relatedFiles = files
				problems = append(problems, p)
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

// Locate returns the folder of definitions that a path denotes, and the file in it if the path denotes a file. The
// folder's name is the given path. Errors: media.CodeNotFound, and media.CodeInvalid if there is no definition.
func Locate(name string) (folder Folder, file string, err error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return Folder{}, "", media.Errorf(media.CodeNotFound, "%s cannot be read: give a folder or a YAML file that exists", name)
	case info.IsDir():
		entries, err := os.ReadDir(name)
		if err != nil || !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return isYAML(e.Name()) }) {
			return Folder{}, "", media.Errorf(media.CodeInvalid, "%s contains no readable definition: an agent is a YAML file (NAME.yaml) next to its prompt", name)
		}
		return Folder{Name: name, Files: os.DirFS(name)}, "", nil
	case !isYAML(name):
		return Folder{}, "", media.Errorf(media.CodeInvalid, "%s is not a definition: name the YAML file, not its prompt", name)
	}
	dir := filepath.Dir(name)
	return Folder{Name: dir, Files: os.DirFS(dir)}, filepath.Base(name), nil
}

func isYAML(name string) bool { return slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)) }
