package table

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"atelier/action/internal/charset"
)

// maxField is the maximum size of one cell, in bytes.
const maxField = 64 << 10

// maxQuoted is the maximum distance between the quotation marks of a cell, in bytes. A mark without its partner must
// neither load the whole file into memory nor make one cell of many rows.
const maxQuoted = 256 << 10

// maxCells is the maximum number of cells kept of one record: SQLite has 2,000 columns, and a query may need some of
// them. A file without line breaks must not become one record in memory.
const maxCells = 1900

// csvReader reads delimited records of any size in constant memory: quoted cells with line breaks and doubled marks,
// and any line ending. It drops cells beyond maxCells. A quotation mark without its partner is text.
type csvReader struct {
	src   *bufio.Reader
	comma byte
	buf   []byte
	ends  []int
	cells [][]byte
	// clipped counts cells that were longer than maxField.
	clipped     int
	cellClipped bool // the current cell is clipped
	cut         bool // the source is the beginning of a file, which may end within a cell
	strays      int  // quotation marks without their partner
	// width is the number of cells of the current record, kept or not; widest is the largest width so far.
	width, widest int
}

func newCSVReader(r io.Reader, comma byte) *csvReader {
	return &csvReader{src: bufio.NewReaderSize(r, maxQuoted), comma: comma}
}

// next returns the cells of the next record, valid until the next call. It skips empty lines.
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
	c.cellClipped = false
	next, err := c.src.Peek(2)
	if len(next) == 0 {
		return true, err
	}
	if string(next) == ` "` && c.comma != ' ' && c.width > 0 { // as in "Oslo", "Rome"
		_, _ = c.src.Discard(1) // just peeked
		next = next[1:]
	}
	quoted := next[0] == '"'
	if quoted && !c.closes() {
		quoted = false
		c.strays++
	}
	for quoted {
		_, _ = c.src.Discard(1) // just peeked
		if _, err := c.until(start, func(b []byte) int { return bytes.IndexByte(b, '"') }); err != nil {
			return true, err
		}
		next, _ = c.src.Peek(1) // nothing at the end of the file
		if quoted = len(next) > 0 && next[0] == '"'; quoted {
			c.keep(start, next) // a doubled mark
		}
	}
	stop, err := c.until(start, c.ending)
	if stop == '\r' {
		if next, _ := c.src.Peek(1); len(next) == 1 && next[0] == '\n' {
			_, _ = c.src.Discard(1) // just peeked
		}
	}
	return stop != c.comma || err != nil, err
}

// closes reports whether the quotation mark at the beginning of a cell has a partner at most maxQuoted bytes later, or
// may have one later in the same line or in the rest of a cut file. If there is a line break between them, the partner
// must end its cell: otherwise it opens a cell of a later row.
func (c *csvReader) closes() bool {
	for size := max(2, c.src.Buffered()); ; size = min(2*size, maxQuoted) {
		b, err := c.src.Peek(size)
		whole := err != nil || size == maxQuoted
		for at := 1; ; at += 2 { // behind a doubled mark
			i := bytes.IndexByte(b[min(at, len(b)):], '"')
			if i < 0 {
				break
			}
			at += i
			rest := b[at+1:]
			switch {
			case len(rest) > 0 && rest[0] == '"':
				continue
			case (len(rest) > 0 || whole) && !bytes.ContainsAny(b[:at], "\r\n"):
				return true
			}
			rest = bytes.TrimLeft(rest, " ")
			if len(rest) > 0 || whole {
				return len(rest) == 0 || c.ending(rest[:1]) == 0
			}
			break
		}
		if whole {
			return err != nil && c.cut || err == nil && !bytes.ContainsAny(b, "\r\n")
		}
	}
}

// ending returns the index of the delimiter or of a line ending, or -1.
func (c *csvReader) ending(b []byte) int {
	for i, x := range b {
		if x == c.comma || x == '\n' || x == '\r' {
			return i
		}
	}
	return -1
}

// until keeps the bytes before the one that find finds, and consumes that one too.
func (c *csvReader) until(start int, find func([]byte) int) (stop byte, err error) {
	for {
		window, err := c.src.Peek(max(1, c.src.Buffered()))
		if len(window) == 0 {
			return 0, err
		}
		if i := find(window); i >= 0 {
			stop = window[i]
			c.keep(start, window[:i])
			_, _ = c.src.Discard(i + 1) // just peeked
			return stop, nil
		}
		c.keep(start, window)
		_, _ = c.src.Discard(len(window)) // just peeked
	}
}

