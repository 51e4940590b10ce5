package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"atelier/ledger"
)

// finalState is how a run tree ended: its runs, its operations, what it made, and its events.
type finalState struct {
	runs, operations []string
	digests          []string
	events           map[string]int
}

// finalState reads how the only run of an environment ended.
func (s *agentEnv) finalState(t *testing.T, id string) (e finalState) {
	t.Helper()
	w := &world{ctx: t.Context(), env: func(k string) string { return s.env[k] }}
	err := w.withStores(func(st *stores) error {
		list, err := st.Ledger.ListRuns(w.ctx, owner, ledger.RunQuery{Tree: id})
		if err != nil {
			return err
		}
		for _, r := range list.Items {
			u := r.Usage
			u.WorkedMS = 0 // unknown for a process that was killed in an act
			e.runs = append(e.runs, fmt.Sprintf("%s %s %s %+v %s complete %t", r.AgentPath, r.Status, r.Failure.Code, u, usd(r.Cost.EstimatedUSD), r.Cost.Complete))
		}
		ops, err := st.Ledger.ListOperations(w.ctx, owner, ledger.OperationQuery{Tree: id})
		for _, o := range ops.Items {
			e.operations = append(e.operations, fmt.Sprintf("%s ended %t %s", o.Status, !o.FinishedAt.IsZero(), usd(o.EstimatedUSD)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range s.mediaList().Items {
		e.digests = append(e.digests, m.Digest)
	}
	slices.Sort(e.runs)
	slices.Sort(e.operations)
	slices.Sort(e.digests)
	e.events = s.eventCounts(t, id)
	return e
}

func usd(s *string) string {
	if s == nil {
		return "unknown"
	}
	return *s
}

// checkSame checks that two runs ended alike.
func (e finalState) checkSame(t *testing.T, other finalState) {
	t.Helper()
	for what, both := range map[string][2][]string{
		"runs": {e.runs, other.runs}, "operations": {e.operations, other.operations}, "pictures": {e.digests, other.digests},
	} {
		if !slices.Equal(both[0], both[1]) {
			t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(both[0], "\n"), strings.Join(both[1], "\n"))
		}
	}
	for _, what := range union(e.events, other.events) {
		if e.events[what] != other.events[what] {
			t.Errorf("event %s is there %d times, want %d", what, e.events[what], other.events[what])
		}
	}
}

// waitForEvents waits until the ledger has the events before a blocking point: they are saved some milliseconds later.
func (s *agentEnv) waitForEvents(t *testing.T, id, place string) {
	t.Helper()
	want := map[string]map[string]int{
		"boss thinks":      {"boss turn-started": 1},
		"polling":          {"boss action-started": 2},
		"sub-agent thinks": {"boss/helper turn-started": 1, "boss action-finished": 2},
		"sub-agent paints": {"boss/helper action-started": 1, "boss action-finished": 2},
	}[place]
	eventually(t, place, func() bool {
		if s.must("runs", "events", id, "--jsonl").stdout == "" {
			return false
		}
		events := s.eventCounts(t, id)
		for what, n := range want {
			if events[what] < n {
				return false
			}
		}
		return true
	})
}

// firstModelCall matches the first model call of a run, before anything is finished.
func firstModelCall(r *http.Request, body string) bool {
	return interferencePoints()["model call"](r) && strings.Contains(body, "You are boss.")
}

// adoptingCommands returns the commands that adopt a dead process's run; with -short, one of them.
func adoptingCommands() []string {
	if testing.Short() {
		return []string{"serve"}
	}
	return []string{"resume", "serve"}
}

// TestDeadRunIsCancelled: a run that is cancelled after its process was killed ends like one that is cancelled at that
// place while its process lives.
func TestDeadRunIsCancelled(t *testing.T) {
	t.Parallel()
	all := blockingPoints()
	all["boss thinks"] = firstModelCall
	if testing.Short() {
		delete(all, "polling")
		delete(all, "sub-agent thinks")
	}
	for name, when := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end := func(kill bool) finalState {
				s := newAgentEnv(t)
				s.env["ATELIER_BUDGET_OWNER"], s.env["ATELIER_BUDGET_OWNER_TOKENS"] = "5", "1000000"
				started := s.blockUntilGone(t, when)
				proc := s.start("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"), "--json")
				<-started
				id := s.onlyRun().ID
				s.waitForEvents(t, id, name)
				before := 0
				if kill {
					_ = proc.cmd.Process.Kill()
					proc.wait()
					before = s.requested()
				}
				if o := s.must("runs", "cancel", id); !strings.Contains(o.stdout, "cancelled") {
					t.Errorf("cancel said %s%s", o.stdout, o.stderr)
				}
				if kill && s.requested() != before {
					t.Error("services were asked for a cancelled run")
				}
				if !kill {
					proc.wait()
				}
				s.checkNotResumable(t, id)
				return s.finalState(t, id)
			}
			live := end(false)
			end(true).checkSame(t, live)
		})
	}
}

