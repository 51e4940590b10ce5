package offline

import "math"

// place draws what is far away, then land or water, what stands and floats there, and the foreground.
func (s *scene) place() {
	b := s.b
	sea := b.has("sea", "beach", "boat") || b.has("lighthouse") && !b.has("mountain", "hill", "forest", "city")
	ground := b.has("train", "solar", "forest", "flower", "eco") || len(s.spread(ashore, 0, 0)) > 1 // needs land, also by the sea
	wet := sea || b.has("city") && !ground && !b.has("house", "tree", "hill", "turbine")
	tall, shore, deep := float64(btoi(b.has("mountain"))), 0.2*float64(btoi(wet)), s.H-s.horizon
	ranges, town, coast := 3, 3*btoi(b.has("city")), 0.0
	switch {
	case tall > 0:
	case town > 0:
		ranges = 0
	case b.has("eco"):
		ranges, town = 0, 1
	case sea: // a coast that leaves one side open
		ranges, coast = 1, 0.16*s.S
	}
	for i := range ranges {
		f := float64(i) / 3
		amp := s.S * lerp(0.40, 0.22, f) * (0.45 + 0.55*tall)
		s.peaks(s.horizon+s.S*(0.015+0.03*f), amp, lerp(1.5, 2.3, f), lerp(0.92, 0.42, f), coast)
		s.mist(s.horizon-s.S*0.16, s.horizon+s.S*0.03, 0.5)
	}
	for i := range town { // rows of buildings, the farthest first
		f := float64(i) / 2
		s.skyline(s.horizon+s.S*0.02*f, s.S*lerp(0.26, 0.46, f), lerp(0.85, 0.3, f), int(lerp(34, 15, f)))
		s.mist(s.horizon-s.S*0.3, s.horizon+s.S*0.02*f, 0.5-0.16*f)
	}
	if wet {
		s.water(ground)
	}
	if wet && !ground {
		s.coast()
		return
	}
	for i := range 2 * btoi(!wet) {
		f := float64(i)
		s.hills(s.rolling(s.horizon+s.S*(0.005+0.045*f), 1.7), lerp(0.78, 0.54, f), 0.5)
		s.mist(s.horizon-s.S*0.02, s.horizon+s.S*(0.05+0.05*f), 0.42)
	}
	mid := s.rolling(s.horizon+deep*(0.3+0.1*shore), 1.1)
	s.hills(mid, 0.36, 0.35)
	s.solar()
	s.forest(mid)
	s.stand("train", 0, s.horizon+deep*(0.4+0.5*shore))
	for _, p := range s.spread(onGround, s.horizon+deep*(0.16+shore), s.horizon+deep*(0.54+0.5*shore-0.13*float64(btoi(b.has("solar", "flower"))))) {
		s.put(placed{"shadow", p.x - s.side*p.w*0.1, p.y, p.w, p.h, 0, rgba{}})
		if p.name == "tree" {
			p.name = s.growth()
		}
		s.put(p)
	}
	s.foreground()
}

// growth is the usual kind of trees.
func (s *scene) growth() string {
	if s.b.has("mountain", "forest") || s.b.tags["snow"] {
		return "pine"
	}
	return "tree"
}

// solar draws panels on the ground, seen from slightly above.
func (s *scene) solar() {
	for row := 13; row >= 0 && s.b.has("solar"); row-- {
		z := 1.5 * math.Pow(1.19, float64(row))
		y, w := s.horizon+s.S*(0.075+0.56/z), s.S*0.56/z
		for i := -int(s.W/2/w) - 1; i <= int(s.W/2/w)+1; i++ {
			s.put(placed{name: "panel", x: s.W/2 + (float64(i)+0.3*s.side)*w*1.04, y: y, w: w, h: w * 0.42, depth: 0.6 * float64(row) / 13})
		}
	}
}

// ridge is the upper edge of a piece of land: y at x.
type ridge func(x float64) float64

