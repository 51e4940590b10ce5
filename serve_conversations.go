package atelier

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelier/agent"
	"atelier/agent/report"
	"atelier/api"
	"atelier/ledger"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/wire"
)

// servedConversations implements the resource of conversations.
type servedConversations struct{ *Atelier }

// ListConversations lists conversations, newest first.
func (s servedConversations) ListConversations(ctx context.Context, q api.ConversationQuery) (api.List[api.ConversationHead], error) {
	list, err := s.Ledger.ListConversations(ctx, s.owner(ctx), ledger.ConversationQuery{Text: strings.TrimSpace(q.Q), Page: pageOf(q.Page)})
	if err != nil {
		return api.List[api.ConversationHead]{}, err
	}
	heads, err := s.heads(ctx, list.Items)
	return api.List[api.ConversationHead]{Items: heads, Next: list.Next}, err
}

// heads adds the run count, cost and usage to conversations.
func (s servedConversations) heads(ctx context.Context, list []ledger.Conversation) ([]api.ConversationHead, error) {
	heads, at := []api.ConversationHead{}, map[string]int{}
	var ids []string
	for i, c := range list {
		at[c.ID] = i
		ids = append(ids, c.ID)
		heads = append(heads, api.ConversationHead{ID: c.ID, Title: c.Title, CreatedAt: c.CreatedAt.UTC(), UpdatedAt: c.UpdatedAt.UTC(), Cost: api.Cost{Complete: true}})
	}
	runs, err := s.Ledger.ConversationRuns(ctx, s.owner(ctx), ids)
	for _, r := range runs {
		h := &heads[at[r.ConversationID]]
		h.RunCount++
		h.Cost.Complete = h.Cost.Complete && r.Cost.Complete
		h.Cost.EstimatedUSD = agent.AddUSD(h.Cost.EstimatedUSD, r.Cost.EstimatedUSD)
		h.Cost.ReportedUSD = agent.AddUSD(h.Cost.ReportedUSD, r.Cost.ReportedUSD)
		h.Tokens.ModelCalls += r.Usage.ModelCalls
		h.Tokens.InputTokens += r.Usage.InputTokens
		h.Tokens.OutputTokens += r.Usage.OutputTokens
		h.Tokens.Images += r.Usage.Images
		h.Tokens.WorkedMS += r.Usage.WorkedMS
	}
	return heads, err
}

func (s servedConversations) head(ctx context.Context, id string) (api.ConversationHead, error) {
	c, err := s.Ledger.Conversation(ctx, s.owner(ctx), id)
	if err != nil {
		return api.ConversationHead{}, describeNotFound(err, "conversation", id)
	}
	heads, err := s.heads(ctx, []ledger.Conversation{c})
	return heads[0], err
}

// An answer is saved shortly after its run ends. Reads in between wait for it.
const (
	answerWait = 2 * time.Second
	answerPoll = 10 * time.Millisecond
)

// Conversation returns a conversation with its messages.
func (s servedConversations) Conversation(ctx context.Context, id string) (c api.Conversation, err error) {
	poll(ctx, answerPoll, func() bool {
		c, err = s.conversation(ctx, id)
		return err != nil || !s.lacksAnswer(ctx, c)
	})
	return c, err
}

// lacksAnswer reports whether the run of the last message has just ended and its answer is not saved yet.
func (s servedConversations) lacksAnswer(ctx context.Context, c api.Conversation) bool {
	if len(c.Messages) == 0 || c.Messages[len(c.Messages)-1].Role != string(ledger.RoleUser) {
		return false
	}
	row, err := s.Ledger.Run(ctx, s.owner(ctx), c.Messages[len(c.Messages)-1].RunID)
	return err == nil && !row.FinishedAt.IsZero() && now().Sub(row.FinishedAt) < answerWait
}

// conversation returns a saved conversation.
func (s servedConversations) conversation(ctx context.Context, id string) (c api.Conversation, err error) {
	if c.ConversationHead, err = s.head(ctx, id); err != nil {
		return c, err
	}
	list, err := s.attachments(ctx, id)
	if err != nil {
		return c, err
	}
	attached := map[string][]api.Media{} // by message
	for _, a := range list {
		model, _ := a.Metadata["model"].(string)
		attached[a.MessageID] = append(attached[a.MessageID], api.Media{
			ID: a.MediaID, Ref: string(a.Ref), Modality: string(a.Modality), MIMEType: a.MIMEType, Width: a.Width, Height: a.Height, DurationSeconds: a.DurationSeconds,
			SizeBytes: a.SizeBytes, Digest: a.Digest.String(), FileName: a.FileName, Label: a.Label, Description: a.Description, CreatedAt: a.CreatedAt.UTC(),
			ConversationID: id, Model: model, URL: "/media/" + a.MediaID,
		})
	}
	messages, err := s.messages(ctx, id)
	if err != nil {
		return c, err
	}
	c.Messages = []api.Message{}
	for _, m := range messages {
		v, err := s.message(ctx, m, attached[m.ID])
		if err != nil {
			return c, err
		}
		c.Messages = append(c.Messages, v)
	}
	return c, nil
}

