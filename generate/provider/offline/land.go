package offline

import "math"

// landscape draws a place on land: distance, ground, the things that stand on it, foreground.
func (s *scene) landscape() {
	b := s.b
	if b.has("mountain") || !b.has("city", "desert", "eco") {
		for i := range 3 {
			f := float64(i) / 3
			amp := s.S * lerp(0.40, 0.22, f) * (0.45 + 0.55*float64(btoi(b.has("mountain"))))
			s.peaks(s.peakRidge(s.horizon+s.S*(0.015+0.03*f), amp, lerp(1.5, 2.3, f)), lerp(0.92, 0.42, f), amp)
			s.mist(s.horizon-s.S*0.16, s.horizon+s.S*0.03, 0.5)
		}
	}
	if b.has("city") { // in layers, the farthest first
		y := s.horizon + s.S*0.09
		for i, row := range []struct {
			h, depth float64
			n        int
		}{{0.26, 0.85, 34}, {0.36, 0.6, 26}, {0.46, 0.3, 15}} {
			s.skyline(y+s.S*0.02*float64(i), s.S*row.h, row.depth, row.n)
			s.mist(y-s.S*0.28, y+s.S*0.03*float64(i), 0.5-0.08*float64(i))
		}
	} else if b.has("eco") {
		s.skyline(s.horizon+s.S*0.06, s.S*0.22, 0.88, 30)
		s.mist(s.horizon-s.S*0.2, s.horizon+s.S*0.1, 0.6)
	}
	plain := b.has("desert") || b.tag("minimal") || b.tag("no-tree")
	for i := range 2 {
		d := 0.78 - 0.24*float64(i)
		r := s.hillRidge(s.horizon+s.S*(0.005+0.045*float64(i)+0.08*float64(btoi(b.has("city")))), s.S*0.03, 1.7)
		s.hill(r, d)
		if !plain {
			s.treeline(r, d, 0.5)
		}
		s.mist(s.horizon-s.S*0.02, s.horizon+s.S*(0.05+0.05*float64(i)), 0.42)
	}
	if b.has("city") && !b.has("road", "river", "field", "solar", "house", "train", "flower") {
		y := s.horizon + s.S*0.13
		s.water(y, s.H)
		s.mirror(0, s.W, y, s.S*0.34)
	} else {
		mid := s.hillRidge(s.horizon+s.S*0.11, s.S*0.03, 1.1)
		s.hill(mid, 0.36)
		if !plain {
			s.treeline(mid, 0.4, 0.35)
		}
		s.fields(mid)
	}
	if b.has("train") { // on a low embankment
		h, y := s.S*0.045, s.horizon+s.S*0.15
		s.hill(func(x float64) float64 { return y + h*0.35 + h*0.1*s.n.at(x/s.S*8, 5) }, 0.3)
		s.put(placed{name: "train", x: s.W * 0.5, y: y, w: max(h, s.W/17), h: h, depth: 0.1, accent: s.accent("train", 0)})
	}
	s.standing()
	s.foreground()
}

// fields draws what covers the middle ground.
func (s *scene) fields(mid ridge) {
	b := s.b
	if b.has("field") { // rows of a crop that converge at a vanishing point
		vx, vy, y1 := s.W/2+s.side*s.S*0.1, s.horizon+s.S*0.09, s.H+s.S*0.05
		crops, shade := []rgba{s.seen(hex(0xe8c45c), 0.05), s.seen(hex(0x8fae3f), 0.05)}, s.p.near.mix(s.p.foliage, 0.4)
		for i := -26; i < 26; i++ {
			c, x0, x1 := crops[(i+42)/6%2], vx+float64(i)*s.S*0.004, s.W/2+float64(i)*s.S*0.13
			s.fill(poly(pt{x0, vy}, pt{x0 + s.S*0.003, vy}, pt{x1 + s.S*0.085, y1}, pt{x1, y1}), down(vy, y1, c.alpha(0), c.mix(shade, 0.15).alpha(0.75), c.mix(shade, 0.3)))
		}
	}
	switch {
	case b.has("river"):
		s.windingStrip(s.p.low.mix(s.p.water, 0.25), s.p.mid.mix(s.p.water, 0.5), 1.35)
	case b.has("road"):
		tar := s.seen(hex(0x5b6068), 0.1)
		s.windingStrip(tar.mix(s.p.low, 0.35), tar, 1)
	}
	if b.has("solar") && !b.has("house") { // panels on the ground, seen from slightly above
		for row := 13; row >= 0; row-- {
			z := 1.5 * math.Pow(1.19, float64(row))
			y, w := s.horizon+s.S*(0.075+0.56/z), s.S*0.56/z
			for i := -int(s.W/2/w) - 1; i <= int(s.W/2/w)+1; i++ {
				s.put(placed{name: "panel", x: s.W/2 + (float64(i)+0.3*s.side)*w*1.04, y: y, w: w, h: w * 0.42, depth: 0.6 * float64(row) / 13})
			}
		}
	}
	if b.has("forest") {
		s.forest(mid)
	}
}

