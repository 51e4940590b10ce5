package offline

import (
	"cmp"
	"context"
	"image"
	"math"
	"math/rand/v2"
	"slices"
)

// spec holds everything that determines a picture.
type spec struct {
	w, h                    int
	seed                    int64
	prompt, negative, style string
}

// scene is a picture being drawn, back to front.
type scene struct {
	*canvas
	W, H, S float64 // sides, and the unit for scaling things
	rnd     *rand.Rand
	n       *noise
	b       *wish
	p       palette
	inks    map[string][2]rgba
	horizon float64
	sun     pt
	side    float64 // where the light comes from: -1 left, 1 right
	focus   float64 // x of the picture's subject
}

// draw draws the picture. If the context ends, it returns the context's error between layers.
func draw(ctx context.Context, sp spec) (*image.NRGBA, error) {
	b := readDrawing(sp.prompt, sp.negative, sp.style)
	s := newScene(sp.w, sp.h, sp.seed, b)
	layers := []func(){s.sky, s.place, s.weather}
	if len(b.things) == 0 && len(b.tags) == 0 || b.has("abstract") && len(b.things) == 1 {
		layers = []func(){s.abstract}
	}
	for _, layer := range layers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		layer()
	}
	return b.adjust(s.picture(s.rnd), false), nil
}

func newScene(w, h int, seed int64, b *wish) *scene {
	r := rand.New(rand.NewPCG(uint64(seed), 0xa7e11e4)) //nolint:gosec // for pictures, not secrets
	s := &scene{canvas: &canvas{w: w, h: h, pix: make([]float32, w*h*3)}, W: float64(w), H: float64(h), rnd: r, n: newNoise(r), b: b, p: newPalette(b, r)}
	s.inks = newInks(&s.p)
	s.S = min(math.Sqrt(s.W*s.H), 1.4*min(s.W, s.H))
	s.side = float64(1 - 2*r.IntN(2))
	s.horizon = s.H * s.between(0.60, 0.66)
	s.focus = s.W * (0.5 - s.side*s.between(0.14, 0.2))
	s.sun = pt{s.W * (0.5 + s.side*s.between(0.14, 0.26)), max(s.S*0.09, s.horizon-s.S*(s.p.sunUp+s.between(0, 0.07)))}
	return s
}

func (s *scene) between(a, b float64) float64 { return a + (b-a)*s.rnd.Float64() }

// mist draws haze that thickens downwards and hides where layers meet.
func (s *scene) mist(y0, y1, a float64) {
	s.rows(y0, y1, func(y float64) rgba {
		t := (y - y0) / (y1 - y0)
		return s.p.haze.alpha(a * t * t * (1 - smooth(0.9, 1, t)*0.3))
	})
}

// single is a thing that stands alone: its height when far and near, the default number of them, and its own colour.
type single struct {
	far, near float64
	many      int
	accent    uint32
}

var singles = map[string]single{
	"house":      {0.07, 0.21, 4, 0xf4e9d8},
	"lighthouse": {0.22, 0.46, 3, 0xc43a31},
	"tree":       {0.12, 0.4, 6, 0},
	"turbine":    {0.14, 0.52, 6, 0},
	"eco":        {0.28, 0.5, 3, 0},
	"boat":       {0.08, 0.22, 3, 0xd9573f},
	"train":      {0.045, 0.045, 1, 0xc8473c},
	"bird":       {0.03, 0.06, 15, 0},
	"flower":     {0.2, 0.2, 7, 0xe0506a},
	"sun":        {0.06, 0.06, 1, 0},
	"moon":       {0.06, 0.06, 1, 0},
}

// accent returns the colour of the i-th thing of a kind.
func (s *scene) accent(name string, i int) rgba {
	switch own := s.b.tint[name]; {
	case len(own) > 0:
		return own[i%len(own)]
	case len(s.b.hues) > 0 && name != "house":
		return s.b.hues[0]
	case name == "flower":
		return hex([]uint32{0xe0506a, 0xf7c948, 0xf4f0ea, 0xe06f9a, 0x8e6bd6}[i%5])
	}
	return hex(singles[name].accent)
}