// rolling returns a ridge that rolls around y0.
func (s *scene) rolling(y0, freq float64) ridge {
	ox, oy := s.rnd.Float64()*100, s.rnd.Float64()*100
	return func(x float64) float64 {
		u := x/s.S*freq + ox
		return y0 - s.S*0.03*(s.n.at(u, oy)+0.3*s.n.at(u*2.3, oy+9))
	}
}

// land fills the area below a ridge. The paint gets the ridge above a pixel and its slope towards the light.
func (s *scene) land(r ridge, bottom float64, paint func(x, y, top, slope float64) rgba) {
	all, q := make([]float64, s.w+2), []pt{{s.W + 2, bottom}, {-2, bottom}}
	for i := range all {
		all[i] = r(float64(i))
		q = append(q, pt{float64(i) - 0.5, all[i]})
	}
	at := func(x int) float64 { return all[min(s.w+1, max(0, x))] }
	d := max(1, int(s.S*0.012))
	s.fill(poly(q...), func(x, y float64) rgba {
		return paint(x, y, at(int(x)), s.side*(at(int(x)+d)-at(int(x)-d))/float64(2*d))
	})
}

// peaks draws one jagged mountain range: faces towards the light, faces in the shade, snow on top.
func (s *scene) peaks(y0, amp, freq, depth, coast float64) {
	ox, oy := s.rnd.Float64()*100, s.rnd.Float64()*100
	base := s.p.far.mix(s.p.near, 0.75*(1-depth))
	bright, dark := base.mix(s.p.low, 0.28).fade(s.p.haze, depth*0.3), base.mix(s.p.shade, 0.25).tone(-0.05, 1, 0).fade(s.p.haze, depth*0.42)
	snow, snowShade := s.p.light.mix(s.p.low, 0.2).fade(s.p.haze, depth*0.4), s.p.shade.mix(s.p.light, 0.3).fade(s.p.haze, depth*0.5)
	foot, k, snowy := s.horizon+s.S*0.06, 9/s.S, s.b.has("mountain") || s.b.tags["snow"]
	s.land(func(x float64) float64 {
		return y0 - amp*math.Pow(max(0, s.n.ridged(x/s.S*freq+ox, oy, 6)-0.18)*1.3, 1.35) + coast*smooth(0.25, 0.75, 0.5+(x/s.W-0.5)*s.side)
	}, foot, func(x, y, top, slope float64) rgba {
		// Faces follow the fall line: noise stretched downwards and sheared by the light.
		u, v := (x+s.side*(y-top)*0.55)*k, (y-top)*k*0.62
		e := 2.2*(s.n.ridged(u*0.8, v, 3)-s.n.ridged(u*0.8+0.13*s.side, v-0.09, 3)) + 0.25*s.n.at(u*2.9, v*2.2)
		face := smooth(-0.2, 0.24, e*0.9-slope*0.36)
		c := dark.fade(bright, face)
		if snowy {
			c = c.fade(snowShade.fade(snow, face), smooth(0.24, 0.1, (y-top)/amp+0.16*e+(top-foot+amp)/amp*0.42))
		}
		return c.fade(s.p.haze, smooth(0.15, 1, (y-top)/(foot-top+1))*0.55)
	})
}

// hills draws one rolling layer with groups of small trees; depth 1 is the horizon and 0 is nearest.
func (s *scene) hills(r ridge, depth, trees float64) {
	lit, dark := s.soil(depth)
	ra, span := newRamp(lit, lit.mix(dark, 0.5), dark, dark.tone(-0.03, 1, 0)), s.S*lerp(0.34, 0.1, depth)
	s.land(r, s.H+2, func(x, y, top, slope float64) rgba {
		return ra.at((y-top)/span + 0.12 + slope*0.5 + (s.n.at(x/s.S*3, y/s.S*9)*0.2+s.n.at(x/s.S*40, y/s.S*160)*0.05)*(1-depth))
	})
	h, ox := s.S*lerp(0.045, 0.014, depth), s.rnd.Float64()*50
	var p path
	for x := -h; x < s.W+h && !s.b.tags["no-tree"]; x += h * s.between(0.2, 0.5) {
		k, y := h*s.between(0.5, 1.25), r(x)+h*0.12
		switch {
		case s.n.at(x/s.S*5+ox, ox) < 1-2*trees:
		case s.growth() == "pine":
			p = append(p, poly(pt{x - k*0.22, y}, pt{x, y - k}, pt{x + k*0.22, y})...)
		default:
			p = append(p, oval(x, y-k*0.3, k*0.36, k*0.34)...)
		}
	}
	s.flat(p, s.p.near.mix(s.p.far, depth*0.8).mix(s.p.foliage, 0.3).fade(s.p.haze, depth*0.45))
}

