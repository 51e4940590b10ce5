package file

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// headSize is how many bytes of a file decide what it is.
const headSize = 4096

// utf8Reader gives valid UTF-8 whatever comes: a byte order mark is dropped, UTF-16
// is decoded, stray bytes are read as Latin-1 and counted. It needs 64 KiB.
type utf8Reader struct {
	src      *bufio.Reader
	order    binary.ByteOrder // set for UTF-16
	repaired int
	pending  []byte // encoded, not yet given
}

func newUTF8Reader(r io.Reader) *utf8Reader {
	u := &utf8Reader{src: bufio.NewReaderSize(r, 64<<10)}
	head, _ := u.src.Peek(3) // a shorter file gives what it has
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, _ = u.src.Discard(3) // just peeked
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		u.order = binary.LittleEndian
		_, _ = u.src.Discard(2) // just peeked
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		u.order = binary.BigEndian
		_, _ = u.src.Discard(2) // just peeked
	}
	return u
}

// Read fills b.
func (u *utf8Reader) Read(b []byte) (int, error) {
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
	r, size, err := u.src.ReadRune()
	if err != nil {
		return 0, err
	}
	if r == utf8.RuneError && size == 1 {
		u.repaired++
		if chunk[0] >= 0xA0 {
			r = rune(chunk[0])
		}
	}
	u.pending = utf8.AppendRune(nil, r)
	return u.Read(b)
}

// read16 decodes one or two UTF-16 units.
func (u *utf8Reader) read16(b []byte) (int, error) {
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

func (u *utf8Reader) unit() (rune, error) {
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

// isBinary tells bytes that are no text in any encoding read here.
func isBinary(head []byte) bool {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
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
