package offline

import (
	"image"
	"math"
	"math/rand/v2"

	xdraw "golang.org/x/image/draw"
)

// toNRGBA copies a picture to a canvas at the origin.
func toNRGBA(img image.Image) *image.NRGBA {
	b := img.Bounds()
	if m, ok := img.(*image.NRGBA); ok && b.Min == (image.Point{}) {
		return m
	}
	out := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	xdraw.Draw(out, out.Rect, img, b.Min, xdraw.Src)
	return out
}

// cover scales a picture so that it fills w × h, and cuts what is over. A picture of
// that size comes back untouched.
func cover(img *image.NRGBA, w, h int) *image.NRGBA {
	if img.Rect.Dx() == w && img.Rect.Dy() == h {
		return img
	}
	return crop(img, w, h, view{1, 0.5, 0.5})
}

// coverGray is cover for a mask; nil stays nil.
func coverGray(m *image.Gray, w, h int) *image.Gray {
	if m == nil || m.Rect.Dx() == w && m.Rect.Dy() == h {
		return m
	}
	out := image.NewGray(image.Rect(0, 0, w, h))
	xdraw.CatmullRom.Scale(out, out.Rect, m, window(m.Rect, w, h, view{1, 0.5, 0.5}), xdraw.Src, nil)
	return out
}

// view is the part of a picture that is looked at: zoom times nearer, at x and y, 0 to
// 1, of the room there is.
type view struct{ zoom, x, y float64 }

// crop is cover of a part.
func crop(img *image.NRGBA, w, h int, v view) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	xdraw.CatmullRom.Scale(out, out.Rect, img, window(img.Rect, w, h, v), xdraw.Src, nil)
	return out
}

// window is the part of a picture that fills w × h.
func window(r image.Rectangle, w, h int, v view) image.Rectangle {
	k := min(float64(r.Dx())/float64(w), float64(r.Dy())/float64(h)) / v.zoom
	cw, ch := max(1, int(float64(w)*k+0.5)), max(1, int(float64(h)*k+0.5))
	cw, ch = min(cw, r.Dx()), min(ch, r.Dy())
	at := image.Pt(int(float64(r.Dx()-cw)*v.x), int(float64(r.Dy()-ch)*v.y))
	return image.Rectangle{at, at.Add(image.Pt(cw, ch))}
}

// inside takes new where the mask marks and keeps old, to the bit, where it does not.
func inside(old, new *image.NRGBA, marks *image.Gray) *image.NRGBA {
	out := image.NewNRGBA(old.Rect)
	copy(out.Pix, old.Pix)
	for i, m := range marks.Pix {
		if m > 0 {
			blend(out.Pix[4*i:4*i+4], new.Pix[4*i:4*i+4], float64(m)/255)
		}
	}
	return out
}

// blend moves a pixel towards another one.
func blend(p, q []uint8, t float64) {
	for c := range 4 {
		p[c] = uint8(float64(p[c]) + (float64(q[c])-float64(p[c]))*t + 0.5)
	}
}

// mixed blends two pictures of one size.
func mixed(a, b *image.NRGBA, t float64) *image.NRGBA {
	out := image.NewNRGBA(a.Rect)
	copy(out.Pix, a.Pix)
	for i := 0; i < len(out.Pix); i += 4 {
		blend(out.Pix[i:i+4], b.Pix[i:i+4], t)
	}
	return out
}

// paste puts a picture into a rectangle of another; weight, if not nil, says how much
// of it shows at -1 to 1 from its middle.
func paste(base, img *image.NRGBA, where image.Rectangle, weight func(x, y float64) float64) *image.NRGBA {
	out := image.NewNRGBA(base.Rect)
	copy(out.Pix, base.Pix)
	for y := range where.Dy() {
		for x := range where.Dx() {
			t := 1.0
			if weight != nil {
				t = weight(2*(float64(x)+0.5)/float64(where.Dx())-1, 2*(float64(y)+0.5)/float64(where.Dy())-1)
			}
			o, i := out.PixOffset(where.Min.X+x, where.Min.Y+y), img.PixOffset(x, y)
			blend(out.Pix[o:o+4], img.Pix[i:i+4], t)
		}
	}
	return out
}

