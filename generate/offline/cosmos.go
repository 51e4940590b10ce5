package offline

import "math"

// cosmos is a planet before stars and clouds of gas.
func (s *scene) cosmos() []layer {
	s.p.time, s.p.night = "night", 1
	return []layer{s.nebula, s.stars2, s.planets}
}

func (s *scene) nebula() {
	a, b := hex(0x6b3fd0), hex(0x1f8fb8)
	if len(s.b.hues) > 0 {
		a = s.b.hues[0]
	}
	if len(s.b.hues) > 1 {
		b = s.b.hues[1]
	}
	s.rows(0, s.H, func(y float64) rgba { return hex(0x04060f).fade(hex(0x0a0d22), y/s.H) })
	ox := s.rnd.Float64() * 50
	for k, c := range []rgba{a, b, hex(0xf08a5a)} {
		s.haze2(0, s.H, c.times(0.8), func(x, y float64) float64 {
			u, v := x/s.S*1.5+ox, y/s.S*1.5+float64(k)*7
			w := s.n.fbm(u*0.8, v*0.8, 3)
			d := math.Abs((y-s.H/2)/s.H - s.side*(x/s.W-0.5)*0.7)
			return 0.62 * smooth(0.02, 0.55, s.n.fbm(u+w*1.6, v+w*1.2, 5)) * math.Exp(-d*d*7) / float64(1+k)
		})
	}
}

func (s *scene) stars2() {
	for range 750 {
		m := math.Pow(s.rnd.Float64(), 7)
		x, y := s.rnd.Float64()*s.W, s.rnd.Float64()*s.H
		c := hex([]uint32{0xffffff, 0xbfd4ff, 0xffe6c4}[s.rnd.IntN(3)])
		s.flat(circle(x, y, s.S*(0.0006+0.0016*m)), c.alpha(0.3+0.7*m))
		if m > 0.5 {
			s.glow(x, y, s.S*0.011*m, c.alpha(0.28))
		}
	}
}

func (s *scene) planets() {
	r := s.S * 0.27
	if s.b.has(mEarth) {
		s.planet(pt{s.W/2 - s.side*s.S*0.05, s.H * 0.53}, s.S*0.36, true)
		return
	}
	s.planet(pt{s.focus, s.H * 0.52}, r, false)
	s.planet(pt{s.W - s.focus + s.side*s.S*0.06, s.H * 0.24}, r*0.2, false)
}

// planet is a lit ball with weather, its air at the rim, and rings if it is not the Earth.
func (s *scene) planet(c pt, r float64, earth bool) {
	lx, ly, lz := s.side*0.74, -0.42, 0.52
	base := []rgba{hex(0xd98a5a), hex(0xf0c48a), hex(0x8f4a3a), hex(0xe8b070)}
	air := hex(0xffb98a)
	if len(s.b.hues) > 0 {
		h := s.b.hues[0]
		base, air = []rgba{h, h.tone(0.15, 0.8, 0.2), h.tone(-0.15, 1, -0.2), h.tone(0.05, 1, 0.1)}, h.tone(0.2, 1, 0)
	}
	if earth {
		air = hex(0x6ab4ff)
	}
	s.glow(c.x+lx*r*0.08, c.y+ly*r*0.08, r*1.22, air.alpha(0.55))
	ring := !earth && r > s.S*0.1
	if ring {
		s.rings(c, r, true)
	}
	bands := newRamp(base[0], base[1], base[2], base[3], base[1], base[0])
	ox := s.rnd.Float64() * 30
	s.fill(circle(c.x, c.y, r), func(x, y float64) rgba {
		nx, ny := (x-c.x)/r, (y-c.y)/r
		z2 := 1 - nx*nx - ny*ny
		if z2 < 0 {
			z2 = 0
		}
		nz := math.Sqrt(z2)
		light := nx*lx + ny*ly + nz*lz
		u, v := math.Atan2(nx, nz+0.15)*1.1, math.Asin(max(-1, min(1, ny)))
		var col rgba
		if earth {
			col = s.earthAt(u*1.5+ox, v*1.9+ox, ny)
		} else {
			w := s.n.fbm(u*1.2+ox, v*5+ox, 4)
			col = bands.at(0.5 + 0.5*math.Sin(v*7.5+w*2.4) + 0.16*s.n.at(u*7, v*30))
		}
		k := smooth(-0.16, 0.75, light)
		q := col.times(0.018 + 1.12*k)
		return q.plus(air, (1-nz)*(1-nz)*(1-nz)*0.9*smooth(-0.25, 0.5, light))
	})
	if ring {
		s.rings(c, r, false)
	}
}

