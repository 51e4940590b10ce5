package blob

import (
	"errors"
	"hash"
	"io"

	"atelier/media"
)

// verifier hashes the bytes that it returns and compares the hash at the end.
type verifier struct {
	src  io.ReadCloser
	want media.Digest
	hash hash.Hash
	err  error // the final error, once known
}

// Read returns bytes before they are verified. Only io.EOF confirms that they are correct.
func (v *verifier) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	n, err := v.src.Read(p)
	v.hash.Write(p[:n])
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		v.err = media.Errorf(media.CodeCorrupt, "read blob %s: it ends early: %w", v.want, err)
	case errors.Is(err, io.EOF):
		var sum [32]byte
		v.hash.Sum(sum[:0])
		if v.err = err; media.NewDigest(sum) != v.want {
			v.err = media.Errorf(media.CodeCorrupt, "read blob %s: its bytes hash to something else: restore it from a backup or delete it", v.want)
		}
	case err != nil:
		v.err = err
	}
	return n, v.err
}

// Close closes the source.
func (v *verifier) Close() error { return v.src.Close() }
