package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"atelier/internal/sim"
)

// slowAfter answers the first of three picture requests and blocks the others until the client leaves.
func slowAfter(s *providers) {
	faults := []sim.Injection{{}}
	for range 2 {
		faults = append(faults, sim.Injection{Fault: sim.FaultSlow, Delay: time.Hour})
	}
	s.images.Inject(faults...)
}

func threePictures(t *testing.T) string {
	t.Helper()
	return act(t, "Generate Image", map[string]any{"Prompt": "one"}, "Generate Image", map[string]any{"Prompt": "two"}, "Generate Image", map[string]any{"Prompt": "three"})
}

// TestCtrlCKeepsPictures: pictures that were made before an interrupt are listed.
func TestCtrlCKeepsPictures(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"run":      {"run", "sage", "draw three pictures"},
		"generate": {"generate", "a harbour", "-n", "3", "--model", "Nano Banana Pro"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := connected(t)
			s.chat.Answer = answersInOrder(threePictures(t), done(t, "Here."))
			slowAfter(s)
			url := strings.TrimSuffix(p.env["OPENAI_BASE_URL"], "/v1")
			p.env["GEMINI_API_KEY"], p.env["GEMINI_BASE_URL"] = s.gemini.Key(), url
			p.env["ATELIER_CHAT_MODEL"], p.env["ATELIER_IMAGE_MODEL"] = "openai/gpt-5.4", "GPT Image 2"
			s.gemini.Inject(sim.Injection{}, sim.Injection{Fault: sim.FaultSlow, Delay: time.Hour}, sim.Injection{Fault: sim.FaultSlow, Delay: time.Hour})
			proc := p.start(args...)
			eventually(t, "the first picture", func() bool { return len(p.mediaList().Items) >= 1 })
			if err := proc.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			o := proc.wait()
			if o.code != exitInterrupted {
				t.Errorf("exit %d, want %d\n%s%s", o.code, exitInterrupted, o.stdout, o.stderr)
			}
			if n := len(p.mediaList().Items); n != 1 {
				t.Errorf("%d items listed, want 1", n)
			}
		})
	}
}

// TestKillKeepsPictures: after kill -9 the data folder works, and the pictures that were made are in it.
func TestKillKeepsPictures(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	s.chat.Answer = answersInOrder(threePictures(t), done(t, "Here."))
	p.env["ATELIER_IMAGE_MODEL"] = "GPT Image 2"
	slowAfter(s)
	proc := p.start("run", "sage", "draw three pictures")
	eventually(t, "the first picture", func() bool { return len(p.mediaList().Items) >= 1 })
	if err := proc.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	proc.wait()
	if n := len(p.mediaList().Items); n != 1 {
		t.Errorf("%d items listed, want 1", n)
	}
	if o := p.must("media", "verify"); !strings.Contains(o.stdout, "0 bad") {
		t.Errorf("verify: %s", o.stdout)
	}
	p.env["ATELIER_IMAGE_MODEL"] = "offline"
	p.must("generate", "afterwards", "--size", "64x64")
	if n := len(p.mediaList().Items); n != 2 {
		t.Errorf("%d items listed after the next command, want 2", n)
	}
}
