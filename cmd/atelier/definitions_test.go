package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"atelier/internal/shipped"

	"atelier/ledger"
)

func TestAgentsAreListedWithWhatTheyLack(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.removeData()
	list := func(args ...string) map[string]agentView {
		views := map[string]agentView{}
		for _, v := range read[ledger.List[agentView]](p, append([]string{"agents", "list", "--json"}, args...)...).Items {
			views[v.Slug] = v
		}
		return views
	}
	shipped := list()
	if v := shipped["web-research-agent"]; len(shipped) != 8 || v.Ready || !v.Shipped || v.Missing[0].Source != "web" || !strings.Contains(v.Missing[0].Reason, "SEARXNG_URL") || len(v.Hash) != 64 {
		t.Errorf("got %d agents, %+v", len(shipped), v)
	}
	p.env["SEARXNG_URL"] = "http://127.0.0.1:9"
	p.write("own/sage.yaml", "slug: sage\nname: Sage\ndescription: Mine.\nturns: 3\n")
	p.write("own/sage.md", "You are mine.")
	own := list("--agents", filepath.Join(p.dir, "own"))
	if v := own["sage"]; len(own) != 8 || v.Shipped || v.Description != "Mine." || v.Hash == shipped["sage"].Hash || !own["web-research-agent"].Ready {
		t.Errorf("got %+v", own)
	}
	if out := p.must("agents", "list").stdout; !strings.Contains(out, "  STATUS") || !strings.Contains(out, "needs files: give a folder with --files") || !strings.Contains(out, "Research Agent") {
		t.Errorf("got %s", out)
	}
	if _, err := os.Stat(p.data); err == nil {
		t.Error("a list makes a data folder")
	}
}

func TestAgentIsShown(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	var shown struct {
		Hash       string     `json:"hash"`
		ChatModel  modelView  `json:"chat_model"`
		ImageModel *modelView `json:"image_model"`
		Prompt     string     `json:"prompt"`
		Actions    []string   `json:"actions"`
	}
	o := p.must("agents", "show", "Research Report Writer", "--json")
	if err := json.Unmarshal([]byte(o.stdout), &shown); err != nil {
		t.Fatal(err)
	}
	if shown.ImageModel == nil || shown.ImageModel.Name != "Atelier Offline" || !strings.Contains(shown.ImageModel.Reason, "GEMINI_API_KEY") ||
		shown.ImageModel.Preferred[0] != "Nano Banana Pro" || shown.ChatModel.Provider != "offline" || len(shown.Hash) != 64 || len(shown.Prompt) < 1000 || len(shown.Actions) != 8 {
		t.Errorf("got %+v", shown)
	}
	text := p.must("agents", "show", "research-agent").stdout
	for _, want := range []string{"file-research-agent: needs files", "merges its payload", "You are the Research Agent", "hash"} {
		if !strings.Contains(text, want) {
			t.Errorf("show lacks %q:\n%s", want, text)
		}
	}
	p.env["ATELIER_CHAT_MODEL"] = "offline"
	if text := p.must("agents", "show", "sage").stdout; !strings.Contains(text, "ATELIER_CHAT_MODEL) takes precedence") {
		t.Errorf("got %s", text)
	}
	if o := p.atelier("agents", "show", "nobody"); o.code != exitInput || !strings.Contains(o.stderr, "sage") {
		t.Errorf("got %+v", o)
	}
}

func TestShippedDefinitionsAreValid(t *testing.T) {
	t.Parallel()
	o := newTestEnv(t).must("agents", "validate")
	if !strings.HasPrefix(o.stdout, "ok: 8 agents (database-research-agent, ") {
		t.Errorf("got %s", o.stdout)
	}
}

