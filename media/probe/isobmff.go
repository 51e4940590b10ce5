package probe

import (
	"encoding/binary"
	"math"

	"atelier/media"
)

// box is one box of an ISO base media file (ISO/IEC 14496-12, §4.2).
type box struct {
	kind       string
	body, next int64 // offsets of the content and of the end of the box
}

// eachBox calls visit for the boxes from off to end until it returns false.
func eachBox(s *source, off, end int64, visit func(box) bool) {
	for off < end {
		h := s.span(off, 16)
		if len(h) < 8 || off+8 > end {
			return
		}
		b := box{kind: string(h[4:8]), body: off + 8}
		n := int64(binary.BigEndian.Uint32(h))
		switch n {
		case 0: // to the end of the container
			n = end - off
		case 1:
			if len(h) < 16 || binary.BigEndian.Uint64(h[8:]) > 1<<62 {
				return
			}
			n, b.body = int64(binary.BigEndian.Uint64(h[8:])), off+16 // #nosec G115 -- bounded above.
		}
		b.next = min(off+n, end)
		if off+n < b.body || !visit(b) {
			return
		}
		off = b.next
	}
}

// findBox follows a path of box kinds and takes the first match at each level.
func findBox(s *source, in box, path ...string) (box, bool) {
	for _, kind := range path {
		found := false
		eachBox(s, in.body, in.next, func(b box) bool {
			if b.kind == kind {
				in, found = b, true
			}
			return !found
		})
		if !found {
			return box{}, false
		}
	}
	return in, true
}

// extent returns the end of the top-level boxes: the size of the file, or 1<<62 if it is unknown.
func (s *source) extent() int64 {
	if s.headOnly {
		return 1 << 62
	}
	return s.size
}

// readMP4 reads the duration and the picture size from the moov box, wherever it is in the file.
func readMP4(s *source, f *media.Facts) {
	top := box{next: s.extent()}
	moov, ok := findBox(s, top, "moov")
	if !ok {
		return
	}
	video := false
	eachBox(s, moov.body, moov.next, func(b box) bool {
		switch b.kind {
		case "mvhd":
			f.DurationSeconds = max(f.DurationSeconds, ratio(movieHeader(s, b)))
		case "mvex":
			if m, ok := findBox(s, b, "mehd"); ok && f.DurationSeconds == 0 {
				f.DurationSeconds = fragmentSeconds(s, moov, m)
			}
		case "trak":
			if handler(s, b) == "vide" {
				video = true
				trackSize(s, b, f)
			}
		}
		return true
	})
	if t, ok := findBox(s, moov, "trak"); ok && !video && f.MIMEType == typeMP4 && handler(s, t) == "soun" {
		f.MIMEType = typeM4A
	}
	if f.DurationSeconds == 0 {
		f.DurationSeconds = segmentSeconds(s, top)
	}
}

// handler returns the kind of a track, such as vide, soun or text.
func handler(s *source, trak box) string {
	h, ok := findBox(s, trak, "mdia", "hdlr")
	if !ok {
		return ""
	}
	return string(s.whole(h.body+8, 4))
}

// movieHeader reads duration and scale from mvhd: times have 32 bits in version 0 and 64 bits in version 1, all of them
// set if the duration is unknown.
func movieHeader(s *source, mvhd box) (duration, scale uint64) {
	h := s.whole(mvhd.body, 32)
	if h == nil {
		return 0, 0
	}
	duration, scale = uint64(binary.BigEndian.Uint32(h[16:])), uint64(binary.BigEndian.Uint32(h[12:]))
	unknown := uint64(math.MaxUint32)
	if h[0] == 1 {
		duration, scale, unknown = binary.BigEndian.Uint64(h[24:]), uint64(binary.BigEndian.Uint32(h[20:])), math.MaxUint64
	}
	if duration == unknown {
		duration = 0
	}
	return duration, scale
}

// fragmentSeconds reads the duration of a fragmented movie from mehd.
func fragmentSeconds(s *source, moov, mehd box) float64 {
	mvhd, ok := findBox(s, moov, "mvhd")
	if !ok {
		return 0
	}
	_, scale := movieHeader(s, mvhd)
	if m := s.whole(mehd.body, 12); m != nil && m[0] == 1 {
		return ratio(binary.BigEndian.Uint64(m[4:]), scale)
	}
	v, _ := s.be32(mehd.body + 4)
	return ratio(uint64(v), scale)
}

// segmentSeconds sums the durations of a fragmented file in the segment indices (sidx) of the first track that has one.
func segmentSeconds(s *source, top box) float64 {
	var sum uint64
	var track, scale uint32
	eachBox(s, top.body, top.next, func(b box) bool {
		h := s.whole(b.body, 12)
		if b.kind != "sidx" || h == nil || scale > 0 && track != binary.BigEndian.Uint32(h[4:]) {
			return true
		}
		track, scale = binary.BigEndian.Uint32(h[4:]), binary.BigEndian.Uint32(h[8:])
		at := b.body + 20
		if h[0] == 1 {
			at += 8
		}
		n, _ := s.be32(at) // the count is in its lower half
		for i := range int64(n & 0xffff) {
			if v := s.whole(at+4+i*12, 8); v != nil && v[0] < 0x80 { // not a reference to another index
				sum += uint64(binary.BigEndian.Uint32(v[4:]))
			}
		}
		return true
	})
	if s.spent || s.headOnly {
		return 0 // the rest is unknown
	}
	return ratio(sum, uint64(scale))
}

// trackSize reads the display size from tkhd and swaps its sides if the matrix rotates the picture.
func trackSize(s *source, trak box, f *media.Facts) {
	t, ok := findBox(s, trak, "tkhd")
	if !ok {
		return
	}
	at := t.body + 40 // matrix of version 0
	if v := s.whole(t.body, 1); v != nil && v[0] == 1 {
		at += 12
	}
	b := s.whole(at, 44)
	if b == nil {
		return
	}
	w, h := int(binary.BigEndian.Uint32(b[36:])>>16), int(binary.BigEndian.Uint32(b[40:])>>16)
	if a, c := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:]); a == 0 && c != 0 {
		w, h = h, w
	}
	if w*h > f.Width*f.Height {
		f.Width, f.Height = w, h
	}
}
