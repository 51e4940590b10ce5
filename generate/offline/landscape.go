package offline

import "math"

// landscape composes a place: sky, distance, ground, what it is about, foreground, weather.
func (s *scene) landscape() []layer {
	l := []layer{s.sky, s.stars, s.aurora, s.luminary, s.clouds}
	b := s.b
	if b.has(mSea, mBeach, mBoat, mLighthouse) {
		return append(l, s.seascape, s.birds, s.balloons, s.weather)
	}
	if b.has(mMountain) || !b.has(mCity, mFuture, mDesert, mEco) {
		l = append(l, s.mountains)
	}
	if b.has(mCity, mFuture) && !b.has(mEco) {
		return append(l, s.cityscape, s.birds, s.balloons, s.weather)
	}
	if b.has(mEco) {
		return append(l, s.ecoscape, s.birds, s.balloons, s.weather)
	}
	l = append(l, s.farHills)
	if b.has(mFactory, mNuclear) {
		l = append(l, s.industry)
	}
	if b.has(mDam) {
		l = append(l, s.dam)
	}
	return append(l, s.country, s.birds, s.balloons, s.foreground, s.weather)
}

// farHills are the hills between the mountains and the place itself, and what stands
// small upon them.
func (s *scene) farHills() {
	for i := range 2 {
		d := 0.78 - 0.24*float64(i)
		r := s.hillRidge(s.horizon+s.S*(0.005+0.045*float64(i)), s.S*0.035, 1.7)
		if s.b.has(mDesert) {
			r = s.duneRidge(s.horizon+s.S*(0.0+0.045*float64(i)), s.S*0.06)
		}
		if s.b.has(mTurbine) && i == 0 {
			s.turbines(r, 6, s.S*0.085, d)
		}
		if s.b.has(mPylon) && i == 1 {
			s.pylonLine(r, d)
		}
		s.hill(r, d)
		if !s.b.has(mDesert) && !s.b.tag("minimal") && !s.b.tag("no-tree") {
			s.treeline(r, d, 0.5)
		}
		s.mist(s.horizon-s.S*0.02, s.horizon+s.S*(0.05+0.05*float64(i)), 0.42)
	}
}

// duneRidge has a long slope to windward and a short one to lee.
func (s *scene) duneRidge(y0, amp float64) ridge {
	ox := s.rnd.Float64() * 10
	return func(x float64) float64 {
		u := x/s.S*1.5 + ox + 0.3*s.n.at(x/s.S*1.1, ox)
		f := u - math.Floor(u)
		v := f / 0.72
		if f > 0.72 {
			v = (1 - f) / 0.28
		}
		return y0 - amp*math.Pow(v, 1.3)*(0.7+0.4*s.n.at(math.Floor(u)*3.3, ox))
	}
}

// country is the ground in front: hills, with water, road, panels, turbines, houses.
func (s *scene) country() {
	b := s.b
	mid := s.hillRidge(s.horizon+s.S*0.10, s.S*0.03, 1.1)
	if b.has(mDesert) {
		mid = s.duneRidge(s.horizon+s.S*0.13, s.S*0.12)
	}
	if b.has(mTurbine) {
		s.turbines(mid, 3, s.S*0.26, 0.34)
	}
	s.hill(mid, 0.36)
	if !b.has(mDesert) && !b.tag("minimal") {
		s.treeline(mid, 0.4, 0.35)
	}
	if !b.has(mSolar, mDesert, mField, mForest, mIce) && !b.tag("minimal") && !b.tag("snow") {
		s.pasture(mid)
	}
	switch {
	case b.has(mRiver):
		s.river()
	case b.has(mRoad):
		s.road()
	}
	if b.has(mForest) {
		s.forest(mid)
	}
	if b.has(mField) {
		s.furrows()
	}
	if b.has(mSolar) && !b.has(mHouse) {
		s.solarField()
	}
	if b.has(mHouse) {
		s.house(s.focus, s.horizon+s.S*0.21, s.S*0.27)
	}
	if b.has(mTurbine) {
		x := s.focus
		if b.has(mHouse) {
			x = s.W - s.focus
		}
		s.turbine(x, mid(x)+s.S*0.03, s.S*0.47, 0.08)
	}
	if b.has(mPylon) && !b.has(mTurbine) {
		s.pylon(s.focus, mid(s.focus)+s.S*0.06, s.S*0.46, 0.05)
	}
}

// foreground frames the view: a near slope with grass, trees at one side, people.
func (s *scene) foreground() {
	if s.b.has(mDesert) {
		s.hill(s.duneRidge(s.H-s.S*0.07, s.S*0.1), 0.05)
		s.people(s.H - s.S*0.08)
		return
	}
	amp := s.S * 0.03
	y0 := s.H - s.S*0.085
	if s.b.has(mSolar, mRoad, mRiver) {
		y0 = s.H - s.S*0.03
	}
	slope := s.hillRidge(y0, amp, 0.8)
	base := func(x float64) float64 { return slope(x) - s.S*0.06*math.Pow(math.Abs(x/s.W-0.5)*2, 2.2) }
	if s.b.has(mFlower) {
		base = func(x float64) float64 { return slope(x) - s.S*0.10 }
	}
	s.hill(base, 0.02)
	if s.b.tag("minimal") {
		return
	}
	s.grass(base)
	if s.b.has(mFlower) {
		s.meadow(base)
	}
	s.people(base(s.W*0.5) + s.S*0.01)
	if s.b.tag("no-tree") {
		return
	}
	edge := s.W * (0.5 + s.side*0.47)
	if s.b.has(mTree) && !s.b.has(mTurbine, mPylon, mHouse) {
		s.leafTree(s.focus, base(s.focus)+s.S*0.02, s.S*0.4, 0.05)
		return
	}
	for i := range 4 {
		x := edge - s.side*s.S*0.06*float64(i)*s.between(0.7, 1.3)
		h := s.S * (0.22 - 0.035*float64(i)) * s.between(0.8, 1.15)
		if s.b.has(mMountain, mIce) || s.b.has(mForest) || s.b.tag("snow") {
			s.conifer(x, base(x)+s.S*0.015, h*1.15, 0.04)
		} else {
			s.leafTree(x, base(x)+s.S*0.015, h*0.8, 0.06)
		}
	}
}

