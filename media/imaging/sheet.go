package imaging

import (
	"context"
	"errors"
	"image"
	"image/color"
	"io"
	"strings"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"atelier/media"
)

// SheetItem is one picture of a contact sheet.
type SheetItem struct {
	// Open returns the picture; nil leaves its box empty.
	Open func(ctx context.Context) (io.ReadCloser, error)
	// Facts of the picture, as probe read them.
	Facts media.Facts
	// Caption is drawn below the picture on at most two lines; text that does not fit is cut.
	Caption string
}

// The layout of a contact sheet, in pixels.
const (
	sheetCell    = 480
	sheetGap     = 24
	sheetCaption = 64
	sheetText    = 20
	// MaxSheetItems is the maximum number of pictures on one contact sheet.
	MaxSheetItems = 100
)

// ContactSheet writes a PNG of pictures side by side, each scaled down into a box of 480 pixels
// with its caption below, up to four per row. It decodes one picture at a time. Errors:
// media.CodeInvalid for no items or more than [MaxSheetItems], and those of [Decode] and of Open.
func ContactSheet(ctx context.Context, w io.Writer, items []SheetItem, lim Limits, l Label) error {
	if len(items) == 0 || len(items) > MaxSheetItems {
		return media.Errorf(media.CodeInvalid, "a contact sheet has 1 to %d pictures, not %d", MaxSheetItems, len(items))
	}
	columns := min(len(items), 4)
	if len(items) > 4 && len(items) <= 9 {
		columns = 3
	}
	rows := (len(items) + columns - 1) / columns
	typeface, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return media.Errorf(media.CodeInternal, "read the font: %w", err)
	}
	face, err := opentype.NewFace(typeface, &opentype.FaceOptions{Size: sheetText, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		return media.Errorf(media.CodeInternal, "set the font: %w", err)
	}
	defer func() { _ = face.Close() }()
	page := image.NewNRGBA(image.Rect(0, 0, columns*(sheetCell+sheetGap)+sheetGap, rows*(sheetCell+sheetCaption+sheetGap)+sheetGap))
	draw.Draw(page, page.Rect, image.NewUniform(color.NRGBA{R: 250, G: 250, B: 249, A: 255}), image.Point{}, draw.Src)
	for i, item := range items {
		at := image.Pt(sheetGap+i%columns*(sheetCell+sheetGap), sheetGap+i/columns*(sheetCell+sheetCaption+sheetGap))
		box := image.Rectangle{Min: at, Max: at.Add(image.Pt(sheetCell, sheetCell))}
		draw.Draw(page, box, image.NewUniform(color.NRGBA{R: 232, G: 232, B: 229, A: 255}), image.Point{}, draw.Src)
		if err := place(ctx, page, box, item, lim); err != nil {
			return err
		}
		write(page, face, image.Pt(at.X, box.Max.Y), item.Caption)
	}
	return EncodePNG(w, page, l)
}

// place draws a picture in the centre of its box.
func place(ctx context.Context, page draw.Image, box image.Rectangle, item SheetItem, lim Limits) error {
	if item.Open == nil {
		return nil
	}
	r, err := item.Open(ctx)
	if err != nil {
		return err
	}
	img, err := Decode(ctx, r, item.Facts, lim)
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	width, height := Fit(img.Bounds().Dx(), img.Bounds().Dy(), box.Dx(), box.Dy())
	corner := box.Min.Add(image.Pt((box.Dx()-width)/2, (box.Dy()-height)/2))
	draw.ApproxBiLinear.Scale(page, image.Rectangle{Min: corner, Max: corner.Add(image.Pt(width, height))}, img, img.Bounds(), draw.Over, nil)
	return nil
}

func write(page draw.Image, face font.Face, at image.Point, text string) {
	d := font.Drawer{Dst: page, Src: image.NewUniform(color.NRGBA{R: 28, G: 28, B: 30, A: 255}), Face: face}
	rest := strings.Fields(text)
	for line := range 2 {
		words := ""
		for len(rest) > 0 && (words == "" || d.MeasureString(words+" "+rest[0]) <= fixed.I(sheetCell)) {
			words = strings.TrimSpace(words + " " + rest[0])
			rest = rest[1:]
		}
		for d.MeasureString(words) > fixed.I(sheetCell) || line == 1 && len(rest) > 0 && d.MeasureString(words+"…") > fixed.I(sheetCell) {
			runes := []rune(words)
			words = string(runes[:len(runes)-1])
		}
		if line == 1 && len(rest) > 0 {
			words += "…"
		}
		d.Dot = fixed.P(at.X, at.Y+26*(line+1))
		d.DrawString(words)
	}
}
