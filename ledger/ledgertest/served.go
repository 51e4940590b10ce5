package ledgertest

import (
	"slices"
	"testing"
	"time"

	"atelier/ledger"
	"atelier/media"
)

// servedClauses are the clauses about methods that the server uses.
func servedClauses() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"text that cannot be stored is not found": unstorable,
		"thumbnails":               thumbnails,
		"events by position":       eventsByPosition,
		"conversations change":     conversationChanges,
		"runs of conversations":    conversationRuns,
		"keys are claimed once":    keysOnce,
		"media by text and thread": mediaByText,
	}
}

func eventsByPosition(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	one, two, foreign := f.run(t, owner, nil), f.run(t, owner, nil), f.run(t, "bob", nil)
	begin, err := f.LastPosition(ctx)
	must(t, err)
	var want, ofTwo []int64
	for i, r := range []ledger.Run{one, two, foreign, one, two} {
		saved, err := f.AppendEvents(ctx, []ledger.Event{{Tree: r.ID, RunID: r.ID, Kind: "warning"}})
		must(t, err)
		if p := saved[0].Position; i != 2 {
			if want = append(want, p); r.ID == two.ID {
				ofTwo = append(ofTwo, p)
			}
		}
	}
	positions := func(run string, after int64, limit int) (out []int64) {
		events, err := f.EventsAfter(ctx, owner, run, after, limit)
		must(t, err)
		for _, e := range events {
			out = append(out, e.Position)
		}
		return out
	}
	if got := positions("", begin, 0); !slices.Equal(got, want) {
		t.Errorf("all: %v, want %v", got, want)
	}
	if got := positions("", want[0], 2); !slices.Equal(got, want[1:3]) {
		t.Errorf("a part: %v, want %v", got, want[1:3])
	}
	if got := positions(two.ID, 0, 0); !slices.Equal(got, ofTwo) {
		t.Errorf("of one: %v, want %v", got, ofTwo)
	}
	if last, err := f.LastPosition(ctx); err != nil || last != want[len(want)-1] {
		t.Errorf("last: %d, %v", last, err)
	}
	_, err = f.EventsAfter(ctx, owner, foreign.ID, 0, 0)
	wantCode(t, err, media.CodeNotFound)
}

