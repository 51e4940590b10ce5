package offline

import (
	"image"
	"slices"

	xdraw "golang.org/x/image/draw"
)

// toNRGBA returns a picture as NRGBA at the origin: a copy, unless it already is one.
func toNRGBA(img image.Image) *image.NRGBA {
	b := img.Bounds()
	if m, ok := img.(*image.NRGBA); ok && b.Min == (image.Point{}) {
		return m
	}
	out := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	xdraw.Draw(out, out.Rect, img, b.Min, xdraw.Src)
	return out
}

// cover scales a picture to fill w × h and crops the excess. A picture of that size is returned unchanged.
func cover(img *image.NRGBA, w, h int) *image.NRGBA {
	if img.Rect.Dx() == w && img.Rect.Dy() == h {
		return img
	}
	return crop(img, w, h, view{1, 0.5, 0.5})
}

// view is the visible part of a picture: a zoom factor, and the position x, y from 0 to 1 in the remaining space.
type view struct{ zoom, x, y float64 }

// crop is cover for a part of the picture.
func crop(img *image.NRGBA, w, h int, v view) *image.NRGBA {
	r := img.Rect
	k := min(float64(r.Dx())/float64(w), float64(r.Dy())/float64(h)) / v.zoom
	cw, ch := min(r.Dx(), max(1, int(float64(w)*k+0.5))), min(r.Dy(), max(1, int(float64(h)*k+0.5)))
	at := image.Pt(int(float64(r.Dx()-cw)*v.x), int(float64(r.Dy()-ch)*v.y))
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	xdraw.CatmullRom.Scale(out, out.Rect, img, image.Rectangle{at, at.Add(image.Pt(cw, ch))}, xdraw.Src, nil)
	return out
}

// mixed blends two pictures of equal size.
func mixed(a, b *image.NRGBA, t float64) *image.NRGBA {
	return blended(a, b, func(int) float64 { return t })
}

// blended moves the pixels of a towards those of b by share; i is the index of the pixel's first byte.
func blended(a, b *image.NRGBA, share func(i int) float64) *image.NRGBA {
	out := cloned(a)
	for i := range out.Pix {
		if t := share(i &^ 3); t > 0 {
			p, q := float64(a.Pix[i]), float64(b.Pix[i])
			out.Pix[i] = uint8(p + (q-p)*t + 0.5)
		}
	}
	return out
}

func cloned(img *image.NRGBA) *image.NRGBA {
	return &image.NRGBA{Pix: slices.Clone(img.Pix), Stride: img.Stride, Rect: img.Rect}
}
