package generatetest

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"atelier/media"
	"atelier/media/wire"
)

// PNG returns a small real picture; different shades have different bytes.
func PNG(width, height int, shade uint8) []byte {
	var buf bytes.Buffer
	if err := png.Encode(&buf, plain(width, height, shade)); err != nil {
		panic(err) // a buffer does not fail
	}
	return buf.Bytes()
}

// JPEG is [PNG] in JPEG format.
func JPEG(width, height int, shade uint8) []byte {
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, plain(width, height, shade), nil); err != nil {
		panic(err) // a buffer does not fail
	}
	return buf.Bytes()
}

func plain(width, height int, shade uint8) image.Image {
	img := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{
		color.RGBA{R: shade, G: 80, B: 160, A: 255}, color.White,
	})
	img.Pix[0] = 1
	return img
}

// Stored stores bytes and returns their blob, as a driver does.
func Stored(ctx context.Context, tb testing.TB, c *wire.Codec, b []byte) media.Blob {
	tb.Helper()
	stored, err := c.Store(ctx, bytes.NewReader(b), "")
	if err != nil {
		tb.Fatalf("store %d bytes: %v", len(b), err)
	}
	return stored
}
