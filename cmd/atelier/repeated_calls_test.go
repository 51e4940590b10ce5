package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"atelier/chat/chattest"
	"atelier/ledger"
)

// checkCost checks that the cost of a run is what its owner's budget counts; the owner has no other run. It returns the
// run's row.
func (s *agentEnv) checkCost(t *testing.T, id string) (row ledger.Run) {
	t.Helper()
	w := &world{ctx: t.Context(), env: func(k string) string { return s.env[k] }}
	err := w.withStores(func(st *stores) (err error) {
		if row, err = st.Ledger.Run(w.ctx, owner, id); err != nil {
			return err
		}
		said, err := ledger.ParsePico(usd(row.Cost.EstimatedUSD))
		if err != nil {
			return err
		}
		b, err := st.Ledger.Budget(w.ctx, "owner:"+owner)
		if b.Spent != int64(said) || b.Reserved != 0 {
			t.Errorf("the run cost %d, the budget counts %d and holds %d", said, b.Spent, b.Reserved)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// TestCallsAskedAgainCount: a run counts every model call that was billed, also those that were repeated after a kill
// or by a retry.
func TestCallsAskedAgainCount(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) *agentEnv {
		t.Helper()
		s := newAgentEnv(t)
		s.env["ATELIER_BUDGET_OWNER"] = "5"
		return s
	}
	for name, c := range map[string]struct {
		deaths int
		place  string
		when   func(*http.Request, string) bool
	}{
		"killed":                       {1, "sub-agent thinks", blockingPoints()["sub-agent thinks"]},
		"killed three times":           {3, "sub-agent thinks", blockingPoints()["sub-agent thinks"]},
		"killed at first":              {1, "boss thinks", firstModelCall},
		"killed three times, at first": {3, "boss thinks", firstModelCall},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			started := s.blockUntilGone(t, c.when)
			command := []string{"run", "boss", "paint", "--agents", filepath.Join(s.dir, "own")}
			for range c.deaths {
				proc := s.start(command...)
				<-started
				id := s.onlyRun().ID
				s.waitForEvents(t, id, c.place)
				_ = proc.cmd.Process.Kill()
				proc.wait()
				command = []string{"resume", id}
			}
			s.mu.Lock()
			s.each = nil
			s.mu.Unlock()
			s.must(command...)
			if row := s.checkCost(t, command[1]); row.Usage.ModelCalls != 4 || row.Cost.Complete {
				t.Errorf("%+v, complete %t", row.Usage, row.Cost.Complete)
			}
			if o := s.must("runs", "show", command[1], "--steps"); strings.Contains(o.stdout, "again") {
				t.Errorf("steps %s", o.stdout)
			}
		})
	}
	t.Run("tried again", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		answer, bad := s.chat.Answer, 4
		s.chat.Answer = func(r chattest.Request) string {
			if strings.Contains(r.System(), "You are boss.") && len(r.Messages) > 2 && bad > 0 {
				bad--
				return "I would rather not."
			}
			return answer(r)
		}
		if o := s.atelier("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own")); o.code == exitOK || bad != 0 {
			t.Fatalf("exit %d, %d bad answers remaining: %s%s", o.code, bad, o.stdout, o.stderr)
		}
		id := s.onlyRun().ID
		failed := s.checkCost(t, id)
		s.must("runs", "retry", id)
		row := s.checkCost(t, id)
		if row.Usage.ModelCalls != failed.Usage.ModelCalls+1 || !row.Cost.Complete || row.Usage.InputTokens <= failed.Usage.InputTokens {
			t.Errorf("%+v, then %+v, complete %t", failed.Usage, row.Usage, row.Cost.Complete)
		}
	})
}
