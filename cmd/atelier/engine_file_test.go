package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/ledger"
)

// TestEngineFileIsLost: if engine.db of a killed run is lost or damaged, resume says what is missing and what to do,
// and cancel ends the whole tree; what the run made is kept.
func TestEngineFileIsLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(path string) error{
		"removed": func(path string) error {
			return errors.Join(os.Remove(path), os.RemoveAll(path+"-wal"), os.RemoveAll(path+"-shm"))
		},
		"removed but for its log": os.Remove,
		"empty":                   func(path string) error { return os.Truncate(path, 0) },
		"cut off":                 func(path string) error { return os.Truncate(path, 5000) },
		"overwritten": func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("no database ", 5000)), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSQLiteEnv(t)
			started := s.blockUntilGone(t, blockingPoints()["sub-agent paints"])
			proc := s.start("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"), "--json")
			<-started
			id := s.onlyRun().ID
			s.waitForEvents(t, id, "sub-agent paints")
			_ = proc.cmd.Process.Kill()
			proc.wait()
			made := len(s.mediaList().Items)
			if err := lose(filepath.Join(s.data, "engine.db")); err != nil {
				t.Fatal(err)
			}
			o := s.atelier("resume", id)
			if o.code == exitOK || !strings.Contains(o.stderr, "engine.db") || !strings.Contains(o.stderr, "backup") || !strings.Contains(o.stderr, "atelier runs cancel") {
				t.Errorf("resume: exit %d: %s", o.code, o.stderr)
			}
			if o := s.must("runs", "cancel", id); !strings.Contains(o.stdout, "cancelled") {
				t.Errorf("cancel said %s%s", o.stdout, o.stderr)
			}
			for _, r := range read[ledger.List[ledger.Run]](s.testEnv, "runs", "list", "--all", "--json").Items {
				if r.Status != ledger.StatusCancelled || r.FinishedAt.IsZero() {
					t.Errorf("run %s is %s", r.AgentPath, r.Status)
				}
			}
			for _, op := range read[ledger.List[ledger.Operation]](s.testEnv, "operations", "list", "--json").Items {
				if op.FinishedAt.IsZero() {
					t.Errorf("operation %s is %s", op.ID, op.Status)
				}
			}
			if events := s.eventCounts(t, id); events["boss run-cancelled"] != 1 {
				t.Errorf("events %v", events)
			}
			if n := len(s.mediaList().Items); n < made || made == 0 {
				t.Errorf("%d pictures, before %d", n, made)
			}
			if o := s.atelier("runs", "cancel", id); o.code != exitInput {
				t.Errorf("cancelled twice: exit %d, %s%s", o.code, o.stdout, o.stderr)
			}
		})
	}
}