// keep appends to the cell that begins at start, up to maxField.
func (c *csvReader) keep(start int, b []byte) {
	if c.width >= maxCells {
		return
	}
	if room := maxField - (len(c.buf) - start); len(b) > room {
		if !c.cellClipped {
			c.cellClipped = true
			c.clipped++
		}
		b = b[:max(0, room)]
	}
	c.buf = append(c.buf, b...)
}

// sampleSize is the size of the part of a file that determines its delimiter, in bytes.
const sampleSize = 64 << 10

// csvSource is delimited text.
type csvSource struct {
	open  func() (io.ReadCloser, error)
	comma byte
	// skip is the number of records that configure reading: sep=;
	skip     int
	repaired int
	reader   *csvReader // of the last pass
}

var _ source = (*csvSource)(nil)

// openCSV finds the delimiter of a file: the one that splits its beginning into the most regular records. With tabs,
// the file's name promises tabs, which win if they split at all. A single column gets a comma.
func openCSV(open func() (io.ReadCloser, error), tabs bool) (*csvSource, error) {
	sample, err := sampleOf(open)
	if err != nil {
		return nil, err
	}
	s := &csvSource{open: open, comma: ','}
	best := 0
	for _, d := range []byte{',', ';', '\t', '|'} {
		score := regularity(sample, d)
		if tabs && d == '\t' && score > 0 {
			score = math.MaxInt
		}
		if score > best {
			s.comma, best = d, score
		}
	}
	if line, _, ok := bytes.Cut(sample, []byte("\n")); ok {
		if d := strings.ToLower(strings.TrimRight(string(line), "\r ")); len(d) == 5 && strings.HasPrefix(d, "sep=") {
			s.comma, s.skip = d[4], 1
		}
	}
	return s, nil
}

// sampleOf returns the beginning of a file as text.
func sampleOf(open func() (io.ReadCloser, error)) ([]byte, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // read only
	sample := make([]byte, sampleSize)
	n, err := io.ReadFull(charset.NewReader(r), sample)
	if err != nil && !isEOF(err) {
		return nil, err
	}
	return sample[:n], nil
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

func (s *csvSource) style() style { return style{comma: s.comma == ';', sure: s.comma == ','} }

func (s *csvSource) notes() (notes []string) {
	if s.repaired > 0 {
		notes = append(notes, fmt.Sprintf("the file is not UTF-8: %d bytes were read as Windows-1252", s.repaired))
	}
	if n := s.reader.strays; n > 0 {
		notes = append(notes, fmt.Sprintf("quotation marks without their partner, read as text: %d", n))
	}
	if s.reader.clipped > 0 {
		notes = append(notes, fmt.Sprintf("%d cells are longer than %d KiB and were truncated", s.reader.clipped, maxField>>10))
	}
	return append(notes, tooWide(s.reader.widest)...)
}

// tooWide describes the cells that are dropped from rows of up to widest cells.
func tooWide(widest int) []string {
	if widest <= maxCells {
		return nil
	}
	return []string{fmt.Sprintf("rows have up to %d cells; only the first %d are imported", widest, maxCells)}
}

func (s *csvSource) each(ctx context.Context, fn func([]cell) error) error {
	r, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // read only
	text := charset.NewReader(r)
	s.reader = newCSVReader(text, s.comma)
	var record []cell
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		cells, err := s.reader.next()
		if isEOF(err) {
			break
		}
		if err != nil {
			return err
		}
		if n < s.skip {
			continue
		}
		record = record[:0]
		for _, c := range cells {
			record = append(record, cell{text: bytes.TrimSpace(c)})
		}
		if err := fn(record); err != nil {
			return err
		}
	}
	s.repaired = text.Repaired()
	return nil
}

// regularity returns a score, which is high if most records have the same number of cells, above one.
func regularity(sample []byte, comma byte) int {
	r := newCSVReader(bytes.NewReader(sample), comma)
	r.cut = len(sample) >= sampleSize
	counts := map[int]int{}
	rows := 0
	for ; rows < 100; rows++ {
		cells, err := r.next()
		if err != nil {
			break
		}
		counts[len(cells)]++
	}
	if rows > 1 && r.cut {
		rows-- // the last record of a sample is incomplete
	}
	score := 0
	for width, n := range counts {
		if width > 1 {
			score = max(score, 1000*n/max(1, rows)+min(width, 50))
		}
	}
	return score
}
