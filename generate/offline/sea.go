package offline

import "math"

// seascape is water to the horizon and what floats or stands in it.
func (s *scene) seascape() {
	b := s.b
	if b.has(mMountain) || !b.has(mLighthouse) && s.rnd.IntN(2) == 0 {
		r := s.peakRidge(s.horizon+s.S*0.01, s.S*0.13, 1.9)
		fade := func(x float64) float64 {
			return r(x) + s.S*0.16*smooth(0.25, 0.75, 0.5+(x/s.W-0.5)*s.side)
		}
		s.range1(fade, 0.85, s.S*0.13)
	}
	s.mist(s.horizon-s.S*0.06, s.horizon+1, 0.5)
	s.water(s.horizon, s.H)
	if b.has(mTurbine) {
		s.offshore()
	}
	if b.has(mCity) {
		s.skyline(s.horizon+s.S*0.004, s.S*0.2, 0.62, 30)
	}
	if b.has(mBoat) {
		s.boat(s.focus, s.horizon+s.S*0.11, s.S*0.2)
	}
	if s.p.time == "storm" {
		s.swell()
	}
	if b.has(mLighthouse) {
		s.cape()
		return
	}
	if b.has(mIce) {
		s.icebergs()
	}
	if b.has(mBeach) {
		s.beach()
		s.people(s.H - s.S*0.09)
	}
}

// water mirrors the sky, broken into strips that widen towards the viewer.
func (s *scene) water(y0, y1 float64) {
	r := newRamp(s.p.low.mix(s.p.water, 0.35), s.p.mid.mix(s.p.water, 0.55), s.p.water.mix(s.p.top, 0.35), s.p.near.mix(s.p.water, 0.5))
	s.rows(y0, y1, func(y float64) rgba { return r.at(math.Pow((y-y0)/(y1-y0), 0.75)) })
	const n = 900
	crest, trough := s.p.low.mix(s.p.light, 0.3), s.p.near.mix(s.p.water, 0.45)
	for i := range n {
		f := float64(i) / n
		z := f * f
		y := lerp(y0, y1, z)
		x := s.rnd.Float64() * s.W
		w := s.S * lerp(0.008, 0.12, f) * s.between(0.4, 1.2)
		h := s.S * lerp(0.0006, 0.0042, f) * s.between(0.6, 1.2)
		c := crest.alpha(lerp(0.30, 0.16, f))
		if i%2 == 0 {
			c = trough.alpha(0.22)
		}
		s.flat(lens(x, y, w, h), c)
	}
	s.glitter(y0, y1)
}

// lens is a long thin ripple.
func lens(x, y, w, h float64) path {
	var q []pt
	for i := range 9 {
		t := float64(i)/4 - 1
		q = append(q, pt{x + t*w, y - h*(1-t*t)})
	}
	for i := range 7 {
		t := 0.75 - float64(i)/4
		q = append(q, pt{x + t*w, y + h*0.7*(1-t*t)})
	}
	return poly(q...)
}

// glitter is the sun's or the moon's way on the water.
func (s *scene) glitter(y0, y1 float64) {
	if s.p.time == "storm" || s.p.time == "fog" || s.p.time == "dusk" {
		return
	}
	c, k := s.p.sun.mix(s.p.low, 0.25), 1.0
	if s.p.time == "day" {
		k = 0.55
	}
	s.glowOval(s.sun.x, y0, s.S*0.30, (y1-y0)*0.85, c.alpha(0.22*k))
	const n = 420
	for i := range n {
		f := float64(i) / n
		y := lerp(y0+1, y1, f*f)
		spread := s.S * lerp(0.03, 0.12, f)
		g := s.rnd.NormFloat64() * 0.6
		w := s.S * lerp(0.006, 0.042, f) * s.between(0.4, 1.3)
		s.flat(lens(s.sun.x+g*spread, y, w, w*0.07+0.4), c.times(1.2).alpha(0.8*k*math.Exp(-g*g)*(1-0.35*f)))
	}
}

