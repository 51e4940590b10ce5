package ledgertest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"atelier/ledger"
	"atelier/media"
)

// conversation creates a conversation.
func (f *fixture) conversation(t *testing.T, who, title string) ledger.Conversation {
	t.Helper()
	c := ledger.Conversation{ID: f.deps.NewID(), Owner: who, Title: title}
	must(t, f.CreateConversation(t.Context(), c))
	return c
}

// saveMessage saves a message in a conversation.
func (f *fixture) saveMessage(t *testing.T, c ledger.Conversation, role ledger.Role, r ledger.Run, text string) ledger.Message {
	t.Helper()
	m := ledger.Message{ID: f.deps.NewID(), ConversationID: c.ID, Role: role, RunID: r.ID, Agent: "sage", Text: text}
	must(t, f.SaveMessage(t.Context(), c.Owner, m))
	return m
}

// attached returns the attachments of a conversation.
func (f *fixture) attached(t *testing.T, c ledger.Conversation, q ledger.MessageQuery) []ledger.Attachment {
	t.Helper()
	list, err := f.ListAttachments(t.Context(), c.Owner, c.ID, q)
	must(t, err)
	return list.Items
}

func conversationRoundTrip(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	c := f.conversation(t, owner, strings.Repeat("ü", 600))
	r := f.run(t, owner, nil)
	asked := f.saveMessage(t, c, ledger.RoleUser, r, "draw ${media:img-7k3m9q2x}")
	answer := ledger.Message{
		ID: f.deps.NewID(), ConversationID: c.ID, Role: ledger.RoleAssistant, RunID: r.ID, Agent: "sage",
		Text: "I could not.", Status: ledger.StatusFailed, Failure: ledger.Failure{Code: "moderated", Message: "refused", Retryable: true},
	}
	must(t, f.SaveMessage(ctx, owner, answer))
	asked.Text = "draw a fox"
	must(t, f.SaveMessage(ctx, owner, asked)) // saved again, it keeps its place
	got, err := f.Conversation(ctx, owner, c.ID)
	must(t, err)
	if got.Title != strings.Repeat("ü", 500) || got.Messages != 2 || got.Owner != owner || !got.UpdatedAt.After(got.CreatedAt) {
		t.Errorf("conversation = %+v", got)
	}
	list, err := f.ListMessages(ctx, owner, c.ID, ledger.MessageQuery{})
	must(t, err)
	if d := cmp.Diff([]ledger.Message{asked, answer}, list.Items, cmpopts.IgnoreFields(ledger.Message{}, "CreatedAt", "UpdatedAt")); d != "" {
		t.Error(d)
	}
	if m := list.Items[0]; !m.UpdatedAt.After(m.CreatedAt) || !list.Items[1].CreatedAt.After(m.CreatedAt) {
		t.Errorf("times of %+v", list.Items)
	}
}

func conversationPages(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	var newest []string
	for range 5 {
		newest = append([]string{f.conversation(t, owner, "x").ID}, newest...)
	}
	f.conversation(t, "bob", "x")
	c, r := f.conversation(t, "eve", "x"), f.run(t, "eve", nil)
	var said []string
	for range 5 {
		said = append(said, f.saveMessage(t, c, ledger.RoleUser, r, "x").ID)
	}
	backwards := []string{said[4], said[3], said[2], said[1], said[0]}
	messages := func(newest bool) func(ledger.Page) ([]string, string) {
		return func(p ledger.Page) ([]string, string) {
			l, err := f.ListMessages(ctx, "eve", c.ID, ledger.MessageQuery{Newest: newest, Page: p})
			must(t, err)
			return idsOf(l.Items, func(m ledger.Message) string { return m.ID }), l.Next
		}
	}
	for name, test := range map[string]struct {
		page func(ledger.Page) ([]string, string)
		want []string
	}{
		"conversations": {func(p ledger.Page) ([]string, string) {
			l, err := f.ListConversations(ctx, owner, ledger.ConversationQuery{Page: p})
			must(t, err)
			return idsOf(l.Items, func(c ledger.Conversation) string { return c.ID }), l.Next
		}, newest},
		"messages":           {messages(false), said},
		"messages backwards": {messages(true), backwards},
	} {
		var got []string
		p := ledger.Page{Limit: 2}
		for range 4 {
			var part []string
			part, p.After = test.page(p)
			if got = append(got, part...); p.After == "" {
				break
			}
		}
		if d := cmp.Diff(test.want, got); d != "" || p.After != "" {
			t.Errorf("%s: next %q: %s", name, p.After, d)
		}
	}
}

func idsOf[T any](items []T, id func(T) string) []string {
	var out []string
	for _, i := range items {
		out = append(out, id(i))
	}
	return out
}

