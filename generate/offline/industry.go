package offline

import "math"

// industry is a power station: cooling towers, stacks, halls, and what they emit.
func (s *scene) industry() {
	y := s.horizon + s.S*0.1
	clean := s.b.has(mNuclear) && !s.b.has(mFactory)
	x := s.focus
	s.hill(func(float64) float64 { return y - s.S*0.004 }, 0.5)
	if s.p.night > 0.5 {
		s.glowOval(x, y-s.S*0.05, s.S*0.6, s.S*0.3, hex(0xff9a4a).alpha(0.16))
	}
	towers := []struct{ x, h, d float64 }{{0.3, 0.23, 0.5}, {0.12, 0.3, 0.36}, {-0.12, 0.36, 0.24}}
	for i, v := range towers {
		tx := x - s.side*s.S*v.x*1.1
		s.plume(pt{tx, y - s.S*v.h}, s.S*v.h*0.34, 0.75+0.1*float64(i), s.p.light.mix(s.p.low, 0.4).fade(s.p.haze, 0.2), v.d)
		s.coolingTower(tx, y, s.S*v.h*0.72, s.S*v.h, v.d)
	}
	if !clean {
		for i := range 3 {
			sx := x + s.side*s.S*(0.16+0.09*float64(i))
			h := s.S * (0.43 - 0.05*float64(i))
			s.plume(pt{sx, y - h}, s.S*0.022, 0.95, s.p.shade.mix(hex(0x5a5a60).under(s.p.light), 0.5).mix(s.p.near, 0.2), 0.25)
			s.stack(sx, y, s.S*0.026, h, 0.2)
		}
	} else {
		s.reactor(x+s.side*s.S*0.2, y, s.S*0.17)
	}
	s.halls(x, y+s.S*0.012)
	s.mist(y-s.S*0.07, y+s.S*0.012, 0.35)
}

func (s *scene) coolingTower(x, y, w, h, depth float64) {
	half := func(t float64) float64 { return w / 2 * (0.62 + 0.40*math.Pow(math.Abs(t-0.74)/0.74, 1.7)) }
	var l, r []pt
	for i := range 31 {
		t := float64(i) / 30
		d := half(t)
		l, r = append(l, pt{x - d, y - h*t}), append([]pt{{x + d, y - h*t}}, r...)
	}
	c := hex(0xd9d4cc)
	a, b := s.lit(s.seen(c, depth), s.shaded(c, depth).times(0.62))
	rim := half(1)
	s.flat(oval(x, y-h, rim, w*0.05), s.shaded(c, depth).times(0.4))
	s.fill(poly(append(l, r...)...), across(pt{x - w/2, 0}, pt{x + w/2, 0}, a.mix(b, 0.35), a, a.mix(b, 0.5), b, b.mix(a, 0.15)))
	for i := range 4 {
		t := 0.2 + 0.2*float64(i)
		s.flat(rect(x-half(t), y-h*t, 2*half(t), h*0.004), b.alpha(0.35))
	}
	for i := range 14 {
		k := float64(i)/13*2 - 1
		s.flat(line(pt{x + k*w*0.49, y}, pt{x + k*w*0.46 + w*0.03, y - h*0.06}, w*0.012, w*0.012), b.times(0.5))
	}
	if s.p.night > 0.5 {
		for _, k := range []float64{-1, 1} {
			s.glow(x+k*rim, y-h, w*0.09, hex(0xff4a3a).alpha(0.5))
			s.flat(circle(x+k*rim, y-h, w*0.010), hex(0xff6a5a))
		}
	}
}

// stack is a chimney with warning bands.
func (s *scene) stack(x, y, w, h, depth float64) {
	for i := range 10 {
		t0, t1 := float64(i)/10, float64(i+1)/10
		c := hex(0xcfc8be)
		if i == 9 || i == 7 {
			c = hex(0xc0392f)
		}
		a, b := s.lit(s.seen(c, depth), s.shaded(c, depth).times(0.6))
		d0, d1 := w*lerp(0.62, 0.4, t0), w*lerp(0.62, 0.4, t1)
		s.fill(poly(pt{x - d0, y - h*t0 + 1}, pt{x - d1, y - h*t1}, pt{x + d1, y - h*t1}, pt{x + d0, y - h*t0 + 1}), across(pt{x - d0, 0}, pt{x + d0, 0}, a, a.mix(b, 0.4), b))
	}
	if s.p.night > 0.5 {
		for _, t := range []float64{0.99, 0.6} {
			s.flat(circle(x, y-h*t, w*0.13), hex(0xff6a5a))
			s.glow(x, y-h*t, w*0.8, hex(0xff4030).alpha(0.5))
		}
	}
}

