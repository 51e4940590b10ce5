package ledger

import (
	"context"
	"time"

	"atelier/media"
)

// Blob is what the ledger knows of one stored byte string. Blobs have no owner:
// equal bytes are stored once; who may see them is decided by media records.
type Blob struct {
	media.Blob
	// OperationID is the generation that first lifted it, so that a crash between
	// lift and record loses nothing.
	OperationID     string       `json:"operation_id,omitempty"`
	ThumbnailDigest media.Digest `json:"thumbnail_digest,omitzero"`
	CreatedAt       time.Time    `json:"created_at"`
	UpdatedAt       time.Time    `json:"updated_at"`
}

// Blobs keeps the inventory of the blob store.
type Blobs interface {
	// RegisterBlob notes a new blob before anything names it; the operation comes from
	// the context's media.Scope. Known blobs stay as they are.
	RegisterBlob(ctx context.Context, b media.Blob) error
	// BlobOf reads one.
	BlobOf(ctx context.Context, d media.Digest) (Blob, error)
	// ListBlobs lists blobs in digest order.
	ListBlobs(ctx context.Context, p Page) (List[Blob], error)
	// BlobNamed reports whether the bytes are needed: by a record that is not deleted, or not
	// before the time given; by a result whose record could not be saved; by an operation
	// that has not ended, for which they arrived; or as the thumbnail of such bytes.
	BlobNamed(ctx context.Context, d media.Digest, deletedSince time.Time) (bool, error)
	// ForgetBlob takes bytes that nothing names, no deleted record either, out of the
	// inventory, and reports whether it did. With an operation it does so only if no other one
	// registered them, whatever that operation's state.
	ForgetBlob(ctx context.Context, d media.Digest, operation string) (bool, error)
	// SaveThumbnail notes the thumbnail of bytes for a width in pixels, or another in its place.
	SaveThumbnail(ctx context.Context, of media.Digest, width int, thumbnail media.Digest) error
	// Thumbnail is the one that was noted; media.CodeNotFound if none was.
	Thumbnail(ctx context.Context, of media.Digest, width int) (media.Digest, error)
}
