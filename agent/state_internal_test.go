package agent

import (
	"encoding/json"
	"testing"
	"time"
)

// TestForeignStepsAreNotRead: a step with a name that a program chose counts neither as media nor as time of the run,
// whatever it holds.
func TestForeignStepsAreNotRead(t *testing.T) {
	t.Parallel()
	kept := json.RawMessage(`{"media":[{"ref":"img-7k3m9q2x"}],"began":"2026-11-01T10:00:00Z","ended":"2026-11-01T10:00:07Z"}`)
	s := State{Steps: map[string]json.RawMessage{"fetch": kept}}
	if items, worked := s.items(), s.worked(); len(items) != 0 || worked != 0 {
		t.Errorf("%d items, worked %s", len(items), worked)
	}
	s.Steps["turn-1-agent-1-helper/turn-2-action-1"] = kept
	if items, worked := s.items(), s.worked(); len(items) != 1 || worked != 7*time.Second {
		t.Errorf("of an act: %d items, worked %s", len(items), worked)
	}
}
