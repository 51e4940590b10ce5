package offline

import "math"

// treeline sets small trees along a ridge, in groups.
func (s *scene) treeline(r ridge, depth, density float64) {
	col := s.p.near.mix(s.p.far, depth*0.8).mix(s.p.foliage, 0.3).fade(s.p.haze, depth*0.45)
	h := s.S * lerp(0.045, 0.014, depth)
	var p path
	ox := s.rnd.Float64() * 50
	pine := s.b.has(mMountain, mIce, mForest) || s.b.tag("snow")
	for x := -h; x < s.W+h; x += h * s.between(0.2, 0.5) {
		if s.n.at(x/s.S*5+ox, ox) < 1-2*density {
			continue
		}
		k := h * s.between(0.5, 1.25)
		y := r(x) + h*0.12
		if pine {
			p = p.add(pt{x - k*0.22, y}, pt{x, y - k}, pt{x + k*0.22, y})
			continue
		}
		p = p.join(oval(x, y-k*0.3, k*0.36, k*0.34))
	}
	s.flat(p, col)
}

// conifer is one pine, h tall, with its foot at (x, y).
func (s *scene) conifer(x, y, h, depth float64) {
	dark := s.p.near.mix(s.p.foliage, 0.18).fade(s.p.haze, depth*0.7)
	lit := s.p.foliage.mix(s.p.near, 0.42).mix(s.p.low, 0.08).fade(s.p.haze, depth*0.7)
	w := h * 0.36
	s.flat(rect(x-h*0.014, y-h*0.12, h*0.028, h*0.13), dark)
	tiers := 7
	var p path
	for i := range tiers {
		f := float64(i) / float64(tiers)
		ty, by := y-h+h*0.80*f*0.98, y-h+h*(0.22+0.72*f)
		tw := w * (0.20 + 0.8*f) * s.between(0.86, 1.1)
		var q []pt
		q = append(q, pt{x, ty})
		for k := range 7 {
			g := 1 - float64(k)/3
			drop := 0.0
			if k%2 == 1 {
				drop = -h * 0.028
			}
			q = append(q, pt{x + tw/2*g, by + drop - math.Abs(1-math.Abs(g))*h*0.01})
		}
		p = p.add(q...)
	}
	snowy := s.b.tag("snow") || s.b.has(mIce)
	l, rr := s.lit(lit, dark)
	if snowy {
		l, rr = l.mix(s.p.light, 0.5), rr.mix(s.p.light, 0.25)
	}
	s.fill(p, across(pt{x - w*0.35, y}, pt{x + w*0.35, y - h*0.1}, l, rr))
}

// crown is a cloud of leaves around a middle.
func (s *scene) crown(x, y, w, h float64, n int) path {
	var p path
	for range n {
		a, d := s.rnd.Float64()*2*math.Pi, math.Sqrt(s.rnd.Float64())
		r := w * s.between(0.12, 0.22)
		p = p.join(oval(x+math.Cos(a)*d*w*0.38, y+math.Sin(a)*d*h*0.36, r, r*0.92))
	}
	return p.join(oval(x, y, w*0.34, h*0.34))
}

