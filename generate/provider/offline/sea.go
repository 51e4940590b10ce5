package offline

import "math"

// seascape draws water to the horizon, and what floats or stands in it.
func (s *scene) seascape() {
	b := s.b
	if b.has("mountain", "hill", "forest") || !b.has("lighthouse") && s.rnd.IntN(2) == 0 {
		amp := s.S * (0.13 + 0.2*float64(btoi(b.has("mountain"))))
		r := s.peakRidge(s.horizon+s.S*0.01, amp, 1.9)
		open := s.S * 0.16 * float64(1-btoi(b.has("mountain")))
		s.peaks(func(x float64) float64 { return r(x) + open*smooth(0.25, 0.75, 0.5+(x/s.W-0.5)*s.side) }, 0.8, amp)
	}
	s.mist(s.horizon-s.S*0.06, s.horizon+1, 0.5)
	if b.has("city") {
		s.skyline(s.horizon+s.S*0.004, s.S*0.3, 0.55, 26)
	}
	s.water(s.horizon, s.H)
	if b.has("city") {
		s.mirror(0, s.W, s.horizon+s.S*0.003, s.S*0.25)
	}
	if s.p.time == "storm" {
		s.swell()
	}
	var afloat, ashore []placed
	for k, t := range s.singles() {
		switch t.name {
		case "boat":
			afloat = append(afloat, s.spread(t, k, s.horizon+s.S*0.02, s.horizon+s.S*0.17)...)
		case "turbine":
			afloat = append(afloat, s.spread(t, k, s.horizon+s.S*0.005, s.horizon+s.S*0.09)...)
		case "bird", "balloon":
		default:
			ashore = append(ashore, s.spread(t, k, 0, 0)...)
		}
	}
	s.stand(afloat)
	for _, p := range afloat {
		s.mirror(p.x-p.w*0.42, p.x+p.w*0.42, p.y+p.h*0.03, p.h*0.55)
	}
	if len(ashore) > 0 || b.has("tree", "forest") {
		s.cape(ashore)
	}
	if !b.has("beach") {
		return
	}
	// Sand with a wet edge and foam.
	sand, ox := hex(0xf0d6a8), s.rnd.Float64()*10
	edge := func(k float64) path {
		return s.ground(func(x float64) float64 {
			t := 0.5 + (x/s.W-0.5)*s.side
			return s.H - s.S*(0.07+0.18*t*t+0.012*s.n.at(x/s.S*4+ox, k*2)) - k*s.S*0.02
		}, s.H+2)
	}
	s.fill(edge(1.1), down(s.H-s.S*0.2, s.H, s.p.light.alpha(0.35), s.p.light.alpha(0.1)))
	s.flat(edge(0.6), s.p.light.alpha(0.85))
	s.fill(edge(0.3), down(s.H-s.S*0.2, s.H, s.seen(sand, 0.1).mix(s.p.water, 0.35), s.seen(sand, 0)))
	s.fill(edge(-0.6), down(s.H-s.S*0.2, s.H, s.seen(sand, 0.05), s.seen(sand, 0).mix(s.p.near, 0.25)))
}

// water draws the reflected sky, broken into strips that widen towards the viewer.
func (s *scene) water(y0, y1 float64) {
	r := newRamp(s.p.low.mix(s.p.water, 0.35), s.p.mid.mix(s.p.water, 0.55), s.p.water.mix(s.p.top, 0.35), s.p.near.mix(s.p.water, 0.5))
	s.rows(y0, y1, func(y float64) rgba { return r.at(math.Pow((y-y0)/(y1-y0), 0.75)) })
	crest, trough := s.p.low.mix(s.p.light, 0.3), s.p.near.mix(s.p.water, 0.45)
	for i := range 900 {
		f := float64(i) / 900
		w := s.S * lerp(0.008, 0.12, f) * s.between(0.4, 1.2)
		c := crest.alpha(lerp(0.30, 0.16, f))
		if i%2 == 0 {
			c = trough.alpha(0.22)
		}
		s.flat(oval(s.rnd.Float64()*s.W, lerp(y0, y1, f*f), w, s.S*lerp(0.0006, 0.0036, f)*s.between(0.6, 1.2)), c)
	}
	if s.p.time == "storm" || s.p.time == "fog" || s.p.time == "dusk" {
		return
	}
	// The path of sunlight or moonlight on the water.
	c, k := s.p.sun.mix(s.p.low, 0.25), 1.0
	if s.p.time == "day" {
		k = 0.55
	}
	s.glowOval(s.sun.x, y0, s.S*0.30, (y1-y0)*0.85, c.alpha(0.22*k))
	for i := range 420 {
		f := float64(i) / 420
		g, w := s.rnd.NormFloat64()*0.6, s.S*lerp(0.006, 0.042, f)*s.between(0.4, 1.3)
		s.flat(oval(s.sun.x+g*s.S*lerp(0.03, 0.12, f), lerp(y0+1, y1, f*f), w, w*0.055+0.4), c.times(1.2).alpha(0.8*k*math.Exp(-g*g)*(1-0.35*f)))
	}
}

