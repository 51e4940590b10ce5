package imaging

import (
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
)

// maxInflated is the maximum number of pixel bytes that are inflated, half a gibibyte. The stream
// of a larger picture is not checked; limits of pixels are enforced elsewhere.
const maxInflated = 512 << 20

// png walks the chunks up to IEND. W3C PNG 3rd edition, §5. A wrong checksum of a chunk that
// decoders may ignore is not an error.
func (w *walker) png() error {
	if err := w.skip(8); err != nil { // the signature
		return err
	}
	c := &chunk{in: w, sum: crc32.NewIEEE()}
	var all []pass // empty if unknown
	pixels := false
	for err := c.next(); ; err = c.advance() {
		if err != nil {
			return err
		}
		if c.kind == "IDAT" && !pixels {
			pixels = true
			if err := c.inflate(all); err != nil {
				return err
			}
		}
		switch c.kind {
		case "IHDR":
			var head [13]byte
			if _, err := io.ReadFull(c, head[:]); err != nil {
				return err
			}
			all = passes(head)
		case "IEND":
			if err := c.end(); err != nil {
				return err
			}
			return has(pixels)
		}
	}
}

// chunk is the chunk of a PNG that is being read.
type chunk struct {
	in        *walker
	sum       hash.Hash32
	kind      string
	remaining int64
}

// next reads the header of the next chunk.
func (c *chunk) next() error {
	head, err := c.in.take(8)
	if err != nil {
		return err
	}
	c.remaining, c.kind = int64(binary.BigEndian.Uint32(head)), string(head[4:])
	c.sum.Reset()
	_, _ = c.sum.Write(head[4:]) // a hash does not fail
	return nil
}

// Read reads from the rest of the chunk.
func (c *chunk) Read(p []byte) (int, error) {
	if c.remaining == 0 {
		return 0, io.EOF
	}
	n, err := c.in.in.Read(p[:min(int64(len(p)), c.remaining)])
	c.remaining -= int64(n)
	_, _ = c.sum.Write(p[:n]) // a hash does not fail
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// end skips the rest of the chunk and verifies its checksum.
func (c *chunk) end() error {
	if _, err := io.Copy(io.Discard, c); err != nil {
		return err
	}
	tail, err := c.in.take(4)
	if err != nil {
		return err
	}
	if critical := c.kind[0]&0x20 == 0; critical && binary.BigEndian.Uint32(tail) != c.sum.Sum32() {
		return fmt.Errorf("the checksum of %q is wrong", c.kind)
	}
	return nil
}

func (c *chunk) advance() error {
	if err := c.end(); err != nil {
		return err
	}
	return c.next()
}

// pixels reads consecutive IDAT chunks as one stream. When it ends, the chunk after them has begun.
type pixels struct{ *chunk }

func (p pixels) Read(b []byte) (int, error) {
	for p.remaining == 0 && p.kind == "IDAT" {
		if err := p.advance(); err != nil {
			return 0, err
		}
	}
	if p.kind != "IDAT" {
		return 0, io.EOF
	}
	return p.chunk.Read(b)
}

// inflate reads all pixels and keeps none. Their stream must be valid, must hold as many bytes as the header says, and
// must name an existing filter for each row. Decoders ignore further bytes, so they are not inflated. A wrong checksum
// of a chunk takes precedence over the errors that follow from it.
func (c *chunk) inflate(all []pass) error {
	var bad error
	if size := inflated(all); size > 0 && size <= maxInflated {
		bad = c.decompress(all, size)
	}
	if _, err := io.Copy(io.Discard, pixels{c}); err != nil {
		return err
	}
	return bad
}

func (c *chunk) decompress(all []pass, size int64) error {
	z, err := zlib.NewReader(pixels{c})
	if err != nil {
		return err
	}
	n, err := io.Copy(&filters{pending: all}, io.LimitReader(z, size+1))
	if err == nil && n < size {
		err = fmt.Errorf("it has %d bytes of pixels, and %d are missing", n, size-n)
	}
	return err
}

// adam7 holds the starts and steps of the passes of an interlaced PNG. W3C PNG 3rd edition, §8.
var adam7 = [7]struct{ x, y, dx, dy int64 }{
	{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2},
}

// pass is one pass over the pixels: the bytes of a row, the first of which is the filter, and the rows.
type pass struct{ row, rows int64 }

// inflated returns the number of bytes of the pixels.
func inflated(all []pass) (size int64) {
	for _, p := range all {
		size += p.row * p.rows
	}
	return size
}

// passes returns the passes that a header describes: none for an invalid header, and one larger
// than maxInflated, instead of an overflow, for a huge picture.
func passes(head [13]byte) (all []pass) {
	width, height := int64(binary.BigEndian.Uint32(head[:])), int64(binary.BigEndian.Uint32(head[4:]))
	samples := map[byte]int64{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[head[9]]
	bits := samples * int64(head[8])
	switch {
	case width == 0 || height == 0 || bits == 0 || head[8] > 16:
		return nil
	case width > maxInflated || height > maxInflated/width:
		return []pass{{maxInflated + 1, 1}}
	}
	add := func(w, h int64) {
		if w > 0 && h > 0 {
			all = append(all, pass{(w*bits+7)/8 + 1, h})
		}
	}
	if head[12] == 0 {
		add(width, height)
		return all
	}
	for _, p := range adam7 {
		add((width-p.x+p.dx-1)/p.dx, (height-p.y+p.dy-1)/p.dy)
	}
	return all
}

// maxFilter is the highest filter type of a row. W3C PNG 3rd edition, §9.
const maxFilter = 4

// filters checks the filters of the rows that are written to it.
type filters struct {
	pending []pass // passes with rows that have yet to begin
	next    int64  // bytes until the next row begins
}

func (f *filters) Write(b []byte) (int, error) {
	n := len(b)
	for len(f.pending) > 0 && int64(len(b)) > f.next {
		b = b[f.next:]
		if b[0] > maxFilter {
			return 0, fmt.Errorf("a row has filter %d, which does not exist", b[0])
		}
		f.next = f.pending[0].row
		if f.pending[0].rows--; f.pending[0].rows == 0 {
			f.pending = f.pending[1:]
		}
	}
	f.next -= int64(len(b))
	return n, nil
}
