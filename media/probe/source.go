package probe

import (
	"encoding/binary"
	"errors"
	"io"
)

const (
	// readBudget limits the bytes that one probe reads, so that no file can make it hang.
	readBudget = 32 << 20
	// windowSize is the number of bytes that are fetched for a smaller read.
	windowSize = 4 << 10
	// maxSpan is the longest single read; an OGG page is a little shorter.
	maxSpan = 66 << 10
	// maxSeconds is the maximum duration that is accepted (one year).
	maxSeconds = 366 * 24 * 3600
)

// source reads spans of a file through one window. After the first error, or when the budget is
// spent, every span is empty, so that parsers stop.
type source struct {
	r        io.ReaderAt
	size     int64
	headOnly bool // r holds only the beginning of the file, so size is not the size of the file
	budget   int64
	spent    bool  // the budget did not suffice
	err      error // first error of r other than io.EOF
	window   []byte
	at       int64 // offset of window
	buf      []byte
}

// span returns n bytes at off, at most maxSpan, or fewer at the end of the file. The bytes are
// valid until the next call.
func (s *source) span(off int64, n int) []byte {
	if off < 0 || off >= s.size || n <= 0 || s.err != nil {
		return nil
	}
	n = int(min(int64(min(n, maxSpan)), s.size-off))
	if off < s.at || off+int64(n) > s.at+int64(len(s.window)) {
		more := int(min(int64(max(n, windowSize)), s.size-off))
		s.window, s.at = s.window[:0], off
		if s.spent = s.spent || s.budget < int64(more); s.spent {
			return nil
		}
		if cap(s.buf) < more {
			s.buf = make([]byte, max(more, windowSize))
		}
		got, err := s.r.ReadAt(s.buf[:more], off)
		s.budget -= int64(more)
		if err != nil && !errors.Is(err, io.EOF) && got < more {
			s.err = err
			return nil
		}
		s.window = s.buf[:max(got, 0)]
	}
	lo := off - s.at
	if lo < 0 || lo >= int64(len(s.window)) {
		return nil
	}
	return s.window[lo:min(lo+int64(n), int64(len(s.window)))]
}

// whole returns exactly n bytes at off, or nil.
func (s *source) whole(off int64, n int) []byte {
	b := s.span(off, n)
	if len(b) < n {
		return nil
	}
	return b
}

// be32 reads a big-endian uint32. It returns false if the file ends first.
func (s *source) be32(off int64) (uint32, bool) {
	b := s.whole(off, 4)
	if b == nil {
		return 0, false
	}
	return binary.BigEndian.Uint32(b), true
}

// sectionReader reads up to limit bytes from off through the window.
type sectionReader struct {
	s          *source
	off, limit int64
}

func (r *sectionReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b := r.s.span(r.off, int(min(int64(len(p)), r.limit, windowSize)))
	if len(b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b)
	r.off += int64(n)
	r.limit -= int64(n)
	return n, nil
}

// ratio returns a/b in seconds, or 0 if b is 0.
func ratio(a, b uint64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
