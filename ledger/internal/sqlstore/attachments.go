package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"atelier/ledger"
	"atelier/media"
)

// Attach attaches recorded items to a message, each in its own commit.
func (s conversations) Attach(ctx context.Context, owner, messageID string, items []media.Output) ([]string, error) {
	m, err := s.message(context.WithoutCancel(ctx), owner, messageID)
	if err != nil {
		return nil, err
	}
	var warnings []string
	for _, o := range items {
		err := s.commit(ctx, "attach media", func(ctx context.Context, tx *sql.Tx) error {
			return s.attach(ctx, tx, owner, m, o)
		})
		switch code := media.CodeOf(err); {
		case err == nil:
		case code == media.CodeDiskFull || code == media.CodeForbidden:
			return warnings, err
		default:
			warnings = append(warnings, fmt.Sprintf("%s was not attached to the conversation: %v", o, err))
		}
	}
	return warnings, nil
}

// message reads one of the owner's, also one that is saved together with what it is read for.
func (s conversations) message(ctx context.Context, owner, id string) (ledger.Message, error) {
	if err := needOwner(owner); err != nil {
		return ledger.Message{}, err
	}
	row := s.read.QueryRowContext
	if t, ok := ctx.Value(sharedKey{}).(*shared); ok && t.store == s.db {
		row = t.tx.QueryRowContext
	}
	m, err := scanMessage(row(ctx, `SELECT d.id, d.conversation_id, d.role, d.message, d.run_id,
		d.agent, d.status, d.error_code, d.error_message, d.retryable, d.created_at, d.updated_at
		FROM conversation_details d JOIN conversations c ON c.id = d.conversation_id
		WHERE c.owner = $1 AND d.id = $2 AND d.deleted_at IS NULL`, owner, id))
	return m, s.failure("read message "+id, err)
}

func (s conversations) attach(ctx context.Context, tx *sql.Tx, owner string, m ledger.Message, o media.Output) error {
	if err := s.lock(ctx, tx, messageLock(m.ID)); err != nil {
		return err
	}
	rec, err := scanRecord(tx.QueryRowContext(ctx, `SELECT `+recordColumns+
		` FROM media WHERE owner = $1 AND id = `+recordID+` AND deleted_at IS NULL`, owner, o.ID))
	if errors.Is(err, sql.ErrNoRows) {
		return media.Errorf(media.CodeNotFound, "it has no media record")
	}
	if err != nil {
		return err
	}
	source, err := s.attachmentSource(ctx, tx, m, rec.ID)
	if err != nil {
		return err
	}
	var last int
	if err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(display_order), 0) FROM conversation_detail_attachments
		WHERE conversation_detail_id = $1`, m.ID).Scan(&last); err != nil {
		return err
	}
	rec.Label, rec.Description = first(clip(o.Label), rec.Label), first(o.Description, rec.Description)
	now := s.stampNow()
	var v values
	v.set("id", s.cfg.NewID())
	v.set("owner", owner)
	v.set("media_id", rec.ID)
	v.set("conversation_detail_id", m.ID)
	v.set("source_agent_run_media_id", text(source))
	v.set("name", clean(ledger.AttachmentName(rec.Output, last+1)))
	facts(&v, rec.Output)
	v.set("display_order", last+1)
	v.set("thumbnail_digest", text(rec.ThumbnailDigest.String()))
	v.set("created_at", now)
	v.set("updated_at", now)
	_, err = tx.ExecContext(ctx, v.insertSQL("conversation_detail_attachments")+
		" ON CONFLICT (conversation_detail_id, media_id) DO NOTHING", v.args...)
	return err
}

// attachmentSource finds the agent-run media row behind an item of an answer; what a
// person attached has none.
func (s conversations) attachmentSource(ctx context.Context, tx *sql.Tx, m ledger.Message, mediaID string) (string, error) {
	if m.Role != ledger.RoleAssistant {
		return "", nil
	}
	var id string
	err := tx.QueryRowContext(ctx, `SELECT id FROM agent_run_media WHERE run_id = $1 AND media_id = $2`, m.RunID, mediaID).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", media.Errorf(media.CodeNotFound, "it is not part of the answer of run %s", m.RunID)
	}
	return id, err
}

const attachmentColumns = `a.modality, a.mime_type, a.file_name, a.size_bytes, a.width, a.height, a.duration_seconds,
	a.label, a.description, a.metadata, a.display_order, a.thumbnail_digest, a.created_at, a.updated_at, a.id, a.media_id,
	a.conversation_detail_id, a.source_agent_run_media_id, a.name, m.ref, m.digest`

// ListAttachments lists what is attached in a conversation.
func (s conversations) ListAttachments(ctx context.Context, owner, conversationID string, q ledger.MessageQuery) (ledger.List[ledger.Attachment], error) {
	if _, err := s.Conversation(ctx, owner, conversationID); err != nil {
		return ledger.List[ledger.Attachment]{}, err
	}
	sel := selectFrom(attachmentColumns, `conversation_detail_attachments a
		JOIN media m ON m.id = a.media_id AND m.deleted_at IS NULL
		JOIN conversation_details d ON d.id = a.conversation_detail_id AND d.deleted_at IS NULL`,
		"d.conversation_id = ?", conversationID)
	if q.Message != "" {
		sel.where("a.conversation_detail_id = ?", q.Message)
	}
	list, err := page(ctx, s.read, sel, q.Page, order[ledger.Attachment]{
		key: "a.id", descending: q.Newest, scan: scanAttachment, next: func(a ledger.Attachment) string { return a.ID },
	})
	return list, s.failure("list attachments", err)
}

func scanAttachment(from row) (a ledger.Attachment, err error) {
	err = from.Scan(&a.Modality, &a.MIMEType, str(&a.FileName), &a.SizeBytes, num(&a.Width), num(&a.Height),
		num(&a.DurationSeconds), str(&a.Label), str(&a.Description), jsonCol{&a.Metadata}, &a.DisplayOrder,
		digestCol{&a.ThumbnailDigest}, timeCol{&a.CreatedAt}, timeCol{&a.UpdatedAt}, &a.ID, &a.MediaID,
		&a.MessageID, str(&a.SourceID), &a.Name, &a.Ref, digestCol{&a.Digest})
	return a, err
}
