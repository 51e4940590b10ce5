package offline

import (
	"image"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/image/vector"
)

// canvas holds linear light, three floats per pixel. Drawing lets other goroutines run after each row: a picture
// occupies a processor for a quarter of a second, and other work is usually shorter.
type canvas struct {
	w, h int
	pix  []float32
	ras  vector.Rasterizer
	mask []uint8
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
	for _, poly := range p {
		for i, q := range poly {
			x, y := float32(q.x-float64(r.Min.X)), float32(q.y-float64(r.Min.Y))
			if i == 0 {
				c.ras.MoveTo(x, y)
			} else {
				c.ras.LineTo(x, y)
			}
		}
		c.ras.ClosePath()
	}
	c.ras.Draw(&m, m.Rect, image.Opaque, image.Point{})
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for i, covered := range m.Pix[(y-r.Min.Y)*w:][:w] {
			if covered > 0 {
				q := paint(float64(r.Min.X+i)+0.5, float64(y)+0.5)
				c.blend(y*c.w+r.Min.X+i, q, q.a*float32(covered)*(1.0/255))
			}
		}
		runtime.Gosched()
	}
}

func (c *canvas) flat(p path, q rgba) { c.fill(p, func(float64, float64) rgba { return q }) }

// rows paints a band of whole rows, each in one colour.
func (c *canvas) rows(y0, y1 float64, at func(y float64) rgba) {
	for y := max(0, int(math.Ceil(y0-0.5))); y < min(c.h, int(math.Ceil(y1))); y++ {
		q := at(float64(y) + 0.5)
		for x := range c.w {
			c.blend(y*c.w+x, q, q.a)
		}
		runtime.Gosched()
	}
}

// glow adds light in an oval; it falls off smoothly to nothing at the edge.
func (c *canvas) glow(x, y, rx, ry float64, q rgba) {
	for iy := max(0, int(y-ry)); iy < min(c.h, int(y+ry)+1); iy++ {
		dy := (float64(iy) + 0.5 - y) / ry
		half := rx * math.Sqrt(max(0, 1-dy*dy))
		for ix := max(0, int(x-half)); ix < min(c.w, int(x+half)+1); ix++ {
			dx := (float64(ix) + 0.5 - x) / rx
			d := max(0, 1-dx*dx-dy*dy)
			k := float32(d*d*d) * q.a
			p := c.pix[(iy*c.w+ix)*3:]
			p[0] += q.r * k
			p[1] += q.g * k
			p[2] += q.b * k
		}
		runtime.Gosched()
	}
}

// blend moves the pixel at an index towards a colour.
func (c *canvas) blend(i int, q rgba, a float32) {
	p := c.pix[3*i : 3*i+3 : 3*i+3]
	p[0] += (q.r - p[0]) * a
	p[1] += (q.g - p[1]) * a
	p[2] += (q.b - p[2]) * a
}

// picture converts light to pixels: highlights roll off softly, and grain hides the steps of eight bits.
func (c *canvas) picture(rnd *rand.Rand) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, c.w, c.h))
	for i := range c.w * c.h {
		g := 1.3 * (rnd.Float64() - rnd.Float64())
		p, o := c.pix[3*i:3*i+3], img.Pix[4*i:4*i+4]
		o[0], o[1], o[2], o[3] = code(soft(p[0]), g), code(soft(p[1]), g), code(soft(p[2]), g), 255
		if i%c.w == 0 {
			runtime.Gosched()
		}
	}
	return img
}

// soft rolls highlights off.
func soft(v float32) float32 {
	if v > 0.7 {
		v = 0.7 + 0.3*float32(1-math.Exp(-float64(v-0.7)/0.3))
	}
	return v
}

type pt struct{ x, y float64 }

// path is a set of closed polygons, all of one orientation, so that overlapping ones are united.
type path [][]pt

func (p path) bounds() (r image.Rectangle) {
	const far = 1 << 20
	lim := func(v float64) int { return int(min(far, max(-far, math.Floor(v)))) }
	for _, poly := range p {
		x0, x1, y0, y1 := poly[0].x, poly[0].x, poly[0].y, poly[0].y
		for _, q := range poly {
			x0, x1, y0, y1 = min(x0, q.x), max(x1, q.x), min(y0, q.y), max(y1, q.y)
		}
		r = r.Union(image.Rect(lim(x0), lim(y0), lim(x1)+2, lim(y1)+2))
	}
	return r
}

