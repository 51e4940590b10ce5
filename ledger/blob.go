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
	// ListBlobs lists blobs in digest order. With orphans, only those without a living
	// record, for garbage collection.
	ListBlobs(ctx context.Context, orphans bool, p Page) (List[Blob], error)
}
