package file

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
)

// sampleSize is how much of a table decides its delimiter and header.
const sampleSize = 64 << 10

// previewRows is how many records decide about header, dates and preamble.
const previewRows = 200

// rows is a table that can be streamed more than once.
type rows interface {
	// header names the columns.
	header() []string
	// each calls fn with the cells of every record; cells are valid during the call.
	// It ends early with ctx or with fn's error.
	each(ctx context.Context, fn func(cells [][]byte) error) error
	// dialect is how values are written.
	dialect() dialect
	// warnings tell what was repaired, complete after each.
	warnings() []string
}

// csvTable is delimited text.
type csvTable struct {
	open    func() (io.ReadCloser, error)
	comma   byte
	names   []string
	skip    int // records before the data: preamble and header
	style   dialect
	notes   []string
	repairs string // set by the last each
	ragged  int
	clipped int
	widest  int
}

var _ rows = (*csvTable)(nil)

func (t *csvTable) header() []string { return t.names }
func (t *csvTable) dialect() dialect { return t.style }

func (t *csvTable) warnings() []string {
	notes := slices.Clone(t.notes)
	if t.repairs != "" {
		notes = append(notes, t.repairs)
	}
	if t.ragged > 0 {
		notes = append(notes, fmt.Sprintf("%d rows have more or fewer cells than the header; missing cells are empty, extra ones are left out", t.ragged))
	}
	if t.clipped > 0 {
		notes = append(notes, fmt.Sprintf("%d cells are longer than %d KiB and were cut; a quotation mark may not be closed", t.clipped, maxField>>10))
	}
	if t.widest > maxCells {
		notes = append(notes, fmt.Sprintf("rows have up to %d cells; those beyond the first %d are left out", t.widest, maxCells))
	}
	return notes
}

// openCSV looks at the beginning of a table.
func openCSV(open func() (io.ReadCloser, error), comma byte) (*csvTable, error) {
	t := &csvTable{open: open, comma: comma}
	r, err := open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // read only
	sample := make([]byte, sampleSize)
	n, err := io.ReadFull(newUTF8Reader(r), sample)
	if err != nil && !isEOF(err) {
		return nil, err
	}
	sample = sample[:n]
	if t.comma == 0 {
		t.comma = sniffDelimiter(sample)
	}
	t.style.decimalComma = t.comma == ';'
	t.settle(preview(sample, t.comma))
	return t, nil
}

// settle finds preamble, header and date style.
func (t *csvTable) settle(sample [][]string) {
	width := usualWidth(sample)
	for t.skip < len(sample)-1 && t.skip < 40 && isPreamble(sample[t.skip], width) {
		t.skip++
	}
	if t.skip > 0 {
		t.notes = append(t.notes, fmt.Sprintf("%d lines before the table were passed over", t.skip))
	}
	rest := sample[t.skip:]
	if len(rest) == 0 {
		return
	}
	t.style.dayFirst = dayFirst(rest, t.style)
	if isHeader(rest, t.style) {
		t.skip++
		t.names = columnNames(rest[0])
		return
	}
	t.names = columnNames(make([]string, width))
	t.notes = append(t.notes, "the table has no header row; columns are numbered")
}

// each streams the data records, padded or cut to the header's width.
func (t *csvTable) each(ctx context.Context, fn func([][]byte) error) error {
	r, err := t.open()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // read only
	text := newUTF8Reader(r)
	reader := newCSVReader(text, t.comma)
	t.ragged = 0
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		cells, err := reader.next()
		if isEOF(err) {
			break
		}
		if err != nil {
			return err
		}
		if n < t.skip {
			continue
		}
		if err := fn(t.fit(cells)); err != nil {
			return err
		}
	}
	t.clipped, t.widest = reader.clipped, reader.widest
	if text.repaired > 0 {
		t.repairs = repairNote(text.repaired)
	}
	return nil
}

// fit gives a record the header's width and trims its cells.
func (t *csvTable) fit(cells [][]byte) [][]byte {
	if len(cells) != len(t.names) && (len(cells) < len(t.names) || !blank(cells[len(t.names):])) {
		t.ragged++
	}
	for len(cells) < len(t.names) {
		cells = append(cells, nil)
	}
	cells = cells[:len(t.names)]
	for i := range cells {
		cells[i] = bytes.TrimSpace(cells[i])
	}
	return cells
}

func blank(cells [][]byte) bool {
	for _, c := range cells {
		if len(bytes.TrimSpace(c)) > 0 {
			return false
		}
	}
	return true
}

func repairNote(n int) string {
	return fmt.Sprintf("the file is not valid UTF-8: %d bytes were read as Latin-1", n)
}
