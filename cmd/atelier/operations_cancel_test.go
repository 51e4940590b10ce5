package main

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"atelier/generate/generatetest/bflsim"
	"atelier/ledger"
)

// TestCancelWithoutAKey: a generation whose key was revoked is cancelled without a key. What it may have cost counts
// as spent, nothing stays reserved, and nothing changes later.
func TestCancelWithoutAKey(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	sim := bflsim.New(bflsim.Config{})
	srv, revoked := newRevocableProvider(t, sim)
	p.env["BFL_API_KEY"], p.env["BFL_BASE_URL"], p.env["ATELIER_BUDGET_OWNER"] = sim.Key(), srv.URL, "5"
	revoked.Store(true)
	if o := p.atelier("generate", "a fox", "-m", "FLUX.2 Pro"); o.code != exitRunning {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	left := p.operationRecords()
	id := left.operations[0]
	if said := p.must("operations", "show", id).stdout; left.reserved == 0 || !strings.Contains(said, "atelier operations cancel "+id) {
		t.Errorf("remaining: %s\n%s", left, said)
	}
	delete(p.env, "BFL_API_KEY")
	for range 2 {
		if o := p.must("operations", "cancel", id); !strings.Contains(o.stdout, "cancelled by FLUX.2 Pro") || !strings.Contains(o.stderr, "which may bill it") {
			t.Errorf("%s%s", o.stdout, o.stderr)
		}
		if now := p.operationRecords(); now.reserved != 0 || now.spent == 0 || now.spent != left.reserved || now.unsettled != 1 || now.statuses[0] != "cancelled" {
			t.Errorf("first %s, and then %s", left, now)
		}
	}
	revoked.Store(false)
	p.env["BFL_API_KEY"] = sim.Key()
	p.must("generate", "a fox", "-m", "offline", "--size", "64x64")
	done := p.operationRecords().operations[0]
	p.atelier("operations", "cancel", done).checkRefused(t, exitInput, "is over (succeeded)")
	p.atelier("operations", "cancel", "nothing").checkRefused(t, exitInput, "nothing")
	if n := len(sim.Captured()); n != 1 || len(p.mediaList().Items) != 1 {
		t.Errorf("%d calls, %d pictures", n, len(p.mediaList().Items))
	}
}

// TestCancelTellsAnotherProcess: cancel ends a generation in the process that works on it; it refuses a generation that
// a run waits for, and names the run.
func TestCancelTellsAnotherProcess(t *testing.T) {
	t.Parallel()
	s := newAgentEnv(t)
	sim := bflsim.New(bflsim.Config{Pending: 1 << 20})
	srv := httptest.NewServer(sim)
	t.Cleanup(srv.Close)
	s.env["BFL_API_KEY"], s.env["BFL_BASE_URL"] = sim.Key(), srv.URL
	proc := s.start("generate", "a fox", "-m", "FLUX.2 Pro")
	id := s.waitForTask()
	if o := s.must("operations", "cancel", id, "--json"); !strings.Contains(o.stderr, "asked to stop") || decode[generated](t, o).Status != "cancelled" {
		t.Errorf("%s%s", o.stdout, o.stderr)
	}
	if o := proc.wait(); o.code != exitInterrupted || !strings.Contains(o.stderr, "another process cancelled this operation: atelier operations show "+id) || strings.Contains(o.stdout+o.stderr, "--wait") {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	running := s.start("run", "--agents", s.dir+"/own", "boss", "Paint.")
	var op ledger.Operation
	eventually(t, "a picture of a run is under way", func() bool {
		list := read[operationList](s.testEnv, "operations", "list", "--status", "running", "--json").Items
		if len(list) > 0 {
			op = list[0]
		}
		return op.RunID != ""
	})
	s.atelier("operations", "cancel", op.ID).checkRefused(t, exitInput, "atelier runs cancel "+op.Tree)
	s.must("runs", "cancel", op.Tree)
	_ = running.cmd.Process.Signal(os.Interrupt) // it may have ended by itself
	running.wait()
	if o := s.must("operations", "cancel", op.ID); !strings.Contains(o.stdout, "cancelled by FLUX.2 Pro") {
		t.Errorf("after its run: %s%s", o.stdout, o.stderr)
	}
}
