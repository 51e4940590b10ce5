package run_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/agent"
	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
)

// balance returns the spent and reserved amounts of a budget.
func (h *testService) balance(t *testing.T, name string) (spent, reserved int64) {
	t.Helper()
	b, err := h.store.Budget(t.Context(), name)
	must(t, err)
	return b.Spent, b.Reserved
}

func (h *testService) checkSpent(t *testing.T, name string, spent int64) {
	t.Helper()
	if got, reserved := h.balance(t, name); got != spent || reserved != 0 {
		t.Errorf("%s: %d spent and %d reserved, want %d and none", name, got, reserved, spent)
	}
}

// TestBudgetsCountRuns: the tokens of all agents and the pictures of all generations count by run, day and owner;
// another owner has separate budgets.
func TestBudgetsCountRuns(t *testing.T) {
	t.Parallel()
	most := generate.Bounds{Tokens: 1_000_000, Images: 100, USD: "1"}
	now := time.Date(2026, 11, 21, 23, 30, 0, 0, time.FixedZone("west", -3600))
	h := newTestServiceAt(t, filepath.Join(t.TempDir(), "a.db"), run.BudgetConfig{Run: most, Day: most, Owner: most, Now: func() time.Time { return now }}, drawThenDone()...)
	res, err := h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner})
	must(t, err)
	// Two calls of 15 tokens; two of three pictures were made.
	for _, name := range []string{"run:" + res.RunID, "day:" + owner + ":2026-11-22", "owner:" + owner} {
		h.checkSpent(t, "tokens:"+name, 30)
		h.checkSpent(t, "images:"+name, 2)
		h.checkSpent(t, name, 0)
	}
	h.checkSpent(t, "tokens:owner:bob", 0)
}

// TestOverTheBudgetOfAnOwner: a run that would exceed the budget ends as over_budget in the ledger and the events; the
// next day has its full budget.
func TestOverTheBudgetOfAnOwner(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "a.db")
	open := func(most int64) *testService {
		return newTestServiceAt(t, path, run.BudgetConfig{Day: generate.Bounds{Tokens: most}, Now: func() time.Time { return now }}, `{"message":"ok","done":true}`)
	}
	ask := func(h *testService) (*agent.Result, error) {
		return h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner})
	}
	_, err := ask(open(1_000_000))
	must(t, err)
	h := open(16)
	res, err := ask(h)
	if media.CodeOf(err) != media.CodeOverBudget || len(h.asked) > 0 || !strings.Contains(err.Error(), "has 1 token left of 16 tokens") {
		t.Fatalf("%v after %d calls", err, len(h.asked))
	}
	row, err := h.store.Run(t.Context(), owner, res.RunID)
	must(t, err)
	if row.Status != ledger.StatusFailed || row.Failure.Code != string(media.CodeOverBudget) {
		t.Errorf("run %+v", row)
	}
	events, err := h.store.ListEvents(t.Context(), owner, res.RunID, 0, 0)
	must(t, err)
	if last := events[len(events)-1]; last.Kind != "run-failed" || !strings.Contains(string(last.Payload), "over_budget") {
		t.Errorf("last event %+v", last)
	}
	h.checkSpent(t, "tokens:day:ann:2026-11-21", 15)
	now = now.Add(24 * time.Hour)
	_, err = ask(open(1_000_000))
	must(t, err)
	h.checkSpent(t, "tokens:day:ann:2026-11-22", 15)
}

// TestLimitsOfARunInTheLedger: the ledger counts the caller's limits; they lower the configured ones and never raise
// them, and are in the run's row.
func TestLimitsOfARunInTheLedger(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		configured int64
		asked      int64
		left       string
		images     int64
	}{
		"asked":      {0, 2, "has 2 images left of 2 images, and this needs 3 images", 0},
		"lower":      {5, 4, "", 2},
		"not higher": {2, 50, "has 2 images left of 2 images", 0},
		"configured": {2, 0, "has 2 images left of 2 images", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newTestServiceAt(t, filepath.Join(t.TempDir(), "a.db"), run.BudgetConfig{Run: generate.Bounds{Images: tt.configured}}, drawThenDone()...)
			res, err := h.service.Run(t.Context(), agent.Request{
				Agent: "painter", Message: "paint", Owner: owner, MaxImages: tt.asked, MaxTurns: 9, MaxTime: time.Minute, MaxCost: "0.5",
			})
			must(t, err) // the model was informed, and continued
			h.checkSpent(t, "images:run:"+res.RunID, tt.images)
			var sent string
			for _, m := range h.last() {
				sent += m.Text()
			}
			if !strings.Contains(sent, tt.left) {
				t.Errorf("the messages are %s", sent)
			}
			row, err := h.store.Run(t.Context(), owner, res.RunID)
			must(t, err)
			var limits agent.Limits
			must(t, json.Unmarshal(row.Limits, &limits))
			if want := (agent.Limits{Turns: 9, Images: tt.asked, TimeMS: 60_000, USD: "0.5"}); limits != want {
				t.Errorf("limits %+v, want %+v", limits, want)
			}
			if row.Usage.Turns != 2 || row.Usage.Images != tt.images {
				t.Errorf("used %+v", row.Usage)
			}
		})
	}
}

// TestProcessesShareABudget: runs of several handles on one ledger draw at the same time, and never more than the owner
// may; a refused picture was never requested.
func TestProcessesShareABudget(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	most := run.BudgetConfig{Owner: generate.Bounds{Images: 7}}
	var houses []*testService
	for range 3 {
		houses = append(houses, newTestServiceAt(t, path, most, drawThenDone()...))
	}
	var all sync.WaitGroup
	for range 2 {
		for _, h := range houses {
			all.Go(func() {
				for range 2 {
					if _, err := h.gateway.Generate(media.WithScope(t.Context(), media.Scope{Owner: owner, Tree: "t"}), generate.Request{
						Prompt: "a pier", N: 2, Size: "64x64",
					}); err != nil && media.CodeOf(err) != media.CodeOverBudget {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	spent, reserved := houses[0].balance(t, "images:owner:"+owner)
	if spent != 6 || reserved != 0 {
		t.Errorf("%d spent, %d reserved, want 6 of 7", spent, reserved)
	}
	made := 0
	p := ledger.Page{Limit: ledger.MaxLimit}
	ops, err := houses[1].store.ListOperations(t.Context(), owner, ledger.OperationQuery{Page: p})
	must(t, err)
	for _, op := range ops.Items {
		_, slots, _, err := houses[1].store.Operation(t.Context(), owner, op.ID)
		must(t, err)
		made += len(slots)
	}
	if made != 6 || len(ops.Items) != 3 {
		t.Errorf("%d operations made %d pictures", len(ops.Items), made)
	}
}

func TestBudgetsThatMeanNothing(t *testing.T) {
	t.Parallel()
	h := newTestService(t)
	for name, b := range map[string]generate.Bounds{
		"dollars": {USD: "lots"}, "negative": {USD: "-1"}, "too many": {USD: "5000000"}, "endless": {USD: "1e99999999"},
		"tokens": {Tokens: -1}, "images": {Images: -1},
	} {
		for field, c := range map[string]run.BudgetConfig{"run": {Run: b}, "day": {Day: b}, "owner": {Owner: b}} {
			if _, err := run.NewBudget(h.store, c); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), field) {
				t.Errorf("%s of %s: %v", name, field, err)
			}
		}
	}
}
