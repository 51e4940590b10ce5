package main

import (
	"image"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/internal/sim"

	"atelier/generate/generatetest/midjourneysim"
)

// withMidjourney configures a simulated Midjourney proxy.
func (p *testEnv) withMidjourney(c midjourneysim.Config) *midjourneysim.Simulator {
	p.t.Helper()
	service := midjourneysim.New(c)
	srv := httptest.NewServer(service)
	p.t.Cleanup(srv.Close)
	p.env["MIDJOURNEY_PROXY_URL"], p.env["MIDJOURNEY_API_SECRET"] = srv.URL, service.Key()
	return service
}

func TestMidjourneyOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.atelier("generate", "a lighthouse", "-m", "Midjourney").checkRefused(t, exitInput, "MIDJOURNEY_PROXY_URL")
	if said := p.must("doctor").stdout; !strings.Contains(said, "MIDJOURNEY_PROXY_URL") {
		t.Errorf("doctor: %s", said)
	}
	service := p.withMidjourney(midjourneysim.Config{Singles: true, Quick: true})
	if said := p.must("doctor").stdout; strings.Contains(said, "MIDJOURNEY_PROXY_URL") {
		t.Errorf("doctor with a proxy: %s", said)
	}
	p.atelier("generate", "a lighthouse", "-m", "mj", "--option", "midjourney.action=upscale").checkRefused(t, exitInput, "continues from one picture")
	out := filepath.Join(p.dir, "out.png")
	got := read[generated](p, "generate", "a lighthouse", "-m", "Midjourney 7", "--aspect-ratio", "3:2", "--option", "midjourney.speed=fast", "-o", out, "--json")
	if got.Status != "succeeded" || len(got.Slots) != 4 || got.Slots[3].Output == nil {
		t.Fatalf("%+v", got)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "out-4.png")); err != nil {
		t.Error(err)
	}
	calls := service.Captured()
	if len(calls) != 1 || calls[0].Path != "/mj-fast/mj/submit/imagine" || !strings.Contains(string(calls[0].Body), `"a lighthouse --ar 3:2 --v 7"`) {
		t.Errorf("%d calls, %s %s", len(calls), calls[0].Path, calls[0].Body)
	}
	if items := p.mediaList().Items; len(items) != 4 {
		t.Errorf("%d items are listed", len(items))
	}
	// A grid has four pictures: a request for two is adapted, and strict mode refuses it.
	two := []string{"generate", "a lighthouse", "-m", "mj", "-n", "2"}
	if said := p.must(two...).stdout; !strings.Contains(said, `adapted     n: requested "2", applied "4"`) {
		t.Errorf("two of a grid: %s", said)
	}
	p.atelier(append(two, "--strict")...).checkRefused(t, exitInput, "grids of 4")
	p.must("generate", "a lighthouse", "-m", "mj", "--strict")
	// A picture is described in words, which can be written to a file, too.
	words := filepath.Join(p.dir, "words.txt")
	p.must("generate", "-m", "mj-describe", "--edit", filepath.Join(p.dir, "out-1.png"), "-o", words, "--strict")
	if said, err := os.ReadFile(words); err != nil || !strings.Contains(string(said), "lighthouse") {
		t.Errorf("described as %q, %v", said, err)
	}
	p.atelier("generate", "a lighthouse", "-m", "mj", "-o", words, "--strict").checkRefused(t, exitInput, "output_format")
	service.Inject(sim.Injection{Fault: sim.FaultModerated})
	p.atelier("generate", "a lighthouse", "-m", "mj").checkRefused(t, exitProvider, "a word of the prompt")
}

// TestMidjourneyShowsProgress: a terminal shows pictures of a job in progress as previews; they get no record
// unless the final picture is missing.
func TestMidjourneyShowsProgress(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	service := p.withMidjourney(midjourneysim.Config{})
	p.env["ATELIER_CATALOGUE"] = p.write("soon.yaml", "provider: midjourney\nmodels:\n  - {api_model: midjourney, poll_seconds: 1}\n")
	ask := []string{"generate", "a lighthouse", "-m", "mj", "--partials", "--strict"}
	o := p.onTerminal(ask...)
	for _, want := range []string{"preview 1 of a grid of 4", "preview 2 of a grid of 4", "picture 4: succeeded"} {
		if o.code != exitOK || !strings.Contains(o.stderr, want) || strings.Contains(o.stderr, "warning") {
			t.Errorf("exit %d, and nothing contains %q: %q", o.code, want, o.stderr)
		}
	}
	if n := len(p.mediaList().Items); n != 5 {
		t.Errorf("%d items listed, want the grid and its four", n)
	}
	service.Inject(sim.Injection{Fault: sim.FaultPreviewLost}, sim.Injection{Fault: sim.FaultPartialsThenError})
	if o := p.onTerminal(ask...); o.code != exitOK || strings.Contains(o.stderr, "preview") {
		t.Errorf("previews that are lost: exit %d, %q", o.code, o.stderr)
	}
	p.atelier(ask...).checkRefused(t, exitProvider, "the last preview was kept as img-")
}

// TestMidjourneyByPicturesAlone: in strict mode, a blend and the buttons of a picture need no prompt.
func TestMidjourneyByPicturesAlone(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	service := p.withMidjourney(midjourneysim.Config{Quick: true})
	a, b := p.pictureFile("a.png", 64, 64, image.Rectangle{}), p.pictureFile("b.png", 64, 64, image.Rect(0, 0, 9, 9))
	pictures := []string{"generate", "-m", "Midjourney 7", "--edit", a, "--edit", b, "--strict"}
	p.must(pictures...)
	p.must(append(pictures, "--option", "midjourney.action=blend", "--aspect-ratio", "3:2")...)
	p.atelier(append(pictures, "a fox", "--option", "midjourney.action=blend")...).checkRefused(t, exitInput, "takes no words")
	p.atelier(append(pictures, "--option", "midjourney.action=imagine")...).checkRefused(t, exitInput, "the prompt is empty")
	p.atelier("generate", "-m", "Midjourney 7", "--edit", a).checkRefused(t, exitInput, "the prompt is empty")
	grid := read[generated](p, "generate", "a lighthouse", "-m", "mj", "--json")
	up := read[generated](p, "generate", "--edit", string(grid.Slots[1].Output.Ref), "-m", "mj", "--option", "midjourney.action=upscale", "--strict", "--json")
	ref := string(up.Slots[0].Output.Ref)
	shown := p.must("media", "show", ref).stdout
	_, offered, _ := strings.Cut(shown, "follow-up: ")
	button, label, _ := strings.Cut(strings.Split(offered, "\n")[0], "  ")
	if !strings.HasPrefix(button, "MJ::JOB::upsample_") || label != "Upscale (Subtle)" {
		t.Fatalf("media show: %s", shown)
	}
	press := []string{"generate", "--edit", ref, "-m", "mj", "--strict", "--option", "midjourney.action=button", "--option"}
	p.must(append(press, "midjourney.custom_id="+button)...)
	p.atelier(append(press, "midjourney.custom_id="+button, "-n", "2")...).checkRefused(t, exitInput, "one result, not 2")
	p.atelier(append(press, "midjourney.custom_id=nonsense")...).checkRefused(t, exitInput, "atelier media show "+ref)
	p.atelier("generate", "--edit", ref, "-m", "mj", "--mask", a).checkRefused(t, exitInput, "make the mask in the picture's size")
	var paths []string
	for _, c := range service.Captured() {
		paths = append(paths, strings.TrimPrefix(c.Path, "/mj/submit/"))
	}
	if got := strings.Join(paths, " "); got != "blend blend imagine action action" {
		t.Errorf("calls %s", got)
	}
	last := service.Captured()[4]
	if !strings.Contains(string(last.Body), button) {
		t.Errorf("pressed %s, want %s", last.Body, button)
	}
}
