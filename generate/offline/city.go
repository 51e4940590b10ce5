package offline

import "math"

// cityscape is a town in layers, with water or a park in front.
func (s *scene) cityscape() {
	future := s.b.has(mFuture)
	base := s.horizon + s.S*0.09
	s.skyline(base, s.S*0.26, 0.85, 34)
	s.mist(base-s.S*0.3, base, 0.55)
	s.skyline(base+s.S*0.02, s.S*0.36, 0.6, 26)
	s.mist(base-s.S*0.25, base+s.S*0.03, 0.5)
	if s.b.has(mTurbine) {
		s.turbines(func(float64) float64 { return base + s.S*0.03 }, 4, s.S*0.4, 0.5)
	}
	if future {
		s.spires(base + s.S*0.06)
	} else {
		s.skyline(base+s.S*0.05, s.S*0.44, 0.32, 15)
	}
	s.mist(base-s.S*0.12, base+s.S*0.06, 0.34)
	if future {
		s.maglev(base - s.S*0.05)
	}
	if s.b.has(mRoad, mSolar) {
		s.hill(s.hillRidge(base+s.S*0.06, s.S*0.012, 1.2), 0.2)
		if s.b.has(mSolar) {
			s.solarField()
		} else if s.b.has(mRoad) {
			s.road()
		}
		s.park(base + s.S*0.08)
		return
	}
	s.park(base + s.S*0.055)
	s.water(base+s.S*0.062, s.H)
	s.mirror(base+s.S*0.062, s.S*0.34)
}

// mirror lays the picture above y0 upside down over the water, broken by ripples.
func (s *scene) mirror(y0, depth float64) {
	for y := int(y0); y < min(s.h, int(y0+depth)); y++ {
		f := (float64(y) - y0) / depth
		src := int(y0 - (float64(y)-y0)*1.25)
		if src < 0 {
			break
		}
		for x := range s.w {
			w := s.n.at(float64(x)/s.S*9, float64(y)/s.S*70)
			sx := min(s.w-1, max(0, x+int(w*s.S*0.012*(0.3+f))))
			sy := max(0, src+int(w*s.S*0.01*(0.3+f)))
			o, p := (y*s.w+x)*3, (sy*s.w+sx)*3
			a := float32(0.62 * (1 - f) * (0.82 + 0.3*w))
			for c := range 3 {
				s.pix[o+c] += (s.pix[p+c]*0.9 - s.pix[o+c]) * a
			}
		}
	}
}

// skyline draws one row of n buildings.
func (s *scene) skyline(y, h, depth float64, n int) {
	ox := s.rnd.Float64() * 30
	for i := range n {
		x := s.W * (float64(i) + s.between(-0.3, 0.3)) / float64(n-1)
		w := s.W / float64(n) * s.between(0.7, 1.3)
		w = min(w, s.S*0.14)
		mass := 0.55 + 0.45*s.n.at(x/s.S*1.7+ox, ox)
		centre := 1 - 0.5*math.Pow(math.Abs(x-s.focus)/s.W*1.6, 1.2)
		s.tower(x-w/2, y, w, h*mass*max(0.3, centre)*s.between(0.7, 1.3), depth)
	}
}

// tower is one building with a top of its own and windows.
func (s *scene) tower(x, y, w, h, depth float64) {
	tint := hex([]uint32{0xb8c4d0, 0x8fa3b8, 0xd0c4b4, 0xa8b4b8, 0xc4b0a4}[s.rnd.IntN(5)])
	bright, dark := s.seen(tint, depth), s.shaded(tint.times(0.7), depth)
	if s.p.night > 0.25 {
		k := s.p.night * (1 - depth) * 0.62
		bright, dark = bright.fade(s.p.near, k), dark.fade(s.p.near, k)
	}
	top := y - h
	var p path
	switch s.rnd.IntN(6) {
	case 0:
		p = rect(x, top, w, h).join(rect(x+w*0.2, top-h*0.12, w*0.6, h*0.13)).join(line(pt{x + w/2, top - h*0.1}, pt{x + w/2, top - h*0.3}, w*0.05, w*0.015))
	case 1:
		p = poly(pt{x, y}, pt{x, top}, pt{x + w, top - w*0.5}, pt{x + w, y})
	case 2:
		p = rect(x, top+h*0.2, w, h*0.8).join(rect(x+w*0.14, top+h*0.08, w*0.72, h*0.2)).join(rect(x+w*0.3, top, w*0.4, h*0.2))
	case 3:
		p = poly(pt{x, y}, pt{x, top}, pt{x + w/2, top - w*0.7}, pt{x + w, top}, pt{x + w, y})
	default:
		p = rect(x, top, w, h)
	}
	l, r := s.lit(bright, dark)
	cut := x + w*0.62
	if s.side > 0 {
		cut = x + w*0.38
	}
	fade := s.p.haze
	s.fill(p, func(px, py float64) rgba {
		c := l
		if px > cut {
			c = r
		}
		return c.fade(fade, 0.5*depth*smooth(0.3, 1, (py-top)/h))
	})
	s.windows(x, top, w, h, depth)
}

