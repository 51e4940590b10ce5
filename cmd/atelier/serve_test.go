package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"atelier/internal/sim"

	"atelier/ledger"
)

// startServer starts the server and returns its address when it is ready.
func (s *agentEnv) startServer(t *testing.T, more ...string) (proc *process, url string) {
	t.Helper()
	if !slices.Contains(more, "--listen") {
		more = append([]string{"--listen", "127.0.0.1:0"}, more...)
	}
	proc = s.start(append([]string{"serve"}, more...)...)
	eventually(t, "the address", func() bool {
		_, after, _ := strings.Cut(proc.stderr.String(), "serving on ")
		line, _, whole := strings.Cut(after, "\n")
		url, _, _ = strings.Cut(line, `"`) // --log-json
		url = strings.Replace(url, "[::]", "127.0.0.1", 1)
		return whole
	})
	eventually(t, "readiness", func() bool { return status(t, url+"/readyz") == http.StatusOK })
	return proc, url
}

// TestServeGivesItsAddressInJSON: serve --json prints one document with its address as soon as it answers.
func TestServeGivesItsAddressInJSON(t *testing.T) {
	t.Parallel()
	s := newAgentEnv(t)
	proc, url := s.startServer(t, "--json")
	if err := proc.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if o := proc.wait(); o.code != exitOK || string(document(t, o)["url"]) != strconv.Quote(url) {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
}

// TestServeSaysWhatItCannotOffer: a server whose workflows cannot be read does not print an address first. A mistake in
// one file is logged, and the server starts.
func TestServeSaysWhatItCannotOffer(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	o := p.atelier("serve", "--listen", "127.0.0.1:0", "--workflows", filepath.Join(p.dir, "missing"), "--json")
	o.checkRefused(t, exitInput, "cannot be read")
	if strings.Contains(o.stdout+o.stderr, "127.0.0.1") {
		t.Errorf("%s%s", o.stdout, o.stderr)
	}
	s := newAgentEnv(t)
	s.write("flows/worse.yaml", "id: worse\n")
	proc, _ := s.startServer(t, "--workflows", filepath.Join(s.dir, "flows"))
	if err := proc.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if o := proc.wait(); o.code != exitOK || !strings.Contains(o.stderr, "worse.yaml:1:1: title, steps are missing") {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
}

// hasEnded reports whether a run has ended and its last event is recorded.
func (s *agentEnv) hasEnded(id string) bool {
	events := s.must("runs", "events", id, "--jsonl").stdout
	return slices.ContainsFunc([]string{"run-succeeded", "run-failed", "run-cancelled"}, func(end string) bool { return strings.Contains(events, end) })
}

// heldRequest is a request that waits until open is closed.
type heldRequest struct{ reached, open chan struct{} }

// holdNext makes the next request of a kind wait.
func (s *agentEnv) holdNext(when func(*http.Request) bool) heldRequest {
	h := heldRequest{make(chan struct{}), make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.when, s.strike = when, func() { close(h.reached); <-h.open }
	return h
}

// TestServeHandsOver: a server that is stopped in the middle of a run, with a sub-agent and polls in progress, leaves
// the run to the next server, which finishes it with the pictures of an undisturbed run.
func TestServeHandsOver(t *testing.T) {
	t.Parallel()
	for name, when := range interferencePoints() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAgentEnv(t)
			id, _ := s.run(t, 1)
			held := s.holdNext(when)
			first, _ := s.startServer(t)
			waitFor(t, "the request", held.reached)
			if err := first.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			close(held.open) // the step in progress may end
			if o := first.wait(); o.code != exitOK || s.hasEnded(id) {
				t.Fatalf("serve ended with %d, and the run %v: %s", o.code, s.hasEnded(id), o.stderr)
			}
			second, _ := s.startServer(t)
			eventually(t, "the end of the run", func() bool { return s.hasEnded(id) })
			s.checkSucceeded(t, 5) // the first call was killed before its answer
			_ = second.cmd.Process.Signal(syscall.SIGTERM)
			if o := second.wait(); o.code != exitOK {
				t.Errorf("serve ended with %d: %s", o.code, o.stderr)
			}
		})
	}
}

// TestSecondSignalStopsAtOnce: a second signal stops the server without waiting for steps in progress.
func TestSecondSignalStopsAtOnce(t *testing.T) {
	t.Parallel()
	s := newAgentEnv(t)
	id, _ := s.run(t, 1)
	held := s.holdNext(interferencePoints()["model call"])
	defer close(held.open)
	proc, _ := s.startServer(t, "--grace", "10m")
	waitFor(t, "the request", held.reached)
	if err := proc.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the notice", func() bool { return strings.Contains(proc.stderr.String(), "stopping") })
	if err := proc.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if o := proc.wait(); o.code == exitOK {
		t.Errorf("it ended in order: %s", o.stderr)
	}
	if s.hasEnded(id) {
		t.Error("the run has ended")
	}
}

// TestServersShareAFolder: two servers on one data folder are both ready, and finish a killed run once.
func TestServersShareAFolder(t *testing.T) {
	t.Parallel()
	s := newAgentEnv(t)
	id, _ := s.run(t, 4)
	one, first := s.startServer(t)
	two, second := s.startServer(t)
	if first == second || status(t, first+"/healthz") != http.StatusOK {
		t.Errorf("they answer at %s and %s", first, second)
	}
	eventually(t, "the end of the run", func() bool { return s.hasEnded(id) })
	if events := s.eventCounts(t, id); events["boss run-succeeded"] != 1 {
		t.Errorf("events %v", events)
	}
	for prompt, n := range s.submitted(t) {
		if n != 1 {
			t.Errorf("%s was asked for %d times", prompt, n)
		}
	}
	for _, proc := range []*process{one, two} {
		_ = proc.cmd.Process.Signal(syscall.SIGTERM)
		if o := proc.wait(); o.code != exitOK || strings.Contains(o.stderr, "WARN") {
			t.Errorf("serve ended with %d: %s", o.code, o.stderr)
		}
	}
	if o := s.atelier("serve", "--listen", usedAddress(t)); o.code != exitInput || !strings.Contains(o.stderr, "--listen") {
		t.Errorf("a port in use: exit %d, %s", o.code, o.stderr)
	}
}

