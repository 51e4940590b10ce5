package offline

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
)

//go:embed sprites.txt
var spriteText string

// sprites are the drawings of single things, by name. They are read-only.
var sprites = readSprites(spriteText)

// mark is one line of a drawing; sprites.txt documents its parts.
type mark struct {
	times  int
	turn   bool
	by     pt // the step of a repeat, or the centre of its turn
	colour string
	even   bool // one colour for the whole shape
	shape  string
	v      []float64
}

func readSprites(text string) map[string][]mark {
	all, name := map[string][]mark{}, ""
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(line, "# ") || words[0] == "#":
		case len(words) == 1:
			name = words[0]
		default:
			all[name] = append(all[name], readMark(words))
		}
	}
	return all
}

func readMark(words []string) mark {
	num := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			panic("sprites.txt: " + err.Error()) // the file is part of the program, and a test reads it
		}
		return v
	}
	m := mark{times: 1}
	if c := words[0][0]; c == 'x' || c == 'r' {
		m.times, m.turn, m.by = int(num(words[0][1:])), c == 'r', pt{num(words[1]), num(words[2])}
		words = words[3:]
	}
	m.colour, m.even = strings.CutSuffix(words[0], "!")
	m.shape = words[1]
	for _, w := range words[2:] {
		m.v = append(m.v, num(w))
	}
	return m
}

// placed is a drawing at a place: its foot, its width and height units in pixels, its distance (0 near, 1 far), and its
// own colour.
type placed struct {
	name       string
	x, y, w, h float64
	depth      float64
	accent     rgba
}

func (s figures) put(p placed) {
	for _, m := range sprites[p.name] {
		turn := s.rnd.Float64() * 2 * math.Pi
		for k := range m.times {
			at := func(x, y float64) pt {
				if m.turn {
					sin, cos := math.Sincos(turn + 2*math.Pi*float64(k)/float64(m.times))
					dx, dy := x-m.by.x, y-m.by.y
					x, y = m.by.x+dx*cos-dy*sin, m.by.y+dx*sin+dy*cos
				} else {
					x, y = x+float64(k)*m.by.x, y+float64(k)*m.by.y
				}
				return pt{p.x + s.side*x*p.w, p.y - y*p.h}
			}
			s.mark(p, m, at)
		}
	}
}

func (s figures) mark(p placed, m mark, at func(x, y float64) pt) {
	v, c := m.v, at(m.v[0], m.v[1])
	lit, dark := s.inks(p, m)
	var shape path
	switch m.shape {
	case "p", "c":
		var q []pt
		for i := 0; i+1 < len(v); i += 2 {
			q = append(q, at(v[i], v[i+1]))
		}
		if shape = poly(q...); m.shape == "c" {
			shape = closedCurve(q, 6)
		}
	case "o":
		shape = oval(c.x, c.y, v[2]*p.w, v[3]*p.h)
	case "l":
		var q []pt
		for i := 1; i+1 < len(v); i += 2 {
			q = append(q, at(v[i], v[i+1]))
		}
		shape = ribbon(curve(q, 5), func(float64) float64 { return max(0.6, v[0]*p.h) })
	case "b":
		s.leaves(c, p, m, lit, dark)
		return
	case "w":
		s.windows(c, v[2]*p.w, v[3]*p.h, p.depth)
		return
	case "g":
		s.glow(c.x, c.y, v[2]*p.h, s.p.lamp.alpha(0.45*s.p.night))
		return
	case "s":
		s.smoke(c, v[2]*p.h, p.depth)
		return
	case "m":
		s.beam(c)
		return
	}
	if m.even {
		s.flat(shape, lit)
		return
	}
	b := shape.bounds()
	left, right := dark, lit // the bright side is towards the light
	if s.side < 0 {
		left, right = lit, dark
	}
	s.fill(shape, across(pt{float64(b.Min.X), 0}, pt{float64(b.Max.X), 0}, left, left.mix(right, 0.45), right))
}

// inks returns the colours of a mark towards the light and away from it.
func (s figures) inks(p placed, m mark) (lit, dark rgba) {
	switch m.colour {
	case "near":
		c := s.p.near.fade(s.p.haze, p.depth*0.5)
		return c, c
	case "lamp":
		c := s.p.lamp.mix(s.p.mid, 0.6*(1-max(0.3, s.p.night))).fade(s.p.haze, p.depth*0.4)
		return c, c
	case "leaf":
		return s.p.foliage.mix(s.p.foliage2, 0.4).mix(s.p.low, 0.16).fade(s.p.haze, p.depth*0.7), s.p.near.mix(s.p.foliage, 0.3).fade(s.p.haze, p.depth*0.7)
	case "sheen":
		near := 1 - min(1, math.Abs(p.x-s.sun.x)/(s.S*0.6))
		blue := s.seen(hex(0x2a5fae), p.depth*0.6).mix(hex(0x0c1f47), 0.25+0.3*s.p.night)
		return blue.mix(s.p.low.mix(s.p.mid, 0.4), 0.1+0.5*near*near), blue.mix(hex(0x0c1f47), 0.4)
	case "accent":
		return s.seen(p.accent, p.depth), s.shaded(p.accent, p.depth)
	}
	v, err := strconv.ParseUint(strings.TrimPrefix(m.colour, "#"), 16, 32)
	if err != nil {
		return s.p.light, s.p.light
	}
	c := hex(uint32(v))
	lit, dark = s.seen(c, p.depth), s.shaded(c.times(0.85), p.depth)
	if k := s.p.night * (1 - p.depth) * 0.5; k > 0.1 && !m.even {
		lit, dark = lit.fade(s.p.near, k), dark.fade(s.p.near, k)
	}
	return lit, dark
}

