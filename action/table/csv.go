package table

import (
	"bufio"
	"bytes"
	"io"
)

// maxField is how much of one cell is kept, in bytes; a quotation mark that is
// never closed must not swallow the file into memory.
const maxField = 64 << 10

// maxCells is how many cells of one record are kept: SQLite has 2,000 columns, of which a
// query may need some. A file without line breaks must not become one record in memory.
const maxCells = 1900

// csvReader reads delimited records of any size in fixed memory: quoted cells with
// line breaks and doubled marks, any line ending. Cells beyond maxCells are passed over.
type csvReader struct {
	src   *bufio.Reader
	comma byte
	buf   []byte
	ends  []int
	cells [][]byte
	// clipped counts cells that were longer than maxField.
	clipped int
	over    bool // the current cell is clipped
	// width is how many cells the current record has, kept or not; widest is the most
	// that any had.
	width, widest int
}

func newCSVReader(r io.Reader, comma byte) *csvReader {
	return &csvReader{src: bufio.NewReaderSize(r, 64<<10), comma: comma}
}

// next returns the cells of the next record, valid until the following call. Lines
// without any character are passed over.
func (c *csvReader) next() ([][]byte, error) {
	for {
		err := c.record()
		if len(c.ends) == 1 && c.ends[0] == 0 && err == nil {
			continue // an empty line
		}
		if err != nil && (len(c.ends) == 0 || len(c.ends) == 1 && c.ends[0] == 0) {
			return nil, err
		}
		c.cells = c.cells[:0]
		from := 0
		for _, end := range c.ends {
			c.cells = append(c.cells, c.buf[from:end])
			from = end
		}
		return c.cells, nil
	}
}

// record reads one record into buf and ends.
func (c *csvReader) record() error {
	c.buf, c.ends, c.width = c.buf[:0], c.ends[:0], 0
	for {
		last, err := c.field()
		if c.width++; c.width <= maxCells {
			c.ends = append(c.ends, len(c.buf))
		}
		if last || err != nil {
			c.widest = max(c.widest, c.width)
			return err
		}
	}
}

// field reads one cell and reports whether the record ends with it.
func (c *csvReader) field() (last bool, err error) {
	start := len(c.buf)
	c.over = false
	first, err := c.src.ReadByte()
	if err != nil {
		return true, err
	}
	if first == '"' {
		if err := c.quoted(start); err != nil {
			return true, err
		}
	} else if err := c.src.UnreadByte(); err != nil {
		return true, err
	}
	return c.plain(start)
}

// plain reads up to the delimiter or the end of the line.
func (c *csvReader) plain(start int) (last bool, err error) {
	for {
		window, err := c.src.Peek(max(1, c.src.Buffered()))
		if len(window) == 0 {
			return true, err
		}
		i := indexEither(window, c.comma)
		if i < 0 {
			c.keep(start, window)
			_, _ = c.src.Discard(len(window)) // just peeked
			continue
		}
		c.keep(start, window[:i])
		stop := window[i]
		_, _ = c.src.Discard(i + 1) // just peeked
		if stop == c.comma {
			return false, nil
		}
		if stop == '\r' {
			if next, _ := c.src.Peek(1); len(next) == 1 && next[0] == '\n' {
				_, _ = c.src.Discard(1) // just peeked
			}
		}
		return true, nil
	}
}

// indexEither finds the delimiter or a line ending.
func indexEither(b []byte, comma byte) int {
	for i, c := range b {
		if c == comma || c == '\n' || c == '\r' {
			return i
		}
	}
	return -1
}

// quoted reads up to the closing quotation mark.
func (c *csvReader) quoted(start int) error {
	for {
		window, err := c.src.Peek(max(1, c.src.Buffered()))
		if len(window) == 0 {
			return err
		}
		i := bytes.IndexByte(window, '"')
		if i < 0 {
			c.keep(start, window)
			_, _ = c.src.Discard(len(window)) // just peeked
			continue
		}
		c.keep(start, window[:i])
		_, _ = c.src.Discard(i + 1) // just peeked
		next, _ := c.src.Peek(1)    // nothing at the end of the file
		if len(next) == 0 || next[0] != '"' {
			return nil
		}
		c.keep(start, next)
		_, _ = c.src.Discard(1) // just peeked
	}
}

// keep appends to the cell that begins at start, up to maxField.
func (c *csvReader) keep(start int, b []byte) {
	if c.width >= maxCells {
		return
	}
	if room := maxField - (len(c.buf) - start); len(b) > room {
		if !c.over {
			c.over = true
			c.clipped++
		}
		b = b[:max(0, room)]
	}
	c.buf = append(c.buf, b...)
}
