package probe

import (
	"encoding/binary"

	"atelier/media"
)

// readPNG reads IHDR, then walks the chunks before the pixels: acTL holds the frame count of an
// APNG, and eXIf may hold an orientation. W3C PNG 3rd edition, §11.
func readPNG(s *source, f *media.Facts) {
	ihdr := s.whole(8, 8+8)
	if ihdr == nil || string(ihdr[4:8]) != "IHDR" {
		return
	}
	f.Width = int(binary.BigEndian.Uint32(ihdr[8:]))
	f.Height = int(binary.BigEndian.Uint32(ihdr[12:]))
	for off := int64(8); ; {
		h := s.whole(off, 8)
		if h == nil {
			return
		}
		n := int64(binary.BigEndian.Uint32(h))
		switch string(h[4:8]) {
		case "acTL":
			if v, ok := s.be32(off + 8); ok {
				f.Frames = int(v)
			}
		case "eXIf":
			f.Orientation = exifOrientation(s.span(off+8, int(min(n, maxSpan))))
		case "IDAT", "IEND":
			f.Frames = max(f.Frames, 1)
			return
		}
		off += 12 + n
	}
}
