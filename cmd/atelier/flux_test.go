package main

import (
	"net/http/httptest"
	"strings"
	"testing"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/bflsim"
	"atelier/generate/generatetest/leonardosim"
)

// TestPolledProvidersAreWired: keys and base URLs of Black Forest Labs and Leonardo
// reach their drivers, a missing key is named, and a refusal has its exit code.
func TestPolledProvidersAreWired(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sim      generatetest.Simulator
		variable string
		model    string
	}{
		"bfl":      {bflsim.New(bflsim.Config{}), "BFL", "FLUX.2 Pro"},
		"leonardo": {leonardosim.New(leonardosim.Config{}), "LEONARDO", "phoenix_1_0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			srv := httptest.NewServer(c.sim)
			t.Cleanup(srv.Close)
			if o := p.atelier("generate", "a fox", "--model", c.model); o.code != exitInput || !strings.Contains(o.stderr, c.variable+"_API_KEY") {
				t.Errorf("without a key: exit %d, %s", o.code, o.stderr)
			}
			p.env[c.variable+"_API_KEY"], p.env[c.variable+"_BASE_URL"] = c.sim.Key(), srv.URL
			if o := p.must("providers"); !strings.Contains(o.stdout, name) {
				t.Errorf("providers: %s", o.stdout)
			}
			c.sim.Inject(generatetest.Injection{Fault: generatetest.FaultQuota})
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
