package imaging

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
	"golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"atelier/media"
	"atelier/media/probe"
)

// headSize is the number of bytes that are sniffed if facts are missing.
const headSize = 64 << 10

// Decode reads one picture and turns it upright. f holds the facts that probe read for these bytes;
// if the type is missing, facts are sniffed from the stream. Only the first frame of a GIF is read;
// animated WebP is [media.CodeUnsupported].
func Decode(ctx context.Context, r io.Reader, f media.Facts, l Limits) (image.Image, error) {
	img, f, err := decode(ctx, r, f, l)
	if err != nil {
		return nil, err
	}
	return upright(img, f.Orientation), nil
}

// codec holds the functions that read one type.
type codec struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

var codecs = map[string]codec{
	"image/png":  {png.DecodeConfig, png.Decode},
	"image/jpeg": {jpeg.DecodeConfig, jpeg.Decode},
	"image/gif":  {gif.DecodeConfig, decodeGIF},
	"image/webp": {webp.DecodeConfig, decodeWebP},
	"image/bmp":  {bmp.DecodeConfig, bmp.Decode},
}

// decode returns the picture as it is stored, before orientation, and its completed facts. A file that makes a decoder
// panic is an error.
func decode(ctx context.Context, r io.Reader, f media.Facts, l Limits) (img image.Image, _ media.Facts, err error) {
	defer media.CatchPanic(&err, "the decoder of pictures")
	src := &source{ctx: ctx, r: r}
	in := bufio.NewReaderSize(src, headSize)
	if f.MIMEType == "" {
		head, _ := in.Peek(headSize) // a short file has fewer bytes; read errors are reported later
		f = probe.Head(head)
	}
	if err := l.Check(f); err != nil {
		return nil, f, err
	}
	c, ok := codecs[f.MIMEType]
	switch {
	case ok:
	case src.err != nil:
		return nil, f, decodeError(f, src, src.err)
	case f.MIMEType == "":
		return nil, f, media.Errorf(media.CodeUnsupported, "the bytes are not an image that can be decoded: use PNG, JPEG, GIF, WebP or BMP")
	default:
		return nil, f, media.Errorf(media.CodeUnsupported, "%s cannot be decoded to pixels: use PNG, JPEG, GIF, WebP or BMP", f.MIMEType)
	}
	if head, _ := in.Peek(21); len(head) == 21 && string(head[8:16]) == "WEBPVP8X" && head[20]&2 != 0 { // the animation flag of the extended header
		return nil, f, media.Errorf(media.CodeUnsupported, "animated WebP cannot be decoded: use a still image")
	}
	var read bytes.Buffer
	cfg, err := c.config(io.TeeReader(in, &read))
	if err != nil {
		return nil, f, decodeError(f, src, err)
	}
	if err := l.Check(media.Facts{Width: cfg.Width, Height: cfg.Height}); err != nil {
		return nil, f, err
	}
	if cfg.Width <= 0 || cfg.Height <= 0 {
		return nil, f, media.Errorf(media.CodeCorrupt, "decode %s: its header says %d × %d pixels", f.MIMEType, cfg.Width, cfg.Height)
	}
	if img, err = c.decode(io.MultiReader(&read, in)); err != nil {
		return nil, f, decodeError(f, src, err)
	}
	return img, f, nil
}

// decodeError distinguishes a failed reader from a damaged file.
func decodeError(f media.Facts, src *source, err error) error {
	if src.err != nil {
		return media.Errorf(media.CodeOf(src.err), "read image: %w", src.err)
	}
	return media.Errorf(media.CodeCorrupt, "decode %s: %w", f.MIMEType, err)
}

// source is a reader that fails when its context ends and keeps its error.
type source struct {
	ctx context.Context //nolint:containedctx // lives for one call only: image decoders take no context.
	r   io.Reader
	err error // last error other than io.EOF
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		s.err = err
		return 0, err
	}
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// decodeGIF draws the first frame onto the whole canvas, because the frame may be smaller.
func decodeGIF(r io.Reader) (image.Image, error) {
	var read bytes.Buffer
	cfg, err := gif.DecodeConfig(io.TeeReader(r, &read))
	if err != nil {
		return nil, err
	}
	frame, err := gif.Decode(io.MultiReader(&read, r))
	if err != nil {
		return nil, err
	}
	canvas := image.Rect(0, 0, cfg.Width, cfg.Height)
	if frame.Bounds() == canvas {
		return frame, nil
	}
	img := image.NewNRGBA(canvas)
	draw.Draw(img, frame.Bounds(), frame, frame.Bounds().Min, draw.Over)
	return img, nil
}

// decodeWebP decodes a WebP and corrects the colours of lossy files. These store BT.601 in studio range (16 to 235, RFC
// 9649), but Go's YCbCr images are full range, so that black would become dark grey.
func decodeWebP(r io.Reader) (image.Image, error) {
	img, err := webp.Decode(r)
	if err != nil {
		return nil, fmt.Errorf("webp: %w", err)
	}
	switch m := img.(type) {
	case *image.YCbCr:
		return studioRange(m, nil, 0), nil
	case *image.NYCbCrA:
		return studioRange(&m.YCbCr, m.A, m.AStride), nil
	}
	return img, nil
}

// studioRange converts m to NRGBA with the fixed-point factors of libwebp.
func studioRange(m *image.YCbCr, alpha []byte, stride int) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, m.Rect.Dx(), m.Rect.Dy()))
	for y := range m.Rect.Dy() {
		row := out.Pix[y*out.Stride:][:4*m.Rect.Dx()]
		for x := range m.Rect.Dx() {
			ci := m.COffset(x+m.Rect.Min.X, y+m.Rect.Min.Y)
			yy, u, v := int32(m.Y[m.YOffset(x+m.Rect.Min.X, y+m.Rect.Min.Y)])*19077>>8, int32(m.Cb[ci]), int32(m.Cr[ci])
			p := row[4*x:][:4]
			p[0] = clamp(yy + v*26149>>8 - 14234)
			p[1] = clamp(yy - u*6419>>8 - v*13320>>8 + 8708)
			p[2] = clamp(yy + u*33050>>8 - 17685)
			p[3] = 0xff
			if alpha != nil {
				p[3] = alpha[y*stride+x]
			}
		}
	}
	return out
}

// clamp converts a value with six fractional bits to a byte.
func clamp(v int32) byte {
	return byte(min(max(v>>6, 0), 255)) // #nosec G115 -- clamped.
}
