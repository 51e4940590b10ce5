package offline

import "math"

// turbines stand along a ridge at uneven distances.
func (s *scene) turbines(r ridge, n int, h, depth float64) {
	for i := range n {
		x := s.W * (float64(i) + s.between(0.2, 0.8)) / float64(n)
		s.turbine(x, r(x)+h*0.02, h*s.between(0.85, 1.15), depth)
	}
}

// turbine is a three-bladed wind turbine whose tower is 62 % of the height h.
func (s *scene) turbine(x, y, h, depth float64) {
	white := hex(0xf7f9fa)
	bright, dark := s.seen(white, depth), s.shaded(white, depth)
	if s.p.time == "sunset" || s.p.time == "night" || s.p.time == "dusk" {
		dark = dark.fade(s.p.near, 0.3*(1-depth))
	}
	l, r := s.lit(bright, dark)
	tower := h * 0.62
	top := y - tower
	w0, w1 := h*0.026, h*0.012
	s.fill(poly(pt{x - w0/2, y}, pt{x - w1/2, top}, pt{x + w1/2, top}, pt{x + w0/2, y}), across(pt{x - w0/2, 0}, pt{x + w0/2, 0}, l, l.mix(r, 0.5), r))
	s.fill(roundRect(x-h*0.014, top-h*0.013, h*0.05, h*0.024, h*0.01), down(top-h*0.013, top+h*0.012, bright, dark))
	turn := s.rnd.Float64()
	for k := range 3 {
		sin, cos := math.Sincos(2*math.Pi*(float64(k)+turn)/3 + 0.2)
		shape := []pt{{0, -0.010}, {0.05, -0.020}, {0.13, -0.017}, {0.30, -0.007}, {0.375, -0.001}, {0.378, 0.002}, {0.30, 0.004}, {0.1, 0.009}, {0, 0.008}}
		q := make([]pt, len(shape))
		for j, v := range shape {
			q[j] = pt{x + h*(v.x*cos-v.y*sin), top + h*(v.x*sin+v.y*cos)}
		}
		c := bright.mix(dark, 0.5-0.5*(cos*s.side*0.6-sin*0.5))
		s.fill(poly(q...), across(pt{x, top}, pt{x + h*0.38*cos, top + h*0.38*sin}, c, c.mix(s.p.low, 0.12)))
	}
	s.fill(circle(x, top, h*0.014), down(top-h*0.014, top+h*0.014, bright, dark))
	if s.p.night > 0.8 {
		s.flat(circle(x+h*0.02, top-h*0.018, h*0.006), hex(0xff5a4a))
		s.glow(x+h*0.02, top-h*0.018, h*0.06, hex(0xff4030).alpha(0.8))
	}
}

// camera projects the ground plane: X to the right, Y up, Z ahead, in eye heights.
type camera struct{ cx, hy, f float64 }

func (c camera) at(x, y, z float64) pt { return pt{c.cx + c.f*x/z, c.hy + c.f*(1-y)/z} }

// solarField lays rows of tilted panels over the ground, seen from a little above.
func (s *scene) solarField() {
	cam := camera{s.W / 2, s.horizon + s.S*0.075, s.S * 0.62}
	far := s.seen(hex(0x5f93c4), 0.3).mix(s.p.mid, 0.25)
	for row := 13; row >= 0; row-- {
		z := 1.55 * math.Pow(1.19, float64(row))
		if cam.at(0, 0, z).y > s.H+s.S*0.3 {
			continue
		}
		depth := smooth(0, 13, float64(row)) * 0.6
		half := math.Ceil(s.W/2/cam.f*z/0.9) + 1
		off := s.side * 0.2
		gapAt := math.Round(s.side * -0.3 * half)
		for i := -half; i <= half; i++ {
			if i == gapAt && row < 9 && s.b.has(mRoad, mPeople) {
				continue
			}
			s.panel(cam, i*0.9+off, z, depth, far)
		}
	}
}

