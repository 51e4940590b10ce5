package main

import (
	"strings"
	"testing"

	"atelier/internal/sim"

	"atelier/generate"
)

// TestSecondOfThreeImagesFails: a run whose second picture fails keeps the other two.
func TestSecondOfThreeImagesFails(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	picture := func(prompt string) string {
		return act(t, "Generate Image", map[string]any{"Prompt": prompt, "Model": "GPT Image 2"})
	}
	s.chat.Answer = answersInOrder(picture("one"), picture("two"), picture("three"), done(t, "Two of three."))
	s.images.Inject(sim.Injection{}, sim.Injection{Fault: sim.FaultModerated})
	ans := read[answer](p, "run", "sage", "draw three pictures", "--json", "--out", p.dir)
	if ans.Status != "succeeded" || len(ans.Outputs)+len(ans.AlsoMade) != 2 || ans.Usage.Images != 2 {
		t.Fatalf("status %s, %d outputs, %d also made, usage %+v", ans.Status, len(ans.Outputs), len(ans.AlsoMade), ans.Usage)
	}
	if n := len(p.mediaList("--run", ans.RunID).Items); n != 2 {
		t.Errorf("%d items listed, want 2", n)
	}
}

// TestSecondOfThreeSlotsFails is the same for one request that is split into calls.
func TestSecondOfThreeSlotsFails(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	sims, url := serve(t)
	p.withGemini(sims, url)
	sims.gemini.Inject(sim.Injection{}, sim.Injection{Fault: sim.FaultModerated})
	res := read[generated](p, "generate", "a harbour", "-n", "3", "--model", "Nano Banana Pro", "--json")
	good, bad := 0, 0
	for _, s := range res.Slots {
		if s.Output != nil {
			good++
		} else if s.Error != nil && s.Error.Message != "" {
			bad++
		}
	}
	if res.Status != generate.StatusPartial || good != 2 || bad != 1 || len(p.mediaList().Items) != 2 {
		t.Errorf("status %s, %d good, %d bad, %d listed", res.Status, good, bad, len(p.mediaList().Items))
	}
}

// TestPreviews: frames are requested only with --partials, a terminal shows them, and the newest one is kept if the
// picture never arrives.
func TestPreviews(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	generateFox := []string{"generate", "a fox", "-m", "GPT Image 2"}
	if o := p.onTerminal(generateFox...); o.code != exitOK || strings.Contains(o.stderr, "preview") {
		t.Errorf("without --partials: exit %d, %q", o.code, o.stderr)
	}
	o := p.onTerminal(append(generateFox, "--partials", "-n", "2")...)
	for _, want := range []string{"preview 1 of picture 1", "preview 2 of picture 2", "picture 2: succeeded"} {
		if o.code != exitOK || !strings.Contains(o.stderr, want) {
			t.Errorf("exit %d, and nothing contains %q: %q", o.code, want, o.stderr)
		}
	}
	if n := len(p.mediaList().Items); n != 3 {
		t.Errorf("%d items listed, want 3: previews are temporary", n)
	}
	s.images.Inject(sim.Injection{Fault: sim.FaultPartialsThenError})
	failed := p.atelier(append(generateFox, "--partials", "--json")...)
	res := decode[generated](t, failed)
	if failed.code != exitProvider || res.Status != generate.StatusFailed || !strings.Contains(res.Slots[0].Error.Message, "the last preview was kept as img-") {
		t.Errorf("exit %d: %+v", failed.code, res.Slots[0].Error)
	}
	if items := p.mediaList().Items; len(items) != 4 {
		t.Errorf("%d items listed, want the kept preview too", len(items))
	}
	p.atelier("generate", "a fox", "-m", "GPT-4o mini TTS", "--partials", "--strict").checkRefused(t, exitInput, "gives no preview frames")
	if n := len(s.images.Captured()); n != 3 {
		t.Errorf("%d calls, want 3: a call with previews is not repeated", n)
	}
}
