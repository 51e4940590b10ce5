package table

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"

	"atelier/media"
)

// spool stores records in a temporary file, because reading them repeatedly from their own format is slow.
type spool struct{ path string }

// newSpool writes the records that write adds to a file in the folder dir.
func newSpool(dir string, write func(add func([]cell) error) error) (_ *spool, err error) {
	f, err := os.CreateTemp(dir, "records-")
	if err != nil {
		return nil, media.Errorf(media.CodeInternal, "create a file for records: %w", err)
	}
	s := &spool{path: f.Name()}
	w := bufio.NewWriterSize(f, 64<<10)
	var size, b []byte
	err = write(func(record []cell) error {
		b = b[:0]
		for _, c := range record {
			head := uint64(len(c.text)) << 1
			if c.exact {
				head |= 1
			}
			b = append(binary.AppendUvarint(b, head), c.text...)
		}
		size = binary.AppendUvarint(size[:0], uint64(len(b)))
		_, _ = w.Write(size) // the next write returns the error
		_, err := w.Write(b)
		return err
	})
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

func (s *spool) remove() { _ = os.Remove(s.path) } // the folder is removed anyway

// each implements [source].
func (s *spool) each(ctx context.Context, fn func([]cell) error) error {
	f, err := os.Open(s.path)
	if err != nil {
		return media.Errorf(media.CodeInternal, "read records: %w", err)
	}
	defer func() { _ = f.Close() }() // read only
	r := bufio.NewReaderSize(f, 64<<10)
	var record []cell
	var b []byte
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		size, err := binary.ReadUvarint(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			b = slices.Grow(b[:0], int(size))[:size] //nolint:gosec // the size that was written
			_, err = io.ReadFull(r, b)
		}
		if err != nil {
			return media.Errorf(media.CodeInternal, "read records: %w", err)
		}
		record = record[:0]
		for rest := b; len(rest) > 0; {
			head, n := binary.Uvarint(rest)
			end := n + int(head>>1)
			record = append(record, cell{text: rest[n:end], exact: head&1 == 1})
			rest = rest[end:]
		}
		if err := fn(record); err != nil {
			return err
		}
	}
}