// standing draws the things that stand alone on the ground.
func (s *scene) standing() {
	var all []placed
	for k, t := range s.singles() {
		switch {
		case t.name == "bird" || t.name == "balloon" || t.name == "flower":
			continue
		case t.name == "turbine" && s.b.things["turbine"] == 0: // a wind farm also has small ones far away
			for range 5 {
				h := s.S * s.between(0.08, 0.13)
				all = append(all, placed{name: "turbine", x: s.rnd.Float64() * s.W, y: s.horizon + s.S*0.05, w: h, h: h, depth: 0.72})
			}
		}
		all = append(all, s.spread(t, k, s.horizon+s.S*0.06, s.horizon+s.S*(0.2-0.05*float64(btoi(s.b.has("solar", "flower")))))...)
	}
	var out []placed
	for _, p := range all {
		s.soft(p.x-s.side*p.w*0.1, p.y, p.w*0.5, p.h*0.04, s.p.near.times(0.5).alpha(0.5))
		if p.name == "tree" && s.pines() {
			p.name = "pine"
		}
		out = append(out, p)
		if p.name == "house" && s.b.has("solar", "energy") {
			p.name, p.accent = "solarhouse", hex(0x1f3f78)
			out = append(out, p)
		}
	}
	s.stand(out)
}

func (s *scene) pines() bool { return s.b.has("mountain", "forest") || s.b.tag("snow") }

// peaks draws one mountain range: faces towards the light, faces in the shade, snow on top.
func (s *scene) peaks(r ridge, depth, amp float64) {
	base := s.p.far.mix(s.p.near, 0.75*(1-depth))
	bright, dark := base.mix(s.p.low, 0.28).fade(s.p.haze, depth*0.3), base.mix(s.p.shade, 0.25).tone(-0.05, 1, 0).fade(s.p.haze, depth*0.42)
	snow, snowShade := s.p.light.mix(s.p.low, 0.2).fade(s.p.haze, depth*0.4), s.p.shade.mix(s.p.light, 0.3).fade(s.p.haze, depth*0.5)
	foot, k, at := s.horizon+s.S*0.06, 9/s.S, s.heights(r)
	snowy, flat := s.b.has("mountain") || s.b.tag("snow"), s.b.tag("flat") || s.b.tag("minimal")
	s.fill(s.ground(r, foot), func(x, y float64) rgba {
		top := at(x)
		// Faces follow the fall line: noise stretched downwards and sheared by the light.
		u, v := (x+s.side*(y-top)*0.55)*k, (y-top)*k*0.62
		e := 2.2*(s.n.ridged(u*0.8, v, 3)-s.n.ridged(u*0.8+0.13*s.side, v-0.09, 3)) + 0.25*s.n.at(u*2.9, v*2.2)
		face := smooth(-0.2, 0.24, e*0.9-s.side*(at(x+s.S*0.012)-at(x-s.S*0.012))/(s.S*0.02)*0.3)
		if flat {
			face = 0.4
		}
		c := dark.fade(bright, face)
		if snowy {
			line := smooth(0.24, 0.1, (y-top)/amp+0.16*e+(top-foot+amp)/amp*0.42)
			c = c.fade(snowShade.fade(snow, face), line)
		}
		return c.fade(s.p.haze, smooth(0.15, 1, (y-top)/(foot-top+1))*0.55)
	})
}

