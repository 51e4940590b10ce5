package run_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/agent"
	"atelier/chat"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/conversation"
)

// runInConversation runs an agent in a conversation.
func (h *testService) runInConversation(t *testing.T, name, conversation, message string) *agent.Result {
	t.Helper()
	res, err := h.service.Run(t.Context(), agent.Request{Agent: name, Message: message, Conversation: conversation, Owner: owner})
	must(t, err)
	if res.Conversation == "" || len(res.Warnings) > 0 && name == "helper" {
		t.Fatalf("conversation %q, warnings %q", res.Conversation, res.Warnings)
	}
	return res
}

// stored returns a conversation's messages and attachments.
func (h *testService) stored(t *testing.T, conversation string) ([]ledger.Message, []ledger.Attachment) {
	t.Helper()
	m, err := h.store.ListMessages(t.Context(), owner, conversation, ledger.MessageQuery{})
	must(t, err)
	a, err := h.store.ListAttachments(t.Context(), owner, conversation, ledger.MessageQuery{})
	must(t, err)
	return m.Items, a.Items
}

// TestAMessageIsSavedOnce: a second attempt to start a run, whose process died after it had saved the message, attaches
// the run to that message: in a new conversation, and in one that continues.
func TestAMessageIsSavedOnce(t *testing.T) {
	t.Parallel()
	h := newTestService(t, `{"message":"seen","done":true}`)
	n := 0
	store := conversation.Store{Ledger: h.store, NewID: func() string { n++; return fmt.Sprintf("0198a000-0000-7000-8000-%012d", n) }}
	id := conversation.New
	for i, run := range []string{"first", "second"} {
		req := agent.Request{RunID: run, Agent: "helper", Message: "look, " + run, Conversation: id, Owner: owner}
		died, err := store.Join(t.Context(), req)
		must(t, err)
		again, err := store.Join(t.Context(), req)
		must(t, err)
		if messages, _ := h.stored(t, again.ID); again.ID != died.ID || len(messages) != i+1 || again.Asked.ID != messages[i].ID || len(again.History) != 2*i {
			t.Errorf("%s: %+v after %+v, messages %+v", run, again, died, messages)
		}
		id = again.ID
	}
	if list, err := h.store.ListConversations(t.Context(), owner, ledger.ConversationQuery{}); err != nil || len(list.Items) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestConversationContinues(t *testing.T) {
	t.Parallel()
	h := newTestService(t, `{"message":"seen","done":true}`)
	first := h.runInConversation(t, "helper", conversation.New, "  note\n it ")
	note := first.Outputs[0]
	second := h.runInConversation(t, "painter", first.Conversation, "look at it")
	if second.Conversation != first.Conversation {
		t.Errorf("conversations %s and %s", first.Conversation, second.Conversation)
	}
	sent := h.last()
	if len(sent) != 3 || sent[0].Text() != "  note\n it " || !strings.Contains(sent[1].Text(), note.Ref.Placeholder()) || sent[1].Role != chat.RoleAssistant {
		t.Fatalf("the messages are %+v", sent)
	}
	for _, want := range []string{"look at it", `"media":[{"refId":"` + string(note.Ref) + `"`, `"label":"note"`} {
		if !strings.Contains(sent[2].Text(), want) {
			t.Errorf("the task does not say %s: %s", want, sent[2].Text())
		}
	}
	// The second run's tree has the item, whose only record is that of its origin, and no second blob.
	rec, err := h.store.ListMedia(t.Context(), owner, ledger.MediaQuery{Tree: second.RunID})
	must(t, err)
	if len(rec.Items) != 1 || rec.Items[0].ID != note.ID || rec.Items[0].Tree != first.RunID || rec.Items[0].Origin.Direction != "output" {
		t.Errorf("records %+v", rec.Items)
	}
	blobs, err := h.store.ListBlobs(t.Context(), ledger.Page{})
	must(t, err)
	if len(blobs.Items) != 1 || len(second.AlsoMade) != 0 {
		t.Errorf("%d blobs, also made %v", len(blobs.Items), second.AlsoMade)
	}
	messages, attached := h.stored(t, first.Conversation)
	var got []string
	for _, m := range messages {
		got = append(got, fmt.Sprintf("%s %s %s %s", m.Role, m.Agent, m.Status, m.RunID))
	}
	want := []string{
		"user helper  " + first.RunID, "assistant helper succeeded " + first.RunID,
		"user painter  " + second.RunID, "assistant painter succeeded " + second.RunID,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(attached) != 1 || attached[0].MessageID != messages[1].ID || attached[0].SourceID == "" || attached[0].Name != "note" {
		t.Errorf("attached %+v", attached)
	}
	c, err := h.store.Conversation(t.Context(), owner, first.Conversation)
	must(t, err)
	if c.Title != "note it" || c.Messages != 4 {
		t.Errorf("conversation %+v", c)
	}
}

func TestConversationsAreApart(t *testing.T) {
	t.Parallel()
	h := newTestService(t, `{"message":"no","done":true}`)
	one := h.runInConversation(t, "helper", conversation.New, "note")
	ref := one.Outputs[0].Ref.Placeholder()
	other := h.runInConversation(t, "painter", conversation.New, "look at "+ref)
	if text := h.last()[0].Text(); len(h.last()) != 1 || strings.Contains(text, `"media"`) {
		t.Errorf("the message is %s", text)
	}
	if _, attached := h.stored(t, other.Conversation); len(attached) != 0 {
		t.Errorf("attached %+v", attached)
	}
	for name, c := range map[string]struct{ owner, conversation string }{
		"foreign": {"bob", one.Conversation}, "unknown": {owner, "nothing"},
	} {
		_, err := h.service.Start(t.Context(), agent.Request{Agent: "painter", Message: "x", Conversation: c.conversation, Owner: c.owner})
		if media.CodeOf(err) != media.CodeNotFound || !strings.Contains(err.Error(), "conversations list") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRefusedRequestsLeaveNothing: an invalid request starts no conversation.
func TestRefusedRequestsLeaveNothing(t *testing.T) {
	t.Parallel()
	h := newTestService(t)
	for _, r := range []agent.Request{{Agent: "nobody", Message: "x"}, {Agent: "painter", Message: " "}} {
		r.Conversation, r.Owner = conversation.New, owner
		if _, err := h.service.Start(t.Context(), r); err == nil {
			t.Errorf("%+v was started", r)
		}
	}
	list, err := h.store.ListConversations(t.Context(), owner, ledger.ConversationQuery{Page: ledger.Page{}})
	must(t, err)
	if len(list.Items) != 0 {
		t.Errorf("conversations %+v", list.Items)
	}
}

func TestFailedRunsAnswer(t *testing.T) {
	t.Parallel()
	h := newTestService(t, drawThenDone()[0], "prose", "prose", "prose", "prose", `{"message":"fine","done":true}`)
	r, err := h.service.Start(t.Context(), agent.Request{Agent: "painter", Message: "paint", Conversation: conversation.New, Owner: owner})
	must(t, err)
	if before, _ := h.stored(t, r.Conversation); len(before) == 0 || before[0].Text != "paint" {
		t.Errorf("the message is not kept when the run has begun: %+v", before)
	}
	if _, err := r.Wait(t.Context()); media.CodeOf(err) != media.CodeBadResponse {
		t.Fatalf("error %v", err)
	}
	messages, attached := h.stored(t, r.Conversation)
	if len(messages) != 2 || messages[1].Status != ledger.StatusFailed || messages[1].Failure.Code != string(media.CodeBadResponse) {
		t.Fatalf("messages %+v", messages)
	}
	for _, a := range attached {
		if a.SourceID == "" {
			t.Errorf("attached %+v", a)
		}
	}
	h.runInConversation(t, "painter", r.Conversation, "again")
	if sent := h.last(); len(sent) != 3 || !strings.Contains(sent[1].Text(), "ended as failed") || !strings.Contains(sent[1].Text(), "could not be used") {
		t.Errorf("the messages are %+v", sent)
	}
}

func TestCancelledRunsAnswer(t *testing.T) {
	t.Parallel()
	h := newTestService(t, `{"actions":[{"name":"Wait","params":{}}]}`)
	r, err := h.service.Start(t.Context(), agent.Request{Agent: "painter", Message: "paint", Conversation: conversation.New, Owner: owner})
	must(t, err)
	<-h.arrived
	r.Cancel()
	if res, err := r.Wait(t.Context()); media.CodeOf(err) != media.CodeCancelled || len(res.Warnings) > 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	if messages, _ := h.stored(t, r.Conversation); len(messages) != 2 || messages[1].Status != ledger.StatusCancelled {
		t.Errorf("messages %+v", messages)
	}
}

// TestGivenMediaIsAttached: media that comes with a message, beside it or as data in its text, is in the conversation.
func TestGivenMediaIsAttached(t *testing.T) {
	t.Parallel()
	h := newTestService(t, `{"message":"seen","done":true}`)
	note := h.runInConversation(t, "helper", conversation.New, "note").Outputs[0]
	picture := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10\x00\x00\x00\x10\x08\x06\x00\x00\x00"), make([]byte, 9000)...)
	text := "look at data:image/png;base64," + base64.StdEncoding.EncodeToString(picture)
	res, err := h.service.Run(t.Context(), agent.Request{
		Agent: "painter", Message: text, Conversation: conversation.New, Owner: owner, Granted: []media.Output{note},
	})
	must(t, err)
	messages, attached := h.stored(t, res.Conversation)
	if len(attached) != 2 || attached[0].Ref != note.Ref || attached[0].SourceID != "" || attached[1].Digest != media.DigestOf(picture) || attached[1].Name != "Image_2.png" {
		t.Fatalf("attached %+v", attached)
	}
	if messages[0].Text != "look at "+attached[1].Ref.Placeholder() || len(messages) != 2 {
		t.Errorf("messages %+v", messages)
	}
	h.runInConversation(t, "painter", res.Conversation, "and now?")
	sent := h.last()
	if !strings.Contains(sent[0].Text(), "[Attached: "+string(note.Ref)+" (note)]") || strings.Count(sent[2].Text(), `"refId"`) != 2 {
		t.Errorf("the messages are %+v", sent)
	}
}

func TestRunsOfOneConversationAtOnce(t *testing.T) {
	t.Parallel()
	h := newTestService(t)
	c := h.runInConversation(t, "helper", conversation.New, "note").Conversation
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			res, err := h.service.Run(t.Context(), agent.Request{Agent: "helper", Message: fmt.Sprint("note ", i), Conversation: c, Owner: owner})
			if err != nil || len(res.Warnings) > 0 {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
	all.Wait()
	messages, attached := h.stored(t, c)
	if len(messages) != 10 || len(attached) != 5 {
		t.Errorf("%d messages, %d attachments", len(messages), len(attached))
	}
}

// TestLongConversations: the size is bounded, the oldest messages are omitted first, and items remain granted.
func TestLongConversations(t *testing.T) {
	t.Parallel()
	h := newTestService(t, `{"message":"seen","done":true}`)
	first := h.runInConversation(t, "helper", conversation.New, "note")
	for i := range 30 {
		m := ledger.Message{
			ID: fmt.Sprintf("ffffffff-0000-7000-8000-%012d", 2*i), ConversationID: first.Conversation, Role: ledger.RoleUser, RunID: fmt.Sprint("r", i),
			Text: fmt.Sprintf("question %d ", i) + strings.Repeat("é", 600+i*100) + strings.Repeat("${media:img-00000000}", 150),
		}
		must(t, h.store.SaveMessage(t.Context(), owner, m))
		if i == 28 {
			continue // its run is in progress, or was killed
		}
		m.ID, m.Role, m.Text = fmt.Sprintf("ffffffff-0000-7000-8000-%012d", 2*i+1), ledger.RoleAssistant, fmt.Sprintf("answer %d", i)
		must(t, h.store.SaveMessage(t.Context(), owner, m))
	}
	h.runInConversation(t, "painter", first.Conversation, "and now?")
	sent := h.last()
	size := 0
	for i, m := range sent[:len(sent)-1] {
		if want := []chat.Role{chat.RoleUser, chat.RoleAssistant}[i%2]; m.Role != want {
			t.Errorf("message %d is of %s", i, m.Role)
		}
		for _, bad := range media.BadRefs(m.Text()) {
			t.Errorf("message %d has half a placeholder: %s", i, bad)
		}
		size += len(m.Text())
	}
	if size > 25_000 || len(sent) < 9 || !strings.HasPrefix(sent[0].Text(), "[Earlier messages") || !strings.Contains(sent[len(sent)-3].Text(), "question 29") {
		t.Errorf("%d messages of %d bytes, from %.80s", len(sent), size, sent[0].Text())
	}
	if !strings.Contains(sent[len(sent)-4].Text(), "no answer") || !strings.Contains(sent[len(sent)-2].Text(), "answer 29") {
		t.Errorf("the answers are %s and %s", sent[len(sent)-4].Text(), sent[len(sent)-2].Text())
	}
	if !strings.Contains(sent[len(sent)-1].Text(), string(first.Outputs[0].Ref)) {
		t.Error("the note of the first message is not granted any more")
	}
}

// TestImagesOfTheConversation: a ref resolves to an item of the conversation that the run continues, and to nothing
// elsewhere.
func TestImagesOfTheConversation(t *testing.T) {
	t.Parallel()
	h := newTestService(t, `{"message":"seen","done":true}`)
	ask := func(conversation string, image agent.Image) (*agent.Result, error) {
		return h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "look", Conversation: conversation, Owner: owner, Images: []agent.Image{image}})
	}
	dot, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==")
	must(t, err)
	first, err := ask(conversation.New, agent.Image{Data: dot, FileName: "dot.png"})
	must(t, err)
	ref := first.InputImages[0].Ref
	next, err := ask(first.Conversation, agent.Image{Ref: ref, Detail: "auto"})
	must(t, err)
	if len(next.InputImages) != 1 || next.InputImages[0].Ref != ref {
		t.Errorf("input images %+v", next.InputImages)
	}
	sent := h.last()
	if m := sent[len(sent)-1]; m.Parts[len(m.Parts)-1].Media == nil || m.Parts[len(m.Parts)-1].Media.Ref != ref {
		t.Errorf("the model is shown %+v", m.Parts)
	}
	rec, err := h.store.ListMedia(t.Context(), owner, ledger.MediaQuery{Tree: next.RunID})
	must(t, err)
	if len(rec.Items) != 1 || rec.Items[0].Origin.Direction != "input" {
		t.Errorf("records %+v", rec.Items)
	}
	for _, elsewhere := range []string{"", conversation.New} {
		if _, err := ask(elsewhere, agent.Image{Ref: ref}); media.CodeOf(err) != media.CodeUnknownRef {
			t.Errorf("in conversation %q: %v", elsewhere, err)
		}
	}
}

// TestRunThatCannotStartIsAnswered: the message of a run that the engine does not start gets the error as its answer.
func TestRunThatCannotStartIsAnswered(t *testing.T) {
	t.Parallel()
	h := build(t, questionAnswers()...)
	h.service = h.newDurableService(t)
	must(t, h.store.CreateConversation(t.Context(), ledger.Conversation{ID: "talk", Owner: owner}))
	must(t, h.engine.Close(t.Context()))
	_, err := h.service.Start(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner, Conversation: "talk"})
	if err == nil {
		t.Fatal("a closed engine starts a run")
	}
	if messages, _ := h.stored(t, "talk"); len(messages) != 2 || messages[1].Failure.Message != err.Error() {
		t.Errorf("messages %+v", messages)
	}
}
