package main

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// blockUntilGone blocks requests of a kind until their client leaves; started receives a value for each.
func (s *agentEnv) blockUntilGone(t *testing.T, when func(*http.Request, string) bool) (started <-chan struct{}) {
	t.Helper()
	reached := make(chan struct{}, 100)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.each = func(r *http.Request) {
		b, _ := io.ReadAll(r.Body) // only then is the client's end noticed
		r.Body = io.NopCloser(bytes.NewReader(b))
		if !when(r, string(b)) {
			return
		}
		select {
		case reached <- struct{}{}:
		default:
		}
		select {
		case <-r.Context().Done():
		case <-time.After(time.Minute): // no test waits that long
		}
	}
	return reached
}

// blockingPoints returns where a run can be when its time elapses or it is cancelled.
func blockingPoints() map[string]func(*http.Request, string) bool {
	return map[string]func(*http.Request, string) bool{
		"polling": func(r *http.Request, _ string) bool { return interferencePoints()["poll"](r) },
		"sub-agent thinks": func(r *http.Request, body string) bool {
			return interferencePoints()["model call"](r) && strings.Contains(body, "You are helper.")
		},
		"sub-agent paints": func(r *http.Request, body string) bool {
			return interferencePoints()["picture begins"](r) && strings.Contains(body, "a boat")
		},
	}
}

// TestTimeout: a run ends when its time elapses, wherever it is, and keeps what it made.
func TestTimeout(t *testing.T) {
	t.Parallel()
	for name, when := range blockingPoints() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := 2 // pictures: those of the boss
			if name == "polling" {
				want = 0
			}
			for given := 4 * time.Second; ; given *= 2 {
				s := newAgentEnv(t)
				started := s.blockUntilGone(t, when)
				o := s.start("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"), "--timeout", given.String(), "--json").wait()
				if busy := len(started) == 0 || len(s.mediaList().Items) < want; busy && given < time.Minute {
					continue // the machine is busy: the run did not get that far
				}
				s.checkTimedOut(t, o, want)
				return
			}
		})
	}
}

// checkTimedOut checks the results and records of a run whose time elapsed.
func (s *agentEnv) checkTimedOut(t *testing.T, o outcome, want int) {
	t.Helper()
	if o.code != exitProvider || !strings.Contains(o.stderr, "exceeded its time limit") {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	ans := decode[answer](t, o)
	if ans.Status != "failed" || !strings.Contains(string(ans.Error), `"deadline_exceeded"`) {
		t.Errorf("status %s, error %s", ans.Status, ans.Error)
	}
	if n := len(s.mediaList().Items); len(ans.Outputs)+len(ans.AlsoMade) != n || n != want {
		t.Errorf("%d pictures are kept, %d are in the answer, want %d", n, len(ans.Outputs)+len(ans.AlsoMade), want)
	}
	if events := s.eventCounts(t, ans.RunID); events["boss run-failed"] != 1 {
		t.Errorf("events %v", events)
	}
	s.checkNotResumable(t, ans.RunID)
}

// TestTimeoutSurvives: the process that adopts a run has no more time than the first process was given.
func TestTimeoutSurvives(t *testing.T) {
	t.Parallel()
	s, id, until := killedBeforeDeadline(t)
	time.Sleep(time.Until(until))
	before := len(s.submitted(t))
	o := s.atelier("resume", id, "--json")
	if o.code != exitProvider || decode[answer](t, o).Status != "failed" {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	if now := len(s.submitted(t)); now != before {
		t.Errorf("%d pictures were asked for when the time was over", now-before)
	}
	if events := s.eventCounts(t, id); events["boss run-failed"] != 1 {
		t.Errorf("events %v", events)
	}
	s.checkNotResumable(t, id)
	if o := s.atelier("run", "boss", "paint", "--timeout", "-1s"); o.code != exitInput || !strings.Contains(o.stderr, "--timeout") {
		t.Errorf("a negative time: exit %d, %s", o.code, o.stderr)
	}
}

// killedBeforeDeadline returns a run whose process was killed while it polled, and its deadline.
func killedBeforeDeadline(t *testing.T) (s *agentEnv, id string, over time.Time) {
	t.Helper()
	r := startBlockedRun(t, "polling")
	_ = r.proc.cmd.Process.Kill()
	<-r.ended
	return r.agentEnv, r.onlyRun().ID, r.deadline
}

// blockedRun is a run that waits for a service.
type blockedRun struct {
	*agentEnv
	proc     *process
	ended    <-chan outcome // of the process
	deadline time.Time      // of the run, or a moment later
}

// startBlockedRun starts a run with a short timeout that waits at one of [blockingPoints]. On a busy machine it tries
// again with more time until the run gets that far.
func startBlockedRun(t *testing.T, place string) blockedRun {
	t.Helper()
	for given := 6 * time.Second; given < 2*time.Minute; given *= 2 {
		s := newAgentEnv(t)
		started := s.blockUntilGone(t, blockingPoints()[place])
		proc := s.start("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"), "--timeout", given.String(), "--json")
		ended := make(chan outcome, 1)
		go func() { ended <- proc.wait() }()
		select {
		case <-started:
			return blockedRun{s, proc, ended, time.Now().Add(given)} // the run began earlier
		case <-ended:
		}
	}
	t.Fatalf("the run never reached %s", place)
	return blockedRun{}
}

// TestCancelAnywhere: another process can cancel a run wherever it is.
func TestCancelAnywhere(t *testing.T) {
	t.Parallel()
	for name, when := range blockingPoints() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAgentEnv(t)
			started := s.blockUntilGone(t, when)
			proc := s.start("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"), "--json")
			<-started
			id := s.onlyRun().ID
			if o := s.must("runs", "cancel", id); !strings.Contains(o.stdout, "cancelled") {
				t.Errorf("cancel said %s%s", o.stdout, o.stderr)
			}
			o := proc.wait()
			if o.code != exitInterrupted || decode[answer](t, o).Status != "cancelled" {
				t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
			}
			ans := decode[answer](t, o)
			if n := len(s.mediaList().Items); n != len(ans.Outputs)+len(ans.AlsoMade) {
				t.Errorf("%d pictures are kept, %d are in the answer", n, len(ans.Outputs)+len(ans.AlsoMade))
			}
			if events := s.eventCounts(t, id); events["boss run-cancelled"] != 1 {
				t.Errorf("events %v", events)
			}
			s.checkNotResumable(t, id)
		})
	}
}