// earthAt is sea, land, ice and cloud at a place of the globe.
func (s *scene) earthAt(u, v, lat float64) rgba {
	h := s.n.fbm(u*0.75, v*0.75, 6) + 0.03
	sea := hex(0x0b3f7a).fade(hex(0x2f8fc0), smooth(-0.25, 0.05, h))
	land := hex(0x4a8a4a).fade(hex(0xc9a46a), smooth(0.02, 0.3, s.n.fbm(u*1.3+9, v*1.3, 3)+0.16-math.Abs(lat)*0.2))
	col := sea.fade(land, smooth(0.045, 0.06, h))
	col = col.fade(hex(0xf2f6fa), smooth(0.78, 0.9, math.Abs(lat)+0.15*h))
	w := s.n.at(u*1.1, v*1.6)
	cloud := smooth(0.06, 0.42, s.n.fbm(u*1.5+w*0.9+20, v*2.6+w, 5))
	return col.fade(hex(0xffffff), 0.88*cloud)
}

// rings are drawn in two halves, behind and before the ball.
func (s *scene) rings(c pt, r float64, behind bool) {
	const tilt, turn = 0.24, -0.32
	sin, cos := math.Sincos(turn * s.side)
	for i := range 46 {
		t := float64(i) / 45
		rr := r * lerp(1.34, 2.15, t)
		if t > 0.60 && t < 0.66 {
			continue
		}
		a := 0.24 + 0.4*s.n.at(t*17, 2)
		from, to := 0.0, math.Pi
		if behind {
			from, to = math.Pi, 2*math.Pi
		}
		var q []pt
		for k := range 65 {
			ps, pc := math.Sincos(lerp(from, to, float64(k)/64))
			x, y := rr*pc, rr*ps*tilt
			q = append(q, pt{c.x + x*cos - y*sin, c.y + x*sin + y*cos})
		}
		s.flat(ribbon(q, func(float64) float64 { return r * 0.0185 }), hex(0xe8d2b0).mix(s.p.accent, 0.2*t).alpha(max(0.04, a)))
	}
}

// hurricane is a cyclone seen from above: spiral arms around an eye, over the sea.
func (s *scene) hurricane() {
	c := pt{s.W/2 + s.side*s.S*0.04, s.H * 0.5}
	deep, shallow := hex(0x0a2a4c), hex(0x1f6f9a)
	if len(s.b.hues) > 0 {
		deep, shallow = deep.towards(s.b.hues[0], 0.4), shallow.towards(s.b.hues[0], 0.5)
	}
	s.rows(0, s.H, func(y float64) rgba { return deep.fade(shallow, 0.2+0.5*y/s.H) })
	ox := s.rnd.Float64() * 30
	s.haze2(0, s.H, deep.times(0.45), func(x, y float64) float64 { return 0.6 * smooth(-0.1, 0.4, s.n.fbm(x/s.S*3+ox, y/s.S*4, 4)) })
	s.haze2(0, s.H, shallow.mix(hex(0xbfe6f0), 0.3), func(x, y float64) float64 {
		return 0.35 * smooth(0.1, 0.5, s.n.ridged(x/s.S*12, y/s.S*26, 2)-0.45) * 0.5
	})
	dens := func(x, y float64) float64 {
		dx, dy := (x-c.x)/s.S, (y-c.y)/s.S*1.22
		r := math.Hypot(dx, dy) + 1e-4
		turn := math.Atan2(dy, dx) + s.side*(1.9*math.Log(r*4+0.06))
		sin, cos := math.Sincos(turn)
		ring := r * 3.2
		f := s.n.fbm(cos*ring*0.9+ox, sin*ring*0.9+ox, 4) + 0.55*s.n.fbm(cos*1.7+ring*5.2, sin*1.7+ox, 4) + 0.5*s.n.fbm(x/s.S*13+dx*3, y/s.S*13, 5)
		arms := 0.32 * math.Cos(2*turn+1.2*s.n.at(dx*3, dy*3))
		eye := smooth(0.022, 0.052, r+0.008*s.n.at(cos*2, sin*2))
		body := 0.95*math.Exp(-r*r*7.2) + arms*math.Exp(-r*r*4.2) - 0.42*smooth(0.25, 0.75, r)
		return (f*0.95 + body*0.82) * eye
	}
	d := s.S * 0.012
	s.haze2(0, s.H, hex(0x02101f), func(x, y float64) float64 { return 0.55 * smooth(0.0, 0.5, dens(x+s.side*d*2.4, y-d*2.4)) })
	s.haze2(0, s.H, hex(0x9fb6c8), func(x, y float64) float64 { return 0.95 * smooth(-0.02, 0.7, dens(x, y)) })
	s.haze2(0, s.H, hex(0xffffff), func(x, y float64) float64 {
		a, b := dens(x, y), dens(x+s.side*d, y-d)
		return smooth(0.05, 0.7, a) * (0.22 + 0.78*smooth(-0.08, 0.26, a-b))
	})
	eye := newRamp(hex(0x0d3a5c).alpha(0.95), hex(0x0a2a48).alpha(0.85), hex(0x0a2a48).alpha(0))
	s.fill(circle(c.x, c.y, s.S*0.045), func(x, y float64) rgba {
		return eye.at(math.Hypot(x-c.x, (y-c.y)*1.22) / (s.S * 0.04))
	})
	s.glow(c.x+s.side*s.S*0.5, c.y-s.S*0.5, s.S*0.9, hex(0xffe2b8).alpha(0.16))
}