// soil returns the colours of open ground at a distance, in the light and in the shade.
func (s *scene) soil(depth float64) (lit, dark rgba) {
	lit, dark = s.p.foliage.mix(s.p.far, depth*0.75).mix(s.p.low, 0.14), s.p.near.mix(s.p.far, depth*0.9)
	if s.b.tags["snow"] {
		lit, dark = hex(0xf4f8fc).under(s.p.light), hex(0xc4d6e8).under(s.p.shade).mix(s.p.light, 0.35)
	}
	return lit.fade(s.p.haze, depth*0.5), dark.fade(s.p.haze, depth*0.5)
}

// forest covers the middle ground with trees, larger towards the viewer, with a clearing.
func (s *scene) forest(r ridge) {
	leafy := 1 + 3*btoi(s.b.tags["autumn"] || s.b.tags["spring"])
	for i := range 4 * btoi(s.b.has("forest")) {
		f := float64(i) / 3
		h := s.S * lerp(0.11, 0.3, f)
		for x := -h * 0.3; x < s.W+h*0.3; x += h * 0.26 * s.between(0.7, 1.5) {
			k, name := h*s.between(0.75, 1.25), "pine"
			if s.rnd.IntN(5) < leafy {
				k, name = k*0.75, "tree"
			}
			if math.Abs(x-s.focus)/s.S >= 0.3*f*f {
				s.put(placed{name, x, r(x) + s.S*lerp(0.02, 0.26, f) + h*s.between(-0.08, 0.08), k, k, lerp(0.5, 0.05, f), rgba{}})
			}
		}
		s.mist(s.horizon, s.horizon+s.S*(0.12+0.2*f), 0.4*(1-f))
	}
}

// foreground frames the view: a near slope with grass, flowers, and trees at one side.
func (s *scene) foreground() {
	slope := s.rolling(s.H-s.S*(0.085-0.055*float64(btoi(s.b.has("solar")))), 0.8)
	base := func(x float64) float64 {
		return slope(x) - s.S*(0.06*math.Pow(math.Abs(x/s.W-0.5)*2, 2.2)+0.07*float64(btoi(s.b.has("flower"))))
	}
	s.hills(base, 0.02, 0)
	_, dark := s.soil(0.02)
	var grass [2]path
	for i := range 520 {
		x, h := s.rnd.Float64()*s.W, s.S*s.between(0.008, 0.026)
		y := base(x) + s.S*0.006 + s.rnd.Float64()*s.rnd.Float64()*s.S*0.12
		grass[i%2] = append(grass[i%2], poly(pt{x - h*0.06, y}, pt{x + h*s.between(-0.5, 0.5), y - h}, pt{x + h*0.06, y})...)
	}
	s.flat(grass[0], dark.alpha(0.9))
	s.flat(grass[1], dark.mix(s.p.foliage2, 0.4).alpha(0.9))
	s.meadow(base)
	for i := range 4 * btoi(!s.b.tags["no-tree"] && !s.b.has("tree", "flower", "eco")) {
		x := s.W*(0.5+s.side*0.47) - s.side*s.S*0.06*float64(i)*s.between(0.7, 1.3)
		h := s.S * (0.2 - 0.032*float64(i)) * s.between(0.8, 1.15)
		s.put(placed{s.growth(), x, base(x) + s.S*0.015, h, h, 0.05, rgba{}})
	}
}

