package offline

import (
	"context"
	"image"
	"math"
	"math/rand/v2"
)

// spec is everything that decides a picture.
type spec struct {
	w, h                    int
	seed                    int64
	prompt, negative, style string
}

// scene is a picture being drawn, back to front.
type scene struct {
	*canvas
	W, H, S float64 // sides, and the unit that things scale with
	rnd     *rand.Rand
	n       *noise
	b       *wording
	p       palette
	horizon float64
	sun     pt
	side    float64 // where the light comes from: -1 left, 1 right
	focus   float64 // x of what the picture is about
}

// draw makes the picture. It ends early, with the context's error, between layers.
func draw(ctx context.Context, sp spec) (image.Image, error) {
	s := newScene(sp.w, sp.h, sp.seed, readDrawing(sp.prompt, sp.negative, sp.style))
	for _, layer := range s.layers() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		layer()
	}
	return s.finish(), nil
}

func newScene(w, h int, seed int64, b *wording) *scene {
	r := rand.New(rand.NewPCG(uint64(seed), 0xa7e11e4)) //nolint:gosec // pictures, not secrets
	s := &scene{canvas: newCanvas(w, h), W: float64(w), H: float64(h), rnd: r, n: newNoise(r), b: b, p: newPalette(b, r)}
	s.S = min(math.Sqrt(s.W*s.H), 1.4*min(s.W, s.H))
	s.side = 1
	if r.IntN(2) == 0 {
		s.side = -1
	}
	s.horizon = s.H * (0.60 + 0.06*r.Float64())
	s.focus = s.W * (0.5 - s.side*(0.14+0.06*r.Float64()))
	up := 0.34 + 0.1*r.Float64()
	switch s.p.time {
	case "sunrise", "sunset":
		up = 0.05 + 0.07*r.Float64()
	case "golden":
		up = 0.2 + 0.06*r.Float64()
	case "dusk":
		up = -0.03
	}
	s.sun = pt{s.W * (0.5 + s.side*(0.14+0.12*r.Float64())), s.horizon - s.S*up}
	return s
}

// layers composes what the words ask for: something abstract, the sea, or land.
func (s *scene) layers() []func() {
	b := s.b
	if b.has("energy") {
		for _, t := range []thing{"turbine", "solar"} {
			if !b.has(t) && !b.tag("no-"+t) {
				b.things[t], b.order = 0, append(b.order, t)
			}
		}
	}
	place := b.has("sea", "beach", "mountain", "hill", "forest", "field", "desert", "river", "road", "city", "solar", "train", "sun", "moon", "star", "cloud", "aurora") ||
		len(s.singles()) > 0
	switch {
	case !place && b.has("tiles"):
		return []func(){s.tiles}
	case !place && b.has("ribbons"):
		return []func(){s.ribbons}
	case !place && (b.has("abstract") || len(b.tags) == 0):
		return []func(){[]func(){s.ribbons, s.tiles}[s.rnd.IntN(2)]}
	}
	l := []func(){s.sky, s.stars, s.aurora, s.luminary, s.clouds}
	if b.has("sea", "beach", "boat") || b.has("lighthouse") && !b.has("mountain", "hill", "forest", "field", "desert", "city") {
		l = append(l, s.seascape)
	} else {
		l = append(l, s.landscape)
	}
	return append(l, s.aloft, s.weather)
}

// single is a thing that stands alone: its drawing, how high it is far and near, and how many there are of
// it where the prompt does not say.
type single struct {
	name      thing
	far, near float64
	many      int
}

// singles are the things on land that the words name, in their order.
func (s *scene) singles() []single {
	var out []single
	for _, name := range s.b.order {
		for _, k := range []single{
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
		} {
			if k.name == name {
				out = append(out, k)
			}
		}
	}
	return out
}

// accents are the colours that things have where the words give them none.
var accents = map[thing]uint32{"lighthouse": 0xc43a31, "house": 0xf4e9d8, "boat": 0xd9573f, "train": 0xc8473c, "balloon": 0xd9573f, "flower": 0xe0506a}

// accent is the own colour of the i-th thing of a kind.
func (s *scene) accent(name thing, i int) (c rgba) {
	switch own := s.b.tint[name]; {
	case len(own) > 0:
		c = own[i%len(own)]
	case len(s.b.hues) > 0 && name != "house":
		c = s.b.hues[0]
	default:
		c = hex(accents[name])
	}
	switch {
	case s.b.tag("mono"):
		return c.tone(0, 0, 0)
	case s.b.tag("pastel"):
		return c.mix(hex(0xfbf3ee), 0.4)
	}
	return c
}

// spread chooses places for n things of one kind between y0, far, and y1, near; the k-th kind of a picture
// stands elsewhere than the others.
func (s *scene) spread(t single, k int, y0, y1 float64) []placed {
	n := s.b.things[t.name]
	if n == 0 {
		n = t.many
	}
	size := s.b.scale[t.name]
	if size == 0 {
		size = 1
	}
	var out []placed
	for i := range n {
		f := 1.0 // how near
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

// aloft is what flies.
func (s *scene) aloft() {
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

// flock is birds about one place of the sky.
func (s *scene) flock(t single) []placed {
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

// seen is a colour as it looks in the scene's light at a distance, 0 near to 1 far.
func (s *scene) seen(c rgba, depth float64) rgba {
	return c.under(s.p.light).fade(s.p.haze, depth*depthHaze)
}

// shaded is the same on the side away from the light.
func (s *scene) shaded(c rgba, depth float64) rgba {
	return c.under(s.p.shade).fade(s.p.haze, depth*depthHaze)
}

const depthHaze = 0.78

// between draws a number evenly from a to b.
func (s *scene) between(a, b float64) float64 { return a + (b-a)*s.rnd.Float64() }

// lit orders two colours left to right by where the light comes from.
func (s *scene) lit(bright, dark rgba) (left, right rgba) {
	if s.side < 0 {
		return bright, dark
	}
	return dark, bright
}
