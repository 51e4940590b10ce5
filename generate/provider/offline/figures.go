package offline

import (
	"cmp"
	"math"
	"slices"
)

// figures draws single things, one by one or spread over the picture.
type figures struct{ *stage }

// single is a thing that stands alone: its drawing, its height when far and near, and the default number of them.
type single struct {
	name      thing
	far, near float64
	many      int
}

// singles returns the single things that the prompt names, in order of mention.
func (s figures) singles() []single {
	all := []single{
		{"house", 0.07, 0.21, 4},
		{"lighthouse", 0.22, 0.46, 3},
		{"tree", 0.12, 0.4, 6},
		{"turbine", 0.14, 0.52, 6},
		{"pylon", 0.14, 0.46, 4},
		{"factory", 0.16, 0.3, 2},
		{"eco", 0.3, 0.56, 3},
		{"boat", 0.08, 0.22, 3},
		{"flower", 0.1, 0.2, 0},
		{"bird", 0.012, 0.026, 15},
		{"balloon", 0.06, 0.22, 5},
	}
	var out []single
	for _, name := range s.b.order {
		if i := slices.IndexFunc(all, func(t single) bool { return t.name == name }); i >= 0 {
			out = append(out, all[i])
		}
	}
	return out
}

// accents are the default colours of things.
var accents = map[thing]uint32{"lighthouse": 0xc43a31, "house": 0xf4e9d8, "boat": 0xd9573f, "train": 0xc8473c, "balloon": 0xd9573f, "flower": 0xe0506a}

// accent returns the colour of the i-th thing of a kind.
func (s figures) accent(name thing, i int) (c rgba) {
	switch own := s.b.tint[name]; {
	case len(own) > 0:
		c = own[i%len(own)]
	case len(s.b.hues) > 0 && name != "house":
		c = s.b.hues[0]
	default:
		c = hex(accents[name])
	}
	return s.b.finish(c)
}

// spread chooses places for n things of one kind between y0 (far) and y1 (near). Each kind k gets other places.
func (s figures) spread(t single, k int, y0, y1 float64) []placed {
	n, size := cmp.Or(s.b.things[t.name], t.many), cmp.Or(s.b.scale[t.name], 1)
	var out []placed
	for i := range n {
		f := 1.0 // nearness
		x := []float64{s.focus, s.W - s.focus, s.W * 0.5}[k%3] + s.W*0.12*float64(k/3)
		if n > 1 {
			f = math.Mod(0.95+0.618*float64(i), 1)
			slot := math.Mod(float64(i)*math.Ceil(float64(n)*0.4+0.5), float64(n))
			if n%2 == 0 {
				slot = float64(i)
			}
			x = s.W * (slot + 0.5 + s.between(-0.22, 0.22)) / float64(n)
			f *= min(1, 1.7*math.Pow(float64(n), -0.25))
		}
		if side := s.b.side[t.name]; side != 0 {
			x = s.W*0.5 + side*math.Abs(x-s.W*0.5)
		}
		h := s.S * lerp(t.far, t.near, f*f) * size * s.between(0.93, 1.07)
		out = append(out, placed{name: t.name, x: x, y: lerp(y0, y1, f*f), w: h, h: h, depth: 0.7 * (1 - f), accent: s.accent(t.name, i)})
	}
	return out
}

func (s figures) aloft() {
	var all []placed
	for k, t := range s.singles() {
		switch t.name {
		case "balloon":
			all = append(all, s.spread(t, k, s.horizon*0.95, s.horizon*0.62)...)
		case "bird":
			all = append(all, s.flock(t)...)
		}
	}
	s.stand(all)
}

// flock returns birds around one place in the sky.
func (s figures) flock(t single) []placed {
	all := s.spread(t, 0, 0, 0)
	for i := range all {
		p := &all[i]
		p.depth = 0.1
		p.x, p.y = s.W-s.focus+s.rnd.NormFloat64()*s.S*0.11, s.horizon*0.5+s.rnd.NormFloat64()*s.S*0.06
		if len(all) < 6 {
			p.x, p.w, p.h = s.W*(0.25+0.5*(float64(i)+0.5)/float64(len(all))), p.w*1.9, p.h*1.9
		}
		p.w *= s.between(0.8, 1.2)
	}
	return all
}

// stand draws things from the farthest to the nearest.
func (s figures) stand(all []placed) {
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(b.depth, a.depth) })
	for _, p := range all {
		s.put(p)
	}
}
