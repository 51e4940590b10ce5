package imaging_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"strings"
	"testing"

	"atelier/media"
	"atelier/media/imaging"
)

// plain returns a picture of one colour.
func plain(t *testing.T, w, h int, c color.NRGBA) imaging.SheetItem {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = []uint8{c.R, c.G, c.B, c.A}[i%4]
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return imaging.SheetItem{
		Facts: media.Facts{MIMEType: "image/png", Width: w, Height: h},
		Open:  func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil },
	}
}

func TestContactSheet(t *testing.T) {
	t.Parallel()
	red, blue := color.NRGBA{R: 200, A: 255}, color.NRGBA{B: 200, A: 255}
	items := []imaging.SheetItem{plain(t, 900, 300, red), {Caption: "failed"}, plain(t, 20, 60, blue)}
	items[0].Caption = strings.Repeat("a caption that is much too long ", 40) + strings.Repeat("x", 400)
	var first, second bytes.Buffer
	for _, to := range []*bytes.Buffer{&first, &second} {
		if err := imaging.ContactSheet(t.Context(), to, items, imaging.Limits{}, imaging.Generated("several", "Atelier")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two sheets of the same pictures differ")
	}
	img, err := png.Decode(&first)
	if err != nil {
		t.Fatal(err)
	}
	if b := img.Bounds(); b.Dx() != 3*504+24 || b.Dy() != 480+64+24+24 {
		t.Errorf("the sheet is %v", b)
	}
	at := func(x, y int) color.Color { return color.NRGBAModel.Convert(img.At(x, y)) }
	if at(24+240, 24+240) != red || at(2*504+24+240, 24+240) != blue {
		t.Errorf("the middles are %v and %v", at(264, 264), at(2*504+264, 264))
	}
	if at(24+240, 24+10) == red || at(504+24+240, 264) == blue {
		t.Error("a picture is not in its box, in its ratio")
	}
}

func TestBadContactSheets(t *testing.T) {
	t.Parallel()
	gone := imaging.SheetItem{Open: func(context.Context) (io.ReadCloser, error) { return nil, errors.New("gone") }}
	for name, items := range map[string][]imaging.SheetItem{"none": nil, "too many": make([]imaging.SheetItem, 101), "gone": {gone}} {
		if err := imaging.ContactSheet(t.Context(), io.Discard, items, imaging.Limits{}, imaging.Label{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