// swell is a storm sea: heavy waves with foam, the nearest the largest.
func (s *scene) swell() {
	for i := range 6 {
		f := float64(i+1) / 6
		y0 := lerp(s.horizon+s.S*0.01, s.H-s.S*0.05, math.Pow(f, 1.35))
		amp, freq := s.S*lerp(0.008, 0.055, f), lerp(8, 2.2, f)
		ox := s.rnd.Float64() * 30
		r := func(x float64) float64 {
			u := x/s.S*freq + ox
			v := math.Abs(math.Mod(math.Abs(u+0.4*s.n.at(u*0.7, ox)), 1)*2 - 1)
			return y0 - amp*(math.Pow(v, 2.2)*1.3-0.3)*(0.7+0.6*s.n.at(u*0.35, ox+3))
		}
		top := s.p.water.mix(s.p.low, 0.42*(1-f)+0.12)
		bottom := s.p.near.mix(s.p.water, 0.3*(1-f)+0.2)
		s.fill(s.ground(r, s.H+2), func(x, y float64) rgba {
			ry := r(math.Floor(x/3) * 3)
			d := (y - ry) / (amp*2.4 + 1)
			c := top.fade(bottom, 0.45*d+0.55*(y-y0+amp)/(amp*3.2+1))
			foam := smooth(0.12, 0.5, s.n.fbm(x/s.S*34, (y-ry)/s.S*60+ox, 3)+0.55*(1-d*2.2))
			return c.fade(s.p.light, 0.75*foam*smooth(0.42, 0, d))
		})
	}
}

// offshore turbines stand in the water, larger towards the focus.
func (s *scene) offshore() {
	for i := range 9 {
		t := float64(i) / 8
		x := s.W * lerp(0.5+0.46*s.side, 0.5-0.40*s.side, t)
		h := s.S * lerp(0.08, 0.5, t*t)
		y := s.horizon + s.S*lerp(0.003, 0.1, t*t)
		depth := lerp(0.75, 0.1, t)
		s.turbine(x, y, h, depth)
		s.fill(rect(x-h*0.02, y-h*0.03, h*0.04, h*0.04), down(y-h*0.03, y+h*0.01, s.seen(hex(0xf2c230), depth), s.shaded(hex(0xd0952a), depth)))
		for k := range 7 {
			yy := y + h*0.012 + h*0.03*float64(k)
			s.flat(lens(x+h*0.01*s.between(-1, 1), yy, h*s.between(0.012, 0.03), h*0.004), s.seen(hex(0xf7f9fa), depth).alpha(0.5-0.06*float64(k)))
		}
	}
}

// boat is a sailing boat with its reflection.
func (s *scene) boat(x, y, h float64) {
	hull := s.p.near.mix(s.seen(s.p.accent, 0.1), 0.45)
	sail := hex(0xfbf6ea)
	k := -s.side
	for i := range 12 {
		f := float64(i) / 12
		s.flat(lens(x+h*0.03*s.between(-1, 1), y+h*(0.05+0.55*f), h*(0.28-0.2*f), h*0.011), s.seen(sail, 0.2).alpha(0.32*(1-f)))
	}
	s.flat(line(pt{x, y}, pt{x, y - h}, h*0.018, h*0.008), s.p.near)
	main := append(curve([]pt{{x + k*h*0.02, y - h*0.97}, {x + k*h*0.2, y - h*0.55}, {x + k*h*0.38, y - h*0.13}}, 8), pt{x + k*h*0.02, y - h*0.1})
	s.fill(poly(main...), across(pt{x, y - h}, pt{x + k*h*0.4, y}, s.seen(sail, 0.05), s.shaded(sail, 0.05).mix(s.p.low, 0.3)))
	jib := append(curve([]pt{{x - k*h*0.02, y - h*0.86}, {x - k*h*0.1, y - h*0.45}, {x - k*h*0.3, y - h*0.12}}, 8), pt{x - k*h*0.03, y - h*0.14})
	s.fill(poly(jib...), across(pt{x, y - h}, pt{x - k*h*0.3, y}, s.seen(sail, 0), s.seen(s.p.accent, 0).mix(s.seen(sail, 0), 0.5)))
	s.fill(closedCurve([]pt{{x - h*0.36, y - h*0.075}, {x, y - h*0.055}, {x + h*0.38, y - h*0.085}, {x + h*0.26, y + h*0.03}, {x - h*0.24, y + h*0.035}}, 6), down(y-h*0.09, y+h*0.04, hull.mix(s.p.light, 0.35), hull))
}

