package offline

import "math"

// ecoscape puts one planted building in the middle of a green quarter.
func (s *scene) ecoscape() {
	base := s.horizon + s.S*0.16
	s.skyline(s.horizon+s.S*0.1, s.S*0.22, 0.88, 30)
	s.mist(s.horizon-s.S*0.2, s.horizon+s.S*0.12, 0.6)
	r := s.hillRidge(s.horizon+s.S*0.09, s.S*0.02, 1.2)
	if s.b.has(mTurbine) || !s.b.tag("no-turbine") {
		s.turbines(r, 3, s.S*0.3, 0.62)
	}
	s.hill(r, 0.55)
	s.treeline(r, 0.45, 0.6)
	s.mist(s.horizon, s.horizon+s.S*0.14, 0.3)
	s.hill(func(float64) float64 { return base - s.S*0.012 }, 0.16)
	w := s.S * 0.30
	x := s.focus - w/2
	s.greenTower(x+s.side*w*0.86, base, w*0.72, s.S*0.40, 0.2)
	s.greenTower(x, base, w, s.S*0.58, 0.06)
	s.plaza(base)
}

// greenTower is a stack of floors, some set back, each with a planted balcony.
func (s *scene) greenTower(x, y, w, h, depth float64) {
	floors := int(math.Round(h / (s.S * 0.052)))
	fh := h / float64(floors)
	side := w * 0.24 // the face that we see at an angle, away from the light
	wall := hex(0xf6f2ea)
	for i := range floors {
		t := float64(i) / float64(floors)
		in := w * 0.07 * math.Floor(t*3.2)
		shift := w * 0.035 * math.Sin(float64(i)*1.9)
		if i == 0 {
			shift = 0
		}
		fx, fw, fy := x+in*0.5+shift, w-in, y-fh*float64(i+1)
		s.floor(fx, fy, fw, fh, depth)
		k := -s.side
		ex := fx
		if k > 0 {
			ex = fx + fw
		}
		sw := side * (1 - 0.2*t)
		s.fill(poly(pt{ex, fy}, pt{ex + k*sw, fy + fh*0.12}, pt{ex + k*sw, fy + fh}, pt{ex, fy + fh}), down(fy, fy+fh, s.shaded(wall, depth).times(0.72), s.shaded(wall, depth).times(0.5)))
		s.fill(poly(pt{ex + k*sw*0.1, fy + fh*0.25}, pt{ex + k*sw*0.88, fy + fh*0.33}, pt{ex + k*sw*0.88, fy + fh*0.86}, pt{ex + k*sw*0.1, fy + fh*0.88}), down(fy, fy+fh, s.p.mid.mix(s.p.shade, 0.6), s.p.shade.times(0.5)))
		s.flat(poly(pt{ex, fy + fh*0.94}, pt{ex + k*sw*1.12, fy + fh*0.99}, pt{ex + k*sw*1.12, fy + fh*1.06}, pt{ex, fy + fh*1.04}), s.shaded(wall, depth))
		s.balcony(min(ex, ex+k*sw*1.1), fy+fh*0.97, sw*1.1, fh*0.28, depth+0.1)
		s.flat(roundRect(fx-w*0.035, fy+fh*0.94, fw+w*0.07, fh*0.11, fh*0.04), s.seen(wall, depth))
		s.fill(rect(fx, fy+fh*1.05, fw, fh*0.2), down(fy+fh*1.05, fy+fh*1.25, s.p.near.times(0.5).alpha(0.45), s.p.near.alpha(0)))
		s.balcony(fx-w*0.03, fy+fh*0.955, fw+w*0.06, fh*0.4, depth)
	}
	s.roof(x+w*0.1, y-h, w*0.8, depth)
}

