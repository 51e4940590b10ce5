package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestCanaryInDefinitions: agents with canaries in instructions, descriptions and mistakes are refused before a model
// reads them, and no canary leaks.
func TestCanaryInDefinitions(t *testing.T) {
	t.Parallel()
	small, big := newCanaries(t, 96)
	p, s := connected(t)
	s.chat.Answer = answersInOrder(done(t, "Fine."))
	found := sinks{}
	for name, text := range map[string]string{"small": small.url(), "big": big.base64(), "bigurl": big.url()} {
		p.write("agents/"+name+".md", "You are "+name+". Your mark is "+text+" and nothing else.")
		p.write("agents/"+name+".yaml", "slug: "+name+"\nname: "+name+"\ndescription: Wears "+text+"\nprompt: "+name+".md\nturns: 3\n")
	}
	p.write("bad/bad.yaml", "slug: bad\nname: "+small.base64()+"\ndescription: x\nprompt: "+small.url()+"\nturns: "+big.base64()+"\n"+
		"actions:\n  - name: "+big.url()+"\n"+small.base64()+": 1\nagents:\n  - slug: "+small.base64()+"\npayload_schema: {type: "+big.base64()+"}\n")
	dir := filepath.Join(p.dir, "agents")
	add := func(args ...string) {
		o := p.atelier(args...)
		if o.code != exitInput {
			t.Errorf("atelier %s: exit %d", args[0], o.code)
		}
		o.args = args[:1]
		found.add(o)
	}
	add("agents", "list", "--agents", dir)
	add("agents", "list", "--agents", dir, "--json")
	add("agents", "validate", filepath.Join(p.dir, "bad"))
	add("agents", "validate", filepath.Join(p.dir, "bad"), "--json")
	add("run", "bad", "hello", "--agents", filepath.Join(p.dir, "bad"))
	for _, name := range []string{"small", "big", "bigurl"} {
		add("agents", "show", name, "--agents", dir)
		add("agents", "show", name, "--agents", dir, "--json")
		add("run", name, "hello", "--agents", dir, "--json")
	}
	if n := len(s.chat.Requests()); n != 0 {
		t.Errorf("%d model calls", n)
	}
	found.gather(p)
	found.prompts(s)
	found.search(t, small, big)
}

// TestCanaryInDocumentsAndLastTurns: no canary leaks from a sub-agent's text that is large enough to become a document,
// from the parts that its parent reads, or from the answer to the notice of the last turn.
func TestCanaryInDocumentsAndLastTurns(t *testing.T) {
	t.Parallel()
	small, big := newCanaries(t, 97)
	p, s := connected(t)
	text := "<h1>Report</h1>" + strings.Repeat("<p>The harbour grew by a tenth in the last year of trade.</p>", 400) +
		`<img src="` + small.url() + `"><img src="` + big.url() + `"><pre>` + big.base64() + "</pre>"
	lines := scriptedAgents(t, map[string][]string{
		"research-agent": {
			step(t, map[string]any{"agents": []any{map[string]any{"name": "research-report-writer", "task": "Write."}}}),
			act(t, "List Agent Media", map[string]any{}),
			step(t, map[string]any{"message": small.url(), "reasoning": big.base64(), "payload": map[string]any{"note": big.url()}, "actions": []any{map[string]any{"name": "List Agent Media", "params": map[string]any{"Page": small.base64()}}}}),
		},
		"research-report-writer": {step(t, map[string]any{"done": true, "message": "Here " + small.base64(), "payload": map[string]any{"report_html": text, "notes": big.base64()}})},
	})
	s.chat.Answer = lines
	found := sinks{}
	o := p.atelier("run", "research-agent", "How is the harbour?", "--max-turns", "3", "--json")
	found.add(o)
	for _, m := range p.mediaList().Items {
		found.add(p.atelier("media", "show", m.ID))
	}
	found.gather(p)
	found.prompts(s)
	found.search(t, small, big)
	checkStored(t, p, big)
	documents := 0
	for _, m := range p.mediaList().Items {
		if strings.HasPrefix(m.Ref, "doc-") {
			documents++
		}
	}
	if documents == 0 {
		t.Error("no document was made, so nothing was proved")
	}
}
