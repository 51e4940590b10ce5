package main

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"atelier/generate/generatetest/bflsim"
)

// shortWaitCatalogue returns a catalogue in which the wait for FLUX.2 Pro lasts for one poll.
func (p *testEnv) shortWaitCatalogue() string {
	return p.write("impatient.yaml", "provider: bfl\nmodels:\n  - {api_model: flux-2-pro, poll_seconds: 1, wait_seconds: 1}\n")
}

// TestServeLooksAfterItsWait: the server checks a task that takes longer than the wait until it is finished.
func TestServeLooksAfterItsWait(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	sim := bflsim.New(bflsim.Config{Pending: 3}) // polls: the command's, the one in the server's wait, and one check
	srv := httptest.NewServer(sim)
	t.Cleanup(srv.Close)
	p.env["BFL_API_KEY"], p.env["BFL_BASE_URL"], p.env["ATELIER_CATALOGUE"] = sim.Key(), srv.URL, p.shortWaitCatalogue()
	if o := p.atelier("generate", "a fox", "-m", "FLUX.2 Pro"); o.code != exitRunning {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	serving := p.start("serve", "--listen", "127.0.0.1:0")
	eventually(t, "the picture", func() bool { return len(p.mediaList().Items) == 1 })
	if n := len(sim.Captured()); n != 1 {
		t.Errorf("asked for %d times", n)
	}
	_ = serving.cmd.Process.Signal(os.Interrupt)
	if o := serving.wait(); o.code != exitOK {
		t.Errorf("serve ended with %d: %s", o.code, o.stderr)
	}
}

// TestAHungPollHoldsNoSlot: a server that works on one task at a time leaves a task whose provider hangs when its wait
// ends, and takes the next.
func TestAHungPollHoldsNoSlot(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	sim := bflsim.New(bflsim.Config{Pending: 1})
	var serves atomic.Bool
	var hangs atomic.Value // the id of the task that the server polls first
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.URL.Query().Get("id")
		if serves.Load() && poll(r) && (hangs.CompareAndSwap(nil, id) || hangs.Load() == id) {
			<-r.Context().Done()
			return
		}
		sim.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	p.env["BFL_API_KEY"], p.env["BFL_BASE_URL"], p.env["ATELIER_CATALOGUE"] = sim.Key(), srv.URL, p.shortWaitCatalogue()
	p.env["ATELIER_RUNS_AT_ONCE"] = "1"
	for _, prompt := range []string{"a fox", "a hare"} {
		if o := p.atelier("generate", prompt, "-m", "FLUX.2 Pro"); o.code != exitRunning {
			t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
		}
	}
	serves.Store(true)
	serving := p.start("serve", "--listen", "127.0.0.1:0")
	eventually(t, "the hung task's poll", func() bool { return hangs.Load() != nil })
	eventually(t, "the other picture", func() bool { return len(p.mediaList().Items) == 1 })
	_ = serving.cmd.Process.Signal(os.Interrupt)
	if o := serving.wait(); o.code != exitOK {
		t.Errorf("serve ended with %d: %s", o.code, o.stderr)
	}
}

// TestServeFetchesWhatRunsLeftBehind: pictures that a run did not wait for are added to its list when they are ready;
// its finished log does not change.
func TestServeFetchesWhatRunsLeftBehind(t *testing.T) {
	t.Parallel()
	s := newAgentEnv(t)
	s.env["ATELIER_CATALOGUE"] = s.shortWaitCatalogue()
	id, o := s.run(t, 0)
	if o.code != exitOK || len(s.mediaList("--run", id).Items) != 0 {
		t.Fatalf("exit %d, %d pictures\n%s%s", o.code, len(s.mediaList("--run", id).Items), o.stdout, o.stderr)
	}
	log := s.must("runs", "events", id, "--jsonl").stdout
	serving, _ := s.startServer(t)
	eventually(t, "the pictures", func() bool { return len(s.mediaList("--run", id).Items) == 3 })
	_ = serving.cmd.Process.Signal(os.Interrupt)
	serving.wait()
	if got := s.must("runs", "events", id, "--jsonl").stdout; got != log {
		t.Errorf("the log of the run was\n%sand is\n%s", log, got)
	}
	if want := map[string]int{"a fox": 1, "a hare": 1, "a boat": 1}; !maps.Equal(s.submitted(t), want) {
		t.Errorf("asked for %v", s.submitted(t))
	}
}

// TestServeFetchesWhileAPersonThinks: a picture that a run did not wait for is added to its list while the run is
// paused, because links may expire before the answer; its log does not change.
func TestServeFetchesWhileAPersonThinks(t *testing.T) {
	t.Parallel()
	s := newAgentEnv(t)
	s.env["ATELIER_CATALOGUE"] = s.shortWaitCatalogue()
	s.chat.Answer = answersInOrder(act(t, "Generate Image", map[string]any{"Prompt": "a fox"}), `{"ask":{"question":"Is it good?"}}`, done(t, "Done."))
	id, o := s.run(t, 0)
	if o.code != exitPaused || len(s.mediaList("--run", id).Items) != 0 {
		t.Fatalf("exit %d, %d pictures\n%s%s", o.code, len(s.mediaList("--run", id).Items), o.stdout, o.stderr)
	}
	log := s.must("runs", "events", id, "--jsonl").stdout
	serving, _ := s.startServer(t)
	eventually(t, "the picture", func() bool { return len(s.mediaList("--run", id).Items) == 1 })
	if got := s.must("runs", "events", id, "--jsonl").stdout; got != log {
		t.Errorf("the log of the run was\n%sand is\n%s", log, got)
	}
	_ = serving.cmd.Process.Signal(os.Interrupt)
	serving.wait()
	if end := s.must("resume", id, "yes"); !strings.Contains(end.stdout, "Done.") || s.submitted(t)["a fox"] != 1 {
		t.Errorf("%s%s", end.stdout, end.stderr)
	}
}

// TestCancelledRunLeavesNoTasks: cancelling a run also cancels the tasks that it did not wait for: they may be billed,
// which counts, and they are not polled again.
func TestCancelledRunLeavesNoTasks(t *testing.T) {
	t.Parallel()
	s := newAgentEnv(t)
	s.env["ATELIER_CATALOGUE"], s.env["ATELIER_BUDGET_OWNER"] = s.shortWaitCatalogue(), "5"
	started := s.blockUntilGone(t, blockingPoints()["sub-agent thinks"])
	proc := s.start("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"))
	<-started
	id := s.onlyRun().ID
	s.waitForEvents(t, id, "sub-agent thinks")
	if open := s.must("operations", "list", "--status", "running").stdout; strings.Count(open, "FLUX.2 Pro") != 2 {
		t.Fatalf("remaining:\n%s", open)
	}
	s.must("runs", "cancel", id)
	proc.wait()
	ended := s.must("operations", "list", "--status", "cancelled").stdout
	if strings.Count(ended, "FLUX.2 Pro") != 2 || len(s.mediaList("--run", id).Items) != 0 {
		t.Errorf("ended are\n%s, made %d", ended, len(s.mediaList("--run", id).Items))
	}
	s.checkCost(t, id)
}
