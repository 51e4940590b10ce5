package run

import (
	"context"
	"slices"
	"testing"

	"atelier/agent"
	"atelier/ledger"
)

// listing is a ledger with the given operations.
type listing struct {
	ledger.Store
	all []ledger.Operation
}

func (l listing) ListOperations(context.Context, string, ledger.OperationQuery) (ledger.List[ledger.Operation], error) {
	return ledger.List[ledger.Operation]{Items: l.all}, nil
}

// TestSubActionsAreNotEndedWithTheirRun: when a run ends, open generations of its sub-actions continue, unless the run
// was cancelled.
func TestSubActionsAreNotEndedWithTheirRun(t *testing.T) {
	t.Parallel()
	e := player{ledger: listing{all: []ledger.Operation{
		{ID: "kept", Key: "gm_1", Status: "submitted"}, {ID: "left", Key: "k", Status: "submitted"},
	}}}
	for status, want := range map[agent.Status][]string{agent.StatusSucceeded: {"left"}, agent.StatusCancelled: {"left", "kept"}} {
		open, err := e.open(t.Context(), agent.Request{RunID: "r", Owner: "local"}, status)
		var ids []string
		for _, op := range open {
			ids = append(ids, op.ID)
		}
		if err != nil || !slices.Equal(ids, want) {
			t.Errorf("%s: %v %v", status, ids, err)
		}
	}
}
