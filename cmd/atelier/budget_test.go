package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/chat/chattest"
	"atelier/ledger"
)

// TestBudgetsOfARun: flags limit what a run may use; a run that reaches a limit exits with code 5 and keeps everything
// that it made.
func TestBudgetsOfARun(t *testing.T) {
	t.Parallel()
	paint := act(t, "Generate Image", map[string]any{"Prompt": "a harbour", "Model": "Atelier Offline", "Size": "64x64"})
	again := act(t, "Generate Image", map[string]any{"Prompt": "a ship", "Model": "Atelier Offline", "Size": "64x64"})
	for name, c := range map[string]struct {
		flags   []string
		answers []string
		code    int
		says    string
	}{
		"turns":          {[]string{"--max-turns", "2"}, []string{paint}, exitBudget, "may take 2 turns"},
		"tokens":         {[]string{"--max-tokens", "10"}, []string{paint}, exitBudget, "and may use 10"},
		"finishes":       {[]string{"--max-turns", "2"}, []string{paint, done(t, "Here.")}, exitOK, "asked to finish"},
		"images":         {[]string{"--max-images", "1"}, []string{paint, again, done(t, "One is there.")}, exitOK, "One is there."},
		"no images":      {[]string{"--max-images", "0"}, []string{paint}, exitInput, "--max-images is 0"},
		"fewer images":   {[]string{"--max-images=-3"}, []string{paint}, exitInput, "--max-images is -3"},
		"negative time":  {[]string{"--max-time=-1s"}, []string{paint}, exitInput, "must be more than 0"},
		"no time":        {[]string{"--max-time", "soon"}, []string{paint}, exitInput, "max-time"},
		"no money":       {[]string{"--max-cost", "lots"}, []string{paint}, exitInput, "--max-cost"},
		"negative money": {[]string{"--max-cost=-1"}, []string{paint}, exitInput, "--max-cost"},
		"endless money":  {[]string{"--max-cost", "1e999999999"}, []string{paint}, exitInput, "--max-cost"},
		"much of all":    {[]string{"--max-cost", "$4000000", "--max-images", "9223372036854775807", "--max-time", "2562047h"}, []string{paint, done(t, "Here.")}, exitOK, ""},
		"negative":       {[]string{"--max-turns=-1"}, []string{paint}, exitInput, "must be more than 0"},
		"no turns":       {[]string{"--max-turns", "0"}, []string{paint}, exitInput, "must be more than 0"},
		"no wait":        {[]string{"--timeout", "0s"}, []string{paint}, exitInput, "must be more than 0"},
		"no number":      {[]string{"--max-tokens", "many"}, []string{paint}, exitInput, "max-tokens"},
		"far from there": {[]string{"--max-turns", "9", "--max-tokens", "9000000"}, []string{paint, done(t, "Here.")}, exitOK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := connected(t)
			s.chat.Answer = answersInOrder(c.answers...)
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

// TestTimeOfARun: a service that does not answer cannot keep a run beyond its time limit.
func TestTimeOfARun(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	ended := make(chan struct{})
	s.chat.Answer = func(chattest.Request) string {
		<-ended
		return done(t, "Too late.")
	}
	t.Cleanup(func() { close(ended) })
	o := p.atelier("run", "sage", "draw", "--max-time", "50ms", "--json")
	if ans := decode[answer](t, o); o.code != exitBudget || ans.Status != "failed" || !strings.Contains(o.stderr, "may work for 50ms: work in progress was stopped") {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}

// TestMoneyOfARun: model calls and pictures count against the same amount. If the rest is too little for the next call,
// the run ends, its report is written, and runs show prints what it used.
func TestMoneyOfARun(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	p.write("own/drawer.yaml", "slug: drawer\nname: Drawer\ndescription: Draws.\nchat_models: [GPT-5.4]\nactions: [Generate Image]\n")
	p.write("own/drawer.md", "You draw.")
	s.chat.Answer = func(chattest.Request) string {
		return step(t, map[string]any{
			"reasoning": "draw", "payload": map[string]any{"report_markdown": "# So far"}, "done": false,
			"actions": []any{map[string]any{"name": "Generate Image", "params": map[string]any{
				"Prompt": "a harbour", "Model": "GPT Image 2", "Quality": "medium", "Size": "1024x1024",
			}}},
		})
	}
	out := filepath.Join(p.dir, "out")
	o := p.atelier("run", "drawer", "draw", "--agents", filepath.Join(p.dir, "own"), "--max-cost", "0.08", "--out", out, "--json")
	ans := decode[answer](t, o)
	if o.code != exitBudget || ans.Status != "failed" || !strings.Contains(o.stderr, "over budget: ") || !strings.Contains(o.stderr, "what was made is kept") {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	b, err := os.ReadFile(ans.Report)
	if err != nil || !strings.Contains(string(b), "So far") || len(ans.AlsoMade) == 0 {
		t.Errorf("report %q, %v, %d made", ans.Report, err, len(ans.AlsoMade))
	}
	if n := len(s.images.Captured()); n != 1 {
		t.Errorf("%d pictures were paid for, want 1 for $0.08", n)
	}
	w := &world{ctx: t.Context(), env: func(k string) string { return p.env[k] }}
	err = w.withStores(func(st *stores) error {
		b, err := st.Ledger.Budget(w.ctx, "run:"+ans.RunID)
		// A call is admitted by the cost of its input, so the answer of the last call may exceed the limit.
		if usd := ledger.UnitMoney.Format(b.Spent); b.Spent == 0 || b.Reserved != 0 || usd > "$0.081" {
			t.Errorf("%s of $0.08 is spent: %+v", usd, b)
		}
		if shown := ledger.PicoOf(ans.Cost.EstimatedUSD); int64(shown) != b.Spent || ans.Cost.ReportedUSD == nil || !ans.Cost.Complete {
			t.Errorf("the budget counts %d, the cost is %d: %+v", b.Spent, shown, ans.Cost)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	shown := p.must("runs", "show", ans.RunID).stdout
	for _, want := range []string{"over_budget", "limits:  $0.08", "1 image, worked ", "cost:    " + estimateText(ans.Cost.EstimatedUSD) + " ($" + *ans.Cost.ReportedUSD + " reported, the rest estimated)"} {
		if !strings.Contains(shown, want) {
			t.Errorf("runs show does not print %q:\n%s", want, shown)
		}
	}
}

// TestBudgetsOfAnOwner: the limits set in the environment hold across the runs and generations of all processes.
func TestBudgetsOfAnOwner(t *testing.T) {
	t.Parallel()
	p, _ := connected(t)
	p.env["ATELIER_BUDGET_DAY_IMAGES"], p.env["ATELIER_BUDGET_OWNER_TOKENS"] = "3", "100000"
	var all []*process
	for i := range 4 {
		all = append(all, p.start("generate", "a fox "+itoa(i), "-n", "2", "--size", "64x64", "-m", "offline", "--json"))
	}
	codes := map[int]int{}
	for _, s := range all {
		codes[s.wait().code]++
	}
	if codes[exitOK] != 1 || codes[exitBudget] != 3 {
		t.Errorf("exit codes %v", codes)
	}
	p.must("generate", "a fox", "--size", "64x64", "-m", "offline")
	p.must("run", "sage", "Hello.", "--model", "offline")
	p.env["ATELIER_BUDGET_OWNER_TOKENS"] = "100"
	p.atelier("run", "sage", "Hello.", "--model", "offline").checkRefused(t, exitBudget, "the budget ATELIER_BUDGET_OWNER_TOKENS (tokens:owner:local) has 0 tokens left of 100 tokens")
	for name, bad := range map[string]string{"ATELIER_BUDGET_RUN_IMAGES": "0", "ATELIER_BUDGET_DAY_TOKENS": "-4", "ATELIER_BUDGET_OWNER_IMAGES": "some"} {
		p.env[name] = bad
		p.atelier("generate", "a harbour").checkRefused(t, exitInput, name+" is ")
		delete(p.env, name)
	}
}

// TestModelWithASmallContext: over HTTP, a model that accepts 12,000 bytes of conversation reads a file of 200,000
// bytes and succeeds; it still knows the picture of the first turn.
func TestModelWithASmallContext(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	p.write("notes/a.txt", strings.Repeat("The harbour has 14 cranes and 3 ships. ", 5000))
	p.write("own/reader.yaml", "slug: reader\nname: Reader\ndescription: Reads and draws.\nchat_models: [GPT-5.4]\nactions:\n  - Read File\n  - name: Generate Image\n    ResultExpirationTurns: 1\n")
	p.write("own/reader.md", "You read.")
	paint := act(t, "Generate Image", map[string]any{"Prompt": "a harbour", "Model": "Atelier Offline", "Size": "64x64"})
	look := act(t, "Read File", map[string]any{"Path": "a.txt"})
	s.chat.Answer = answersInOrder(paint, look, look, look, done(t, "The harbour has 14 cranes."))
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
