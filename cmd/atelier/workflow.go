package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"atelier"
	"atelier/agent"
	"atelier/internal/shipped"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
	"atelier/run/workflows"
	"atelier/workflow"
	"atelier/workflow/ordered"
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

type workflowRunCmd struct {
	Workflow  string `arg:"" help:"The workflow's id (campaign-images) or its file."`
	Workflows string `help:"A folder of workflows to use instead of the examples." placeholder:"DIR"`
	State     string `help:"The initial state, as JSON that matches the workflow's state_schema." placeholder:"JSON|@FILE"`
	Agents    string `help:"A folder of agents that the workflow may run, in addition to the shipped ones." placeholder:"DIR"`
	Files     string `help:"A folder of files that the agents may read." placeholder:"DIR"`
}

func (c *workflowRunCmd) Run(w *world) error {
	d, err := findWorkflow(c.Workflow, c.Workflows)
	if err != nil {
		return err
	}
	state := &ordered.Object{}
	if c.State != "" {
		text, err := jsonArgument("--state", c.State, "")
		if err != nil {
			return err
		}
		if state, err = ordered.DecodeObject(text); err != nil {
			return media.Errorf(media.CodeInvalid, "--state: %w", err)
		}
	}
	return followWorkflow(w, atelier.Sources{Agents: c.Agents, Files: c.Files}, "", func(a *app, _ *run.Service, _ string) (*run.Run, error) {
		return a.Workflows().Start(w.ctx, workflows.StartRequest{Owner: owner, Definition: d, State: state})
	})
}

type workflowAnswerCmd struct {
	ID     string `arg:"" name:"run" help:"The run's id, the start of its id, or last."`
	Answer string `arg:"" help:"The answer: {\"selected_content_id\": ID}, {\"selected_content_ids\": [ID]}, {\"approved\": true, \"comment\": TEXT} …" placeholder:"JSON|@FILE"`
}

func (c *workflowAnswerCmd) Run(w *world) error {
	text, err := jsonArgument("the answer", c.Answer, "")
	if err != nil {
		return err
	}
	return followWorkflow(w, atelier.Sources{}, c.ID, func(a *app, _ *run.Service, id string) (*run.Run, error) {
		st, err := a.Workflows().Status(w.ctx, owner, id)
		if err != nil {
			return nil, err
		}
		if st.Interaction == "" {
			return nil, media.Errorf(media.CodeConflict, "run %s is not waiting at an interaction: it is %s", id, st.Status)
		}
		return a.Workflows().Answer(w.ctx, owner, st.Interaction, text)
	})
}

type workflowForkCmd struct {
	ID     string `arg:"" name:"run" help:"The run's id, the start of its id, or last."`
	Step   string `arg:"" optional:"" help:"The id of the first step to execute again. The default is the first step of the workflow."`
	Agents string `help:"A folder of agents that the workflow may run, in addition to the shipped ones." placeholder:"DIR"`
	Files  string `help:"A folder of files that the agents may read." placeholder:"DIR"`
}

func (c *workflowForkCmd) Run(w *world) error {
	return followWorkflow(w, atelier.Sources{Agents: c.Agents, Files: c.Files}, c.ID, func(a *app, _ *run.Service, id string) (*run.Run, error) {
		return a.Workflows().Fork(w.ctx, owner, id, c.Step, "")
	})
}

// maxArgument is the maximum size of a file with JSON for a command, in bytes.
const maxArgument = 64 << 10

// jsonArgument reads JSON from the command line, or from a file whose name follows an @. Hint ends the error
// message for text that is not JSON.
func jsonArgument(what, given, hint string) ([]byte, error) {
	text := []byte(given)
	if name, ok := strings.CutPrefix(given, "@"); ok {
		f, err := os.Open(name) //nolint:gosec // the user names the file
		if err == nil {
			text, err = io.ReadAll(io.LimitReader(f, maxArgument+1))
			_ = f.Close() // it was only read
		}
		switch {
		case err != nil:
			return nil, media.Errorf(media.CodeInvalid, "read %s: %w", what, err)
		case len(text) > maxArgument:
			return nil, media.Errorf(media.CodeTooLarge, "%s: %s is larger than the limit of %s", what, name, size(maxArgument))
		}
	} else if _, err := os.Stat(given); err == nil {
		hint = fmt.Sprintf(": write @%s for the contents of that file", given)
	}
	var checked json.RawMessage
	if err := json.Unmarshal(text, &checked); err != nil {
		return nil, media.Errorf(media.CodeInvalid, "%s is not valid JSON (%w)%s", what, err, hint)
	}
	return bytes.TrimSpace(text), nil
}

// workflowAnswer is what run --json prints.
type workflowAnswer struct {
	RunID      string          `json:"run_id"`
	WorkflowID string          `json:"workflow_id"`
	Status     ledger.Status   `json:"status"`
	State      json.RawMessage `json:"state"`
	// InteractionID and URL name the interaction that waits for a person.
	InteractionID string          `json:"interaction_id,omitempty"`
	URL           string          `json:"url,omitempty"`
	Cost          ledger.Cost     `json:"cost"`
	Error         *ledger.Failure `json:"error,omitempty"`
}

// followWorkflow starts or continues a run and shows it until it ends or waits for a person.
func followWorkflow(w *world, sources atelier.Sources, id string, begin beginRun) error {
	return w.follow(appConfig{sources: sources, adopt: true}, id, begin, func(w *world, a *app, res *agent.Result, runErr error) error {
		st, err := a.Workflows().Status(context.WithoutCancel(w.ctx), owner, res.RunID)
		if err != nil {
			return err
		}
		ans := workflowAnswer{RunID: st.ID, Status: st.Status, State: ordered.Encode(st.State), InteractionID: st.Interaction, Cost: st.Cost}
		if st.Definition != nil {
			ans.WorkflowID = st.Definition.ID
		}
		if st.Failure != (ledger.Failure{}) {
			ans.Error = &st.Failure
		}
		if st.Status == ledger.StatusPaused {
			address := cmp.Or(w.env("ATELIER_LISTEN"), defaultListen)
			if strings.HasPrefix(address, ":") {
				address = "127.0.0.1" + address
			}
			ans.URL = strings.TrimSuffix(cmp.Or(a.Config.PublicURL, "http://"+address), "/") + "/workflows/runs/" + st.ID
		}
		if !w.json {
			ans.print(w, st, res)
		} else if err := w.printJSON(ans); err != nil {
			return err
		}
		return w.ending(res, runErr)
	})
}

// workflowAnswerCommand returns the command that answers the interaction of a run.
func workflowAnswerCommand(run string) string { return "atelier workflow answer " + run + " JSON" }

func (ans workflowAnswer) print(w *world, st workflows.Status, res *agent.Result) {
	for _, s := range st.Steps {
		w.line("%-10s %s", cmp.Or(string(s.Status), "pending"), cmp.Or(s.Title, s.ID))
	}
	switch {
	case st.Interaction != "":
		w.line("waiting for a person: %s (atelier serve), or answer with: %s", ans.URL, workflowAnswerCommand(st.ID))
	case st.Status == ledger.StatusPaused:
		w.ask(st.ID, res.Pending)
	default:
		w.line("%s", ans.State)
	}
}
