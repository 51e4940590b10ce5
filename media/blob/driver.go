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

// Driver stores bytes by digest. It does not hash: the [Store] does. All methods are safe for
// concurrent use, also by several processes on one place. Errors are media errors with the codes
// not_found and disk_full; all others are internal.
type Driver interface {
	// Create begins an upload. Nothing is visible before its Commit.
	Create(ctx context.Context) (Upload, error)
	// Open reads length bytes from offset; length -1 reads to the end. The caller closes the
	// reader. A range past the end returns what there is; a missing blob is not_found at once, not
	// at the first Read. Deleting a blob does not disturb its open readers.
	Open(ctx context.Context, d media.Digest, offset, length int64) (io.ReadCloser, error)
	// Stat returns size and time; a missing blob is not_found.
	Stat(ctx context.Context, d media.Digest) (Info, error)
	// Delete removes a blob; a missing one is no error.
	Delete(ctx context.Context, d media.Digest) error
	// List returns up to limit blobs with digests greater than after, in digest order;
	// the zero digest begins. An empty list is the end.
	List(ctx context.Context, after media.Digest, limit int) ([]Info, error)
	// Sweep removes what dead processes left of uploads begun before olderThan, and returns their
	// number. Running uploads are younger and stay.
	Sweep(ctx context.Context, olderThan time.Time) (int, error)
}

// Reserver is an optional ability of a [Driver]: it sets disk space aside for uploads that cannot be
// repeated.
type Reserver interface {
	// Reserve sets need bytes aside until release is called, and leaves so many free for others. Other
	// programs cannot use what is set aside, except on file systems without allocation. The error has code
	// disk_full where there is too little space, and says how much is needed; any other error means that
	// the free space is not known. A need of 0 only looks at the free space. Release may be called more than once.
	Reserve(ctx context.Context, need, leave int64) (release func(), err error)
	// Yield frees up to n bytes of what this process has set aside, for a write that met a full disk, and
	// reports whether there was any: if so, the write is tried again at once.
	Yield(n int64) bool
}

// Upload is one blob on its way in. One goroutine uses it. Exactly one of Commit
// and Abort ends it, whatever Write returned.
type Upload interface {
	// Write adds bytes. After disk_full the bytes that it did not count may be written again, none
	// of them included: that tries again to store what it counted and had no room for.
	io.Writer
	// Commit makes the bytes visible under d, whole and durable or not at all. If d
	// exists already, its time is renewed and there is still one blob. After
	// disk_full the upload is as before, to be committed again or aborted; after another
	// error it is gone.
	Commit(ctx context.Context, d media.Digest) error
	// Abort throws the bytes away.
	Abort() error
}
