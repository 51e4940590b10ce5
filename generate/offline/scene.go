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
	W, H, S float64 // sides, and the unit that motifs scale with
	rnd     *rand.Rand
	n       *noise
	b       brief
	p       palette
	horizon float64
	sun     pt
	side    float64 // where the light comes from: -1 left, 1 right
	focus   float64 // x of what the picture is about
}

// layer is one step of a composition.
type layer func()

// draw makes the picture. It ends early, with the context's error, between layers.
func draw(ctx context.Context, sp spec) (image.Image, error) {
	s := newScene(sp)
	for _, l := range s.compose() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l()
	}
	return s.finish(), nil
}

func newScene(sp spec) *scene {
	r := rand.New(rand.NewPCG(uint64(sp.seed), 0xa7e11e4)) //nolint:gosec // pictures, not secrets
	b := readBrief(sp.prompt, sp.negative, sp.style)
	s := &scene{canvas: newCanvas(sp.w, sp.h), W: float64(sp.w), H: float64(sp.h), rnd: r, n: newNoise(r), b: b, p: newPalette(b, r)}
	s.S = min(math.Sqrt(s.W*s.H), 1.4*min(s.W, s.H))
	s.side = 1
	if r.IntN(2) == 0 {
		s.side = -1
	}
	s.horizon = s.H * (0.60 + 0.06*r.Float64())
	s.focus = s.W * (0.5 - s.side*(0.14+0.06*r.Float64()))
	s.sun = pt{s.W * (0.5 + s.side*(0.14+0.12*r.Float64())), s.horizon - s.S*s.sunHeight()}
	return s
}

func (s *scene) sunHeight() float64 {
	switch s.p.time {
	case "sunrise", "sunset":
		return 0.05 + 0.07*s.rnd.Float64()
	case "golden":
		return 0.2 + 0.06*s.rnd.Float64()
	case "dusk":
		return -0.03
	}
	return 0.34 + 0.1*s.rnd.Float64()
}

// compose chooses the composition that fits the words.
func (s *scene) compose() []layer {
	b := s.b
	switch {
	case b.has(mHurricane) && !b.has(mCity, mLighthouse, mHouse):
		return []layer{s.hurricane}
	case b.has(mPortrait):
		return s.portrait()
	case b.has(mAbstract, mBauhaus, mPaper, mFlow, mOrb, mChart) && !b.has(mCity, mLighthouse):
		return s.abstract()
	case b.has(mSpace), b.has(mEarth) && !b.has(mCity, mTurbine, mSolar, mFactory, mForest):
		return s.cosmos()
	case b.has(mData, mChange) && !s.places():
		return s.abstract()
	case s.places():
		return s.landscape()
	case b.has(mEnergy):
		b.motifs[mTurbine], b.motifs[mSolar] = true, true
		return s.landscape()
	case len(b.tags) > 0 && s.rnd.IntN(3) > 0:
		return s.landscape()
	}
	return s.abstract()
}

// places reports whether the words name something that stands on the ground.
func (s *scene) places() bool {
	return s.b.has(mMountain, mHill, mSea, mBeach, mRiver, mForest, mField, mDesert, mIce, mCity, mFuture, mEco, mHouse, mFactory, mNuclear,
		mTurbine, mSolar, mPylon, mDam, mRoad, mBoat, mLighthouse, mFlower, mTree, mBird, mPeople, mCloud, mSun, mMoon, mStar, mBalloon, mAurora, mSmoke, mHurricane)
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
