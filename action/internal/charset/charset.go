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
	"golang.org/x/text/transform"
)

// Reader returns valid UTF-8 for any input, in about 64 KiB of memory.
type Reader struct {
	io.Reader
	repair repair // unused for UTF-16
}

// NewReader returns a [Reader] of r.
func NewReader(r io.Reader) *Reader {
	u, src := &Reader{}, bufio.NewReaderSize(r, 64<<10)
	head, _ := src.Peek(256) // fewer bytes if the file is shorter
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		_, _ = src.Discard(3) // just peeked
	} else if order, ok := isUTF16(head); ok {
		u.Reader = unicode.UTF16(order, unicode.UseBOM).NewDecoder().Reader(src)
		return u
	}
	u.Reader = transform.NewReader(src, &u.repair)
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
func (u *Reader) Repaired() int { return u.repair.bytes }

// repair copies UTF-8 and converts other bytes from Windows-1252.
type repair struct {
	transform.NopResetter
	bytes int
}

// Transform implements [transform.Transformer].
func (t *repair) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	if whole := src[:min(len(src), len(dst))]; utf8.Valid(whole) { // as most text, which is copied at once
		nDst = copy(dst, whole)
		nSrc = nDst
	}
	for nSrc < len(src) {
		r, size := utf8.DecodeRune(src[nSrc:])
		bad := r == utf8.RuneError && size == 1
		if bad && !atEOF && !utf8.FullRune(src[nSrc:]) {
			return nDst, nSrc, transform.ErrShortSrc
		}
		if bad {
			r = charmap.Windows1252.DecodeByte(src[nSrc])
		}
		if nDst+utf8.RuneLen(r) > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		if bad {
			t.bytes++
		}
		nDst += utf8.EncodeRune(dst[nDst:], r)
		nSrc += size
	}
	return nDst, nSrc, nil
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