func (s servedConversations) messages(ctx context.Context, id string) ([]ledger.Message, error) {
	return ledger.All(func(p ledger.Page) (ledger.List[ledger.Message], error) {
		return s.Ledger.ListMessages(ctx, s.owner(ctx), id, ledger.MessageQuery{Page: p})
	})
}

func (s servedConversations) attachments(ctx context.Context, id string) ([]ledger.Attachment, error) {
	return ledger.All(func(p ledger.Page) (ledger.List[ledger.Attachment], error) {
		return s.Ledger.ListAttachments(ctx, s.owner(ctx), id, ledger.MessageQuery{Page: p})
	})
}

// message converts a message for display. Its media are attached when the run has ended; until then, they are the
// inputs of the run.
func (s servedConversations) message(ctx context.Context, m ledger.Message, attached []api.Media) (api.Message, error) {
	v := api.Message{
		ID: m.ID, Role: string(m.Role), Text: m.Text, RunID: m.RunID, Agent: m.Agent, CreatedAt: m.CreatedAt.UTC(), Attachments: append([]api.Media{}, attached...),
		Status: string(m.Status), Error: failureView(m.Failure),
	}
	row, err := s.Ledger.Run(ctx, s.owner(ctx), m.RunID)
	if media.CodeOf(err) == media.CodeNotFound { // the run is just starting
		return v, nil
	}
	if err != nil {
		return v, err
	}
	if m.Role == ledger.RoleAssistant {
		v.Report = report.Has(row.Payload)
		return v, nil
	}
	if len(attached) > 0 || !row.FinishedAt.IsZero() {
		return v, nil
	}
	items, err := s.runMedia(ctx, row.Tree)
	for _, r := range items {
		if r.Origin.Direction == "input" && r.Tree != row.Tree {
			v.Attachments = append(v.Attachments, mediaView(r))
		}
	}
	return v, err
}

// RenameConversation changes the title of a conversation.
func (s servedConversations) RenameConversation(ctx context.Context, id, title string) (api.ConversationHead, error) {
	title = strings.Join(strings.Fields(wire.NameMedia(title)), " ")
	if title == "" {
		return api.ConversationHead{}, media.Errorf(media.CodeInvalid, "the title is empty")
	}
	if err := s.Ledger.RenameConversation(ctx, s.owner(ctx), id, title); err != nil {
		return api.ConversationHead{}, describeNotFound(err, "conversation", id)
	}
	return s.head(ctx, id)
}

// DeleteConversation deletes a conversation. Its runs and media are kept.
func (s servedConversations) DeleteConversation(ctx context.Context, id string) (time.Time, error) {
	return now().Add(blob.DefaultGrace), describeNotFound(s.Ledger.DeleteConversation(ctx, s.owner(ctx), id), "conversation", id)
}

// RestoreConversation restores a conversation.
func (s servedConversations) RestoreConversation(ctx context.Context, id string) (api.ConversationHead, error) {
	if err := s.Ledger.RestoreConversation(ctx, s.owner(ctx), id, now().Add(-blob.DefaultGrace)); err != nil {
		return api.ConversationHead{}, describeNotFound(err, "deleted conversation", id)
	}
	return s.head(ctx, id)
}

// ForkConversation creates a conversation with copies of the messages of another one, up to and including a given
// message, and their attachments. The runs stay in the original conversation.
func (s servedConversations) ForkConversation(ctx context.Context, id string, f api.ForkConversation) (api.ConversationHead, error) {
	head, err := s.head(ctx, id)
	if err != nil {
		return api.ConversationHead{}, err
	}
	messages, err := s.messages(ctx, id)
	if err != nil {
		return api.ConversationHead{}, err
	}
	last := slices.IndexFunc(messages, func(m ledger.Message) bool { return m.ID == f.After })
	if last < 0 {
		return api.ConversationHead{}, media.Errorf(media.CodeNotFound, "there is no message %.64q in conversation %s", media.ErrorText(f.After), id)
	}
	list, err := s.attachments(ctx, id)
	if err != nil {
		return api.ConversationHead{}, err
	}
	items := map[string][]media.Output{} // by message
	for _, a := range list {
		r, err := s.Ledger.MediaRecord(ctx, s.owner(ctx), a.MediaID)
		if media.CodeOf(err) == media.CodeNotFound {
			continue // it was deleted
		}
		if err != nil {
			return api.ConversationHead{}, err
		}
		items[a.MessageID] = append(items[a.MessageID], r.Output)
	}
	fork := newID()
	err = s.Ledger.InTransaction(ctx, func(ctx context.Context) error { // an incomplete copy must not look like a conversation
		if err := s.Ledger.CreateConversation(ctx, ledger.Conversation{ID: fork, Owner: s.owner(ctx), Title: head.Title}); err != nil {
			return err
		}
		for _, m := range messages[:last+1] {
			attached := items[m.ID]
			m.ID, m.ConversationID = newID(), fork
			if err := s.Ledger.SaveMessage(ctx, s.owner(ctx), m); err != nil {
				return err
			}
			if _, err := s.Ledger.Attach(ctx, s.owner(ctx), m.ID, attached); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return api.ConversationHead{}, err
	}
	return s.head(ctx, fork)
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }
