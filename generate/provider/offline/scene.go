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
	"eco":        {0.3, 0.56, 3, 0},
	"boat":       {0.08, 0.22, 3, 0xd9573f},
	"train":      {0.045, 0.045, 1, 0xc8473c},
	"bird":       {0.014, 0.045, 15, 0},
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

// onGround are the single things that stand on land.
const onGround = "house lighthouse tree turbine eco"