// leaves draws a mass of leaves: dark below, lighter towards the light.
func (s figures) leaves(c pt, p placed, m mark, lit, dark rgba) {
	rx, ry, grain := m.v[2]*p.w, m.v[3]*p.h, 0.24
	if rx > 4*ry { // a hedge
		grain = 0.5
	}
	for k, share := range []float64{1, 0.62, 0.38} {
		var all path
		f := float64(k) / 2
		for range int(m.v[4]) {
			a, d := s.rnd.Float64()*2*math.Pi, math.Sqrt(s.rnd.Float64())
			r := min(rx, ry) * grain * s.between(0.7, 1.3) * (1.2 - 0.4*f)
			x, y := c.x+math.Cos(a)*d*(rx-r*0.6)*(0.4+0.6*share)+s.side*rx*0.2*f, c.y+math.Sin(a)*d*max(0, ry-r*0.6)*share-ry*0.16*f
			all = append(all, oval(x, y, r, r*0.9)...)
		}
		s.flat(all, dark.mix(lit, f))
	}
}

// windows draws a grid of windows; at night some are lit.
func (s figures) windows(c pt, rx, ry, depth float64) {
	gap := max(3, s.S*lerp(0.015, 0.0085, depth))
	cols, rows := max(1, int(2*rx/gap)), max(1, int(2*ry/gap/1.35))
	gx, gy := 2*rx/float64(cols), 2*ry/float64(rows)
	var lamps, dim path
	for i := range cols * rows {
		q := rect(c.x-rx+(float64(i%cols)+0.22)*gx, c.y-ry+(float64(i/cols)+0.2)*gy, gx*0.56, gy*0.6)
		if s.rnd.Float64() < 0.52*s.p.night {
			lamps = append(lamps, q...)
		} else {
			dim = append(dim, q...)
		}
	}
	s.flat(dim, s.p.mid.mix(s.p.shade, 0.35).fade(s.p.haze, depth*0.6).alpha(0.55-0.3*s.p.night))
	s.flat(lamps, s.p.lamp.fade(s.p.haze, depth*0.45).times(1.15).alpha(0.92))
}

// smoke draws smoke that billows from a mouth and drifts away from the light.
func (s figures) smoke(from pt, r0, depth float64) {
	dark, lit := s.p.shade.mix(s.p.near, 0.25).fade(s.p.haze, depth*0.4), s.p.haze.mix(s.p.sun, 0.35)
	for i := range 46 {
		t := 1 - float64(i)/46
		r := r0 * (0.75 + 3.4*t) * s.between(0.7, 1.1)
		x, y := from.x-s.side*r0*9*math.Pow(t, 1.5)+r*s.between(-0.5, 0.5), from.y-r0*7*math.Pow(t, 0.75)+r*s.between(-0.4, 0.4)
		s.fill(circle(x, y, r), func(px, py float64) rgba {
			dx, dy := (px-x)/r, (py-y)/r
			return dark.fade(lit, smooth(-0.7, 0.8, dx*s.side*0.7-dy*0.6)).alpha(0.36 * math.Pow(1-t, 0.9) * (1 - smooth(0.2, 1, dx*dx+dy*dy)))
		})
	}
}

// beam draws the light of a lighthouse: two cones that thin with the distance.
func (s figures) beam(from pt) {
	if s.p.night < 0.25 {
		return
	}
	const spread = 0.075
	c := hex(0xfff0c0)
	for _, angle := range []float64{-0.16 * s.side, math.Pi - 0.12*s.side} {
		end := func(a float64) pt { return pt{from.x + 1.2*s.W*math.Cos(a), from.y + 1.2*s.W*math.Sin(a)} }
		s.fill(poly(from, end(angle-spread), end(angle+spread)), func(x, y float64) rgba {
			dx, dy := x-from.x, y-from.y
			off := math.Abs(math.Remainder(math.Atan2(dy, dx)-angle, 2*math.Pi)) / spread
			return c.alpha(0.6 * math.Exp(-math.Hypot(dx, dy)/s.S*1.9) * max(0, 1-off*off))
		})
	}
}
