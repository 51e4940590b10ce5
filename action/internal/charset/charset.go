// Package charset reads text in the common encodings of files: UTF-8 with or without a byte order mark, UTF-16, and
// Windows-1252 for bytes that are not UTF-8. It has no errors of its own and returns those of the underlying reader. It
// imports golang.org/x/text.
package charset

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// Reader returns valid UTF-8 for any input, in about 64 KiB of memory.
type Reader struct {
	src      *bufio.Reader
	utf16    io.Reader // set for UTF-16
	repaired int
	pending  []byte // encoded, not yet returned
}

// NewReader returns a [Reader] of r.
func NewReader(r io.Reader) *Reader {
	u := &Reader{src: bufio.NewReaderSize(r, 64<<10)}
	head, _ := u.src.Peek(256) // fewer bytes if the file is shorter
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		_, _ = u.src.Discard(3) // just peeked
	} else if order, ok := isUTF16(head); ok {
		u.utf16 = unicode.UTF16(order, unicode.UseBOM).NewDecoder().Reader(u.src)
	}
	return u
}

// isUTF16 recognises UTF-16 by its byte order mark, or because every second byte of Latin text is zero.
func isUTF16(head []byte) (unicode.Endianness, bool) {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return unicode.LittleEndian, true // or what the mark says
	}
	if len(head) < 4 {
		return unicode.LittleEndian, false
	}
	var zeros [2]int
	for i, c := range head {
		if c == 0 {
			zeros[i%2]++
		}
	}
	half := len(head) / 2
	if zeros[0]*10 >= half*7 && zeros[1]*10 < half {
		return unicode.BigEndian, true
	}
	return unicode.LittleEndian, zeros[1]*10 >= half*7 && zeros[0]*10 < half
}

// Repaired returns the number of bytes so far that were not UTF-8 and were read as Windows-1252.
func (u *Reader) Repaired() int { return u.repaired }

// Read implements [io.Reader].
func (u *Reader) Read(b []byte) (int, error) {
	if len(u.pending) > 0 {
		n := copy(b, u.pending)
		u.pending = u.pending[n:]
		return n, nil
	}
	if len(b) == 0 {
		return 0, nil
	}
	if u.utf16 != nil {
		return u.utf16.Read(b)
	}
	if _, err := u.src.Peek(1); err != nil {
		return 0, err
	}
	chunk, _ := u.src.Peek(min(u.src.Buffered(), len(b))) // buffered, so no error
	if n := validPrefix(chunk); n > 0 {
		copy(b, chunk[:n])
		_, _ = u.src.Discard(n) // just peeked
		return n, nil
	}
	first := chunk[0]
	r, size, err := u.src.ReadRune()
	if err != nil {
		return 0, err
	}
	if r == utf8.RuneError && size == 1 {
		u.repaired++
		r = charmap.Windows1252.DecodeByte(first)
	}
	u.pending = utf8.AppendRune(u.pending[:0], r)
	return u.Read(b)
}

// validPrefix returns the number of leading bytes of b that are complete valid characters.
func validPrefix(b []byte) int {
	if utf8.Valid(b) {
		return len(b)
	}
	n := 0
	for n < len(b) {
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// Binary reports whether the first bytes of a file are not text in any of these encodings.
func Binary(head []byte) bool {
	if _, ok := isUTF16(head); ok {
		return false
	}
	control := 0
	for _, c := range head {
		if c == 0 {
			return true
		}
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b {
			control++
		}
	}
	return control*20 > len(head)
}
