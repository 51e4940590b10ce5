// Package conversation connects runs and conversations. A run receives the newest 40 messages, up to 24,000 bytes, and
// is granted the 100 newest attachments. The person's message is saved before the run starts, and the answer, with the
// items chosen for it, when the run ends.
//
// Errors are those of the ledger. It may import agent, chat, ledger and media.
package conversation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"atelier/agent"
	"atelier/chat"
	"atelier/ledger"
	"atelier/media"
)

// New in agent.Request.Conversation starts a new conversation.
const New = "new"

// grantedItems is the maximum number of attachments that a run is granted: the newest ones.
const grantedItems = 100

// titleLength is the maximum number of characters of a conversation's title.
const titleLength = 80

// Store keeps conversations in a ledger.
type Store struct {
	Ledger ledger.Store
	// NewID returns ids of conversations and messages.
	NewID func() string
}

// Thread is a run's part of a conversation. It is nil outside of a conversation.
type Thread struct {
	ID    string         `json:"id"`
	Asked ledger.Message `json:"asked"`
	// History and Inherited are what the run receives from the conversation.
	History   []chat.Message `json:"history,omitempty"`
	Inherited []media.Output `json:"inherited,omitempty"`
	// Answer is the id of the answer, the same in every replay.
	Answer string `json:"-"`
}

// Join attaches a run to the conversation of its request, and saves the person's message. If an earlier attempt to start
// the run saved the message, but its process died, Join attaches the run to that message.
func (s Store) Join(ctx context.Context, req agent.Request) (*Thread, error) {
	if req.Conversation == "" {
		return nil, nil
	}
	ctx = context.WithoutCancel(ctx)
	t := &Thread{ID: req.Conversation, Asked: ledger.Message{ID: s.NewID(), Role: ledger.RoleUser, RunID: req.RunID, Agent: req.Agent, Text: req.Message}}
	earlier, err := s.Ledger.ConversationOf(ctx, req.Owner, req.RunID)
	if err != nil {
		return nil, err
	}
	t.ID = cmp.Or(earlier, t.ID)
	begins := t.ID == New
	if begins {
		t.ID = s.NewID()
	} else if err := s.recall(ctx, req.Owner, t); err != nil {
		return nil, err
	}
	t.Asked.ConversationID = t.ID
	return t, s.Ledger.InTransaction(ctx, func(ctx context.Context) error { // no conversation without a message
		if begins {
			if err := s.Ledger.CreateConversation(ctx, ledger.Conversation{ID: t.ID, Owner: req.Owner, Title: title(req.Message)}); err != nil {
				return err
			}
		}
		return s.Ledger.SaveMessage(ctx, req.Owner, t.Asked)
	})
}

// title returns the beginning of a text in one line, without placeholders.
func title(text string) string {
	text = media.ResolveString(text, func(r media.Ref) string { return string(r) })
	words := strings.Join(strings.Fields(text), " ")
	if r := []rune(words); len(r) > titleLength {
		return strings.TrimSpace(string(r[:titleLength-1])) + "…"
	}
	return words
}

// recall reads the part of a conversation that a run receives.
func (s Store) recall(ctx context.Context, owner string, t *Thread) error {
	l := s.Ledger
	_, err := l.Conversation(ctx, owner, t.ID)
	if media.CodeOf(err) == media.CodeNotFound {
		return media.Errorf(media.CodeNotFound, "there is no conversation %.40q: give an existing id (atelier conversations list), or %s to start one", media.ErrorText(t.ID), New)
	}
	if err != nil {
		return err
	}
	messages, err := l.ListMessages(ctx, owner, t.ID, ledger.MessageQuery{Newest: true, Page: ledger.Page{Limit: historyMessages}})
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(messages.Items, func(m ledger.Message) bool { return m.RunID == t.Asked.RunID }); i >= 0 {
		t.Asked.ID = messages.Items[i].ID // of an earlier attempt to start the run
		messages.Items = slices.Delete(messages.Items, i, i+1)
	}
	attached, err := l.ListAttachments(ctx, owner, t.ID, ledger.MessageQuery{Newest: true, Page: ledger.Page{Limit: ledger.MaxLimit}})
	if err != nil {
		return err
	}
	t.History = history(messages, attached.Items)
	t.Inherited, err = s.attached(ctx, owner, attached.Items)
	return err
}

