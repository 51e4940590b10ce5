package imaging

import (
	"cmp"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"

	"github.com/deepteams/webp"
	"golang.org/x/image/draw"

	"atelier/media"
)

// EncodePNG writes a PNG that carries the label as XMP in an iTXt chunk before the pixels. The zero
// label writes no chunk.
func EncodePNG(w io.Writer, img image.Image, l Label) error {
	in := &insertWriter{w: w, at: pngHeaderSize}
	if !l.IsZero() {
		in.insert = pngText(l.XMP())
	}
	// The fastest level is eight times as fast as the default on pictures with grain and writes a fifth more bytes.
	e := png.Encoder{CompressionLevel: png.BestSpeed}
	return encoded("PNG", e.Encode(in, img))
}

// pngHeaderSize is the size of the signature and the IHDR chunk, which must come first.
const pngHeaderSize = 8 + 12 + 13

// pngText returns an uncompressed iTXt chunk as defined in the XMP specification, part 3, §1.1.5.
func pngText(xmp []byte) []byte {
	body := append([]byte("iTXtXML:com.adobe.xmp\x00\x00\x00\x00\x00"), xmp...)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(body)-4)) // #nosec G115 -- a few KiB.
	chunk = append(chunk, body...)
	return binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(body))
}

// EncodeJPEG writes a JPEG with a quality from 1 to 100 (0 means [DefaultQuality]) and the label as XMP in an APP1
// segment. Transparent parts become white. Sides are at most 65,535 pixels ([media.CodeTooLarge]).
func EncodeJPEG(w io.Writer, img image.Image, quality int, l Label) error {
	q, err := checkQuality(quality)
	if err != nil {
		return err
	}
	if err := checkSides(img, "JPEG", maxJPEG); err != nil {
		return err
	}
	in := &insertWriter{w: w, at: 2} // after the start marker
	if !l.IsZero() {
		in.insert = jpegSegment(l.XMP())
	}
	switch img.(type) {
	case *image.YCbCr, *image.Gray:
	default:
		// The encoder is fast only for RGBA, and JPEG has no transparency.
		b := img.Bounds()
		flat := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
		draw.Draw(flat, flat.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
		draw.Draw(flat, flat.Rect, img, b.Min, draw.Over)
		img = flat
	}
	return encoded("JPEG", jpeg.Encode(in, img, &jpeg.Options{Quality: q}))
}

// jpegSegment returns the APP1 segment defined in the XMP specification, part 3, §1.1.3.
func jpegSegment(xmp []byte) []byte {
	body := append([]byte("http://ns.adobe.com/xap/1.0/\x00"), xmp...)
	seg := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(body)+2)) // #nosec G115 -- XMP is cut to fit.
	return append(seg, body...)
}

// EncodeWebP writes a WebP with a quality from 1 to 100 (0 means [DefaultQuality]; 100 is lossless)
// and the label as an XMP chunk. Sides are at most 16,383 pixels ([media.CodeTooLarge]).
func EncodeWebP(w io.Writer, img image.Image, quality int, l Label) error {
	q, err := checkQuality(quality)
	if err != nil {
		return err
	}
	if err := checkSides(img, "WebP", webp.MaxDimension); err != nil {
		return err
	}
	o := webp.DefaultOptions()
	o.Quality, o.Lossless = float32(q), q == 100
	if o.Lossless {
		o.Quality = 50 // effort, not loss
	}
	if !l.IsZero() {
		o.XMP = l.XMP()
	}
	return encoded("WebP", webp.Encode(w, img, o))
}

const maxJPEG = 1<<16 - 1

// checkSides returns an error if the picture is larger than the format allows.
func checkSides(img image.Image, format string, limit int) error {
	if b := img.Bounds(); b.Dx() > limit || b.Dy() > limit {
		return media.Errorf(media.CodeTooLarge, "the image is %d × %d pixels: %s allows at most %d in each dimension: use png or a smaller box",
			b.Dx(), b.Dy(), format, limit)
	}
	return nil
}

func checkQuality(q int) (int, error) {
	if q < 0 || q > 100 {
		return 0, media.Errorf(media.CodeInvalid, "quality %d is out of range: use 1 to 100", q)
	}
	return cmp.Or(q, DefaultQuality), nil
}

