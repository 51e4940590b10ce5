package chat_test

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"math"
	"testing"

	"atelier/media/wire/wiretest"

	"pgregory.net/rapid"

	"atelier/chat"
	"atelier/media"
)

// stillGIF returns a GIF with one frame.
func stillGIF(t *testing.T, w, h int) []byte {
	t.Helper()
	m := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.White})
	for i := range m.Pix {
		m.Pix[i] = byte(i * 7 % 13 % 2)
	}
	var b bytes.Buffer
	if err := gif.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFitKeepsWithinLimits: for any picture and limits, the fitted picture is within all limits and keeps its aspect
// ratio, or the error says that no fit is possible.
func TestFitKeepsWithinLimits(t *testing.T) {
	t.Parallel()
	codec := wiretest.NewCodec(t)
	rapid.Check(t, func(rt *rapid.T) {
		w, h := rapid.IntRange(1, 300).Draw(rt, "w"), rapid.IntRange(1, 300).Draw(rt, "h")
		var raw []byte
		switch rapid.IntRange(0, 2).Draw(rt, "type") {
		case 0:
			raw = pngOf(t, noise(w, h, 4))
		case 1:
			raw = jpegOf(t, noise(w, h, 5))
		default:
			raw = stillGIF(t, w, h)
		}
		given := store(t, codec, raw)
		p := chat.Profile{Name: "Seer", Provider: "test", SupportsVision: true, ImageLimits: chat.ImageLimits{
			MaxImageSide:   rapid.IntRange(0, 200).Draw(rt, "side"),
			MaxImagePixels: rapid.Int64Range(0, 30_000).Draw(rt, "pixels"),
			MaxImageBytes:  rapid.Int64Range(0, 40_000).Draw(rt, "bytes"),
			ManyImages:     rapid.IntRange(0, 3).Draw(rt, "many"), ManyImageSide: 60,
			MediaTypes: rapid.SampledFrom([][]string{nil, {"image/png"}, {"image/jpeg"}, {"image/png", "image/jpeg"}}).Draw(rt, "types"),
		}}
		room := chat.Room{Images: rapid.IntRange(1, 4).Draw(rt, "images"), MaxBytes: rapid.Int64Range(0, 40_000).Draw(rt, "room")}
		f, err := p.Fit(scoped(t), codec, given, room)
		if media.CodeOf(err) == media.CodeTooLarge {
			return
		}
		if err != nil {
			rt.Fatalf("%d × %d: %v", w, h, err)
		}
		if again, err := p.Fit(scoped(t), codec, f.Output, room); err != nil || again.Reason != "" || !p.Fits(f.Output, room) {
			rt.Fatalf("%d × %d became %s %d × %d, %d bytes, which does not fit: %s %v", w, h, f.Output.MIMEType, f.Output.Width, f.Output.Height, f.Output.SizeBytes, again.Reason, err)
		}
		checkLimits(rt, p, room, f.Output)
		if math.Abs(float64(f.Output.Width)/float64(w)-float64(f.Output.Height)/float64(h)) > 1/float64(min(w, h)) {
			rt.Errorf("%d × %d became %d × %d", w, h, f.Output.Width, f.Output.Height)
		}
	})
}

// checkLimits compares a picture with all limits.
func checkLimits(rt *rapid.T, p chat.Profile, room chat.Room, o media.Output) {
	side := p.MaxImageSide
	if p.ManyImages > 0 && room.Images > p.ManyImages {
		side = p.ManyImageSide
	}
	switch {
	case side > 0 && max(o.Width, o.Height) > side:
		rt.Errorf("%d × %d, with sides of %d", o.Width, o.Height, side)
	case p.MaxImagePixels > 0 && int64(o.Width)*int64(o.Height) > p.MaxImagePixels:
		rt.Errorf("%d × %d, with %d pixels", o.Width, o.Height, p.MaxImagePixels)
	case p.MaxImageBytes > 0 && o.SizeBytes > p.MaxImageBytes || room.MaxBytes > 0 && o.SizeBytes > room.MaxBytes:
		rt.Errorf("%d bytes, with %d and room for %d", o.SizeBytes, p.MaxImageBytes, room.MaxBytes)
	case !p.Accepts(o.MIMEType):
		rt.Errorf("%s, with %v", o.MIMEType, p.Types())
	}
}
