package main

import (
	"net/http/httptest"
	"testing"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/bflsim"
	"atelier/generate/generatetest/leonardosim"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/generate/generatetest/openroutersim"
)

// rented is a provider of the place by its simulator, with the model that is asked.
func (p *place) rented(name string) (generatetest.Simulator, string) {
	p.t.Helper()
	if name == "MIDJOURNEY" {
		return p.withMidjourney(midjourneysim.Config{Quick: true}), "Midjourney 7"
	}
	var sim generatetest.Simulator
	var model string
	switch name {
	case "BFL":
		sim, model = bflsim.New(bflsim.Config{Pending: -1}), "FLUX.2 Pro"
	case "LEONARDO":
		sim, model = leonardosim.New(leonardosim.Config{}), "phoenix_1_0"
	default:
		sim, model = openroutersim.New(openroutersim.Config{}), "Nano Banana Pro (OpenRouter)"
	}
	srv := httptest.NewServer(sim)
	p.t.Cleanup(srv.Close)
	p.env[name+"_API_KEY"], p.env[name+"_BASE_URL"] = sim.Key(), srv.URL
	return sim, model
}

// TestExitCodesOfProviders: what a provider fails at is its failure, whatever the code of
// the result; what it says is wrong with the request is bad input.
func TestExitCodesOfProviders(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"BFL", "LEONARDO", "MIDJOURNEY", "OPENROUTER"} {
		for fault, code := range map[generatetest.Fault]int{
			generatetest.FaultTaskLost:   exitProvider,
			generatetest.FaultTaskFailed: exitProvider,
			generatetest.FaultConflict:   exitProvider,
			generatetest.FaultInvalid:    exitInput,
			generatetest.FaultDeadModel:  exitInput,
		} {
			if asked, _ := newPlace(t).rented(provider); asked.Variants(fault) == 0 {
				continue // it has no such failure
			}
			t.Run(provider+"/"+string(fault), func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				sim, model := p.rented(provider)
				for variant := range sim.Variants(fault) {
					sim.Inject(generatetest.Injection{Fault: fault, Variant: variant})
					if fault == generatetest.FaultConflict { // it is asked again once
						sim.Inject(generatetest.Injection{Fault: fault, Variant: variant})
					}
					if o := p.atelier("generate", "a fox", "-m", model); o.code != code {
						t.Errorf("variant %d: exit %d, want %d\n%s%s", variant, o.code, code, o.stdout, o.stderr)
					}
				}
			})
		}
	}
}