// meadow draws flowers, small behind and large in front, or as many as the prompt names.
func (s *scene) meadow(r ridge) {
	if s.b.things["flower"] > 0 {
		s.stand("flower", s.H*0.98, s.H*0.98)
		return
	}
	for i := range 240 * btoi(s.b.has("flower")) {
		f := float64(i) / 240
		x, h := s.rnd.Float64()*s.W, s.S*lerp(0.03, 0.14, f*f)*s.between(0.8, 1.15)
		s.put(placed{"flower", x, lerp(r(x)+s.S*0.01, s.H+s.S*0.08, f*f), h, h, 0.25 * (1 - f), s.accent("flower", s.rnd.IntN(5))})
	}
}

// skyline draws one row of n buildings, the tallest at the focus.
func (s *scene) skyline(y, h, depth float64, n int) {
	ox := s.rnd.Float64() * 30
	for i := range n {
		x := s.W * (float64(i) + s.between(-0.3, 0.3)) / float64(n-1)
		tall := h * (0.55 + 0.45*s.n.at(x/s.S*1.7+ox, ox)) * max(0.3, 1-0.9*math.Abs(x-s.focus)/s.W) * s.between(0.7, 1.3)
		name := []string{"flat", "flat", "stepped", "slanted", "rounded"}[s.rnd.IntN(5)]
		s.put(placed{name, x, y, min(s.W/float64(n)*s.between(0.7, 1.3), s.S*0.14), tall, depth, rgba{}})
	}
}

// water draws the reflected sky from the horizon down, broken into strips that widen towards the viewer, and what
// floats or stands in it.
func (s *scene) water(ground bool) {
	y0, y1 := s.horizon, s.H
	s.mist(y0-s.S*0.06, y0+1, 0.5)
	r := newRamp(s.p.low.mix(s.p.water, 0.35), s.p.mid.mix(s.p.water, 0.55), s.p.water.mix(s.p.top, 0.35), s.p.near.mix(s.p.water, 0.5))
	s.rows(y0, y1, func(y float64) rgba { return r.at(math.Pow((y-y0)/(y1-y0), 0.75)) })
	crest, trough, light := s.p.low.mix(s.p.light, 0.3), s.p.near.mix(s.p.water, 0.45), s.p.sun.mix(s.p.low, 0.25)
	s.glow(s.sun.x, y0, s.S*0.30, (y1-y0)*0.85, light.alpha(0.22*s.p.glitter)) // the path of sunlight or moonlight
	for i := range 1320 {
		f, g := float64(i%440)/440, s.rnd.NormFloat64()*0.6
		x, y, w, c := s.rnd.Float64()*s.W, lerp(y0, y1, f*f), s.S*lerp(0.008, 0.12, f)*s.between(0.4, 1.2), crest.alpha(lerp(0.30, 0.16, f))
		if i >= 880 {
			x, w, c = s.sun.x+g*s.S*lerp(0.03, 0.12, f), w*0.4, light.times(1.2).alpha(0.8*s.p.glitter*math.Exp(-g*g)*(1-0.35*f))
		} else if i%2 == 0 {
			c = trough.alpha(0.22)
		}
		s.flat(oval(x, y, w, s.S*lerp(0.0006, 0.0036, f)*s.between(0.6, 1.2)), c)
	}
	if s.b.has("city") {
		s.mirror(0, s.W, y0+s.S*0.02, s.S*0.3)
	}
	if s.b.tags["storm"] {
		s.swell()
	}
	names := map[bool]string{true: "boat", false: "boat turbine"}
	for _, p := range s.spread(names[ground], y0+s.S*0.015, y0+s.S*(0.17-0.09*float64(btoi(ground)))) {
		if len(s.spread(ashore, 0, 0)) > 0 { // not behind the headland
			p.x = s.W * (0.5 + s.side*(0.42*p.x/s.W+0.04))
		}
		s.put(p)
		s.mirror(p.x-p.w*0.42, p.x+p.w*0.42, p.y+p.h*0.03, p.h*0.55)
	}
}

