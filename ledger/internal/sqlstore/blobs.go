package sqlstore

import (
	"context"
	"database/sql"

	"atelier/ledger"
	"atelier/media"
)

// blobStored is the state of a blob whose bytes are in the store.
const blobStored = "stored"

// RegisterBlob notes a new blob. Its record notes it again, with a sync.
func (s *Store) RegisterBlob(ctx context.Context, b media.Blob) error {
	if b.Digest.IsZero() {
		return media.Errorf(media.CodeInvalid, "register blob: it has no digest: store its bytes first")
	}
	operation := media.ScopeOf(ctx).Operation
	return s.commit(ledger.Relaxed(ctx), "register blob", func(ctx context.Context, tx *sql.Tx) error {
		return s.insertBlob(ctx, tx, b, operation)
	})
}

func (s *Store) insertBlob(ctx context.Context, tx *sql.Tx, b media.Blob, operation string) error {
	now := s.stampNow()
	var v values
	v.set("digest", b.Digest.String())
	v.set("size_bytes", b.SizeBytes)
	v.set("mime_type", b.MIMEType)
	v.set("width", number(b.Width))
	v.set("height", number(b.Height))
	v.set("orientation", number(b.Orientation))
	v.set("frames", number(b.Frames))
	v.set("duration_seconds", number(b.DurationSeconds))
	v.set("state", blobStored)
	v.set("operation_id", text(operation))
	v.set("created_at", now)
	v.set("updated_at", now)
	_, err := tx.ExecContext(ctx, v.insertSQL("blobs")+" ON CONFLICT (digest) DO NOTHING", v.args...)
	return err
}

const blobColumns = `digest, size_bytes, mime_type, width, height, orientation, frames, duration_seconds,
	thumbnail_digest, operation_id, created_at, updated_at`

func scanBlob(from row) (ledger.Blob, error) {
	var b ledger.Blob
	err := from.Scan(digestCol{&b.Digest}, &b.SizeBytes, &b.MIMEType, num(&b.Width), num(&b.Height),
		num(&b.Orientation), num(&b.Frames), num(&b.DurationSeconds), digestCol{&b.ThumbnailDigest},
		str(&b.OperationID), timeCol{&b.CreatedAt}, timeCol{&b.UpdatedAt})
	return b, err
}

// BlobOf reads one blob.
func (s *Store) BlobOf(ctx context.Context, d media.Digest) (ledger.Blob, error) {
	b, err := scanBlob(s.read.QueryRowContext(ctx, `SELECT `+blobColumns+` FROM blobs WHERE digest = $1`, d.String()))
	return b, s.failure("read blob "+d.String(), err)
}

// ListBlobs lists blobs in digest order.
func (s *Store) ListBlobs(ctx context.Context, orphans bool, p ledger.Page) (ledger.List[ledger.Blob], error) {
	sel := selectFrom(blobColumns, "blobs", "state = ?", blobStored)
	if orphans {
		sel.text.WriteString(` AND NOT EXISTS (SELECT 1 FROM media
			WHERE media.digest = blobs.digest AND media.deleted_at IS NULL)`)
	}
	list, err := page(ctx, s.read, sel, p, order[ledger.Blob]{
		key: "digest", scan: scanBlob, next: func(b ledger.Blob) string { return b.Digest.String() },
	})
	return list, s.failure("list blobs", err)
}
