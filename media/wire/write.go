package wire

import (
	"context"
	"errors"
	"io"

	"atelier/media"
)

// WriteBase64 streams an item to w as standard, padded base64. A blob that is shorter than b says is
// [media.CodeCorrupt], after a part of it may have been written. Of a longer blob only the first b.SizeBytes bytes are
// written.
func (c *Codec) WriteBase64(ctx context.Context, w io.Writer, b media.Blob) error {
	r, err := c.cfg.Blobs.OpenRange(ctx, b.Digest, 0, -1)
	if err != nil {
		return err
	}
	buf := c.takeBuffers()
	defer c.giveBuffers(buf)
	done := int64(0)
	for done < b.SizeBytes && err == nil {
		if err = ctx.Err(); err != nil {
			break
		}
		want := min(int64(len(buf.bytes)), b.SizeBytes-done)
		var n int
		n, err = io.ReadFull(r, buf.bytes[:want])
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = media.Errorf(media.CodeCorrupt, "blob %s ends early", b.Digest)
			break
		}
		done += int64(n)
		if err == nil {
			_, err = w.Write(buf.text[:encodeTo(buf.text[:], buf.bytes[:n], VariantStd)])
		}
	}
	return errors.Join(err, r.Close())
}

// WriteDataURI streams an item to w as a data: URI. Errors are those of [Codec.WriteBase64].
func (c *Codec) WriteDataURI(ctx context.Context, w io.Writer, b media.Blob) error {
	if _, err := io.WriteString(w, "data:"+tokenType(b.MIMEType)+dataMark); err != nil {
		return err
	}
	return c.WriteBase64(ctx, w, b)
}
