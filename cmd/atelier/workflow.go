package main

import (
	"cmp"
	"slices"
	"strings"

	"atelier/internal/shipped"
	"atelier/media"
	"atelier/workflow"
)

type workflowCmd struct {
	List     workflowListCmd     `cmd:"" help:"List workflows: the examples, or those in a folder."`
	Run      workflowRunCmd      `cmd:"" help:"Run a workflow until it ends, or until it waits for a person (exit code 4)."`
	Answer   workflowAnswerCmd   `cmd:"" help:"Answer the interaction that a workflow run waits for, and continue the run."`
	Fork     workflowForkCmd     `cmd:"" help:"Start a run that reuses another run's steps before a given one and executes that step and the later ones again."`
	Show     workflowShowCmd     `cmd:"" help:"Show one workflow: its steps and their inputs."`
	Validate workflowValidateCmd `cmd:"" help:"Check workflows and print every problem and its location."`
}

// workflowView is a workflow as list prints it.
type workflowView struct {
	ID          string   `json:"id"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Steps       int      `json:"steps"`
	Modules     []string `json:"modules"`
	File        string   `json:"file"`
	// Problems is the number of problems; a file with problems has no id.
	Problems int `json:"problems"`
}

type workflowListCmd struct {
	Workflows string `help:"A folder of workflows to use instead of the examples." placeholder:"DIR"`
	JSON      bool   `help:"Print JSON."`
}

func (c *workflowListCmd) Run(w *world) error {
	files, err := shipped.Workflows(c.Workflows, shipped.Modules())
	if err != nil {
		return err
	}
	var views []workflowView
	for _, f := range files {
		v := workflowView{Modules: []string{}, File: f.Name, Problems: len(f.Problems)}
		if d := f.Definition; d != nil {
			v.ID, v.Title, v.Description, v.Steps = d.ID, d.Title, d.Description, len(d.Steps)
			for _, s := range d.Steps {
				v.Modules = append(v.Modules, s.ModuleID)
			}
		}
		views = append(views, v)
	}
	return printList(w, views, []string{"WORKFLOW", "TITLE", "STEPS", "WHAT IT DOES"}, func(v workflowView) []string {
		if v.Problems > 0 {
			return []string{"-", v.File, plural(v.Problems, "problem") + ": atelier workflow validate " + v.File, ""}
		}
		return []string{v.ID, v.Title, strings.Join(v.Modules, " → "), short(v.Description, 80)}
	})
}

type workflowShowCmd struct {
	Workflow  string `arg:"" help:"The workflow's id (campaign-images) or its file."`
	Workflows string `help:"A folder of workflows to use instead of the examples." placeholder:"DIR"`
	JSON      bool   `help:"Print JSON."`
}

func (c *workflowShowCmd) Run(w *world) error {
	d, err := findWorkflow(c.Workflow, c.Workflows)
	if err != nil {
		return err
	}
	rows := [][]string{{"title", d.Title}}
	if d.Description != "" {
		rows = append(rows, []string{"description", d.Description})
	}
	if d.StateSchema != nil {
		rows = append(rows, []string{"begins with", strings.Join(d.StateSchema.Object("properties").Keys(), ", ")})
	}
	for _, s := range d.Steps {
		rows = append(rows, []string{"step " + s.ID, s.ModuleID + ": " + strings.Join(s.Inputs.Keys(), ", ")})
	}
	return w.print(d, func() { table(w.stdout, []string{"workflow", d.ID}, rows) })
}

// findWorkflow finds a workflow by its id, or reads its file.
func findWorkflow(name, dir string) (*workflow.Definition, error) {
	byFile := strings.ContainsAny(name, `./\`)
	if byFile {
		dir = name
	}
	files, err := shipped.Workflows(dir, shipped.Modules())
	if err != nil {
		return nil, err
	}
	var ids []string
	var broken *media.Error
	for _, f := range files {
		switch {
		case f.Definition != nil && (byFile && len(files) == 1 || f.Definition.ID == name):
			return f.Definition, nil
		case f.Definition != nil:
			ids = append(ids, f.Definition.ID)
		case byFile && len(files) == 1 || f.MayDefine(name):
			broken = cmp.Or(broken, media.Errorf(media.CodeInvalid, "%s", f.Problems[0]))
		}
	}
	if broken != nil {
		return nil, broken
	}
	return nil, &media.Error{Code: media.CodeNotFound, Message: "workflow " + media.ErrorText(name) + " is unknown: the workflows are " + strings.Join(ids, ", "), Valid: ids}
}

type workflowValidateCmd struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Folders or files (YAML, JSON). The default is the examples."`
	JSON  bool     `help:"Print JSON."`
}

// workflowValidation is what validate --json prints.
type workflowValidation struct {
	OK        bool               `json:"ok"`
	Workflows []string           `json:"workflows"`
	Problems  []workflow.Problem `json:"problems"`
}

func (c *workflowValidateCmd) Run(w *world) error {
	v := workflowValidation{Workflows: []string{}, Problems: []workflow.Problem{}}
	paths := c.Paths
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, p := range paths {
		files, err := shipped.Workflows(p, shipped.Modules())
		if err != nil {
			return err
		}
		for _, f := range files {
			v.Problems = append(v.Problems, f.Problems...)
			if f.Definition != nil {
				v.Workflows = append(v.Workflows, f.Definition.ID)
			}
		}
	}
	slices.Sort(v.Workflows)
	v.OK = len(v.Problems) == 0
	err := w.print(v, func() {
		for _, p := range v.Problems {
			w.line("%s", p)
		}
		if v.OK {
			w.line("ok: %s (%s)", plural(len(v.Workflows), "workflow"), strings.Join(v.Workflows, ", "))
		}
	})
	return cmp.Or(err, exitIf(!v.OK, exitInput))
}
