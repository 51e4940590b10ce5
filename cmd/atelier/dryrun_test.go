package main

import (
	"net/http/httptest"
	"strings"
	"testing"

	"atelier/generate/generatetest/bflsim"
	"atelier/generate/generatetest/midjourneysim"
)

// dryRun is the part of a dry run's output that the tests read.
type dryRun struct {
	Estimate string `json:"estimated_usd"`
	Makes    int    `json:"makes"`
	Error    *struct{ Code string }
}

// TestDryRunKnowsBudgets: a dry run shows the plan, says that a budget would refuse it, and exits with the code of that
// refusal. It reserves nothing.
func TestDryRunKnowsBudgets(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	p.env["ATELIER_BUDGET_DAY"] = "0.10"
	dear := []string{"generate", "a fox", "-m", "GPT Image 2", "--quality", "high", "--size", "3840x2160", "--dry-run"}
	for range 2 {
		o := p.atelier(dear...)
		o.checkRefused(t, exitBudget, "has $0.1 left of $0.1, and this needs $1.0036224")
		if !strings.Contains(o.stdout, "estimate  about $1\n") {
			t.Errorf("no plan: %s", o.stdout)
		}
	}
	o := p.atelier(append(dear, "--json")...)
	if plan := decode[dryRun](t, o); o.code != exitBudget || plan.Error == nil || plan.Error.Code != "over_budget" || plan.Estimate != "1.0036224" || plan.Makes != 1 {
		t.Errorf("exit %d, %+v", o.code, plan)
	}
	o = p.must(append(dear, "--fallback", "offline")...)
	if !strings.Contains(o.stdout, "model     Atelier Offline") || !strings.Contains(o.stderr, "was passed over") {
		t.Errorf("with a fallback: %s%s", o.stdout, o.stderr)
	}
	both := []string{"generate", "a fox", "-m", "GPT Image 2", "-m", "offline", "--quality", "low", "--dry-run"}
	if o := p.must(both...); strings.Contains(o.stderr, "some results") {
		t.Errorf("a comparison that fits: %s", o.stderr)
	}
	if o := p.must(append(both, "-n", "6")...); !strings.Contains(o.stderr, "some results would not be made: the budget ATELIER_BUDGET_DAY (day:") {
		t.Errorf("a comparison that does not fit: %s%s", o.stdout, o.stderr)
	}
	if n := len(s.received()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// TestUnknownPricesUnderBudgets: the price of a Midjourney picture is unknown. A budget of money lets it pass with a
// warning, in a dry run and in the call; a budget that is used up refuses it.
func TestUnknownPricesUnderBudgets(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.withMidjourney(midjourneysim.Config{Singles: true, Quick: true})
	ask := []string{"generate", "a lighthouse", "-m", "Midjourney 7"}
	const warning = "the price of Midjourney 7 is not known in advance"
	p.env["ATELIER_BUDGET_DAY_IMAGES"] = "100"
	if o := p.must(append(ask, "--dry-run")...); strings.Contains(o.stderr, warning) {
		t.Errorf("no money is bounded: %s", o.stderr)
	}
	p.env["ATELIER_BUDGET_OWNER"] = "0.05"
	for _, args := range [][]string{append(ask, "--dry-run"), ask} {
		if o := p.must(args...); !strings.Contains(o.stderr, warning) {
			t.Errorf("%q: %s%s", args, o.stdout, o.stderr)
		}
	}
	sim := bflsim.New(bflsim.Config{Pending: -1})
	srv := httptest.NewServer(sim)
	t.Cleanup(srv.Close)
	p.env["BFL_API_KEY"], p.env["BFL_BASE_URL"], p.env["ATELIER_BUDGET_OWNER"] = sim.Key(), srv.URL, "0.03"
	p.must("generate", "a fox", "-m", "FLUX.2 Pro", "--size", "1024x1024")
	for _, args := range [][]string{append(ask, "--dry-run"), ask} {
		p.atelier(args...).checkRefused(t, exitBudget, "has $0 left of $0.03")
	}
}

// TestGridsUnderABudgetOfPictures: a Midjourney job makes four pictures, and four are reserved; an upscale makes one.
func TestGridsUnderABudgetOfPictures(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	sim := p.withMidjourney(midjourneysim.Config{Quick: true})
	ask := []string{"generate", "a lighthouse", "-m", "Midjourney 7", "-n", "2"}
	p.env["ATELIER_BUDGET_DAY_IMAGES"] = "3"
	for _, args := range [][]string{ask, append(ask, "--dry-run")} {
		p.atelier(args...).checkRefused(t, exitBudget, "has 3 images left of 3 images, and this needs 4 images")
	}
	if n := len(sim.Captured()); n != 0 {
		t.Fatalf("%d jobs", n)
	}
	p.env["ATELIER_BUDGET_DAY_IMAGES"] = "5"
	if o := p.must(append(ask, "--dry-run")...); !strings.Contains(o.stdout, "calls     1 call, 4 results") {
		t.Errorf("plan: %s", o.stdout)
	}
	p.must(ask...)
	tile := p.mediaList().Items[0].ID
	upscale := []string{"generate", "--vary", tile, "-m", "Midjourney 7", "--option", "midjourney.action=upscale"}
	if o := p.must(append(upscale, "--dry-run")...); !strings.Contains(o.stdout, "calls     1 call\n") {
		t.Errorf("plan of an upscale: %s", o.stdout)
	}
	p.atelier("generate", "--vary", tile, "-m", "Midjourney 7").checkRefused(t, exitBudget, "has 1 image left")
	p.must(upscale...)
}