// usedAddress returns an address that is in use.
func usedAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// TestServeTakesGenerations: serve adopts a generation whose process was killed, and polls and fetches it.
func TestServeTakesGenerations(t *testing.T) {
	t.Parallel()
	s := newAgentEnv(t)
	var proc *process
	s.mu.Lock() // until the process is known
	proc = s.start("generate", "a lighthouse", "--model", "FLUX.2 Pro")
	s.when, s.strike = interferencePoints()["poll"], func() { _ = proc.cmd.Process.Kill() }
	s.mu.Unlock()
	proc.wait()
	if n := len(s.mediaList().Items); n != 0 {
		t.Fatalf("%d pictures before the take-over", n)
	}
	serving, _ := s.startServer(t)
	eventually(t, "the picture", func() bool { return len(s.mediaList().Items) == 1 })
	if n := s.submitted(t)["a lighthouse"]; n != 1 {
		t.Errorf("asked for %d times", n)
	}
	_ = serving.cmd.Process.Signal(os.Interrupt)
	if o := serving.wait(); o.code != exitOK {
		t.Errorf("serve ended with %d: %s", o.code, o.stderr)
	}
}

// TestServeTakesWhatIsAskedAgain: serve adopts an operation that it has ended before, if the process of a later retry
// was killed.
func TestServeTakesWhatIsAskedAgain(t *testing.T) {
	t.Parallel()
	s := newAgentEnv(t)
	s.images.Inject(sim.Injection{Fault: sim.FaultTaskFailed})
	serving, _ := s.startServer(t)
	killed := func(args ...string) string {
		var proc *process
		s.mu.Lock() // until the process is known
		proc = s.start(args...)
		s.when, s.strike = interferencePoints()["poll"], func() { _ = proc.cmd.Process.Kill() }
		s.mu.Unlock()
		proc.wait()
		id := read[operationList](s.testEnv, "operations", "list", "--json").Items[0].ID
		return id
	}
	id := killed("generate", "a lighthouse", "--model", "FLUX.2 Pro")
	eventually(t, "the end", func() bool {
		return len(read[operationList](s.testEnv, "operations", "list", "--status", "failed", "--json").Items) == 1
	})
	killed("operations", "retry", id, "--all")
	eventually(t, "the picture", func() bool { return len(s.mediaList().Items) == 1 })
	if n := s.submitted(t)["a lighthouse"]; n != 2 {
		t.Errorf("asked for %d times", n)
	}
	_ = serving.cmd.Process.Signal(os.Interrupt)
	serving.wait()
}

// TestRunsAtOnce: a server works on at most ATELIER_RUNS_AT_ONCE adopted runs at once.
func TestRunsAtOnce(t *testing.T) {
	t.Parallel()
	const runs, limit = 4, 2
	s := newAgentEnv(t)
	s.env["ATELIER_RUNS_AT_ONCE"] = itoa(limit)
	var procs [runs]*process
	held := make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	defer release() // otherwise a failing test waits for its own requests
	var mu sync.Mutex
	started, most, now := 0, 0, 0
	s.mu.Lock()
	s.each = func(r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			return
		}
		b, _ := io.ReadAll(r.Body) // only then is the client's end noticed
		r.Body = io.NopCloser(bytes.NewReader(b))
		mu.Lock()
		started++
		now++
		most = max(most, now)
		mu.Unlock()
		select {
		case <-held:
		case <-r.Context().Done():
		}
		mu.Lock()
		now--
		mu.Unlock()
	}
	s.mu.Unlock()
	for i := range procs {
		procs[i] = s.start("run", "helper", "paint", "--agents", filepath.Join(s.dir, "own"))
	}
	count := func(of *int) int {
		mu.Lock()
		defer mu.Unlock()
		return *of
	}
	eventually(t, "all runs", func() bool { return count(&started) == runs })
	for _, p := range procs {
		_ = p.cmd.Process.Kill()
		p.wait()
	}
	eventually(t, "their ends", func() bool { return count(&now) == 0 })
	mu.Lock()
	most = 0
	mu.Unlock()
	serving, _ := s.startServer(t)
	eventually(t, "two runs", func() bool { return count(&started) >= runs+limit })
	release()
	for _, r := range read[ledger.List[ledger.Run]](s.testEnv, "runs", "list", "--json").Items {
		eventually(t, "the end of a run", func() bool { return s.hasEnded(r.ID) })
	}
	mu.Lock()
	defer mu.Unlock()
	if most > limit {
		t.Errorf("%d runs were worked on at once, want %d", most, limit)
	}
	_ = serving.cmd.Process.Signal(syscall.SIGTERM)
	if o := serving.wait(); o.code != exitOK {
		t.Errorf("serve ended with %d: %s", o.code, o.stderr)
	}
	for _, bad := range []string{"0", "many", "1001"} {
		s.env["ATELIER_RUNS_AT_ONCE"] = bad
		if o := s.atelier("runs", "list"); o.code != exitInput || !strings.Contains(o.stderr, "ATELIER_RUNS_AT_ONCE") {
			t.Errorf("%s: exit %d, %s", bad, o.code, o.stderr)
		}
	}
}
