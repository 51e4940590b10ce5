package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"atelier/action/internal/charset"
	"atelier/media/wire"
)

// cell is one value as it stands in a file.
type cell struct {
	text []byte
	// exact says that the format types it as a number, so that its point is a decimal point.
	exact bool
}

// source is a table that can be read more than once, record by record.
type source interface {
	// each calls fn with every record from the first on; the cells are valid during the
	// call. It ends early with ctx or with fn's error.
	each(ctx context.Context, fn func([]cell) error) error
	// style is what the format says about its records.
	style() style
	// notes tell what was repaired or omitted, complete after each.
	notes() []string
}

// style is what a format says about its records.
type style struct {
	// named says that the first record is the header, without doubt.
	named bool
	// comma says that ambiguous numbers have decimal commas: semicolons separate the cells.
	comma bool
	// sure says that comma is more than a guess: commas separate the cells.
	sure bool
	// loose says that records end with their last filled cell: short ones are not ragged.
	loose bool
}

// named is a source whose cells hold no media: base64 and data URLs are named before a cell is
// looked at, stored or clipped.
type named struct{ source }

// shortestMedia is the shortest cell that is looked at for media, in bytes: the smallest picture is longer.
const shortestMedia = 40

func (n named) each(ctx context.Context, fn func([]cell) error) error {
	return n.source.each(ctx, func(record []cell) error {
		for i, c := range record {
			if len(c.text) < shortestMedia {
				continue
			}
			if text := string(c.text); wire.NameMedia(text) != text {
				record[i].text = []byte(wire.NameMedia(text))
			}
		}
		return fn(record)
	})
}

// errEnough ends a reading that has seen what it needs.
var errEnough = errors.New("enough") //nolint:gochecknoglobals // a sentinel

// sampleSize is how much of a table decides its delimiter.
const sampleSize = 64 << 10

// csvSource is delimited text.
type csvSource struct {
	open  func() (io.ReadCloser, error)
	comma byte
	// skip is how many records say how to read the file: sep=;
	skip     int
	repaired int
	clipped  int
	widest   int
}

var _ source = (*csvSource)(nil)

// openCSV finds the delimiter of a file: the one that splits its beginning into the most regular records.
// tabs says that the file's name promises tabs, which win where they split at all. One column has a comma.
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
		if d := strings.TrimSpace(strings.ToLower(string(line))); len(d) == 5 && strings.HasPrefix(d, "sep=") {
			s.comma, s.skip = d[4], 1
		}
	}
	return s, nil
}

// sampleOf is the beginning of a file as text.
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
	if s.clipped > 0 {
		notes = append(notes, fmt.Sprintf("%d cells are longer than %d KiB and were truncated; a closing quotation mark may be missing", s.clipped, maxField>>10))
	}
	if s.widest > maxCells {
		notes = append(notes, fmt.Sprintf("rows have up to %d cells; only the first %d are imported", s.widest, maxCells))
	}
	return notes
}

func (s *csvSource) each(ctx context.Context, fn func([]cell) error) error {
	r, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // read only
	text := charset.NewReader(r)
	reader := newCSVReader(text, s.comma)
	var record []cell
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		cells, err := reader.next()
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
	s.repaired, s.clipped, s.widest = text.Repaired(), reader.clipped, reader.widest
	return nil
}

// regularity is high where most records have the same number of cells, above one.
func regularity(sample []byte, comma byte) int {
	r := newCSVReader(bytes.NewReader(sample), comma)
	counts := map[int]int{}
	rows := 0
	for ; rows < 100; rows++ {
		cells, err := r.next()
		if err != nil {
			break
		}
		counts[len(cells)]++
	}
	if rows > 1 && len(sample) >= sampleSize {
		rows-- // the last record of a sample is cut
	}
	score := 0
	for width, n := range counts {
		if width > 1 {
			score = max(score, 1000*n/max(1, rows)+min(width, 50))
		}
	}
	return score
}
