package probe

import (
	"bytes"
	"encoding/binary"

	"atelier/media"
)

// readJPEG walks the marker segments up to the first scan. ITU T.81, annex B.
func readJPEG(s *source, f *media.Facts) {
	f.Frames = 1
	for off := int64(2); ; {
		h := s.whole(off, 4)
		if h == nil {
			return
		}
		if h[0] != 0xff || h[1] == 0xff { // stray byte or fill byte
			off++
			continue
		}
		marker, n := h[1], int64(binary.BigEndian.Uint16(h[2:]))
		switch {
		case marker == 0xd9 || marker == 0xda: // end of image, or start of scan
			return
		case marker == 0 || marker == 1 || marker >= 0xd0 && marker <= 0xd8: // no length
			off += 2
			continue
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc: // a frame header; the others are DHT, JPG and DAC
			if b := s.whole(off+5, 4); b != nil {
				f.Height = int(binary.BigEndian.Uint16(b))
				f.Width = int(binary.BigEndian.Uint16(b[2:]))
			}
			return
		case marker == 0xe1 && f.Orientation == 0:
			if b, ok := bytes.CutPrefix(s.span(off+4, int(n)), []byte("Exif\x00\x00")); ok {
				f.Orientation = exifOrientation(b)
			}
		}
		off += 2 + max(n, 2)
	}
}

// exifOrientation returns tag 0x0112 of the first directory of a TIFF block, or 0 if it is missing
// or out of range. EXIF 2.32, §4.6.
func exifOrientation(b []byte) int {
	if len(b) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch string(b[:4]) {
	case "II*\x00":
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 0
	}
	ifd := int64(order.Uint32(b[4:]))
	if ifd+2 > int64(len(b)) {
		return 0
	}
	entries := b[ifd+2:]
	for range int(order.Uint16(b[ifd:])) {
		if len(entries) < 12 {
			return 0
		}
		if order.Uint16(entries) == 0x0112 {
			if v := int(order.Uint16(entries[8:])); v >= 1 && v <= 8 {
				return v
			}
			return 0
		}
		entries = entries[12:]
	}
	return 0
}