// TestDeadRunIsOutOfTime: a run whose time elapses before it is adopted ends like one whose process lives.
func TestDeadRunIsOutOfTime(t *testing.T) {
	t.Parallel()
	for _, by := range adoptingCommands() {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			end := func(kill bool) finalState {
				s := startBlockedRun(t, "sub-agent paints")
				id := s.onlyRun().ID
				s.waitForEvents(t, id, "sub-agent paints")
				if !kill {
					<-s.ended
					return s.finalState(t, id)
				}
				_ = s.proc.cmd.Process.Kill()
				<-s.ended
				time.Sleep(time.Until(s.deadline))
				before := s.requested()
				if by == "resume" {
					o := s.atelier("resume", id, "--json")
					if ans := decode[answer](t, o); o.code != exitProvider || len(ans.Outputs)+len(ans.AlsoMade) != 2 || !strings.Contains(string(ans.Error), "deadline") {
						t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
					}
				} else {
					s.serveUntil(t, func() bool { return s.hasEnded(id) })
				}
				if s.requested() != before {
					t.Error("services were asked when the time was over")
				}
				return s.finalState(t, id)
			}
			live := end(false)
			end(true).checkSame(t, live)
		})
	}
}

// TestKilledBeforeItNoticedCancel: a cancelled run whose process was killed before it noticed ends, when another
// process adopts it, as in its own process.
func TestKilledBeforeItNoticedCancel(t *testing.T) {
	t.Parallel()
	for _, by := range adoptingCommands() {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			end := func(kill bool) finalState {
				s := newAgentEnv(t)
				s.env["ATELIER_BUDGET_OWNER"], s.env["ATELIER_BUDGET_OWNER_TOKENS"] = "5", "1000000"
				started := s.blockUntilGone(t, blockingPoints()["sub-agent paints"])
				proc := s.start("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"), "--json")
				<-started
				id := s.onlyRun().ID
				s.waitForEvents(t, id, "sub-agent paints")
				if !kill {
					s.must("runs", "cancel", id)
					proc.wait()
					return s.finalState(t, id)
				}
				_ = proc.cmd.Process.Signal(syscall.SIGSTOP)
				cancelling := s.start("runs", "cancel", id)
				eventually(t, "the cancel", func() bool {
					dump := strings.ReplaceAll(string(s.engineDump()), `": `, `":`) // PostgreSQL writes a space
					return strings.Contains(dump, `"cancelled":true`)
				})
				_ = proc.cmd.Process.Kill()
				_ = cancelling.cmd.Process.Kill()
				proc.wait()
				cancelling.wait()
				before := s.requested()
				if by == "resume" {
					o := s.atelier("resume", id, "--json")
					if ans := decode[answer](t, o); o.code != exitInterrupted || len(ans.Outputs)+len(ans.AlsoMade) != 2 || ans.Status != "cancelled" {
						t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
					}
				} else {
					s.serveUntil(t, func() bool { return s.hasEnded(id) })
				}
				if s.requested() != before {
					t.Error("services were asked for a cancelled run")
				}
				s.checkNotResumable(t, id)
				return s.finalState(t, id)
			}
			live := end(false)
			end(true).checkSame(t, live)
		})
	}
}

// serveUntil runs a server until so returns true.
func (s *agentEnv) serveUntil(t *testing.T, ended func() bool) {
	t.Helper()
	serving := s.start("serve", "--listen", "127.0.0.1:0")
	eventually(t, "the end of the run", ended)
	_ = serving.cmd.Process.Signal(os.Interrupt) // it writes what follows the final event
	serving.wait()
}
