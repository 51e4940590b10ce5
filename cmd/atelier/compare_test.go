package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier/internal/sim"

	"atelier/generate/generatetest/bflsim"
	"atelier/ledger"
)

// compared is the output of generate --json for several models.
type compared struct {
	Comparison []struct {
		Result  generated
		Seconds float64
		Error   *struct{ Code string }
	}
	Sheet *outputView `json:"contact_sheet"`
}

func TestCompareModels(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	got := read[compared](p, "generate", "a harbour", "-m", "GPT Image 2", "-m", "Atelier Offline", "-n", "2", "-o", filepath.Join(p.dir, "c", "out.png"), "--json")
	if len(got.Comparison) != 2 || got.Sheet == nil || got.Comparison[0].Result.Model != "GPT Image 2" || got.Comparison[0].Seconds <= 0 {
		t.Fatalf("%+v", got)
	}
	for _, name := range []string{"out-gpt-image-2-1.png", "out-gpt-image-2-2.png", "out-atelier-offline-1.png", "out-atelier-offline-2.png", "out-contact-sheet.png"} {
		if _, err := os.Stat(filepath.Join(p.dir, "c", name)); err != nil {
			t.Error(err)
		}
	}
	if img := decoded(t, got.Sheet.Path); img.Bounds().Dx() != 4*504+24 {
		t.Errorf("the contact sheet is %v", img.Bounds())
	}
	if shown := p.must("media", "show", string(got.Sheet.Ref)).stdout; strings.Count(shown, "as input") != 4 {
		t.Errorf("lineage of the sheet: %s", shown)
	}

	s.images.Inject(sim.Injection{Fault: sim.FaultQuota})
	o := p.must("generate", "a harbour", "-m", "GPT Image 2", "-m", "Atelier Offline")
	for _, want := range []string{"MODEL", "TIME", "COST", "failed", "succeeded", "contact sheet: atelier media get img-"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("%q is missing in\n%s", want, o.stdout)
		}
	}
	calls := len(s.images.Captured())
	plans := p.must("generate", "a harbour", "-m", "GPT Image 2", "-m", "Atelier Offline", "--dry-run").stdout
	if !strings.Contains(plans, "ESTIMATE") || len(s.images.Captured()) != calls {
		t.Errorf("a dry run: %s", plans)
	}
	p.atelier("generate", "x", "-m", "gpt-image-2", "-m", "GPT Image 2").checkRefused(t, exitInput, "twice")
	p.atelier("generate", "x", "-m", "nobody", "-m", "GPT Image 2").checkRefused(t, exitInput, "nobody")
	s.images.Inject(sim.Injection{Fault: sim.FaultQuota})
	p.atelier("generate", "x", "-m", "GPT Image 2", "-m", "GPT Image 1.5").checkRefused(t, exitOK, "")
}

func TestFallbackOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	s.images.Inject(sim.Injection{Fault: sim.FaultQuota})
	o := p.must("generate", "a harbour", "-m", "GPT Image 2", "--fallback", "Nano Banana Pro", "--fallback", "Atelier Offline")
	if !strings.Contains(o.stdout, "Atelier Offline") || !strings.Contains(o.stdout, "substituted") {
		t.Errorf("%s", o.stdout)
	}
	id := read[struct{ Items []struct{ ID string } }](p, "operations", "list", "--json").Items[0].ID
	shown := p.must("operations", "show", id).stdout
	for _, want := range []string{"call 1.1", "openai  failed  quota_exceeded", "call 2.1", "offline  succeeded"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
}

