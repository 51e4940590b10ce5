package probe

import (
	"encoding/binary"

	"atelier/media"
)

// readWAV reads the byte rate from fmt and the length from data. If a streamed file has 0 or all
// ones as its length, the remaining bytes are counted.
func readWAV(s *source, f *media.Facts) {
	var rate uint32
	for off := int64(12); ; {
		h := s.whole(off, 8)
		if h == nil {
			return
		}
		kind, n := string(h[:4]), int64(binary.LittleEndian.Uint32(h[4:]))
		switch kind {
		case "fmt ":
			if b := s.whole(off+8, 16); b != nil {
				rate = binary.LittleEndian.Uint32(b[8:])
			}
		case "data":
			remaining := s.size - off - 8
			if !s.headOnly && (n == 0 || n > remaining) {
				n = remaining
			}
			if n != 1<<32-1 {
				f.DurationSeconds = ratio(uint64(max(n, 0)), uint64(rate))
			}
			return
		}
		off += 8 + n + n&1
	}
}

// readFLAC reads STREAMINFO, the first metadata block (RFC 9639, §8.2).
func readFLAC(s *source, f *media.Facts) {
	b := s.whole(4, 4+18)
	if b == nil || b[0]&0x7f != 0 {
		return
	}
	v := binary.BigEndian.Uint64(b[4+10:]) // rate 20 bits, channels 3, depth 5, samples 36
	f.DurationSeconds = ratio(v&(1<<36-1), v>>44)
}