// furrows are rows of a crop that run to a vanishing point.
func (s *scene) furrows() {
	vx, vy := s.W/2+s.side*s.S*0.1, s.horizon+s.S*0.09
	y1 := s.H + s.S*0.05
	gold, green := s.seen(hex(0xe8c45c), 0.05), s.seen(hex(0x8fae3f), 0.05)
	shade := s.p.near.mix(s.p.foliage, 0.4)
	for i := -26; i < 26; i++ {
		c := gold
		if (i+40)/6%2 == 0 {
			c = green
		}
		x0, x1 := vx+float64(i)*s.S*0.004, s.W/2+float64(i)*s.S*0.13
		w := s.S * 0.085
		s.fill(poly(pt{x0, vy}, pt{x0 + s.S*0.003, vy}, pt{x1 + w, y1}, pt{x1, y1}),
			down(vy, y1, c.alpha(0), c.mix(shade, 0.15).alpha(0.75), c.mix(shade, 0.3)))
	}
}

// river winds from the hills to the viewer and carries the sky.
func (s *scene) river() {
	s.winding(s.p.low.mix(s.p.water, 0.25), s.p.mid.mix(s.p.water, 0.5), 1.35, false)
}

// road winds as the river does.
func (s *scene) road() {
	tar := s.seen(hex(0x5b6068), 0.1)
	s.winding(tar.mix(s.p.low, 0.35), tar, 1, true)
}

func (s *scene) winding(far, near rgba, width float64, marks bool) {
	y0, y1 := s.horizon+s.S*0.10, s.H+s.S*0.05
	phase := s.rnd.Float64() * 2
	var mid []pt
	for i := range 80 {
		t := float64(i) / 79
		z := t * t
		swing := math.Sin(t*6.4+phase) * s.S * lerp(0.06, 0.17, t) * (1 - 0.45*t)
		mid = append(mid, pt{lerp(s.W*0.5+s.side*s.S*0.06, s.W*0.5, t) + swing, lerp(y0, y1, z)})
	}
	w := func(t float64) float64 { return s.S * lerp(0.006, 0.28*width, t*t) }
	flatten := func(k float64) path {
		var l, r []pt
		for i, q := range mid {
			d := w(float64(i)/79) * k / 2
			l, r = append(l, pt{q.x - d, q.y}), append([]pt{{q.x + d, q.y}}, r...)
		}
		return poly(append(l, r...)...)
	}
	s.fill(flatten(1.14), down(y0, y1, s.p.near.mix(far, 0.6), s.p.near.mix(near, 0.4)))
	s.fill(flatten(1), down(y0, y1, far, near))
	if !marks {
		for range 60 {
			i := 10 + s.rnd.IntN(68)
			q, ww := mid[i], w(float64(i)/79)
			s.flat(oval(q.x+ww*s.between(-0.35, 0.35), q.y, ww*0.12, ww*0.008+0.4), s.p.sun.alpha(0.35))
		}
		return
	}
	for i := 6; i < 76; i += 5 {
		q, e := mid[i], mid[i+2]
		a, b := w(float64(i)/79)*0.018, w(float64(i+2)/79)*0.018
		s.flat(poly(pt{q.x - a, q.y}, pt{q.x + a, q.y}, pt{e.x + b, e.y}, pt{e.x - b, e.y}), s.seen(hex(0xfff6e0), 0.05).alpha(0.9))
	}
	s.car(mid[62].x-w(62.0/79)*0.22, mid[62].y, w(62.0/79)*0.30)
}

// car is seen from behind, with its lamps on.
func (s *scene) car(x, y, w float64) {
	h := w * 0.62
	s.flat(oval(x, y, w*0.56, w*0.07), rgba{0, 0, 0, 0.4})
	body := s.seen(s.p.accent2, 0)
	s.fill(roundRect(x-w*0.4, y-h, w*0.8, h*0.6, w*0.16), down(y-h, y-h*0.4, s.p.low, s.p.shade.times(0.4)))
	s.fill(roundRect(x-w*0.5, y-h*0.58, w, h*0.5, w*0.1), down(y-h*0.6, y, body.mix(s.p.light, 0.3), body.times(0.5)))
	for _, k := range []float64{-1, 1} {
		s.flat(roundRect(x+k*w*0.36-w*0.09, y-h*0.45, w*0.18, h*0.1, w*0.04), hex(0xff4a3a))
		s.glow(x+k*w*0.36, y-h*0.4, w*0.3, hex(0xff4a3a).alpha(0.35))
		s.flat(roundRect(x+k*w*0.34-w*0.08, y-h*0.12, w*0.16, h*0.14, w*0.03), hex(0x14161a))
	}
}
