package offline

import (
	"image"
	"math"

	"golang.org/x/image/vector"
)

// canvas holds linear light, three floats a pixel.
type canvas struct {
	w, h int
	pix  []float32
	ras  vector.Rasterizer
	mask []uint8
}

func newCanvas(w, h int) *canvas {
	return &canvas{w: w, h: h, pix: make([]float32, w*h*3)}
}

// paint gives the colour and opacity at the middle of a pixel.
type paint func(x, y float64) rgba

// coverage rasterises p into the mask, clipped to the canvas plus nothing.
func (c *canvas) coverage(p path) (image.Rectangle, []uint8) {
	r := p.bounds().Intersect(image.Rect(0, 0, c.w, c.h))
	if r.Empty() {
		return r, nil
	}
	w, h := r.Dx(), r.Dy()
	if cap(c.mask) < w*h {
		c.mask = make([]uint8, w*h)
	}
	m := image.Alpha{Pix: c.mask[:w*h], Stride: w, Rect: image.Rect(0, 0, w, h)}
	clear(m.Pix)
	c.ras.Reset(w, h)
	ox, oy := float64(r.Min.X), float64(r.Min.Y)
	for _, poly := range p {
		for i, q := range poly {
			x, y := float32(q.x-ox), float32(q.y-oy)
			if i == 0 {
				c.ras.MoveTo(x, y)
			} else {
				c.ras.LineTo(x, y)
			}
		}
		c.ras.ClosePath()
	}
	c.ras.Draw(&m, m.Rect, image.Opaque, image.Point{})
	return r, m.Pix
}

// fill paints the inside of p.
func (c *canvas) fill(p path, pt paint) {
	r, mask := c.coverage(p)
	c.compose(r, mask, pt)
}

func (c *canvas) compose(r image.Rectangle, mask []uint8, pt paint) {
	w := r.Dx()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := mask[(y-r.Min.Y)*w : (y-r.Min.Y+1)*w]
		base := (y*c.w + r.Min.X) * 3
		for i, m := range row {
			if m == 0 {
				continue
			}
			q := pt(float64(r.Min.X+i)+0.5, float64(y)+0.5)
			px := c.pix[base+i*3 : base+i*3+3 : base+i*3+3]
			a := q.a * float32(m) * (1.0 / 255)
			px[0] += (q.r - px[0]) * a
			px[1] += (q.g - px[1]) * a
			px[2] += (q.b - px[2]) * a
		}
	}
}

// flat paints the inside of p in one colour.
func (c *canvas) flat(p path, q rgba) { c.fill(p, func(float64, float64) rgba { return q }) }

// rows paints a band of whole rows with one colour a row.
func (c *canvas) rows(y0, y1 float64, at func(y float64) rgba) {
	for y := max(0, int(math.Ceil(y0-0.5))); y < min(c.h, int(math.Ceil(y1))); y++ {
		q := at(float64(y) + 0.5)
		if q.a <= 0 {
			continue
		}
		row := c.pix[y*c.w*3 : (y+1)*c.w*3]
		for i := 0; i < len(row); i += 3 {
			row[i] += (q.r - row[i]) * q.a
			row[i+1] += (q.g - row[i+1]) * q.a
			row[i+2] += (q.b - row[i+2]) * q.a
		}
	}
}

// glow adds light that falls off smoothly to nothing at radius r.
func (c *canvas) glow(x, y, r float64, q rgba) { c.glowOval(x, y, r, r, q) }

// glowOval is glow with two radii.
func (c *canvas) glowOval(x, y, rx, ry float64, q rgba) {
	if rx <= 0 || ry <= 0 {
		return
	}
	for iy := max(0, int(y-ry)); iy < min(c.h, int(y+ry)+1); iy++ {
		dy := (float64(iy) + 0.5 - y) / ry
		half := rx * math.Sqrt(max(0, 1-dy*dy))
		for ix := max(0, int(x-half)); ix < min(c.w, int(x+half)+1); ix++ {
			dx := (float64(ix) + 0.5 - x) / rx
			d := 1 - dx*dx - dy*dy
			if d <= 0 {
				continue
			}
			k := float32(d*d*d) * q.a
			o := (iy*c.w + ix) * 3
			c.pix[o] += q.r * k
			c.pix[o+1] += q.g * k
			c.pix[o+2] += q.b * k
		}
	}
}

// shadow darkens below p, offset and blurred, as under cut paper.
func (c *canvas) shadow(p path, off pt, blur float64, a float32) {
	r, mask := c.coverage(p.move(off.x, off.y).pad(blur))
	if mask == nil {
		return
	}
	n := max(1, int(blur/2))
	w, h := r.Dx(), r.Dy()
	tmp := make([]uint8, len(mask))
	for range 2 {
		boxBlur(tmp, mask, w, h, n)
		boxBlurT(mask, tmp, w, h, n)
	}
	c.compose(r, mask, func(float64, float64) rgba { return rgba{0, 0, 0.01, a} })
}

// boxBlur averages rows over 2n+1 pixels.
func boxBlur(dst, src []uint8, w, h, n int) {
	for y := range h {
		row, out, sum := src[y*w:(y+1)*w], dst[y*w:(y+1)*w], 0
		for i := -n; i <= n; i++ {
			sum += int(row[min(w-1, max(0, i))])
		}
		for x := range w {
			out[x] = uint8(sum / (2*n + 1)) //nolint:gosec // a mean of bytes is a byte
			sum += int(row[min(w-1, x+n+1)]) - int(row[max(0, x-n)])
		}
	}
}

// boxBlurT averages columns over 2n+1 pixels.
func boxBlurT(dst, src []uint8, w, h, n int) {
	sums := make([]int, w)
	for i := -n; i <= n; i++ {
		row := src[min(h-1, max(0, i))*w:]
		for x := range w {
			sums[x] += int(row[x])
		}
	}
	for y := range h {
		add, sub := src[min(h-1, y+n+1)*w:], src[max(0, y-n)*w:]
		for x := range w {
			dst[y*w+x] = uint8(sums[x] / (2*n + 1)) //nolint:gosec // a mean of bytes is a byte
			sums[x] += int(add[x]) - int(sub[x])
		}
	}
}
