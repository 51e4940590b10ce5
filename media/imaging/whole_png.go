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

// mostInflated bounds the bytes of pixels that are looked at, to half a gibibyte: above it, a
// header is not believed so far, and the limits of pixels are another check's.
const mostInflated = 512 << 20

// png walks the chunks up to IEND. W3C PNG 3rd edition, §5. A wrong checksum of a chunk
// that decoders may omit counts for nothing.
func (w *walker) png() error {
	if err := w.skip(8); err != nil { // the signature
		return err
	}
	c := &chunk{in: w, sum: crc32.NewIEEE()}
	var all []pass // none if they are not known
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

// chunk is the part of a PNG that is being read.
type chunk struct {
	in        *walker
	sum       hash.Hash32
	kind      string
	remaining int64
}

// next begins the chunk behind the one that has ended.
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

// Read reads on in the chunk.
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

// end passes over what is left of the chunk and compares its checksum.
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

// pixels reads a run of IDAT chunks as one; at its end the chunk behind it has begun.
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

// inflate reads all pixels, and keeps none: their stream has to be good, to hold as many
// bytes as the header says, and to know the filter of each row. Decoders pass over more than that, so they are not read. A wrong
// checksum of a chunk says it better than what follows from it.
func (c *chunk) inflate(all []pass) error {
	var bad error
	if size := inflated(all); size > 0 && size <= mostInflated {
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

// adam7 are the starts and steps of the passes of an interlaced PNG. W3C PNG 3rd edition, §8.
var adam7 = [7]struct{ x, y, dx, dy int64 }{
	{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2},
}

// pass is a part of the pixels: so many rows of so many bytes, of which the first says its filter.
type pass struct{ row, rows int64 }

// inflated is how many bytes the pixels are.
func inflated(all []pass) (size int64) {
	for _, p := range all {
		size += p.row * p.rows
	}
	return size
}

// passes are the parts of the pixels of a header; none for one that means nothing, and huge
// rather than wrong for a huge one.
func passes(head [13]byte) (all []pass) {
	width, height := int64(binary.BigEndian.Uint32(head[:])), int64(binary.BigEndian.Uint32(head[4:]))
	samples := map[byte]int64{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[head[9]]
	bits := samples * int64(head[8])
	switch {
	case width == 0 || height == 0 || bits == 0 || head[8] > 16:
		return nil
	case width > mostInflated || height > mostInflated/width:
		return []pass{{mostInflated + 1, 1}}
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

// mostFilter is the highest filter of a row. W3C PNG 3rd edition, §9.
const mostFilter = 4

// filters reads the filters of the rows that are written to it.
type filters struct {
	pending []pass // what has yet to begin
	next    int64  // how many bytes on the next row begins
}

func (f *filters) Write(b []byte) (int, error) {
	n := len(b)
	for len(f.pending) > 0 && int64(len(b)) > f.next {
		b = b[f.next:]
		if b[0] > mostFilter {
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
