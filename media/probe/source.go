package probe

import (
	"encoding/binary"
	"errors"
	"io"
)

const (
	// readBudget bounds what one probe reads, so that no file can make it hang.
	readBudget = 32 << 20
	// windowSize is what is read ahead around a small read.
	windowSize = 4 << 10
	// maxSpan is the longest single read; an OGG page is a little shorter.
	maxSpan = 66 << 10
	// maxSeconds caps lengths that headers claim (one year).
	maxSeconds = 366 * 24 * 3600
)

// source reads spans of a file through one window. After its first failure, or
// when the budget is spent, every span is empty, so parsers end.
type source struct {
	r        io.ReaderAt
	size     int64
	headOnly bool // r is only the beginning of the file: its size says nothing
	budget   int64
	err      error // first failure of r other than the end
	window   []byte
	at       int64 // offset of window
	buf      []byte
}

// span returns n bytes at off, or fewer where the file ends. The bytes are valid
// until the next call.
func (s *source) span(off int64, n int) []byte {
	if off < 0 || off >= s.size || n <= 0 || s.err != nil {
		return nil
	}
	n = int(min(int64(min(n, maxSpan)), s.size-off))
	if off < s.at || off+int64(n) > s.at+int64(len(s.window)) {
		s.fill(off, max(n, windowSize))
	}
	lo := off - s.at
	if lo < 0 || lo >= int64(len(s.window)) {
		return nil
	}
	return s.window[lo:min(lo+int64(n), int64(len(s.window)))]
}

// fill reads n bytes at off into the window.
func (s *source) fill(off int64, n int) {
	n = int(min(int64(n), s.size-off))
	s.window, s.at = s.window[:0], off
	if s.budget < int64(n) {
		return
	}
	if cap(s.buf) < n {
		s.buf = make([]byte, max(n, windowSize))
	}
	got, err := s.r.ReadAt(s.buf[:n], off)
	s.budget -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) && got < n {
		s.err = err
		return
	}
	s.window = s.buf[:max(got, 0)]
}

// whole returns exactly n bytes at off, or nil.
func (s *source) whole(off int64, n int) []byte {
	b := s.span(off, n)
	if len(b) < n {
		return nil
	}
	return b
}

// be32 reads a big-endian number; false where the file ends before.
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

// ratio is a/b seconds, 0 where b is 0.
func ratio(a, b uint64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
