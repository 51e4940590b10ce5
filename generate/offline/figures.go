package offline

import "math"

// people walk at the given height, if the words ask for them.
func (s *scene) people(y float64) {
	if !s.b.has(mPeople) {
		return
	}
	for i := range 4 {
		s.person(s.W-s.focus+s.S*0.055*(float64(i)-1.5)*s.between(0.8, 1.2), y+s.S*s.between(0, 0.02), s.S*s.between(0.085, 0.11))
	}
}

// person is a walking figure, h tall, standing at (x, y).
func (s *scene) person(x, y, h float64) {
	coat := hex([]uint32{0xd9573f, 0x2f6f8f, 0xe0a83a, 0x4f5d78, 0x7a9a6b, 0xf0e6d8}[s.rnd.IntN(6)])
	c, dark := s.seen(coat, 0.02).fade(s.p.near, 0.25), s.p.near.mix(s.p.shade, 0.25)
	k := float64(s.rnd.IntN(2))*2 - 1
	step := h * s.between(0.06, 0.12)
	s.flat(poly(pt{x, y}, pt{x + h*0.03, y + h*0.012}, pt{x - s.side*h*0.5, y + h*0.06}, pt{x - s.side*h*0.5, y + h*0.03}), s.p.near.times(0.5).alpha(0.35))
	s.flat(line(pt{x - h*0.02, y - h*0.45}, pt{x - step, y}, h*0.075, h*0.05), dark)
	s.flat(line(pt{x + h*0.02, y - h*0.45}, pt{x + step, y}, h*0.075, h*0.05), dark)
	l, r := s.lit(c.mix(s.p.light, 0.15), c.mix(s.p.shade, 0.45))
	s.fill(roundRect(x-h*0.085, y-h*0.82, h*0.17, h*0.42, h*0.06), across(pt{x - h*0.08, 0}, pt{x + h*0.08, 0}, l, r))
	s.flat(line(pt{x - k*h*0.07, y - h*0.76}, pt{x + k*h*0.02, y - h*0.48}, h*0.05, h*0.04), c.mix(s.p.shade, 0.3))
	s.flat(circle(x+k*h*0.01, y-h*0.905, h*0.072), s.seen(hex([]uint32{0xe0b090, 0x9a6a4a, 0xc99570}[s.rnd.IntN(3)]), 0).fade(s.p.near, 0.2))
	s.flat(oval(x-k*h*0.012, y-h*0.935, h*0.07, h*0.05), dark)
}

// birds fly in a loose flock.
func (s *scene) birds() {
	n := 0
	switch {
	case s.b.tag("no-bird"):
	case s.b.has(mBird):
		n = 17
	case s.p.time != "storm" && s.p.time != "night" && !s.b.tag("minimal") && s.rnd.IntN(2) == 0:
		n = 6
	}
	cx, cy := s.W-s.focus, s.horizon*0.5
	for range n {
		x, y := cx+s.rnd.NormFloat64()*s.S*0.1, cy+s.rnd.NormFloat64()*s.S*0.05
		w := s.S * s.between(0.009, 0.019)
		if s.b.has(mBird) {
			w *= 1.5
		}
		lift := s.between(0.3, 0.75)
		q := curve([]pt{{x - w, y - w*lift}, {x - w*0.45, y - w*lift*0.9}, {x, y}, {x + w*0.45, y - w*lift*0.95}, {x + w, y - w*lift*0.8}}, 5)
		s.flat(ribbon(q, func(t float64) float64 { return w * 0.17 * math.Sin(math.Pi*(0.08+0.84*t)) }), s.p.near.mix(s.p.shade, 0.2).alpha(0.85))
	}
}

// balloons drift over the land.
func (s *scene) balloons() {
	if !s.b.has(mBalloon) {
		return
	}
	for i := range 6 {
		t := float64(i) / 5
		x := s.W * (0.12 + 0.76*math.Mod(t*2.7+s.rnd.Float64()*0.1, 1))
		y := s.horizon * lerp(0.86, 0.42, t)
		if i == 5 {
			x = s.focus
		}
		s.balloon(x, y, s.S*lerp(0.02, 0.1, t*t), lerp(0.7, 0.05, t))
	}
}