// plume billows from a mouth and drifts away from the light.
func (s *scene) plume(from pt, r0, grow float64, c rgba, depth float64) {
	if s.b.tag("no-smoke") {
		return
	}
	lit := c.mix(s.p.sun, 0.3).fade(s.p.haze, depth*0.4)
	dark := c.mix(s.p.shade, 0.55).fade(s.p.haze, depth*0.4)
	wind := -s.side
	const n = 60
	for i := n - 1; i >= 0; i-- {
		t := float64(i) / n
		r := r0 * (0.75 + t*3.4*grow) * s.between(0.7, 1.1)
		x := from.x + wind*s.S*0.62*math.Pow(t, 1.5)*grow + r*s.between(-0.55, 0.55)
		y := from.y - s.S*0.30*math.Pow(t, 0.75)*grow + r*s.between(-0.45, 0.45) - r*0.3
		a := 0.42 * math.Pow(1-t, 0.9)
		ox := s.rnd.Float64() * 20
		s.fill(circle(x, y, r), func(px, py float64) rgba {
			dx, dy := (px-x)/r, (py-y)/r
			d := dx*dx + dy*dy
			e := s.n.at(px/r*1.2+ox, py/r*1.2)
			k := smooth(-0.7, 0.8, dx*s.side*0.7-dy*0.6+e*0.7)
			return dark.fade(lit, k).alpha(a * (1 - smooth(0.25, 1, d+e*0.3)))
		})
	}
}

// reactor is a domed containment.
func (s *scene) reactor(x, y, w float64) {
	c := hex(0xdcd8d0)
	a, b := s.lit(s.seen(c, 0.2), s.shaded(c, 0.2).times(0.7))
	p := rect(x-w/2, y-w*0.6, w, w*0.6).join(oval(x, y-w*0.6, w/2, w*0.42))
	s.fill(p, across(pt{x - w/2, 0}, pt{x + w/2, 0}, a.mix(b, 0.3), a, a.mix(b, 0.6), b))
	s.flat(rect(x-w/2, y-w*0.6, w, w*0.02), b.alpha(0.5))
}

// halls are the low buildings with their windows and lamps.
func (s *scene) halls(x, y float64) {
	for i := range 6 {
		w, h := s.S*s.between(0.08, 0.17), s.S*s.between(0.03, 0.09)
		if i == 2 {
			w, h = s.S*0.16, s.S*0.15
		}
		bx := x + s.side*s.S*(float64(i)*0.105-0.16)
		c := hex([]uint32{0x8d949c, 0xa39a8e, 0x7c868c}[i%3])
		a, b := s.seen(c, 0.22).fade(s.p.near, 0.35), s.shaded(c, 0.22).fade(s.p.near, 0.4)
		l, r := s.lit(a, b)
		s.fill(rect(bx-w/2, y-h, w, h), across(pt{bx - w/2, y - h}, pt{bx + w/2, y}, l, r))
		s.flat(rect(bx-w/2, y-h, w, h*0.05+1), a.mix(s.p.light, 0.25))
		s.windows(bx-w*0.45, y-h, w*0.9, h, 0.3)
		if s.p.night > 0.5 {
			lx := bx + w*0.4
			s.glow(lx, y-h*0.3, s.S*0.05, s.p.lamp.alpha(0.6))
			s.flat(circle(lx, y-h*0.3, s.S*0.002), hex(0xfff0c8).times(1.3))
		}
	}
	if !s.b.has(mFactory) {
		return
	}
	s.flat(line(pt{x - s.side*s.S*0.34, y}, pt{x + s.side*s.S*0.02, y - s.S*0.12}, s.S*0.012, s.S*0.012), s.p.near.mix(s.p.shade, 0.45))
	heap := s.p.near.times(0.7)
	s.fill(poly(pt{x - s.side*s.S*0.46, y}, pt{x - s.side*s.S*0.36, y - s.S*0.055}, pt{x - s.side*s.S*0.24, y}), down(y-s.S*0.06, y, heap.mix(s.p.shade, 0.35), heap))
}
