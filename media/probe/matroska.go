package probe

import (
	"encoding/binary"
	"math"
	"math/bits"

	"atelier/media"
)

// The IDs of the EBML elements that are read (RFC 9559).
const (
	ebmlSegment   = 0x18538067
	ebmlInfo      = 0x1549a966
	ebmlScale     = 0x2ad7b1
	ebmlDuration  = 0x4489
	ebmlTracks    = 0x1654ae6b
	ebmlTrack     = 0xae
	ebmlKind      = 0x83
	ebmlVideo     = 0xe0
	ebmlWidth     = 0xb0
	ebmlHeight    = 0xba
	ebmlCluster   = 0x1f43b675
	ebmlTime      = 0xe7
	ebmlSimple    = 0xa3
	ebmlGroup     = 0xa0
	ebmlBlock     = 0xa1
	unknownLength = -1
)

// element is one EBML element.
type element struct {
	id   uint64
	body int64
	size int64 // unknownLength in live streams
}

// readElement reads the element header at off.
func readElement(s *source, off int64) (element, bool) {
	b := s.span(off, 12)
	if len(b) == 0 || b[0] == 0 {
		return element{}, false
	}
	n := bits.LeadingZeros8(b[0]) + 1
	if n > 4 || len(b) <= n || b[n] == 0 {
		return element{}, false
	}
	var id, size uint64
	for _, c := range b[:n] {
		id = id<<8 | uint64(c)
	}
	m := bits.LeadingZeros8(b[n]) + 1
	if len(b) < n+m {
		return element{}, false
	}
	size = uint64(b[n]) & (1<<(8-m) - 1)
	for _, c := range b[n+1 : n+m] {
		size = size<<8 | uint64(c)
	}
	e := element{id: id, body: off + int64(n+m), size: int64(size & (1<<62 - 1))} // #nosec G115 -- masked.
	if size == 1<<(7*m)-1 {
		e.size = unknownLength
	}
	return e, true
}

// film collects the values found while walking a Matroska file.
type film struct {
	scale    uint64  // nanoseconds per tick
	duration float64 // ticks
	cluster  uint64  // time of the current cluster
	last     uint64  // time of the last block
	video    bool
	audio    bool
}

// readMatroska walks the elements as one flat sequence: it enters the containers of interest and
// skips everything else. This also handles live streams, whose lengths are unknown.
func readMatroska(s *source, f *media.Facts) {
	m := film{scale: 1_000_000}
	first, ok := readElement(s, 0)
	if !ok || first.size == unknownLength {
		return
	}
	for off := first.body + first.size; ; {
		e, ok := readElement(s, off)
		if !ok {
			break
		}
		if e.id == ebmlCluster && (m.duration > 0 || s.headOnly) {
			break
		}
		if m.enter(s, e, f) || e.size == unknownLength {
			off = e.body
		} else {
			off = e.body + e.size // both far below 1<<63: size is masked to 62 bits
		}
	}
	if m.duration <= 0 && !s.spent {
		m.duration = float64(m.last)
	}
	f.DurationSeconds = m.duration * float64(m.scale) / 1e9
	if m.audio && !m.video && f.MIMEType == typeWebM {
		f.MIMEType = "audio/webm"
	}
}

// enter records the value of an element and reports whether the walk enters the element.
func (m *film) enter(s *source, e element, f *media.Facts) bool {
	switch e.id {
	case ebmlSegment, ebmlInfo, ebmlTracks, ebmlCluster, ebmlGroup, ebmlTrack, ebmlVideo:
		m.video = m.video || e.id == ebmlVideo
		return true
	case ebmlScale:
		m.scale = max(s.uint(e), 1)
	case ebmlDuration:
		m.duration = s.float(e)
	case ebmlKind:
		m.audio = m.audio || s.uint(e) == 2
	case ebmlWidth:
		f.Width = max(f.Width, int(s.uint(e)&math.MaxInt32)) // #nosec G115 -- masked.
	case ebmlHeight:
		f.Height = max(f.Height, int(s.uint(e)&math.MaxInt32)) // #nosec G115 -- masked.
	case ebmlTime:
		m.cluster = s.uint(e)
		m.last = max(m.last, m.cluster)
	case ebmlSimple, ebmlBlock:
		if b := s.whole(e.body, 3); b != nil && b[1] < 0x80 {
			m.last = max(m.last, m.cluster+uint64(binary.BigEndian.Uint16(b[1:])))
		}
	}
	return false
}

// uint reads an unsigned element of at most 8 bytes.
func (s *source) uint(e element) uint64 {
	if e.size < 0 || e.size > 8 {
		return 0
	}
	var v uint64
	for _, c := range s.whole(e.body, int(e.size)) {
		v = v<<8 | uint64(c)
	}
	return v
}

// float reads a float element of 4 or 8 bytes.
func (s *source) float(e element) float64 {
	switch b := s.whole(e.body, int(min(e.size, 9))); len(b) {
	case 4:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	case 8:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	}
	return 0
}
