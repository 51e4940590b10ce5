package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"

	"atelier/ledger"
	"atelier/media"
)

// Attach attaches recorded items to a message, each in its own commit.
func (s conversations) Attach(ctx context.Context, owner, messageID string, items []media.Output) ([]string, error) {
	m, err := s.message(context.WithoutCancel(ctx), owner, messageID)
	if err != nil {
		return nil, err
	}
	return saveEach(items, "attached to the conversation", func(o media.Output) error {
		return s.commit(ctx, "attach media", func(ctx context.Context, tx *sql.Tx) error {
			return s.attach(ctx, tx, owner, m, o)
		})
	})
}

// message reads one of the owner's, also one that is saved together with what it is read for.
func (s conversations) message(ctx context.Context, owner, id string) (ledger.Message, error) {
	var db querier = s.read
	if t, ok := ctx.Value(sharedKey{}).(*shared); ok && t.store == s.db {
		db = t.tx
	}
	m, err := one(ctx, db, messageColumns, owned(`conversation_details
		JOIN (SELECT id AS conversation, owner FROM conversations) c ON c.conversation = conversation_id`, owner).where("id = ?", id).and("deleted_at IS NULL"))
	return m, s.failure("read message "+id, err)
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
	var source string // the agent-run media row behind an item of an answer
	if m.Role == ledger.RoleAssistant {
		err := tx.QueryRowContext(ctx, `SELECT id FROM agent_run_media WHERE run_id = $1 AND media_id = $2`, m.RunID, rec.ID).Scan(&source)
		if errors.Is(err, sql.ErrNoRows) {
			return media.Errorf(media.CodeNotFound, "it is not part of the answer of run %s", m.RunID)
		}
		if err != nil {
			return err
		}
	}
	var last int
	if err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(display_order), 0) FROM conversation_detail_attachments
		WHERE conversation_detail_id = $1`, m.ID).Scan(&last); err != nil {
		return err
	}
	rec.Label, rec.Description = cmp.Or(clip(o.Label), rec.Label), cmp.Or(o.Description, rec.Description)
	a := ledger.Attachment{
		ID: s.cfg.NewID(), MessageID: m.ID, MediaID: rec.ID, SourceID: source,
		Name: clean(ledger.AttachmentName(rec.Output, last+1)), Snapshot: s.snapshot(rec, last+1),
	}
	row := append(attachmentColumns(&a), column{"owner", &owner})
	return row.insert(ctx, tx, "conversation_detail_attachments", " ON CONFLICT (conversation_detail_id, media_id) DO NOTHING")
}

func attachmentColumns(a *ledger.Attachment) columns {
	return append(snapshotColumns(&a.Snapshot), columns{
		{"id", &a.ID}, {"media_id", &a.MediaID}, {"conversation_detail_id", &a.MessageID}, {"source_agent_run_media_id", str(&a.SourceID)},
		{"name", &a.Name}, {"m.ref", readOnly{&a.Ref}}, {"m.digest", readOnly{digestCol{&a.Digest}}},
	}...)
}

// ListAttachments lists what is attached in a conversation.
func (s conversations) ListAttachments(ctx context.Context, owner, conversationID string, q ledger.MessageQuery) (ledger.List[ledger.Attachment], error) {
	if _, err := s.Conversation(ctx, owner, conversationID); err != nil {
		return ledger.List[ledger.Attachment]{}, err
	}
	sel := from(`conversation_detail_attachments
		JOIN (SELECT id AS item, ref, digest FROM media WHERE deleted_at IS NULL) m ON m.item = media_id
		JOIN (SELECT id AS message, conversation_id FROM conversation_details WHERE deleted_at IS NULL) d ON d.message = conversation_detail_id`).
		where("conversation_id = ?", conversationID).orderBy(byID(q.Newest))
	if q.Message != "" {
		sel.where("conversation_detail_id = ?", q.Message)
	}
	list, err := page(ctx, s.read, attachmentColumns, sel, q.Page)
	return list, s.failure("list attachments", err)
}
