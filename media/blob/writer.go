package blob

import (
	"context"
	"crypto/sha256"
	"hash"
	"time"

	"atelier/media"
)

// headBytes is the number of bytes at the start of a blob that a [Writer] keeps for sniffing.
const headBytes = 4 << 10

// Writer writes one blob to the store and hashes it. It must be used by one goroutine. Commit or Abort ends
// it. Abort after a commit does nothing, so it can be deferred.
type Writer struct {
	store  *Store
	upload Upload // nil after the end
	hash   hash.Hash
	size   int64
	head   []byte
	err    error // the first permanent error
	full   error // the error of a Write on a full disk, until the next Write
}

// Create begins a blob, which is not visible before it is committed.
func (s *Store) Create(ctx context.Context) (*Writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	u, err := s.driver.Create(ctx)
	if err != nil {
		return nil, err
	}
	return &Writer{store: s, upload: u, hash: sha256.New()}, nil
}

// Write adds bytes. Beyond the limit of the store, the error is [media.CodeTooLarge]. After an error, every further
// call returns the same error, except for [media.CodeDiskFull]: the bytes that were not written can be written again
// when there is space, and must be before Commit.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err == nil && w.upload == nil {
		w.err = media.Errorf(media.CodeInvalid, "write blob: it is already committed or aborted")
	}
	if limit := w.store.maxBytes; w.err == nil && limit >= 0 && w.size+int64(len(p)) > limit {
		w.err = media.Errorf(media.CodeTooLarge, "write blob: it is over the limit of %d bytes (blob Config.MaxBytes)", limit)
	}
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.upload.Write(p)
	w.hash.Write(p[:n])
	w.size += int64(n)
	if room := headBytes - len(w.head); room > 0 {
		w.head = append(w.head, p[:min(n, room)]...)
	}
	if w.full = nil; media.CodeOf(err) == media.CodeDiskFull {
		w.full = err
	} else {
		w.err = err
	}
	return n, err
}

// Head returns the first 4 KiB, or all bytes so far if there are fewer, for sniffing. The caller must not change them.
func (w *Writer) Head() []byte { return w.head }

// Commit stores the blob under the digest of its bytes. If the blob exists already, there is still one blob, and its
// time is renewed. After an error, including a cancelled context, nothing is stored and the writer has ended. The
// exception is [media.CodeDiskFull] from the commit itself: Commit can then be called again. If bytes of a Write are
// still missing because the disk was full, Commit ends the writer with that error.
func (w *Writer) Commit(ctx context.Context) (Info, error) {
	w.fail(ctx.Err())
	w.fail(w.full)
	if w.err == nil && w.upload == nil {
		w.err = media.Errorf(media.CodeInvalid, "commit blob: it is already committed or aborted")
	}
	if w.err != nil {
		w.Abort()
		return Info{}, w.err
	}
	var sum [sha256.Size]byte
	w.hash.Sum(sum[:0])
	d := media.NewDigest(sum)
	err := w.upload.Commit(ctx, d)
	if media.CodeOf(err) == media.CodeDiskFull {
		return Info{}, err
	}
	w.upload = nil
	if err != nil {
		w.err = err
		return Info{}, err
	}
	return Info{Digest: d, SizeBytes: w.size, ModTime: time.Now()}, nil //nolint:forbidigo // about that of the driver
}

// fail records an error, unless there is one already.
func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Abort discards the bytes. If files remain because their removal fails, [Store.Sweep] removes them later.
func (w *Writer) Abort() {
	if w.upload == nil {
		return
	}
	u := w.upload
	w.upload = nil
	w.fail(media.Errorf(media.CodeInvalid, "write blob: it was aborted"))
	_ = u.Abort()
}
