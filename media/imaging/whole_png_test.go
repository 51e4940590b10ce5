package imaging

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"

	"atelier/media"
)

// chunked writes a PNG of grey pixels from its parts, with correct checksums.
func chunked(w, h uint32, interlaced bool, data ...[]byte) []byte {
	b := []byte("\x89PNG\r\n\x1a\n")
	add := func(kind string, body []byte) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
		at := len(b)
		b = append(append(b, kind...), body...)
		b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[at:]))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	head = append(head, 8, 0, 0, 0, 0)
	if interlaced {
		head[12] = 1
	}
	add("IHDR", head)
	for _, d := range data {
		add("IDAT", d)
	}
	add("IEND", nil)
	return b
}

// deflated returns n bytes of pixels as a compressed stream.
func deflated(tb testing.TB, n int) []byte {
	tb.Helper()
	return stream(tb, make([]byte, n))
}

// filtered returns the same as deflated, with an invalid filter byte at a position.
func filtered(tb testing.TB, n, at int) []byte {
	tb.Helper()
	rows := make([]byte, n)
	rows[at] = 5
	return stream(tb, rows)
}

func stream(tb testing.TB, rows []byte) []byte {
	tb.Helper()
	var buf bytes.Buffer
	z := zlib.NewWriter(&buf)
	if _, err := z.Write(rows); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

// TestPixelsOfPNG: chunks with correct checksums do not prove that their content is valid.
func TestPixelsOfPNG(t *testing.T) {
	t.Parallel()
	const side, size = 40, 41 * 40
	good := deflated(t, size)
	change := func(at int) []byte {
		b := bytes.Clone(good)
		b[(at+len(b))%len(b)] ^= 0x55
		return b
	}
	var apart [][]byte
	for i := range good {
		apart = append(apart, nil, good[i:i+1])
	}
	for name, c := range map[string]struct {
		file  []byte
		whole bool
	}{
		"good":                    {chunked(side, side, false, good), true},
		"a byte a chunk":          {chunked(side, side, false, apart...), true},
		"more rows than it needs": {chunked(side, side-1, false, good), true},
		"more than its stream":    {chunked(side, side, false, append(bytes.Clone(good), 1, 2, 3)), true},
		"interlaced":              {chunked(5, 5, true, deflated(t, 25+11)), true},
		"interlaced, one pixel":   {chunked(1, 1, true, deflated(t, 2)), true},
		"a bad header":            {chunked(side, side, false, change(0)), false},
		"a bad byte":              {chunked(side, side, false, change(len(good)/2)), false},
		"a bad sum":               {chunked(side, side, false, change(-1)), false},
		"no sum":                  {chunked(side, side, false, good[:len(good)-4]), false},
		"half a stream":           {chunked(side, side, false, good[:len(good)/2]), false},
		"an empty stream":         {chunked(side, side, false, nil), false},
		"a bad filter":            {chunked(side, side, false, filtered(t, size, 0)), false},
		"a bad last filter":       {chunked(side, side, false, filtered(t, size, size-side-1)), false},
		"a pixel like that":       {chunked(side, side, false, filtered(t, size, size-1)), true},
		"interlaced, bad filter":  {chunked(5, 5, true, filtered(t, 25+11, 30)), false},
		"a row too few":           {chunked(side, side+1, false, good), false},
		"interlaced, too few":     {chunked(5, 5, true, deflated(t, 25+10)), false},
	} {
		err := whole(t.Context(), c.file, "image/png")
		if (err == nil) != c.whole || err != nil && media.CodeOf(err) != media.CodeCorrupt {
			t.Errorf("%s: %v", name, err)
		}
		if _, decodes := png.Decode(bytes.NewReader(c.file)); decodes == nil && !c.whole {
			t.Errorf("%s: it decodes", name)
		}
	}
}

// TestSizesOfPNG: the expected size of the pixel data is the size that a decoder reads, for every kind of pixel.
func TestSizesOfPNG(t *testing.T) {
	t.Parallel()
	for kind, c := range map[[2]byte]color.Model{
		{0, 8}: color.GrayModel, {0, 16}: color.Gray16Model, {6, 8}: color.NRGBAModel, {6, 16}: color.NRGBA64Model,
	} {
		for w := range 12 {
			for h := range 12 {
				var head [13]byte
				binary.BigEndian.PutUint32(head[:], uint32(w+1))
				binary.BigEndian.PutUint32(head[4:], uint32(h+1))
				head[9], head[8] = kind[0], kind[1]
				for interlace := range byte(2) {
					head[12] = interlace
					size := int(inflated(passes(head)))
					file := chunked(1, 1, false, deflated(t, size))
					copy(file[16:29], head[:])
					binary.BigEndian.PutUint32(file[29:], crc32.ChecksumIEEE(file[12:29]))
					img, err := png.Decode(bytes.NewReader(file)) // it refuses one byte more or less
					if err != nil || img.ColorModel() != c || img.Bounds().Size() != image.Pt(w+1, h+1) {
						t.Fatalf("%v: %d bytes: %v", head, size, err)
					}
				}
			}
		}
	}
}

// BenchmarkWhole checks pictures of a gradient with noise.
func BenchmarkWhole(b *testing.B) {
	for name, side := range map[string]int{"1MP": 1024, "16MP": 4096} {
		img, r := image.NewNRGBA(image.Rect(0, 0, side, side)), rand.New(rand.NewPCG(1, 2))
		for i := range img.Pix {
			img.Pix[i] = uint8(i/side) + uint8(r.IntN(8))
			if i%4 == 3 {
				img.Pix[i] = 255
			}
		}
		file := pngOf(b, img, Label{})
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				if err := whole(b.Context(), file, "image/png"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
