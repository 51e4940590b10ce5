package generate

import (
	"context"
	"io"

	"atelier/media"
)

// Storage keeps and gives media bytes; *wire.Codec is one.
type Storage interface {
	// Store keeps what r holds and tells digest, size and sniffed facts. Errors have
	// codes: media.CodeTooLarge, media.CodeDiskFull.
	Store(ctx context.Context, r io.Reader, declaredMIME string) (media.Blob, error)
	// Open gives the bytes; the caller closes them.
	Open(ctx context.Context, d media.Digest) (io.ReadCloser, error)
}
