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
	light  string // ! for one colour all over, ^ for light from above, else from the side
	shape  string
	v      []float64
}

func readSprites(text string) map[string][]mark {
	all, name := map[string][]mark{}, ""
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 1 && words[0] != "#" {
			name = words[0]
		}
		if len(words) < 2 || words[0] == "#" {
			continue
		}
		m := mark{times: 1}
		num := func(i int) float64 {
			v, err := strconv.ParseFloat(words[i], 64)
			if err != nil {
				panic("sprites.txt: " + err.Error()) // the file is part of the program, and a test reads it
			}
			return v
		}
		if c := words[0][0]; c == 'x' || c == 'r' {
			words[0] = words[0][1:]
			m.times, m.turn, m.by = int(num(0)), c == 'r', pt{num(1), num(2)}
			words = words[3:]
		}
		m.colour, m.shape = strings.TrimRight(words[0], "!^"), words[1]
		m.light = strings.TrimPrefix(words[0], m.colour)
		for i := range words[2:] {
			m.v = append(m.v, num(i+2))
		}
		all[name] = append(all[name], m)
	}
	return all
}

// placed is a drawing at a place: its foot, its width and height units in pixels, its distance (0 near, 1 far), and its
// own colour.
type placed struct {
	name       string
	x, y, w, h float64
	depth      float64
	accent     rgba
}

func (s *scene) put(p placed) {
	for _, m := range sprites[p.name] {
		turn := s.rnd.Float64() * 2 * math.Pi
		for k := range m.times {
			sin, cos := math.Sincos(turn + 2*math.Pi*float64(k)/float64(m.times))
			s.mark(p, m, func(x, y float64) pt {
				if dx, dy := x-m.by.x, y-m.by.y; m.turn {
					x, y = m.by.x+dx*cos-dy*sin, m.by.y+dx*sin+dy*cos
				} else {
					x, y = x+float64(k)*m.by.x, y+float64(k)*m.by.y
				}
				return pt{p.x + s.side*x*p.w, p.y - y*p.h}
			})
		}
	}
}

// mark draws one line of a drawing; at converts its units to pixels.
func (s *scene) mark(p placed, m mark, at func(x, y float64) pt) {
	c, named := s.inks[m.colour]
	if own := p.accent; !named {
		if m.colour != "accent" {
			own = hueOf(m.colour[1:])
		}
		c = [2]rgba{own.under(s.p.light), own.under(s.p.shade).times(0.9)}
	}
	lit, dark := c[0].fade(s.p.haze.alpha(float64(c[0].a)), p.depth*0.7), c[1].fade(s.p.haze.alpha(float64(c[1].a)), p.depth*0.7)
	var q []pt
	for i := len(m.v) % 2; i+1 < len(m.v); i += 2 {
		q = append(q, at(m.v[i], m.v[i+1]))
	}
	var shape path
	switch c := at(m.v[0], m.v[1]); m.shape {
	case "p":
		shape = poly(q...)
	case "c":
		shape = poly(rounded(q)...)
	case "l":
		shape = ribbon(q, max(0.6, m.v[0]*p.h))
	case "o":
		shape = oval(c.x, c.y, m.v[2]*p.w, m.v[3]*p.h)
	case "w":
		s.windows(c, m.v[2]*p.w, m.v[3]*p.h, p.depth)
	case "g":
		s.glow(c.x, c.y, m.v[2]*p.h, m.v[2]*p.h, s.inks[m.colour][0].alpha(m.v[3]))
	}
	b := shape.bounds()
	from, to := pt{float64(b.Max.X), 0}, pt{float64(b.Min.X), 0}
	if m.light == "^" {
		from, to = pt{0, float64(b.Min.Y)}, pt{0, float64(b.Max.Y)}
	} else if s.side < 0 {
		from, to = to, from
	}
	if m.light == "!" || shape == nil {
		s.flat(shape, lit)
	} else {
		s.fill(shape, across(from, to, lit, lit.mix(dark, 0.55), dark))
	}
}

// newInks returns the colours of drawings by their names in sprites.txt, towards the light and away from it.
func newInks(p *palette) map[string][2]rgba {
	one := func(c rgba) [2]rgba { return [2]rgba{c, c} }
	lamp, beam := p.lamp.mix(p.mid, 0.6*(1-max(0.3, p.night))), hex(0xfff0c0).alpha(0.5*min(1, 2*p.night))
	glass := hex(0x2a5fae).under(p.light).mix(hex(0x0c1f47), 0.25+0.3*p.night)
	leaf, under, cloud := p.foliage.mix(p.foliage2, 0.4).mix(p.low, 0.16), p.near.mix(p.foliage, 0.3), p.sun.mix(p.low, 0.4)
	if p.night > 0.8 {
		cloud = p.haze.mix(p.light, 0.25)
	}
	return map[string][2]rgba{
		"near": one(p.near), "light": one(p.light), "moon": one(p.sun.times(0.86)), "mare": one(p.sun.times(0.7)), "sun": {p.sun.times(2.2), p.sun.mix(p.low, 0.2).times(1.8)},
		"lamp": one(lamp), "shine": one(p.lamp.times(p.night)), "beam": {beam.alpha(0), beam}, "back": {beam, beam.alpha(0)}, "sheen": {glass.mix(p.low.mix(p.mid, 0.4), 0.35), glass},
		"pine": {leaf, under}, "leaf": one(leaf), "twig": one(leaf.mix(under, 0.5)), "under": one(under), "cloud": {cloud.alpha(0.9), p.mid.mix(p.shade, 0.35).alpha(0.05)},
		"streak": {cloud.alpha(0.45 - 0.3*p.night), cloud.alpha(0)}, "bank": {p.top.times(0.45).alpha(0.9), p.mid.times(0.7).alpha(0.1)},
		"shadow": {p.near.times(0.5).alpha(0), p.near.times(0.5).alpha(0.5)},
	}
}

// windows draws a grid of windows; at night some are lit.
func (s *scene) windows(c pt, rx, ry, depth float64) {
	gap := max(3, s.S*lerp(0.015, 0.0085, depth))
	cols, rows := max(1, int(2*rx/gap)), max(1, int(2*ry/gap/1.35))
	gx, gy := 2*rx/float64(cols), 2*ry/float64(rows)
	var panes [2]path
	for i := range cols * rows {
		lit := btoi(s.rnd.Float64() < 0.52*s.p.night)
		panes[lit] = append(panes[lit], rect(c.x-rx+(float64(i%cols)+0.22)*gx, c.y-ry+(float64(i/cols)+0.2)*gy, gx*0.56, gy*0.6)...)
	}
	s.flat(panes[0], s.p.mid.mix(s.p.shade, 0.35).fade(s.p.haze, depth*0.6).alpha(0.55-0.3*s.p.night))
	s.flat(panes[1], s.p.lamp.fade(s.p.haze, depth*0.45).times(1.15).alpha(0.92))
}