// leafTree is a broadleaved tree, h tall, with its foot at (x, y).
func (s *scene) leafTree(x, y, h, depth float64) {
	dark := s.p.near.mix(s.p.foliage, 0.3).fade(s.p.haze, depth*0.7)
	lit := s.p.foliage.mix(s.p.foliage2, 0.4).mix(s.p.low, 0.16).fade(s.p.haze, depth*0.7)
	bark := s.p.near.mix(s.seen(hex(0x6b4a36), depth), 0.35)
	s.flat(poly(pt{x - h*0.035, y}, pt{x - h*0.016, y - h*0.5}, pt{x + h*0.016, y - h*0.5}, pt{x + h*0.035, y}), bark)
	for k := range 4 {
		g := float64(k)*2 - 3
		s.flat(line(pt{x, y - h*0.32}, pt{x + g*h*0.08, y - h*0.62}, h*0.022, h*0.006), bark)
	}
	cy, w := y-h*0.66, h*0.78
	s.flat(s.crown(x, cy+h*0.03, w, h*0.72, 16), dark)
	for k := range 3 {
		f := float64(k+1) / 3
		c := dark.mix(lit, f)
		off := s.side * w * 0.09 * f
		p := s.crown(x+off, cy-h*0.05*f, w*(0.9-0.2*f), h*(0.66-0.16*f), 9)
		s.flat(p, c.alpha(0.75))
	}
	for range 46 {
		a, d := s.rnd.Float64()*2*math.Pi, math.Sqrt(s.rnd.Float64())*0.42
		px, py := x+math.Cos(a)*d*w, cy+math.Sin(a)*d*h*0.8
		s.flat(oval(px, py, h*0.014, h*0.009), lit.mix(s.p.low, 0.2).alpha(0.4+0.4*max(0, s.side*math.Cos(a))))
	}
}

// forest covers the middle ground, darker and larger towards the viewer.
func (s *scene) forest(r ridge) {
	pine := !s.b.tag("autumn") || s.b.has(mMountain)
	for i := range 5 {
		f := float64(i) / 4
		depth := lerp(0.5, 0.06, f)
		h := s.S * lerp(0.07, 0.25, f)
		gap := h * 0.3
		for x := -gap; x < s.W+gap; x += gap * s.between(0.7, 1.5) {
			y := r(x) + s.S*lerp(0.02, 0.32, f) + h*s.between(-0.08, 0.08)
			open := math.Abs(x-s.focus) / s.S
			if f > 0.3 && open < 0.10+0.16*f && !s.b.has(mHouse) {
				continue
			}
			if pine == (s.rnd.IntN(5) > 0) {
				s.conifer(x, y, h*s.between(0.8, 1.2), depth)
			} else {
				s.leafTree(x, y, h*0.75*s.between(0.8, 1.15), depth)
			}
		}
		s.mist(s.horizon+s.S*(0.02+0.25*f), s.horizon+s.S*(0.12+0.3*f), 0.28*(1-f))
	}
}

// grass grows along a near ridge.
func (s *scene) grass(r ridge) {
	_, dark := s.land(0.02)
	lit := dark.mix(s.p.foliage2, 0.4)
	for i := range 520 {
		x := s.rnd.Float64() * s.W
		y := r(x) + s.S*0.006 + s.rnd.Float64()*s.rnd.Float64()*s.S*0.12
		h := s.S * s.between(0.008, 0.026)
		lean := h * s.between(-0.5, 0.5)
		c := dark
		if i%3 == 0 {
			c = lit
		}
		s.flat(poly(pt{x - h*0.06, y}, pt{x + lean, y - h}, pt{x + h*0.06, y}), c.alpha(0.9))
	}
}

// meadow scatters flowers, small behind and large in front.
func (s *scene) meadow(r ridge) {
	kinds := []rgba{s.p.accent, s.p.accent2, hex(0xf7c948), hex(0xf4f0ea), hex(0xe06f9a)}
	if len(s.b.hues) > 0 {
		kinds = append(s.b.hues, s.b.hues[0].tone(0.12, 0.8, 0), s.b.hues[0].tone(-0.08, 1, 0.2))
	}
	const n = 260
	for i := range n {
		f := float64(i) / n
		x := s.rnd.Float64() * s.W
		y := lerp(r(x)-s.S*0.005, s.H+s.S*0.06, f*f)
		size := s.S * lerp(0.006, 0.034, f*f) * s.between(0.7, 1.2)
		c := s.seen(kinds[s.rnd.IntN(len(kinds))], 0.25*(1-f)).mix(s.p.low, 0.1)
		s.flower(pt{x, y}, size, c)
	}
}