// floor is one storey of glass behind slim columns.
func (s *scene) floor(x, y, w, h, depth float64) {
	low := s.p.low.mix(s.p.sun, 0.2)
	a, b := s.lit(low.mix(s.p.mid, 0.3), s.p.top.mix(s.p.shade, 0.5))
	s.fill(rect(x, y, w, h), across(pt{x, y + h}, pt{x + w, y}, a.fade(s.p.haze, depth*0.5), a.mix(b, 0.55), b.fade(s.p.haze, depth*0.5)))
	bays := max(3, int(w/(h*0.62)))
	gap := w / float64(bays)
	frame := s.seen(hex(0xe9e4da), depth)
	for i := range bays {
		px := x + gap*float64(i)
		if s.rnd.Float64() < 0.25+0.5*s.p.night {
			s.fill(rect(px+gap*0.06, y+h*0.22, gap*0.88, h*0.72), down(y+h*0.2, y+h, s.p.lamp.alpha(0.15+0.75*s.p.night), s.p.lamp.alpha(0.05+0.5*s.p.night)))
		}
		if s.rnd.IntN(3) == 0 {
			s.flat(poly(pt{px + gap*0.1, y + h}, pt{px + gap*0.5, y + h*0.1}, pt{px + gap*0.7, y + h*0.1}, pt{px + gap*0.3, y + h}), s.p.light.alpha(0.22))
		}
		s.flat(rect(px-gap*0.025, y, gap*0.05, h), frame)
	}
	s.fill(rect(x, y, w, h*0.16), down(y, y+h*0.16, s.p.near.alpha(0.35), s.p.near.alpha(0)))
}

// roof has trees, panels and a rail.
func (s *scene) roof(x, y, w, depth float64) {
	h := s.S * 0.05
	s.leafTree(x+w*0.12, y+h*0.1, h*1.5, depth)
	s.leafTree(x+w*0.86, y+h*0.1, h*1.2, depth)
	for i := range 3 {
		px := x + w*(0.26+0.17*float64(i))
		glass := s.seen(hex(0x2a5a9c), depth)
		s.flat(line(pt{px + w*0.06, y}, pt{px + w*0.06, y - h*0.3}, h*0.05, h*0.05), s.shaded(hex(0x8a9298), depth))
		s.fill(poly(pt{px, y - h*0.16}, pt{px + w*0.035, y - h*0.62}, pt{px + w*0.155, y - h*0.62}, pt{px + w*0.12, y - h*0.16}), across(pt{px, y}, pt{px + w*0.15, y - h}, glass.times(0.5), glass, s.p.low))
	}
	s.balcony(x-w*0.06, y+h*0.06, w*1.12, h*0.34, depth)
}

// plaza is paving, lawn, trees and people before a building.
func (s *scene) plaza(y float64) {
	lit, dark := s.land(0.08)
	s.rows(y, s.H, func(py float64) rgba { return lit.fade(dark, 0.15+0.85*(py-y)/(s.H-y)) })
	cx := s.focus
	stone := hex(0xe9e0d0)
	s.fill(poly(pt{cx - s.S*0.05, y}, pt{cx + s.S*0.05, y}, pt{cx + s.S*0.36, s.H}, pt{cx - s.S*0.24, s.H}), down(y, s.H, s.seen(stone, 0.15), s.seen(stone, 0).mix(s.p.shade, 0.35)))
	for i := range 6 {
		t := math.Pow(float64(i+1)/6, 1.8)
		yy := lerp(y, s.H, t)
		s.flat(rect(cx-s.S*lerp(0.05, 0.24, t), yy, s.S*lerp(0.1, 0.6, t), s.S*0.0022), s.p.shade.alpha(0.4))
	}
	for i := range 16 {
		t := math.Sqrt(float64(i) / 15)
		k := float64(i%2)*2 - 1
		x := cx + s.S*0.03*t + k*s.S*(0.2+0.42*t*s.between(0.6, 1.1))
		s.leafTree(x, y+s.S*(0.012+0.1*t*t), s.S*lerp(0.10, 0.2, t*t), 0.25*(1-t))
	}
	for range 7 {
		t := s.between(0.08, 0.6)
		s.person(cx+s.S*s.between(-0.1, 0.14)*(0.5+t), lerp(y, s.H, t), s.S*lerp(0.035, 0.085, t))
	}
	base := s.hillRidge(s.H-s.S*0.025, s.S*0.015, 1.4)
	s.hill(base, 0.02)
	s.grass(base)
}