func conversationChanges(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	c := f.conversation(t, owner, "The 100% harbour of Ärö")
	r := f.run(t, owner, nil)
	f.saveMessage(t, c, ledger.RoleUser, r, "Draw a Boat for Øle")
	found := func(text string) int {
		list, err := f.ListConversations(ctx, owner, ledger.ConversationQuery{Text: text})
		must(t, err)
		return len(list.Items)
	}
	for text, want := range map[string]int{"HARBOUR": 1, "a boat": 1, "0%": 1, "Ärö": 1, "FOR Ø": 1, "%h": 0, "_00": 0, "tree": 0} {
		if got := found(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	must(t, f.RenameConversation(ctx, owner, c.ID, "Boats"))
	if head, err := f.Conversation(ctx, owner, c.ID); err != nil || head.Title != "Boats" {
		t.Errorf("%+v, %v", head, err)
	}
	if id, err := f.ConversationOf(ctx, owner, r.ID); err != nil || id != c.ID {
		t.Errorf("of run: %q, %v", id, err)
	}
	for _, none := range []struct{ owner, tree string }{{owner, "x"}, {"bob", r.ID}} {
		if id, err := f.ConversationOf(ctx, none.owner, none.tree); err != nil || id != "" {
			t.Errorf("of %v: %q, %v", none, id, err)
		}
	}
	wantCode(t, f.RenameConversation(ctx, "bob", c.ID, "x"), media.CodeNotFound)
	wantCode(t, f.RestoreConversation(ctx, owner, c.ID, time.Time{}), media.CodeNotFound)
	before := f.deps.Now()
	must(t, f.DeleteConversation(ctx, owner, c.ID))
	wantCode(t, f.RenameConversation(ctx, owner, c.ID, "x"), media.CodeNotFound)
	wantCode(t, f.RestoreConversation(ctx, "bob", c.ID, before), media.CodeNotFound)
	wantCode(t, f.RestoreConversation(ctx, owner, c.ID, f.deps.Now()), media.CodeNotFound)
	must(t, f.RestoreConversation(ctx, owner, c.ID, before))
	if got := found("boats"); got != 1 {
		t.Errorf("restored: %d", got)
	}
}

func conversationRuns(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	c, other := f.conversation(t, owner, "a"), f.conversation(t, owner, "b")
	r, second := f.run(t, owner, nil), f.run(t, owner, nil)
	child := f.run(t, owner, &r)
	f.saveMessage(t, c, ledger.RoleUser, r, "x")
	f.saveMessage(t, c, ledger.RoleAssistant, r, "y")
	f.saveMessage(t, other, ledger.RoleUser, second, "z")
	usd := "0.25"
	r.Status, r.Cost, r.Usage.InputTokens = ledger.StatusSucceeded, ledger.Cost{EstimatedUSD: &usd, Complete: true}, 7
	must(t, f.FinishRun(ctx, r))
	runs, err := f.ConversationRuns(ctx, owner, []string{c.ID})
	must(t, err)
	if len(runs) != 1 || runs[0].RunID != r.ID || runs[0].ConversationID != c.ID || *runs[0].Cost.EstimatedUSD != usd || !runs[0].Cost.Complete || runs[0].Usage.InputTokens != 7 {
		t.Errorf("%+v (a child is %s)", runs, child.ID)
	}
	if runs, err := f.ConversationRuns(ctx, owner, []string{c.ID, other.ID}); err != nil || len(runs) != 2 {
		t.Errorf("%+v, %v", runs, err)
	}
	for _, none := range []struct {
		owner string
		ids   []string
	}{{"bob", []string{c.ID}}, {owner, nil}} {
		if runs, err := f.ConversationRuns(ctx, none.owner, none.ids); err != nil || len(runs) != 0 {
			t.Errorf("%v: %+v, %v", none, runs, err)
		}
	}
}

func keysOnce(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	began := f.deps.Now()
	claim := func(who, digest, id string, since time.Time) ledger.Claim {
		first, err := f.ClaimKey(ctx, ledger.Claim{Owner: who, Key: "k", Digest: digest, ID: id}, since)
		must(t, err)
		return first
	}
	if c := claim(owner, "d1", "1", began); c.ID != "1" || c.Answer != nil {
		t.Errorf("first: %+v", c)
	}
	if c := claim(owner, "d2", "2", began); c.ID != "1" || c.Digest != "d1" || c.Answer != nil {
		t.Errorf("second: %+v", c)
	}
	if c := claim("bob", "d2", "3", began); c.ID != "3" {
		t.Errorf("somebody else's: %+v", c)
	}
	must(t, f.SettleKey(ctx, owner, "k", []byte(`{"id":"1"}`)))
	must(t, f.ReleaseKey(ctx, owner, "k")) // it has an answer, so it stays
	if c := claim(owner, "d1", "4", began); string(c.Answer) != `{"id":"1"}` {
		t.Errorf("answered: %+v", c)
	}
	must(t, f.ReleaseKey(ctx, "bob", "k"))
	if c := claim("bob", "d5", "5", began); c.ID != "5" {
		t.Errorf("released: %+v", c)
	}
	if c := claim(owner, "d6", "6", f.deps.Now()); c.ID != "6" {
		t.Errorf("too old: %+v", c)
	}
	wantCode(t, f.SettleKey(ctx, owner, "none", nil), media.CodeNotFound)
	_, err := f.ClaimKey(ctx, ledger.Claim{Owner: owner, Key: "x"}, began)
	wantCode(t, err, media.CodeInvalid)
}

func mediaByText(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	c, r := f.conversation(t, owner, "a"), f.run(t, owner, nil)
	f.saveMessage(t, c, ledger.RoleUser, r, "x")
	scope := media.WithScope(ctx, media.Scope{Owner: owner, Tree: r.ID, Run: r.ID})
	o := media.NewOutput(media.Blob{Digest: media.DigestOf([]byte("x")), SizeBytes: 1, Facts: media.Facts{MIMEType: "image/png"}}, media.Meta{Label: "A Box_", FileName: "crate.png", Description: "Wood"})
	_, err := f.Record(scope, o)
	must(t, err)
	for q, want := range map[ledger.MediaQuery]int{
		{Text: "box_"}: 1, {Text: "CRATE"}: 1, {Text: "wood"}: 1, {Text: "b%x"}: 0, {Text: "_box"}: 0,
		{Conversation: c.ID}: 1, {Conversation: "x"}: 0, {Conversation: c.ID, Text: "box"}: 1,
	} {
		if list, err := f.ListMedia(ctx, owner, q); err != nil || len(list.Items) != want {
			t.Errorf("%+v: %d items, want %d, %v", q, len(list.Items), want, err)
		}
	}
}
