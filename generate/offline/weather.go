package offline

import "math"

// weather falls in front of everything.
func (s *scene) weather() {
	b := s.b
	if b.tag("lightning") || s.p.time == "storm" && b.has(mLighthouse) {
		s.lightning()
	}
	if b.tag("fog") && !b.tag("no-fog") {
		s.fogBanks()
	}
	if b.tag("rain") || s.p.time == "storm" {
		s.rain()
	}
	if b.tag("snow") {
		s.snowfall()
	}
	// One common veil of the sun's colour ties the layers together.
	if s.p.time != "night" && s.p.time != "storm" {
		s.glow(s.sun.x, s.sun.y, s.S*0.75, s.p.low.alpha(0.07))
	}
}

func (s *scene) fogBanks() {
	ox := s.rnd.Float64() * 30
	s.haze2(s.horizon-s.S*0.2, s.H, s.p.haze, func(x, y float64) float64 {
		u, v := x/s.S, y/s.S
		band := smooth(s.horizon-s.S*0.2, s.horizon+s.S*0.05, y) * (1 - 0.6*smooth(s.horizon, s.H, y))
		return 0.8 * band * smooth(-0.25, 0.5, s.n.fbm(u*2+ox, v*7, 4))
	})
}

func (s *scene) rain() {
	for range 420 {
		x, y := s.between(-0.1, 1.1)*s.W, s.rnd.Float64()*s.H
		l := s.S * s.between(0.015, 0.05)
		s.flat(line(pt{x, y}, pt{x - s.side*l*0.32, y + l}, s.S*0.0004+0.2, s.S*0.0012), s.p.light.alpha(s.between(0.06, 0.26)))
	}
}

func (s *scene) snowfall() {
	for range 340 {
		m := math.Pow(s.rnd.Float64(), 4)
		s.flat(circle(s.rnd.Float64()*s.W, s.rnd.Float64()*s.H, s.S*(0.0011+0.0045*m)), s.p.light.alpha(0.75-0.4*m))
	}
}

// lightning strikes once, with branches.
func (s *scene) lightning() {
	x := s.W * (0.5 + s.side*s.between(0.12, 0.34))
	c := hex(0xe8ecff)
	s.glow(x, s.horizon*0.15, s.S*0.5, hex(0x8f9bd0).alpha(0.45))
	var bolt func(from pt, length, w float64, depth int)
	bolt = func(from pt, length, w float64, depth int) {
		q := []pt{from}
		at, end := from, from.y+length
		lean := s.between(-0.35, 0.35)
		for at.y < end {
			step := s.S * s.between(0.012, 0.035)
			at = pt{at.x + step*(lean+s.between(-0.9, 0.9)), at.y + step}
			q = append(q, at)
			if depth > 0 && s.rnd.IntN(5) == 0 {
				bolt(at, length*s.between(0.2, 0.4), w*0.5, depth-1)
			}
		}
		s.flat(ribbon(q, func(t float64) float64 { return w * (1 - 0.8*t) * 3 }), hex(0x9fb0ff).alpha(0.3))
		s.flat(ribbon(q, func(t float64) float64 { return w * (1 - 0.75*t) }), c.times(1.6))
	}
	bolt(pt{x, s.horizon * 0.12}, s.horizon*0.86, s.S*0.0052, 2)
}

// stormClouds are heavy and torn, lit from below at the horizon.
func (s *scene) stormClouds() {
	ox := s.rnd.Float64() * 40
	field := func(x, y float64) float64 {
		u, v := x/s.S, y/s.S
		w := s.n.fbm(u*1.4+ox, v*2.2, 3)
		return s.n.fbm(u*2.1+w*1.5+ox, v*3.6+w, 5)
	}
	s.haze2(0, s.horizon, s.p.top.times(0.55), func(x, y float64) float64 {
		return 0.95 * smooth(-0.22, 0.32, field(x, y)) * (1 - 0.75*smooth(0.4, 1, y/s.horizon))
	})
	s.haze2(0, s.horizon, s.p.low, func(x, y float64) float64 {
		a, b := field(x, y), field(x+s.side*s.S*0.03, y-s.S*0.025)
		return 0.7 * smooth(0.02, 0.3, a-b) * (1 - smooth(0.75, 1, y/s.horizon)*0.7)
	})
}

// aurora hangs in curtains over a dark sky.
func (s *scene) aurora() {
	if !s.b.has(mAurora) {
		return
	}
	cols := []rgba{hex(0x3df5a6), hex(0x5fe0d0), hex(0x9a6bff)}
	for k := range 3 {
		oy, foot := s.rnd.Float64()*50, s.horizon*(0.5+0.14*float64(k))
		s.haze2(0, s.horizon, cols[k].times(0.8), func(x, y float64) float64 {
			u := x / s.S
			f := foot + s.S*0.12*s.n.at(u*1.6+oy, oy) + s.S*0.03*s.n.at(u*5, oy)
			d := (f - y) / (s.S * (0.32 + 0.1*s.n.at(u*3, oy+5)))
			if d < -0.06 {
				return 0
			}
			rays := 0.55 + 0.45*s.n.at(u*26+oy, oy+1)
			return 0.62 * smooth(-0.06, 0.05, d) * math.Exp(-d*2.4) * rays * (1 - smooth(0.5, 1.1, d))
		})
	}
}