// windows are a grid; at night some are lit.
func (s *scene) windows(x, y, w, h, depth float64) {
	step := s.S * lerp(0.0135, 0.0075, depth)
	cols := int(w / step)
	if cols < 2 || step < 2.5 {
		return
	}
	gap := w / float64(cols)
	lampC := s.p.lamp.fade(s.p.haze, depth*0.45)
	glass := s.p.mid.mix(s.p.shade, 0.35).fade(s.p.haze, depth*0.6)
	litShare := 0.52 * s.p.night
	var lamps, dim path
	for ry := y + gap; ry < y+h-gap; ry += gap * 1.35 {
		for i := range cols {
			q := rect(x+(float64(i)+0.22)*gap, ry, gap*0.56, gap*0.72)
			if s.rnd.Float64() < litShare {
				lamps = lamps.join(q)
			} else {
				dim = dim.join(q)
			}
		}
	}
	s.flat(dim, glass.alpha(0.5-0.3*s.p.night))
	s.flat(lamps, lampC.times(1.15).alpha(0.92))
}

// spires are the towers of a city to come: tapering glass with gardens in the sky.
func (s *scene) spires(y float64) {
	type plan struct{ x, h, w float64 }
	list := []plan{{0, 0.60, 0.075}, {-0.2, 0.42, 0.07}, {0.17, 0.46, 0.062}, {0.34, 0.34, 0.075}, {-0.37, 0.31, 0.08}, {0.52, 0.26, 0.07}, {-0.54, 0.24, 0.07}, {0.7, 0.3, 0.07}, {-0.72, 0.27, 0.08}}
	for i := len(list) - 1; i >= 0; i-- {
		v := list[i]
		s.spire(s.focus+v.x*s.S, y, s.S*v.w*s.between(0.9, 1.1), s.S*v.h*s.between(0.9, 1.08), 0.12+0.04*float64(i))
	}
}

func (s *scene) spire(x, y, w, h, depth float64) {
	kind := s.rnd.IntN(3)
	lean := w * s.between(-0.4, 0.4)
	half := func(t float64) (mid, d float64) {
		d = w * (0.75 - 0.3*t)
		switch kind {
		case 0:
			d = w * (0.42 + 0.32*math.Sin(t*2.7+0.4)) * (1 - 0.75*smooth(0.75, 1, t))
		case 1:
			d = w * 0.66 * math.Pow(1-t, 0.42)
		}
		return x + lean*t*t + w*0.10*math.Sin(t*5)*float64(kind), d
	}
	var l, r []pt
	for i := range 41 {
		t := float64(i) / 40
		m, d := half(t)
		l, r = append(l, pt{m - d, y - h*t}), append([]pt{{m + d, y - h*t}}, r...)
	}
	glass := hex(0x9fd0e0)
	bright, dark := s.seen(glass, depth).mix(s.p.low, 0.4), s.shaded(glass.times(0.45), depth).fade(s.p.near, 0.35*s.p.night)
	a, b := s.lit(bright, dark)
	s.fill(poly(append(l, r...)...), across(pt{x - w*0.75, y}, pt{x + w*0.75, y - h*0.12}, a, a.mix(b, 0.35), b, b.mix(s.p.mid, 0.35)))
	slab, lampC := s.seen(hex(0xf4f7f6), depth), s.p.lamp.times(1.1)
	floors := int(h / (s.S * 0.0115))
	for i := 1; i < floors; i++ {
		t := float64(i) / float64(floors)
		m, d := half(t)
		yy := y - h*t
		garden := i%7 == 3 && t < 0.9
		if s.p.night > 0.3 && s.rnd.IntN(3) > 0 {
			x0 := s.between(-0.9, 0.3)
			s.flat(rect(m+d*x0, yy-s.S*0.0072, d*s.between(0.25, 0.6), s.S*0.0042), lampC.alpha(0.85*s.p.night))
		}
		s.flat(rect(m-d, yy-s.S*0.0012, 2*d, s.S*0.0022), slab.alpha(0.55))
		if garden {
			s.balcony(m-d*1.12, yy, d*2.24, s.S*0.011, depth)
		}
	}
	m, _ := half(1)
	s.flat(line(pt{m, y - h*0.99}, pt{m, y - h*1.12}, w*0.05, w*0.012), slab)
	if s.p.night > 0.5 {
		s.glow(m, y-h*1.12, w*0.5, hex(0xff5040).alpha(0.7))
	}
}

