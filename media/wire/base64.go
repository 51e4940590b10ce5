package wire

import (
	"github.com/emmansun/base64"
)

// This file is the only one that knows which base64 implementation is used.

// decodeRaw decodes unpadded base64 of one alphabet. At a byte outside the alphabet, it returns the number of bytes
// that the complete groups of four before it decode to.
func decodeRaw(dst, src []byte, url bool) (int, error) {
	if url {
		return base64.RawURLEncoding.Decode(dst, src)
	}
	return base64.RawStdEncoding.Decode(dst, src)
}

// encodeTo encodes src in the variant and returns the number of characters. dst needs room for (len(src)+2)/3*4
// characters.
func encodeTo(dst, src []byte, v Variant) int {
	n := base64.RawStdEncoding.EncodedLen(len(src))
	if v.url() {
		base64.RawURLEncoding.Encode(dst[:n], src)
	} else {
		base64.RawStdEncoding.Encode(dst[:n], src)
	}
	for ; v.padded() && n%4 != 0; n++ {
		dst[n] = '='
	}
	return n
}

const (
	isBase64  = 1 << iota
	isStdOnly // + and /
	isURLOnly // - and _
)

// classes maps each byte to its classes; 0 means that the byte is not base64.
var classes = makeClasses()

func makeClasses() (t [256]byte) {
	set := func(from, to, class byte) {
		for c := int(from); c <= int(to); c++ {
			t[c] = isBase64 | class
		}
	}
	set('0', '9', 0)
	set('a', 'z', 0)
	set('A', 'Z', 0)
	set('+', '+', isStdOnly)
	set('/', '/', isStdOnly)
	set('-', '-', isURLOnly)
	set('_', '_', isURLOnly)
	return t
}
