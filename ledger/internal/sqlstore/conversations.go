package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"atelier/ledger"
	"atelier/media"
)

func conversationColumns(c *ledger.Conversation) columns {
	return columns{
		{"id", &c.ID},
		{"owner", &c.Owner},
		{"title", prose(&c.Title)},
		{`(SELECT COUNT(*) FROM conversation_details d WHERE d.conversation_id = conversations.id AND d.deleted_at IS NULL)`, readOnly{&c.Messages}},
		{"created_at", timeCol{&c.CreatedAt}},
		{"updated_at", timeCol{&c.UpdatedAt}},
	}
}

// CreateConversation inserts a conversation.
func (s conversations) CreateConversation(ctx context.Context, c ledger.Conversation) error {
	const what = "save conversation"
	if err := need(what, "id", c.ID, "owner", c.Owner); err != nil {
		return err
	}
	c.Title = media.ClipLabel(c.Title)
	s.stamp(&c.CreatedAt, &c.UpdatedAt)
	return s.commit(ctx, what, saving("conversations", "", conversationColumns(&c)))
}

// Conversation returns one conversation.
func (s conversations) Conversation(ctx context.Context, owner, id string) (ledger.Conversation, error) {
	return read(ctx, s.db, "read conversation "+id, conversationColumns, owned("conversations", owner).where("id = ?", id).and("deleted_at IS NULL"))
}

// ListConversations lists conversations, newest first.
func (s conversations) ListConversations(ctx context.Context, owner string, q ledger.ConversationQuery) (ledger.List[ledger.Conversation], error) {
	sel := owned("conversations", owner).and("deleted_at IS NULL").orderBy("id DESC")
	if q.Text != "" {
		contains, pattern := s.dialect.Contains(q.Text)
		sel.where("("+contains("title")+` OR EXISTS (SELECT 1 FROM conversation_details d
			WHERE d.conversation_id = conversations.id AND d.deleted_at IS NULL AND `+contains("d.message")+"))", pattern)
	}
	return page(ctx, s.db, "list conversations", conversationColumns, sel.paged(q.Page))
}

// DeleteConversation leaves a tombstone.
func (s conversations) DeleteConversation(ctx context.Context, owner, id string) error {
	if err := needOwner(owner); err != nil {
		return err
	}
	return s.change(ctx, "delete conversation", id, `UPDATE conversations SET deleted_at = $1, updated_at = $1
		WHERE owner = $2 AND id = $3 AND deleted_at IS NULL`, s.stampNow(), owner, id)
}

// RenameConversation changes the title of a conversation.
func (s conversations) RenameConversation(ctx context.Context, owner, id, title string) error {
	return s.change(ctx, "rename conversation", id, `UPDATE conversations SET title = $1
		WHERE owner = $2 AND id = $3 AND deleted_at IS NULL`, orNull(clean(media.ClipLabel(title))), owner, id)
}

// RestoreConversation removes the tombstone.
func (s conversations) RestoreConversation(ctx context.Context, owner, id string, since time.Time) error {
	return s.change(ctx, "restore conversation", id, `UPDATE conversations SET deleted_at = NULL
		WHERE owner = $1 AND id = $2 AND deleted_at >= $3`, owner, id, stampText(since))
}

