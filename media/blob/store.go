package blob

import (
	"context"
	"crypto/sha256"
	"io"
	"sync"
	"time"

	"atelier/media"
)

// copyBytes is the number of bytes of a blob that are in memory while it is copied.
const copyBytes = 64 << 10

// Config is the configuration of a [Store].
type Config struct {
	// Driver stores the bytes. Required.
	Driver Driver
	// MaxBytes is the size of the largest blob that is accepted; 0 means 4 GiB, and a negative value means no limit.
	MaxBytes int64
}

// Store is a content-addressed store: written bytes get a digest, and are checked against it when they are read. It is
// safe for concurrent use.
type Store struct {
	driver   Driver
	maxBytes int64
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
	return &Store{
		driver: cfg.Driver, maxBytes: cfg.MaxBytes,
		buffers: sync.Pool{New: func() any { b := make([]byte, copyBytes); return &b }},
	}, nil
}

// Put stores all of r. After an error, including a cancelled context, nothing is stored.
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

// copy copies r to w through one pooled buffer and checks ctx between reads.
func (s *Store) copy(ctx context.Context, w io.Writer, r io.Reader) error {
	buf, _ := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buf)
	_, err := io.CopyBuffer(w, readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(p)
	}), *buf)
	return err
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Open reads a blob from its start. The reader hashes what it returns: if bytes are wrong or missing, it ends with
// [media.CodeCorrupt] instead of io.EOF. A caller that reads to io.EOF therefore has the correct bytes. The caller
// closes the reader.
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

// OpenRange reads length bytes from offset, or to the end if length is -1. A range is not checked against the digest. A
// negative offset or a length below -1 is [media.CodeInvalid]. An offset past the end returns no bytes.
func (s *Store) OpenRange(ctx context.Context, d media.Digest, offset, length int64) (io.ReadCloser, error) {
	if err := checkDigest(d); err != nil {
		return nil, err
	}
	if offset < 0 || length < -1 {
		return nil, media.Errorf(media.CodeInvalid, "open blob %s: a range of %d bytes from %d is invalid", d, length, offset)
	}
	return s.driver.Open(ctx, d, offset, length)
}

// Stat returns the size and the time of a blob; a missing blob is [media.CodeNotFound].
func (s *Store) Stat(ctx context.Context, d media.Digest) (Info, error) {
	if err := checkDigest(d); err != nil {
		return Info{}, err
	}
	return s.driver.Stat(ctx, d)
}

// Delete removes a blob. It is no error if the blob does not exist.
func (s *Store) Delete(ctx context.Context, d media.Digest) error {
	if err := checkDigest(d); err != nil {
		return err
	}
	_, err := s.driver.Delete(ctx, d, time.Time{})
	return err
}

// Verify reads a whole blob and compares its hash with its digest. It returns nil, [media.CodeCorrupt],
// [media.CodeNotFound] or another error of reading.
func (s *Store) Verify(ctx context.Context, d media.Digest) error {
	r, err := s.Open(ctx, d)
	if err != nil {
		return err
	}
	defer r.Close()
	return s.copy(ctx, io.Discard, r)
}

// Reserve sets disk space aside; see [Reserver]. If the driver cannot do this, the error is [media.CodeUnsupported].
func (s *Store) Reserve(ctx context.Context, need, leave int64) (release func(), err error) {
	d, ok := s.driver.(Reserver)
	if !ok {
		return nil, media.Errorf(media.CodeUnsupported, "the blob store cannot reserve space")
	}
	return d.Reserve(ctx, need, leave)
}

// Yield frees some of the reserved space; see [Reserver].
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
