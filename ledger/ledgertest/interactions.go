package ledgertest

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"atelier/ledger"
	"atelier/media"
)

func interaction(id string) ledger.Interaction {
	return ledger.Interaction{
		ID: id, Owner: owner, WorkflowRunID: "wr", StepID: "choose", Status: ledger.InteractionOpen,
		Request: json.RawMessage(`{"title":"z","mode":"select","a":1.50}`), Data: json.RawMessage(`{"z":"{{ x }}","a":[1]}`), Version: 1,
	}
}

func (f *fixture) create(t *testing.T, i ledger.Interaction) ledger.Interaction {
	t.Helper()
	kept, err := f.CreateInteraction(t.Context(), i)
	must(t, err)
	return kept
}

func interactionRoundTrip(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	want := interaction("wi_1")
	want.ExpiresAt = f.deps.Now()
	made := f.create(t, want)
	same := func(want ledger.Interaction) {
		t.Helper()
		got, err := f.Interaction(ctx, owner, want.ID)
		must(t, err)
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(ledger.Interaction{}, "CreatedAt", "UpdatedAt")); d != "" {
			t.Error(d)
		}
		if !got.CreatedAt.Equal(made.CreatedAt) || got.UpdatedAt.Before(made.UpdatedAt) {
			t.Errorf("created %v and %v, updated %v and %v", made.CreatedAt, got.CreatedAt, made.UpdatedAt, got.UpdatedAt)
		}
	}
	same(want)
	want.Data, want.Version, want.Edits = json.RawMessage(`{"a":[2]}`), 2, json.RawMessage(`[{"version":2}]`)
	must(t, f.ChangeInteraction(ctx, want, 1))
	same(want)
	want.Status, want.Answer, want.AnsweredAt = ledger.InteractionAnswered, json.RawMessage(`{"selected_content_id":"gc_1"}`), f.deps.Now()
	must(t, f.ChangeInteraction(ctx, want, 2))
	same(want)
	wantCode(t, f.ChangeInteraction(ctx, want, 2), media.CodeConflict)
	second := interaction("wi_2")
	second.StepID = "approve"
	f.create(t, second)
	other := interaction("wi_3")
	other.WorkflowRunID = "other"
	f.create(t, other)
	list, err := f.ListInteractions(ctx, owner, "wr")
	must(t, err)
	if len(list) != 2 || list[0].ID != "wi_1" || list[1].ID != "wi_2" {
		t.Errorf("%+v", list)
	}
}

func interactionScope(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	i := f.create(t, interaction("wi_1"))
	_, err := f.Interaction(ctx, "bob", i.ID)
	wantCode(t, err, media.CodeNotFound)
	_, err = f.Interaction(ctx, "", i.ID)
	wantCode(t, err, media.CodeForbidden)
	list, err := f.ListInteractions(ctx, "bob", "wr")
	if err != nil || len(list) > 0 {
		t.Errorf("bob sees %+v, %v", list, err)
	}
	_, err = f.ListInteractions(ctx, "", "wr")
	wantCode(t, err, media.CodeForbidden)
	i.Owner = "bob"
	wantCode(t, f.ChangeInteraction(ctx, i, 1), media.CodeNotFound)
	_, err = f.CreateInteraction(ctx, ledger.Interaction{ID: "wi_2", Owner: owner})
	wantCode(t, err, media.CodeInvalid)
	foreign := interaction("wi_2")
	foreign.Owner = "bob"
	_, err = f.CreateInteraction(ctx, foreign)
	wantCode(t, err, media.CodeNotFound)
}

func interactionOnce(t *testing.T, f *fixture) {
	t.Helper()
	first := f.create(t, interaction("wi_1"))
	first.Version, first.Data = 2, json.RawMessage(`{"edited":true}`)
	must(t, f.ChangeInteraction(t.Context(), first, 1))
	if again := f.create(t, interaction("wi_2")); again.ID != "wi_1" || again.Version != 2 {
		t.Errorf("a replay gets %+v", again)
	}
	first.Status = ledger.InteractionExpired
	must(t, f.ChangeInteraction(t.Context(), first, 2))
	if next := f.create(t, interaction("wi_3")); next.ID != "wi_3" {
		t.Errorf("after the first has ended, the next is %+v", next)
	}
}

func interactionVersions(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	i := f.create(t, interaction("wi_1"))
	i.Version = 2
	must(t, f.ChangeInteraction(ctx, i, 1))
	i.Version, i.Data = 3, json.RawMessage(`{"stale":true}`)
	wantCode(t, f.ChangeInteraction(ctx, i, 1), media.CodeVersion)
	got, err := f.Interaction(ctx, owner, i.ID)
	must(t, err)
	if got.Version != 2 || string(got.Data) != `{"z":"{{ x }}","a":[1]}` {
		t.Errorf("a refused change is kept: %+v", got)
	}
}

func interactionsTogether(t *testing.T, f *fixture) {
	t.Helper()
	i := f.create(t, interaction("wi_1"))
	i.Version = 2
	var wg sync.WaitGroup
	var won atomic.Int32
	for range 8 {
		wg.Go(func() {
			err := f.ChangeInteraction(t.Context(), i, 1)
			if err == nil {
				won.Add(1)
			} else if code := media.CodeOf(err); code != media.CodeVersion {
				t.Errorf("a change that came second is %v", err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d of 8 won", won.Load())
	}
}

func interactionExpiry(t *testing.T, f *fixture) {
	t.Helper()
	ctx, now := t.Context(), f.deps.Now()
	for id, after := range map[string]time.Duration{"wi_1": time.Hour, "wi_2": -time.Hour, "wi_3": -2 * time.Hour, "wi_4": -3 * time.Hour, "wi_5": 0} {
		i := interaction(id)
		i.StepID = id
		if after != 0 {
			i.ExpiresAt = now.Add(after)
		}
		i = f.create(t, i)
		if id == "wi_4" {
			i.Status = ledger.InteractionAnswered
			must(t, f.ChangeInteraction(ctx, i, 1))
		}
	}
	for limit, want := range map[int][]string{10: {"wi_3", "wi_2"}, 1: {"wi_3"}} {
		list, err := f.ListOpenExpired(ctx, now, limit)
		must(t, err)
		ids := []string{}
		for _, i := range list {
			ids = append(ids, i.ID)
		}
		if d := cmp.Diff(want, ids); d != "" {
			t.Error(d)
		}
	}
}