// beach is sand with a wet edge and foam.
func (s *scene) beach() {
	sand := hex(0xf0d6a8)
	ox := s.rnd.Float64() * 10
	edge := func(k float64) ridge {
		return func(x float64) float64 {
			t := 0.5 + (x/s.W-0.5)*s.side
			return s.H - s.S*(0.05+0.16*t*t+0.012*s.n.at(x/s.S*4+ox, k*2)) - k*s.S*0.02
		}
	}
	s.fill(s.ground(edge(1.1), s.H), down(s.H-s.S*0.2, s.H, s.p.light.alpha(0.35), s.p.light.alpha(0.1)))
	s.flat(s.ground(edge(0.6), s.H), s.p.light.alpha(0.85))
	s.fill(s.ground(edge(0.3), s.H), down(s.H-s.S*0.2, s.H, s.seen(sand, 0.1).mix(s.p.water, 0.35), s.seen(sand, 0)))
	s.fill(s.ground(edge(-0.6), s.H+2), down(s.H-s.S*0.2, s.H, s.seen(sand, 0.05), s.seen(sand, 0).mix(s.p.near, 0.25)))
}

// icebergs float with their lit and blue sides.
func (s *scene) icebergs() {
	for i := range 4 {
		x := s.W * (0.12 + 0.26*float64(i) + s.between(-0.06, 0.06))
		y := s.horizon + s.S*s.between(0.015, 0.16)
		h := s.S * lerp(0.06, 0.2, (y-s.horizon)/(s.S*0.16)) * s.between(0.8, 1.2)
		w := h * s.between(1, 1.7)
		peak, base := pt{x - s.side*w*0.1, y - h}, y
		left, right := s.lit(hex(0xf6fbff).under(s.p.light), hex(0x6aa6cf).under(s.p.shade).mix(hex(0x7fb4d8), 0.4))
		s.fill(poly(pt{x - w/2, base}, pt{x - w*0.36, y - h*0.42}, pt{x - w*0.2, y - h*0.6}, peak, pt{peak.x + w*0.04, y - h*0.4}, pt{peak.x - w*0.02, base}), down(y-h, y, left, left.mix(s.p.water, 0.3)))
		s.fill(poly(peak, pt{x + w*0.22, y - h*0.68}, pt{x + w*0.3, y - h*0.35}, pt{x + w/2, base}, pt{peak.x - w*0.02, base}, pt{peak.x + w*0.04, y - h*0.4}), down(y-h, y, right, right.mix(s.p.water, 0.45)))
		for k := range 8 {
			s.flat(lens(x+w*0.1*s.between(-1, 1), y+h*0.05*float64(k), w*(0.5-0.05*float64(k)), h*0.012), s.p.light.alpha(0.3-0.03*float64(k)))
		}
	}
}

// cape is a rock with a lighthouse, its beam over the water and spray at its foot.
func (s *scene) cape() {
	x, y := s.focus, s.H-s.S*0.25
	ox := s.rnd.Float64() * 20
	rock := func(px float64) float64 {
		d := (px - x) / s.S
		slope := 1.9
		if d*s.side < 0 {
			slope = 0.45
		}
		return y + s.S*(math.Pow(math.Abs(d)*slope, 1.4)*0.9-0.01) + s.S*0.022*s.n.fbm(px/s.S*14+ox, ox, 4)
	}
	h := s.S * 0.44
	s.lighthouse(x, y+s.S*0.015, h)
	dark, lit := s.p.near.mix(s.p.shade, 0.12), s.p.shade.mix(s.p.far, 0.4)
	s.fill(s.ground(rock, s.H+2), func(px, py float64) rgba {
		e := s.n.at(px/s.S*24+s.side*py/s.S*9, py/s.S*15) + 0.5*s.n.at(px/s.S*60, py/s.S*50)
		c := dark.fade(lit, smooth(-0.45, 0.8, e-(py-y)/s.S*1.2))
		return c.fade(s.p.foliage, 0.7*smooth(0.03, 0, (py-rock(px))/s.S)*smooth(0.12, 0.02, (py-y)/s.S))
	})
	foam := s.p.light.mix(s.p.low, 0.2)
	power := 1.0
	if s.p.time != "storm" {
		power = 0.45
	}
	for range int(170 * power) {
		px := x + s.S*s.between(-0.5, 0.62)*s.side
		t := s.rnd.Float64()
		py := min(rock(px), s.H) + s.S*0.05 - t*s.S*0.11*power
		if rock(px) < s.H-s.S*0.16 {
			continue
		}
		s.glow(px, max(py, s.H-s.S*0.22*power), s.S*s.between(0.008, 0.04), foam.alpha(0.26*(1-t*0.6)))
	}
}