// mirror reflects the picture above y0 in the water from x0 to x1, broken by ripples.
func (s *scene) mirror(x0, x1, y0, depth float64) {
	s.fill(rect(x0, y0, x1-x0, depth), func(x, y float64) rgba {
		f, w := (y-y0)/depth, s.n.at(x/s.S*9, y/s.S*70)
		sx := min(s.w-1, max(0, int(x+w*s.S*0.012*(0.3+f))))
		sy := min(s.h-1, max(0, int(y0-(y-y0)*1.25+w*s.S*0.01*(0.3+f))))
		p := s.pix[(sy*s.w+sx)*3:]
		edge := smooth(0, 0.25, min(x-x0, x1-x)/(x1-x0)+0.25*float64(btoi(x1-x0 >= s.W)))
		return rgba{p[0] * 0.9, p[1] * 0.9, p[2] * 0.9, float32(0.62 * (1 - f) * (0.82 + 0.3*w) * edge)}
	})
}

// swell draws a stormy sea: heavy waves with foam, the nearest the largest.
func (s *scene) swell() {
	for i := range 6 {
		f := float64(i+1) / 6
		y0 := lerp(s.horizon+s.S*0.01, s.H-s.S*0.05, math.Pow(f, 1.35))
		amp, freq, ox := s.S*lerp(0.008, 0.055, f), lerp(8, 2.2, f), s.rnd.Float64()*30
		top, bottom := s.p.water.mix(s.p.low, 0.42*(1-f)+0.12), s.p.near.mix(s.p.water, 0.3*(1-f)+0.2)
		s.land(func(x float64) float64 {
			u := x/s.S*freq + ox
			v := math.Abs(math.Mod(math.Abs(u+0.4*s.n.at(u*0.7, ox)), 1)*2 - 1)
			return y0 - amp*(math.Pow(v, 2.2)*1.3-0.3)*(0.7+0.6*s.n.at(u*0.35, ox+3))
		}, s.H+2, func(x, y, crest, _ float64) rgba {
			d := (y - crest) / (amp*2.4 + 1)
			foam := smooth(0.12, 0.5, 0.5*s.n.at(x/s.S*36, (y-crest)/s.S*60+ox)+0.45*s.n.at(x/s.S*90, (y-crest)/s.S*150)+0.55*(1-d*2.2))
			return top.fade(bottom, 0.45*d+0.55*(y-y0+amp)/(amp*3.2+1)).fade(s.p.light, 0.75*foam*smooth(0.42, 0, d))
		})
	}
}

// coast draws a beach, and a headland with the thing that stands on it.
func (s *scene) coast() {
	if ox, sand := s.rnd.Float64()*10, hex(0xf0d6a8).under(s.p.light); s.b.has("beach") { // with a wet edge and foam
		s.land(func(x float64) float64 {
			t := 0.5 + (x/s.W-0.5)*s.side
			return s.H - s.S*(0.09+0.18*t*t+0.012*s.n.at(x/s.S*4+ox, 2))
		}, s.H+2, func(_, y, top, _ float64) rgba {
			d := (y - top) / s.S
			return sand.fade(s.p.near, 0.9*d).fade(s.p.water, 0.35*smooth(0.04, 0.025, d)).fade(s.p.light, 0.9*smooth(0.014, 0.01, d))
		})
	}
	for _, p := range s.spread(ashore, 0, 0) {
		r := s.rolling(0, 3)
		head := func(x float64) float64 { // steep to the water, gentle to the land
			d := ((x-s.focus)*s.side - 0.75*min(p.w, 0.2*s.S)) / s.S
			return s.H - s.S*0.26 + r(x)*0.3 + s.S*0.9*math.Pow(max(1.9*d, -0.45*d-0.12, 0), 1.4)
		}
		s.hills(head, 0.02, 0)
		p.x, p.y, p.depth = s.focus, head(s.focus)+s.S*0.015, 0.05
		s.put(p)
	}
}