func TestValidateNamesEveryProblem(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	head := "slug: %\nname: Own %\ndescription: Mine.\n"
	files := map[string]string{
		"unknown": head + "modell: x\nactions: [Fly, Web Search]\nagents: [nobody]\n", "one": head + "agents: [two]\n", "two": head + "agents: [sage, one]\n",
		"schema": head + "payload_schema: {type: object, properties: {a: {minimum: x}}}\n", "fine": head + "requires: web\nactions: [web_search, Create SVG Chart]\nagents: [infographic-agent]\n",
		"turns": head + "turns: 0\n", "lost": head + "prompt: nowhere.md\n", "empty": "", "big": "#" + strings.Repeat("x", 10<<20), "binary": "\x89PNG\r\n\x1a\n\x00\x00",
	}
	for slug, yaml := range files {
		p.write("own/"+slug+".yaml", strings.ReplaceAll(yaml, "%", slug))
		p.write("own/"+slug+".md", "You are "+slug+".")
	}
	p.write("own/second-fine.yml", strings.ReplaceAll(head, "%", "fine"))
	own := filepath.Join(p.dir, "own")
	if err := syscall.Mkfifo(filepath.Join(own, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := p.atelier("agents", "validate", own)
	if o.code != exitInput {
		t.Fatalf("got %+v", o)
	}
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(o.stdout), "\n") {
		got = append(got, strings.TrimPrefix(line, own+"/"))
	}
	want := []string{
		"big.yaml:1:1: big.yaml has 10485761 bytes: at most 1048576",
		"binary.yaml:1:1: binary.yaml is not UTF-8 text",
		"empty.yaml:1:1: the file is empty",
		`lost.yaml:4:9: prompt: nowhere.md cannot be read`,
		"pipe.yaml:1:1: pipe.yaml cannot be read: it is not a file",
		`schema.yaml:4:58: payload_schema: is not a JSON Schema`,
		`second-fine.yml:1:1: agent "fine" is already defined in fine.yaml at line 1`,
		"turns.yaml:4:8: want a whole number from 1 to 200",
		"two.yaml:4:16: agents call each other in a circle: one → two → one",
		`unknown.yaml:4:1: unknown field "modell"`,
		`unknown.yaml:5:11: unknown action "Fly": use one of Create Mermaid Diagram, `,
		`unknown.yaml:5:16: action "Web Search" needs the source web`,
		`unknown.yaml:6:10: agent "nobody" is not known: there are `,
	}
	if len(got) != len(want) {
		t.Fatalf("got %d problems, want %d:\n%s", len(got), len(want), o.stdout)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("problem %d is %q, want %q", i, got[i], want[i])
		}
	}
	if !strings.Contains(o.stderr, "13 problems in 10 files") {
		t.Errorf("got %q", o.stderr)
	}
	// A run with the same folder reports the same problems and starts nothing.
	if o := p.atelier("run", "sage", "Hello", "--agents", own); o.code != exitInput || !strings.Contains(o.stderr, own+"/turns.yaml:4:8") || strings.Contains(o.stderr, "base64") {
		t.Errorf("got %+v", o)
	}
}

func TestValidateTakesFiles(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.write("own/good.yaml", "slug: good\nname: Good\ndescription: x\nagents: [bad]\n")
	p.write("own/good.md", "Good.")
	bad := p.write("own/bad.yaml", "slug: bad\nname: Bad\ndescription: x\nagents: [good]\nturns: 0\n")
	p.write("own/bad.md", "Bad.")
	third := p.write("own/third.yaml", "slug: third\nname: Third\ndescription: x\nagents: [good]\n")
	prompt := p.write("own/third.md", "Third.")
	var v validation
	o := p.atelier("agents", "validate", filepath.Join(p.dir, "own", "good.yaml"), "--json")
	if err := json.Unmarshal([]byte(o.stdout), &v); err != nil || o.code != exitInput || v.OK || len(v.Problems) != 1 || !strings.Contains(v.Problems[0].Message, "circle") {
		t.Errorf("a circle through the file is its problem, another file's number is not: %+v %v", v, err)
	}
	if o := p.atelier("agents", "validate", bad); o.code != exitInput || strings.Count(o.stdout, "\n") != 2 {
		t.Errorf("got %+v", o)
	}
	if o := p.must("agents", "validate", third); o.stdout != "ok: 1 agent (third)\n" {
		t.Errorf("got %q", o.stdout)
	}
	for arg, want := range map[string]string{
		prompt: "name the YAML file", filepath.Join(p.dir, "nowhere"): "cannot be read", t.TempDir(): "contains no readable definition",
	} {
		if o := p.atelier("agents", "validate", arg); o.code != exitInput || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: got %+v", arg, o)
		}
	}
}

func TestFolderWithoutDefinitionsIsRefused(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	for _, args := range [][]string{{"agents", "list"}, {"agents", "show", "sage"}, {"run", "sage", "Hello"}} {
		if o := p.atelier(append(args, "--agents", t.TempDir())...); o.code != exitInput || !strings.Contains(o.stderr, "contains no readable definition") {
			t.Errorf("%v: got %+v", args, o)
		}
	}
}

// TestPromptsNameWhatTheAgentHas: a prompt names every action of its agent and no other.
func TestPromptsNameWhatTheAgentHas(t *testing.T) {
	t.Parallel()
	defs, err := shipped.Definitions("")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, d := range defs.All() {
		may := map[string]bool{}
		for _, a := range d.Actions {
			may[a.Name] = true
		}
		for _, f := range shipped.Families() {
			for _, a := range f.Actions {
				if f.Name == "Media of the run" || !strings.Contains(d.Prompt, a.Name) {
					continue
				}
				if named++; !may[a.Name] {
					t.Errorf("the prompt of %s names %s, which it may not take", d.Slug, a.Name)
				}
			}
		}
		for name := range may {
			if !strings.Contains(d.Prompt, name) {
				t.Errorf("the prompt of %s does not say when to use %s", d.Slug, name)
			}
		}
	}
	if named < 15 {
		t.Errorf("found only %d names", named)
	}
}
