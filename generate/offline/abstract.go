package offline

import "math"

// abstract chooses a way to show what is not a place.
func (s *scene) abstract() []layer {
	b := s.b
	switch {
	case b.has(mEnergy, mChange, mSolar, mTurbine) && !b.has(mBauhaus, mPaper, mChart):
		return []layer{s.transition}
	case b.has(mBauhaus):
		return []layer{s.tiles}
	case b.has(mPaper):
		return []layer{s.paperCut}
	case b.has(mChart):
		return []layer{s.columns}
	case b.has(mData):
		return []layer{s.network}
	case b.has(mOrb):
		return []layer{s.orbs}
	case b.has(mFlow):
		return []layer{s.ribbons}
	}
	return [][]layer{{s.ribbons}, {s.paperCut}, {s.tiles}, {s.orbs}, {s.ribbons}}[s.rnd.IntN(5)]
}

// hues gives n harmonious colours, those that the prompt names first.
func (s *scene) hues(n int) []rgba {
	sets := [][]uint32{
		{0x12355b, 0x1f7a8c, 0xf2c14e, 0xf78154, 0xb4436c, 0xf4e8d0}, {0x0b3954, 0x087e8b, 0xbfd7ea, 0xff5a5f, 0xf6ae2d, 0xfdf3e4}, {0x2d3047, 0x419d78, 0xe0a458, 0xfff1d6, 0xc04abc, 0x6fb7d6}, {0x264653, 0x2a9d8f, 0xe9c46a, 0xf4a261, 0xe76f51, 0xfaf0dc}, {0x3d2c8d, 0x916bbf, 0xf2a1c4, 0xffc97f, 0x4fb8c9, 0xf8edf4},
	}
	set := sets[s.rnd.IntN(len(sets))]
	out := append([]rgba(nil), s.b.hues...)
	for _, h := range s.b.hues {
		out = append(out, h.tone(0.17, 0.75, 0.12), h.tone(-0.17, 1, -0.15), h.tone(0.08, 1.1, 0.35))
	}
	for len(out) < n {
		c := hex(set[len(out)%len(set)])
		if len(s.b.hues) > 0 {
			c = c.towards(s.b.hues[0], 0.6)
		}
		out = append(out, c)
	}
	mood := func(c rgba) rgba {
		switch {
		case s.b.tag("mono"):
			return c.tone(0, 0, 0)
		case s.b.tag("pastel"):
			return c.mix(hex(0xfbf3ee), 0.4)
		case s.b.tag("warm"):
			return c.towards(hex(0xf08a4a), 0.35)
		case s.b.tag("cool"):
			return c.towards(hex(0x4a8ad0), 0.4)
		}
		return c
	}
	for i := range out {
		out[i] = mood(out[i])
	}
	return out[:n]
}

func (s *scene) backdrop(a, b rgba) {
	p := across(pt{0, 0}, pt{s.W * 0.4, s.H}, a, b)
	s.fill(rect(0, 0, s.W, s.H), p)
}

// ribbons are sheets of light that flow across the picture.
func (s *scene) ribbons() {
	h := s.hues(5)
	dark := h[0].mix(hex(0x0a0e20), 0.72)
	s.backdrop(dark, dark.mix(h[1], 0.32))
	s.glow(s.focus, s.H*0.45, s.S*0.75, h[1].alpha(0.28))
	ox := s.rnd.Float64() * 20
	const n = 46
	for i := range n {
		t := float64(i) / (n - 1)
		var q []pt
		for k := range 70 {
			u := float64(k) / 69
			x := lerp(-0.05, 1.05, u) * s.W
			wave := s.n.at(u*1.7+ox, t*1.3) + 0.35*s.n.at(u*3.9+ox, t*2.2+7)
			pinch := 0.2 + 0.8*math.Pow(math.Abs(u-0.5-0.16*s.side)*1.7, 1.25)
			q = append(q, pt{x, s.H*0.5 + (t-0.5)*s.S*0.85*pinch + wave*s.S*0.24})
		}
		c := h[1].mix(h[2], smooth(0, 0.5, t)).mix(h[3], smooth(0.4, 0.8, t)).mix(h[4], smooth(0.75, 1, t))
		w := s.S * s.between(0.008, 0.05)
		r := newRamp(c.tone(-0.1, 1, 0).alpha(0.05), c.alpha(0.62), c.tone(0.12, 1, 0.1).alpha(0.8), c.alpha(0.1))
		s.fill(ribbon(q, func(u float64) float64 { return w * (0.25 + math.Sin(math.Pi*u)) }), func(x, _ float64) rgba { return r.at(x/s.W + 0.06*s.n.at(x/s.S*3, t*9)) })
		s.flat(ribbon(q, func(float64) float64 { return s.S * 0.0013 }), c.tone(0.25, 0.8, 0).alpha(0.55))
	}
	for range 70 {
		x, y := s.rnd.Float64()*s.W, s.H*0.5+s.rnd.NormFloat64()*s.S*0.22
		s.glow(x, y, s.S*s.between(0.003, 0.014), h[3].mix(h[2], s.rnd.Float64()).alpha(0.8))
	}
}

