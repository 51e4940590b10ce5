package ledgertest

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"atelier/internal/everyday"
	"atelier/ledger"
	"atelier/media"
)

// paused saves the state of a run that asks for the first time.
func (f *fixture) paused(t *testing.T, r ledger.Run) ledger.RunState {
	t.Helper()
	st := ledger.RunState{
		RunID: r.ID, Owner: r.Owner, Number: 1, Status: ledger.WaitPaused, Pending: json.RawMessage(`[{"id":"q-1"}]`),
		State: json.RawMessage(`{"version":1}`), Setting: json.RawMessage(`{"files":"docs"}`), AskedAt: f.deps.Now(),
	}
	must(t, f.SaveRunState(t.Context(), st))
	return st
}

func (f *fixture) wantStatus(t *testing.T, r ledger.Run, want ledger.Status) {
	t.Helper()
	got, err := f.Run(t.Context(), r.Owner, r.ID)
	if err != nil || got.Status != want {
		t.Errorf("run is %s, %v; want %s", got.Status, err, want)
	}
}

func runStateRoundTrip(t *testing.T, f *fixture) {
	t.Helper()
	ctx, r := t.Context(), f.run(t, owner, nil)
	_, err := f.RunState(ctx, owner, r.ID)
	wantCode(t, err, media.CodeNotFound)
	want := f.paused(t, r)
	f.wantStatus(t, r, ledger.StatusPaused)
	same := func() {
		t.Helper()
		got, err := f.RunState(ctx, owner, r.ID)
		must(t, err)
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(ledger.RunState{}, "CreatedAt", "UpdatedAt")); d != "" {
			t.Error(d)
		}
	}
	same()
	want.Status, want.Pending, want.State, want.AnsweredAt = ledger.WaitAnswered, nil, json.RawMessage(`{"version":1,"steps":{}}`), f.deps.Now()
	must(t, f.ChangeRunState(ctx, ledger.WaitPaused, want))
	f.wantStatus(t, r, ledger.StatusRunning)
	same()
	want.Number, want.Status, want.Pending = 2, ledger.WaitPaused, json.RawMessage(`[{"id":"q-2"}]`)
	must(t, f.SaveRunState(ctx, want))
	f.wantStatus(t, r, ledger.StatusPaused)
	same()
	over := ledger.RunState{RunID: r.ID, Owner: owner, Number: 2, Status: ledger.WaitFinished}
	must(t, f.ChangeRunState(ctx, ledger.WaitPaused, over))
	f.wantStatus(t, r, ledger.StatusPaused)
	want.Status, want.Pending = ledger.WaitFinished, nil
	same()

	fork := ledger.RunState{RunID: f.deps.NewID(), Owner: owner, Status: ledger.WaitAnswered, AnsweredAt: f.deps.Now()}
	must(t, f.SaveRunState(ctx, fork)) // its run does not exist yet
	forked := ledger.Run{ID: fork.RunID, Owner: owner, Tree: fork.RunID, Agent: "sage", ForkedFrom: r.ID, ForkedStep: "turn-1-model"}
	must(t, f.CreateRun(ctx, forked))
	got, err := f.Run(ctx, owner, forked.ID)
	if err != nil || got.ForkedFrom != r.ID || got.ForkedStep != "turn-1-model" {
		t.Errorf("fork = %+v, %v", got, err)
	}
}

