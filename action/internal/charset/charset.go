// Package charset reads text in the encodings that files have: UTF-8 with or without
// a byte order mark, UTF-16, and Windows-1252 for bytes that are not UTF-8. It has no
// errors of its own; those of the reader below pass. It imports golang.org/x/text.
package charset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Reader returns valid UTF-8 for any input, in about 64 KiB of memory.
type Reader struct {
	src      *bufio.Reader
	order    binary.ByteOrder // set for UTF-16
	repaired int
	pending  []byte // encoded, not yet given
}

// NewReader reads r as text.
func NewReader(r io.Reader) *Reader {
	u := &Reader{src: bufio.NewReaderSize(r, 64<<10)}
	head, _ := u.src.Peek(256) // a shorter file gives what it has
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, _ = u.src.Discard(3) // just peeked
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		u.order = binary.LittleEndian
		_, _ = u.src.Discard(2) // just peeked
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		u.order = binary.BigEndian
		_, _ = u.src.Discard(2) // just peeked
	default:
		u.order = unmarked(head)
	}
	return u
}

// unmarked finds UTF-16 without a byte order mark: every second byte of Latin text is zero.
func unmarked(head []byte) binary.ByteOrder {
	if len(head) < 4 {
		return nil
	}
	var zeros [2]int
	for i, c := range head {
		if c == 0 {
			zeros[i%2]++
		}
	}
	half := len(head) / 2
	switch {
	case zeros[1]*10 >= half*7 && zeros[0]*10 < half:
		return binary.LittleEndian
	case zeros[0]*10 >= half*7 && zeros[1]*10 < half:
		return binary.BigEndian
	}
	return nil
}

// Repaired is how many bytes so far were no UTF-8 and were read as Windows-1252.
func (u *Reader) Repaired() int { return u.repaired }

// Read fills b.
func (u *Reader) Read(b []byte) (int, error) {
	if len(u.pending) > 0 {
		n := copy(b, u.pending)
		u.pending = u.pending[n:]
		return n, nil
	}
	if len(b) == 0 {
		return 0, nil
	}
	if u.order != nil {
		return u.read16(b)
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

// read16 decodes UTF-16.
func (u *Reader) read16(b []byte) (int, error) {
	u.pending = u.pending[:0]
	for len(u.pending) < 4096 {
		r, err := u.unit()
		if err != nil && len(u.pending) > 0 {
			break
		}
		if err != nil {
			return 0, err
		}
		if utf16.IsSurrogate(r) {
			second, err := u.unit()
			if r = utf16.DecodeRune(r, second); err != nil || r == utf8.RuneError {
				u.repaired++
			}
		}
		u.pending = utf8.AppendRune(u.pending, r)
	}
	n := copy(b, u.pending)
	u.pending = u.pending[n:]
	return n, nil
}

func (u *Reader) unit() (rune, error) {
	var two [2]byte
	if _, err := io.ReadFull(u.src, two[:]); err != nil {
		return utf8.RuneError, io.EOF
	}
	return rune(u.order.Uint16(two[:])), nil
}

// validPrefix is how many leading bytes of b are whole valid characters.
func validPrefix(b []byte) int {
	if utf8.Valid(b) {
		return len(b)
	}
	n := 0
	for n < len(b) {
		if b[n] < utf8.RuneSelf {
			n++
			continue
		}
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && size == 1 {
			return n
		}
		n += size
	}
	return n
}

// Binary reports whether the first bytes of a file are no text in any encoding read here.
func Binary(head []byte) bool {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) || unmarked(head) != nil {
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