// balcony is a slab with plants that spill over it.
func (s *scene) balcony(x, y, w, h, depth float64) {
	dark := s.p.near.mix(s.p.foliage, 0.55).fade(s.p.haze, depth*0.5)
	lit := s.p.foliage.mix(s.p.foliage2, 0.5).mix(s.p.low, 0.18).fade(s.p.haze, depth*0.5)
	var low, high path
	n := max(4, int(w/h*1.7))
	for i := range n {
		px := x + w*(float64(i)+s.between(0.1, 0.9))/float64(n)
		r := h * s.between(0.28, 0.62)
		low = low.join(oval(px, y-r*0.5, r, r*0.85))
		if i%3 == 0 {
			d := h * s.between(0.5, 1.5)
			low = low.add(pt{px - h*0.2, y - h*0.1}, pt{px + h*0.2, y - h*0.1}, pt{px + h*0.03, y + d}, pt{px - h*0.05, y + d*0.9})
		}
		if i%2 == 0 {
			high = high.join(oval(px+s.side*r*0.3, y-r*0.85, r*0.55, r*0.42))
		}
	}
	s.flat(low, dark)
	s.flat(high, lit)
}

// maglev is a track on slim piers with a train.
func (s *scene) maglev(y float64) {
	var q []pt
	for i := range 60 {
		t := float64(i) / 59
		q = append(q, pt{t*s.W*1.04 - s.W*0.02, y + s.S*0.05*math.Sin(t*3.4+s.side)})
	}
	c := s.seen(hex(0xe6edf0), 0.2)
	for i := 4; i < 60; i += 9 {
		s.fill(rect(q[i].x-s.S*0.004, q[i].y, s.S*0.008, s.S*0.16), down(q[i].y, q[i].y+s.S*0.16, c.mix(s.p.shade, 0.4), c.fade(s.p.haze, 0.5)))
	}
	s.flat(ribbon(q, func(float64) float64 { return s.S * 0.009 }), c.mix(s.p.shade, 0.25))
	train := make([]pt, 0, 14)
	for _, v := range q[18:32] {
		train = append(train, pt{v.x, v.y - s.S*0.0115})
	}
	s.flat(ribbon(train, func(t float64) float64 {
		return s.S * 0.017 * math.Pow(math.Sin(math.Pi*min(0.5, min(t, 1-t)*4+0.06)), 0.6)
	}), s.seen(hex(0xfafcfc), 0.05))
	s.flat(ribbon(train[1:13], func(float64) float64 { return s.S * 0.005 }), s.p.lamp.mix(s.p.shade, 0.5*(1-s.p.night)))
}

// park is a band of trees before a city.
func (s *scene) park(y float64) {
	flat := func(x float64) float64 { return y + s.S*0.004*s.n.at(x/s.S*6, 3) }
	_, dark := s.land(0.25)
	s.flat(s.ground(flat, y+s.S*0.012), dark)
	for x := -s.S * 0.02; x < s.W+s.S*0.02; x += s.S * s.between(0.012, 0.034) {
		h := s.S * s.between(0.028, 0.06)
		c := s.p.near.mix(s.p.foliage, s.between(0.35, 0.8)).fade(s.p.haze, 0.14)
		s.flat(s.crown(x, y-h*0.45, h, h*0.95, 6), c)
		s.flat(s.crown(x+s.side*h*0.1, y-h*0.55, h*0.6, h*0.55, 4), c.mix(s.p.low, 0.22))
	}
}