// TestFallbackThatNobodyKnows: an unknown model name is refused before any call; people and programs learn why a
// fallback was skipped.
func TestFallbackThatNobodyKnows(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	p.atelier("generate", "a harbour", "-m", "GPT Image 2", "--fallback", "nosuch").checkRefused(t, exitInput, "nosuch")
	p.atelier("generate", "a harbour", "-m", "GPT Image 2", "--fallback", "nosuch", "--dry-run").checkRefused(t, exitInput, "nosuch")
	if n := len(s.images.Captured()); n != 0 {
		t.Errorf("%d calls", n)
	}
	ask := []string{"generate", "a harbour", "-m", "GPT Image 2", "--fallback", "FLUX.2 Pro", "--fallback", "Atelier Offline"}
	for range 2 {
		s.images.Inject(sim.Injection{Fault: sim.FaultQuota})
	}
	if o := p.must(ask...); !strings.Contains(o.stderr, "warning: the next model FLUX.2 Pro was passed over") {
		t.Errorf("stderr: %s", o.stderr)
	}
	got := read[struct{ Warnings []string }](p, append(ask, "--json")...)
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "FLUX.2 Pro") {
		t.Errorf("warnings %q", got.Warnings)
	}
}

func TestFallbackOfTheInstallation(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	p.env["ATELIER_IMAGE_FALLBACK"] = "GPT Image 1.5, Atelier Offline"
	for range 2 {
		s.images.Inject(sim.Injection{Fault: sim.FaultQuota})
	}
	if got := read[generated](p, "generate", "a harbour", "--json"); got.Status != "succeeded" || got.Model != "Atelier Offline" {
		t.Errorf("%+v", got)
	}
	s.images.Inject(sim.Injection{Fault: sim.FaultQuota})
	p.atelier("generate", "a harbour", "-m", "GPT Image 2").checkRefused(t, exitProvider, "")
	ans := read[answer](p, "run", "sage", "Draw a fox, 128x128.", "--model", "offline", "--json")
	if len(ans.Outputs) != 1 {
		t.Errorf("%+v", ans)
	}
}

func TestBudgetsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	p.env["ATELIER_BUDGET_DAY"] = "$0.10"
	p.must("generate", "a harbour", "-m", "GPT Image 2", "--quality", "medium", "--size", "1024x1024")
	p.atelier("generate", "a harbour", "-m", "GPT Image 2", "--quality", "medium", "-n", "4").checkRefused(t, exitBudget, "the budget ATELIER_BUDGET_DAY (day:local:")
	if n := len(s.images.Captured()); n != 1 {
		t.Errorf("%d calls, want one", n)
	}
	p.must("generate", "a harbour", "-m", "Atelier Offline", "-n", "4", "--size", "64x64")
	p.env["ATELIER_BUDGET_RUN"] = "lots"
	p.atelier("generate", "a harbour").checkRefused(t, exitInput, "ATELIER_BUDGET_RUN")
}

// TestOptionsOfAComparison: each option goes only to the models that it is for.
func TestOptionsOfAComparison(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	both := []string{"generate", "a fox", "-m", "GPT Image 2", "-m", "Atelier Offline", "--option", "openai.user=me", "--option", "offline.delay_ms=1"}
	p.must(append(both, "--strict")...)
	if calls := s.images.Captured(); len(calls) != 1 || !strings.Contains(string(calls[0].Body), `"user":"me"`) || strings.Contains(string(calls[0].Body), "delay_ms") {
		t.Errorf("%d calls", len(calls))
	}
	p.atelier(append(both, "--option", "bfl.raw=true")...).checkRefused(t, exitInput, "for models of bfl")
	if n := len(s.images.Captured()); n != 1 {
		t.Errorf("%d calls, want one", n)
	}
}

func TestWaitOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.atelier("generate", "--wait", "nothing").checkRefused(t, exitInput, "nothing")
	p.atelier("generate", "a fox", "--wait", "x").checkRefused(t, exitInput, "omit the prompt")
	made := read[generated](p, "generate", "a fox", "--json")
	again := read[generated](p, "generate", "--wait", made.Operation, "-o", filepath.Join(p.dir, "out.png"), "--json")
	if again.Status != made.Status || again.Slots[0].Output.Digest != made.Slots[0].Output.Digest || again.Slots[0].Output.Path == "" {
		t.Errorf("%+v, want %+v", again, made)
	}
}

