package ledger

import (
	"context"
	"time"

	"atelier/media"
)

// Blob is the ledger's row of one stored byte string. Blobs have no owner: equal bytes are stored once, and media
// records decide who may see them.
type Blob struct {
	media.Blob
	// OperationID is the operation that first lifted it, so that a crash between lift and record loses nothing.
	OperationID string    `json:"operation_id,omitempty"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// Blobs stores the inventory of the blob store.
type Blobs interface {
	// RegisterBlob saves a new blob before anything refers to it; the operation comes from the context's media.Scope.
	// Known blobs stay unchanged.
	RegisterBlob(ctx context.Context, b media.Blob) error
	// BlobOf returns one blob.
	BlobOf(ctx context.Context, d media.Digest) (Blob, error)
	// ListBlobs lists blobs in digest order.
	ListBlobs(ctx context.Context, p Page) (List[Blob], error)
	// BlobReferenced reports whether the bytes are needed: by a record that is not deleted, or was deleted since the
	// given time; by a result whose record could not be saved; by the unfinished operation for which they were
	// received; or as the thumbnail of such bytes.
	BlobReferenced(ctx context.Context, d media.Digest, deletedSince time.Time) (bool, error)
	// ForgetBlob removes bytes to which no record, not even a deleted one, refers from the inventory, and reports
	// whether it did. If operation is not empty, it removes them only if no other operation registered them, whatever
	// the state of that operation.
	ForgetBlob(ctx context.Context, d media.Digest, operation string) (bool, error)
	// SaveThumbnail saves or replaces the thumbnail of bytes for a width in pixels.
	SaveThumbnail(ctx context.Context, of media.Digest, width int, thumbnail media.Digest) error
	// Thumbnail returns the saved thumbnail, or media.CodeNotFound if there is none.
	Thumbnail(ctx context.Context, of media.Digest, width int) (media.Digest, error)
}
