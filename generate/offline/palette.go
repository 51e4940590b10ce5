package offline

import "math/rand/v2"

// palette is the light of a scene and the colours of what it shines on.
type palette struct {
	time                   string
	top, mid, low          rgba // sky, down to the horizon
	sun, haze              rgba
	far, near              rgba // land in the distance and at our feet
	foliage, foliage2      rgba
	water                  rgba
	light                  rgba // what a white wall looks like in this light
	shade                  rgba // and in the shade
	lamp                   rgba
	night                  float64 // 0 by day, 1 when windows are lit
	accent, accent2, paper rgba
}

// skies are the hand-picked palettes of each time of day: top, mid, low, sun, haze,
// far, near, foliage, water, light, shade.
var skies = map[string][][11]uint32{
	"sunrise": {
		{0x3f5f94, 0xe39aa0, 0xffd9a3, 0xfff4d8, 0xfccfae, 0x8f86b0, 0x24384a, 0x3c6153, 0x6f86a8, 0xffe3c4, 0x6d6f95},
		{0x5c86b8, 0xf4bda4, 0xffe7b5, 0xfff8e0, 0xfbdcb8, 0x9aa6c4, 0x2d4a4a, 0x4f7a55, 0x86a3b8, 0xffecd0, 0x7b82a0},
		{0x4a4f8f, 0xd97f9b, 0xffc49a, 0xfff0cf, 0xf6b7a6, 0x8073a6, 0x1f2c48, 0x35564f, 0x75759f, 0xffd9bd, 0x5f5c8c},
	},
	"sunset": {
		{0x2b2a5c, 0xb9456f, 0xff9c50, 0xfff0c4, 0xfa9b6e, 0x7a4672, 0x1c1634, 0x3a3350, 0x8a4a6a, 0xffc79a, 0x4d3a66},
		{0x24496e, 0xe8705a, 0xffc86e, 0xfff3cb, 0xf6a475, 0x6f5f80, 0x182a3c, 0x34484a, 0x9b6a6a, 0xffd2a4, 0x4b4c6c},
		{0x3a2a62, 0xd8567a, 0xffb36b, 0xffeec0, 0xf49a80, 0x75508a, 0x1d1b3a, 0x403a58, 0x8b5478, 0xffc7a6, 0x54406f},
	},
	"golden": {
		{0x6b9cc6, 0xf2d3a0, 0xffeec2, 0xfff7da, 0xf8dfb0, 0xb4b08f, 0x4a4a26, 0x7a7f34, 0x8fb0b5, 0xfff0cf, 0x8a7f72},
		{0x7fb0c8, 0xf7dcae, 0xffefc9, 0xfff8e2, 0xf5ddb0, 0xa9b59a, 0x3f4d2c, 0x6f8a3c, 0x93b6b2, 0xfff1d4, 0x85826f},
	},
	"day": {
		{0x2b78c2, 0x7fc1ea, 0xdff2f6, 0xfffdf0, 0xd3eaf1, 0x8db4c9, 0x1f5a3d, 0x4a9c58, 0x2f86b5, 0xffffff, 0x9db4c6},
		{0x3490bd, 0x9fdae2, 0xf5f3df, 0xfffdf0, 0xe6f0e2, 0x9cc2b8, 0x2a6540, 0x66ad55, 0x36a0b0, 0xfffef6, 0xa2bdbd},
		{0x3f7fd0, 0x8fc7f2, 0xeaf4f4, 0xfffdf0, 0xdcecf2, 0x94b3d4, 0x235246, 0x4f9a6c, 0x3a84c4, 0xffffff, 0xa3b5d0},
	},
	"dusk": {
		{0x131a42, 0x4d437f, 0xe58f8c, 0xffe3c0, 0xb7788c, 0x4a4577, 0x0e1229, 0x24304a, 0x544a7c, 0xd0a8b4, 0x3a3c68},
		{0x10233f, 0x3a5a86, 0xf0a98a, 0xffe6c6, 0xa08596, 0x3f5277, 0x0c1826, 0x20384a, 0x4d5f85, 0xc9b0b4, 0x33466a},
	},
	"night": {
		{0x050a20, 0x10254c, 0x2f5480, 0xf6f1dc, 0x2a4a74, 0x1c3358, 0x060c1a, 0x12263a, 0x15305a, 0x7f97c4, 0x1d2f52},
		{0x0a0820, 0x21184f, 0x4b3f86, 0xf3ecdf, 0x3d3a76, 0x2a2558, 0x080618, 0x1b1d3d, 0x241f56, 0x9390cc, 0x241f4c},
		{0x03121c, 0x0c3040, 0x2c6670, 0xf2f3df, 0x25535f, 0x163c4a, 0x040f14, 0x0e2c30, 0x0f3a48, 0x86b0b8, 0x163642},
	},
	"storm": {
		{0x1b232c, 0x3f4c57, 0x93a09f, 0xe6ebe2, 0x7f8d90, 0x4f5f68, 0x111c22, 0x23383a, 0x38525c, 0xaab6ba, 0x3a4a54},
		{0x171d2e, 0x3a4160, 0x9a97a2, 0xe8e6e6, 0x7e7f92, 0x4d5270, 0x10131f, 0x272f42, 0x39456a, 0xa8abbd, 0x383e58},
	},
	"fog": {
		{0x9fb3bd, 0xc3d0d2, 0xe6e6dd, 0xfffaf0, 0xdfe3de, 0xaebcc0, 0x3a4c50, 0x5f7a70, 0x9bb2b8, 0xf0f2ee, 0x93a3a8},
		{0xa9adbd, 0xccccd4, 0xebe5dd, 0xfffaf0, 0xe3dfdc, 0xb5b8c4, 0x43475a, 0x6c7683, 0xa7adbb, 0xf2efee, 0x9c9eac},
	},
}

