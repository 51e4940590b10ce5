package main

import (
	"encoding/json"
	"fmt"
	"image/color"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier/chat/chattest"
	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
)

// newImageEnv is an agentEnv whose agent critic is given three pictures that are too large for its model, paints one
// more, sees it by its policy, and then views one of the three again. The folder holds the pictures.
func newImageEnv(t *testing.T) *agentEnv {
	t.Helper()
	s := newAgentEnv(t)
	s.write("own/critic.yaml", "slug: critic\nname: Critic\ndescription: Looks.\nactions: [Generate Image]\nvision_context: {enabled: true, allowed_sources: [Generate Image]}\n")
	s.write("own/critic.md", "You are critic.")
	s.env["ATELIER_CHAT_PROFILES"] = s.write("profiles.yaml", "models:\n  - {provider: openai, id: gpt-5.4, max_image_side: 50}\n")
	for i := range 3 {
		s.picture(fmt.Sprintf("given-%d.png", i), 120, 80+i, color.NRGBA{R: uint8(80 * i), A: 255})
	}
	s.chat.Answer = func(r chattest.Request) string {
		turn := 1
		for _, m := range r.Messages {
			if m.Role == "assistant" {
				turn++
			}
		}
		switch turn {
		case 1:
			return act(t, "Generate Image", map[string]any{"Prompt": "a fox", "Size": "256x256"})
		case 2:
			given := media.Refs(r.Messages[1].Text)
			return act(t, "View Agent Media", map[string]any{"RefId": string(given[0])})
		}
		return done(t, "I saw them all.")
	}
	return s
}

// arguments returns the command line of a run of newImageEnv.
func (s *agentEnv) arguments() []string {
	args := []string{"run", "critic", "What do you see?", "--agents", filepath.Join(s.dir, "own"), "--json"}
	for i := range 3 {
		args = append(args, "--image", filepath.Join(s.dir, fmt.Sprintf("given-%d.png", i)))
	}
	return args
}

// rows counts the rows of the ledger's tables.
func (s *agentEnv) rows(t *testing.T) map[string]int {
	t.Helper()
	db, count := s.openLedger(), map[string]int{}
	for _, table := range []string{"agent_runs", "agent_run_steps", "media", "media_lineage", "prompt_run_media", "agent_run_media", "blobs"} {
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		count[table] = n
	}
	return count
}

// onlyRun returns the run of an environment that has exactly one.
func (p *testEnv) onlyRun() ledger.Run {
	p.t.Helper()
	list := read[ledger.List[ledger.Run]](p, "runs", "list", "--json")
	if len(list.Items) != 1 {
		p.t.Fatalf("%d runs, want 1", len(list.Items))
	}
	return list.Items[0]
}

