package probe

import (
	"bytes"
	"encoding/binary"
)

// Complete reports whether b is a complete picture or sound, from its signature to its end mark: PNG, JPEG, GIF, or a
// type that states its own size (WebP, WAV). It returns false for all other types and decodes nothing.
func Complete(b []byte) bool {
	ended, known := HasEnd(b, b, int64(len(b)))
	return ended && known
}

// HasEnd reports whether a file of size bytes ends with the end mark of its type. head and tail are
// its first and its last bytes, at least twelve of each unless the file is shorter. known is false
// for types for which this cannot be decided.
func HasEnd(head, tail []byte, size int64) (ended, known bool) {
	switch signature(head) {
	case typePNG:
		return bytes.HasSuffix(tail, []byte("IEND\xaeB`\x82")), true
	case typeJPEG:
		return bytes.HasSuffix(tail, []byte("\xff\xd9")), true
	case typeGIF:
		return bytes.HasSuffix(tail, []byte("\x00;")), true
	case typeWebP, typeWAV:
		return len(head) > 8 && int64(binary.LittleEndian.Uint32(head[4:]))+8 == size, true
	}
	return false, false
}

// HasSignature is like [Media], but rejects bytes that only begin like a frame of MP3 or AAC: eleven bits
// are not a signature if nothing else indicates media.
func HasSignature(head []byte) bool {
	return Media(head) && (head[0] != 0xff || head[1] == 0xd8)
}

// Frames reports whether b begins with two consecutive frames of MP3 or AAC.
func Frames(b []byte) bool {
	size := func(b []byte) int {
		if f, ok := parseFrame(b); ok {
			return f.size
		}
		if len(b) > 6 && b[0] == 0xff && mpegAudio(b) == typeAAC {
			return int(b[3]&3)<<11 | int(b[4])<<3 | int(b[5])>>5
		}
		return 0
	}
	n := size(b)
	return n > 6 && n < len(b) && size(b[n:]) > 6
}
