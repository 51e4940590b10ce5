package probe

import (
	"encoding/binary"

	"atelier/media"
)

// Bit rates in kbit/s of layer III, and sample rates in Hz, by header index (ISO/IEC 11172-3 and 13818-3).
var (
	bitRates1   = [16]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0}
	bitRates2   = [16]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0}
	sampleRates = [3]int{44_100, 48_000, 32_000}
)

// walkFrames is the maximum number of frames that are measured; the rest is extrapolated.
const walkFrames = 1 << 14

// frame is one MPEG audio frame header of layer III.
type frame struct {
	size    int // bytes, header included
	samples int
	rate    int // Hz
	side    int // bytes of side information
}

// parseFrame parses the four bytes of a frame header and reports whether every field is valid.
func parseFrame(b []byte) (frame, bool) {
	if len(b) < 4 || b[0] != 0xff || b[1]&0xe0 != 0xe0 {
		return frame{}, false
	}
	version, layer := b[1]>>3&3, b[1]>>1&3 // version 3 = MPEG-1, 2 = MPEG-2, 0 = MPEG-2.5
	rateIndex, bitIndex := b[2]>>2&3, b[2]>>4
	if version == 1 || layer != 1 || rateIndex == 3 || b[3]&3 == 2 {
		return frame{}, false
	}
	f := frame{rate: sampleRates[rateIndex], samples: 1152, side: 32}
	bitRate, mono := bitRates1[bitIndex], b[3]>>6 == 3
	if mono {
		f.side = 17
	}
	if version != 3 {
		bitRate, f.samples, f.rate, f.side = bitRates2[bitIndex], 576, f.rate/2, 17
		if mono {
			f.side = 9
		}
		if version == 0 {
			f.rate /= 2
		}
	}
	if bitRate == 0 {
		return frame{}, false
	}
	f.size = f.samples/8*bitRate*1000/f.rate + int(b[2]>>1&1)
	return f, true
}

// likelyMP3 reports whether a frame header at the start is followed by another one where the next
// frame should begin. It also returns true if the file ends before that or begins with an ID3 tag.
func likelyMP3(s *source) bool {
	f, ok := parseFrame(s.span(0, 4))
	if !ok {
		return true // an ID3 tag
	}
	next := s.span(int64(f.size), 4)
	if len(next) < 4 {
		return true
	}
	_, ok = parseFrame(next)
	return ok
}

// readMP3 takes the frame count from a Xing, Info or VBRI header. Without one it walks the frames
// and, in long files, extrapolates from the frames that it measured.
func readMP3(s *source, m *media.Facts) {
	start := int64(0)
	if b := s.whole(0, 10); b != nil && string(b[:3]) == "ID3" { // an ID3v2 tag: its size is four groups of 7 bits
		start = int64(b[6]&0x7f)<<21 | int64(b[7]&0x7f)<<14 | int64(b[8]&0x7f)<<7 | int64(b[9]&0x7f)
		start += 10
		if b[5]&0x10 != 0 { // footer
			start += 10
		}
	}
	for range windowSize { // padding between tag and audio
		if _, ok := parseFrame(s.span(start, 4)); ok {
			break
		}
		start++
	}
	f, ok := parseFrame(s.span(start, 4))
	if !ok {
		if string(s.span(start, 4)) == "fLaC" {
			m.MIMEType = typeFLAC
		}
		return
	}
	if n := vbrFrames(s, start, f); n > 0 {
		m.DurationSeconds = ratio(n*uint64(f.samples), uint64(f.rate)) // #nosec G115 -- small positive numbers.
		return
	}
	if !s.headOnly {
		m.DurationSeconds = walkMP3(s, start)
	}
}

// vbrFrames returns the frame count that an encoder stored in the first frame, or 0 if there is none.
func vbrFrames(s *source, start int64, f frame) uint64 {
	b := s.whole(start+4+int64(f.side), 12)
	if b != nil && (string(b[:4]) == "Xing" || string(b[:4]) == "Info") && b[7]&1 == 1 {
		return uint64(binary.BigEndian.Uint32(b[8:]))
	}
	b = s.whole(start+4+32, 18)
	if b != nil && string(b[:4]) == "VBRI" {
		return uint64(binary.BigEndian.Uint32(b[14:]))
	}
	return 0
}

// walkMP3 returns the total duration of the frames in seconds.
func walkMP3(s *source, start int64) float64 {
	off, seconds := start, 0.0
	for range walkFrames {
		f, ok := parseFrame(s.span(off, 4))
		if !ok {
			return seconds
		}
		seconds += float64(f.samples) / float64(f.rate)
		off += int64(f.size)
	}
	return seconds * float64(s.size-start) / float64(off-start)
}
