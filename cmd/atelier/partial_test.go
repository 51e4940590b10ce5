package main

import (
	"testing"

	"atelier/generate"
	"atelier/generate/generatetest"
)

// TestSecondOfThreeImagesFails: a run whose second picture fails keeps the other two.
func TestSecondOfThreeImagesFails(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	picture := func(prompt string) string {
		return act(t, "Generate Image", map[string]any{"Prompt": prompt, "Model": "GPT Image 2"})
	}
	s.chat.Answer = inTurn(picture("one"), picture("two"), picture("three"), done(t, "Two of three."))
	s.images.Inject(generatetest.Injection{}, generatetest.Injection{Fault: generatetest.FaultModerated})
	ans := read[answer](p, "run", "sage", "draw three pictures", "--json", "--out", p.dir)
	if ans.Status != "succeeded" || len(ans.Outputs)+len(ans.AlsoMade) != 2 || ans.Usage.Images != 2 {
		t.Fatalf("status %s, %d outputs, %d also made, usage %+v", ans.Status, len(ans.Outputs), len(ans.AlsoMade), ans.Usage)
	}
	if n := len(p.listed("--run", ans.RunID).Items); n != 2 {
		t.Errorf("%d items listed, want 2", n)
	}
}

// TestSecondOfThreeSlotsFails is the same for one request that is split into calls.
func TestSecondOfThreeSlotsFails(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	sims, url := serve(t)
	p.withGemini(sims, url)
	sims.gemini.Inject(generatetest.Injection{}, generatetest.Injection{Fault: generatetest.FaultModerated})
	res := read[generated](p, "generate", "a harbour", "-n", "3", "--model", "Nano Banana Pro", "--json")
	good, bad := 0, 0
	for _, s := range res.Slots {
		if s.Output != nil {
			good++
		} else if s.Error != nil && s.Error.Message != "" {
			bad++
		}
	}
	if res.Status != generate.StatusPartial || good != 2 || bad != 1 || len(p.listed().Items) != 2 {
		t.Errorf("status %s, %d good, %d bad, %d listed", res.Status, good, bad, len(p.listed().Items))
	}
}
