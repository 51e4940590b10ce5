package main

import (
	"image/color"
	"strings"
	"testing"
	"time"

	"atelier/chat"
	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/ledger"
)

// TestDryRunNeedsNoKey: a dry run shows the plan of every available model, and names the missing key. If a later model
// of the chain has its key, the plan is that model's.
func TestDryRunNeedsNoKey(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	o := p.start("generate", "a fox", "-m", "GPT Image 2", "--dry-run").wait()
	if o.code != exitOK || !strings.Contains(o.stdout, "model     GPT Image 2 (openai)") || !strings.Contains(o.stdout, "estimate  $0.") || !strings.Contains(o.stderr, "set OPENAI_API_KEY") {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	for _, m := range read[ledger.List[catalog.Model]](p, "models", "list", "--json").Items {
		args := []string{"generate", "a fox", "-m", m.Name, "--dry-run", "--json"}
		if m.Methods[0] != generate.MethodGenerate {
			args = append(args, "--edit", p.picture("in.png", 300, 300, color.White))
		}
		if plan := read[dryRun](p, args...); plan.Makes < 1 {
			t.Errorf("%s: %+v", m.Name, plan)
		}
	}
	if o := p.must("generate", "a fox", "-m", "GPT Image 2", "--fallback", "offline", "--dry-run"); !strings.Contains(o.stdout, "model     Atelier Offline") {
		t.Errorf("with a fallback: %s%s", o.stdout, o.stderr)
	}
	o = p.must("generate", "a fox", "-m", "GPT Image 2", "-m", "Nano Banana Pro", "--dry-run")
	if !strings.Contains(o.stdout, "Nano Banana Pro") || !strings.Contains(o.stderr, "OPENAI_API_KEY") || !strings.Contains(o.stderr, "GEMINI_API_KEY") {
		t.Errorf("a comparison: %s%s", o.stdout, o.stderr)
	}
	p.atelier("generate", "a fox", "-m", "GPT Image 2").checkRefused(t, exitInput, "OPENAI_API_KEY")
	if n := len(p.mediaList().Items); n != 0 {
		t.Errorf("%d items", n)
	}
}

// TestModelListsTellPricesAndLife: models list shows prices and life; for chat models, also vision and token limits.
func TestModelListsTellPricesAndLife(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	row := func(name string, args ...string) string {
		for line := range strings.Lines(p.start(args...).wait().stdout) {
			if strings.HasPrefix(line, name+"  ") {
				return line
			}
		}
		return ""
	}
	for name, want := range map[string][]string{
		"GPT Image 2":     {"$0.02–0.19 / image", "$30 / 1M image out", "active"},
		"FLUX.2 Pro":      {"$0.03 / megapixel first"},
		"Midjourney 7":    {"unknown"},
		"Atelier Offline": {"$0 / image"},
	} {
		got := row(name, "models", "list")
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%s has no %q: %s", name, part, got)
			}
		}
	}
	var ends *catalog.Model
	today := time.Now()
	for _, m := range read[ledger.List[catalog.Model]](p, "models", "list", "--json").Items {
		if m.Name == "GPT Image 2" && (len(m.Prices) == 0 || m.Life.Released.IsZero() && m.Source == "") {
			t.Errorf("as JSON: %+v", m)
		}
		if m.Life.ShutDown.After(today.Add(24 * time.Hour)) {
			ends = &m
		}
	}
	if ends != nil && !strings.Contains(row(ends.Name, "models", "list"), "until "+ends.Life.ShutDown.Format(time.DateOnly)) {
		t.Errorf("%s does not show its end", ends.Name)
	}
	for _, m := range read[ledger.List[chat.Profile]](p, "models", "list", "--chat", "--provider", "anthropic", "--json").Items {
		if m.Name != "Claude Sonnet 4.6" {
			continue
		}
		got := row(m.Name, "models", "list", "--chat")
		for _, want := range []string{visionText(m), tokens(m.ContextTokens), tokens(m.MaxOutputTokens), "$" + m.InputUSD, "$" + m.OutputUSD, "active"} {
			if want == "" || !strings.Contains(got, want) {
				t.Errorf("no %q: %s", want, got)
			}
		}
		return
	}
	t.Error("no Claude Sonnet 4.6")
}

func TestPriceListOfADay(t *testing.T) {
	t.Parallel()
	m := catalog.Model{Prices: []catalog.Price{
		{Unit: "token_text_in", USD: "5"}, {Unit: "image", USD: "0.2", Until: "2026-11-21"}, {Unit: "image", USD: "0.04"}, {Unit: "image", USD: "0.01"},
	}}
	for day, want := range map[string]string{"2026-11-21": "$0.01–0.2 / image, $5 / 1M text in", "2026-11-22": "$0.01–0.04 / image, $5 / 1M text in"} {
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		if got := priceList(m, at); got != want {
			t.Errorf("on %s: %q, want %q", day, got, want)
		}
	}
	if got := priceList(catalog.Model{}, time.Time{}); got != "unknown" {
		t.Errorf("no price: %q", got)
	}
}