func conversationScope(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	c, r := f.conversation(t, owner, "mine"), f.run(t, owner, nil)
	m := f.saveMessage(t, c, ledger.RoleUser, r, "hello")
	o := f.record(scoped(t, r), t, picture("a", media.Meta{}))
	for who, want := range map[string]media.Code{"": media.CodeForbidden, "bob": media.CodeNotFound} {
		for name, call := range map[string]func() error{
			"read":        func() error { _, err := f.Conversation(ctx, who, c.ID); return err },
			"messages":    func() error { _, err := f.ListMessages(ctx, who, c.ID, ledger.MessageQuery{}); return err },
			"attachments": func() error { _, err := f.ListAttachments(ctx, who, c.ID, ledger.MessageQuery{}); return err },
			"save":        func() error { return f.SaveMessage(ctx, who, m) },
			"attach":      func() error { _, err := f.Attach(ctx, who, m.ID, []media.Output{o}); return err },
			"delete":      func() error { return f.DeleteConversation(ctx, who, c.ID) },
		} {
			if got := media.CodeOf(call()); got != want {
				t.Errorf("%s as %q: code %q, want %q", name, who, got, want)
			}
		}
	}
	_, err := f.ListConversations(ctx, "", ledger.ConversationQuery{Page: ledger.Page{}})
	wantCode(t, err, media.CodeForbidden)
	list, err := f.ListConversations(ctx, "bob", ledger.ConversationQuery{Page: ledger.Page{}})
	must(t, err)
	if len(list.Items) != 0 || list.Items == nil {
		t.Errorf("bob sees %+v", list.Items)
	}
	// Another owner's item cannot be attached to one's own message either.
	theirs := f.record(scoped(t, f.run(t, "bob", nil)), t, picture("b", media.Meta{}))
	w, err := f.Attach(ctx, owner, m.ID, []media.Output{theirs, o})
	must(t, err)
	if got := f.attached(t, c, ledger.MessageQuery{}); len(w) != 1 || !strings.Contains(w[0], "<image image/png") || len(got) != 1 || got[0].MediaID != o.ID {
		t.Errorf("warnings %q, attached %+v", w, got)
	}
}

func conversationMissing(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	c, r := f.conversation(t, owner, "x"), f.run(t, owner, nil)
	m := f.saveMessage(t, c, ledger.RoleUser, r, "x")
	other := f.conversation(t, owner, "y")
	_, errRead := f.Conversation(ctx, owner, "nothing")
	_, errAttach := f.Attach(ctx, owner, "nothing", nil)
	for i, test := range []struct {
		err  error
		want media.Code
	}{
		{errRead, media.CodeNotFound},
		{errAttach, media.CodeNotFound},
		{f.CreateConversation(ctx, c), media.CodeConflict},
		{f.CreateConversation(ctx, ledger.Conversation{ID: "z"}), media.CodeInvalid},
		{f.SaveMessage(ctx, owner, ledger.Message{ID: "m", ConversationID: "nothing", Role: ledger.RoleUser}), media.CodeNotFound},
		{f.SaveMessage(ctx, owner, ledger.Message{ConversationID: c.ID, Role: ledger.RoleUser}), media.CodeInvalid},
		{f.SaveMessage(ctx, owner, ledger.Message{ID: m.ID, ConversationID: other.ID, Role: ledger.RoleUser}), media.CodeConflict},
	} {
		if got := media.CodeOf(test.err); got != test.want {
			t.Errorf("%d: code %q, want %q (%v)", i, got, test.want, test.err)
		}
	}
}

func conversationDeleted(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	c, r := f.conversation(t, owner, "x"), f.run(t, owner, nil)
	m := f.saveMessage(t, c, ledger.RoleUser, r, "x")
	o := f.record(scoped(t, r), t, picture("a", media.Meta{}))
	before := f.deps.Now().Add(-time.Minute)
	must(t, f.DeleteConversation(ctx, owner, c.ID))
	_, errMessages := f.ListMessages(ctx, owner, c.ID, ledger.MessageQuery{})
	_, errAttachments := f.ListAttachments(ctx, owner, c.ID, ledger.MessageQuery{})
	for i, err := range []error{f.DeleteConversation(ctx, owner, c.ID), errMessages, errAttachments} {
		if got := media.CodeOf(err); got != media.CodeNotFound {
			t.Errorf("%d: code %q", i, got)
		}
	}
	late := f.saveMessage(t, c, ledger.RoleAssistant, r, "the answer")
	if w, err := f.Attach(ctx, owner, m.ID, []media.Output{o}); err != nil || len(w) != 0 {
		t.Errorf("attached with %v, %v", w, err)
	}
	if list, err := f.ListConversations(ctx, owner, ledger.ConversationQuery{Page: ledger.Page{}}); err != nil || len(list.Items) != 0 {
		t.Errorf("listed %+v, %v", list.Items, err)
	}
	if _, err := f.MediaRecord(ctx, owner, o.ID); err != nil {
		t.Errorf("the media record went with it: %v", err)
	}
	wantCode(t, f.CreateConversation(ctx, c), media.CodeConflict)
	must(t, f.RestoreConversation(ctx, owner, c.ID, before))
	list, err := f.ListMessages(ctx, owner, c.ID, ledger.MessageQuery{})
	if got := f.attached(t, c, ledger.MessageQuery{}); err != nil || len(list.Items) != 2 || list.Items[1].ID != late.ID || list.Items[1].Text != "the answer" || len(got) != 1 {
		t.Errorf("restored %+v with %+v, %v", list.Items, got, err)
	}
}
