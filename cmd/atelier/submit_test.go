package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// holdSubmissions holds a run while a model call of helper and the submissions of a fox and a hare are in progress. The
// submissions are answered when the end of the model call shows that the process has received its signal.
func (s *agentEnv) holdSubmissions() (started chan struct{}) {
	started = make(chan struct{}, 8)
	heard := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.each = func(r *http.Request) {
		b, _ := io.ReadAll(r.Body) // only then is the client's end noticed
		r.Body = io.NopCloser(bytes.NewReader(b))
		switch {
		case strings.HasSuffix(r.URL.Path, "/chat/completions") && bytes.Contains(b, []byte("You are helper.")):
			started <- struct{}{}
			<-r.Context().Done()
			close(heard)
		case matchRequest(http.MethodPost, "/v1/flux")(r):
			started <- struct{}{}
			<-heard
		}
	}
	return started
}

// TestCtrlCWaitsForTheNamesOfARun: an interrupted run, also by a closed terminal, waits for the ids of the tasks that it
// is submitting, so that a retry fetches them and pays for nothing twice.
func TestCtrlCWaitsForTheNamesOfARun(t *testing.T) {
	t.Parallel()
	signals := map[string]os.Signal{"run": os.Interrupt, "resume": syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signals["closed terminal"] = syscall.SIGHUP
	}
	for name, sent := range signals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAgentEnv(t)
			args := []string{"run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"), "--json"}
			if name == "resume" {
				id, _ := s.run(t, 1)
				s.mu.Lock()
				s.at = 0
				s.mu.Unlock()
				args = []string{"resume", id, "--json"}
			}
			started := s.holdSubmissions()
			proc := s.start(args...)
			for range 3 {
				<-started
			}
			if err := proc.cmd.Process.Signal(sent); err != nil {
				t.Fatal(err)
			}
			if o := proc.wait(); o.code != exitInterrupted {
				t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
			}
			for _, op := range read[operationList](s.testEnv, "operations", "list", "--json").Items {
				if said := s.must("operations", "show", op.ID).stdout; !strings.Contains(said, "task ") {
					t.Errorf("its task has no name: %s", said)
				}
			}
			s.mu.Lock()
			s.each = nil
			s.mu.Unlock()
			s.must("runs", "retry", s.onlyRun().ID)
			made := s.submitted(t)
			if len(made) != 3 || len(s.mediaList().Items) != 3 {
				t.Errorf("%d pictures of %v", len(s.mediaList().Items), made)
			}
			for prompt, n := range made {
				if n != 1 {
					t.Errorf("%s was asked for %d times", prompt, n)
				}
			}
		})
	}
}

// TestStoppedServeWaitsForNames: a server that is stopped while it submits a task of an adopted generation waits for
// the task's id.
func TestStoppedServeWaitsForNames(t *testing.T) {
	t.Parallel()
	s := newAgentEnv(t)
	s.env["ATELIER_CATALOGUE"] = s.write("one.yaml", "provider: bfl\nmodels:\n  - {api_model: flux-2-pro, concurrency: 1}\n")
	var proc *process
	s.mu.Lock() // until the process is known
	proc = s.start("generate", "a lighthouse", "-n", "2")
	s.when, s.strike = interferencePoints()["poll"], func() { _ = proc.cmd.Process.Kill() }
	s.mu.Unlock()
	proc.wait()
	held := s.holdNext(interferencePoints()["picture begins"])
	first, _ := s.startServer(t)
	waitFor(t, "the request", held.reached)
	if err := first.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the notice", func() bool { return strings.Contains(first.stderr.String(), "stopping") })
	close(held.open)
	if o := first.wait(); o.code != exitOK {
		t.Fatalf("serve ended with %d: %s", o.code, o.stderr)
	}
	id := read[operationList](s.testEnv, "operations", "list", "--json").Items[0].ID
	if said := s.must("operations", "show", id).stdout; strings.Count(said, "task ") != 2 {
		t.Errorf("the second task has no name: %s", said)
	}
	got := read[generated](s.testEnv, "generate", "--wait", id, "--json")
	if n := s.submitted(t)["a lighthouse"]; n != 2 || len(got.Slots) != 2 || got.Status != "succeeded" {
		t.Errorf("asked for %d times: %+v", n, got)
	}
}
