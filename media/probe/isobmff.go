package probe

import (
	"encoding/binary"

	"atelier/media"
)

// box is one box of an ISO base media file (ISO/IEC 14496-12, §4.2).
type box struct {
	kind       string
	body, next int64 // offsets of the content and of what follows the box
}

// readBox reads the box at off inside a container that ends at end.
func readBox(s *source, off, end int64) (box, bool) {
	h := s.span(off, 16)
	if len(h) < 8 || off+8 > end {
		return box{}, false
	}
	b := box{kind: string(h[4:8]), body: off + 8}
	n := int64(binary.BigEndian.Uint32(h))
	switch n {
	case 0: // to the end of the container
		n = end - off
	case 1:
		if len(h) < 16 || binary.BigEndian.Uint64(h[8:]) > 1<<62 {
			return box{}, false
		}
		n, b.body = int64(binary.BigEndian.Uint64(h[8:])), off+16 // #nosec G115 -- bounded above.
	}
	if off+n < b.body {
		return box{}, false
	}
	b.next = min(off+n, end)
	return b, true
}

// eachBox calls visit for the boxes from off to end until it returns false.
func eachBox(s *source, off, end int64, visit func(box) bool) {
	for off < end {
		b, ok := readBox(s, off, end)
		if !ok || !visit(b) {
			return
		}
		off = b.next
	}
}

// findBox descends along a path of kinds, first match each.
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

// extent is where boxes may lie: the whole file, or no known end.
func (s *source) extent() int64 {
	if s.headOnly {
		return 1 << 62
	}
	return s.size
}

// readMP4 reads length and picture size from the index, wherever it lies.
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
			f.DurationSeconds = max(f.DurationSeconds, headerSeconds(s, b))
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

// headerSeconds reads mvhd: version 0 has 32-bit times, version 1 64-bit ones.
func headerSeconds(s *source, b box) float64 {
	h := s.whole(b.body, 32)
	if h == nil {
		return 0
	}
	if h[0] == 1 {
		return unlessUnset(binary.BigEndian.Uint64(h[24:]), 64, binary.BigEndian.Uint32(h[20:]))
	}
	return unlessUnset(uint64(binary.BigEndian.Uint32(h[16:])), 32, binary.BigEndian.Uint32(h[12:]))
}

// unlessUnset is duration/scale, 0 where all bits are set (unknown).
func unlessUnset(duration uint64, bits int, scale uint32) float64 {
	if duration == 1<<bits-1 || bits == 64 && duration == ^uint64(0) {
		return 0
	}
	return ratio(duration, uint64(scale))
}

// fragmentSeconds reads mehd, the length of a fragmented film.
func fragmentSeconds(s *source, moov, mehd box) float64 {
	mvhd, ok := findBox(s, moov, "mvhd")
	h := s.whole(mvhd.body, 24)
	if !ok || h == nil {
		return 0
	}
	scale := binary.BigEndian.Uint32(h[12:])
	if h[0] == 1 {
		scale = binary.BigEndian.Uint32(h[20:])
	}
	if m := s.whole(mehd.body, 12); m != nil && m[0] == 1 {
		return ratio(binary.BigEndian.Uint64(m[4:]), uint64(scale))
	}
	v, _ := s.be32(mehd.body + 4)
	return ratio(uint64(v), uint64(scale))
}

// segmentSeconds adds up the first segment index (sidx) of a fragmented file.
func segmentSeconds(s *source, top box) float64 {
	sidx, ok := findBox(s, top, "sidx")
	h := s.whole(sidx.body, 12)
	if !ok || h == nil {
		return 0
	}
	scale, at := binary.BigEndian.Uint32(h[8:]), sidx.body+20
	if h[0] == 1 {
		at += 8
	}
	n := s.whole(at, 4)
	if n == nil {
		return 0
	}
	var sum uint64
	count := int64(binary.BigEndian.Uint16(n[2:]))
	for i := range count {
		v, ok := s.be32(at + 4 + i*12 + 4)
		if !ok {
			break
		}
		sum += uint64(v)
	}
	return ratio(sum, uint64(scale))
}

// trackSize reads the shown size from tkhd, turned by its matrix.
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
