package main

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"iter"
	"path/filepath"
	"strconv"
	"strings"

	"atelier/agent/report"
	"atelier/agent/resolve"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
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
	ID  string `arg:"" help:"The conversation's id, the start of its id, or last."`
	Yes bool   `help:"Delete it. Without this flag, the command only shows what it would delete."`
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

type conversationsExportCmd struct {
	ID     string `arg:"" help:"The conversation's id, the start of its id, or last."`
	Output string `short:"o" help:"The file to write; - is standard output." placeholder:"FILE.html" required:""`
}

// Run writes a conversation as one page.
func (c *conversationsExportCmd) Run(w *world) error {
	w, err := resultFlags{Output: c.Output}.piped(w)
	if err != nil {
		return err
	}
	if ext := strings.ToLower(filepath.Ext(c.Output)); ext != ".html" && resolve.IsExtension(ext) {
		return media.Errorf(media.CodeInvalid, "-o %s: the file would be an HTML page: use the extension .html", c.Output)
	}
	return w.withRuns(appConfig{}, "", func(a *app, s *run.Service, _ string) error {
		head, err := a.stores().conversation(w.ctx, c.ID)
		if err != nil {
			return err
		}
		write := func(to io.Writer) error {
			b := bufio.NewWriterSize(to, 64<<10)
			page := report.Conversation{Title: head.Title, Begun: head.CreatedAt, Messages: a.messages(w.ctx, s, head.ID)}
			return cmp.Or(report.WriteConversation(w.ctx, b, page, resolve.Options{Mode: resolve.ModeDataURI, Codec: a.Codec}), b.Flush())
		}
		if c.Output == toStdout {
			return write(w.bytes)
		}
		if err := writeTo(c.Output, write); err != nil {
			return err
		}
		return w.print(map[string]any{"conversation_id": head.ID, "messages": head.Messages, "path": c.Output}, func() { w.line("%s: %s", c.Output, plural(head.Messages, "message")) })
	})
}

// messages reads a conversation for its page.
func (a *app) messages(ctx context.Context, s *run.Service, id string) iter.Seq2[report.Message, error] {
	return func(yield func(report.Message, error) bool) {
		for q, more := (ledger.MessageQuery{}), true; more; more = q.After != "" {
			page, err := a.Ledger.ListMessages(ctx, owner, id, q)
			if err != nil {
				yield(report.Message{}, err)
				return
			}
			for _, m := range page.Items {
				if v, err := a.message(ctx, s, m); !yield(v, err) || err != nil {
					return
				}
			}
			q.After = page.Next
		}
	}
}

// message returns a message with its items and, for an answer, the report.
func (a *app) message(ctx context.Context, s *run.Service, m ledger.Message) (report.Message, error) {
	v := report.Message{Who: "You", At: m.CreatedAt, Text: m.Text, Verbatim: true, Failure: m.Failure.Message}
	attached, err := a.stores().attachments(ctx, m)
	if err != nil {
		return v, err
	}
	items := map[media.Ref]media.Output{}
	for _, at := range attached {
		r, err := a.Ledger.MediaRecord(ctx, owner, at.MediaID)
		if media.CodeOf(err) == media.CodeNotFound {
			continue // deleted
		}
		if err != nil {
			return v, err
		}
		items[r.Ref] = r.Output
		v.Attached = append(v.Attached, r.Output)
	}
	res, err := s.Result(ctx, owner, m.RunID)
	if err != nil && media.CodeOf(err) != media.CodeNotFound {
		return v, err
	}
	v.Find = func(ref media.Ref) (media.Output, bool) {
		o, ok := items[ref]
		if !ok && res != nil {
			o, ok = res.Find(ref)
		}
		return o, ok
	}
	if m.Role == ledger.RoleUser {
		return v, nil
	}
	v.Who, v.Verbatim = m.Agent, false
	if res != nil && report.Has(res.Payload) {
		r := report.FromResult(res)
		v.Report = &r
	}
	return v, nil
}
