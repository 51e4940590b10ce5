//go:build postgres && unix

package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"atelier/internal/pgtest"
)

// newServerEnv returns an agentEnv whose databases are on its own server.
func newServerEnv(t *testing.T) (*agentEnv, *pgtest.Server) {
	t.Helper()
	server := pgtest.Start(t)
	s := newAgentEnv(t)
	s.env["ATELIER_DATABASE_URL"] = server.Database(t)
	return s, server
}

// TestServerAwayForAMoment stops the server at moments of a run and restarts it: the run waits, and work in progress is
// neither lost nor repeated. A concurrent act whose statement was cut off fails before anything is paid for, and the
// model gets its error.
func TestServerAwayForAMoment(t *testing.T) {
	t.Parallel()
	for name, when := range interferencePoints() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, server := newServerEnv(t)
			back := make(chan struct{})
			proc := s.startAndInterfere(when, func() {
				server.Stop()
				time.AfterFunc(700*time.Millisecond, func() { server.Restart(t); close(back) })
			})
			o := proc.wait()
			<-back
			if o.code != exitOK {
				t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
			}
			s.checkPaidOnce(t, 4)
			if n := len(s.mediaList().Items); n < 1 {
				t.Error("no picture is kept")
			}
		})
	}
}

// TestServerAwayForLong: a run whose server stays away stops and says so; another process resumes it when the server is
// back.
func TestServerAwayForLong(t *testing.T) {
	t.Parallel()
	s, server := newServerEnv(t)
	s.env["ATELIER_DATABASE_WAIT"] = "1s"
	o := s.startAndInterfere(interferencePoints()["poll"], server.Stop).wait()
	if o.code != exitProvider || !strings.Contains(o.stderr, "does not answer") || !strings.Contains(o.stderr, "atelier resume ") {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	server.Restart(t)
	if o := s.atelier("resume", s.onlyRun().ID, "--json"); o.code != exitOK {
		t.Fatalf("resumed with exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	s.checkSucceeded(t, 5)
}

// TestServerGoesUnderServe: serve is not ready while the server is away, and finishes its current run when the server
// is back.
func TestServerGoesUnderServe(t *testing.T) {
	t.Parallel()
	s, server := newServerEnv(t)
	s.env["ATELIER_DATABASE_WAIT"] = "1s"
	s.run(t, 1)
	gone := make(chan struct{})
	s.mu.Lock()
	s.when, s.strike = interferencePoints()["poll"], func() { server.Stop(); close(gone) }
	s.mu.Unlock()
	serving, url := s.startServer(t)
	waitFor(t, "the server's end", gone)
	eventually(t, "not ready", func() bool { return status(t, url+"/readyz") == http.StatusServiceUnavailable })
	if got := status(t, url+"/healthz"); got != http.StatusOK {
		t.Errorf("healthz: %d", got)
	}
	time.Sleep(1500 * time.Millisecond) // longer than the run waits for the server
	server.Restart(t)
	eventually(t, "readiness", func() bool { return status(t, url+"/readyz") == http.StatusOK })
	id := s.onlyRun().ID
	eventually(t, "the end of the run", func() bool { return s.hasEnded(id) })
	s.checkSucceeded(t, 6)
	_ = serving.cmd.Process.Signal(syscall.SIGTERM)
	if o := serving.wait(); o.code != exitOK {
		t.Errorf("serve ended with %d: %s", o.code, o.stderr)
	}
}

// TestNoServerAtTheStart: every command that runs something reports the problem, without the password of the URL.
func TestNoServerAtTheStart(t *testing.T) {
	t.Parallel()
	const password = "open-sesame-7"
	s := newAgentEnv(t)
	good := s.env["ATELIER_DATABASE_URL"]
	for name, test := range map[string]struct {
		url  string
		code int
		want string
	}{
		"nobody listens": {"postgres://ann:" + password + "@127.0.0.1:1/atelier", exitProvider, "does not answer"},
		"wrong password": {strings.Replace(good, "user=postgres", "user="+pgtest.Guest, 1) + "&password=" + password, exitProvider, "password"},
		"no database":    {strings.Replace(good, "/test_", "/none_", 1), exitInput, "CREATE DATABASE"},
	} {
		s.env["ATELIER_DATABASE_URL"] = test.url
		for _, args := range [][]string{
			{"run", "boss", "paint", "--agents", filepath.Join(s.dir, "own")},
			{"resume", "x"},
			{"runs", "cancel", "x"},
			{"serve", "--listen", "127.0.0.1:0"},
			{"generate", "a fox"},
		} {
			o := s.atelier(args...)
			if o.code != test.code || !strings.Contains(o.stderr, test.want) {
				t.Errorf("%s: %s: exit %d, want %d: %s", name, args[0], o.code, test.code, o.stderr)
			}
			if strings.Contains(o.stdout+o.stderr, password) {
				t.Errorf("%s: %s prints the password: %s", name, args[0], o.stderr)
			}
		}
	}
	if s.requested() != 0 {
		t.Errorf("%d requests", s.requested())
	}
}

// TestDoctorShowsEngine: doctor shows the engine in its own schema beside the ledger.
func TestDoctorShowsEngine(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	if o := p.must("doctor"); !strings.Contains(o.stdout, "durable engine") || !strings.Contains(o.stdout, "schema atelier_engine, 8 runs") {
		t.Errorf("doctor prints\n%s", o.stdout)
	}
}