// encoded wraps an encoder's error; a coded error of the writer keeps its code.
func encoded(format string, err error) error {
	if err == nil {
		return nil
	}
	return media.Errorf(media.CodeOf(err), "encode %s: %w", format, err)
}

// insertWriter passes bytes on and adds insert at offset at.
type insertWriter struct {
	w      io.Writer
	at     int
	insert []byte
}

func (i *insertWriter) Write(p []byte) (int, error) {
	if i.insert == nil || len(p) < i.at {
		i.at -= len(p)
		return i.w.Write(p)
	}
	n, err := i.w.Write(p[:i.at])
	if err != nil {
		return n, err
	}
	if _, err := i.w.Write(i.insert); err != nil {
		return n, err
	}
	i.insert = nil
	m, err := i.w.Write(p[n:])
	return n + m, err
}

// Job describes how to convert a picture.
type Job struct {
	// Facts of the source, as probe read them; without a type they are sniffed.
	Facts media.Facts
	// Limits for decoding.
	Limits Limits
	// Width and Height are a box in pixels to scale down into, keeping the ratio; 0 is unlimited. Nothing is enlarged.
	Width, Height int
	// Format of the result; the zero value is [FormatAuto].
	Format Format
	// Quality of JPEG and WebP, 1 to 100; 0 means [DefaultQuality].
	Quality int
	// Label to write. The zero value keeps the label of the source.
	Label Label
}

// Transcode reads a picture, turns it upright, scales it into the job's box and writes it in the job's format with the
// label. It returns the facts of the result. Colour profiles, animation and other metadata are dropped.
func Transcode(ctx context.Context, w io.Writer, r io.Reader, j Job) (media.Facts, error) {
	if j.Width < 0 || j.Height < 0 {
		return media.Facts{}, media.Errorf(media.CodeInvalid, "a box of %d × %d pixels cannot contain an image", j.Width, j.Height)
	}
	if j.Format != FormatAuto {
		known, err := ParseFormat(string(j.Format))
		if err != nil {
			return media.Facts{}, err
		}
		j.Format = known
	}
	find := &labelFinder{}
	in := io.TeeReader(r, find)
	img, f, err := decode(ctx, in, j.Facts, j.Limits)
	if err != nil {
		return media.Facts{}, err
	}
	if j.Label.IsZero() {
		// Labels may follow the pixels, where decoders stop reading.
		if _, err := io.Copy(io.Discard, &source{ctx: ctx, r: in}); err != nil {
			return media.Facts{}, media.Errorf(media.CodeOf(err), "read %s: %w", f.MIMEType, err)
		}
		j.Label = find.label()
	}
	if f.Orientation >= 5 {
		j.Width, j.Height = j.Height, j.Width
	}
	img = upright(fit(img, j.Width, j.Height), f.Orientation)
	if err := ctx.Err(); err != nil {
		return media.Facts{}, err
	}
	if j.Format == FormatAuto {
		j.Format = FormatPNG
		if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
			j.Format = FormatJPEG
		}
	}
	switch j.Format {
	case FormatJPEG:
		err = EncodeJPEG(w, img, j.Quality, j.Label)
	case FormatWebP:
		err = EncodeWebP(w, img, j.Quality, j.Label)
	case FormatPNG, FormatAuto:
		err = EncodePNG(w, img, j.Label)
	}
	if err != nil {
		return media.Facts{}, err
	}
	return media.Facts{MIMEType: j.Format.MIMEType(), Width: img.Bounds().Dx(), Height: img.Bounds().Dy(), Frames: 1}, nil
}

const thumbnailQuality = 80

// Thumbnail writes a picture at most width pixels wide: JPEG, or PNG if it has transparent parts.
// It keeps a label of the source and returns the facts of the result.
func Thumbnail(ctx context.Context, w io.Writer, r io.Reader, f media.Facts, width int) (media.Facts, error) {
	if width <= 0 {
		return media.Facts{}, media.Errorf(media.CodeInvalid, "a thumbnail of width %d cannot be made: use 1 or more", width)
	}
	return Transcode(ctx, w, r, Job{Facts: f, Width: width, Quality: thumbnailQuality})
}
