package offline

import (
	"cmp"
	"math"
)

// sky draws everything above the horizon, and the weather.
type sky struct{ *stage }

// paint covers the whole canvas; the gradient runs from the top to the horizon.
func (s sky) paint() {
	r := newRamp(s.p.top, s.p.top.mix(s.p.mid, 0.45), s.p.mid, s.p.low, s.p.haze)
	s.rows(0, s.H, func(y float64) rgba { return r.at(math.Pow(min(1, y/s.horizon), 1.15) * 0.97) })
	if s.p.time == "night" {
		return
	}
	k := cmp.Or(map[string]float64{"storm": 0.1, "fog": 0.22, "day": 0.25}[s.p.time], 0.42)
	s.glowOval(s.sun.x, min(s.sun.y, s.horizon), s.S*0.95, s.S*0.55, s.p.low.alpha(0.5*k))
	s.glow(s.sun.x, min(s.sun.y, s.horizon), s.S*0.42, s.p.sun.alpha(0.5*k))
}

// stars draws stars in a dark sky; if the prompt asks for stars, a band of them crosses it.
func (s sky) stars() {
	if s.p.night < 0.8 || s.b.tag("no-star") {
		return
	}
	wanted := s.b.has("star")
	if wanted && s.p.time == "night" {
		tilt := s.between(0.5, 0.9) * -s.side
		s.veil(0, s.horizon, s.p.low.mix(hex(0xb9a8e8), 0.5), func(x, y float64) float64 {
			u, v := x/s.S, y/s.S
			d := (v - 0.32) - (u-s.W/s.S/2)*tilt
			return 0.42 * math.Exp(-d*d*14) * smooth(-0.25, 0.5, s.n.fbm(u*5, v*5, 5)) * (1 - y/s.horizon)
		})
	}
	s.starfield(s.horizon*0.95, 420+380*btoi(wanted), 0.8)
}

// starfield scatters n stars down to y1, where they fade.
func (s sky) starfield(y1 float64, n int, fade float64) {
	for range n {
		f := s.rnd.Float64()
		x, y, m := s.rnd.Float64()*s.W, f*y1, math.Pow(s.rnd.Float64(), 5)
		a := (0.25 + 0.75*m) * (1 - fade*f) * s.p.night
		c := hex([]uint32{0xffffff, 0xcfe0ff, 0xfff0d8}[s.rnd.IntN(3)])
		s.flat(circle(x, y, s.S*(0.0006+0.0013*m)), c.alpha(a))
		if m > 0.6 {
			s.glow(x, y, s.S*0.009*m, c.alpha(0.24))
		}
	}
}

// luminary draws the sun, or the moon at night.
func (s sky) luminary() {
	x, y := s.sun.x, s.sun.y
	switch {
	case s.p.time == "night":
		if !s.b.tag("no-moon") && (!s.b.has("star") || s.b.has("moon")) {
			s.moon(x, y, s.S*0.042*(1+0.6*float64(btoi(s.b.has("moon")))))
		}
	case s.b.has("moon"):
		s.moon(s.W-s.focus, s.horizon*0.3, s.S*0.04)
	case s.b.tag("no-sun"), s.p.time == "storm", s.p.time == "dusk":
	case s.p.time == "fog":
		s.flat(circle(x, y, s.S*0.05), s.p.sun.times(1.5).alpha(0.75))
	default:
		r := s.S * 0.045
		if s.b.has("sun") || s.b.tag("minimal") || s.b.tag("flat") {
			r *= 1.5
		}
		for i, k := range []float64{5.5, 3.2, 1.9} {
			s.glow(x, y, r*k, s.p.sun.alpha(0.08+0.07*float64(i)))
		}
		s.fill(circle(x, y, r), down(y-r, y+r, s.p.sun.times(2.4), s.p.sun.mix(s.p.low, 0.2).times(1.9)))
	}
}

func (s sky) moon(x, y, r float64) {
	s.glow(x, y, r*7, s.p.light.alpha(0.22))
	s.glow(x, y, r*2.6, s.p.sun.alpha(0.3))
	s.fill(circle(x, y, r), func(px, py float64) rgba {
		return s.p.sun.times(0.86 - 0.22*smooth(0, 0.35, s.n.fbm(px/r*1.3, py/r*1.3, 4)))
	})
}

// clouds draws high streaks and, lower, banks; in a storm they cover the sky.
func (s sky) clouds() {
	if s.b.tag("no-cloud") {
		return
	}
	ox := s.rnd.Float64() * 40
	if s.p.time == "storm" {
		field := func(x, y float64) float64 {
			u, v := x/s.S, y/s.S
			w := s.n.fbm(u*1.4+ox, v*2.2, 3)
			return s.n.fbm(u*2.1+w*1.5+ox, v*3.6+w, 5)
		}
		s.veil(0, s.horizon, s.p.top.times(0.55), func(x, y float64) float64 {
			return 0.95 * smooth(-0.22, 0.32, field(x, y)) * (1 - 0.75*smooth(0.4, 1, y/s.horizon))
		})
		s.veil(0, s.horizon, s.p.low, func(x, y float64) float64 {
			return 0.7 * smooth(0.02, 0.3, field(x, y)-field(x+s.side*s.S*0.03, y-s.S*0.025)) * (1 - smooth(0.75, 1, y/s.horizon)*0.7)
		})
		return
	}
	k := 0.5 - 0.38*s.p.night
	s.veil(0, s.horizon, s.p.low.mix(s.p.sun, 0.55), func(x, y float64) float64 {
		u, v := x/s.S, y/s.S
		return k * smooth(0.02, 0.62, s.n.fbm(u*1.6+v*0.7+ox, v*7.5+s.n.at(u*1.3, v*2)*0.5, 5)) * (1 - 0.5*y/s.horizon)
	})
	n := 3 - 3*btoi(s.b.tag("minimal") || s.b.has("star")) + 5*btoi(s.b.has("cloud"))
	for i := range n {
		f := (float64(i) + 0.3) / float64(n)
		s.cumulus(s.rnd.Float64()*s.W, lerp(s.horizon*0.28, s.horizon*0.86, f), s.S*lerp(0.34, 0.16, f)*s.between(0.7, 1.2), f)
	}
}

