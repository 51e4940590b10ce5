package blob

import (
	"context"
	"crypto/sha256"
	"hash"

	"atelier/media"
)

// headBytes is how much of a blob's start a [Writer] keeps for sniffing.
const headBytes = 4 << 10

// Writer is one blob on its way into the store, hashed while it is written. One
// goroutine uses it. End it by Commit, CommitAs or Abort; Abort after a commit
// does nothing, so it can be deferred.
type Writer struct {
	store  *Store
	upload Upload // nil when ended
	hash   hash.Hash
	size   int64
	head   []byte
	err    error // first failure; it stays
	full   error // the disk was full, and the rest was not written since
}

// Create begins a blob. Nothing is visible before it is committed.
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

// Write adds bytes. Past the store's limit it is [media.CodeTooLarge]; after an
// error every further call gives the same one, but for [media.CodeDiskFull]: what was not
// written may be written again when there is room, and has to be before Commit.
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

// Head returns the first 4 KiB, or all there is so far, for sniffing. The caller does
// not change it.
func (w *Writer) Head() []byte { return w.head }

// Size is the number of bytes written so far.
func (w *Writer) Size() int64 { return w.size }

// Commit stores the blob under the digest of its bytes. Storing bytes that are
// there already leaves one blob and renews its time. On any error, a cancelled
// context included, nothing is stored. After [media.CodeDiskFull] it may be tried again,
// or Abort ends the writer.
func (w *Writer) Commit(ctx context.Context) (Info, error) {
	return w.commit(ctx, media.Digest{})
}

// CommitAs is Commit for bytes whose digest is known: other bytes are
// [media.CodeCorrupt], and nothing is stored.
func (w *Writer) CommitAs(ctx context.Context, want media.Digest) (Info, error) {
	if want.IsZero() {
		w.fail(checkDigest(want))
	}
	return w.commit(ctx, want)
}

func (w *Writer) commit(ctx context.Context, want media.Digest) (Info, error) {
	w.fail(ctx.Err())
	w.fail(w.full)
	if w.err == nil && w.upload == nil {
		w.err = media.Errorf(media.CodeInvalid, "commit blob: it is already committed or aborted")
	}
	var sum [sha256.Size]byte
	w.hash.Sum(sum[:0])
	d := media.NewDigest(sum)
	if !want.IsZero() && d != want {
		w.fail(media.Errorf(media.CodeCorrupt, "commit blob: the bytes hash to %s, not to %s", d, want))
	}
	if w.err != nil {
		w.Abort()
		return Info{}, w.err
	}
	err := w.upload.Commit(ctx, d)
	if media.CodeOf(err) == media.CodeDiskFull {
		return Info{}, err
	}
	w.upload = nil
	if err != nil {
		w.err = err
		return Info{}, err
	}
	return Info{Digest: d, SizeBytes: w.size, ModTime: w.store.now()}, nil
}

// fail keeps the first error.
func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Abort throws the bytes away. What a failed removal leaves is swept later by
// [Store.Collect].
func (w *Writer) Abort() {
	if w.upload == nil {
		return
	}
	u := w.upload
	w.upload = nil
	w.fail(media.Errorf(media.CodeInvalid, "write blob: it was aborted"))
	_ = u.Abort()
}
