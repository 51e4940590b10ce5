package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/ledger"
)

func TestWorkflowsAreChecked(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.removeData()
	if out := p.must("workflow", "validate").stdout; out != "ok: 3 workflows (campaign-images, illustrated-report, product-variants)\n" {
		t.Errorf("got %q", out)
	}
	good := p.write("flows/good.json", `{"id": "good", "title": "Good", "steps": [{"module_id": "agent.run", "inputs": {"agent": "sage", "message": "hi"}}]}`)
	p.write("flows/twice.yaml", "id: good\ntitle: Again\nsteps: [{module_id: agent.run, inputs: {agent: sage, message: hi}}]\n")
	bad := p.write("flows/worse.yaml", "id: worse\ntitle: Worse\nsteps:\n  - module_id: media.generation\n    inputs: {title: t, data: '{{ state.x', display_schema: '{{ step.s }}'}\n    config:\n      s: {_ux: {colour: red}}\n")
	if out := p.must("workflow", "validate", good).stdout; out != "ok: 1 workflow (good)\n" {
		t.Errorf("got %q", out)
	}
	o := p.atelier("workflow", "validate", filepath.Dir(good))
	for _, want := range []string{"twice.yaml:1:1: workflow good is in ", bad + ":5:", bad + ":5:24: /steps/0/inputs/data: {{ is not closed"} {
		if o.code != exitInput || !strings.Contains(o.stdout, want) {
			t.Errorf("exit %d, want %q in %s", o.code, want, o.stdout)
		}
	}
	o = p.atelier("workflow", "validate", "--json", bad)
	var v workflowValidation
	if err := json.Unmarshal([]byte(o.stdout), &v); err != nil {
		t.Fatal(err)
	}
	if v.OK || len(v.Problems) != 1 || v.Problems[0].Line != 5 || v.Problems[0].Pointer != "/steps/0/inputs/data" {
		t.Errorf("%+v", v)
	}
	p.write("flows/worse.yaml", strings.ReplaceAll(mustRead(t, bad), "'{{ state.x'", "'{{ state.x }}'"))
	o = p.atelier("workflow", "validate", bad)
	if want := bad + ":7:17: /steps/0/config/s/_ux/colour: colour is unknown"; o.code != exitInput || !strings.Contains(o.stdout, want) {
		t.Errorf("exit %d, want %q in %s", o.code, want, o.stdout)
	}
	if o := p.atelier("workflow", "validate", filepath.Join(p.dir, "none")); o.code != exitInput {
		t.Errorf("a file that does not exist: exit %d", o.code)
	}
}

func TestWorkflowsAreListed(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.removeData()
	views := read[ledger.List[workflowView]](p, "workflow", "list", "--json").Items
	if len(views) != 3 || views[0].ID != "campaign-images" || views[0].Steps != 3 || views[0].Problems != 0 {
		t.Errorf("%+v", views)
	}
	if out := p.must("workflow", "list").stdout; !strings.Contains(out, "prompt.draft → media.generation → media.export") {
		t.Errorf("got %s", out)
	}
	if out := p.must("workflow", "show", "product-variants").stdout; !strings.Contains(out, "begins with") || !strings.Contains(out, "media.generation: title, data, display_schema") {
		t.Errorf("got %s", out)
	}
	file := p.write("flows/mine.yaml", "id: mine\ntitle: Mine\nsteps: [{module_id: agent.run, inputs: {agent: sage, message: hi}}]\n")
	var shown struct {
		ID    string `json:"id"`
		Steps []struct {
			ID     string            `json:"id"`
			Inputs map[string]string `json:"inputs"`
		} `json:"steps"`
	}
	o := p.must("workflow", "show", file, "--json")
	if err := json.Unmarshal([]byte(o.stdout), &shown); err != nil || shown.ID != "mine" || shown.Steps[0].ID != "step_1" || shown.Steps[0].Inputs["agent"] != "sage" {
		t.Errorf("%+v, %v", shown, err)
	}
	p.write("flows/broken.yaml", "id: 5\n")
	if out := p.must("workflow", "list", "--workflows", filepath.Dir(file)).stdout; !strings.Contains(out, "mine") || !strings.Contains(out, "broken.yaml") || !strings.Contains(out, "problem") {
		t.Errorf("got %s", out)
	}
	p.write("flows/broken.yaml", "id: variants\ntitle: 5\n")
	if o := p.atelier("workflow", "show", "variants", "--workflows", filepath.Dir(file)); o.code != exitInput || !strings.Contains(o.stderr, "broken.yaml:") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	if o := p.atelier("workflow", "show", "nothing"); o.code != exitInput || !strings.Contains(o.stderr, "campaign-images") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	if _, err := os.Stat(p.data); err == nil {
		t.Error("a list makes a data folder")
	}
}

// TestAFolderIsNoWorkflow: a folder of several workflows is refused instead of taking its first one.
func TestAFolderIsNoWorkflow(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	folder := filepath.Join("..", "..", "examples", "workflows")
	for _, command := range []string{"show", "run"} {
		p.atelier("workflow", command, folder).checkRefused(t, exitInput, "campaign-images")
	}
	p.must("workflow", "show", filepath.Join(folder, "product-variants.yaml"))
}
