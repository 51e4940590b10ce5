package probe

import (
	"bytes"
	"encoding/binary"

	"atelier/media"
)

// readOGG reads the sample rate of the codec from the first page and the duration from the granule
// position of the last page of the same stream. RFC 3533, RFC 7845.
func readOGG(s *source, f *media.Facts) {
	b := s.span(0, 27+255+64)
	if len(b) < 28 {
		return
	}
	serial := binary.LittleEndian.Uint32(b[14:])
	body := 27 + int(b[26])
	if len(b) < body+20 {
		return
	}
	rate, skip := oggCodec(b[body:], f)
	if rate == 0 || s.headOnly {
		return
	}
	if last, ok := lastGranule(s, serial); ok && last > skip {
		f.DurationSeconds = ratio(last-skip, rate)
	}
}

// oggCodec returns the samples per second and the number of samples to skip at the start.
func oggCodec(p []byte, f *media.Facts) (rate, skip uint64) {
	switch {
	case bytes.HasPrefix(p, []byte("\x01vorbis")):
		return uint64(binary.LittleEndian.Uint32(p[12:])), 0
	case bytes.HasPrefix(p, []byte("OpusHead")):
		return 48_000, uint64(binary.LittleEndian.Uint16(p[10:]))
	case bytes.HasPrefix(p, []byte("\x7fFLAC")) && len(p) >= 13+4+18:
		return binary.BigEndian.Uint64(p[13+4+10:]) >> 44, 0
	case bytes.HasPrefix(p, []byte("Speex   ")) && len(p) >= 40:
		return uint64(binary.LittleEndian.Uint32(p[36:])), 0
	case bytes.HasPrefix(p, []byte("\x80theora")):
		f.MIMEType = "video/ogg"
		f.Width = int(binary.BigEndian.Uint32(p[13:]) & 0xffffff)
		f.Height = int(binary.BigEndian.Uint32(p[16:]) & 0xffffff)
	}
	return 0, 0
}

// lastGranule searches backwards from the end of the file for a page of the stream that has a
// position. The last page is at most 65,307 bytes long.
func lastGranule(s *source, serial uint32) (uint64, bool) {
	tail := s.span(max(0, s.size-maxSpan), maxSpan)
	for len(tail) > 0 {
		i := bytes.LastIndex(tail, []byte("OggS\x00"))
		if i < 0 {
			return 0, false
		}
		page := tail[i:]
		if len(page) >= 18 && binary.LittleEndian.Uint32(page[14:]) == serial {
			if g := binary.LittleEndian.Uint64(page[6:]); g>>63 == 0 {
				return g, true
			}
		}
		tail = tail[:i]
	}
	return 0, false
}
