package offline

import (
	"image"
	"math"
	"runtime"

	"golang.org/x/image/vector"
)

// canvas holds linear light, three floats per pixel.
type canvas struct {
	w, h  int
	pix   []float32
	ras   vector.Rasterizer
	mask  []uint8
	since int // pixels since the last yield
}

// yieldEvery is how many pixels are painted before other goroutines may run: about 0.3 ms.
const yieldEvery = 10_000

// yieldAfterPixels counts pixels and periodically lets other goroutines run: a picture occupies a processor for a
// quarter of a second, and other work is usually shorter.
func (c *canvas) yieldAfterPixels(n int) {
	if c.since += n; c.since >= yieldEvery {
		c.since = 0
		runtime.Gosched()
	}
}

// paint returns the colour and opacity at the centre of a pixel.
type paint func(x, y float64) rgba

func (c *canvas) fill(p path, paint paint) {
	r := p.bounds().Intersect(image.Rect(0, 0, c.w, c.h))
	if r.Empty() {
		return
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
	for y := range h {
		base := (y+r.Min.Y)*c.w + r.Min.X
		for i, covered := range m.Pix[y*w : (y+1)*w] {
			if covered > 0 {
				q := paint(ox+float64(i)+0.5, oy+float64(y)+0.5)
				c.blend(base+i, q, q.a*float32(covered)*(1.0/255))
			}
		}
		c.yieldAfterPixels(w)
	}
}

func (c *canvas) flat(p path, q rgba) { c.fill(p, func(float64, float64) rgba { return q }) }

// rows paints a band of whole rows, each in one colour.
func (c *canvas) rows(y0, y1 float64, at func(y float64) rgba) {
	for y := max(0, int(math.Ceil(y0-0.5))); y < min(c.h, int(math.Ceil(y1))); y++ {
		q := at(float64(y) + 0.5)
		if q.a <= 0 {
			continue
		}
		for x := range c.w {
			c.blend(y*c.w+x, q, q.a)
		}
		c.yieldAfterPixels(c.w)
	}
}

// glow adds light that falls off smoothly to nothing at radius r.
func (c *canvas) glow(x, y, r float64, q rgba) { c.glowOval(x, y, r, r, q) }

func (c *canvas) glowOval(x, y, rx, ry float64, q rgba) {
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
		c.yieldAfterPixels(int(2 * half))
	}
}

// blend moves the pixel at an index towards a colour.
func (c *canvas) blend(i int, q rgba, a float32) {
	p := c.pix[3*i : 3*i+3 : 3*i+3]
	p[0] += (q.r - p[0]) * a
	p[1] += (q.g - p[1]) * a
	p[2] += (q.b - p[2]) * a
}
