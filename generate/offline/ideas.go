package offline

import (
	"math"
	"slices"
)

// transition shows energy changing: dark smoke on one side turns, through a sun, into
// fields of light and leaves on the other.
func (s *scene) transition() {
	h := []rgba{hex(0x23242f), hex(0x5a4a55), hex(0xf2994a), hex(0xf7cf5e), hex(0x57b87b), hex(0x1f8fa8)}
	if len(s.b.hues) > 0 {
		h[4], h[5] = s.b.hues[0], s.b.hues[len(s.b.hues)-1].tone(0.05, 1, 0.2)
	}
	dir := -s.side // the way of time
	at := func(x float64) float64 { return 0.5 + dir*(x/s.W-0.5) }
	back := newRamp(h[0].mix(hex(0x0e0f16), 0.4), h[1], hex(0xe98f5a), hex(0xfbe0a6), hex(0xcfeadb), hex(0x9fdbe0))
	s.fill(rect(0, 0, s.W, s.H), func(x, y float64) rgba {
		return back.at(at(x) + 0.07*s.n.fbm(x/s.S*2, y/s.S*2, 3) - 0.10*(y/s.H-0.5))
	})
	c := pt{s.W * 0.5, s.H * 0.43}
	r := s.S * 0.145
	s.glow(c.x, c.y, s.S*0.62, hex(0xffd98a).alpha(0.42))
	for i := range 5 {
		k := r * (2.6 - 0.32*float64(i))
		s.flat(circle(c.x, c.y, k), hex(0xffe9b4).alpha(0.07))
	}
	s.fill(circle(c.x, c.y, r), across(pt{c.x - dir*r, c.y - r}, pt{c.x + dir*r, c.y + r}, hex(0xf2703f), hex(0xffb24d), hex(0xfff2c4)))
	const n = 17
	for i := range n {
		t := float64(i) / (n - 1)
		ox := s.rnd.Float64() * 9
		var q []pt
		for k := range 90 {
			u := float64(k) / 89
			x := lerp(-0.04, 1.04, u) * s.W
			p := at(x)
			rough := (1 - smooth(0.25, 0.62, p)) * 0.09 * s.n.fbm(u*8+ox, t*9, 3)
			y := s.H*lerp(0.53, 1.0, math.Pow(t, 0.8)) + s.S*(0.055*math.Sin(p*5.2+t*2.6)+0.03*s.n.at(u*2+ox, t*3)+rough) - s.S*0.13*smooth(0.3, 1, p)*(1-t)
			q = append(q, pt{x, y})
		}
		ra := newRamp(h[0].tone(-0.05+0.16*(1-t), 1, 0), h[1].tone(-0.05, 1, 0), h[2].tone(-0.12*t, 1, 0), h[3].tone(-0.15*t, 1, 0.2*t), h[4].tone(-0.16*t+0.1*(1-t), 1, 0), h[5].tone(-0.2*t+0.12*(1-t), 1, 0))
		p := poly(append(slices.Clone(q), pt{s.W * 1.04, s.H + 9}, pt{-s.W * 0.04, s.H + 9})...)
		s.shadow(p, pt{0, -s.S * 0.006}, s.S*0.016, 0.22)
		s.fill(p, func(x, _ float64) rgba { return ra.at(at(x)*0.98 + 0.02) })
		s.flat(ribbon(q, func(float64) float64 { return s.S * 0.0016 }), hex(0xfff4d8).alpha(0.4))
		if i == 1 {
			s.transitionSigns(at)
		}
	}
	s.smokeDots(at)
}

// transitionSigns stand on the waves: chimneys where it begins, turbines where it leads.
func (s *scene) transitionSigns(at func(float64) float64) {
	dir := -s.side
	base := s.H * 0.60
	s.p.light, s.p.shade, s.p.haze, s.p.night = hex(0xffffff), hex(0xa9c4cc), hex(0xd9eeea), 0
	x := func(p float64) float64 { return s.W * (0.5 + dir*(p-0.5)) }
	for i, p := range []float64{0.10, 0.165, 0.225} {
		w, h := s.S*0.03, s.S*(0.23-0.04*float64(i))
		c := hex(0x2b2c38).mix(hex(0x4a4450), float64(i)*0.3)
		s.fill(poly(pt{x(p) - w*0.62, base + s.S*0.1}, pt{x(p) - w*0.4, base - h}, pt{x(p) + w*0.4, base - h}, pt{x(p) + w*0.62, base + s.S*0.1}), across(pt{x(p) - w/2, 0}, pt{x(p) + w/2, 0}, c.tone(0.08, 1, 0), c.tone(-0.06, 1, 0)))
		for k := range 22 {
			t := float64(k) / 22
			s.glowOff(x(p)+dir*s.S*0.14*t*t+s.S*0.02*s.between(-1, 1), base-h-s.S*0.24*t, s.S*(0.016+0.045*t), hex(0x3a3640).alpha(0.34*(1-t)))
		}
	}
	for i, p := range []float64{0.93, 0.70, 0.815} {
		s.turbine(x(p), base+s.S*0.06, s.S*[]float64{0.34, 0.36, 0.52}[i], 0.06)
	}
	_ = at
}

// glowOff is a soft disc of a colour that covers what is below.
func (s *scene) glowOff(x, y, r float64, c rgba) {
	s.fill(circle(x, y, r), func(px, py float64) rgba {
		d := ((px-x)*(px-x) + (py-y)*(py-y)) / (r * r)
		return c.alpha(float64(c.a) * (1 - d) * (1 - d))
	})
}

