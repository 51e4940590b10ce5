package main

import (
	"image/color"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"atelier/agent"
	"atelier/chat/chattest"
	"atelier/ledger"
	"atelier/media"
)

// TestContinueWithAHigherBudget: a run that ran out of money continues under a higher limit and does not pay again for
// what it made.
func TestContinueWithAHigherBudget(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{{"resume"}, {"runs", "retry"}} {
		t.Run(strings.Join(command, " "), func(t *testing.T) {
			t.Parallel()
			p, s := connected(t)
			p.write("own/drawer.yaml", "slug: drawer\nname: Drawer\ndescription: Draws.\nchat_models: [GPT-5.4]\nactions: [Generate Image]\n")
			p.write("own/drawer.md", "You draw.")
			s.chat.Answer = func(r chattest.Request) string {
				if len(refsIn(r)) == 2 {
					return done(t, "Two of them.")
				}
				return act(t, "Generate Image", map[string]any{"Prompt": "a harbour", "Model": "GPT Image 2", "Quality": "medium", "Size": "1024x1024"})
			}
			o := p.atelier("run", "drawer", "draw", "--agents", filepath.Join(p.dir, "own"), "--max-cost", "0.08", "--json")
			ans := decode[answer](t, o)
			made := len(s.images.Captured())
			if o.code != exitBudget || ans.Status != agent.StatusFailed || made != 1 {
				t.Fatalf("exit %d with %d pictures: %s%s", o.code, made, o.stdout, o.stderr)
			}
			with := func(more ...string) []string { return slices.Concat(command, []string{ans.RunID}, more) }
			for _, bad := range [][]string{{"--max-cost", "lots"}, {"--max-turns=-1"}, {"--max-images", "0"}, {"--approve-over", "cheap"}, {"--timeout=-1s"}} {
				p.atelier(with(bad...)...).checkRefused(t, exitInput, "")
			}
			again := read[answer](p, with("--max-cost", "1", "--max-images", "5", "--json")...)
			if again.RunID != ans.RunID || again.Status != agent.StatusSucceeded || len(again.AlsoMade)+len(again.Outputs) != 2 || len(s.images.Captured()) != 2 {
				t.Errorf("%+v with %d pictures", again, len(s.images.Captured()))
			}
			if shown := p.must("runs", "show", ans.RunID).stdout; !strings.Contains(shown, "limits:  5 images, $1\n") {
				t.Errorf("shown\n%s", shown)
			}
			p.atelier(with("--max-cost", "2")...).checkRefused(t, exitInput, "")
		})
	}
}

// TestForkWithOtherInputOnTheCommandLine: a fork has its own pictures, input beside the message, models and limits.
func TestForkWithOtherInputOnTheCommandLine(t *testing.T) {
	t.Parallel()
	s := newImageEnv(t)
	first := read[answer](s.testEnv, s.arguments()...)
	foreign := read[answer](s.testEnv, "run", "sage", "Look", "--image", s.picture("foreign.png", 33, 44, color.NRGBA{B: 9, A: 255}), "--model", "offline", "--json")
	s.chat.Answer = func(chattest.Request) string { return done(t, "I saw the new one.") }
	fork := func(more ...string) []string {
		return append([]string{"runs", "fork", first.RunID, "--from", "turn-1-model"}, more...)
	}
	runs := func() int {
		return len(read[ledger.List[ledger.Run]](s.testEnv, "runs", "list", "--json").Items)
	}
	before, asked := runs(), len(s.chat.Requests())
	ref := string(foreign.InputImages[0].Ref)
	for says, args := range map[string][]string{
		"its media id is":          {"--image", ref},
		"neither a file":           {"--image", "nowhere.png"},
		"--input":                  {"--input", "[1]"},
		"--max-cost":               {"--max-cost", "lots"},
		"does not accept pictures": {"--model", "House Mole", "--image", filepath.Join(s.dir, "given-1.png")},
		"give 1 or more":           {"--max-images", "0"},
		"there is no":              {"--image-model", "Nobody 2"},
		"must be more than 0":      {"--max-time=-1s"},
	} {
		if says == "does not accept pictures" {
			s.env["ATELIER_CHAT_PROFILES"] = s.write("blind.yaml", "models:\n  - {provider: openai, id: house-mole, name: House Mole}\n")
		}
		s.atelier(fork(args...)...).checkRefused(t, exitInput, "")
		if o := s.atelier(fork(args...)...); !strings.Contains(o.stderr, says) {
			t.Errorf("%v: the message is %s", args, o.stderr)
		}
	}
	if runs() != before || len(s.chat.Requests()) != asked {
		t.Errorf("refused forks created %d runs and made %d calls", runs()-before, len(s.chat.Requests())-asked)
	}
	fresh := s.picture("fresh.png", 41, 43, color.NRGBA{R: 77, A: 255})
	ans := read[answer](s.testEnv, fork("--image", fresh, "--image", string(first.InputImages[1].Ref), "--message", "And now?",
		"--input", `{"mood":"wild"}`, "--max-images", "3", "--max-time", "1h", "--json")...)
	if ans.RunID == first.RunID || len(ans.InputImages) != 2 || ans.InputImages[0].FileName != "fresh.png" || ans.InputImages[1].Ref != first.InputImages[1].Ref {
		t.Fatalf("forked %+v", ans)
	}
	all := s.chat.Requests()
	last := all[len(all)-1].Messages[1]
	if len(last.Images) != 2 || last.Images[0].SHA256 != media.DigestOf([]byte(mustRead(t, fresh))).Hex() || !strings.Contains(last.Text, "And now?") || !strings.Contains(last.Text, "wild") {
		t.Errorf("the model was asked %+v", last)
	}
	if shown := s.must("runs", "show", ans.RunID).stdout; !strings.Contains(shown, "limits:  3 images, 1h0m0s of work") || !strings.Contains(shown, "input:   "+string(ans.InputImages[0].Ref)) {
		t.Errorf("shown\n%s", shown)
	}
	offline := read[answer](s.testEnv, fork("--model", "offline", "--image", idOf(t, s.testEnv, ref), "--json")...)
	if len(offline.InputImages) != 1 || string(offline.InputImages[0].Ref) != ref || len(s.chat.Requests()) != len(all) {
		t.Errorf("forked offline %+v", offline)
	}
}

