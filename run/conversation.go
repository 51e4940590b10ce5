package run

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

// NewConversation in agent.Request.Conversation begins one.
const NewConversation = "new"

// grantedItems is how many attachments of a conversation a run is granted at most: the
// ones that were attached last.
const grantedItems = 100

// titleLength is how many characters of its first message a conversation is called by.
const titleLength = 80

// checker is a runner that can refuse a request before anything is kept of it;
// *agent.Runner is one.
type checker interface {
	Check(r agent.Request) error
}

// thread is a run's part of a conversation. It is nil outside of one.
type thread struct {
	ID    string         `json:"id"`
	Asked ledger.Message `json:"asked"`
	// History and Inherited are what the run is given of the conversation.
	History   []chat.Message `json:"history,omitempty"`
	Inherited []media.Output `json:"inherited,omitempty"`
	// Answer is the id of the answer, in every replay the same.
	Answer string `json:"-"`
}

// join gives a run its part of the conversation that it asks for, and saves the
// person's message. A request that cannot be run leaves nothing behind.
func (s *Service) join(ctx context.Context, agents Agents, req agent.Request) (*thread, error) {
	if req.Conversation == "" {
		return nil, nil
	}
	ctx = context.WithoutCancel(ctx)
	if c, ok := agents.(checker); ok {
		if err := c.Check(req); err != nil {
			return nil, err
		}
	}
	t := &thread{ID: req.Conversation}
	if t.ID == NewConversation {
		t.ID = s.cfg.NewID()
		err := s.cfg.Ledger.CreateConversation(ctx, ledger.Conversation{ID: t.ID, Owner: req.Owner, Title: title(req.Message)})
		if err != nil {
			return nil, err
		}
	} else if err := s.recall(ctx, req.Owner, t); err != nil {
		return nil, err
	}
	t.Asked = ledger.Message{
		ID: s.cfg.NewID(), ConversationID: t.ID, Role: ledger.RoleUser, RunID: req.RunID, Agent: req.Agent, Text: req.Message,
	}
	return t, s.cfg.Ledger.SaveMessage(ctx, req.Owner, t.Asked)
}

// title is the beginning of a text in one line, without placeholders.
func title(text string) string {
	text = media.ResolveString(text, func(r media.Ref) string { return string(r) })
	words := strings.Join(strings.Fields(text), " ")
	if r := []rune(words); len(r) > titleLength {
		return strings.TrimSpace(string(r[:titleLength-1])) + "…"
	}
	return words
}

// recall reads what a conversation holds for a run that goes on with it.
func (s *Service) recall(ctx context.Context, owner string, t *thread) error {
	l := s.cfg.Ledger
	_, err := l.Conversation(ctx, owner, t.ID)
	if media.CodeOf(err) == media.CodeNotFound {
		return media.Errorf(media.CodeNotFound, "there is no conversation %.40q: use the id of one that there is (atelier conversations list), or %s to begin one", media.ErrorText(t.ID), NewConversation)
	}
	if err != nil {
		return err
	}
	messages, err := l.ListMessages(ctx, owner, t.ID, ledger.MessageQuery{Newest: true, Page: ledger.Page{Limit: historyMessages}})
	if err != nil {
		return err
	}
	attached, err := l.ListAttachments(ctx, owner, t.ID, ledger.MessageQuery{Newest: true, Page: ledger.Page{Limit: ledger.MaxLimit}})
	if err != nil {
		return err
	}
	t.History = history(messages, attached.Items)
	t.Inherited, err = s.attached(ctx, owner, attached.Items)
	return err
}

// attached reads the items behind attachments, which come newest first, for a run that
// is granted them: oldest first, each once, where it was attached last.
func (s *Service) attached(ctx context.Context, owner string, newest []ledger.Attachment) ([]media.Output, error) {
	var items []media.Output
	seen := map[media.Ref]bool{}
	for _, a := range newest {
		if seen[a.Ref] || len(items) == grantedItems {
			continue
		}
		seen[a.Ref] = true
		r, err := s.cfg.Ledger.MediaRecord(ctx, owner, a.MediaID)
		if media.CodeOf(err) == media.CodeNotFound { // deleted just now
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

// without leaves out the items that are among others, which the run is given anyhow.
func without(items, others []media.Output) []media.Output {
	return slices.DeleteFunc(slices.Clone(items), func(o media.Output) bool {
		return slices.ContainsFunc(others, func(other media.Output) bool { return other.Ref == o.Ref })
	})
}

// answer saves what became of a message: the message as the run understood it with
// what the person gave, then the answer with what was chosen for it. Whatever cannot
// be saved is a warning.
func (s *Service) answer(ctx context.Context, t *thread, req agent.Request, res *agent.Result, runErr error) (warnings []string) {
	note := func(what string, err error) {
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("%s was not saved in the conversation: %s", what, media.ErrorText(err.Error())))
		}
	}
	m := ledger.Message{
		ID: cmp.Or(t.Answer, s.cfg.NewID()), ConversationID: t.ID, Role: ledger.RoleAssistant, RunID: req.RunID, Agent: req.Agent, Status: ledger.StatusFailed,
	}
	if runErr != nil {
		m.Failure = ledger.Failure{Code: string(media.CodeOf(runErr)), Message: media.ErrorText(runErr.Error()), Retryable: media.Retryable(runErr)}
	}
	var chosen []media.Output
	if res != nil {
		note("the message", s.understood(ctx, t, req))
		warnings = append(warnings, s.attach(ctx, req.Owner, t.Asked.ID, t.given(res))...)
		m.Agent, m.Text, m.Status, chosen = res.Agent, res.Message, ledger.Status(res.Status), res.Outputs
	}
	err := s.cfg.Ledger.SaveMessage(ctx, req.Owner, m)
	note("the answer", err)
	if err != nil {
		return warnings
	}
	return append(warnings, s.attach(ctx, req.Owner, m.ID, chosen)...)
}

// understood writes the person's message again if the run took media out of its text.
func (s *Service) understood(ctx context.Context, t *thread, req agent.Request) error {
	row, err := s.cfg.Ledger.Run(ctx, req.Owner, req.RunID)
	if err != nil || row.Task == t.Asked.Text {
		return err
	}
	t.Asked.Text = row.Task
	return s.cfg.Ledger.SaveMessage(ctx, req.Owner, t.Asked)
}

// given lists what came with the person's message: the run's inputs that it did not
// inherit, and the items that the message names.
func (t *thread) given(res *agent.Result) []media.Output {
	named := media.Refs(t.Asked.Text)
	return slices.DeleteFunc(slices.Clone(res.All()), func(o media.Output) bool {
		inherited := slices.ContainsFunc(t.Inherited, func(i media.Output) bool { return i.Ref == o.Ref })
		return (o.Origin.Direction != "input" || inherited) && !slices.Contains(named, o.Ref)
	})
}

func (s *Service) attach(ctx context.Context, owner, messageID string, items []media.Output) []string {
	if len(items) == 0 {
		return nil
	}
	warnings, err := s.cfg.Ledger.Attach(ctx, owner, messageID, items)
	if err != nil {
		warnings = append(warnings, "media was not attached to the conversation: "+media.ErrorText(err.Error()))
	}
	return warnings
}