// hill draws one rolling layer; depth 1 is the horizon and 0 is nearest.
func (s *scene) hill(r ridge, depth float64) {
	lit, dark := s.land(depth)
	ra, span, at := newRamp(lit, lit.mix(dark, 0.5), dark, dark.tone(-0.03, 1, 0)), s.S*lerp(0.34, 0.1, depth), s.heights(r)
	s.fill(s.ground(r, s.H+2), func(x, y float64) rgba {
		slant := s.side * (at(x+s.S*0.035) - at(x-s.S*0.035)) / (s.S * 0.035)
		tex := (s.n.at(x/s.S*3, y/s.S*9)*0.2 + s.n.at(x/s.S*40, y/s.S*160)*0.05) * (1 - depth)
		return ra.at((y-at(x))/span + 0.12 + slant*0.28 + tex)
	})
}

// land returns the colours of open ground at a distance, in the light and in the shade.
func (s *scene) land(depth float64) (lit, dark rgba) {
	dark = s.p.near.mix(s.p.far, depth*0.9)
	lit = s.p.foliage.mix(s.p.far, depth*0.75).mix(s.p.low, 0.14)
	switch {
	case s.b.has("desert"):
		sand := hex(0xedb877).under(s.p.light)
		lit, dark = sand.fade(s.p.haze, depth*0.6), s.p.near.mix(sand, 0.35+0.35*depth)
	case s.b.tag("snow"):
		lit, dark = hex(0xf4f8fc).under(s.p.light), hex(0xc4d6e8).under(s.p.shade).mix(s.p.light, 0.35)
	case s.b.has("field"):
		lit = lit.mix(hex(0xe3bf5a).under(s.p.light), 0.55)
	}
	return lit.fade(s.p.haze, depth*0.5), dark.fade(s.p.haze, depth*0.5)
}

// treeline draws small trees along a ridge, in groups.
func (s *scene) treeline(r ridge, depth, density float64) {
	h, ox := s.S*lerp(0.045, 0.014, depth), s.rnd.Float64()*50
	var p path
	for x := -h; x < s.W+h; x += h * s.between(0.2, 0.5) {
		if s.n.at(x/s.S*5+ox, ox) < 1-2*density {
			continue
		}
		k, y := h*s.between(0.5, 1.25), r(x)+h*0.12
		if s.pines() {
			p = p.add(pt{x - k*0.22, y}, pt{x, y - k}, pt{x + k*0.22, y})
		} else {
			p = append(p, oval(x, y-k*0.3, k*0.36, k*0.34)...)
		}
	}
	s.flat(p, s.p.near.mix(s.p.far, depth*0.8).mix(s.p.foliage, 0.3).fade(s.p.haze, depth*0.45))
}

// forest covers the middle ground with trees, darker and larger towards the viewer, with a clearing.
func (s *scene) forest(r ridge) {
	leafy := 1 + 3*btoi(s.b.tag("autumn") || s.b.tag("spring"))
	for i := range 5 {
		f := float64(i) / 4
		h := s.S * lerp(0.07, 0.25, f)
		for x := -h * 0.3; x < s.W+h*0.3; x += h * 0.3 * s.between(0.7, 1.5) {
			y := r(x) + s.S*lerp(0.02, 0.32, f) + h*s.between(-0.08, 0.08)
			if f > 0.3 && math.Abs(x-s.focus)/s.S < 0.10+0.16*f {
				continue
			}
			p := placed{name: "pine", x: x, y: y, depth: lerp(0.5, 0.06, f)}
			p.h = h * s.between(0.8, 1.2)
			if s.rnd.IntN(5) < leafy {
				p.name, p.h = "tree", p.h*0.75
			}
			p.w = p.h
			s.put(p)
		}
		s.mist(s.horizon+s.S*(0.02+0.25*f), s.horizon+s.S*(0.12+0.3*f), 0.28*(1-f))
	}
}