// mirror reflects the picture above y0 in the water from x0 to x1, broken by ripples.
func (s *scene) mirror(x0, x1, y0, depth float64) {
	for y := max(0, int(y0)); y < min(s.h, int(y0+depth)); y++ {
		f := (float64(y) - y0) / depth
		for x := max(0, int(x0)); x < min(s.w, int(x1)); x++ {
			w := s.n.at(float64(x)/s.S*9, float64(y)/s.S*70)
			sx := min(s.w-1, max(0, x+int(w*s.S*0.012*(0.3+f))))
			sy := min(s.h-1, max(0, int(y0-(float64(y)-y0)*1.25)+int(w*s.S*0.01*(0.3+f))))
			p := s.pix[(sy*s.w+sx)*3:]
			edge := smooth(0, 0.25, min(float64(x)-x0, x1-float64(x))/(x1-x0)+0.25*float64(btoi(x1-x0 >= s.W)))
			s.blend(y*s.w+x, rgba{p[0] * 0.9, p[1] * 0.9, p[2] * 0.9, 1}, float32(0.62*(1-f)*(0.82+0.3*w)*edge))
		}
		s.yieldAfterPixels(int(x1 - x0))
	}
}

// swell draws a stormy sea: heavy waves with foam, the nearest the largest.
func (s *scene) swell() {
	for i := range 6 {
		f := float64(i+1) / 6
		y0 := lerp(s.horizon+s.S*0.01, s.H-s.S*0.05, math.Pow(f, 1.35))
		amp, freq, ox := s.S*lerp(0.008, 0.055, f), lerp(8, 2.2, f), s.rnd.Float64()*30
		r := func(x float64) float64 {
			u := x/s.S*freq + ox
			v := math.Abs(math.Mod(math.Abs(u+0.4*s.n.at(u*0.7, ox)), 1)*2 - 1)
			return y0 - amp*(math.Pow(v, 2.2)*1.3-0.3)*(0.7+0.6*s.n.at(u*0.35, ox+3))
		}
		top, bottom := s.p.water.mix(s.p.low, 0.42*(1-f)+0.12), s.p.near.mix(s.p.water, 0.3*(1-f)+0.2)
		s.fill(s.ground(r, s.H+2), func(x, y float64) rgba {
			ry := r(math.Floor(x/3) * 3)
			d := (y - ry) / (amp*2.4 + 1)
			foam := smooth(0.12, 0.5, s.n.fbm(x/s.S*34, (y-ry)/s.S*60+ox, 3)+0.55*(1-d*2.2))
			return top.fade(bottom, 0.45*d+0.55*(y-y0+amp)/(amp*3.2+1)).fade(s.p.light, 0.75*foam*smooth(0.42, 0, d))
		})
	}
}

// cape draws rock that rises from the water, the things that stand on it, and spray at its foot.
func (s *scene) cape(ashore []placed) {
	x, y, ox := s.focus, s.H-s.S*0.25, s.rnd.Float64()*20
	gap := min(0.2*s.S, (0.5+0.5*s.side)*x/float64(len(ashore)+1)+(0.5-0.5*s.side)*(s.W-x)/float64(len(ashore)+1))
	room := max(0, float64(len(ashore)-1)) * gap
	rock := func(px float64) float64 {
		d, slope := (px-x)*s.side, 1.9
		if d < 0 { // the landward side is flat under things, then falls gently
			d, slope = max(0, -d-room), 0.45
		}
		return y + s.S*(math.Pow(d/s.S*slope, 1.4)*0.9-0.01) + s.S*0.022*s.n.fbm(px/s.S*14+ox, ox, 4)
	}
	for i := range ashore {
		p := &ashore[i]
		p.x, p.depth = x-s.side*gap*float64(i), 0.05
		p.y = rock(p.x) + s.S*0.02
		if i > 0 {
			k := min(1, 0.75+0.25/float64(i))
			p.w, p.h = p.w*k, p.h*k
		}
	}
	s.stand(ashore)
	dark, lit := s.p.near.mix(s.p.shade, 0.12), s.p.shade.mix(s.p.far, 0.4)
	s.fill(s.ground(rock, s.H+2), func(px, py float64) rgba {
		e := s.n.at(px/s.S*24+s.side*py/s.S*9, py/s.S*15) + 0.5*s.n.at(px/s.S*60, py/s.S*50)
		c := dark.fade(lit, smooth(-0.45, 0.8, e-(py-y)/s.S*1.2))
		return c.fade(s.p.foliage, 0.7*smooth(0.03, 0, (py-rock(px))/s.S)*smooth(0.12, 0.02, (py-y)/s.S))
	})
	power := 0.45 + 0.55*float64(btoi(s.p.time == "storm"))
	for range int(170 * power) {
		px, t := x+s.S*s.between(-0.1, 0.62)*s.side, s.rnd.Float64()
		if r := rock(px); r >= s.H-s.S*0.16 {
			s.glow(px, max(min(r, s.H)+s.S*0.05-t*s.S*0.11*power, s.H-s.S*0.22*power), s.S*s.between(0.008, 0.04), s.p.light.mix(s.p.low, 0.2).alpha(0.26*(1-t*0.6)))
		}
	}
}
