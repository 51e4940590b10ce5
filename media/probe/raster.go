package probe

import (
	"encoding/binary"

	"atelier/media"
)

// readGIF reads the size of the logical screen and counts the frames by walking the blocks until
// the read budget is spent. GIF89a specification.
func readGIF(s *source, f *media.Facts) {
	h := s.whole(6, 5)
	if h == nil {
		return
	}
	f.Width = int(binary.LittleEndian.Uint16(h))
	f.Height = int(binary.LittleEndian.Uint16(h[2:]))
	if s.headOnly {
		return
	}
	off := 13 + ColourTable(h[4])
	for {
		b := s.whole(off, 1)
		if b == nil {
			return
		}
		switch b[0] {
		case 0x21: // extension: a label, then sub-blocks
			off = skipSubBlocks(s, off+2)
		case 0x2c:
			d := s.whole(off, 10)
			if d == nil {
				return
			}
			f.Frames++
			off = skipSubBlocks(s, off+10+ColourTable(d[9])+1)
		default: // the trailer, or invalid data
			return
		}
	}
}

// ColourTable returns the length in bytes of the colour table that the packed flags of a GIF declare.
func ColourTable(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// skipSubBlocks returns the offset after a chain of data sub-blocks.
func skipSubBlocks(s *source, off int64) int64 {
	for {
		b := s.whole(off, 1)
		if b == nil || b[0] == 0 {
			return off + 1
		}
		off += 1 + int64(b[0])
	}
}

// readWebP reads the size from VP8, VP8L or VP8X, counts the animation frames and reads the EXIF
// orientation. Google, WebP container specification.
func readWebP(s *source, f *media.Facts) {
	for off := int64(12); ; {
		h := s.whole(off, 8)
		if h == nil {
			return
		}
		kind, n := string(h[:4]), int64(binary.LittleEndian.Uint32(h[4:]))
		switch kind {
		case "VP8X":
			if b := s.whole(off+8, 10); b != nil {
				f.Width = 1 + int(le24(b[4:]))
				f.Height = 1 + int(le24(b[7:]))
			}
		case "VP8 ", "VP8L":
			if f.Width == 0 {
				f.Width, f.Height = webpStill(kind, s.span(off+8, 10))
			}
			f.Frames = max(f.Frames, 1)
		case "ANMF":
			f.Frames++
		case "EXIF":
			f.Orientation = exifOrientation(s.span(off+8, int(min(n, maxSpan))))
		}
		off += 8 + n + n&1
	}
}

// webpStill reads the dimensions of one lossy or lossless bitstream.
func webpStill(kind string, b []byte) (width, height int) {
	switch {
	case kind == "VP8 " && len(b) >= 10 && string(b[3:6]) == "\x9d\x01\x2a":
		return int(binary.LittleEndian.Uint16(b[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(b[8:]) & 0x3fff)
	case kind == "VP8L" && len(b) >= 5 && b[0] == 0x2f:
		v := binary.LittleEndian.Uint32(b[1:])
		return int(v&0x3fff) + 1, int(v>>14&0x3fff) + 1
	}
	return 0, 0
}

func le24(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
}

// readBMP reads the size from the core or the info header; a negative height means top-down.
func readBMP(s *source, f *media.Facts) {
	b := s.whole(14, 12)
	if b == nil {
		return
	}
	f.Frames = 1
	if binary.LittleEndian.Uint32(b) == 12 {
		f.Width = int(binary.LittleEndian.Uint16(b[4:]))
		f.Height = int(binary.LittleEndian.Uint16(b[6:]))
		return
	}
	height := int(int32(binary.LittleEndian.Uint32(b[8:])))                                 // #nosec G115 -- signed by definition.
	f.Width, f.Height = int(int32(binary.LittleEndian.Uint32(b[4:]))), max(height, -height) // #nosec G115 -- signed by definition.
}
