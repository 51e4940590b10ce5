package sim

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"sync"

	"atelier/media"
)

// Picture is the contents of one file. The head differs between pictures and its length is a multiple of 3. The tail
// and its base64 are shared by all pictures of the same size, so that a picture costs little more than a copy.
type Picture struct {
	MIMEType string
	head     []byte
	tail     []byte
	tail64   []byte
}

// Bytes returns the whole file.
func (p Picture) Bytes() []byte { return append(bytes.Clone(p.head), p.tail...) }

// Digest returns the digest of the file.
func (p Picture) Digest() media.Digest { return media.DigestOf(p.Bytes()) }

// Base64 returns the file in standard base64, in two pieces; the second is shared and must not be modified.
func (p Picture) Base64() [2][]byte {
	tail := p.tail64
	if tail == nil {
		tail = base64.StdEncoding.AppendEncode(nil, p.tail)
	}
	return [2][]byte{base64.StdEncoding.AppendEncode(nil, p.head), tail}
}

// Raw returns a Picture of arbitrary bytes, for invalid data.
func Raw(mimeType string, b []byte) Picture {
	n := len(b) / 3 * 3
	return Picture{MIMEType: mimeType, head: b[:n], tail: b[n:]}
}

// Painter makes pictures. The zero value is ready to use; it is safe for concurrent use.
type Painter struct {
	// Bytes, if positive, is the minimum size of every PNG, reached by padding.
	Bytes int
}

type tailKey struct {
	format        string
	width, height int
	pad           int // in bytes, for PNG
}

type tail struct{ raw, base64 []byte }

// tails maps each tailKey to a func() tail. All painters of the process share it; it is never cleared.
var tails sync.Map

// Paint makes a picture in the format png, jpeg, webp, gif or svg. The same seed produces the same
// bytes, a different seed different ones.
func (p *Painter) Paint(format string, width, height int, seed uint64) Picture {
	switch format {
	case "jpeg":
		t := drawn(tailKey{format, width, height, 0})
		return Picture{MIMEType: "image/jpeg", head: jpegHead(seed), tail: t.raw, tail64: t.base64}
	case "webp":
		return Raw("image/webp", webp(width, height, seed))
	case "gif":
		return Raw("image/gif", moving(width, height, seed))
	case "svg":
		return Raw("image/svg+xml", fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d"><rect width="100%%" height="100%%" fill="#%06x"/></svg>`, width, height, seed&0xffffff))
	}
	t := drawn(tailKey{"png", width, height, p.Bytes})
	return Picture{MIMEType: "image/png", head: pngHead(width, height, seed), tail: t.raw, tail64: t.base64}
}

// drawn returns a tail; the first call for a key draws it.
func drawn(k tailKey) tail {
	draw, ok := tails.Load(k)
	if !ok {
		draw, _ = tails.LoadOrStore(k, sync.OnceValue(k.draw))
	}
	return draw.(func() tail)()
}

func (k tailKey) draw() (t tail) {
	if k.format == "jpeg" {
		t.raw = jpegTail(k.width, k.height)
	} else {
		t.raw = pngTail(k.width, k.height, k.pad)
	}
	t.base64 = base64.StdEncoding.AppendEncode(nil, t.raw)
	return t
}

const pngSignature = "\x89PNG\r\n\x1a\n"

// chunk appends a PNG chunk.
func chunk(b []byte, name string, data []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(data))) //nolint:gosec // Chunks here are short.
	start := len(b)
	b = append(append(b, name...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start:]))
}

// header returns the signature and IHDR of a paletted PNG.
func header(width, height int) []byte {
	d := binary.BigEndian.AppendUint32(nil, uint32(width)) //nolint:gosec // Sizes are positive and small.
	d = binary.BigEndian.AppendUint32(d, uint32(height))   //nolint:gosec // As above.
	return chunk([]byte(pngSignature), "IHDR", append(d, 8, 3, 0, 0, 0))
}

// provenance represents the signed manifest that providers put into their PNGs as a caBX chunk. No
// byte of it may be changed.
const provenance = "\x00\x00\x00\x2ejumb\x00\x00\x00\x1ejumdc2pa-manifest-of-the-simulator"

// pngHead returns everything up to the palette, whose colours depend on the seed.
func pngHead(width, height int, seed uint64) []byte {
	b := chunk(header(width, height), "caBX", []byte(provenance))
	palette := make([]byte, 0, 256*3)
	for i := range 256 {
		c := shade(seed, i)
		palette = append(palette, c.R, c.G, c.B)
	}
	for fill := 0; ; fill++ { // a comment makes the length a multiple of 3
		with := chunk(chunk(bytes.Clone(b), "tEXt", append([]byte("Software\x00Simulator"), bytes.Repeat([]byte(" "), fill)...)), "PLTE", palette)
		if len(with)%3 == 0 {
			return with
		}
	}
}

