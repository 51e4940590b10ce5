package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atelier/internal/sim"

	"atelier/generate/generatetest/bflsim"
	"atelier/generate/generatetest/leonardosim"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/ledger"
)

// operationList is the part of the output of operations list that the tests read.
type operationList struct {
	Items []ledger.Operation `json:"items"`
}

// waitForTask waits until the only operation of the environment is in progress at its provider, and returns its id.
func (p *testEnv) waitForTask() string {
	p.t.Helper()
	var id string
	eventually(p.t, "the task is under way", func() bool {
		list := read[operationList](p, "operations", "list", "--status", "running", "--json").Items
		if len(list) == 1 {
			id = list[0].ID
		}
		return id != ""
	})
	return id
}

// withSlowFlux configures a provider whose tasks are unfinished until ready is called.
func (p *testEnv) withSlowFlux() (service *bflsim.Simulator, ready func()) {
	p.t.Helper()
	service = bflsim.New(bflsim.Config{Pending: -1})
	open := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if poll(r) {
			select {
			case <-open:
			case <-r.Context().Done():
				return
			}
		}
		service.ServeHTTP(w, r)
	}))
	p.t.Cleanup(srv.Close)
	p.env["BFL_API_KEY"], p.env["BFL_BASE_URL"] = service.Key(), srv.URL
	return service, func() { close(open) }
}

// TestCtrlCLeavesWhatIsPaid: a provider that cannot stop a task continues and bills it, so Ctrl-C leaves the operation
// running and says so, and --wait fetches the result. After a kill, --wait fetches it, too.
func TestCtrlCLeavesWhatIsPaid(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]os.Signal{"ctrl-c": os.Interrupt, "kill": os.Kill} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTestEnv(t)
			service, ready := p.withSlowFlux()
			proc := p.start("generate", "a fox", "-m", "FLUX.2 Pro")
			id := p.waitForTask()
			if said := p.must("operations", "list").stdout; strings.Contains(said, "orphaned") || !strings.Contains(p.must("operations", "show", id).stdout, "a process is working on it") {
				t.Errorf("while it is worked on: %s", said)
			}
			if err := proc.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			o := proc.wait()
			if name == "ctrl-c" {
				if o.code != exitRunning || !strings.Contains(o.stderr, "Black Forest Labs has no way to stop a task") || !strings.Contains(o.stdout, "atelier generate --wait "+id) {
					t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
				}
				if said := p.must("operations", "list").stdout; !strings.Contains(said, "running, orphaned") {
					t.Errorf("remaining: %s", said)
				}
			}
			ready()
			p.must("generate", "--wait", id, "-o", filepath.Join(p.dir, "fox.png"))
			if n := len(service.Captured()); n != 1 || len(p.mediaList().Items) != 1 {
				t.Errorf("%d calls, %d pictures", n, len(p.mediaList().Items))
			}
		})
	}
}

// TestCtrlCCancelsWhatCanBe: Ctrl-C cancels the task of a provider that can stop it.
func TestCtrlCCancelsWhatCanBe(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.withMidjourney(midjourneysim.Config{})
	proc := p.start("generate", "a fox", "-m", "Midjourney 7")
	id := p.waitForTask()
	if err := proc.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if o := proc.wait(); o.code != exitInterrupted {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	if said := p.must("operations", "show", id).stdout; !strings.Contains(said, "cancelled  Midjourney 7") || !strings.Contains(said, "add --all to include results that were cancelled") {
		t.Errorf("%s", said)
	}
	p.atelier("operations", "retry", id).checkRefused(t, exitInput, "--all")
	p.must("operations", "retry", id, "--all")
}

// TestHowAnOperationStands: an operation that is not finished and that no process holds is orphaned.
func TestHowAnOperationStands(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for want, o := range map[string]ledger.Operation{
		"running":             {Status: "running", HeldUntil: now.Add(time.Minute)},
		"running, orphaned":   {Status: "running"},
		"submitted, orphaned": {Status: "submitted"},
		"queued, orphaned":    {Status: "queued"},
		"succeeded":           {Status: "succeeded", FinishedAt: now},
	} {
		if got := statusText(o); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestWaitPrintsTheReasonOfAFallback: --wait on the task of a fallback model says why the first model failed, and so
// does operations show.
func TestWaitPrintsTheReasonOfAFallback(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	service, ready := p.withSlowFlux()
	s.gemini.Inject(sim.Injection{Fault: sim.FaultModerated})
	p.env["GEMINI_API_KEY"], p.env["GEMINI_BASE_URL"] = s.gemini.Key(), strings.TrimSuffix(p.env["OPENAI_BASE_URL"], "/v1")
	proc := p.start("generate", "a fox", "-m", "Nano Banana Pro", "--fallback", "FLUX.2 Pro")
	id := p.waitForTask()
	if err := proc.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if o := proc.wait(); o.code != exitRunning {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	ready()
	reason := read[generated](p, "generate", "--wait", id, "--json").Dispositions[0].Reason
	if reason == "" || strings.Contains(reason, "process ended") || !strings.Contains(p.must("operations", "show", id).stdout, "moderated: "+reason) {
		t.Errorf("the reason is %q\n%s", reason, p.must("operations", "show", id).stdout)
	}
	if n := len(service.Captured()); n != 1 {
		t.Errorf("%d calls", n)
	}
}

// TestRevokedKeyLeavesALostCall: a call whose answer was lost stays pending while the provider refuses the key for the
// list of its tasks, and is fetched once the key is accepted.
func TestRevokedKeyLeavesALostCall(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	service := leonardosim.New(leonardosim.Config{Now: time.Now})
	srv, revoked := newRevocableProvider(t, service)
	p.env["LEONARDO_API_KEY"], p.env["LEONARDO_BASE_URL"] = service.Key(), srv.URL
	revoked.Store(true)
	service.Inject(sim.Injection{Fault: sim.FaultAnswerLost})
	o := p.atelier("generate", "a fox", "-m", "phoenix_1_0")
	list := read[operationList](p, "operations", "list", "--json").Items
	if o.code != exitRunning || len(list) != 1 || !strings.Contains(o.stdout, "atelier generate --wait "+list[0].ID) || !strings.Contains(o.stderr, "left to be looked for") {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	if o := p.atelier("generate", "--wait", list[0].ID); o.code != exitRunning {
		t.Errorf("while it is refused: exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	revoked.Store(false)
	p.must("generate", "--wait", list[0].ID, "-o", filepath.Join(p.dir, "fox.png"))
	if n := len(service.Captured()); n != 1 || len(p.mediaList().Items) != 1 {
		t.Errorf("%d calls, %d pictures", n, len(p.mediaList().Items))
	}
}

// newRevocableProvider returns a provider that, while the flag is set, refuses the key for every request but POST, such
// as polls and lists of tasks.
func newRevocableProvider(t *testing.T, service http.Handler) (*httptest.Server, *atomic.Bool) {
	t.Helper()
	revoked := &atomic.Bool{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost || !revoked.Load() {
			service.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":"the key was refused","detail":"Not authenticated"}`) // a client that is gone needs no answer
	}))
	t.Cleanup(srv.Close)
	return srv, revoked
}