// softOval is a soft round window.
func softOval(x, y float64) float64 { return 1 - smooth(0.72, 1, math.Hypot(x, y)) }

// spot is where something new goes when nobody says where: left or right of the
// middle, in the lower half.
func spot(r image.Rectangle, seed int64) image.Rectangle {
	rnd := rand.New(rand.NewPCG(uint64(seed), 0x5907)) //nolint:gosec // pictures, not secrets
	w, h := max(1, r.Dx()*9/20), max(1, r.Dy()/2)
	x := r.Dx() / 20
	if rnd.IntN(2) == 0 {
		x = r.Dx() - w - x
	}
	at := image.Pt(x, r.Dy()-h-r.Dy()/20)
	return image.Rectangle{at, at.Add(image.Pt(w, h))}
}

// markedBounds is the smallest rectangle around what a mask marks; all without one.
func markedBounds(m *image.Gray, all image.Rectangle) image.Rectangle {
	if m == nil {
		return all
	}
	var r image.Rectangle
	for y := range m.Rect.Dy() {
		for x, v := range m.Pix[y*m.Stride : y*m.Stride+m.Rect.Dx()] {
			if v > 0 {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return r
}

// columns sets pictures beside each other with a white gap.
func columns(all []*image.NRGBA, w, h int) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	xdraw.Draw(out, out.Rect, image.White, image.Point{}, xdraw.Src)
	gap := max(1, w/100)
	for i, img := range all {
		x0, x1 := i*(w+gap)/len(all), (i+1)*(w+gap)/len(all)-gap
		if x1 > x0 {
			part := cover(img, x1-x0, h)
			xdraw.Draw(out, image.Rect(x0, 0, x1, h), part, image.Point{}, xdraw.Over)
		}
	}
	return out
}

// coloured gives a picture the colours of another: mean and spread of each channel
// (Reinhard and others, 2001, in OKLab), two thirds of the way.
func coloured(img, from *image.NRGBA) *image.NRGBA {
	const much = 0.67
	a, b := statsOf(img), statsOf(from)
	out := image.NewNRGBA(img.Rect)
	for i := 0; i < len(out.Pix); i += 4 {
		q := linearAt(img.Pix[i:]).lab()
		v := [3]float64{q.l, q.a, q.b}
		for c := range v {
			spread := min(2, b.spread[c]/max(a.spread[c], 1e-3))
			v[c] += ((v[c]-a.mean[c])*spread + b.mean[c] - v[c]) * much
		}
		store(out.Pix[i:], lab{v[0], v[1], v[2]}.rgba(1))
		out.Pix[i+3] = img.Pix[i+3]
	}
	return out
}

// stats are mean and standard deviation of lightness and the colour axes.
type stats struct{ mean, spread [3]float64 }

// statsOf looks at some ten thousand pixels.
func statsOf(img *image.NRGBA) stats {
	step := max(1, len(img.Pix)/4/10_000) * 4
	var s stats
	n := 0.0
	for i := 0; i < len(img.Pix); i += step {
		q := linearAt(img.Pix[i:]).lab()
		for c, v := range [3]float64{q.l, q.a, q.b} {
			s.mean[c] += v
			s.spread[c] += v * v
		}
		n++
	}
	for c := range s.mean {
		s.mean[c] /= n
		s.spread[c] = math.Sqrt(max(0, s.spread[c]/n-s.mean[c]*s.mean[c]))
	}
	return s
}

// blurred softens colours in place by two box blurs of the radius; opacity stays.
func blurred(img *image.NRGBA, radius int) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	plane, tmp := make([]uint8, w*h), make([]uint8, w*h)
	for c := range 3 {
		for i := range plane {
			plane[i] = img.Pix[4*i+c]
		}
		for range 2 {
			boxBlur(tmp, plane, w, h, radius)
			boxBlurT(plane, tmp, w, h, radius)
		}
		for i := range plane {
			img.Pix[4*i+c] = plane[i]
		}
	}
}