// Grant grants a request the conversation's items that its images name by ref. The runner reports unknown refs.
func (s Store) Grant(ctx context.Context, req agent.Request) (agent.Request, error) {
	unknown := func(i agent.Image) bool {
		return i.Ref != "" && !slices.ContainsFunc(req.Granted, func(o media.Output) bool { return o.Ref == i.Ref })
	}
	if req.Conversation == "" || req.Conversation == New || !slices.ContainsFunc(req.Images, unknown) {
		return req, nil
	}
	t := &Thread{ID: req.Conversation}
	if err := s.recall(ctx, req.Owner, t); err != nil {
		return req, err
	}
	granted := slices.Clone(req.Granted)
	for _, o := range t.Inherited {
		if slices.ContainsFunc(req.Images, func(i agent.Image) bool { return i.Ref == o.Ref && unknown(i) }) {
			granted = append(granted, o)
		}
	}
	req.Granted = granted
	return req, nil
}

// attached reads the items of attachments, which are newest first, for granting. It returns them oldest first, each
// once, at its newest attachment.
func (s Store) attached(ctx context.Context, owner string, newest []ledger.Attachment) ([]media.Output, error) {
	var items []media.Output
	seen := map[media.Ref]bool{}
	for _, a := range newest {
		if seen[a.Ref] || len(items) == grantedItems {
			continue
		}
		seen[a.Ref] = true
		r, err := s.Ledger.MediaRecord(ctx, owner, a.MediaID)
		if media.CodeOf(err) == media.CodeNotFound { // deleted in the meantime
			continue
		}
		if err != nil {
			return nil, err
		}
		items = append(items, r.Output)
	}
	slices.Reverse(items)
	return items, nil
}

// Without omits the items that also occur in others, which the run is granted anyway.
func Without(items, others []media.Output) []media.Output {
	return slices.DeleteFunc(slices.Clone(items), func(o media.Output) bool {
		return slices.ContainsFunc(others, func(other media.Output) bool { return other.Ref == o.Ref })
	})
}

// Answer saves the outcome of a message: the message as the run received it, then the answer with its chosen items. It
// returns a warning for whatever cannot be saved.
func (s Store) Answer(ctx context.Context, t *Thread, req agent.Request, res *agent.Result, runErr error) (warnings []string) {
	note := func(what string, err error) {
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("%s was not saved in the conversation: %s", what, media.ErrorText(err.Error())))
		}
	}
	m := ledger.Message{
		ID: cmp.Or(t.Answer, s.NewID()), ConversationID: t.ID, Role: ledger.RoleAssistant, RunID: req.RunID, Agent: req.Agent, Status: ledger.StatusFailed,
	}
	if media.CodeOf(runErr) == media.CodeCancelled {
		m.Status = ledger.StatusCancelled
	}
	if runErr != nil {
		m.Failure = ledger.Failure{Code: string(media.CodeOf(runErr)), Message: media.ErrorText(runErr.Error()), Retryable: media.Retryable(runErr)}
	}
	var chosen []media.Output
	if res != nil {
		row, err := s.Ledger.Run(ctx, req.Owner, req.RunID)
		if err == nil && row.Task != t.Asked.Text { // the run extracted media from its text
			t.Asked.Text = row.Task
			err = s.Ledger.SaveMessage(ctx, req.Owner, t.Asked)
		}
		note("the message", err)
		warnings = append(warnings, s.Attach(ctx, req.Owner, t.Asked.ID, t.Given(res))...)
		m.Agent, m.Text, m.Status, chosen = res.Agent, res.Message, ledger.Status(res.Status), res.Outputs
	}
	var unattached []string
	note("the answer", s.Ledger.InTransaction(ctx, func(ctx context.Context) error { // an answer is not readable without its media
		if err := s.Ledger.SaveMessage(ctx, req.Owner, m); err != nil {
			return err
		}
		unattached = s.Attach(ctx, req.Owner, m.ID, chosen)
		return nil
	}))
	return append(warnings, unattached...)
}

// Given lists the media that came with the person's message: the run's inputs that it did not inherit, and the items
// that the message names.
func (t *Thread) Given(res *agent.Result) []media.Output {
	named := media.Refs(t.Asked.Text)
	return slices.DeleteFunc(slices.Clone(res.All()), func(o media.Output) bool {
		inherited := slices.ContainsFunc(t.Inherited, func(i media.Output) bool { return i.Ref == o.Ref })
		return (o.Origin.Direction != "input" || inherited) && !slices.Contains(named, o.Ref)
	})
}

// Attach attaches items to a message. It returns a warning for each item that cannot be attached.
func (s Store) Attach(ctx context.Context, owner, messageID string, items []media.Output) []string {
	if len(items) == 0 {
		return nil
	}
	warnings, err := s.Ledger.Attach(ctx, owner, messageID, items)
	if err != nil {
		warnings = append(warnings, "media was not attached to the conversation: "+media.ErrorText(err.Error()))
	}
	return warnings
}
