package blob

import (
	"context"
	"io"
	"time"

	"atelier/media"
)

// Info is what the store knows about one blob.
type Info struct {
	Digest    media.Digest
	SizeBytes int64
	// ModTime is when the bytes were last put; putting the same bytes again renews it.
	ModTime time.Time
}

// Driver keeps bytes under digests. It does not hash: the [Store] does. All
// methods are safe for concurrent use, also by several processes on one place.
// Errors are media errors with the codes not_found and disk_full where they
// apply; everything else is internal.
type Driver interface {
	// Create begins an upload. Nothing is visible before its Commit.
	Create(ctx context.Context) (Upload, error)
	// Open reads length bytes from offset; length -1 reads to the end. The caller
	// closes the reader. A range past the end gives what is there; a missing blob is
	// not_found at once, not at the first Read. Deleting a blob does not disturb
	// its open readers.
	Open(ctx context.Context, d media.Digest, offset, length int64) (io.ReadCloser, error)
	// Stat gives size and time; a missing blob is not_found.
	Stat(ctx context.Context, d media.Digest) (Info, error)
	// Delete removes a blob; a missing one is no error.
	Delete(ctx context.Context, d media.Digest) error
	// List gives up to limit blobs with digests greater than after, in digest order;
	// the zero digest begins. An empty list is the end.
	List(ctx context.Context, after media.Digest, limit int) ([]Info, error)
	// Sweep removes what uploads begun before olderThan left behind when their
	// process died, and says how many. Running uploads are younger and stay.
	Sweep(ctx context.Context, olderThan time.Time) (int, error)
}

// Spacious is an optional ability of a [Driver]: it knows how much room there is.
type Spacious interface {
	// Free is how many bytes can still be put. The error has code unsupported where that is not known.
	Free(ctx context.Context) (int64, error)
}

// Upload is one blob on its way in. One goroutine uses it. Exactly one of Commit
// and Abort ends it, whatever Write returned.
type Upload interface {
	io.Writer
	// Commit makes the bytes visible under d, whole and durable or not at all. If d
	// exists already, its time is renewed and there is still one blob. After an
	// error the upload is gone.
	Commit(ctx context.Context, d media.Digest) error
	// Abort throws the bytes away.
	Abort() error
}