// cumulus draws one cloud: heaped circles on a flat base that dissolve downwards.
func (s sky) cumulus(x, y, w, depth float64) {
	var p path
	n := 9 + s.rnd.IntN(5)
	for i := range n {
		t := float64(i)/float64(n-1)*2 - 1
		hump := (1 - t*t) * (0.55 + 0.45*s.rnd.Float64())
		r := w * (0.06 + 0.15*hump)
		p = append(p, oval(x+t*w*0.5, y-r*0.35-hump*w*0.06, r*1.15, r)...)
	}
	lit, dark := s.p.sun.mix(s.p.low, 0.25+0.35*depth), s.p.mid.mix(s.p.shade, 0.35)
	if s.p.night > 0.9 {
		lit, dark = s.p.haze.mix(s.p.light, 0.25), s.p.mid
	}
	r, y0 := newRamp(lit, lit.mix(dark, 0.35), dark), float64(p.bounds().Min.Y)
	s.fill(p, func(px, py float64) rgba {
		f := (py - y0) / (y + w*0.07 - y0)
		return r.at(f*0.95 - (px-x)/w*s.side*0.35).alpha(0.86 * (1 - smooth(0.55, 1.02, f)))
	})
}

// aurora draws curtains of light over a dark sky.
func (s sky) aurora() {
	if !s.b.has("aurora") {
		return
	}
	for k, c := range []uint32{0x3df5a6, 0x5fe0d0, 0x9a6bff} {
		oy, foot := s.rnd.Float64()*50, s.horizon*(0.5+0.14*float64(k))
		s.veil(0, s.horizon, hex(c).times(0.8), func(x, y float64) float64 {
			u := x / s.S
			f := foot + s.S*0.12*s.n.at(u*1.6+oy, oy) + s.S*0.03*s.n.at(u*5, oy)
			d := (f - y) / (s.S * (0.32 + 0.1*s.n.at(u*3, oy+5)))
			rays := 0.55 + 0.45*s.n.at(u*26+oy, oy+1)
			return 0.62 * smooth(-0.06, 0.05, d) * math.Exp(-max(0, d)*2.4) * rays * (1 - smooth(0.5, 1.1, d))
		})
	}
}

// weather draws lightning, fog, rain and snow in front of everything.
func (s sky) weather() {
	if s.b.tag("lightning") || s.p.time == "storm" && s.b.tag("storm") && s.b.has("lighthouse", "sea") {
		at := pt{s.W * (0.5 + s.side*s.between(0.12, 0.34)), s.horizon * 0.12}
		s.glow(at.x, s.horizon*0.15, s.S*0.5, hex(0x8f9bd0).alpha(0.45))
		bolt := []pt{at}
		for lean := s.between(-0.35, 0.35); at.y < s.horizon; bolt = append(bolt, at) {
			step := s.S * s.between(0.012, 0.035)
			at = pt{at.x + step*(lean+s.between(-0.9, 0.9)), at.y + step}
		}
		for _, layer := range []struct {
			width  float64
			colour rgba
		}{{0.0156, hex(0x9fb0ff).alpha(0.3)}, {0.0052, hex(0xe8ecff).times(1.6)}} {
			s.flat(ribbon(bolt, func(t float64) float64 { return s.S * layer.width * (1 - 0.8*t) }), layer.colour)
		}
	}
	if s.b.tag("fog") {
		ox := s.rnd.Float64() * 30
		s.veil(s.horizon-s.S*0.2, s.H, s.p.haze, func(x, y float64) float64 {
			band := smooth(s.horizon-s.S*0.2, s.horizon+s.S*0.05, y) * (1 - 0.6*smooth(s.horizon, s.H, y))
			return 0.8 * band * smooth(-0.25, 0.5, s.n.fbm(x/s.S*2+ox, y/s.S*7, 4))
		})
	}
	for range 420 * btoi(s.p.time == "storm" || s.b.tag("rain")) {
		x, y, l := s.between(-0.1, 1.1)*s.W, s.rnd.Float64()*s.H, s.S*s.between(0.015, 0.05)
		s.flat(ribbon([]pt{{x, y}, {x - s.side*l*0.32, y + l}}, func(float64) float64 { return s.S*0.0008 + 0.1 }), s.p.light.alpha(s.between(0.06, 0.26)))
	}
	for range 340 * btoi(s.b.tag("snow")) {
		m := math.Pow(s.rnd.Float64(), 4)
		s.flat(circle(s.rnd.Float64()*s.W, s.rnd.Float64()*s.H, s.S*(0.0011+0.0045*m)), s.p.light.alpha(0.75-0.4*m))
	}
}