// shade returns one colour of a gradient that depends on the seed.
func shade(seed uint64, i int) color.RGBA {
	wave := func(shift uint64) uint8 {
		return uint8(128 + 120*math.Sin(float64(i)/40+float64(seed>>shift&0xffff)/1000))
	}
	return color.RGBA{R: wave(0), G: wave(16), B: wave(32), A: 255}
}

// canvas returns a pattern of palette indexes.
func canvas(width, height int, palette color.Palette) *image.Paletted {
	m := image.NewPaletted(image.Rect(0, 0, width, height), palette)
	for y := range height {
		row := m.Pix[y*m.Stride : y*m.Stride+width]
		for x := range row {
			row[x] = uint8((x*128/width + y*127/height) & 0xff)
		}
	}
	return m
}

func fullPalette() color.Palette {
	palette := make(color.Palette, 256)
	for i := range palette {
		palette[i] = shade(0, i)
	}
	return palette
}

// pngTail returns the pixels and the end, padded by a private chunk if requested.
func pngTail(width, height, pad int) []byte {
	var buf bytes.Buffer
	// A bytes.Buffer never fails, and the palette fits.
	_ = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&buf, canvas(width, height, fullPalette()))
	b := buf.Bytes()
	pixels := bytes.Clone(b[bytes.Index(b, []byte("IDAT"))-4:])
	head := len(pngHead(width, height, 0))
	if missing := pad - head - len(pixels) - 12; missing > 0 {
		noise := make([]byte, missing)
		_, _ = rand.NewChaCha8([32]byte{1}).Read(noise)
		return append(chunk(nil, "paDd", noise), pixels...)
	}
	return pixels
}

// jpegHead returns the start of the file and a comment with the seed, 15 bytes.
func jpegHead(seed uint64) []byte {
	b := []byte{0xff, 0xd8, 0xff, 0xfe, 0, 11}
	return append(binary.BigEndian.AppendUint64(b, seed), 0)
}

// jpegTail returns a picture without its start marker.
func jpegTail(width, height int) []byte {
	var buf bytes.Buffer
	_ = jpeg.Encode(&buf, canvas(width, height, fullPalette()), &jpeg.Options{Quality: 70})
	return buf.Bytes()[2:]
}

// moving returns an animation of two frames.
func moving(width, height int, seed uint64) []byte {
	one := canvas(width, height, color.Palette{shade(seed, 0), shade(seed, 128)})
	for i := range one.Pix {
		one.Pix[i] &= 1
	}
	two := canvas(width, height, one.Palette)
	clear(two.Pix)
	var buf bytes.Buffer
	_ = gif.EncodeAll(&buf, &gif.GIF{Image: []*image.Paletted{one, two}, Delay: []int{20, 20}}) // a bytes.Buffer never fails
	return buf.Bytes()
}

// webp returns a single-colour picture in the lossless format: five codes with one symbol each, so
// that the pixels take no bits.
func webp(width, height int, seed uint64) []byte {
	var w bits
	w.put(0x2f, 8)
	w.put(uint64(width-1), 14)  //nolint:gosec // Sizes are positive.
	w.put(uint64(height-1), 14) //nolint:gosec // As above.
	w.put(0, 1+3)               // no alpha, version 0
	w.put(0, 1+1+1)             // no transform, no colour cache, no meta codes
	for _, symbol := range []uint64{seed & 0xff, seed >> 8 & 0xff, seed >> 16 & 0xff, 0xff} {
		w.put(0b101, 3) // simple, one symbol, of 8 bits
		w.put(symbol, 8)
	}
	w.put(0b0001, 4) // distance: simple, one symbol, of 1 bit, 0
	data := w.b
	if len(data)%2 == 1 {
		data = append(data, 0)
	}
	b := []byte("RIFF")
	b = binary.LittleEndian.AppendUint32(b, uint32(4+8+len(data))) //nolint:gosec // A few bytes.
	b = append(b, "WEBPVP8L"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(w.b))) //nolint:gosec // A few bytes.
	return append(b, data...)
}

// bits packs numbers starting at the lowest bit.
type bits struct {
	b []byte
	n int
}

func (w *bits) put(v uint64, count int) {
	for range count {
		if w.n%8 == 0 {
			w.b = append(w.b, 0)
		}
		w.b[w.n/8] |= byte(v&1) << (w.n % 8)
		v >>= 1
		w.n++
	}
}

// Tiny returns a valid picture of 1 × 1 pixel.
func Tiny(seed uint64) Picture { return new(Painter).Paint("png", 1, 1, seed) }

// HugeHeader returns a PNG that declares 30,000 × 30,000 pixels and contains almost none.
func HugeHeader() Picture {
	b := chunk(header(30000, 30000), "PLTE", []byte{0, 0, 0, 255, 255, 255})
	b = chunk(b, "IDAT", []byte("\x78\x01\x01\x00\x00\xff\xff\x00\x00\x00\x01"))
	return Raw("image/png", chunk(b, "IEND", nil))
}

// NotMedia returns text in place of a picture.
func NotMedia(mimeType string) Picture {
	return Raw(mimeType, []byte("I am sorry, I could not draw this picture. Please describe it in other words."))
}
