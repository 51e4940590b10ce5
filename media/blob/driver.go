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
	// ModTime is the time when the bytes were last put; putting the same bytes again renews it.
	ModTime time.Time
}

// Driver stores bytes by digest. It does not hash them: the [Store] does. All methods are safe for concurrent use, also
// by several processes that share one place. Errors are media errors with the codes not_found, disk_full, invalid (the
// place cannot be used) and internal, or errors of the context.
type Driver interface {
	// Create begins an upload, which is not visible before its Commit.
	Create(ctx context.Context) (Upload, error)
	// Open reads length bytes from offset; a length of -1 reads to the end. The caller closes the reader. A range past
	// the end returns the bytes that exist. A missing blob is not_found from Open, not from the first Read. Deleting a
	// blob does not affect its open readers.
	Open(ctx context.Context, d media.Digest, offset, length int64) (io.ReadCloser, error)
	// Stat returns the size and the time of a blob; a missing blob is not_found.
	Stat(ctx context.Context, d media.Digest) (Info, error)
	// Delete removes a blob that was last put before a time, and reports whether it did; the zero time means any. A blob
	// that is put at the same moment remains. It is no error if the blob does not exist.
	Delete(ctx context.Context, d media.Digest, before time.Time) (bool, error)
	// List returns up to limit blobs with digests greater than after, in the order of their digests; the zero digest
	// starts at the beginning. An empty list means that there are no more.
	List(ctx context.Context, after media.Digest, limit int) ([]Info, error)
	// Sweep removes unfinished uploads that were last written before olderThan, and returns their number. The caller
	// chooses olderThan so that running uploads are younger.
	Sweep(ctx context.Context, olderThan time.Time) (int, error)
}

// Reserver is an optional interface of a [Driver]. It reserves disk space for uploads that cannot be repeated.
type Reserver interface {
	// Reserve sets need bytes aside until release is called, and requires that leave bytes remain free for others.
	// Other programs cannot use the reserved bytes, except on file systems that cannot allocate space. If there is too
	// little space, the error has code disk_full and names the space that is needed. Any other error, except one of
	// ctx, means that the free space is not known. A need of 0 only checks the free space. release may be called more
	// than once.
	Reserve(ctx context.Context, need, leave int64) (release func(), err error)
	// Yield frees up to n bytes of the space that this process has reserved, for a write on a full disk. It returns
	// false if there was none; otherwise the write is tried again at once.
	Yield(n int64) bool
}

// Upload is the upload of one blob. It must be used by one goroutine. One successful or permanently failed Commit, or
// one Abort, ends it, whatever Write returned.
type Upload interface {
	// Write adds bytes. After disk_full, the bytes beyond the returned number can be written again. An empty write then
	// tries again to store the bytes that were counted but did not fit.
	io.Writer
	// Commit makes the bytes visible under d, completely and durably or not at all. If d exists already, its time is
	// renewed and there is still one blob. After disk_full, the upload is unchanged: it can be committed again or
	// aborted. After any other error, it no longer exists.
	Commit(ctx context.Context, d media.Digest) error
	// Abort discards the bytes.
	Abort() error
}