func (s *scene) lighthouse(x, y, h float64) {
	top := y - h*0.78
	half := func(t float64) float64 { return h * lerp(0.088, 0.055, t) }
	white, red := hex(0xf4f1ea), hex(0xc43a31)
	for i := range 6 {
		t0, t1 := float64(i)/6, float64(i+1)/6
		c := white
		if i%2 == 1 {
			c = red
		}
		a, b := half(t0), half(t1)
		l, r := s.lit(s.seen(c, 0.05), s.shaded(c, 0.05))
		y0, y1 := lerp(y, top, t0), lerp(y, top, t1)
		s.fill(poly(pt{x - a, y0 + 1}, pt{x - b, y1}, pt{x + b, y1}, pt{x + a, y0 + 1}), across(pt{x - a, 0}, pt{x + a, 0}, l.mix(r, 0.15), l, r, r.times(0.75)))
	}
	for i := range 3 {
		wy := lerp(y, top, 0.2+0.27*float64(i))
		s.fill(roundRect(x-h*0.012, wy, h*0.024, h*0.045, h*0.012), down(wy, wy+h*0.045, s.p.lamp, s.p.lamp.times(0.7)))
	}
	iron := s.p.near.times(0.8)
	s.flat(roundRect(x-h*0.085, top-h*0.012, h*0.17, h*0.024, h*0.006), iron)
	for i := range 9 {
		px := x + h*(float64(i)/8-0.5)*0.16
		s.flat(line(pt{px, top}, pt{px, top - h*0.045}, h*0.004, h*0.004), iron)
	}
	s.flat(rect(x-h*0.082, top-h*0.048, h*0.164, h*0.006), iron)
	ly := top - h*0.07
	s.beam(pt{x, ly}, -s.side*0.14+math.Pi*0.5*(1+s.side)-s.side*0.04, s.W*1.1, 0.075)
	s.beam(pt{x, ly}, math.Pi+math.Pi*0.5*(1+s.side)-s.side*0.16, s.W*1.1, 0.075)
	s.fill(rect(x-h*0.042, top-h*0.125, h*0.084, h*0.115), down(top-h*0.125, top, s.p.lamp.times(1.5), hex(0xfff3c8).times(1.6)))
	for i := range 4 {
		px := x + h*(float64(i)/3-0.5)*0.084
		s.flat(line(pt{px, top}, pt{px, top - h*0.125}, h*0.005, h*0.005), iron)
	}
	dome := append(curve([]pt{{x - h*0.055, top - h*0.122}, {x - h*0.035, top - h*0.17}, {x, top - h*0.195}, {x + h*0.035, top - h*0.17}, {x + h*0.055, top - h*0.122}}, 6), pt{x, top - h*0.12})
	s.fill(poly(dome...), down(top-h*0.2, top-h*0.12, s.shaded(red, 0), s.shaded(red, 0).times(0.6)))
	s.flat(line(pt{x, top - h*0.19}, pt{x, top - h*0.235}, h*0.008, h*0.004), iron)
	s.glow(x, ly, h*0.62, s.p.lamp.mix(s.p.low, 0.3).alpha(0.24))
	s.glow(x, ly, h*0.16, hex(0xfff3c8).alpha(0.9))
}

// beam is a cone of light that thins with the distance.
func (s *scene) beam(from pt, angle, length, spread float64) {
	if s.p.time == "day" || s.p.time == "golden" {
		return
	}
	p0 := pt{from.x + length*math.Cos(angle-spread), from.y + length*math.Sin(angle-spread)}
	p1 := pt{from.x + length*math.Cos(angle+spread), from.y + length*math.Sin(angle+spread)}
	c := hex(0xfff0c0)
	s.fill(poly(from, p0, p1), func(x, y float64) rgba {
		dx, dy := x-from.x, y-from.y
		d := math.Hypot(dx, dy) + 1e-9
		off := math.Abs(math.Remainder(math.Atan2(dy, dx)-angle, 2*math.Pi)) / spread
		return c.alpha(0.62 * math.Exp(-d/s.S*1.9) * (1 - off*off))
	})
}
