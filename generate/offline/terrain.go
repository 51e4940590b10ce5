package offline

import "math"

// ridge is the upper edge of a piece of land: y at x.
type ridge func(x float64) float64

// hillRidge rolls around y0.
func (s *scene) hillRidge(y0, amp, freq float64) ridge {
	ox, oy := s.rnd.Float64()*100, s.rnd.Float64()*100
	return func(x float64) float64 {
		u := x / s.S * freq
		return y0 - amp*(s.n.at(u+ox, oy)+0.3*s.n.at(u*2.3+ox, oy+9))
	}
}

// peakRidge is jagged and never falls below y0.
func (s *scene) peakRidge(y0, amp, freq float64) ridge {
	ox, oy := s.rnd.Float64()*100, s.rnd.Float64()*100
	return func(x float64) float64 {
		u := x/s.S*freq + ox
		v := s.n.ridged(u, oy, 6)
		return y0 - amp*math.Pow(max(0, v-0.18)*1.3, 1.35)
	}
}

// ground is the area below a ridge.
func (s *scene) ground(r ridge, bottom float64) path {
	step := max(1, s.W/900)
	var q []pt
	for x := -step; x <= s.W+2*step; x += step {
		q = append(q, pt{x, r(x)})
	}
	return poly(append(q, pt{s.W + 2*step, bottom}, pt{-step, bottom})...)
}

// mountains draws ranges, the farthest first.
func (s *scene) mountains() {
	layers := 3
	if s.b.tag("minimal") || s.b.tag("flat") {
		layers = 2
	}
	for i := range layers {
		f := float64(i) / float64(layers)
		amp := s.S * lerp(0.40, 0.22, f)
		if !s.b.has(mMountain) {
			amp *= 0.5
		}
		r := s.peakRidge(s.horizon+s.S*(0.015+0.03*f), amp, lerp(1.5, 2.3, f))
		s.range1(r, lerp(0.92, 0.42, f), amp)
		s.mist(s.horizon-s.S*0.16, s.horizon+s.S*0.03, 0.5)
	}
}

// range1 draws one range: faces towards the light, faces in the shade, snow on top.
func (s *scene) range1(r ridge, depth, amp float64) {
	base := s.p.far.mix(s.p.near, 0.75*(1-depth))
	bright, dark := base.mix(s.p.low, 0.28).fade(s.p.haze, depth*0.3), base.mix(s.p.shade, 0.25).tone(-0.05, 1, 0).fade(s.p.haze, depth*0.42)
	snow, snowShade := s.p.light.mix(s.p.low, 0.2).fade(s.p.haze, depth*0.4), s.p.shade.mix(s.p.light, 0.3).fade(s.p.haze, depth*0.5)
	foot := s.horizon + s.S*0.06
	heights := make([]float64, s.w+2)
	for i := range heights {
		heights[i] = r(float64(i))
	}
	snowy := s.b.has(mMountain) || s.b.has(mIce) || s.b.tag("snow")
	flat := s.b.tag("flat") || s.b.tag("minimal")
	k := 9 / s.S
	s.fill(s.ground(r, foot), func(x, y float64) rgba {
		top := heights[min(len(heights)-1, max(0, int(x)))]
		d := (y - top) / amp
		// Faces follow the fall line: noise stretched downwards and sheared by the light.
		u := (x + s.side*(y-top)*0.55) * k
		v := (y - top) * k * 0.62
		e := 2.2*(s.n.ridged(u*0.8, v, 3)-s.n.ridged(u*0.8+0.13*s.side, v-0.09, 3)) + 0.25*s.n.at(u*2.9, v*2.2)
		side := heights[min(len(heights)-1, max(0, int(x+s.S*0.012)))] - heights[max(0, min(len(heights)-1, int(x-s.S*0.012)))]
		face := smooth(-0.2, 0.24, e*0.9-s.side*side/(s.S*0.02)*0.3)
		if flat {
			face = 0.4
		}
		c := dark.fade(bright, face)
		if snowy {
			line := smooth(0.24, 0.1, d+0.16*e+(top-foot+amp)/amp*0.42)
			c = c.fade(snowShade.fade(snow, face), line)
		}
		return c.fade(s.p.haze, smooth(0.15, 1, (y-top)/(foot-top+1))*0.55)
	})
}

// mist thickens downwards and hides where layers meet.
func (s *scene) mist(y0, y1, a float64) {
	s.rows(y0, y1, func(y float64) rgba {
		t := (y - y0) / (y1 - y0)
		return s.p.haze.alpha(a * t * t * (1 - smooth(0.9, 1, t)*0.3))
	})
}

// hill draws one rolling layer; depth 1 is the horizon and 0 our feet.
func (s *scene) hill(r ridge, depth float64) {
	lit, dark := s.land(depth)
	top := math.Inf(1)
	for x := 0.0; x <= s.W; x += s.W / 60 {
		top = min(top, r(x))
	}
	ra := newRamp(lit, lit.mix(dark, 0.5), dark, dark.tone(-0.03, 1, 0))
	span := s.S * lerp(0.34, 0.1, depth)
	ridgeAt := make([]float64, s.w+1)
	for i := range ridgeAt {
		ridgeAt[i] = r(float64(i))
	}
	s.fill(s.ground(r, s.H+2), func(x, y float64) rgba {
		ry := ridgeAt[min(s.w, max(0, int(x)))]
		d := (y - ry) / span
		slant := s.side * (ridgeAt[min(s.w, max(0, int(x+s.S*0.035)))] - ridgeAt[max(0, min(s.w, int(x-s.S*0.035)))]) / (s.S * 0.035)
		tex := (s.n.at(x/s.S*3, y/s.S*9)*0.05 + s.n.at(x/s.S*40, y/s.S*160)*0.012) * (1 - depth)
		return ra.at(d + 0.12 + slant*0.28 + tex*4)
	})
}

// land gives the colours of open ground at a distance, in the light and in the shade.
func (s *scene) land(depth float64) (lit, dark rgba) {
	dark = s.p.near.mix(s.p.far, depth*0.9)
	lit = s.p.foliage.mix(s.p.far, depth*0.75).mix(s.p.low, 0.14)
	switch {
	case s.b.has(mDesert):
		sand := hex(0xedb877).under(s.p.light)
		lit, dark = sand.fade(s.p.haze, depth*0.6), s.p.near.mix(sand, 0.35+0.35*depth)
	case s.b.has(mIce) || s.b.tag("snow"):
		lit, dark = hex(0xf4f8fc).under(s.p.light), hex(0xc4d6e8).under(s.p.shade).mix(s.p.light, 0.35)
	case s.b.has(mField):
		lit = lit.mix(hex(0xe3bf5a).under(s.p.light), 0.55)
	}
	return lit.fade(s.p.haze, depth*0.5), dark.fade(s.p.haze, depth*0.5)
}
