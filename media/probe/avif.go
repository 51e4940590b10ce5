package probe

import (
	"encoding/binary"
	"slices"

	"atelier/media"
)

// readAVIF reads the size of the primary item (ISO/IEC 23008-12): its ispe property, rotated by
// irot. If no property is associated with the item, the largest ispe is used.
func readAVIF(s *source, f *media.Facts) {
	meta, ok := findBox(s, box{next: s.extent()}, "meta")
	if !ok {
		return
	}
	meta.body += 4 // version and flags
	ipco, ok := findBox(s, meta, "iprp", "ipco")
	if !ok {
		return
	}
	wanted := primaryProperties(s, meta)
	index, turned, best := 0, false, 0
	eachBox(s, ipco.body, ipco.next, func(b box) bool {
		index++
		if len(wanted) > 0 && !wanted[index] {
			return index < 1<<12
		}
		switch b.kind {
		case "ispe":
			if v := s.whole(b.body+4, 8); v != nil {
				w, h := int(binary.BigEndian.Uint32(v)), int(binary.BigEndian.Uint32(v[4:]))
				if area := w * h; area > best {
					f.Width, f.Height, best = w, h, area
				}
			}
		case "irot":
			if v := s.whole(b.body, 1); v != nil {
				turned = v[0]&1 == 1
			}
		}
		return index < 1<<12
	})
	if turned && len(wanted) > 0 {
		f.Width, f.Height = f.Height, f.Width
	}
	if b := s.whole(8, 4); string(b) != "avis" {
		f.Frames = 1
	}
}

// primaryProperties returns the indices, from 1, of the primary item's properties.
func primaryProperties(s *source, meta box) map[int]bool {
	pitm, ok := findBox(s, meta, "pitm")
	h := s.span(pitm.body, 8)
	if !ok || len(h) < 6 {
		return nil
	}
	id := uint32(binary.BigEndian.Uint16(h[4:]))
	if h[0] > 0 && len(h) == 8 {
		id = binary.BigEndian.Uint32(h[4:])
	}
	ipma, ok := findBox(s, meta, "iprp", "ipma")
	if !ok {
		return nil
	}
	b := s.span(ipma.body, int(min(ipma.next-ipma.body, maxSpan)))
	if len(b) < 8 {
		return nil
	}
	version, wide := b[0], b[3]&1 == 1
	for b = b[8:]; ; {
		var item uint32
		switch {
		case version == 0 && len(b) >= 3:
			item, b = uint32(binary.BigEndian.Uint16(b)), b[2:]
		case version > 0 && len(b) >= 5:
			item, b = binary.BigEndian.Uint32(b), b[4:]
		default:
			return nil
		}
		n, step := int(b[0]), 1
		if wide {
			step = 2
		}
		if b = b[1:]; len(b) < n*step {
			return nil
		}
		if item != id {
			b = b[n*step:]
			continue
		}
		set := map[int]bool{}
		for p := range slices.Chunk(b[:n*step], step) { // 7 or 15 bits; the top bit means essential
			v := int(p[0] & 0x7f)
			if wide {
				v = v<<8 | int(p[1])
			}
			set[v] = true
		}
		return set
	}
}