// house is a small dwelling with a lit window and panels if the words ask for them.
func (s *scene) house(x, y, w float64) {
	h := w * 0.42
	wall, roofC := hex(0xf2e6d4), hex(0xa8493a)
	bright, dark := s.seen(wall, 0.08), s.shaded(wall, 0.08)
	k := s.side
	s.flat(oval(x, y, w*0.62, w*0.05), s.p.near.times(0.5).alpha(0.6))
	s.fill(rect(x-w/2, y-h, w, h), down(y-h, y, bright, bright.mix(dark, 0.45)))
	gx := x + k*w*0.28
	s.fill(poly(pt{gx - w*0.24, y}, pt{gx - w*0.24, y - h}, pt{gx, y - h*1.75}, pt{gx + w*0.24, y - h}, pt{gx + w*0.24, y}), down(y-h*1.7, y, bright.mix(s.p.light, 0.3), bright.mix(dark, 0.25)))
	roofL, roofR := s.seen(roofC, 0.05), s.shaded(roofC, 0.05)
	far := x - k*w*0.56
	s.fill(poly(pt{gx, y - h*1.82}, pt{gx - k*w*0.27, y - h*0.96}, pt{far, y - h*0.96}, pt{far + k*w*0.12, y - h*1.82}), down(y-h*1.8, y-h, roofL, roofR.mix(roofL, 0.3)))
	s.flat(line(pt{gx, y - h*1.82}, pt{gx + k*w*0.3, y - h*0.92}, w*0.035, w*0.035), roofR)
	if s.b.has(mSolar) || s.b.has(mEnergy) {
		a, b := gx-k*w*0.12, far+k*w*0.2
		s.fill(poly(pt{a - k*w*0.02, y - h*1.68}, pt{a - k*w*0.14, y - h*1.16}, pt{b - k*w*0.1, y - h*1.16}, pt{b, y - h*1.68}), across(pt{a, y - h*1.7}, pt{b, y - h*1.1}, s.p.low.mix(hex(0x2a5a9c), 0.5), hex(0x16305c)))
	}
	s.flat(rect(far+k*w*0.2-w*0.03, y-h*2.05, w*0.06, h*0.4), dark)
	lamp := s.p.lamp.mix(s.p.mid, 0.6*(1-max(0.3, s.p.night)))
	for _, q := range []pt{{gx - w*0.06, y - h*0.82}, {x - k*w*0.14 - w*0.05, y - h*0.7}, {x - k*w*0.36 - w*0.05, y - h*0.7}} {
		s.flat(roundRect(q.x-w*0.008, q.y-w*0.008, w*0.126, h*0.37, 1), s.seen(hex(0xffffff), 0.05))
		s.fill(rect(q.x, q.y, w*0.11, h*0.33), down(q.y, q.y+h*0.33, lamp, lamp.times(0.8)))
		s.flat(rect(q.x+w*0.051, q.y, w*0.008, h*0.33), s.seen(hex(0xffffff), 0.05))
		if s.p.night > 0.3 {
			s.glow(q.x+w*0.05, q.y+h*0.16, w*0.3, s.p.lamp.alpha(0.4*s.p.night))
		}
	}
	s.flat(roundRect(gx-w*0.055, y-h*0.4, w*0.11, h*0.4, w*0.01), s.p.near.mix(roofC, 0.3))
	s.leafTree(x-k*w*0.72, y+w*0.02, w*0.75, 0.1)
}
