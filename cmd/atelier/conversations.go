package main

import (
	"context"
	"strconv"

	"atelier/ledger"
	"atelier/media"
)

type conversationsCmd struct {
	List conversationsListCmd `cmd:"" help:"List conversations, newest first."`
	Show conversationsShowCmd `cmd:"" help:"Show one conversation: its messages and their attachments."`

	Export conversationsExportCmd `cmd:"" help:"Write one conversation to a single HTML file, with its pictures and reports."`
	Delete conversationsDeleteCmd `cmd:"" help:"Delete one conversation. Its runs and pictures are kept."`
}

type conversationsListCmd struct{ pageFlags }

func (c *conversationsListCmd) Run(w *world) error {
	page, err := c.page()
	if err != nil {
		return err
	}
	return w.withStores(func(s *stores) error {
		list, err := s.Ledger.ListConversations(w.ctx, owner, ledger.ConversationQuery{Page: page})
		if err != nil {
			return err
		}
		return printPage(w, list, []string{"CONVERSATION", "MESSAGES", "BEGUN", "LAST", "TITLE"}, func(t ledger.Conversation) []string {
			return []string{t.ID, strconv.Itoa(t.Messages), localTime(t.CreatedAt), localTime(t.UpdatedAt), short(t.Title, 60)}
		})
	})
}

type conversationsShowCmd struct {
	ID string `arg:"" help:"The conversation's id, the start of its id, or last."`
	pageFlags
}

// messageView is a message with its attachments.
type messageView struct {
	ledger.Message
	Attachments []ledger.Attachment `json:"attachments"`
}

func (c *conversationsShowCmd) Run(w *world) error {
	page, err := c.page()
	if err != nil {
		return err
	}
	return w.withStores(func(s *stores) error {
		head, err := s.conversation(w.ctx, c.ID)
		if err != nil {
			return err
		}
		list, err := s.Ledger.ListMessages(w.ctx, owner, head.ID, ledger.MessageQuery{Page: page})
		if err != nil {
			return err
		}
		views := []messageView{}
		for _, m := range list.Items {
			attached, err := s.attachments(w.ctx, m)
			if err != nil {
				return err
			}
			views = append(views, messageView{m, orEmpty(attached)})
		}
		document := struct {
			Conversation ledger.Conversation `json:"conversation"`
			ledger.List[messageView]
		}{head, ledger.List[messageView]{Items: views, Next: list.Next}}
		return w.print(document, func() {
			w.conversation(head, views)
			w.noteNext(list.Next)
		})
	})
}

// conversation returns the head of a conversation, by its id, the start of its id, or last.
func (s *stores) conversation(ctx context.Context, id string) (ledger.Conversation, error) {
	id, err := s.conversationID(ctx, id)
	if err != nil {
		return ledger.Conversation{}, err
	}
	return s.Ledger.Conversation(ctx, owner, id)
}

// attachments returns all attachments of a message.
func (s *stores) attachments(ctx context.Context, m ledger.Message) ([]ledger.Attachment, error) {
	return ledger.All(func(p ledger.Page) (ledger.List[ledger.Attachment], error) {
		return s.Ledger.ListAttachments(ctx, owner, m.ConversationID, ledger.MessageQuery{Message: m.ID, Page: p})
	})
}

type conversationsDeleteCmd struct {
	ID   string `arg:"" help:"The conversation's id, the start of its id, or last."`
	Yes  bool   `help:"Delete it. Without this flag, the command only shows what it would delete."`
	JSON bool   `help:"Print JSON."`
}

func (c *conversationsDeleteCmd) Run(w *world) error {
	return w.withStores(func(s *stores) error {
		head, err := s.conversation(w.ctx, c.ID)
		if err != nil {
			return err
		}
		what := plural(head.Messages, "message") + " of " + strconv.Quote(short(head.Title, 60))
		if !c.Yes {
			return media.Errorf(media.CodeInvalid, "this would delete %s and keep its runs and pictures; to delete it, add --yes", what)
		}
		if err := s.Ledger.DeleteConversation(w.ctx, owner, head.ID); err != nil {
			return err
		}
		return w.print(map[string]any{"conversation_id": head.ID, "deleted": true, "messages": head.Messages}, func() {
			w.line("deleted %s; its runs and pictures are kept: atelier runs list, atelier media list", what)
		})
	})
}

// conversation prints messages for people, without placeholders.
func (w *world) conversation(head ledger.Conversation, messages []messageView) {
	w.line("%s  %s", head.ID, cell(head.Title))
	labels := map[media.Ref]string{}
	for _, m := range messages {
		for _, a := range m.Attachments {
			labels[a.Ref] = a.Label
		}
		who := "you to " + m.Agent
		if m.Role == ledger.RoleAssistant {
			who = m.Agent
		}
		w.line("\n%s, %s (run %s)", who, localTime(m.CreatedAt), m.RunID)
		if m.Text != "" {
			w.line("%s", media.ResolveString(withoutInvented(m.Text), func(r media.Ref) string { return named(labels[r], r) }))
		}
		if m.Failure.Message != "" {
			w.line("failure: %s: %s", m.Failure.Code, m.Failure.Message)
		}
		for _, a := range m.Attachments {
			w.line("  %s  %-13s %s", a.Ref, a.MIMEType, cell(a.Name))
		}
	}
}
