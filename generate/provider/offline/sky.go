package offline

import "math"

// sky covers the whole canvas: a gradient from the top to the horizon, stars, clouds, and the sun or the moon.
func (s *scene) sky() {
	r, b, storm := newRamp(s.p.top, s.p.top.mix(s.p.mid, 0.45), s.p.mid, s.p.low, s.p.haze), s.b, s.p.time == "storm"
	s.rows(0, s.H, func(y float64) rgba { return r.at(math.Pow(min(1, y/s.horizon), 1.15) * 0.97) })
	s.glow(s.sun.x, min(s.sun.y, s.horizon), s.S*0.95, s.S*0.55, s.p.low.alpha(s.p.hour.glow))
	s.glow(s.sun.x, min(s.sun.y, s.horizon), s.S*0.42, s.S*0.42, s.p.sun.alpha(s.p.hour.glow))
	if s.p.night > 0.8 && !b.tags["no-star"] {
		s.stars(420, b.has("star"))
	}
	for range 6 * btoi(!b.tags["no-cloud"]) {
		w := s.S * s.between(0.2, 0.5)
		s.put(placed{"streak", s.W * s.rnd.Float64(), s.horizon * s.between(0.1, 0.8), w, w, 0.3, rgba{}})
	}
	for range 16 * btoi(storm) {
		w, f := s.S*s.between(0.4, 0.8), s.rnd.Float64()
		s.put(placed{"bank", s.W * s.rnd.Float64(), s.horizon * 0.5 * f, w, w, 0.6 * f, rgba{}})
	}
	s.clouds((3 + 5*btoi(b.has("cloud"))) * btoi(!storm && !b.tags["no-cloud"] && !b.has("star")))
	r0 := s.S * 0.045 * (1 + 0.5*float64(btoi(b.has("sun", "moon"))))
	switch moon := s.p.time == "night" || b.has("moon"); {
	case moon && !b.tags["no-moon"] && (b.has("moon") || !b.has("star")):
		s.put(placed{"moon", s.sun.x, min(s.sun.y, s.horizon-s.S*0.2), r0, r0, 0, rgba{}})
	case !moon && !b.tags["no-sun"] && s.p.glitter > 0:
		s.put(placed{"sun", s.sun.x, s.sun.y, r0, r0, 0, rgba{}})
	}
}

// stars scatters n stars above the horizon, where they fade, and as many again in the band of the Milky Way.
func (s *scene) stars(n int, band bool) {
	for i := range n * (1 + 2*btoi(band)) {
		x, f, m := s.rnd.Float64(), s.rnd.Float64(), math.Pow(s.rnd.Float64(), 5)
		if i >= n {
			f, m = 0.5+0.7*s.side*(0.5-x)+0.11*s.rnd.NormFloat64(), m/2
		}
		r, c := s.S*(0.0006+0.0013*m), hex([]uint32{0xffffff, 0xcfe0ff, 0xfff0d8}[s.rnd.IntN(3)])
		s.flat(circle(x*s.W, f*s.horizon*0.95, r), c.alpha((0.25+0.75*m)*max(0, 1-0.8*f)))
		if m > 0.6 {
			s.glow(x*s.W, f*s.horizon*0.95, 6*r, 6*r, c.alpha(0.24))
		}
	}
}

// clouds draws n clouds, the lower the smaller, beside the sun.
func (s *scene) clouds(n int) {
	for i := range n {
		f := (float64(i) + 0.3) / float64(n)
		x, w := math.Mod(s.sun.x+s.W*s.between(0.3, 0.85), s.W*1.1), s.S*lerp(0.36, 0.17, f)*s.between(0.7, 1.2)
		s.put(placed{[]string{"cloud0", "cloud1"}[i%2], x, s.horizon * lerp(0.22, 0.84, f), w, w, f / 2, rgba{}})
	}
}

// weather draws birds, lightning, fog, rain and snow in front of everything.
func (s *scene) weather() {
	s.stand("bird", s.horizon*0.65, s.horizon*0.35)
	if x := s.W * (0.5 + s.side*s.between(0.15, 0.3)); s.b.tags["storm"] {
		s.glow(x, s.horizon*0.15, s.S*0.5, s.S*0.5, hex(0x8f9bd0).alpha(0.45))
		s.put(placed{name: "bolt", x: x, y: s.horizon, w: s.horizon, h: s.horizon})
	}
	if y0 := s.horizon - s.S*0.2; s.b.tags["fog"] {
		s.rows(y0, s.H, func(y float64) rgba {
			return s.p.haze.alpha(0.6 * smooth(y0, s.horizon+s.S*0.1, y) * (1 - 0.7*smooth(s.horizon, s.H, y)))
		})
	}
	for range 420 * btoi(s.p.time == "storm" || s.b.tags["rain"]) {
		x, y, l := s.between(-0.1, 1.1)*s.W, s.rnd.Float64()*s.H, s.S*s.between(0.015, 0.05)
		s.flat(ribbon([]pt{{x, y}, {x - s.side*l*0.32, y + l}}, s.S*0.0008+0.1), s.p.light.alpha(s.between(0.06, 0.26)))
	}
	for range 340 * btoi(s.b.tags["snow"]) {
		m := math.Pow(s.rnd.Float64(), 4)
		s.flat(circle(s.rnd.Float64()*s.W, s.rnd.Float64()*s.H, s.S*(0.0011+0.0045*m)), s.p.light.alpha(0.75-0.4*m))
	}
}

// abstract draws waves like cut paper, in the colours that the prompt names.
func (s *scene) abstract() {
	sets := [][4]uint32{{0x12355b, 0x1f7a8c, 0xf2c14e, 0xf78154}, {0x264653, 0x2a9d8f, 0xe9c46a, 0xe76f51}, {0x3d2c8d, 0x916bbf, 0xf2a1c4, 0xffc97f}}
	var h [4]rgba
	for i, v := range sets[s.rnd.IntN(len(sets))] {
		h[i] = hex(v)
		if n := len(s.b.hues); n > 0 {
			h[i] = h[i].mix(s.b.hues[i%n].tone(0.08*float64(i-1), 1, 0), 0.8)
		}
	}
	all := newRamp(h[3], h[2], h[1], h[0])
	for i := range 11 {
		t, tilt, wave := float64(i)/10, s.side*s.between(0.1, 0.5), s.rolling(0, s.between(0.8, 1.6))
		c := all.at(t)
		edge, deep := c.tone(0.06, 1, 0), c.tone(-0.09, 1.1, 0)
		s.land(func(x float64) float64 {
			return s.H*(1.15*t-0.15) - 2*s.W*float64(btoi(i == 0)) + 3*wave(x) + tilt*(x-s.W/2)
		}, s.H+2, func(_, y, top, slope float64) rgba {
			return edge.fade(deep, (y-top)/s.S*4+0.3*slope)
		})
	}
}
