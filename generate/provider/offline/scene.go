package offline

import (
	"context"
	"image"
	"math"
	"math/rand/v2"
)

// spec holds everything that determines a picture.
type spec struct {
	w, h                    int
	seed                    int64
	prompt, negative, style string
}

// scene is a picture being drawn, back to front: a sky, then land or sea with figures, or a pattern instead.
type scene struct {
	figures
	sky     sky
	pattern pattern
}

// draw draws the picture. If the context ends, it returns the context's error between layers.
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
	r := rand.New(rand.NewPCG(uint64(seed), 0xa7e11e4)) //nolint:gosec // for pictures, not secrets
	c := &canvas{w: w, h: h, pix: make([]float32, w*h*3)}
	s := &stage{canvas: c, W: float64(w), H: float64(h), rnd: r, n: newNoise(r), b: b, p: newPalette(b, r)}
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
	return &scene{figures{s}, sky{s}, pattern{s}}
}

// layers returns the layers that the words ask for: a pattern, the sea, or land.
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
		return []func(){s.pattern.tiles}
	case !place && b.has("ribbons"):
		return []func(){s.pattern.ribbons}
	case !place && (b.has("abstract") || len(b.tags) == 0):
		return []func(){[]func(){s.pattern.ribbons, s.pattern.tiles}[s.rnd.IntN(2)]}
	}
	l := []func(){s.sky.paint, s.sky.stars, s.sky.aurora, s.sky.luminary, s.sky.clouds}
	if b.seascape() {
		l = append(l, s.seascape)
	} else {
		l = append(l, s.landscape)
	}
	return append(l, s.aloft, s.sky.weather)
}
