package blob

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"sync"
	"time"

	"atelier/media"
)

// copyBytes is how much of a blob is in memory while it is copied.
const copyBytes = 64 << 10

// Config is the configuration of a [Store].
type Config struct {
	// Driver stores the bytes. Required.
	Driver Driver
	// MaxBytes is the largest blob taken; 0 means 4 GiB, negative means no limit.
	MaxBytes int64
	// Now is the clock; nil means the system's.
	Now func() time.Time
}

// Store is a content-addressed store: bytes go in and get a digest, and come out
// checked against it. It is safe for concurrent use.
type Store struct {
	driver   Driver
	maxBytes int64
	now      func() time.Time
	buffers  sync.Pool // *[]byte of copyBytes
}

// New creates a store. A missing driver is [media.CodeInvalid].
func New(cfg Config) (*Store, error) {
	if cfg.Driver == nil {
		return nil, media.Errorf(media.CodeInvalid, "blob store: Config.Driver is missing: give a fileblob or memblob driver")
	}
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = 4 << 30
	}
	if cfg.Now == nil {
		cfg.Now = time.Now //nolint:forbidigo // the default clock
	}
	return &Store{
		driver: cfg.Driver, maxBytes: cfg.MaxBytes, now: cfg.Now,
		buffers: sync.Pool{New: func() any { b := make([]byte, copyBytes); return &b }},
	}, nil
}

// Put stores all of r. On any error, including a cancelled context, nothing is stored.
func (s *Store) Put(ctx context.Context, r io.Reader) (Info, error) {
	w, err := s.Create(ctx)
	if err != nil {
		return Info{}, err
	}
	defer w.Abort()
	if err := s.copy(ctx, w, r); err != nil {
		return Info{}, err
	}
	return w.Commit(ctx)
}

// copy moves r to w through one pooled buffer and looks at ctx between pieces.
func (s *Store) copy(ctx context.Context, w io.Writer, r io.Reader) error {
	buf, _ := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buf)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(*buf)
		if n > 0 {
			if _, werr := w.Write((*buf)[:n]); werr != nil {
				return werr
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Open reads a blob from its start. At the end the reader has hashed what it gave:
// wrong or missing bytes end in [media.CodeCorrupt] instead of io.EOF, so a
// caller that reads to io.EOF has the true bytes. The caller closes it.
func (s *Store) Open(ctx context.Context, d media.Digest) (io.ReadCloser, error) {
	if err := checkDigest(d); err != nil {
		return nil, err
	}
	r, err := s.driver.Open(ctx, d, 0, -1)
	if err != nil {
		return nil, err
	}
	return &verifier{src: r, want: d, hash: sha256.New()}, nil
}

// OpenRange reads length bytes from offset, or to the end if length is -1. A part cannot be checked
// against the digest. A negative offset or another negative length is [media.CodeInvalid]; an
// offset past the end returns no bytes.
func (s *Store) OpenRange(ctx context.Context, d media.Digest, offset, length int64) (io.ReadCloser, error) {
	if err := checkDigest(d); err != nil {
		return nil, err
	}
	if offset < 0 || length < -1 {
		return nil, media.Errorf(media.CodeInvalid, "open blob %s: a range of %d bytes from %d is invalid", d, length, offset)
	}
	return s.driver.Open(ctx, d, offset, length)
}

// Stat returns size and time of a blob; a missing one is [media.CodeNotFound].
func (s *Store) Stat(ctx context.Context, d media.Digest) (Info, error) {
	if err := checkDigest(d); err != nil {
		return Info{}, err
	}
	return s.driver.Stat(ctx, d)
}

// Delete removes a blob. Deleting a missing one is no error.
func (s *Store) Delete(ctx context.Context, d media.Digest) error {
	if err := checkDigest(d); err != nil {
		return err
	}
	return s.driver.Delete(ctx, d)
}

// Verify reads a blob through and reports whether it still hashes to its digest:
// nil, [media.CodeCorrupt] or [media.CodeNotFound].
func (s *Store) Verify(ctx context.Context, d media.Digest) error {
	r, err := s.Open(ctx, d)
	if err != nil {
		return err
	}
	defer r.Close()
	return s.copy(ctx, io.Discard, r)
}

// Reserve sets disk space aside; see [Reserver]. It is [media.CodeUnsupported] where the driver cannot.
func (s *Store) Reserve(ctx context.Context, need, leave int64) (release func(), err error) {
	d, ok := s.driver.(Reserver)
	if !ok {
		return nil, media.Errorf(media.CodeUnsupported, "the blob store cannot reserve space")
	}
	return d.Reserve(ctx, need, leave)
}

// Yield frees some of the space that is set aside; see [Reserver].
func (s *Store) Yield(n int64) bool {
	d, ok := s.driver.(Reserver)
	return ok && d.Yield(n)
}

func checkDigest(d media.Digest) error {
	if d.IsZero() {
		return media.Errorf(media.CodeInvalid, "blob store: the digest is empty")
	}
	return nil
}