// foreground frames the view: a near slope with grass, flowers, and trees at one side.
func (s *scene) foreground() {
	b := s.b
	if b.has("city") && !b.has("flower", "house", "road", "field", "solar", "train") {
		return
	}
	low := b.has("solar", "road", "river", "field")
	slope := s.hillRidge(s.H-s.S*(0.085-0.055*float64(btoi(low))), s.S*0.03, 0.8)
	base := func(x float64) float64 {
		return slope(x) - s.S*(0.06*math.Pow(math.Abs(x/s.W-0.5)*2, 2.2)+0.07*float64(btoi(b.has("flower"))))
	}
	s.hill(base, 0.02)
	if b.tag("minimal") || b.has("desert") {
		return
	}
	_, dark := s.land(0.02)
	tall := dark.mix(s.p.foliage2, 0.4)
	for i := range 520 {
		x, h := s.rnd.Float64()*s.W, s.S*s.between(0.008, 0.026)
		y := base(x) + s.S*0.006 + s.rnd.Float64()*s.rnd.Float64()*s.S*0.12
		s.flat(poly(pt{x - h*0.06, y}, pt{x + h*s.between(-0.5, 0.5), y - h}, pt{x + h*0.06, y}), []rgba{dark, dark, tall}[i%3].alpha(0.9))
	}
	if b.has("flower") {
		s.meadow(base)
	}
	for i := range 4 * btoi(!b.tag("no-tree") && !b.has("tree", "flower", "eco")) {
		x := s.W*(0.5+s.side*0.47) - s.side*s.S*0.06*float64(i)*s.between(0.7, 1.3)
		p := placed{name: "tree", x: x, y: base(x) + s.S*0.015, depth: 0.05, h: s.S * (0.17 - 0.028*float64(i)) * s.between(0.8, 1.15)}
		if s.pines() {
			p.name, p.h = "pine", p.h*1.5
		}
		p.w = p.h
		s.put(p)
	}
}

// meadow draws flowers, small behind and large in front, or as many as the prompt names.
func (s *scene) meadow(r ridge) {
	n, tint := s.b.things["flower"], s.accent("flower", 0)
	kinds := []rgba{tint, tint, tint.tone(0.1, 0.8, 0.15)}
	if len(s.b.tint["flower"]) == 0 && len(s.b.hues) == 0 && !s.b.tag("mono") {
		kinds = []rgba{tint, hex(0xf7c948), hex(0xf4f0ea), hex(0xe06f9a), hex(0x8e6bd6)}
	}
	if n > 0 {
		for i := range n {
			h := s.S * 0.2 * s.between(0.85, 1.15)
			s.put(placed{name: "flower", x: s.W * (float64(i) + s.between(0.35, 0.65)) / float64(n), y: s.H - s.S*0.02, w: h, h: h, accent: kinds[i%len(kinds)]})
		}
		return
	}
	for i := range 240 {
		f := float64(i) / 240
		x, h := s.rnd.Float64()*s.W, s.S*lerp(0.03, 0.14, f*f)*s.between(0.8, 1.15)
		s.put(placed{name: "flower", x: x, y: lerp(r(x)+s.S*0.01, s.H+s.S*0.08, f*f), w: h, h: h, depth: 0.25 * (1 - f), accent: kinds[s.rnd.IntN(len(kinds))]})
	}
}

// windingStrip draws a river or a road that winds from the hills to the viewer.
func (s *scene) windingStrip(far, near rgba, width float64) {
	y0, y1, phase := s.horizon+s.S*0.10, s.H+s.S*0.05, s.rnd.Float64()*2
	for k, edge := range []float64{1.14, 1} {
		var l, r []pt
		for i := range 80 {
			t := float64(i) / 79
			x := lerp(s.W*0.5+s.side*s.S*0.06, s.W*0.5, t) + math.Sin(t*6.4+phase)*s.S*lerp(0.06, 0.17, t)*(1-0.45*t)
			y, d := lerp(y0, y1, t*t), s.S*lerp(0.006, 0.28*width, t*t)*edge/2
			l, r = append(l, pt{x - d, y}), append([]pt{{x + d, y}}, r...)
		}
		c0, c1 := far, near
		if k == 0 {
			c0, c1 = s.p.near.mix(far, 0.6), s.p.near.mix(near, 0.4)
		}
		s.fill(poly(append(l, r...)...), down(y0, y1, c0, c1))
	}
}

// skyline draws one row of n buildings, the tallest at the focus.
func (s *scene) skyline(y, h, depth float64, n int) {
	ox := s.rnd.Float64() * 30
	for i := range n {
		x := s.W * (float64(i) + s.between(-0.3, 0.3)) / float64(n-1)
		centre := max(0.3, 1-0.5*math.Pow(math.Abs(x-s.focus)/s.W*1.6, 1.2))
		s.put(placed{
			name: []string{"flat", "flat", "stepped", "slanted", "rounded"}[s.rnd.IntN(5)], x: x, y: y,
			w: min(s.W/float64(n)*s.between(0.7, 1.3), s.S*0.14), h: h * (0.55 + 0.45*s.n.at(x/s.S*1.7+ox, ox)) * centre * s.between(0.7, 1.3), depth: depth,
		})
	}
}