// flower has a stem, petals around a heart, and leaves.
func (s *scene) flower(at pt, r float64, c rgba) {
	stem := s.p.near.mix(s.p.foliage, 0.55)
	lean := r * s.between(-1, 1)
	top := pt{at.x + lean, at.y - r*3.2}
	s.flat(ribbon(curve([]pt{{at.x, at.y + r*2}, {at.x + lean*0.2, at.y - r}, top}, 6), func(t float64) float64 { return r * lerp(0.22, 0.12, t) }), stem)
	s.flat(oval(at.x+r*0.5, at.y-r*0.3, r*0.55, r*0.18), stem.mix(s.p.foliage2, 0.4))
	petals, turn := 6+s.rnd.IntN(3), s.rnd.Float64()
	tilt := s.between(0.55, 0.9)
	for k := range petals {
		sin, cos := math.Sincos(2 * math.Pi * (float64(k) + turn) / float64(petals))
		var q []pt
		for j := range 12 {
			js, jc := math.Sincos(2 * math.Pi * float64(j) / 12)
			u, v := r*(0.58+0.5*jc), r*0.27*js
			q = append(q, pt{top.x + u*cos - v*sin, top.y + (u*sin+v*cos)*tilt})
		}
		s.flat(poly(q...), c.mix(s.p.shade, 0.28*max(0, sin)).mix(s.p.sun, 0.2*max(0, -sin)))
	}
	s.flat(oval(top.x, top.y, r*0.3, r*0.3*tilt), s.seen(hex(0xf2b632), 0))
}

// pasture scatters bushes, tufts and soft patches of light over open ground.
func (s *scene) pasture(r ridge) {
	lit, dark := s.land(0.12)
	shade := dark.mix(s.p.near, 0.4)
	for i := range 26 {
		f := s.rnd.Float64()
		x, y := s.rnd.Float64()*s.W, lerp(r(s.W/2)+s.S*0.03, s.H, f)
		w := s.S * lerp(0.08, 0.36, f)
		c := lit.mix(s.p.low, 0.12).alpha(0.2)
		if i%2 == 0 {
			c = shade.alpha(0.2)
		}
		s.soft(x, y, w, w*0.1, c)
	}
	for range 300 {
		f := math.Sqrt(s.rnd.Float64())
		x, y := s.rnd.Float64()*s.W, lerp(r(s.W/2)+s.S*0.03, s.H, f)
		h := s.S * lerp(0.003, 0.013, f)
		s.flat(poly(pt{x - h*0.5, y}, pt{x - h*0.3, y - h}, pt{x, y - h*0.4}, pt{x + h*0.35, y - h*1.1}, pt{x + h*0.6, y}), lit.mix(dark, s.rnd.Float64()).alpha(0.7))
	}
	for i := range 13 {
		f := float64(i) / 13
		x, y := s.rnd.Float64()*s.W, lerp(r(s.W/2)+s.S*0.035, s.H*0.93, f*f)
		if math.Abs(x-s.W/2) < s.S*0.16 && s.b.has(mRoad, mRiver) {
			continue
		}
		h := s.S * lerp(0.016, 0.05, f)
		s.soft(x-s.side*h*0.6, y, h*1.3, h*0.22, shade.alpha(0.5))
		c := shade.mix(s.p.foliage, 0.45).fade(s.p.haze, 0.25*(1-f))
		s.flat(s.crown(x, y-h*0.35, h*1.4, h*0.8, 7), c)
		s.flat(s.crown(x+s.side*h*0.14, y-h*0.46, h*0.9, h*0.45, 5), c.mix(s.p.low, 0.2))
	}
}

// soft is an oval patch of colour that fades outwards.
func (s *scene) soft(x, y, rx, ry float64, c rgba) {
	s.fill(oval(x, y, rx, ry), func(px, py float64) rgba {
		dx, dy := (px-x)/rx, (py-y)/ry
		d := max(0, 1-dx*dx-dy*dy)
		return c.alpha(float64(c.a) * d)
	})
}
