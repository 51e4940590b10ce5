package table

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"

	"atelier/media"
)

// spool is records that were written to a temporary file, because reading them from their
// own format more than once is slow.
type spool struct {
	path   string
	as     style
	remark []string
}

var _ source = (*spool)(nil)

func (s *spool) style() style    { return s.as }
func (s *spool) notes() []string { return s.remark }

// newSpool writes the records that write gives into a file of the folder dir.
func newSpool(dir string, as style, write func(add func([]cell) error) error) (_ *spool, err error) {
	f, err := os.CreateTemp(dir, "records-")
	if err != nil {
		return nil, media.Errorf(media.CodeInternal, "create a file for records: %w", err)
	}
	s := &spool{path: f.Name(), as: as}
	w := bufio.NewWriterSize(f, 64<<10)
	err = write(func(record []cell) error { return writeRecord(w, record) })
	if err == nil {
		err = w.Flush()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

func (s *spool) remove() { _ = os.Remove(s.path) } // the folder goes anyway

// writeRecord writes the number of cells, and of each its length and whether it is exact.
func writeRecord(w *bufio.Writer, record []cell) error {
	b := binary.AppendUvarint(w.AvailableBuffer(), uint64(len(record)))
	if _, err := w.Write(b); err != nil {
		return err
	}
	for _, c := range record {
		head := uint64(len(c.text)) << 1
		if c.exact {
			head |= 1
		}
		if _, err := w.Write(binary.AppendUvarint(w.AvailableBuffer(), head)); err != nil {
			return err
		}
		if _, err := w.Write(c.text); err != nil {
			return err
		}
	}
	return nil
}

func (s *spool) each(ctx context.Context, fn func([]cell) error) error {
	f, err := os.Open(s.path)
	if err != nil {
		return media.Errorf(media.CodeInternal, "read records: %w", err)
	}
	defer func() { _ = f.Close() }() // read only
	r := bufio.NewReaderSize(f, 64<<10)
	var record []cell
	var text []byte
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		record, text, err = readRecord(r, record[:0], text[:0])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return media.Errorf(media.CodeInternal, "read records: %w", err)
		}
		if err := fn(record); err != nil {
			return err
		}
	}
}

// readRecord reads what writeRecord wrote; the cells lie in text.
func readRecord(r *bufio.Reader, record []cell, text []byte) ([]cell, []byte, error) {
	width, err := binary.ReadUvarint(r)
	if err != nil {
		return record, text, err
	}
	ends := make([]int, 0, 64)
	for range width {
		head, err := binary.ReadUvarint(r)
		if err != nil {
			return record, text, err
		}
		from, n := len(text), int(head>>1)
		for cap(text)-from < n {
			text = append(text[:cap(text)], 0)
		}
		text = text[:from+n]
		if _, err := io.ReadFull(r, text[from:]); err != nil {
			return record, text, err
		}
		record = append(record, cell{exact: head&1 == 1})
		ends = append(ends, len(text))
	}
	from := 0
	for i, end := range ends {
		record[i].text = text[from:end]
		from = end
	}
	return record, text, nil
}
