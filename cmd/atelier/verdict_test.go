package main

import (
	"testing"

	"atelier/internal/sim"

	"atelier/generate"
)

// TestVerdictOfAModeratedResult: --json shows that a provider refused a result, and the categories.
func TestVerdictOfAModeratedResult(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	s.images.Inject(sim.Injection{Fault: sim.FaultModerated})
	res := decode[generated](t, p.atelier("generate", "a fox", "-m", "GPT Image 2", "--json"))
	if v := res.Slots[0].Safety; res.Status != generate.StatusModerated || v == nil || !v.Blocked || len(v.Categories) == 0 {
		t.Errorf("%+v", res.Slots[0])
	}
	if v := read[generated](p, "generate", "a fox", "-m", "GPT Image 2", "--json").Slots[0].Safety; v != nil {
		t.Errorf("nothing was refused: %+v", v)
	}
}
