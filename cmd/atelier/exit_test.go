package main

import (
	"net/http/httptest"
	"testing"

	"atelier/internal/sim"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/bflsim"
	"atelier/generate/generatetest/leonardosim"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/generate/generatetest/openroutersim"
)

// withProvider configures the simulator of a provider for the environment, and returns it with the model to request.
func (p *testEnv) withProvider(name string) (generatetest.Simulator, string) {
	p.t.Helper()
	if name == "MIDJOURNEY" {
		return p.withMidjourney(midjourneysim.Config{Quick: true}), "Midjourney 7"
	}
	var service generatetest.Simulator
	var model string
	switch name {
	case "BFL":
		service, model = bflsim.New(bflsim.Config{Pending: -1}), "FLUX.2 Pro"
	case "LEONARDO":
		service, model = leonardosim.New(leonardosim.Config{}), "phoenix_1_0"
	default:
		service, model = openroutersim.New(openroutersim.Config{}), "Nano Banana Pro (OpenRouter)"
	}
	srv := httptest.NewServer(service)
	p.t.Cleanup(srv.Close)
	p.env[name+"_API_KEY"], p.env[name+"_BASE_URL"] = service.Key(), srv.URL
	return service, model
}

// TestExitCodesOfProviders: a failure of the provider exits as a provider failure, whatever the error code; what the
// provider rejects in the request exits as bad input.
func TestExitCodesOfProviders(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"BFL", "LEONARDO", "MIDJOURNEY", "OPENROUTER"} {
		for fault, code := range map[sim.Fault]int{
			sim.FaultTaskLost:   exitProvider,
			sim.FaultTaskFailed: exitProvider,
			sim.FaultConflict:   exitProvider,
			sim.FaultInvalid:    exitInput,
			sim.FaultDeadModel:  exitInput,
		} {
			if asked, _ := newTestEnv(t).withProvider(provider); asked.Variants(fault) == 0 {
				continue // the provider has no such failure
			}
			t.Run(provider+"/"+string(fault), func(t *testing.T) {
				t.Parallel()
				p := newTestEnv(t)
				service, model := p.withProvider(provider)
				for variant := range service.Variants(fault) {
					service.Inject(sim.Injection{Fault: fault, Variant: variant})
					if fault == sim.FaultConflict { // it is asked once more
						service.Inject(sim.Injection{Fault: fault, Variant: variant})
					}
					if o := p.atelier("generate", "a fox", "-m", model); o.code != code {
						t.Errorf("variant %d: exit %d, want %d\n%s%s", variant, o.code, code, o.stdout, o.stderr)
					}
				}
			})
		}
	}
}