// spread chooses places for the things of those names that the prompt names, between y0 (far) and y1 (near), from the
// farthest to the nearest.
func (s *scene) spread(names string, y0, y1 float64) (all []placed) {
	kinds := 0
	for _, name := range s.b.order {
		if !among(names, name) {
			continue
		}
		t := singles[name]
		n := cmp.Or(s.b.things[name], t.many)
		for i := range n {
			f, x := 1.0, []float64{s.focus, s.W - s.focus, s.W * 0.5}[kinds%3]+s.W*0.12*float64(kinds/3) // f is nearness
			if n > 1 {
				f = math.Mod(0.95+0.618*float64(i), 1) * min(1, 1.7*math.Pow(float64(n), -0.25))
				x = s.W * (float64(i) + 0.5 + s.between(-0.22, 0.22)) / float64(n)
			}
			if t.far == t.near {
				f = 1
			}
			if side := s.b.side[name]; side != 0 || name == "train" { // a train crosses the middle
				x = s.W*0.5 + side*math.Abs(x-s.W*0.5)
			}
			h := s.S * lerp(t.far, t.near, f*f) * cmp.Or(s.b.scale[name], 1) * s.between(0.93, 1.07)
			margin := min(s.W/2, h*0.75*float64(btoi(name != "lighthouse")))
			all = append(all, placed{name, min(s.W-margin, max(margin, x)), lerp(y0, y1, f*f), h, h, 0.7 * (1 - f), s.accent(name, i)})
		}
		kinds++
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(b.depth, a.depth) })
	return all
}

func (s *scene) stand(names string, y0, y1 float64) {
	for _, p := range s.spread(names, y0, y1) {
		s.put(p)
	}
}

// extra draws the things to add to an existing picture.
func (s *scene) extra() {
	if s.b.has("star") {
		s.stars(260, false)
	}
	s.stand("sun moon", s.horizon*0.25, s.horizon*0.25)
	s.clouds(4 * btoi(s.b.has("cloud")))
	s.stand(onGround+" boat train", s.H*0.7, s.H*0.86)
	s.stand("flower", s.H*0.98, s.H*0.98)
	s.stand("bird", s.horizon*0.65, s.horizon*0.35)
}

// onGround are the single things that stand on land, and ashore those of them that can stand on a headland.
const onGround, ashore = "house lighthouse tree turbine eco", "house lighthouse tree"

// sky covers the whole canvas: a gradient from the top to the horizon, stars, clouds, and the sun or the moon.
func (s *scene) sky() {
	r, b, storm := newRamp(s.p.top, s.p.top.mix(s.p.mid, 0.45), s.p.mid, s.p.low, s.p.haze), s.b, s.p.time == "storm"
	s.rows(0, s.H, func(y float64) rgba { return r.at(math.Pow(min(1, y/s.horizon), 1.15) * 0.97) })
	s.glow(s.sun.x, min(s.sun.y, s.horizon), s.S*0.95, s.S*0.55, s.p.low.alpha(s.p.halo))
	s.glow(s.sun.x, min(s.sun.y, s.horizon), s.S*0.42, s.S*0.42, s.p.sun.alpha(s.p.halo))
	if s.p.night > 0.8 && !b.tags["no-star"] {
		s.stars(420, b.has("star"))
	}
	for range 6 * btoi(!b.tags["no-cloud"]) {
		w := s.S * s.between(0.2, 0.5)
		s.put(placed{"streak", s.W * s.rnd.Float64(), s.horizon * s.between(0.1, 0.8), w, w, 0.3, rgba{}})
	}
	for range 16 * btoi(storm) {
		w, f := s.S*s.between(0.4, 0.8), s.rnd.Float64()
		s.put(placed{"bank", s.W * s.rnd.Float64(), s.horizon * 0.5 * f, w, w, 0.6 * f, rgba{}})
	}
	s.clouds((3 + 5*btoi(b.has("cloud"))) * btoi(!storm && !b.tags["no-cloud"] && !b.has("star")))
	r0 := s.S * 0.045 * (1 + 0.5*float64(btoi(b.has("sun", "moon"))))
	switch moon := s.p.time == "night" || b.has("moon"); {
	case moon && !b.tags["no-moon"] && (b.has("moon") || !b.has("star")):
		s.put(placed{"moon", s.sun.x, min(s.sun.y, s.horizon-s.S*0.2), r0, r0, 0, rgba{}})
	case !moon && !b.tags["no-sun"] && s.p.glitter > 0:
		s.put(placed{"sun", s.sun.x, s.sun.y, r0, r0, 0, rgba{}})
	}
}

