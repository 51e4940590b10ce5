package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestBudgetsOfARun: what a run may use at most is set on the command line; the end of
// it is exit code 5, with everything that was made.
func TestBudgetsOfARun(t *testing.T) {
	t.Parallel()
	paint := act(t, "Generate Image", map[string]any{"Prompt": "a harbour", "Model": "Atelier Offline", "Size": "64x64"})
	for name, c := range map[string]struct {
		flags   []string
		answers []string
		code    int
		says    string
	}{
		"turns":          {[]string{"--max-turns", "2"}, []string{paint}, exitBudget, "may take 2 turns"},
		"tokens":         {[]string{"--max-tokens", "10"}, []string{paint}, exitBudget, "and may use 10"},
		"finishes":       {[]string{"--max-turns", "2"}, []string{paint, done(t, "Here.")}, exitOK, "told to finish"},
		"negative":       {[]string{"--max-turns=-1"}, []string{paint}, exitInput, "must not be negative"},
		"no number":      {[]string{"--max-tokens", "many"}, []string{paint}, exitInput, "max-tokens"},
		"far from there": {[]string{"--max-turns", "9", "--max-tokens", "9000000"}, []string{paint, done(t, "Here.")}, exitOK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := connected(t)
			s.chat.Answer = inTurn(c.answers...)
			o := p.atelier(append([]string{"run", "sage", "draw", "--json"}, c.flags...)...)
			if o.code != c.code || !strings.Contains(o.stderr+o.stdout, c.says) {
				t.Fatalf("exit %d, want %d and %q\n%s%s", o.code, c.code, c.says, o.stdout, o.stderr)
			}
			if c.code == exitInput {
				return
			}
			if ans := decode[answer](t, o); len(ans.AlsoMade) != 1 {
				t.Errorf("what was made is not listed: %s", o.stdout)
			}
		})
	}
}

// TestModelWithASmallContext: over HTTP, a model that takes 12,000 bytes of conversation
// reads a file of 200,000 and ends well; the picture of the first turn is still known.
func TestModelWithASmallContext(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	p.write("notes/a.txt", strings.Repeat("The harbour has 14 cranes and 3 ships. ", 5000))
	p.write("own/reader.yaml", "slug: reader\nname: Reader\ndescription: Reads and draws.\nchat_models: [GPT-5.4]\nactions:\n  - Read File\n  - name: Generate Image\n    ResultExpirationTurns: 1\n")
	p.write("own/reader.md", "You read.")
	paint := act(t, "Generate Image", map[string]any{"Prompt": "a harbour", "Model": "Atelier Offline", "Size": "64x64"})
	look := act(t, "Read File", map[string]any{"Path": "a.txt"})
	s.chat.Answer = inTurn(paint, look, look, look, done(t, "The harbour has 14 cranes."))
	s.chat.MaxText = 12_000
	o := p.atelier("run", "reader", "How many cranes?", "--files", filepath.Join(p.dir, "notes"), "--agents", filepath.Join(p.dir, "own"), "--json")
	ans := decode[answer](t, o)
	if o.code != exitOK || ans.Message != "The harbour has 14 cranes." || len(ans.AlsoMade) != 1 {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	if !strings.Contains(strings.Join(ans.Warnings, "\n"), "the conversation was too long for GPT-5.4") {
		t.Errorf("warnings %q", ans.Warnings)
	}
	all := s.chat.Requests()
	var text strings.Builder
	for _, m := range all[len(all)-1].Messages {
		text.WriteString(m.Text)
	}
	if ref := string(ans.AlsoMade[0].Ref); !strings.Contains(text.String(), ref) {
		t.Errorf("%s is not known any more", ref)
	}
}
