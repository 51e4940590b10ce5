package run_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
	"atelier/run/conversation"
)

// TestRefOfAnotherRun: a ref is valid in its run and its conversation. Elsewhere it is refused and begins nothing, and
// the error has the media id that can be used instead.
func TestRefOfAnotherRun(t *testing.T) {
	t.Parallel()
	h := build(t, `{"message":"Seen.","done":true}`, `{"message":"Seen.","done":true}`, `{"ask":{"question":"Which?"}}`, `{"message":"That.","done":true}`)
	h.service = h.newDurableService(t)
	ctx := t.Context()
	ask := func(conversation string, images ...agent.Image) agent.Request {
		return agent.Request{Agent: "painter", Message: "look", Owner: owner, LenientImages: true, Conversation: conversation, Images: images}
	}
	first, err := h.service.Run(ctx, ask(conversation.New, agent.Image{Data: picture(t, 1)}))
	must(t, err)
	given := first.All()[0]
	var ref agent.Image
	must(t, json.Unmarshal([]byte(`{"ref":"`+string(given.Ref)+`"}`), &ref))
	if _, err := h.service.Run(ctx, ask(first.Conversation, ref)); err != nil {
		t.Errorf("in its conversation: %v", err)
	}
	refused := func(err error) {
		t.Helper()
		wrong, ok := err.(*media.Error) //nolint:errorlint // the error of the service itself
		if !ok || wrong.Code != media.CodeUnknownRef || len(wrong.Valid) != 1 || !strings.Contains(err.Error(), wrong.Valid[0]) {
			t.Fatalf("got %v", err)
		}
		if rec, err := h.store.MediaRecord(ctx, owner, wrong.Valid[0]); err != nil || rec.Ref != given.Ref {
			t.Errorf("the error names %+v, %v", rec, err)
		}
	}
	runs := func() int {
		list, err := h.store.ListRuns(ctx, owner, ledger.RunQuery{})
		must(t, err)
		return len(list.Items)
	}
	before := runs()
	for _, conversation := range []string{"", conversation.New} {
		_, err := h.service.Run(ctx, ask(conversation, agent.Image{Data: picture(t, 2)}, ref))
		refused(err)
	}
	if n := runs(); n != before {
		t.Errorf("%d runs begun by refused requests", n-before)
	}
	if list, err := h.store.ListMedia(ctx, owner, ledger.MediaQuery{}); err != nil || slices.ContainsFunc(list.Items, func(r ledger.Record) bool { return r.Ref != given.Ref }) {
		t.Errorf("refused requests left %v, %v", list.Items, err)
	}
	paused, err := h.service.Run(ctx, ask("", agent.Image{Data: picture(t, 3)}))
	must(t, err)
	answer := func(image agent.Image) (*run.Run, error) {
		return h.service.Resume(ctx, owner, paused.RunID, &agent.Reply{Value: json.RawMessage(`{"answer":"this"}`), Images: []agent.Image{image}})
	}
	_, err = answer(ref)
	refused(err)
	r, err := answer(agent.Image{Ref: paused.All()[0].Ref})
	must(t, err)
	if res, err := r.Wait(ctx); err != nil || res.Message != "That." {
		t.Errorf("%+v, %v", res, err)
	}
}
