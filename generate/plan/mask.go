package plan

import (
	"image"
	"image/color"
	"image/draw"
)

// The polarities of masks in the catalogue: transparent, white or black pixels are
// repainted.
const (
	maskAlpha = "alpha0"
	maskWhite = "white"
	maskBlack = "black"
)

// area is what a mask marks: 255 is repainted, 0 is kept.
type area struct {
	marks *image.Gray
	// transparent says that the mask marks by transparency rather than by white.
	transparent bool
	// flat says that it has no pixels but black and white ones.
	flat bool
}

// readMask reads a mask as people draw it: transparent parts are marked; in a picture
// without any transparency, white ones.
func readMask(img image.Image) area {
	b := img.Bounds()
	src := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(src, src.Rect, img, b.Min, draw.Src)
	a := area{marks: image.NewGray(src.Rect)}
	for i := range a.marks.Pix {
		alpha := src.Pix[4*i+3]
		a.marks.Pix[i] = 255 - alpha
		a.transparent = a.transparent || alpha < 255
	}
	if a.transparent {
		return a
	}
	a.flat = true
	for i := range a.marks.Pix {
		p := src.Pix[4*i:]
		a.flat = a.flat && p[0] == p[1] && p[1] == p[2] && (p[0] == 0 || p[0] == 255)
		a.marks.Pix[i] = color.GrayModel.Convert(color.RGBA{p[0], p[1], p[2], 255}).(color.Gray).Y //nolint:forcetypeassert // GrayModel gives Gray.
	}
	return a
}

// fits reports whether the mask is in a model's form as it was drawn. A mask that marks
// by black never is: people mark by white.
func (a area) fits(polarity string) bool {
	return polarity == maskAlpha && a.transparent || polarity == maskWhite && a.flat
}

// leastMark is the faintest mark that counts: a JPEG's black is not quite black.
const leastMark = 16

// empty reports whether nothing is marked.
func (a area) empty() bool {
	for _, m := range a.marks.Pix {
		if m >= leastMark {
			return false
		}
	}
	return true
}

// in draws the area in a model's polarity.
func (a area) in(polarity string) image.Image {
	switch polarity {
	case maskWhite:
		return a.marks
	case maskBlack:
		out := image.NewGray(a.marks.Rect)
		for i, m := range a.marks.Pix {
			out.Pix[i] = 255 - m
		}
		return out
	}
	out := image.NewNRGBA(a.marks.Rect)
	for i, m := range a.marks.Pix {
		out.Pix[4*i+3] = 255 - m
	}
	return out
}