// ConversationOf returns the conversation of a run tree: the first one if there are several.
func (s conversations) ConversationOf(ctx context.Context, owner, tree string) (id string, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT c.id FROM conversation_details d JOIN conversations c ON c.id = d.conversation_id
		WHERE d.run_id = $1 AND c.owner = $2 AND c.deleted_at IS NULL ORDER BY d.id LIMIT 1`, tree, owner).Scan(&id)
	return id, s.failure("read the conversation of run "+tree, optional(err))
}

// ConversationRuns lists the root runs of conversations.
func (s conversations) ConversationRuns(ctx context.Context, owner string, ids []string) ([]ledger.ConversationRun, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return readAll(ctx, s.db, "list the runs of conversations", func(r *ledger.ConversationRun) columns {
		return columns{
			{"DISTINCT d.conversation_id", &r.ConversationID},
			{"r.id", &r.RunID},
			{"r.model_calls", &r.Usage.ModelCalls},
			{"r.images", &r.Usage.Images},
			{"r.worked_ms", &r.Usage.WorkedMS},
			{"r.input_tokens", &r.Usage.InputTokens},
			{"r.output_tokens", &r.Usage.OutputTokens},
			{"r.estimated_usd", &r.Cost.EstimatedUSD},
			{"r.reported_usd", &r.Cost.ReportedUSD},
			{"r.cost_complete", &r.Cost.Complete},
		}
	}, from(`conversation_details d
		JOIN conversations c ON c.id = d.conversation_id JOIN agent_runs r ON r.id = d.run_id AND r.depth = 0`).
		where("c.owner = ?", owner).and("c.deleted_at IS NULL").and("r.deleted_at IS NULL").whereIn("d.conversation_id", ids).orderBy("r.id"))
}

func messageColumns(m *ledger.Message) columns {
	return slices.Concat(columns{
		{"id", &m.ID},
		{"conversation_id", &m.ConversationID},
		{"role", &m.Role},
		{"message", prose(&m.Text)},
		{"run_id", nullable(&m.RunID)},
		{"agent", prose(&m.Agent)},
		{"status", nullable(&m.Status)},
		{"created_at", timeCol{&m.CreatedAt}},
		{"updated_at", timeCol{&m.UpdatedAt}},
	}, failureColumns(&m.Failure))
}

// SaveMessage inserts or overwrites a message.
func (s conversations) SaveMessage(ctx context.Context, owner string, m ledger.Message) error {
	const what = "save message"
	if err := needOwner(owner); err != nil {
		return err
	}
	if err := need(what, "id", m.ID, "conversation id", m.ConversationID, "role", string(m.Role)); err != nil {
		return err
	}
	s.stamp(&m.UpdatedAt)
	if m.CreatedAt.IsZero() {
		m.CreatedAt = m.UpdatedAt
	}
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		n, err := exec(ctx, tx, `UPDATE conversations SET updated_at = $1 WHERE owner = $2 AND id = $3`, stampText(m.UpdatedAt), owner, m.ConversationID)
		if err := checkRowChanged(what+": conversation", m.ConversationID, n, err); err != nil {
			return err
		}
		if err := s.lock(ctx, tx, messageLock(m.ID)); err != nil {
			return err
		}
		var in string
		err = tx.QueryRowContext(ctx, `SELECT conversation_id FROM conversation_details WHERE id = $1`, m.ID).Scan(&in)
		if err := optional(err); err != nil {
			return err
		}
		if err == nil && in != m.ConversationID {
			return media.Errorf(media.CodeConflict, "save message: another conversation has a message with this id: use a new id")
		}
		_, err = messageColumns(&m).upsert(ctx, tx, "conversation_details", "id", "")
		return err
	})
}

// messageLock names the lock that a transaction holds while it looks up a message's conversation or last attachment,
// and adds to it.
func messageLock(id string) string { return "message " + id }

// ListMessages lists a conversation's messages.
func (s conversations) ListMessages(ctx context.Context, owner, conversationID string, q ledger.MessageQuery) (ledger.List[ledger.Message], error) {
	return page(ctx, s.db, "list messages", messageColumns, s.within(ctx, "conversation_details", owner, conversationID, q).and("deleted_at IS NULL"))
}

// within selects the rows of an owner's conversation.
func (s conversations) within(ctx context.Context, tables, owner, id string, q ledger.MessageQuery) *query {
	sel := from(tables).where("conversation_id = ?", id).orderBy("id").paged(q.Page)
	if q.Newest {
		sel.orderBy("id DESC")
	}
	_, sel.err = s.Conversation(ctx, owner, id)
	return sel
}

// Attach attaches recorded items to a message, each in its own commit.
func (s conversations) Attach(ctx context.Context, owner, messageID string, items []media.Output) ([]string, error) {
	var db querier = s.read
	if t, ok := ctx.Value(sharedKey{}).(*shared); ok && t.store == s.db { // the message may have been saved earlier in this transaction
		db = t.tx
	}
	m, err := one(context.WithoutCancel(ctx), db, messageColumns, owned(`conversation_details
		JOIN (SELECT id AS conversation, owner FROM conversations) c ON c.conversation = conversation_id`, owner).where("id = ?", messageID).and("deleted_at IS NULL"))
	if err != nil {
		return nil, s.failure("read message "+messageID, err)
	}
	return saveEach(items, "attached to the conversation", func(o media.Output) error {
		return s.commit(ctx, "attach media", func(ctx context.Context, tx *sql.Tx) error {
			return s.attach(ctx, tx, owner, m, o)
		})
	})
}

func (s conversations) attach(ctx context.Context, tx *sql.Tx, owner string, m ledger.Message, o media.Output) error {
	if err := s.lock(ctx, tx, messageLock(m.ID)); err != nil {
		return err
	}
	rec, err := one(ctx, tx, recordColumns, recordOf(owner, o.ID).and("deleted_at IS NULL"))
	if errors.Is(err, sql.ErrNoRows) {
		return media.Errorf(media.CodeNotFound, "it has no media record")
	}
	if err != nil {
		return err
	}
	var source string // the agent-run media row of an answer's item
	if m.Role == ledger.RoleAssistant {
		err := tx.QueryRowContext(ctx, `SELECT id FROM agent_run_media WHERE run_id = $1 AND media_id = $2`, m.RunID, rec.ID).Scan(&source)
		if errors.Is(err, sql.ErrNoRows) {
			return media.Errorf(media.CodeNotFound, "it is not part of the answer of run %s", m.RunID)
		}
		if err != nil {
			return err
		}
	}
	place, err := nextPlace(ctx, tx, from("conversation_detail_attachments").where("conversation_detail_id = ?", m.ID))
	if err != nil {
		return err
	}
	rec.Label, rec.Description = cmp.Or(media.ClipLabel(o.Label), rec.Label), cmp.Or(o.Description, rec.Description)
	a := ledger.Attachment{
		ID: s.cfg.NewID(), MessageID: m.ID, MediaID: rec.ID, SourceID: source,
		Name: clean(ledger.AttachmentName(rec.Output, place)), Snapshot: s.snapshot(rec, place),
	}
	row := append(attachmentColumns(&a), column{"owner", &owner})
	return row.insert(ctx, tx, "conversation_detail_attachments", " ON CONFLICT (conversation_detail_id, media_id) DO NOTHING")
}

func attachmentColumns(a *ledger.Attachment) columns {
	return append(snapshotColumns(&a.Snapshot), columns{
		{"id", &a.ID},
		{"media_id", &a.MediaID},
		{"conversation_detail_id", &a.MessageID},
		{"source_agent_run_media_id", nullable(&a.SourceID)},
		{"name", &a.Name},
		{"m.ref", readOnly{&a.Ref}},
		{"m.digest", readOnly{digestCol{&a.Digest}}},
	}...)
}

// ListAttachments lists the attachments in a conversation.
func (s conversations) ListAttachments(ctx context.Context, owner, conversationID string, q ledger.MessageQuery) (ledger.List[ledger.Attachment], error) {
	sel := s.within(ctx, `conversation_detail_attachments
		JOIN (SELECT id AS item, ref, digest FROM media WHERE deleted_at IS NULL) m ON m.item = media_id
		JOIN (SELECT id AS message, conversation_id FROM conversation_details WHERE deleted_at IS NULL) d ON d.message = conversation_detail_id`,
		owner, conversationID, q)
	if q.Message != "" {
		sel.where("conversation_detail_id = ?", q.Message)
	}
	return page(ctx, s.db, "list attachments", attachmentColumns, sel)
}