// shownImages lists the pictures of each request; a repeated request adds nothing.
func (s *agentEnv) shownImages() (list []string) {
	for _, r := range s.chat.Requests() {
		var seen []string
		for _, m := range r.Messages {
			for _, i := range m.Images {
				seen = append(seen, i.SHA256[:8])
			}
		}
		if text := strings.Join(seen, " "); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// TestKilledWithImages kills a run with pictures at every request, resumes it, and compares rows, events and what the
// model saw with an undisturbed run. A run that is killed while it requests a painting continues without it: the call
// is unsettled.
func TestKilledWithImages(t *testing.T) {
	t.Parallel()
	whole := newImageEnv(t)
	whole.must(whole.arguments()...)
	id, want := whole.onlyRun().ID, whole.rows(t)
	events, saw := whole.eventCounts(t, id), whole.shownImages()
	if len(saw) != 3 || strings.Count(saw[0], " ") != 2 || strings.Count(saw[1], " ") != 3 || want["media_lineage"] < 4 {
		t.Fatalf("the model saw %q; rows %v", saw, want)
	}
	eachRow(t, whole.requests, func(t *testing.T, at int) {
		t.Helper()
		s := newImageEnv(t)
		proc := s.start(s.arguments()...)
		s.mu.Lock()
		s.at, s.kill = at, func() { killNow(proc.cmd.Process) }
		s.mu.Unlock()
		if proc.wait().code == exitOK {
			return // the number of polls varies: this run made fewer requests
		}
		id := s.onlyRun().ID
		lost := s.unanswered(t, id)
		if o := s.start("resume", id, "--json").wait(); o.code != exitOK {
			t.Fatalf("killed at %s: exit %d: %s", s.hit, o.code, o.stderr)
		}
		if lost > 0 { // the painting is lost; the given pictures are as before
			if got := s.shownImages(); lost != 1 || !strings.HasPrefix(s.hit, "POST /v1/flux") || !sameShownImages(got[:1], saw[:1]) {
				t.Errorf("killed at %s: %d calls without an answer, the model saw %q, want %q", s.hit, lost, got, saw)
			}
			return
		}
		for table, n := range s.rows(t) {
			if n != want[table] {
				t.Errorf("killed at %s: %d rows in %s, want %d", s.hit, n, table, want[table])
			}
		}
		for k, n := range s.eventCounts(t, id) {
			if n != events[k] {
				t.Errorf("killed at %s: event %s is there %d times, want %d", s.hit, k, n, events[k])
			}
		}
		if got := s.shownImages(); !sameShownImages(got, saw) {
			t.Errorf("killed at %s: the model saw %q, want %q", s.hit, got, saw)
		}
	})
}

// sameShownImages compares what two runs saw; the painted picture may differ.
func sameShownImages(got, want []string) bool {
	return slices.EqualFunc(got, want, func(a, b string) bool {
		x, y := strings.Fields(a), strings.Fields(b)
		return len(x) == len(y) && slices.Equal(x[:3], y[:3])
	})
}

// TestPicturesInTheLedger: the row of a run records its input, what its policy showed, and the disposition of pictures
// that were adapted or dropped.
func TestPicturesInTheLedger(t *testing.T) {
	t.Parallel()
	s := newImageEnv(t)
	s.write("profiles.yaml", "models:\n  - {provider: openai, id: gpt-5.4, max_image_side: 50, max_images: 2}\n")
	args := s.arguments()
	if o := s.atelier(args...); o.code != exitInput || !strings.Contains(o.stderr, "3 pictures are given, but GPT-5.4 (openai) accepts 2") || !strings.Contains(o.stderr, "offline") {
		t.Errorf("strict: exit %d: %s", o.code, o.stderr)
	}
	ans := read[answer](s.testEnv, append(args, "--lenient-images")...)
	shown := read[struct {
		Run ledger.Run `json:"run"`
	}](s.testEnv, "runs", "show", ans.RunID, "--json").Run
	if len(shown.InputImages) != 3 || shown.InputImages[0].FileName != "given-0.png" || shown.InputImages[0].Ref != ans.InputImages[0].Ref {
		t.Errorf("input images %+v", shown.InputImages)
	}
	if len(shown.VisionContext) != 1 || shown.VisionContext[0].MIMEType == "" {
		t.Errorf("vision context %+v", shown.VisionContext)
	}
	var became []generate.Disposition
	if err := json.Unmarshal(shown.Dispositions, &became); err != nil {
		t.Fatalf("%v in %s", err, shown.Dispositions)
	}
	count := map[generate.Outcome]int{}
	for _, d := range became {
		if d.Setting == "image" {
			count[d.Outcome]++
		}
	}
	if count[generate.OutcomeDropped] != 1 || count[generate.OutcomeAdapted] != 3 || len(shown.Warnings) == 0 {
		t.Errorf("dispositions %s, warnings %q", shown.Dispositions, shown.Warnings)
	}
	out := s.must("runs", "show", ans.RunID).stdout
	for _, want := range []string{"input:   " + string(ans.InputImages[2].Ref), "in view: img-", "image dropped: requested", "image adapted: requested", "takes 2 pictures"} {
		if !strings.Contains(out, want) {
			t.Errorf("runs show lacks %q: %s", want, out)
		}
	}
}

// TestBytesThatGoAwayUnderARun: the bytes of a picture of a killed run are deleted or damaged before it is resumed. The
// run continues without the picture, or stops, as --lost-images says.
func TestBytesThatGoAwayUnderARun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		harm func(path string) error
		args []string
		code int
		say  string
	}{
		"deleted":       {os.Remove, nil, exitOK, "its bytes are missing"},
		"flipped":       {corruptFile, nil, exitOK, "its bytes are damaged"},
		"deleted, stop": {os.Remove, []string{"--lost-images", "stop"}, exitInput, "its bytes are missing"},
		"flipped, stop": {corruptFile, []string{"--lost-images", "stop"}, exitInternal, "its bytes are damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newImageEnv(t)
			s.write("profiles.yaml", "models: []\n") // the originals are shown
			proc := s.start(append(s.arguments(), c.args...)...)
			s.mu.Lock()
			s.at, s.kill = 1, func() { killNow(proc.cmd.Process) }
			s.mu.Unlock()
			proc.wait()
			id := s.onlyRun().ID
			lost := media.DigestOf([]byte(mustRead(t, filepath.Join(s.dir, "given-1.png"))))
			if err := c.harm(s.blobPath(t, lost)); err != nil {
				t.Fatal(err)
			}
			before := len(s.chat.Requests())
			o := s.atelier("resume", id, "--json")
			ans := decode[answer](t, o)
			if o.code != c.code || !strings.Contains(o.stdout, c.say) {
				t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
			}
			if c.args != nil {
				if n := len(s.chat.Requests()); n != before || ans.Status != "failed" {
					t.Errorf("%s after %d more calls", ans.Status, n-before)
				}
				if again := s.atelier("runs", "retry", id); again.code != c.code {
					t.Errorf("tried again as it was: exit %d: %s", again.code, again.stderr)
				}
				if again := decode[answer](t, s.must("runs", "retry", id, "--lost-images", "drop", "--json")); again.Status != "succeeded" {
					t.Errorf("tried again without the picture: %+v", again)
				}
				return
			}
			asked := s.chat.Requests()[before]
			ref := string(ans.InputImages[1].Ref)
			if len(asked.Messages[1].Images) != 2 || !strings.Contains(asked.Messages[1].Text, "You cannot see "+ref+" any more") {
				t.Errorf("the model is shown %d pictures, and the message is %s", len(asked.Messages[1].Images), asked.Messages[1].Text)
			}
			row := s.onlyRun()
			if !strings.Contains(strings.Join(row.Warnings, " "), ref+" is no longer shown") || !strings.Contains(string(row.Dispositions), `"dropped"`) {
				t.Errorf("the row has warnings %q, dispositions %s", row.Warnings, row.Dispositions)
			}
		})
	}
}

// blobPath returns the path of a blob's file.
func (p *testEnv) blobPath(t *testing.T, d media.Digest) string {
	t.Helper()
	var found string
	err := filepath.WalkDir(filepath.Join(p.data, "blobs"), func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.Contains(e.Name(), d.Hex()[4:]) {
			found = path
		}
		return err
	})
	if err != nil || found == "" {
		t.Fatalf("no file contains %s: %v", d, err)
	}
	return found
}

// corruptFile inverts a byte in the middle of a file.
func corruptFile(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	b[len(b)/2] ^= 0xff
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}

// TestKilledWhilePainting: a picture that a chat model made is recorded once, whenever its run is killed, and no canary
// leaks into what a killed run leaves behind.
func TestKilledWhilePainting(t *testing.T) {
	t.Parallel()
	for at := range 3 {
		t.Run(fmt.Sprintf("request %d", at), func(t *testing.T) {
			t.Parallel()
			s := newAgentEnv(t)
			painted, small, big := newCanary(t, 130, 83), newCanary(t, 1, 84), newCanary(t, 140, 85)
			s.chat.Picture = painted.raw
			s.env["ATELIER_CHAT_PROFILES"] = s.write("profiles.yaml", "models:\n  - {provider: openai, id: painting, supports_vision: true, image_output: true, max_image_side: 90}\n")
			s.env["ATELIER_CHAT_MODEL"] = "openai/painting"
			s.chat.Answer = func(r chattest.Request) string {
				if len(r.Messages) < 4 {
					return act(t, "List Agent Media", map[string]any{})
				}
				return done(t, "There.")
			}
			args := []string{
				"run", "helper", "paint", "--agents", filepath.Join(s.dir, "own"), "--json",
				"--image", s.write("small.png", string(small.raw)), "--image", s.write("big.png", string(big.raw)),
			}
			proc := s.start(args...)
			s.mu.Lock()
			s.at, s.kill = at, func() { killNow(proc.cmd.Process) }
			s.mu.Unlock()
			first := proc.wait()
			id := s.onlyRun().ID
			if (first.code == exitOK) != (at == 0) {
				t.Fatalf("exit %d: %s", first.code, first.stderr)
			}
			printed := sinks{}
			printed.add(first)
			printed.gather(s.testEnv)
			if at > 0 {
				printed.add(s.must("resume", id, "--json"))
				printed.gather(s.testEnv)
			}
			printed.search(t, painted, small, big)
			checkStored(t, s.testEnv, painted, small, big)
			want := map[string]int{"agent_runs": 1, "agent_run_steps": 1, "media": 4, "media_lineage": 2, "prompt_run_media": 5, "agent_run_media": 0, "blobs": 4}
			if got := s.rows(t); !maps.Equal(got, want) {
				t.Errorf("rows %v, want %v", got, want)
			}
		})
	}
}
