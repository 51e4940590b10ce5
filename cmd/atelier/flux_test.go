package main

import (
	"net/http/httptest"
	"strings"
	"testing"

	"atelier/internal/sim"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/bflsim"
	"atelier/generate/generatetest/leonardosim"
	"atelier/generate/generatetest/xaisim"
)

// TestProvidersAreWired: keys and base URLs of Black Forest Labs, Leonardo and xAI reach their drivers, an error names
// a missing key, and a refusal has its exit code.
func TestProvidersAreWired(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sim      generatetest.Simulator
		variable string
		model    string
		version  string // the end of the base URL
	}{
		"bfl":      {bflsim.New(bflsim.Config{}), "BFL", "FLUX.2 Pro", ""},
		"xai":      {xaisim.New(xaisim.Config{}), "XAI", "Grok Imagine", "/v1"},
		"leonardo": {leonardosim.New(leonardosim.Config{}), "LEONARDO", "phoenix_1_0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTestEnv(t)
			srv := httptest.NewServer(c.sim)
			t.Cleanup(srv.Close)
			if o := p.atelier("generate", "a fox", "--model", c.model); o.code != exitInput || !strings.Contains(o.stderr, c.variable+"_API_KEY") {
				t.Errorf("without a key: exit %d, %s", o.code, o.stderr)
			}
			p.env[c.variable+"_API_KEY"], p.env[c.variable+"_BASE_URL"] = c.sim.Key(), srv.URL+c.version
			if o := p.must("providers"); !strings.Contains(o.stdout, name) {
				t.Errorf("providers: %s", o.stdout)
			}
			c.sim.Inject(sim.Injection{Fault: sim.FaultQuota})
			if o := p.atelier("generate", "a fox", "--model", c.model); o.code != exitProvider || len(c.sim.Captured()) != 1 || strings.Contains(o.stdout+o.stderr, c.sim.Key()) {
				t.Errorf("refused: exit %d after %d calls, %s%s", o.code, len(c.sim.Captured()), o.stdout, o.stderr)
			}
			p.env[c.variable+"_BASE_URL"] = "ftp://example"
			if o := p.atelier("generate", "a fox", "--model", c.model); o.code != exitInput || !strings.Contains(o.stderr, c.variable+"_BASE_URL") {
				t.Errorf("a bad base: exit %d, %s", o.code, o.stderr)
			}
		})
	}
}

// TestFallbackWithinTheBudget: a fallback that costs more than the rest of the budget is not asked.
func TestFallbackWithinTheBudget(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	service := bflsim.New(bflsim.Config{})
	srv := httptest.NewServer(service)
	t.Cleanup(srv.Close)
	p.env["BFL_API_KEY"], p.env["BFL_BASE_URL"], p.env["ATELIER_BUDGET_OWNER"] = service.Key(), srv.URL, "0.04"
	service.Inject(sim.Injection{Fault: sim.FaultQuota})
	ask := []string{"generate", "a fox", "--size", "1024x1024", "--quality", "medium", "-m", "FLUX.2 Pro", "--fallback", "GPT Image 2"}
	o := p.atelier(ask...)
	o.checkRefused(t, exitBudget, "was passed over")
	if n := len(s.images.Captured()); n != 0 {
		t.Errorf("%d calls that the budget has no money for", n)
	}
	service.Inject(sim.Injection{Fault: sim.FaultQuota})
	p.env["ATELIER_BUDGET_OWNER"] = "0.07"
	p.must(ask...)
	if n := len(s.images.Captured()); n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
	p.env["ATELIER_BUDGET_OWNER"] = "0.0001"
	if o := p.must(append(ask, "--fallback", "Atelier Offline")...); !strings.Contains(o.stdout, "by Atelier Offline") {
		t.Errorf("%s%s", o.stdout, o.stderr)
	}
}
