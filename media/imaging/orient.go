package imaging

import (
	"image"

	"golang.org/x/image/draw"
)

// upright undoes an EXIF orientation of 2 to 8; for other values it returns img unchanged.
func upright(img image.Image, orientation int) image.Image {
	if orientation < 2 || orientation > 8 {
		return img
	}
	src, ok := img.(*image.NRGBA)
	if b := img.Bounds(); !ok || b.Min != (image.Point{}) {
		src = image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
		draw.Draw(src, src.Rect, img, b.Min, draw.Src)
	}
	w, h := src.Rect.Dx(), src.Rect.Dy()
	size := image.Rect(0, 0, w, h)
	if orientation >= 5 {
		size = image.Rect(0, 0, h, w)
	}
	dst := image.NewNRGBA(size)
	for y := range h {
		for x := range w {
			dx, dy := turned(orientation, x, y, w-1, h-1)
			copy(dst.Pix[dst.PixOffset(dx, dy):][:4], src.Pix[src.PixOffset(x, y):][:4])
		}
	}
	return dst
}

// turned returns where the stored pixel (x, y) is displayed; right and bottom are the largest
// stored coordinates. EXIF 2.32, §4.6.4, tag 274.
func turned(orientation, x, y, right, bottom int) (dx, dy int) {
	switch orientation {
	case 2:
		return right - x, y
	case 3:
		return right - x, bottom - y
	case 4:
		return x, bottom - y
	case 5:
		return y, x
	case 6:
		return bottom - y, x
	case 7:
		return bottom - y, right - x
	case 8:
		return y, right - x
	}
	return x, y
}

// fit scales img down to fit into a box; a side of 0 is unlimited. It never enlarges.
func fit(img image.Image, width, height int) image.Image {
	b := img.Bounds()
	w, h := Fit(b.Dx(), b.Dy(), width, height)
	if w == b.Dx() && h == b.Dy() {
		return img
	}
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.ApproxBiLinear.Scale(dst, dst.Rect, img, b, draw.Src, nil)
	return dst
}

// Fit returns the size of a w × h picture that is scaled down to fit into a box. It keeps the ratio, never enlarges,
// and returns at least one pixel per side. A side of 0 in the box is unlimited.
func Fit(w, h, boxWidth, boxHeight int) (width, height int) {
	if w <= 0 || h <= 0 {
		return w, h
	}
	scale := 1.0
	if boxWidth > 0 {
		scale = min(scale, float64(boxWidth)/float64(w))
	}
	if boxHeight > 0 {
		scale = min(scale, float64(boxHeight)/float64(h))
	}
	if scale == 1 {
		return w, h
	}
	return max(1, int(float64(w)*scale+0.5)), max(1, int(float64(h)*scale+0.5))
}
