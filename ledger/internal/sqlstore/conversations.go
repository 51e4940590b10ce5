package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"atelier/ledger"
	"atelier/media"
)

// CreateConversation inserts a conversation.
func (s conversations) CreateConversation(ctx context.Context, c ledger.Conversation) error {
	const what = "save conversation"
	if err := need(what, "id", c.ID, "owner", c.Owner); err != nil {
		return err
	}
	now := s.stampNow()
	var v values
	v.set("id", c.ID)
	v.set("owner", c.Owner)
	v.set("title", prose(clip(c.Title)))
	v.set("created_at", now)
	v.set("updated_at", now)
	return s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		return v.insert(ctx, tx, "conversations")
	})
}

const conversationColumns = `id, owner, title, (SELECT COUNT(*) FROM conversation_details d
	WHERE d.conversation_id = conversations.id AND d.deleted_at IS NULL), created_at, updated_at`

func scanConversation(from row) (c ledger.Conversation, err error) {
	err = from.Scan(&c.ID, &c.Owner, str(&c.Title), &c.Messages, timeCol{&c.CreatedAt}, timeCol{&c.UpdatedAt})
	return c, err
}

// Conversation reads one.
func (s conversations) Conversation(ctx context.Context, owner, id string) (ledger.Conversation, error) {
	if err := needOwner(owner); err != nil {
		return ledger.Conversation{}, err
	}
	c, err := scanConversation(s.read.QueryRowContext(ctx, `SELECT `+conversationColumns+
		` FROM conversations WHERE owner = $1 AND id = $2 AND deleted_at IS NULL`, owner, id))
	return c, s.failure("read conversation "+id, err)
}

// ListConversations lists conversations, the last begun first.
func (s conversations) ListConversations(ctx context.Context, owner string, q ledger.ConversationQuery) (ledger.List[ledger.Conversation], error) {
	if err := needOwner(owner); err != nil {
		return ledger.List[ledger.Conversation]{}, err
	}
	sel := selectFrom(conversationColumns, "conversations", "deleted_at IS NULL AND owner = ?", owner)
	if q.Text != "" {
		sel.where(`(LOWER(title) LIKE ? ESCAPE '\' OR EXISTS (SELECT 1 FROM conversation_details d
			WHERE d.conversation_id = conversations.id AND d.deleted_at IS NULL AND LOWER(d.message) LIKE ? ESCAPE '\'))`, like(q.Text))
	}
	list, err := page(ctx, s.read, sel, q.Page, order[ledger.Conversation]{
		key: "id", descending: true, scan: scanConversation, next: func(c ledger.Conversation) string { return c.ID },
	})
	return list, s.failure("list conversations", err)
}

// DeleteConversation leaves a tombstone.
func (s conversations) DeleteConversation(ctx context.Context, owner, id string) error {
	const what = "delete conversation"
	if err := needOwner(owner); err != nil {
		return err
	}
	return s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE conversations SET deleted_at = $1, updated_at = $1
			WHERE owner = $2 AND id = $3 AND deleted_at IS NULL`, s.stampNow(), owner, id)
		if err != nil {
			return err
		}
		return changed(what, id, res)
	})
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
	now := s.stampNow()
	var v values
	v.set("id", m.ID)
	v.set("conversation_id", m.ConversationID)
	v.set("role", string(m.Role))
	v.set("message", prose(m.Text))
	v.set("run_id", text(m.RunID))
	v.set("agent", prose(m.Agent))
	v.set("status", text(string(m.Status)))
	v.failure(m.Failure)
	v.set("created_at", now)
	v.set("updated_at", now)
	return s.advance(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE conversations SET updated_at = $1 WHERE owner = $2 AND id = $3`, now, owner, m.ConversationID)
		if err != nil {
			return err
		}
		if err := changed(what+": conversation", m.ConversationID, res); err != nil {
			return err
		}
		if err := s.lock(ctx, tx, messageLock(m.ID)); err != nil {
			return err
		}
		if err := stays(ctx, tx, m); err != nil {
			return err
		}
		return v.upsert(ctx, tx, "conversation_details", "id")
	})
}

// messageLock is held while a transaction looks where a message stands, or for its last
// attachment, and adds to it.
func messageLock(id string) string { return "message " + id }

// stays refuses to move a message into another conversation.
func stays(ctx context.Context, tx *sql.Tx, m ledger.Message) error {
	var in string
	err := tx.QueryRowContext(ctx, `SELECT conversation_id FROM conversation_details WHERE id = $1`, m.ID).Scan(&in)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err == nil && in != m.ConversationID:
		return media.Errorf(media.CodeConflict, "save message: another conversation has a message with this id: use a new id")
	}
	return err
}

// ListMessages lists a conversation's messages.
func (s conversations) ListMessages(ctx context.Context, owner, conversationID string, q ledger.MessageQuery) (ledger.List[ledger.Message], error) {
	if _, err := s.Conversation(ctx, owner, conversationID); err != nil {
		return ledger.List[ledger.Message]{}, err
	}
	sel := selectFrom(`id, conversation_id, role, message, run_id, agent, status, error_code, error_message,
		retryable, created_at, updated_at`, "conversation_details", "deleted_at IS NULL AND conversation_id = ?", conversationID)
	list, err := page(ctx, s.read, sel, q.Page, order[ledger.Message]{
		key: "id", descending: q.Newest, scan: scanMessage, next: func(m ledger.Message) string { return m.ID },
	})
	return list, s.failure("list messages", err)
}

func scanMessage(from row) (m ledger.Message, err error) {
	err = from.Scan(&m.ID, &m.ConversationID, &m.Role, str(&m.Text), str(&m.RunID), str(&m.Agent), str(&m.Status),
		str(&m.Failure.Code), str(&m.Failure.Message), &m.Failure.Retryable, timeCol{&m.CreatedAt}, timeCol{&m.UpdatedAt})
	return m, err
}