// panel is one table of modules: shadow, posts, glass with a sheen, grid, frame.
func (s *scene) panel(cam camera, x, z, depth float64, far rgba) {
	const w, lo, hi, run = 0.86, 0.10, 0.46, 0.40
	quad := func(u, v float64) pt { return cam.at(x+w*u, lo+(hi-lo)*v, z+run*v) }
	if quad(1, 0).x < -9 || quad(0, 0).x > s.W+9 {
		return
	}
	s.fill(poly(cam.at(x+0.02-s.side*0.12, 0, z-0.02), cam.at(x+w-s.side*0.12, 0, z-0.02), cam.at(x+w-s.side*0.2, 0, z+run+0.1), cam.at(x-s.side*0.2, 0, z+run+0.1)),
		func(_, _ float64) rgba { return s.p.near.times(0.5).alpha(0.5 * (1 - depth)) })
	post := s.shaded(hex(0x9aa2a8), depth)
	for _, u := range []float64{0.15, 0.85} {
		a, b := cam.at(x+w*u, 0, z+run*0.15), quad(u, 0.15)
		s.flat(line(a, b, s.S*0.006/z, s.S*0.006/z), post)
	}
	face := poly(quad(0, 0), quad(1, 0), quad(1, 1), quad(0, 1))
	deep, blue := s.seen(hex(0x0c1f47), depth*0.6).mix(hex(0x0c1f47), 0.5), s.seen(hex(0x2a5fae), depth*0.6).mix(hex(0x2a5fae), 0.35*(1-s.p.night))
	sky := s.p.low.mix(s.p.mid, 0.4)
	a, b := quad(0, 0), quad(1, 1)
	near := 1 - math.Min(1, math.Abs((a.x+b.x)/2-s.sun.x)/(s.S*0.55))
	r := newRamp(deep, deep.mix(blue, 0.7), blue.mix(sky, 0.10+0.22*near), blue.mix(far, 0.4).mix(sky, 0.12+0.62*near*near))
	dx, dy := b.x-a.x, b.y-a.y
	n := dx*dx*0.25 + dy*dy + 1e-9
	s.fill(face, func(px, py float64) rgba { return r.at(((px-a.x)*dx*0.25 + (py-a.y)*dy) / n) })
	if z < 7 {
		var grid path
		lw := math.Max(0.5, s.S*0.0016/z)
		for i := 1; i < 6; i++ {
			grid = grid.join(line(quad(float64(i)/6, 0), quad(float64(i)/6, 1), lw, lw*0.8))
		}
		for i := 1; i < 4; i++ {
			grid = grid.join(line(quad(0, float64(i)/4), quad(1, float64(i)/4), lw*0.9, lw*0.9))
		}
		s.flat(grid, sky.mix(blue, 0.45).alpha(0.5))
	}
	var frame path
	fw := math.Max(0.7, s.S*0.0065/z)
	for k := range 4 {
		e := [][2]float64{{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}}
		frame = frame.join(line(quad(e[k][0], e[k][1]), quad(e[k+1][0], e[k+1][1]), fw, fw))
	}
	s.flat(frame, s.seen(hex(0xdfe6ea), depth).mix(s.p.low, 0.15).alpha(0.95))
}

