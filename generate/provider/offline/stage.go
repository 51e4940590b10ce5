package offline

import (
	"math"
	"math/rand/v2"
)

// stage is what everything is drawn on and in: the canvas, its light, and positions. W, H and S do not change while a
// picture is drawn.
type stage struct {
	*canvas
	W, H, S float64 // sides, and the unit for scaling things
	rnd     *rand.Rand
	n       *noise
	b       *wording
	p       palette
	horizon float64
	sun     pt
	side    float64 // where the light comes from: -1 left, 1 right
	focus   float64 // x of the picture's subject
}

// seen returns a colour as it appears in the scene's light at a distance, from 0 (near) to 1 (far).
func (s *stage) seen(c rgba, depth float64) rgba {
	return c.under(s.p.light).fade(s.p.haze, depth*depthHaze)
}

// shaded is like seen, for the side away from the light.
func (s *stage) shaded(c rgba, depth float64) rgba {
	return c.under(s.p.shade).fade(s.p.haze, depth*depthHaze)
}

const depthHaze = 0.78

func (s *stage) between(a, b float64) float64 { return a + (b-a)*s.rnd.Float64() }

// veil blends a colour over rows y0 to y1. The opacity is sampled on a coarse grid and interpolated, which is enough
// for soft things.
func (s *stage) veil(y0, y1 float64, c rgba, opacity func(x, y float64) float64) {
	step := max(2, int(s.S/340))
	y0, y1 = max(0, y0), min(s.H, y1)
	line := func(y float64) []float32 {
		out := make([]float32, s.w/step+2)
		for i := range out {
			out[i] = float32(opacity(float64(i*step), y))
		}
		return out
	}
	top := line(y0)
	for by := y0; by < y1; by += float64(step) {
		bottom := line(by + float64(step))
		for k := range step {
			y := int(by) + k
			if y >= s.h || float64(y) >= y1 {
				break
			}
			f := float32(k) / float32(step)
			for x := range s.w {
				i, g := x/step, float32(x%step)/float32(step)
				a := (top[i]*(1-g)+top[i+1]*g)*(1-f) + (bottom[i]*(1-g)+bottom[i+1]*g)*f
				if a > 0.002 {
					s.blend(y*s.w+x, c, a)
				}
			}
		}
		top = bottom
	}
}

// mist draws haze that thickens downwards and hides where layers meet.
func (s *stage) mist(y0, y1, a float64) {
	s.rows(y0, y1, func(y float64) rgba {
		t := (y - y0) / (y1 - y0)
		return s.p.haze.alpha(a * t * t * (1 - smooth(0.9, 1, t)*0.3))
	})
}

// soft draws an oval patch of colour that fades outwards.
func (s *stage) soft(x, y, rx, ry float64, c rgba) {
	s.fill(oval(x, y, rx, ry), func(px, py float64) rgba {
		dx, dy := (px-x)/rx, (py-y)/ry
		return c.alpha(float64(c.a) * max(0, 1-dx*dx-dy*dy))
	})
}

// ridge is the upper edge of a piece of land: y at x.
type ridge func(x float64) float64

// hillRidge returns a ridge that rolls around y0; in a desert it has the long and short slopes of dunes.
func (s *stage) hillRidge(y0, amp, freq float64) ridge {
	ox, oy := s.rnd.Float64()*100, s.rnd.Float64()*100
	if s.b.has("desert") {
		return func(x float64) float64 {
			u := x/s.S*1.5 + ox + 0.3*s.n.at(x/s.S*1.1, ox)
			f := u - math.Floor(u)
			v := min(f/0.72, (1-f)/0.28)
			return y0 - 2.5*amp*math.Pow(v, 1.3)*(0.7+0.4*s.n.at(math.Floor(u)*3.3, ox))
		}
	}
	return func(x float64) float64 {
		u := x / s.S * freq
		return y0 - amp*(s.n.at(u+ox, oy)+0.3*s.n.at(u*2.3+ox, oy+9))
	}
}

// peakRidge returns a jagged ridge that never falls below y0.
func (s *stage) peakRidge(y0, amp, freq float64) ridge {
	ox, oy := s.rnd.Float64()*100, s.rnd.Float64()*100
	return func(x float64) float64 {
		return y0 - amp*math.Pow(max(0, s.n.ridged(x/s.S*freq+ox, oy, 6)-0.18)*1.3, 1.35)
	}
}

// ground returns the area below a ridge.
func (s *stage) ground(r ridge, bottom float64) path {
	step := max(1, s.W/900)
	var q []pt
	for x := -step; x <= s.W+2*step; x += step {
		q = append(q, pt{x, r(x)})
	}
	return poly(append(q, pt{s.W + 2*step, bottom}, pt{-step, bottom})...)
}

// heights samples a ridge at every column and beyond the edges, for use per pixel.
func (s *stage) heights(r ridge) func(x float64) float64 {
	all := make([]float64, s.w+2)
	for i := range all {
		all[i] = r(float64(i))
	}
	return func(x float64) float64 { return all[min(s.w+1, max(0, int(x)))] }
}
