package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"atelier/ledger"
	"atelier/media"
)

// blobStored is the state of a blob whose bytes are in the store.
const blobStored = "stored"

// RegisterBlob saves a new blob without a sync. The record of the blob saves it again, with a sync.
func (s blobs) RegisterBlob(ctx context.Context, b media.Blob) error {
	if b.Digest.IsZero() {
		return media.Errorf(media.CodeInvalid, "register blob: the digest is missing: store the bytes first")
	}
	operation := media.ScopeOf(ctx).Operation
	return s.commit(ledger.Relaxed(ctx), "register blob", func(ctx context.Context, tx *sql.Tx) error {
		return s.insertBlob(ctx, tx, b, operation)
	})
}

func (s *db) insertBlob(ctx context.Context, tx *sql.Tx, b media.Blob, operation string) error {
	now, state := s.cfg.Now(), blobStored
	row := append(blobColumns(&ledger.Blob{Blob: b, OperationID: operation, CreatedAt: now, UpdatedAt: now}), column{"state", &state})
	return row.insert(ctx, tx, "blobs", " ON CONFLICT (digest) DO NOTHING")
}

func blobColumns(b *ledger.Blob) columns {
	return columns{
		{"digest", digestCol{&b.Digest}},
		{"size_bytes", &b.SizeBytes},
		{"mime_type", &b.MIMEType},
		{"width", nullable(&b.Width)},
		{"height", nullable(&b.Height)},
		{"orientation", nullable(&b.Orientation)},
		{"frames", nullable(&b.Frames)},
		{"duration_seconds", nullable(&b.DurationSeconds)},
		{"operation_id", nullable(&b.OperationID)},
		{"created_at", timeCol{&b.CreatedAt}},
		{"updated_at", timeCol{&b.UpdatedAt}},
	}
}

// BlobOf returns one blob.
func (s blobs) BlobOf(ctx context.Context, d media.Digest) (ledger.Blob, error) {
	return read(ctx, s.db, "read blob "+d.String(), blobColumns, from("blobs").where("digest = ?", d.String()))
}

// ListBlobs lists blobs in digest order.
func (s blobs) ListBlobs(ctx context.Context, p ledger.Page) (ledger.List[ledger.Blob], error) {
	return page(ctx, s.db, "list blobs", blobColumns, from("blobs").where("state = ?", blobStored).orderBy("digest").paged(p))
}

// BlobReferenced reports whether the bytes are needed.
func (s blobs) BlobReferenced(ctx context.Context, d media.Digest, deletedSince time.Time) (bool, error) {
	var named bool
	err := s.read.QueryRowContext(ctx, `SELECT
		EXISTS (SELECT 1 FROM media WHERE digest = $1 AND (deleted_at IS NULL OR deleted_at >= $2))
		OR EXISTS (SELECT 1 FROM operation_slots WHERE digest = $1 AND media_id IS NULL)
		OR EXISTS (SELECT 1 FROM blobs JOIN operations ON operations.id = blobs.operation_id
			WHERE blobs.digest = $1 AND operations.finished_at IS NULL)
		OR EXISTS (SELECT 1 FROM thumbnails JOIN media ON media.digest = thumbnails.digest
			WHERE thumbnails.thumbnail_digest = $1 AND (media.deleted_at IS NULL OR media.deleted_at >= $2))`,
		d.String(), stampText(deletedSince)).Scan(&named)
	return named, s.failure("find the references to blob "+d.String(), err)
}

// ForgetBlob removes unreferenced bytes from the inventory.
func (s blobs) ForgetBlob(ctx context.Context, d media.Digest, operation string) (bool, error) {
	forgotten := false
	err := s.commit(ledger.Relaxed(ctx), "forget blob", func(ctx context.Context, tx *sql.Tx) error {
		n, err := exec(ctx, tx, `DELETE FROM blobs WHERE digest = $1
			AND ($2 = '' OR COALESCE(operation_id, $2) = $2)
			AND NOT EXISTS (SELECT 1 FROM media WHERE media.digest = blobs.digest)
			AND NOT EXISTS (SELECT 1 FROM operation_slots WHERE operation_slots.digest = blobs.digest)
			AND NOT EXISTS (SELECT 1 FROM thumbnails JOIN media ON media.digest = thumbnails.digest
				WHERE thumbnails.thumbnail_digest = blobs.digest AND media.deleted_at IS NULL)`, d.String(), operation)
		if forgotten = n > 0; err != nil || n == 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM thumbnails WHERE digest = $1 OR thumbnail_digest = $1`, d.String())
		return err
	})
	return forgotten && err == nil, err
}

// SaveThumbnail saves the thumbnail of bytes for a width.
func (s blobs) SaveThumbnail(ctx context.Context, of media.Digest, width int, thumbnail media.Digest) error {
	return s.execute(ledger.Relaxed(ctx), "save thumbnail", `INSERT INTO thumbnails (digest, width, thumbnail_digest, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (digest, width) DO UPDATE SET thumbnail_digest = excluded.thumbnail_digest`,
		of.String(), width, thumbnail.String(), s.stampNow())
}

// Thumbnail returns the saved thumbnail for a width.
func (s blobs) Thumbnail(ctx context.Context, of media.Digest, width int) (d media.Digest, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT thumbnail_digest FROM thumbnails WHERE digest = $1 AND width = $2`,
		of.String(), width).Scan(digestCol{&d})
	return d, s.failure("read thumbnail of "+of.String(), err)
}
