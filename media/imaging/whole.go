package imaging

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"atelier/media"
	"atelier/media/probe"
)

// CheckComplete reads a picture of a type and returns nil if its file is complete. The file must end where its own
// structure says. In a PNG, the critical chunks must match their checksums and the pixel stream must inflate to as many
// bytes as the header says, which takes about 25 ms a megapixel; a stream of more than half a gibibyte is not inflated.
// No pixel is kept, so CheckComplete uses O(64 KiB) of memory whatever size the header claims. A truncated or damaged
// file is [media.CodeCorrupt], a type other than PNG, JPEG, GIF, WebP and BMP [media.CodeUnsupported].
func CheckComplete(ctx context.Context, r io.Reader, mimeType string) error {
	walk, ok := map[string]func(*walker) error{
		"image/png": (*walker).png, "image/jpeg": (*walker).jpeg, "image/gif": (*walker).gif,
		"image/webp": (*walker).webp, "image/bmp": (*walker).bmp,
	}[mimeType]
	if !ok {
		return media.Errorf(media.CodeUnsupported, "%s cannot be checked: use PNG, JPEG, GIF, WebP or BMP", mimeType)
	}
	src := &source{ctx: ctx, r: r}
	err := walk(&walker{in: bufio.NewReaderSize(src, headSize)})
	switch {
	case err == nil:
		return nil
	case src.err != nil:
		return media.Errorf(media.CodeOf(src.err), "read image: %w", src.err)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return media.Errorf(media.CodeCorrupt, "the %s ends early", mimeType)
	}
	return media.Errorf(media.CodeCorrupt, "the %s is damaged: %w", mimeType, err)
}

// walker walks the structure of one file.
type walker struct {
	in  *bufio.Reader
	buf [64]byte
}

// take reads n bytes, at most 64, which are valid until the next call.
func (w *walker) take(n int) ([]byte, error) {
	_, err := io.ReadFull(w.in, w.buf[:n])
	return w.buf[:n], err
}

func (w *walker) skip(n int64) error {
	_, err := io.CopyN(io.Discard, w.in, n)
	return err
}

// jpeg walks the markers up to EOI. Inside a scan, FF is followed by 00 or by a marker. ITU T.81, annex B.
func (w *walker) jpeg() error {
	if err := w.skip(2); err != nil { // the start marker
		return err
	}
	for pixels := false; ; {
		marker, err := w.marker()
		switch {
		case err != nil:
			return err
		case marker == 0xd9:
			return has(pixels)
		case marker <= 0x01 || marker >= 0xd0 && marker <= 0xd8: // these have no length
			continue
		}
		size, err := w.take(2)
		if err != nil {
			return err
		}
		if err := w.skip(max(int64(binary.BigEndian.Uint16(size))-2, 0)); err != nil {
			return err
		}
		pixels = pixels || marker == 0xda
	}
}

// marker returns the next marker and skips the bytes before it.
func (w *walker) marker() (byte, error) {
	for {
		_, err := w.in.ReadSlice(0xff)
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return 0, err
		}
	}
	for {
		b, err := w.in.ReadByte()
		if err != nil || b != 0xff { // further FF bytes are padding
			return b, err
		}
	}
}

// gif walks the blocks up to the trailer, which some writers omit. GIF89a, §12.
func (w *walker) gif() error {
	head, err := w.take(13)
	if err != nil {
		return err
	}
	if err := w.skip(probe.ColourTable(head[10])); err != nil {
		return err
	}
	for pixels := false; ; {
		kind, err := w.in.ReadByte()
		switch {
		case pixels && errors.Is(err, io.EOF), err == nil && kind == 0x3b:
			return has(pixels)
		case err != nil:
			return err
		case kind == 0x21: // an extension and its label
			err = w.skip(1)
		case kind == 0x2c:
			pixels = true
			if head, err = w.take(9); err == nil { // what precedes the pixels of a frame
				err = w.skip(probe.ColourTable(head[8]) + 1)
			}
		default:
			return fmt.Errorf("block type %#x does not exist", kind)
		}
		if err != nil {
			return err
		}
		if err := w.subBlocks(); err != nil {
			return err
		}
	}
}

// subBlocks skips data in blocks of up to 255 bytes.
func (w *walker) subBlocks() error {
	for {
		n, err := w.in.ReadByte()
		if err != nil || n == 0 {
			return err
		}
		if _, err := w.in.Discard(int(n)); err != nil {
			return err
		}
	}
}

// webp walks the chunks of the container. RFC 9649, §2.3. Padding after the last chunk may be
// missing, because some writers omit it.
func (w *walker) webp() error {
	head, err := w.take(12)
	if err != nil {
		return err
	}
	remaining, pixels := int64(binary.LittleEndian.Uint32(head[4:]))-4, false
	for remaining >= 8 {
		head, err := w.take(8)
		if err != nil {
			return err
		}
		size, kind := int64(binary.LittleEndian.Uint32(head[4:])), string(head[:4])
		if remaining -= 8 + size; remaining < 0 {
			return errors.New("a chunk is larger than the file")
		}
		if err := w.skip(size); err != nil {
			return err
		}
		if size%2 == 1 && remaining > 0 {
			_, err = w.in.Discard(1)
			if remaining--; err != nil && remaining > 0 {
				return err
			}
		}
		pixels = pixels || kind == "VP8 " || kind == "VP8L" || kind == "ANMF"
	}
	return has(pixels)
}

// bmp counts the rows, which are padded to four bytes. It does not check compressed files and files
// with a header older than that of Windows.
func (w *walker) bmp() error {
	head, err := w.take(34)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	if packed := le.Uint32(head[30:]); le.Uint32(head[14:]) < 40 || packed != 0 && packed != 3 {
		return nil
	}
	width, height, bits := int64(int32(le.Uint32(head[18:]))), int64(int32(le.Uint32(head[22:]))), int64(le.Uint16(head[28:])) //nolint:gosec // signed by definition
	row, rows := (width*bits+31)/32*4, max(height, -height)
	if width <= 0 || bits <= 0 || rows == 0 || rows > maxRows/row {
		return fmt.Errorf("its header says %d × %d pixels of %d bits", width, height, bits)
	}
	return w.skip(max(int64(le.Uint32(head[10:]))-34, 0) + row*rows)
}

// maxRows limits the bytes of all rows of a BMP; no file is that large.
const maxRows = 1 << 40

// has returns an error unless there were pixels.
func has(pixels bool) error {
	if !pixels {
		return errors.New("it has no pixels")
	}
	return nil
}
