package run_test

import (
	"path/filepath"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/operation"
	"atelier/ledger"
)

// TestOperationsFollowTheirCalls: in the ledger, an operation's status follows its calls as the table of operations
// defines.
func TestOperationsFollowTheirCalls(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "a.db"))
	t.Cleanup(func() { must(t, s.Close()) })
	calls := map[operation.Event]generate.Status{operation.EventSend: generate.StatusSubmitted, operation.EventName: generate.StatusRunning}
	for _, from := range []generate.Status{
		generate.StatusQueued, generate.StatusSubmitted, generate.StatusRunning, generate.StatusSucceeded, generate.StatusPartial,
		generate.StatusFailed, generate.StatusModerated, generate.StatusCancelled,
	} {
		for e, call := range calls {
			op := ledger.Operation{ID: string(from) + "-" + string(e), Owner: "ann", Tree: "tree", Status: string(from)}
			if from.Finished() {
				op.FinishedAt = time.Unix(1, 0)
			}
			must(t, s.BeginOperation(t.Context(), op))
			must(t, s.SaveTask(t.Context(), ledger.Task{ID: "call-" + op.ID, OperationID: op.ID, Call: 1, Attempt: 1, Status: string(call)}))
			saved, _, _, err := s.Operation(t.Context(), op.Owner, op.ID)
			must(t, err)
			want, err := operation.Advance(operation.SubjectOperation, from, e)
			if err != nil || saved.Status != string(want) {
				t.Errorf("%s when it is %s becomes %s, want %s, %v", from, e, saved.Status, want, err)
			}
		}
	}
}