// smokeDots are particles: soot at one side, sparks of light at the other.
func (s *scene) smokeDots(at func(float64) float64) {
	for range 190 {
		x, y := s.rnd.Float64()*s.W, s.H*s.between(0.03, 0.66)
		p := at(x)
		r := s.S * s.between(0.0012, 0.0042)
		if p < 0.42 {
			s.flat(circle(x, y, r), hex(0x17171f).alpha(0.4*(1-p*2)))
			continue
		}
		s.flat(circle(x, y, r*0.8), hex(0xffffff).alpha(0.7*p))
		s.glow(x, y, r*4.5, hex(0xfff0c0).alpha(0.22*p))
	}
}

// network is a web of nodes in the dark with light running along it.
func (s *scene) network() {
	h := s.hues(5)
	if len(s.b.hues) == 0 {
		h = []rgba{hex(0x0b1230), hex(0x2f6fd0), hex(0x37d3c8), hex(0xf78154), hex(0x8e6bff)}
	}
	dark := hex(0x070b1c).mix(h[0], 0.25)
	s.backdrop(dark, dark.mix(h[1], 0.22))
	s.glow(s.focus, s.H*0.45, s.S*0.6, h[1].alpha(0.3))
	s.glow(s.W-s.focus, s.H*0.7, s.S*0.5, h[4].alpha(0.22))
	type node struct {
		pt
		z float64
		c rgba
	}
	var nodes []node
	for len(nodes) < 150 {
		a, d := s.rnd.Float64()*2*math.Pi, math.Sqrt(s.rnd.Float64())
		q := pt{s.W/2 + math.Cos(a)*d*s.W*0.62, s.H/2 + math.Sin(a)*d*s.H*0.6}
		nodes = append(nodes, node{q, math.Pow(s.rnd.Float64(), 2), h[1+s.rnd.IntN(4)]})
	}
	for i, a := range nodes {
		for _, b := range nodes[i+1:] {
			d := math.Hypot(a.x-b.x, a.y-b.y) / s.S
			if d > 0.125 {
				continue
			}
			k := (1 - d/0.125) * (0.25 + 0.6*math.Max(a.z, b.z))
			s.fill(line(a.pt, b.pt, s.S*0.0018, s.S*0.0018), across(a.pt, b.pt, a.c.tone(0.08, 1, 0).alpha(k), b.c.tone(0.08, 1, 0).alpha(k)))
		}
	}
	for _, a := range nodes {
		r := s.S * lerp(0.0028, 0.013, a.z)
		s.glow(a.x, a.y, r*5.5, a.c.alpha(0.42))
		s.fill(circle(a.x, a.y, r), across(pt{a.x - r, a.y - r}, pt{a.x + r, a.y + r}, a.c.tone(0.3, 0.6, 0), a.c))
	}
	for range 40 {
		x, y := s.rnd.Float64()*s.W, s.rnd.Float64()*s.H
		s.glow(x, y, s.S*s.between(0.01, 0.05), h[1+s.rnd.IntN(4)].alpha(0.1))
	}
}

// columns is growth as a picture: bars that rise in the light, and a line above them.
func (s *scene) columns() {
	h := s.hues(5)
	a, b := h[0].mix(hex(0x0d1630), 0.5), h[1].mix(hex(0x14264a), 0.45)
	s.backdrop(a, b)
	s.glow(s.W*0.8, s.H*0.25, s.S*0.7, h[2].alpha(0.22))
	for i := range 7 {
		y := s.H * (0.2 + 0.1*float64(i))
		s.flat(rect(s.W*0.08, y, s.W*0.84, s.S*0.0012), hex(0xffffff).alpha(0.10))
	}
	const n = 12
	base, gap := s.H*0.86, s.W*0.84/n
	var tops []pt
	for i := range n {
		t := float64(i) / (n - 1)
		v := 0.12 + 0.50*math.Pow(t, 1.4) + 0.05*s.rnd.NormFloat64()
		v = min(0.68, max(0.06, v))
		x, hh := s.W*0.08+gap*(float64(i)+0.18), s.H*v
		c := h[1].mix(h[2], smooth(0, 0.6, t)).mix(h[3], smooth(0.55, 1, t))
		p := roundRect(x, base-hh, gap*0.64, hh, gap*0.12)
		s.shadow(p, pt{gap * 0.07, gap * 0.1}, gap*0.14, 0.35)
		s.fill(p, down(base-hh, base, c.tone(0.12, 1, 0), c, c.tone(-0.16, 1, 0)))
		s.flat(roundRect(x+gap*0.06, base-hh+gap*0.06, gap*0.07, hh*0.8, gap*0.03), rgba{1, 1, 1, 0.18})
		tops = append(tops, pt{x + gap*0.32, base - hh - s.H*0.055})
	}
	q := curve(tops, 10)
	s.flat(ribbon(q, func(float64) float64 { return s.S * 0.02 }), h[4].tone(0.2, 1, 0).alpha(0.16))
	s.flat(ribbon(q, func(float64) float64 { return s.S * 0.0055 }), hex(0xfff6e4))
	for _, v := range tops {
		s.glow(v.x, v.y, s.S*0.03, h[3].alpha(0.6))
		s.flat(circle(v.x, v.y, s.S*0.0085), hex(0xfff6e4))
	}
	s.flat(rect(s.W*0.06, base, s.W*0.88, s.S*0.0025), hex(0xffffff).alpha(0.5))
}
