//go:build unix

package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/ledger"
)

// adoptionLimit is the limit for another process to adopt the work of one that died.
const adoptionLimit = 15 * time.Second

// servers are the processes that work on the runs of an agentEnv, each as if on its own machine: with the build tag
// postgres they share a database and the folder of blobs, otherwise the whole data folder.
type servers struct {
	*agentEnv
	db   *sql.DB
	proc map[int]*process // by PID
	url  map[int]string
}

func (s *agentEnv) servers(t *testing.T, n int) servers {
	t.Helper()
	all := servers{s, s.openLedger(), map[int]*process{}, map[int]string{}}
	for range n {
		one := &agentEnv{testEnv: anotherMachine(t, s.testEnv), images: s.images, chat: s.chat}
		proc, address := one.startServer(t)
		all.proc[proc.cmd.Process.Pid], all.url[proc.cmd.Process.Pid] = proc, address
	}
	return all
}

// leaseHolder returns the PID of the process that has a lease of a kind, or 0 if there is none.
func (s servers) leaseHolder(t *testing.T, kind ledger.LeaseKind) (pid int) {
	t.Helper()
	if err := s.db.QueryRowContext(t.Context(), `SELECT COALESCE(MAX(pid), 0) FROM leases WHERE kind = $1`, string(kind)).Scan(&pid); err != nil {
		t.Fatal(err)
	}
	return pid
}

// moveLeases moves every process that has a lease to another machine, where no process can see that it has ended.
func moveLeases(t *testing.T, db *sql.DB) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), `UPDATE leases SET machine = 'elsewhere', host = 'elsewhere'`); err != nil {
		t.Fatal(err)
	}
}

// TestMachineDies: another process adopts a run within 15 seconds after its process was killed, and the run ends as if
// nothing had happened.
func TestMachineDies(t *testing.T) {
	t.Parallel()
	s := newAgentEnv(t)
	id, _ := s.run(t, 1)
	held := s.holdNext(interferencePoints()["poll"])
	all := s.servers(t, 3)
	waitFor(t, "the request", held.reached)
	dead := all.leaseHolder(t, ledger.LeaseRun)
	moveLeases(t, all.db)
	send(t, all.proc[dead], syscall.SIGKILL)
	died := time.Now()
	all.proc[dead].wait()
	close(held.open)
	eventually(t, "another process", func() bool { pid := all.leaseHolder(t, ledger.LeaseRun); return pid != dead || s.hasEnded(id) })
	if after := time.Since(died); after > adoptionLimit {
		t.Errorf("it was taken over after %s", after)
	}
	eventually(t, "the end of the run", func() bool { return s.hasEnded(id) })
	s.checkSucceeded(t, 5)
}

// TestMachineSleeps: a process that was stopped for longer than its lease changes nothing when it wakes.
func TestMachineSleeps(t *testing.T) {
	t.Parallel()
	for name, when := range interferencePoints() {
		if name == "picture begins" || testing.Short() && name != "model call" {
			continue // lost without its answer; TestMachineSleepsInACall covers it
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAgentEnv(t)
			id, _ := s.run(t, 1)
			held := s.holdNext(when)
			all := s.servers(t, 2)
			waitFor(t, "the request", held.reached)
			asleep := all.leaseHolder(t, ledger.LeaseRun)
			send(t, all.proc[asleep], syscall.SIGSTOP)
			close(held.open)
			eventually(t, "the end of the run", func() bool { return s.hasEnded(id) })
			before := all.state(t, id)
			send(t, all.proc[asleep], syscall.SIGCONT)
			eventually(t, "that it is awake", func() bool { return status(t, all.url[asleep]+"/readyz") == http.StatusOK })
			send(t, all.proc[asleep], syscall.SIGTERM)
			if o := all.proc[asleep].wait(); o.code != exitOK {
				t.Errorf("exit %d: %s", o.code, o.stderr)
			}
			if d := cmp.Diff(before, all.state(t, id)); d != "" {
				t.Errorf("what slept has changed something: %s", d)
			}
			calls := 5
			if name == "model call" {
				calls++ // the sleeping process received its answer
			}
			s.checkSucceeded(t, calls)
		})
	}
}

func send(t *testing.T, p *process, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// state returns what the records contain about a run.
func (s servers) state(t *testing.T, id string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, list := range [][]string{{"runs", "list"}, {"runs", "show", id}, {"operations", "list"}, {"media", "list"}} {
		all[list[0]+" "+list[1]] = s.must(append(list, "--json")...).stdout
	}
	all["events"] = fmt.Sprint(s.eventCounts(t, id))
	return all
}

// TestMachineSleepsInACall: a picture that a process received after another one had adopted its operation is stored and
// recorded, it was paid for once, and the operation stays as the other process ended it.
func TestMachineSleepsInACall(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	to, err := url.Parse(p.env["OPENAI_BASE_URL"])
	if err != nil {
		t.Fatal(err)
	}
	reached, open := make(chan struct{}), make(chan struct{})
	provider := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: to.Scheme, Host: to.Host})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(reached) // a second call would panic
		<-open
		provider.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	p.env["OPENAI_BASE_URL"] = srv.URL + to.Path
	proc := p.start("generate", "a fox", "-m", "GPT Image 2")
	waitFor(t, "the call", reached)
	send(t, proc, syscall.SIGSTOP)
	close(open)
	server, _ := (&agentEnv{testEnv: anotherMachine(t, p)}).startServer(t)
	operation := func() ledger.Operation { return read[operationList](p, "operations", "list", "--json").Items[0] }
	eventually(t, "the end of the operation", func() bool { return operation().Status == "failed" })
	before := operation()
	send(t, proc, syscall.SIGCONT)
	if o := proc.wait(); o.code == exitOK {
		t.Errorf("it claims that it made the picture: %s%s", o.stdout, o.stderr)
	}
	if n := len(p.mediaList().Items); n != 1 {
		t.Errorf("%d pictures are recorded", n)
	}
	if d := cmp.Diff(before, operation()); d != "" {
		t.Errorf("what slept has changed the operation: %s", d)
	}
	if n := len(s.images.Captured()); n != 1 {
		t.Errorf("asked for %d times", n)
	}
	p.must("media", "verify")
	_ = server.cmd.Process.Signal(os.Interrupt)
	server.wait()
}
