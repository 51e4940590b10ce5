package ledgertest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"atelier/internal/everyday"
	"atelier/ledger"
	"atelier/media"
)

func attachments(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	c, r := f.conversation(t, owner, "x"), f.run(t, owner, nil)
	asked := f.saveMessage(t, c, ledger.RoleUser, r, "x")
	answer := f.saveMessage(t, c, ledger.RoleAssistant, r, "y")
	given := f.record(scoped(t, r), t, picture("given", media.Meta{}))
	one := f.record(scoped(t, r), t, picture("one", media.Meta{Label: "A lighthouse", Metadata: map[string]any{"seed": float64(7)}}))
	two := f.record(scoped(t, r), t, picture("two", media.Meta{}))
	hidden := f.record(scoped(t, r), t, picture("hidden", media.Meta{}))
	chosen := []media.Output{one, two}
	_, err := f.PromoteMedia(ctx, owner, r.ID, chosen)
	must(t, err)
	for range 2 { // the second time adds nothing
		for _, at := range []struct {
			m     ledger.Message
			items []media.Output
			warns int
		}{{asked, []media.Output{given}, 0}, {answer, []media.Output{one, hidden, two, picture("none", media.Meta{})}, 2}} {
			if w, err := f.Attach(ctx, owner, at.m.ID, at.items); err != nil || len(w) != at.warns {
				t.Fatalf("attach: %q, %v", w, err)
			}
		}
	}
	links, err := f.ListAgentMedia(ctx, owner, r.ID, ledger.Page{})
	must(t, err)
	want := []ledger.Attachment{
		{MessageID: asked.ID, MediaID: given.ID, Ref: given.Ref, Digest: given.Digest, Name: "Image_1.png", Snapshot: ledger.Snapshot{DisplayOrder: 1}},
		{
			MessageID: answer.ID, MediaID: one.ID, Ref: one.Ref, Digest: one.Digest, SourceID: links.Items[0].ID, Name: "A lighthouse",
			Snapshot: ledger.Snapshot{Label: "A lighthouse", Metadata: map[string]any{"seed": float64(7)}, DisplayOrder: 1},
		},
		{MessageID: answer.ID, MediaID: two.ID, Ref: two.Ref, Digest: two.Digest, SourceID: links.Items[1].ID, Name: "Image_2.png", Snapshot: ledger.Snapshot{DisplayOrder: 2}},
	}
	for i, size := range []int64{5, 3, 3} {
		want[i].Modality, want[i].MIMEType, want[i].SizeBytes, want[i].Width, want[i].Height = media.ModalityImage, "image/png", size, 64, 48
	}
	got := f.attached(t, c, ledger.MessageQuery{})
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(ledger.Attachment{}, "ID", "CreatedAt", "UpdatedAt"),
		cmp.Comparer(func(a, b media.Digest) bool { return a == b })); d != "" {
		t.Error(d)
	}
	if got := f.attached(t, c, ledger.MessageQuery{Message: asked.ID}); len(got) != 1 || got[0].MediaID != given.ID {
		t.Errorf("of one message: %+v", got)
	}
	newest, err := f.ListAttachments(ctx, owner, c.ID, ledger.MessageQuery{Newest: true, Page: ledger.Page{Limit: 2}})
	must(t, err)
	if len(newest.Items) != 2 || newest.Items[0].MediaID != two.ID || newest.Next != newest.Items[1].ID {
		t.Errorf("newest: %+v", newest)
	}
	f.finishRun(t, r)
	must(t, f.DeleteMedia(ctx, owner, one.ID))
	if got := f.attached(t, c, ledger.MessageQuery{}); len(got) != 2 {
		t.Errorf("deleted media is still attached: %+v", got)
	}
}

// messagesAtOnce writes messages of one conversation concurrently through two stores.
func messagesAtOnce(t *testing.T, f *fixture) {
	t.Helper()
	c := f.conversation(t, owner, "x")
	stores := []ledger.Store{f.Store, f.open(t)}
	var wg sync.WaitGroup
	for i, s := range stores {
		for n := range 5 {
			r := f.run(t, owner, nil)
			o := f.record(scoped(t, r), t, picture(fmt.Sprint(i, n), media.Meta{}))
			wg.Go(func() {
				m := ledger.Message{ID: f.deps.NewID(), ConversationID: c.ID, Role: ledger.RoleUser, RunID: r.ID, Text: fmt.Sprint(i, n)}
				if err := s.SaveMessage(t.Context(), owner, m); err != nil {
					t.Error(err)
				}
				if w, err := s.Attach(t.Context(), owner, m.ID, []media.Output{o}); err != nil || len(w) > 0 {
					t.Error(w, err)
				}
			})
		}
	}
	wg.Wait()
	list, err := f.ListMessages(t.Context(), owner, c.ID, ledger.MessageQuery{})
	must(t, err)
	if n := len(f.attached(t, c, ledger.MessageQuery{})); len(list.Items) != 10 || n != 10 {
		t.Errorf("%d messages, %d attachments", len(list.Items), n)
	}
}

func conversationTextUnchanged(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	said := everyday.Text()
	link := everyday.Strings()[0].Text
	c, r := f.conversation(t, owner, link), f.run(t, owner, nil)
	m := ledger.Message{ID: "m", ConversationID: c.ID, Role: ledger.RoleUser, RunID: r.ID, Agent: said, Text: said, Failure: ledger.Failure{Message: said}}
	must(t, f.SaveMessage(ctx, owner, m))
	o := f.record(scoped(t, r), t, picture("a", media.Meta{FileName: said, Metadata: map[string]any{"raw": said}}))
	o.Label, o.Description = said, said
	if w, err := f.Attach(ctx, owner, "m", []media.Output{o}); err != nil || len(w) > 0 {
		t.Fatal(w, err)
	}
	if got, err := f.Conversation(ctx, owner, c.ID); err != nil || got.Title != link {
		t.Errorf("title %q, %v", got.Title, err)
	}
	messages, err := f.ListMessages(ctx, owner, c.ID, ledger.MessageQuery{})
	must(t, err)
	holdsText(t, said, map[string]any{"messages": messages, "attachments": f.attached(t, c, ledger.MessageQuery{})})
}