// poly returns a polygon in the orientation that unites it with others.
func poly(q ...pt) path {
	area := 0.0
	for i, a := range q {
		b := q[(i+1)%len(q)]
		area += a.x*b.y - b.x*a.y
	}
	if area < 0 {
		slices.Reverse(q)
	}
	return path{q}
}

func rect(x, y, w, h float64) path {
	return path{{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}}
}

func oval(x, y, rx, ry float64) path {
	q := make([]pt, min(96, 12+int(max(rx, ry)*0.8)))
	for i := range q {
		s, c := math.Sincos(2 * math.Pi * float64(i) / float64(len(q)))
		q[i] = pt{x + rx*c, y + ry*s}
	}
	return path{q}
}

// ribbon follows a line of at least two points.
func ribbon(q []pt, width float64) path {
	n := len(q)
	out := make([]pt, 2*n)
	for i := range q {
		a, b := q[max(0, i-1)], q[min(n-1, i+1)]
		dx, dy := b.x-a.x, b.y-a.y
		k := width / 2 / (math.Hypot(dx, dy) + 1e-9)
		out[i], out[2*n-1-i] = pt{q[i].x - dy*k, q[i].y + dx*k}, pt{q[i].x + dy*k, q[i].y - dx*k}
	}
	return poly(out...)
}

// rounded cuts the corners of a closed shape until it is smooth.
func rounded(q []pt) []pt {
	for range 3 {
		var out []pt
		for i, a := range q {
			b := q[(i+1)%len(q)]
			out = append(out, pt{lerp(a.x, b.x, 0.25), lerp(a.y, b.y, 0.25)}, pt{lerp(a.x, b.x, 0.75), lerp(a.y, b.y, 0.75)})
		}
		q = out
	}
	return q
}

// noise is seeded gradient noise.
type noise struct{ perm [512]uint8 }

func newNoise(r *rand.Rand) *noise {
	var n noise
	for i, v := range r.Perm(256) {
		b := uint8(v) //nolint:gosec // Perm(256) returns 0 to 255
		n.perm[i], n.perm[i+256] = b, b
	}
	return &n
}

// gradients are eight directions of equal length.
var gradients = [8][2]float64{{1, 0}, {0.7071, 0.7071}, {0, 1}, {-0.7071, 0.7071}, {-1, 0}, {-0.7071, -0.7071}, {0, -1}, {0.7071, -0.7071}}

func (n *noise) grad(ix, iy int, x, y float64) float64 {
	g := &gradients[n.perm[int(n.perm[ix&255])+iy&255]&7]
	return g[0]*x + g[1]*y
}

// at returns smooth noise, about -1 to 1, with features one unit wide.
func (n *noise) at(x, y float64) float64 {
	fx, fy := math.Floor(x), math.Floor(y)
	ix, iy := int(fx), int(fy)
	x, y = x-fx, y-fy
	u, v := x*x*x*(x*(x*6-15)+10), y*y*y*(y*(y*6-15)+10)
	a, b := n.grad(ix, iy, x, y), n.grad(ix+1, iy, x-1, y)
	c, d := n.grad(ix, iy+1, x, y-1), n.grad(ix+1, iy+1, x-1, y-1)
	a += (b - a) * u
	c += (d - c) * u
	return 1.5 * (a + (c-a)*v)
}

// ridged returns the sum of folded octaves, sharp at its crests, 0 to about 1.
func (n *noise) ridged(x, y float64, octaves int) (sum float64) {
	amp := 0.5
	for range octaves {
		v := 1 - math.Abs(n.at(x, y))
		sum += amp * v * v
		x, y, amp = x*2.1+3.1, y*2.1+11.3, amp/2
	}
	return sum
}

// smooth returns 0 below a, 1 above b and a smooth transition between them.
func smooth(a, b, x float64) float64 {
	t := min(1, max(0, (x-a)/(b-a)))
	return t * t * (3 - 2*t)
}

func lerp(a, b, t float64) float64 { return a + (b-a)*t }