// paperCut stacks sheets with openings, each one deeper and lighter.
func (s *scene) paperCut() {
	h := s.hues(5)
	const n = 8
	ramp := newRamp(h[0].tone(-0.05, 1, 0), h[1], h[3], h[2].tone(0.1, 0.9, 0))
	s.backdrop(ramp.at(1), ramp.at(0.92))
	c := pt{s.W*0.5 - s.side*s.S*0.1, s.H * 0.47}
	s.flat(circle(c.x+s.side*s.S*0.03, c.y+s.S*0.02, s.S*0.085), hex(0xfff4dc))
	s.glow(c.x, c.y, s.S*0.3, hex(0xffe9c0).alpha(0.35))
	ox := s.rnd.Float64() * 40
	for i := n - 1; i >= 0; i-- {
		t := float64(i) / (n - 1)
		r := s.S * lerp(0.74, 0.15, t)
		sheet := rect(-9, -9, s.W+18, s.H+18)
		var hole []pt
		for k := range 120 {
			sin, cos := math.Sincos(-2 * math.Pi * float64(k) / 120)
			d := 1 + 0.28*s.n.at(cos*1.5+ox, sin*1.5+t*2.2) + 0.07*s.n.at(cos*4+ox, sin*4+t*5)
			hole = append(hole, pt{c.x + cos*r*d*1.12 + s.side*s.S*0.06*(1-t), c.y + sin*r*d + s.S*0.05*(1-t)})
		}
		sheet = append(sheet, hole)
		s.shadow(sheet, pt{-s.side * s.S * 0.010, s.S * 0.016}, s.S*0.022, 0.42)
		col := ramp.at(t)
		s.fill(sheet, across(pt{0, 0}, pt{s.W, s.H}, col.tone(0.035, 1, 0), col, col.tone(-0.04, 1, 0)))
	}
}

// tiles is a grid of quarter circles, discs, stripes and triangles.
func (s *scene) tiles() {
	h := append(s.hues(5), hex(0xf5ecd9))
	cols := 4 + s.rnd.IntN(3)
	size := max(s.W, s.H) / float64(cols) * 1.0
	if s.b.tag("minimal") {
		size *= 1.5
	}
	nx, ny := int(math.Ceil(s.W/size)), int(math.Ceil(s.H/size))
	ox, oy := (s.W-float64(nx)*size)/2, (s.H-float64(ny)*size)/2
	for iy := range ny {
		for ix := range nx {
			s.tile(ox+float64(ix)*size, oy+float64(iy)*size, size, h)
		}
	}
}

func (s *scene) tile(x, y, w float64, h []rgba) {
	i := s.rnd.IntN(len(h))
	back, front := h[i], h[(i+1+s.rnd.IntN(len(h)-1))%len(h)]
	third := h[(i+2+s.rnd.IntN(len(h)-2))%len(h)]
	sheen := func(c rgba) paint {
		return across(pt{x, y}, pt{x + w, y + w}, c.tone(0.03, 1, 0), c.tone(-0.03, 1, 0))
	}
	clip := func(p path) path {
		return p.warp(func(q pt) pt { return pt{min(x+w, max(x, q.x)), min(y+w, max(y, q.y))} })
	}
	s.fill(rect(x, y, w+1, w+1), sheen(back))
	cx, cy := x+w*float64(s.rnd.IntN(2)), y+w*float64(s.rnd.IntN(2))
	switch s.rnd.IntN(7) {
	case 0, 1:
		s.fill(clip(circle(cx, cy, w)), sheen(front))
		s.fill(clip(circle(cx, cy, w*0.5)), sheen(third))
	case 2:
		s.fill(circle(x+w/2, y+w/2, w*0.36), sheen(front))
		s.fill(clip(circle(x+w/2, y+w/2, w*0.16)), sheen(third))
	case 3:
		for k := range 4 {
			s.fill(rect(x, y+w*(float64(k)+0.25)/4, w, w/8), sheen(front))
		}
	case 4:
		s.fill(poly(pt{x, y + w}, pt{x + w, y + w}, pt{x + w, y}), sheen(front))
		s.fill(clip(circle(x+w*0.27, y+w*0.27, w*0.14)), sheen(third))
	case 5:
		for k := range 4 {
			s.fill(clip(circle(cx, cy, w*(1-0.22*float64(k)))), sheen([]rgba{front, back, third, back}[k]))
		}
	default:
		s.fill(clip(circle(x+w/2, y, w/2)), sheen(front))
		s.fill(clip(circle(x+w/2, y+w, w/2)), sheen(third))
	}
}

// orbs are soft balls that float over a gradient.
func (s *scene) orbs() {
	h := s.hues(6)
	s.backdrop(h[1].mix(hex(0xfbf6ee), 0.55), h[2].mix(hex(0xfbf3ea), 0.35))
	for i := range 11 {
		t := float64(i) / 10
		r := s.S * lerp(0.03, 0.2, t*t) * s.between(0.7, 1.2)
		x, y := s.W*s.between(0.08, 0.92), s.H*s.between(0.12, 0.88)
		if i == 10 {
			x, y = s.focus, s.H*0.5
		}
		c := h[i%len(h)]
		p := circle(x, y, r)
		s.shadow(p, pt{-s.side * r * 0.25, r * 0.4}, r*0.35, 0.3)
		ra := newRamp(c.tone(0.28, 0.7, 0), c.tone(0.08, 1, 0), c, c.tone(-0.15, 1, -0.15), c.tone(-0.08, 1, 0.25))
		s.fill(p, func(px, py float64) rgba {
			return ra.at(math.Hypot(px-x-s.side*r*0.38, py-y+r*0.42) / r * 0.68)
		})
		s.glow(x+s.side*r*0.4, y-r*0.45, r*0.35, rgba{1, 1, 1, 0.35})
	}
}
