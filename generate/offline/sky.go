package offline

import "math"

// sky paints the whole canvas, from the top down to the horizon and on.
func (s *scene) sky() {
	r := newRamp(s.p.top, s.p.top.mix(s.p.mid, 0.45), s.p.mid, s.p.low, s.p.haze)
	s.rows(0, s.H, func(y float64) rgba { return r.at(math.Pow(min(1, y/s.horizon), 1.15) * 0.97) })
	if s.p.night < 0.95 || s.p.time == "dusk" {
		k := map[string]float64{"storm": 0.1, "fog": 0.22, "day": 0.25}[s.p.time]
		if k == 0 {
			k = 0.42
		}
		s.glowOval(s.sun.x, min(s.sun.y, s.horizon), s.S*0.95, s.S*0.55, s.p.low.alpha(0.5*k))
		s.glow(s.sun.x, min(s.sun.y, s.horizon), s.S*0.42, s.p.sun.alpha(0.5*k))
	}
}

// stars dots a dark sky, denser along a faint band.
func (s *scene) stars() {
	if s.p.time != "night" && s.p.time != "dusk" || s.b.tag("no-star") {
		return
	}
	if s.p.time == "night" {
		s.milkyWay()
	}
	count := 420
	for range count {
		x, f := s.rnd.Float64()*s.W, s.rnd.Float64()
		y := f * s.horizon * 0.95
		m := math.Pow(s.rnd.Float64(), 5)
		a := (0.25 + 0.75*m) * (1 - 0.8*f)
		if s.p.time == "dusk" {
			a *= 0.5 * (1 - f)
		}
		c := hex([]uint32{0xffffff, 0xcfe0ff, 0xfff0d8}[s.rnd.IntN(3)])
		s.flat(circle(x, y, s.S*(0.0006+0.0011*m)), c.alpha(a))
		if m > 0.6 {
			s.glow(x, y, s.S*0.0075*m, c.alpha(0.22))
		}
	}
}

func (s *scene) milkyWay() {
	tilt := s.between(0.5, 0.9) * -s.side
	s.haze2(0, s.horizon, s.p.low.mix(hex(0xb9a8e8), 0.5), func(x, y float64) float64 {
		u, v := x/s.S, y/s.S
		d := (v - 0.32) - (u-s.W/s.S/2)*tilt
		band := math.Exp(-d * d * 14)
		return 0.34 * band * smooth(-0.25, 0.5, s.n.fbm(u*5, v*5, 5)) * (1 - y/s.horizon)
	})
}

// haze2 lays a colour over rows y0 to y1 with an opacity that is sampled on a coarse
// grid and interpolated: soft things need no more.
func (s *scene) haze2(y0, y1 float64, c rgba, opacity func(x, y float64) float64) {
	step := max(2, int(s.S/340))
	y0, y1 = max(0, y0), min(s.H, y1)
	if y1 <= y0 {
		return
	}
	cols := s.w/step + 2
	line := func(y float64) []float32 {
		out := make([]float32, cols)
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
				if a <= 0.002 {
					continue
				}
				o := (y*s.w + x) * 3
				s.pix[o] += (c.r - s.pix[o]) * a
				s.pix[o+1] += (c.g - s.pix[o+1]) * a
				s.pix[o+2] += (c.b - s.pix[o+2]) * a
			}
		}
		top = bottom
	}
}

// luminary draws the sun, or the moon at night.
func (s *scene) luminary() {
	switch s.p.time {
	case "storm", "dusk":
		return
	case "fog":
		s.flat(circle(s.sun.x, s.sun.y, s.S*0.05), s.p.sun.times(1.5).alpha(0.75))
		return
	case "night":
		s.moon()
		return
	}
	if s.b.tag("no-sun") {
		return
	}
	r := s.S * 0.048
	if s.p.time == "day" {
		r = s.S * 0.036
	}
	if s.b.tag("minimal") || s.b.tag("flat") {
		r *= 1.7
	}
	for i, k := range []float64{5.5, 3.2, 1.9} {
		s.glow(s.sun.x, s.sun.y, r*k, s.p.sun.alpha(0.08+0.07*float64(i)))
	}
	s.fill(circle(s.sun.x, s.sun.y, r), down(s.sun.y-r, s.sun.y+r, s.p.sun.times(2.4), s.p.sun.mix(s.p.low, 0.2).times(1.9)))
}

func (s *scene) moon() {
	r, c := s.S*0.042, s.p.sun
	s.glow(s.sun.x, s.sun.y, r*7, s.p.light.alpha(0.22))
	s.glow(s.sun.x, s.sun.y, r*2.6, c.alpha(0.3))
	s.fill(circle(s.sun.x, s.sun.y, r), func(x, y float64) rgba {
		v := s.n.fbm(x/r*1.3, y/r*1.3, 4)
		return c.times(0.86 - 0.22*smooth(0, 0.35, v))
	})
}

// clouds draws high streaks and, lower, banks of cumulus.
func (s *scene) clouds() {
	if s.b.tag("no-cloud") {
		return
	}
	if s.p.time == "storm" {
		s.stormClouds()
		return
	}
	k := 0.5
	if s.p.night > 0.9 {
		k = 0.12
	}
	if s.b.tag("minimal") {
		k *= 0.5
	}
	bright := s.p.low.mix(s.p.sun, 0.55)
	ox := s.rnd.Float64() * 40
	s.haze2(0, s.horizon, bright, func(x, y float64) float64 {
		u, v := x/s.S, y/s.S
		f := s.n.fbm(u*1.6+v*0.7+ox, v*7.5+s.n.at(u*1.3, v*2)*0.5, 5)
		return k * smooth(0.02, 0.62, f) * (1 - 0.5*y/s.horizon)
	})
	if s.b.tag("minimal") && !s.b.has(mCloud) {
		return
	}
	n := 3
	if s.b.has(mCloud) {
		n = 8
	}
	for i := range n {
		f := (float64(i) + 0.3) / float64(n)
		y := lerp(s.horizon*0.28, s.horizon*0.86, f)
		w := s.S * lerp(0.34, 0.16, f) * s.between(0.7, 1.2)
		s.cumulus(s.rnd.Float64()*s.W, y, w, f)
	}
}

// cumulus is one cloud: heaped circles on a flat base, dissolving downwards.
func (s *scene) cumulus(x, y, w, depth float64) {
	var p path
	n := 9 + s.rnd.IntN(5)
	for i := range n {
		t := float64(i)/float64(n-1)*2 - 1
		hump := (1 - t*t) * (0.55 + 0.45*s.rnd.Float64())
		r := w * (0.06 + 0.15*hump)
		p = p.join(oval(x+t*w*0.5, y-r*0.35-hump*w*0.06, r*1.15, r))
	}
	top := p.bounds().Min.Y
	lit := s.p.sun.mix(s.p.low, 0.25+0.35*depth)
	dark := s.p.mid.mix(s.p.shade, 0.35)
	if s.p.night > 0.9 {
		lit, dark = s.p.haze.mix(s.p.light, 0.25), s.p.mid
	}
	r := newRamp(lit, lit.mix(dark, 0.35), dark)
	y0 := float64(top)
	s.fill(p, func(px, py float64) rgba {
		side := (px - x) / w * s.side
		f := (py - y0) / (y + w*0.07 - y0)
		c := r.at(f*0.95 - side*0.35)
		return c.alpha(0.86 * (1 - smooth(0.55, 1.02, f)))
	})
}