// stars scatters n stars above the horizon, where they fade, and as many again in the band of the Milky Way.
func (s *scene) stars(n int, band bool) {
	for i := range n * (1 + 2*btoi(band)) {
		x, f, m := s.rnd.Float64(), s.rnd.Float64(), math.Pow(s.rnd.Float64(), 5)
		if i >= n {
			f, m = 0.5+0.7*s.side*(0.5-x)+0.11*s.rnd.NormFloat64(), m/2
		}
		r, c := s.S*(0.0006+0.0013*m), hex([]uint32{0xffffff, 0xcfe0ff, 0xfff0d8}[s.rnd.IntN(3)])
		s.flat(oval(x*s.W, f*s.horizon*0.95, r, r), c.alpha((0.25+0.75*m)*max(0, 1-0.8*f)))
		if m > 0.6 {
			s.glow(x*s.W, f*s.horizon*0.95, 6*r, 6*r, c.alpha(0.24))
		}
	}
}

// clouds draws n clouds, the lower the smaller, beside the sun.
func (s *scene) clouds(n int) {
	for i := range n {
		f := (float64(i) + 0.3) / float64(n)
		x, w := math.Mod(s.sun.x+s.W*s.between(0.3, 0.85), s.W*1.1), s.S*lerp(0.36, 0.17, f)*s.between(0.7, 1.2)
		s.put(placed{[]string{"cloud0", "cloud1"}[i%2], x, s.horizon * lerp(0.22, 0.84, f), w, w, f / 2, rgba{}})
	}
}

// weather draws birds, lightning, fog, rain and snow in front of everything.
func (s *scene) weather() {
	s.stand("bird", s.horizon*0.65, s.horizon*0.35)
	if x := s.W * (0.5 + s.side*s.between(0.15, 0.3)); s.b.tags["storm"] {
		s.glow(x, s.horizon*0.15, s.S*0.5, s.S*0.5, hex(0x8f9bd0).alpha(0.45))
		s.put(placed{name: "bolt", x: x, y: s.horizon, w: s.horizon, h: s.horizon})
	}
	if y0 := s.horizon - s.S*0.2; s.b.tags["fog"] {
		s.rows(y0, s.H, func(y float64) rgba {
			return s.p.haze.alpha(0.6 * smooth(y0, s.horizon+s.S*0.1, y) * (1 - 0.7*smooth(s.horizon, s.H, y)))
		})
	}
	for range 420 * btoi(s.p.time == "storm" || s.b.tags["rain"]) {
		x, y, l := s.between(-0.1, 1.1)*s.W, s.rnd.Float64()*s.H, s.S*s.between(0.015, 0.05)
		s.flat(ribbon([]pt{{x, y}, {x - s.side*l*0.32, y + l}}, s.S*0.0008+0.1), s.p.light.alpha(s.between(0.06, 0.26)))
	}
	for range 340 * btoi(s.b.tags["snow"]) {
		m := math.Pow(s.rnd.Float64(), 4)
		r := s.S * (0.0011 + 0.0045*m)
		s.flat(oval(s.rnd.Float64()*s.W, s.rnd.Float64()*s.H, r, r), s.p.light.alpha(0.75-0.4*m))
	}
}

// abstract draws waves like cut paper, in the colours that the prompt names.
func (s *scene) abstract() {
	sets := [][4]uint32{{0x12355b, 0x1f7a8c, 0xf2c14e, 0xf78154}, {0x264653, 0x2a9d8f, 0xe9c46a, 0xe76f51}, {0x3d2c8d, 0x916bbf, 0xf2a1c4, 0xffc97f}}
	var h [4]rgba
	for i, v := range sets[s.rnd.IntN(len(sets))] {
		h[i] = hex(v)
		if n := len(s.b.hues); n > 0 {
			h[i] = h[i].mix(s.b.hues[i%n].tone(0.08*float64(i-1), 1, 0), 0.8)
		}
	}
	all := newRamp(h[3], h[2], h[1], h[0])
	for i := range 11 {
		t, tilt, wave := float64(i)/10, s.side*s.between(0.1, 0.5), s.rolling(0, s.between(0.8, 1.6))
		c := all.at(t)
		edge, deep := c.tone(0.06, 1, 0), c.tone(-0.09, 1.1, 0)
		s.land(func(x float64) float64 {
			return s.H*(1.15*t-0.15) - 2*s.W*float64(btoi(i == 0)) + 3*wave(x) + tilt*(x-s.W/2)
		}, s.H+2, func(_, y, top, slope float64) rgba {
			return edge.fade(deep, (y-top)/s.S*4+0.3*slope)
		})
	}
}