// balloon is an envelope of gores above a basket; r is its radius.
func (s *scene) balloon(x, y, r, depth float64) {
	cols := []rgba{s.p.accent, hex(0xf7d58a), s.p.accent2, hex(0xf4efe6)}
	off := s.rnd.IntN(4)
	edge := func(k, t float64) float64 {
		return x + k*r*math.Sin(math.Pi*min(1, 0.06+t*0.86))*(1-0.16*t)
	}
	const gores = 9
	for g := range gores {
		k0, k1 := math.Sin((float64(g)/gores-0.5)*math.Pi), math.Sin((float64(g+1)/gores-0.5)*math.Pi)
		var l, rr []pt
		for i := range 17 {
			t := float64(i) / 16
			py := y - r + t*r*2.35
			l, rr = append(l, pt{edge(k0, t), py}), append([]pt{{edge(k1, t) + 0.4, py}}, rr...)
		}
		c := cols[(g+off)%len(cols)]
		k := 0.5 + 0.5*s.side*(k0+k1)/2
		s.fill(poly(append(l, rr...)...), down(y-r, y+r*1.4, s.shaded(c, depth).mix(s.seen(c, depth), k), s.shaded(c, depth).mix(s.seen(c, depth), k*0.5)))
	}
	rope := s.p.near.fade(s.p.haze, depth)
	for _, k := range []float64{-1, 1} {
		s.flat(line(pt{x + k*r*0.2, y + r*1.32}, pt{x + k*r*0.12, y + r*1.62}, r*0.02, r*0.02), rope)
	}
	s.flat(roundRect(x-r*0.14, y+r*1.6, r*0.28, r*0.22, r*0.04), s.seen(hex(0x8a5a36), depth))
}

// profile is a head and shoulders seen from the side, as points of a unit square.
var profile = []pt{
	{0.30, 1.02},
	{0.26, 0.93},
	{0.33, 0.86},
	{0.40, 0.80},
	{0.405, 0.72},
	{0.36, 0.64},
	{0.325, 0.52},
	{0.33, 0.38},
	{0.38, 0.27},
	{0.47, 0.205},
	{0.57, 0.20},
	{0.655, 0.245},
	{0.70, 0.32},
	{0.712, 0.385},
	{0.716, 0.425},
	{0.742, 0.475},
	{0.766, 0.515},
	{0.755, 0.537},
	{0.727, 0.546},
	{0.733, 0.570},
	{0.742, 0.588},
	{0.727, 0.604},
	{0.737, 0.622},
	{0.722, 0.645},
	{0.723, 0.685},
	{0.695, 0.715},
	{0.63, 0.718},
	{0.585, 0.735},
	{0.575, 0.79},
	{0.61, 0.85},
	{0.70, 0.90},
	{0.76, 0.96},
	{0.78, 1.02},
}

// portrait is a double exposure: a landscape inside a profile, on paper.
func (s *scene) portrait() []layer {
	s.horizon = s.H * 0.56
	inside := []layer{s.sky, s.stars, s.luminary, s.clouds, s.mountains, s.farHills, func() { s.forest(s.hillRidge(s.horizon+s.S*0.08, s.S*0.02, 1.4)) }}
	return append(inside, s.frameHead)
}

func (s *scene) frameHead() {
	k := min(s.W, s.H) * 1.02
	q := make([]pt, len(profile))
	for i, v := range profile {
		q[i] = pt{s.W/2 - s.side*k*(v.x-0.52), s.H - k*(1.0-v.y)}
	}
	head := poly(curve(q, 6)...)
	back := s.p.paper.towards(s.p.low, 0.4).mix(s.p.low, 0.18)
	r, mask := s.coverage(head)
	cover := append([]uint8(nil), mask...)
	inside := func(x, y int) float32 {
		if x < r.Min.X || x >= r.Max.X || y < r.Min.Y || y >= r.Max.Y {
			return 0
		}
		return float32(cover[(y-r.Min.Y)*r.Dx()+x-r.Min.X]) / 255
	}
	for y := range s.h {
		for x := range s.w {
			m := inside(x, y)
			fade := float32(smooth(0.82, 1.0, float64(y)/s.H)) * 0.9
			dx, dy := (float64(x)-s.W/2)/s.S, (float64(y)-s.H*0.4)/s.S
			c := back.times(1.04 - 0.28*(dx*dx+dy*dy))
			a := 1 - m*(1-fade)
			o := (y*s.w + x) * 3
			s.pix[o] += (c.r - s.pix[o]) * a
			s.pix[o+1] += (c.g - s.pix[o+1]) * a
			s.pix[o+2] += (c.b - s.pix[o+2]) * a
		}
	}
	s.birds()
}