// pylon is a lattice tower with three arms.
func (s *scene) pylon(x, y, h, depth float64) []pt {
	c := s.shaded(hex(0x6f7780), depth).mix(s.p.near, 0.55*(1-depth))
	w := math.Max(0.6, h*0.0085)
	half := func(t float64) float64 { return h * lerp(0.13, 0.018, math.Min(1, t/0.72)) }
	var p path
	bays := 8
	for i := range bays {
		t0, t1 := float64(i)/float64(bays), float64(i+1)/float64(bays)
		y0, y1, a, b := y-h*t0, y-h*t1, half(t0), half(t1)
		p = p.join(line(pt{x - a, y0}, pt{x - b, y1}, w*1.3, w*1.3)).join(line(pt{x + a, y0}, pt{x + b, y1}, w*1.3, w*1.3))
		p = p.join(line(pt{x - a, y0}, pt{x + b, y1}, w*0.7, w*0.7)).join(line(pt{x + a, y0}, pt{x - b, y1}, w*0.7, w*0.7))
		p = p.join(line(pt{x - b, y1}, pt{x + b, y1}, w*0.7, w*0.7))
	}
	var ends []pt
	for _, t := range []float64{0.62, 0.76, 0.9} {
		arm := h * (0.24 - 0.09*math.Abs(t-0.76)/0.14*0.5)
		for _, k := range []float64{-1, 1} {
			tip := pt{x + k*arm, y - h*t}
			p = p.join(line(pt{x, y - h*t}, tip, w*1.2, w*0.7)).join(line(pt{x, y - h*(t+0.055)}, tip, w, w*0.6))
			p = p.join(line(tip, pt{tip.x, tip.y + h*0.035}, w*1.4, w*1.4))
			ends = append(ends, pt{tip.x, tip.y + h*0.035})
		}
	}
	s.flat(p, c)
	return ends
}

// pylonLine strings wires over pylons that come towards the viewer.
func (s *scene) pylonLine(r ridge, depth float64) {
	var last []pt
	wire := s.p.near.mix(s.p.far, 0.3)
	for i := range 4 {
		t := float64(i) / 3
		x := s.W * lerp(0.5+0.36*s.side, 0.5-0.30*s.side, t)
		h := s.S * lerp(0.09, 0.27, t*t)
		ends := s.pylon(x, r(x)+s.S*0.01+h*0.05, h, lerp(depth, depth*0.5, t))
		for k := range last {
			a, b := last[k], ends[k]
			var q []pt
			for j := range 13 {
				u := float64(j) / 12
				q = append(q, pt{lerp(a.x, b.x, u), lerp(a.y, b.y, u) + h*0.22*4*u*(1-u)*0.6})
			}
			s.flat(ribbon(q, func(float64) float64 { return math.Max(0.6, s.S*0.0013) }), wire.alpha(0.75))
		}
		last = ends
	}
}

// dam closes the valley with a curved wall and water.
func (s *scene) dam() {
	y0, y1 := s.horizon-s.S*0.02, s.horizon+s.S*0.2
	x0, x1 := s.focus-s.S*0.34, s.focus+s.S*0.34
	var top, foot []pt
	for i := range 33 {
		t := float64(i)/16 - 1
		bow := (1 - t*t) * s.S
		top = append(top, pt{s.focus + t*s.S*0.36, y0 + bow*0.022})
		foot = append([]pt{{s.focus + t*s.S*0.2, y1 + bow*0.035 - math.Abs(t)*s.S*0.05}}, foot...)
	}
	concrete := hex(0xd8d6cf)
	l, r := s.lit(s.seen(concrete, 0.25), s.shaded(concrete, 0.25))
	wall := poly(append(top, foot...)...)
	s.fill(wall, across(pt{x0, y0}, pt{x1, y1}, l, l.mix(r, 0.45), r))
	for i := range 5 {
		x := s.focus + (float64(i)-2)*s.S*0.07
		q := poly(pt{x - s.S*0.016, y0 + s.S*0.045}, pt{x + s.S*0.016, y0 + s.S*0.045}, pt{s.focus + (x-s.focus)*0.72 + s.S*0.02, y1}, pt{s.focus + (x-s.focus)*0.72 - s.S*0.02, y1})
		s.fill(q, down(y0+s.S*0.04, y1, s.p.light, s.p.light.mix(s.p.water, 0.35)))
	}
	s.glowOval(s.focus, y1, s.S*0.26, s.S*0.07, s.p.light.alpha(0.5))
	s.flat(ribbon(top, func(float64) float64 { return s.S * 0.014 }), s.seen(hex(0xefece4), 0.15))
}
