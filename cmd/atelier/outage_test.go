package main

import (
	"database/sql"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// matchRequest returns a function that matches requests by their method and a part of their path.
func matchRequest(method, part string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == method && strings.Contains(r.URL.Path, part) }
}

// interferencePoints returns the moments of a run at which tests interfere with it.
func interferencePoints() map[string]func(*http.Request) bool {
	return map[string]func(*http.Request) bool{
		"model call":     matchRequest(http.MethodPost, "/chat/completions"),
		"picture begins": matchRequest(http.MethodPost, "/v1/flux"),
		"poll":           matchRequest(http.MethodGet, "/get_result"),
		"download":       matchRequest(http.MethodGet, "/results/"),
	}
}

// startAndInterfere starts the run and calls strike at a moment of it.
func (s *agentEnv) startAndInterfere(when func(*http.Request) bool, strike func()) *process {
	s.mu.Lock()
	s.when, s.strike = when, strike
	s.mu.Unlock()
	return s.start("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"), "--json")
}

// checkSucceeded checks that the run succeeded with all pictures, each paid for once.
func (s *agentEnv) checkSucceeded(t *testing.T, calls int) {
	t.Helper()
	s.checkPaidOnce(t, calls)
	if n := len(s.mediaList().Items); n != 3 {
		t.Errorf("%d pictures, want 3", n)
	}
}

// checkPaidOnce checks that the run succeeded, and that each requested picture was requested once and is kept.
func (s *agentEnv) checkPaidOnce(t *testing.T, calls int) {
	t.Helper()
	for prompt, n := range s.submitted(t) {
		if n != 1 {
			t.Errorf("%s was asked for %d times", prompt, n)
		}
	}
	if n := len(s.chat.Requests()); n < 4 || n > calls {
		t.Errorf("%d model calls, want 4 to %d", n, calls)
	}
	kept := map[string]bool{}
	for _, m := range s.mediaList().Items {
		kept[m.Digest] = true
	}
	for _, d := range s.images.Sent() {
		if !kept[d.String()] {
			t.Errorf("%s was made and is not kept", d)
		}
	}
	id := s.onlyRun().ID
	if asked := len(s.submitted(t)); len(kept) != asked {
		t.Errorf("%d pictures were asked for, %d are kept", asked, len(kept))
	}
	if events := s.eventCounts(t, id); events["boss run-succeeded"] != 1 || events["boss run-failed"] != 0 {
		t.Errorf("events %v", events)
	}
	s.must("media", "verify")
	s.checkNotResumable(t, id)
}

// newSQLiteEnv returns an agentEnv whose databases are files, whatever the build tags are.
func newSQLiteEnv(t *testing.T) *agentEnv {
	t.Helper()
	s := newAgentEnv(t)
	s.env["ATELIER_DATABASE_URL"] = ""
	return s
}

// engineFile opens the engine's file while its process uses it.
func (s *agentEnv) engineFile(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(s.data, "engine.db")+"?_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // what it wrote is committed
	return db
}

// TestEngineFileIsHeld: a run waits while another program locks the engine's file.
func TestEngineFileIsHeld(t *testing.T) {
	t.Parallel()
	s := newSQLiteEnv(t)
	proc := s.startAndInterfere(interferencePoints()["picture begins"], func() {
		tx, err := s.engineFile(t).BeginTx(t.Context(), nil)
		if err != nil {
			t.Error(err)
			return
		}
		time.AfterFunc(time.Second, func() { _ = tx.Rollback() })
	})
	if o := proc.wait(); o.code != exitOK {
		t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	s.checkSucceeded(t, 4)
}

// TestEngineFileIsFull: a run stops when a step cannot be saved, and can be resumed when there is space. A trigger
// simulates a full disk.
func TestEngineFileIsFull(t *testing.T) {
	t.Parallel()
	for name, when := range interferencePoints() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSQLiteEnv(t)
			proc := s.startAndInterfere(when, func() {
				_, err := s.engineFile(t).ExecContext(t.Context(), `CREATE TRIGGER full_disk BEFORE INSERT ON operation_outputs
					BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END`)
				if err != nil {
					t.Error(err)
				}
			})
			o := proc.wait()
			id := s.onlyRun().ID
			if o.code != exitProvider || !strings.Contains(o.stderr, "free space on the disk") || !strings.Contains(o.stderr, "atelier resume "+id) {
				t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
			}
			if strings.Contains(o.stderr, "DBOS") || strings.Contains(o.stderr, "workflow") {
				t.Errorf("the engine speaks for itself: %s", o.stderr)
			}
			if shown := s.must("runs", "show", id).stdout; !strings.Contains(shown, "running") {
				t.Errorf("the run ended: %s", shown)
			}
			if _, err := s.engineFile(t).ExecContext(t.Context(), `DROP TRIGGER full_disk`); err != nil {
				t.Fatal(err)
			}
			if o := s.atelier("resume", id, "--json"); o.code != exitOK {
				t.Fatalf("resumed with exit %d: %s%s", o.code, o.stdout, o.stderr)
			}
			// A model call whose answer could not be saved is repeated, and perhaps the concurrent call of the helper.
			s.checkSucceeded(t, 6)
		})
	}
}

// TestDatabaseFilesGo: a run whose database file is removed stops at once with a clear error.
func TestDatabaseFilesGo(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"engine.db", "atelier.db"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			s := newSQLiteEnv(t)
			path, away := filepath.Join(s.data, file), filepath.Join(s.dir, "away")
			hold := make(chan struct{})
			proc := s.startAndInterfere(interferencePoints()["poll"], func() {
				if err := os.Rename(path, away); err != nil {
					t.Error(err)
				}
				<-hold
			})
			o := proc.wait()
			close(hold)
			if o.code != exitProvider || !strings.Contains(o.stderr, "its file was removed") || !strings.Contains(o.stderr, file) {
				t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
			}
			if err := os.Rename(away, path); err != nil {
				t.Fatal(err)
			}
			if o := s.atelier("resume", s.onlyRun().ID, "--json"); o.code != exitOK {
				t.Fatalf("resumed with exit %d: %s%s", o.code, o.stdout, o.stderr)
			}
			s.checkSucceeded(t, 5)
		})
	}
}

// TestEngineFileRefused: an unusable engine file is reported at the start, before any request to a provider.
func TestEngineFileRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		make func(path string) error
		want string
	}{
		"no database": {func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("no database ", 500)), 0o600)
		}, "restore"},
		"a folder": {func(path string) error {
			return errors.Join(os.RemoveAll(path), os.MkdirAll(path, 0o700))
		}, "writable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSQLiteEnv(t)
			s.must("media", "list")
			if err := test.make(filepath.Join(s.data, "engine.db")); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"run", "boss", "paint", "--agents", filepath.Join(s.dir, "own")}, {"serve", "--listen", "127.0.0.1:0"}, {"doctor"}} {
				o := s.atelier(args...)
				if o.code == exitOK || !strings.Contains(o.stdout+o.stderr, "durable engine") || !strings.Contains(o.stdout+o.stderr, test.want) {
					t.Errorf("%s: exit %d: %s%s", args[0], o.code, o.stdout, o.stderr)
				}
			}
			if s.requested() != 0 {
				t.Errorf("%d requests", s.requested())
			}
		})
	}
}