// timeOf chooses the light that the words ask for.
func timeOf(b brief, r *rand.Rand) string {
	order := []string{"night", "storm", "sunset", "sunrise", "dusk", "golden", "fog", "day"}
	if b.tag("lightning") || b.tag("rain") {
		return "storm"
	}
	for _, t := range order {
		if b.tag(t) {
			return t
		}
	}
	switch {
	case b.tag("snow") || b.has(mIce):
		return []string{"day", "sunrise"}[r.IntN(2)]
	case b.tag("autumn") || b.has(mDesert) || b.tag("warm"):
		return "golden"
	case b.has(mStar, mMoon, mSpace, mAurora):
		return "night"
	case b.has(mFactory) && !b.has(mEco, mTurbine, mSolar):
		return []string{"sunset", "fog", "dusk"}[r.IntN(3)]
	}
	return []string{"day", "day", "golden", "sunrise", "sunset"}[r.IntN(5)]
}

func newPalette(b brief, r *rand.Rand) palette {
	t := timeOf(b, r)
	set := skies[t]
	v := set[r.IntN(len(set))]
	p := palette{
		time: t, top: hex(v[0]), mid: hex(v[1]), low: hex(v[2]), sun: hex(v[3]), haze: hex(v[4]), far: hex(v[5]), near: hex(v[6]),
		foliage: hex(v[7]), water: hex(v[8]), light: hex(v[9]), shade: hex(v[10]), lamp: hex(0xffd27a), accent: hex(0xf2643d), accent2: hex(0x2fb5a5), paper: hex(0xf4ecdd),
	}
	p.night = map[string]float64{"night": 1, "dusk": 0.9, "storm": 0.35, "sunset": 0.3}[t]
	p.foliage2 = p.foliage.tone(0.06, 1.1, 0.35)
	p.season(b)
	p.words(b)
	jitter := (r.Float64() - 0.5) * 0.16
	p.each(func(c rgba) rgba { return c.tone(0, 1, jitter) })
	return p
}

func (p *palette) season(b brief) {
	switch {
	case b.tag("autumn"):
		p.foliage, p.foliage2 = p.foliage.towards(hex(0xc8642a), 0.9), p.foliage.towards(hex(0xd9a02b), 0.9).tone(0.08, 1.2, 0)
	case b.tag("spring"):
		p.foliage2 = p.foliage.towards(hex(0xf3a7c0), 0.8).tone(0.2, 1, 0)
	case b.tag("snow") || b.has(mIce):
		white := hex(0xeef4fa).under(p.light)
		p.far = p.far.mix(white, 0.45)
		p.foliage = p.foliage.mix(hex(0x2d4a55), 0.5)
	case b.has(mDesert):
		sand := hex(0xe0a15e).under(p.light)
		p.far, p.near = p.far.mix(sand, 0.55), p.near.mix(hex(0x9a4f2c).under(p.light), 0.6)
	}
}

// words bends the palette towards the colours and moods that the prompt names.
func (p *palette) words(b brief) {
	if len(b.hues) > 0 {
		h := b.hues[0]
		p.each(func(c rgba) rgba { return c.towards(h, 0.35) })
		p.accent = h
		if len(b.hues) > 1 {
			p.accent2 = b.hues[1]
			p.top, p.near, p.far = p.top.towards(b.hues[1], 0.5), p.near.towards(b.hues[1], 0.5), p.far.towards(b.hues[1], 0.4)
		}
	}
	switch {
	case b.tag("mono"):
		p.each(func(c rgba) rgba { return c.tone(0, 0.04, 0) })
		p.lamp, p.accent, p.accent2 = p.lamp.tone(0, 0, 0), p.accent.tone(0, 0, 0), p.accent2.tone(0, 0, 0)
	case b.tag("sepia"):
		p.each(func(c rgba) rgba { return c.towards(hex(0xb98a56), 0.7) })
	case b.tag("pastel"):
		p.each(func(c rgba) rgba { return c.mix(hex(0xfbf3ee), 0.28) })
	case b.tag("vivid"):
		p.each(func(c rgba) rgba { return c.tone(0, 1.35, 0) })
	}
	if b.tag("warm") {
		k := 0.22 * (1 - 0.8*p.night)
		p.each(func(c rgba) rgba { return c.towards(hex(0xf0a060), k) })
	}
	if b.tag("cool") {
		p.each(func(c rgba) rgba { return c.towards(hex(0x5f9fd8), 0.25) })
	}
}

// each changes every colour of the light.
func (p *palette) each(f func(rgba) rgba) {
	for _, c := range []*rgba{&p.top, &p.mid, &p.low, &p.haze, &p.far, &p.near, &p.foliage, &p.foliage2, &p.water, &p.light, &p.shade} {
		*c = f(*c)
	}
}