func runStateOnce(t *testing.T, f *fixture) {
	t.Helper()
	ctx, r := t.Context(), f.run(t, owner, nil)
	st := f.paused(t, r)
	wantCode(t, f.SaveRunState(ctx, st), media.CodeConflict)
	var won atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			answer := st
			answer.Status, answer.AnsweredAt = ledger.WaitAnswered, f.deps.Now()
			if f.ChangeRunState(ctx, ledger.WaitPaused, answer) == nil {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("%d answers were taken, want one", won.Load())
	}
	st.Status = ledger.WaitAnswered
	wantCode(t, f.ChangeRunState(ctx, ledger.WaitPaused, st), media.CodeConflict)
	f.wantStatus(t, r, ledger.StatusRunning)
	next := st
	next.Number, next.Status = 2, ledger.WaitPaused
	must(t, f.SaveRunState(ctx, next))
	wantCode(t, f.ChangeRunState(ctx, ledger.WaitPaused, st), media.CodeConflict) // of the first question
	f.wantStatus(t, r, ledger.StatusPaused)

	next.Status = ledger.WaitAnswered
	next.Owner = "bob"
	wantCode(t, f.ChangeRunState(ctx, ledger.WaitPaused, next), media.CodeNotFound)
	next.Number = 9
	wantCode(t, f.SaveRunState(ctx, next), media.CodeConflict)
	next.Owner = ""
	wantCode(t, f.ChangeRunState(ctx, ledger.WaitPaused, next), media.CodeForbidden)
	wantCode(t, f.SaveRunState(ctx, next), media.CodeInvalid)
	f.wantStatus(t, r, ledger.StatusPaused)
}

func runStateLists(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	var ids []string
	for range 5 {
		r := f.run(t, owner, nil)
		f.paused(t, r)
		ids = append([]string{r.ID}, ids...)
	}
	f.paused(t, f.run(t, "bob", nil))
	for who, code := range map[string]media.Code{"": media.CodeForbidden, "bob": media.CodeNotFound} {
		_, err := f.RunState(ctx, who, ids[0])
		wantCode(t, err, code)
	}
	at := f.deps.Now()
	for i, id := range ids[:3] {
		must(t, f.ChangeRunState(ctx, ledger.WaitPaused, ledger.RunState{
			RunID: id, Owner: owner, Number: 1, Status: ledger.WaitAnswered, AnsweredAt: at.Add(time.Duration(-i) * time.Minute),
		}))
	}
	answered, err := f.ListAnswered(ctx, at.Add(-time.Second))
	if err != nil || len(answered) != 2 || answered[0].RunID != ids[2] || answered[1].RunID != ids[1] || answered[0].Owner != owner {
		t.Errorf("answered = %+v, %v", answered, err)
	}
	must(t, f.InTransaction(ctx, func(ctx context.Context) error {
		for range ledger.MaxLimit { // more than a page
			id := f.deps.NewID()
			err := errors.Join(
				f.CreateRun(ctx, ledger.Run{ID: id, Owner: owner, Tree: id, Agent: "sage", AgentPath: "sage", Status: ledger.StatusRunning, StartedAt: at}),
				f.SaveRunState(ctx, ledger.RunState{RunID: id, Owner: owner, Number: 1, Status: ledger.WaitAnswered, AnsweredAt: at.Add(-time.Hour)}),
			)
			if err != nil {
				return err
			}
		}
		return nil
	}))
	if answered, err = f.ListAnswered(ctx, at.Add(-time.Second)); err != nil || len(answered) != ledger.MaxLimit+2 {
		t.Errorf("%d answered, %v", len(answered), err)
	}
}

func runStateUnchanged(t *testing.T, f *fixture) {
	t.Helper()
	ctx, r := t.Context(), f.run(t, owner, nil)
	text, err := json.Marshal(map[string]string{"x": everyday.Text()})
	must(t, err)
	must(t, f.SaveRunState(ctx, ledger.RunState{
		RunID: r.ID, Owner: owner, Number: 1, Status: ledger.WaitPaused, Pending: text, State: text, Setting: text,
	}))
	must(t, f.ChangeRunState(ctx, ledger.WaitPaused, ledger.RunState{
		RunID: r.ID, Owner: owner, Number: 1, Status: ledger.WaitAnswered, Pending: text, State: text,
	}))
	got, err := f.RunState(ctx, owner, r.ID)
	must(t, err)
	for _, kept := range []json.RawMessage{got.Pending, got.State, got.Setting} {
		if string(kept) != string(text) {
			t.Errorf("kept %.80s", kept)
		}
	}
}
