package shipped

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"atelier/examples/workflows"
	"atelier/media"
	"atelier/workflow"
	"atelier/workflow/module"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
)

// WorkflowFile is a workflow's file with its problems.
type WorkflowFile struct {
	// Name is the file name, for the examples below [Folder]; Text is the contents.
	Name string
	Text []byte
	// Definition is nil if there are problems.
	Definition *workflow.Definition
	Problems   []workflow.Problem
}

// MayDefine reports whether the file defines a workflow, or has problems and contains its id as the value of an id.
func (f WorkflowFile) MayDefine(id string) bool {
	if f.Definition != nil {
		return f.Definition.ID == id
	}
	defines, _ := regexp.Match(`(?m)\bid["']?\s*:\s*["']?`+regexp.QuoteMeta(id)+`["']?\s*([,}#]|$)`, f.Text) // the pattern is valid
	return defines || filepath.Base(f.Name) == id
}

// Workflows reads the workflows of a file or folder, or the example workflows if path is empty, sorted by name. If two
// have the same ID, the second one has a problem, as has a file that cannot be read. A path that cannot be read is
// media.CodeNotFound.
func Workflows(path string, modules *workflow.Modules) ([]WorkflowFile, error) {
	folder, shown, names, err := workflowFiles(path)
	if err != nil {
		return nil, err
	}
	files, first := []WorkflowFile{}, map[string]string{}
	for _, name := range names {
		f := WorkflowFile{Name: filepath.ToSlash(filepath.Join(shown, name))}
		fail := func(format string, args ...any) {
			f.Definition, f.Problems = nil, []workflow.Problem{{File: f.Name, Line: 1, Column: 1, Problem: problem.At("", format, args...)}}
		}
		if f.Text, err = readStart(folder, name); err != nil {
			fail("the file cannot be read: %s", err)
		} else if f.Definition, f.Problems = workflow.Read(modules, f.Name, f.Text); f.Definition != nil {
			if id := f.Definition.ID; first[id] != "" {
				fail("workflow %s is in %s, too: give each an id of its own", id, filepath.Base(first[id]))
			} else {
				first[id] = f.Name
			}
		}
		files = append(files, f)
	}
	return files, nil
}

// readStart reads as much of a file as shows whether it is too large for a workflow.
func readStart(folder fs.FS, name string) ([]byte, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it is only read
	return io.ReadAll(io.LimitReader(f, ordered.MaxBytes+1))
}

// workflowFiles returns the files that a path denotes.
func workflowFiles(path string) (folder fs.FS, shown string, names []string, err error) {
	folder, shown = workflows.FS(), Folder
	if path != "" {
		info, err := os.Stat(path)
		if err != nil {
			return nil, "", nil, media.Errorf(media.CodeNotFound, "%s cannot be read: give a folder or a file that exists", path)
		}
		if !info.IsDir() {
			return os.DirFS(filepath.Dir(path)), filepath.Dir(path), []string{filepath.Base(path)}, nil
		}
		folder, shown = os.DirFS(path), path
	}
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil, "", nil, media.Errorf(media.CodeNotFound, "%s cannot be read: %w", shown, err)
	}
	for _, e := range entries {
		if !e.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(e.Name()))) {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil, "", nil, media.Errorf(media.CodeInvalid, "%s contains no workflow: a workflow is a YAML or JSON file", shown)
	}
	return folder, shown, names, nil
}

// Modules returns the shipped workflow modules, without what they need to be executed.
func Modules() *workflow.Modules {
	modules, err := workflow.NewModules(module.All(module.Config{})...)
	if err != nil {
		panic(err) // two have the same id
	}
	return modules
}