// idOf returns the media id of the newest item with a ref.
func idOf(t *testing.T, p *testEnv, ref string) string {
	t.Helper()
	for _, m := range p.mediaList().Items {
		if m.Ref == ref {
			return m.ID
		}
	}
	t.Fatalf("no item has the ref %s", ref)
	return ""
}

// TestRetryFetchesWhatWasCutOff: the retry of a run that was interrupted or cancelled during its generations fetches
// the pictures; no picture is paid for twice, and the budget counts each once.
func TestRetryFetchesWhatWasCutOff(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *agentEnv, proc *process){
		"interrupted": func(_ *agentEnv, proc *process) { _ = proc.cmd.Process.Signal(os.Interrupt) },
		"cancelled":   func(s *agentEnv, _ *process) { s.atelier("runs", "cancel", s.onlyRun().ID) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAgentEnv(t)
			s.env["ATELIER_BUDGET_OWNER"], s.env["ATELIER_BUDGET_OWNER_IMAGES"] = "5", "3"
			hold := make(chan struct{}) // blocks every picture until the run has ended
			var polls atomic.Int32      // of tasks whose ids are saved
			s.mu.Lock()
			s.each = func(r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/get_result") {
					polls.Add(1)
					select {
					case <-hold:
					case <-r.Context().Done():
					}
				}
			}
			s.mu.Unlock()
			proc := s.start("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"), "--json")
			eventually(t, "three tasks", func() bool { return polls.Load() == 3 })
			end(s, proc)
			o := proc.wait()
			id := s.onlyRun().ID
			if o.code != exitInterrupted {
				t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
			}
			close(hold)
			ans := read[answer](s.testEnv, "runs", "retry", id, "--max-images", "3", "--max-cost", "1", "--json")
			if ans.RunID != id || ans.Status != agent.StatusSucceeded || len(ans.Outputs) != 3 {
				t.Errorf("tried again: %+v", ans)
			}
			for prompt, n := range s.submitted(t) {
				if n != 1 {
					t.Errorf("%s was asked for %d times", prompt, n)
				}
			}
			if calls := len(s.chat.Requests()); calls != 4 {
				t.Errorf("%d model calls", calls)
			}
			s.checkCountedOnce(t, id)
			s.must("media", "verify")
		})
	}
}

// checkCountedOnce checks that the budgets count three pictures of a run, and their price, once.
func (s *agentEnv) checkCountedOnce(t *testing.T, id string) {
	t.Helper()
	w := &world{ctx: t.Context(), env: func(k string) string { return s.env[k] }}
	err := w.withStores(func(st *stores) error {
		row, err := st.Ledger.Run(w.ctx, owner, id)
		if err != nil {
			return err
		}
		images, err := st.Ledger.Budget(w.ctx, "images:owner:"+owner)
		if err != nil || images.Spent != 3 || images.Reserved != 0 {
			t.Errorf("pictures: %+v, %v", images, err)
		}
		if mine, err := st.Ledger.Budget(w.ctx, "images:run:"+id); err != nil || mine.Spent != 3 || mine.Reserved != 0 {
			t.Errorf("pictures of the run, with a later limit: %+v, %v", mine, err)
		}
		if mine, err := st.Ledger.Budget(w.ctx, "run:"+id); err != nil || mine.Spent != int64(ledger.PicoOf(row.Cost.EstimatedUSD)) || mine.Reserved != 0 {
			t.Errorf("money of the run, with a later limit: %+v, %v", mine, err)
		}
		money, err := st.Ledger.Budget(w.ctx, "owner:"+owner)
		if cost := ledger.PicoOf(row.Cost.EstimatedUSD); money.Spent != int64(cost) || money.Reserved != 0 {
			t.Errorf("money: %+v, the run cost %d", money, cost)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