// TestCtrlCAtAComparison: the exit code depends on whether results remain to be fetched, then on the interrupt, not on
// the order of the models; every command to type is printed.
func TestCtrlCAtAComparison(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		models []string
		code   int
	}{
		"left first":     {[]string{"FLUX.2 Pro", "GPT Image 2", "Atelier Offline"}, exitRunning},
		"left last":      {[]string{"Atelier Offline", "GPT Image 2", "FLUX.2 Pro"}, exitRunning},
		"two are left":   {[]string{"GPT Image 2", "FLUX.2 Flex", "FLUX.2 Pro"}, exitRunning},
		"nothing is":     {[]string{"GPT Image 2", "Atelier Offline"}, exitInterrupted},
		"nothing, again": {[]string{"Atelier Offline", "GPT Image 2"}, exitInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := connected(t)
			service := bflsim.New(bflsim.Config{Pending: 1 << 20})
			srv := httptest.NewServer(service)
			t.Cleanup(srv.Close)
			p.env["BFL_API_KEY"], p.env["BFL_BASE_URL"] = service.Key(), srv.URL
			s.images.Inject(sim.Injection{Fault: sim.FaultSlow, Delay: time.Hour})
			args := []string{"generate", "a fox"}
			tasks, painted := 0, 0
			for _, m := range c.models {
				args = append(args, "-m", m)
				if strings.HasPrefix(m, "FLUX") {
					tasks++
				}
				if m == "Atelier Offline" {
					painted = 1
				}
			}
			proc := p.start(args...)
			var left []ledger.Operation
			eventually(t, "all are asked", func() bool {
				left = read[operationList](p, "operations", "list", "--status", "running", "--json").Items
				return len(left) == tasks && len(s.images.Captured()) == 1 && len(p.mediaList().Items) == painted
			})
			if err := proc.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			o := proc.wait()
			if o.code != c.code {
				t.Errorf("exit %d, want %d\n%s%s", o.code, c.code, o.stdout, o.stderr)
			}
			for _, op := range left {
				if !strings.Contains(o.stdout, op.Model+" is still running; to wait for it: atelier generate --wait "+op.ID+"\n") {
					t.Errorf("the command to fetch %s is not printed:\n%s", op.ID, o.stdout)
				}
			}
		})
	}
}

// TestModelsWithOneFallback: models that fall back to the same model do not overwrite each other's files.
func TestModelsWithOneFallback(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	for range 2 {
		s.images.Inject(sim.Injection{Fault: sim.FaultQuota})
	}
	got := read[compared](p, "generate", "a harbour", "-m", "GPT Image 2", "-m", "GPT Image 1.5", "--fallback", "Atelier Offline", "--size", "64x64", "-o", filepath.Join(p.dir, "out.png"), "--json")
	paths := map[string]bool{}
	for _, c := range got.Comparison {
		for _, slot := range c.Result.Slots {
			if slot.Output == nil {
				t.Fatalf("%+v", slot)
			}
			paths[slot.Output.Path] = true
		}
	}
	if len(paths) != 2 {
		t.Errorf("two results are in %v", paths)
	}
}

// TestWaitTakesNoOtherSettings: a setting that --wait would ignore is refused, above all --dry-run.
func TestWaitTakesNoOtherSettings(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	made := read[generated](p, "generate", "a fox", "--size", "64x64", "--json")
	for _, flags := range [][]string{
		{"--dry-run"}, {"-n", "2"}, {"--size", "64x64"}, {"--fallback", "offline"}, {"--seed", "7"}, {"--mask", "x.png"}, {"--strict"}, {"--format", "png"}, {"--speed", "2"}, {"--option", "offline.delay_ms=1"},
	} {
		p.atelier(append([]string{"generate", "--wait", made.Operation}, flags...)...).checkRefused(t, exitInput, "original request")
	}
	p.must("generate", "--wait", made.Operation, "--partials", "-o", filepath.Join(p.dir, "fox.png"), "--json")
	p.atelier("generate", "x", "--speed", "0").checkRefused(t, exitInput, "0.25 to 4")
}
