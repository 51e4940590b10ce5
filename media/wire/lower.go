package wire

import (
	"bytes"
	"context"
	"errors"
	"io"

	"atelier/media"
)

// Lowered is a body whose tokens have been found and verified and whose blobs exist. It can be opened many times, for
// retries.
type Lowered struct {
	codec  *Codec
	pieces []piece
	size   int64
	items  int
	open   func(media.Digest) (io.ReadCloser, error)
}

// piece is literal text or an item.
type piece struct {
	text    []byte // if not nil
	blob    media.Blob
	variant Variant
	raw     bool // bytes, not base64
	size    int64
}

// Lower plans a JSON body: tokens in value position are replaced by the base64 of their items. A token that is not
// valid in the scope is [media.CodeForbidden], a missing blob is [media.CodeNotFound], a blob of another size is
// [media.CodeCorrupt], and a tombstone has the code of its item. The plan keeps body, which must not change.
func (c *Codec) Lower(ctx context.Context, scope string, body []byte) (*Lowered, error) {
	l := c.newLowered(ctx)
	at := 0
	for from := 0; ; {
		k := bytes.Index(body[from:], []byte(familyPrefix))
		if k < 0 {
			break
		}
		k += from
		e := k + runEnd(body[k:], 0)
		from = e
		if !valuePosition(body, k, e) {
			continue
		}
		b, v, err := c.Parse(scope, string(body[k:e]))
		if err != nil {
			return nil, err
		}
		l.addText(body[at:k])
		if err := l.addItem(ctx, piece{blob: b, variant: v, size: v.length(b.SizeBytes)}); err != nil {
			return nil, err
		}
		at = e
	}
	l.addText(body[at:])
	return l, nil
}

// LowerMultipart plans a multipart body: a part that is exactly a marker or a token is replaced by the bytes of its
// item. Errors are those of [Codec.Lower].
func (c *Codec) LowerMultipart(ctx context.Context, scope string, body []byte, boundary string) (*Lowered, error) {
	l := c.newLowered(ctx)
	at := 0
	delimiter := []byte("\r\n--" + boundary)
	for from := 0; ; {
		k := bytes.Index(body[from:], []byte("\r\n\r\n"))
		if k < 0 {
			break
		}
		k += from + 4
		n := bytes.Index(body[k:], delimiter)
		if n < 0 {
			break
		}
		part := body[k : k+n]
		from = k + n
		if n > maxToken || !bytes.HasPrefix(part, []byte(magic)) && !bytes.HasPrefix(part, []byte(noneMagic)) && !bytes.HasPrefix(part, []byte(familyPrefix)) {
			continue
		}
		b, _, err := c.Parse(scope, string(part))
		if err != nil {
			return nil, err
		}
		l.addText(body[at:k])
		if err := l.addItem(ctx, piece{blob: b, raw: true, size: b.SizeBytes}); err != nil {
			return nil, err
		}
		at = from
	}
	l.addText(body[at:])
	return l, nil
}

func (c *Codec) newLowered(ctx context.Context) *Lowered {
	return &Lowered{codec: c, open: func(d media.Digest) (io.ReadCloser, error) {
		return c.cfg.Blobs.OpenRange(ctx, d, 0, -1)
	}}
}

func (l *Lowered) addText(b []byte) {
	if len(b) > 0 {
		l.pieces = append(l.pieces, piece{text: b, size: int64(len(b))})
		l.size += int64(len(b))
	}
}

func (l *Lowered) addItem(ctx context.Context, p piece) error {
	i, err := l.codec.cfg.Blobs.Stat(ctx, p.blob.Digest)
	if err != nil {
		return err
	}
	if i.SizeBytes != p.blob.SizeBytes {
		return media.Errorf(media.CodeCorrupt, "blob %s has %d bytes instead of %d", p.blob.Digest, i.SizeBytes, p.blob.SizeBytes)
	}
	l.pieces = append(l.pieces, p)
	l.size += p.size
	l.items++
	return nil
}

// valuePosition reports whether body[k:e] follows ";base64," or is a whole JSON string that is a value, also in JSON
// inside a string.
func valuePosition(body []byte, k, e int) bool {
	before, after := body[:k], body[e:]
	if bytes.HasSuffix(before, []byte(dataMark)) {
		return true
	}
	if len(before) == 0 || len(after) == 0 || before[len(before)-1] != '"' {
		return false
	}
	before = before[:len(before)-1]
	slashes := len(before) - len(bytes.TrimRight(before, `\`))
	if len(after) <= slashes || after[slashes] != '"' || bytes.Count(after[:slashes], []byte(`\`)) != slashes {
		return false
	}
	before, after = trimSpaceRight(before[:len(before)-slashes]), trimSpaceLeft(after[slashes+1:])
	opens := len(before) == 0 || bytes.IndexByte([]byte(":[,"), before[len(before)-1]) >= 0
	closes := len(after) == 0 || bytes.IndexByte([]byte(",]}\""), after[0]) >= 0
	if slashes == 0 { // between unescaped quotes, everything except a key is a value
		return len(after) == 0 || after[0] != ':'
	}
	return opens && closes
}

// trimSpaceRight removes JSON white space from the end, also in the escaped form of nested JSON.
func trimSpaceRight(b []byte) []byte {
	for {
		t := bytes.TrimRight(b, " \t\r\n")
		if n := len(t); n >= 2 && t[n-2] == '\\' && (t[n-1] == 'n' || t[n-1] == 't' || t[n-1] == 'r') {
			t = bytes.TrimRight(t[:n-1], `\`)
		}
		if len(t) == len(b) {
			return b
		}
		b = t
	}
}

func trimSpaceLeft(b []byte) []byte {
	for {
		t := bytes.TrimLeft(b, " \t\r\n")
		if u := bytes.TrimLeft(t, `\`); len(u) < len(t) && len(u) > 0 && (u[0] == 'n' || u[0] == 't' || u[0] == 'r') {
			t = u[1:]
		}
		if len(t) == len(b) {
			return b
		}
		b = t
	}
}

// Size returns the length of the lowered body in bytes.
func (l *Lowered) Size() int64 { return l.size }

// Items returns the number of tokens that are replaced.
func (l *Lowered) Items() int { return l.items }

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
