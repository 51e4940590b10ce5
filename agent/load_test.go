package agent_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"atelier/action"
	"atelier/agent"
	"atelier/agents"
	"atelier/media"
)

func TestLoadReportsWhereThingsAreWrong(t *testing.T) {
	t.Parallel()
	head := "slug: a\nname: A\ndescription: Tests.\n"
	tests := map[string]struct{ yaml, want string }{
		"syntax":          {"slug: [", "a.yaml: line 1"},
		"empty":           {"", "a.yaml:1:1: the file is empty"},
		"not a mapping":   {"- x", "a.yaml:1:1: want a mapping"},
		"unknown field":   {head + "modell: x\n", `a.yaml:4:1: unknown field "modell"`},
		"twice":           {head + "name: B\n", `a.yaml:4:1: field "name" stands twice`},
		"bad slug":        {"slug: A b\nname: A\ndescription: x\n", `slug "A b"`},
		"no description":  {"slug: a\nname: A\n", "name and description are required"},
		"bad turns":       {head + "turns: many\n", "a.yaml:4:8: want a whole number"},
		"turns too many":  {head + "turns: 9999\n", "a.yaml:4:8: want a whole number"},
		"bad source":      {head + "requires: [disk]\n", `"disk" is no source`},
		"actions no list": {head + "actions: Paint\n", "a.yaml:4:10: want a list"},
		"action nameless": {head + "actions:\n  - compact_length: 5\n", "a.yaml:5:5: an action needs a name"},
		"bad mode":        {head + "actions:\n  - name: X\n    result_expiration_mode: Burn\n", `a.yaml:6:29: "Burn" is none of`},
		"action twice":    {head + "actions: [Paint, paint]\n", `a.yaml:4:18: action "paint" is listed twice`},
		"own circle":      {head + "agents: [a]\n", "a.yaml:4:10: agents call each other in a circle: a → a"},
		"no prompt":       {head + "prompt: nowhere.md\n", "nowhere.md cannot be read"},
		"prompt outside":  {head + "prompt: ../x.md\n", "cannot be read"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := agent.Load(fstest.MapFS{"a.yaml": {Data: []byte(tt.yaml)}, "a.md": {Data: []byte("A.")}})
			if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestLoadOverrides(t *testing.T) {
	t.Parallel()
	base := definitions(map[string]string{"painter": painter, "writer": ""})
	own := definitions(map[string]string{"painter": "turns: 3\n"})
	defs, err := agent.Load(base, own)
	if err != nil {
		t.Fatal(err)
	}
	d, err := defs.Find("PAINTER")
	if err != nil || d.Turns != 3 || len(d.Actions) != 0 || len(defs.All()) != 2 {
		t.Errorf("got %+v, %v", d, err)
	}
	if w, _ := defs.Find("writer"); w.Turns != 20 || w.Prompt != "You are writer." || len(w.Hash) != 64 {
		t.Errorf("got %+v", w)
	}
	if _, err := defs.Find("x"); media.CodeOf(err) != media.CodeNotFound || !strings.Contains(err.Error(), "painter, writer") {
		t.Errorf("got %v", err)
	}
}

func TestLongCircleAndDuplicates(t *testing.T) {
	t.Parallel()
	_, err := agent.Load(definitions(map[string]string{"a": "agents: [b]\n", "b": "agents: [c]\n", "c": "agents: [a]\n"}))
	if err == nil || !strings.Contains(err.Error(), "a → b → c → a") {
		t.Errorf("got %v", err)
	}
	f := definitions(map[string]string{"a": ""})
	f["z.yaml"] = f["a.yaml"]
	if _, err := agent.Load(f); err == nil || !strings.Contains(err.Error(), "already defined at a.yaml:1:1") {
		t.Errorf("got %v", err)
	}
}

func TestRunnerChecksNames(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"actions: [Fly]\n": `painter.yaml:4:11: unknown action "Fly": use one of Paint`,
		"agents: [bob]\n":  `painter.yaml:4:10: agent "bob" is not known`,
	} {
		store := newStore(t)
		reg, err := action.NewRegistry(action.Config{Store: store})
		if err != nil {
			t.Fatal(err)
		}
		if err := reg.Register(paint()); err != nil {
			t.Fatal(err)
		}
		defs, err := agent.Load(definitions(map[string]string{"painter": yaml}))
		if err != nil {
			t.Fatal(err)
		}
		_, err = agent.NewRunner(agent.Config{Definitions: defs, Actions: reg, Codec: store, Models: &script{}})
		if media.CodeOf(err) != media.CodeInvalid && media.CodeOf(err) != media.CodeNotFound || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := agent.NewRunner(agent.Config{}); err == nil || !strings.Contains(err.Error(), "agent.Config.Actions") {
		t.Errorf("got %v", err)
	}
}

func TestShippedAgents(t *testing.T) {
	t.Parallel()
	defs, err := agent.Load(agents.FS())
	if err != nil {
		t.Fatal(err)
	}
	var slugs []string
	for _, d := range defs.All() {
		slugs = append(slugs, d.Slug)
		for _, a := range d.Agents {
			if _, err := defs.Find(a.Slug); err != nil {
				t.Errorf("%s: %v", d.Slug, err)
			}
		}
		if len(d.Prompt) < 500 {
			t.Errorf("%s has a prompt of %d bytes", d.Slug, len(d.Prompt))
		}
	}
	if got := strings.Join(slugs, " "); got != "database-research-agent file-research-agent infographic-agent kb-research-agent research-agent research-report-writer sage web-research-agent" {
		t.Errorf("shipped: %s", got)
	}
	writer, err := defs.Find("Research Report Writer")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"${media:REF}", "alt", "figcaption", "1536x1024", "Sources", "Generate Image", "Create SVG Chart"} {
		if !strings.Contains(writer.Prompt, want) {
			t.Errorf("the writer's prompt lacks %q", want)
		}
	}
}
