package offline

import (
	"cmp"
	"math"
	"math/rand/v2"
	"strings"
)

// rgba is a colour in linear light; a is opacity, and the other fields are not premultiplied.
type rgba struct{ r, g, b, a float32 }

// hex returns the sRGB colour 0xRRGGBB.
func hex(v uint32) rgba {
	f := func(s uint) float32 {
		c := float64(v>>s&255) / 255
		if c <= 0.04045 {
			return float32(c / 12.92)
		}
		return float32(math.Pow((c+0.055)/1.055, 2.4))
	}
	return rgba{f(16), f(8), f(0), 1}
}

func (c rgba) alpha(a float64) rgba { c.a = float32(a); return c }

// times multiplies the light and keeps the opacity.
func (c rgba) times(k float64) rgba { return c.under(rgba{float32(k), float32(k), float32(k), 1}) }

// under returns the colour as seen in the given light.
func (c rgba) under(light rgba) rgba { return rgba{c.r * light.r, c.g * light.g, c.b * light.b, c.a} }

// fade mixes in linear light: it is cheap enough for use per pixel.
func (c rgba) fade(d rgba, t float64) rgba {
	f := float32(min(1, max(0, t)))
	return rgba{c.r + (d.r-c.r)*f, c.g + (d.g-c.g)*f, c.b + (d.b-c.b)*f, c.a + (d.a-c.a)*f}
}

// lab is OKLab (Björn Ottosson, 2020): lightness and two colour axes.
type lab struct{ l, a, b float64 }

func (c rgba) lab() lab {
	r, g, b := float64(c.r), float64(c.g), float64(c.b)
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	return lab{
		0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}

func (q lab) rgba(a float32) rgba {
	l := q.l + 0.3963377774*q.a + 0.2158037573*q.b
	m := q.l - 0.1055613458*q.a - 0.0638541728*q.b
	s := q.l - 0.0894841775*q.a - 1.2914855480*q.b
	l, m, s = l*l*l, m*m*m, s*s*s
	return rgba{
		float32(max(0, 4.0767416621*l-3.3077115913*m+0.2309699292*s)),
		float32(max(0, -1.2684380046*l+2.6097574011*m-0.3413193965*s)),
		float32(max(0, -0.0041960863*l-0.7034186147*m+1.7076147010*s)), a,
	}
}

// mix mixes two colours perceptually.
func (c rgba) mix(d rgba, t float64) rgba {
	t = min(1, max(0, t))
	p, q := c.lab(), d.lab()
	return lab{p.l + (q.l-p.l)*t, p.a + (q.a-p.a)*t, p.b + (q.b-p.b)*t}.rgba(c.a + (d.a-c.a)*float32(t))
}

// turned multiplies chroma by k and rotates hue by dh radians.
func (q lab) turned(k, dh float64) lab {
	sin, cos := math.Sincos(dh)
	return lab{q.l, k * (q.a*cos - q.b*sin), k * (q.a*sin + q.b*cos)}
}

// tone shifts lightness by dl, multiplies chroma by kc and rotates hue by dh radians.
func (c rgba) tone(dl, kc, dh float64) rgba {
	q := c.lab().turned(kc, dh)
	q.l = min(1.1, max(0, q.l+dl))
	return q.rgba(c.a)
}

// towards moves hue and chroma towards those of d and keeps the lightness.
func (c rgba) towards(d rgba, t float64) rgba {
	p, q := c.lab(), d.lab()
	return lab{p.l, p.a + (q.a-p.a)*t, p.b + (q.b-p.b)*t}.rgba(c.a)
}

// ramp is a precomputed gradient for use per pixel.
type ramp [256]rgba

// newRamp returns a gradient of evenly spaced colours.
func newRamp(c ...rgba) *ramp {
	var r ramp
	for i := range r {
		f := float64(i) / 255 * float64(len(c)-1)
		k := min(int(f), max(0, len(c)-2))
		r[i] = c[k].mix(c[min(k+1, len(c)-1)], f-float64(k))
	}
	return &r
}

// at returns the colour at t, 0 to 1, and the nearer end for other values; NaN returns the first.
func (r *ramp) at(t float64) rgba {
	if t > 0 {
		return r[int(min(1, t)*255)]
	}
	return r[0]
}

// across returns a gradient from a to b.
func across(a, b pt, c ...rgba) paint {
	r := newRamp(c...)
	dx, dy := b.x-a.x, b.y-a.y
	n := dx*dx + dy*dy + 1e-9
	return func(x, y float64) rgba { return r.at(((x-a.x)*dx + (y-a.y)*dy) / n) }
}

// palette holds the light of a scene and the colours of what it lights.
type palette struct {
	hour
	time                     string
	top, mid, low            rgba // sky, down to the horizon
	sun, haze                rgba
	far, near                rgba // distant and near land
	foliage, foliage2, water rgba
	light, shade             rgba // a white wall in this light, and in its shade
	lamp                     rgba
}

// hour is what the time of day does to the sun or the moon.
type hour struct {
	night   float64 // 0 by day, 1 when windows are lit
	sunUp   float64 // height above the horizon
	glitter float64 // light on water; 0 if the sun is not seen
	halo    float64 // light in the sky
}

// skies are the times of day and weathers: palettes picked by hand, of top, mid, low, sun, haze, far, near, foliage,
// water, light, shade.
var skies = map[string]struct {
	hour
	palettes [][11]uint32
}{
	"sunrise": {hour{0, 0.05, 1, 0.21}, [][11]uint32{
		{0x3f5f94, 0xe39aa0, 0xffd9a3, 0xfff4d8, 0xfccfae, 0x8f86b0, 0x24384a, 0x3c6153, 0x6f86a8, 0xffe3c4, 0x6d6f95}, {0x5c86b8, 0xf4bda4, 0xffe7b5, 0xfff8e0, 0xfbdcb8, 0x9aa6c4, 0x2d4a4a, 0x4f7a55, 0x86a3b8, 0xffecd0, 0x7b82a0},
	}},
	"sunset": {hour{0.3, 0.05, 1, 0.21}, [][11]uint32{
		{0x2b2a5c, 0xb9456f, 0xff9c50, 0xfff0c4, 0xfa9b6e, 0x7a4672, 0x1c1634, 0x3a3350, 0x8a4a6a, 0xffc79a, 0x4d3a66}, {0x24496e, 0xe8705a, 0xffc86e, 0xfff3cb, 0xf6a475, 0x6f5f80, 0x182a3c, 0x34484a, 0x9b6a6a, 0xffd2a4, 0x4b4c6c},
	}},
	"golden": {hour{0, 0.2, 1, 0.21}, [][11]uint32{
		{0x6b9cc6, 0xf2d3a0, 0xffeec2, 0xfff7da, 0xf8dfb0, 0xb4b08f, 0x4a4a26, 0x7a7f34, 0x8fb0b5, 0xfff0cf, 0x8a7f72}, {0x7fb0c8, 0xf7dcae, 0xffefc9, 0xfff8e2, 0xf5ddb0, 0xa9b59a, 0x3f4d2c, 0x6f8a3c, 0x93b6b2, 0xfff1d4, 0x85826f},
	}},
	"day": {hour{0, 0.34, 0.55, 0.12}, [][11]uint32{
		{0x2b78c2, 0x7fc1ea, 0xdff2f6, 0xfffdf0, 0xd3eaf1, 0x8db4c9, 0x1f5a3d, 0x4a9c58, 0x2f86b5, 0xffffff, 0x9db4c6}, {0x3490bd, 0x9fdae2, 0xf5f3df, 0xfffdf0, 0xe6f0e2, 0x9cc2b8, 0x2a6540, 0x66ad55, 0x36a0b0, 0xfffef6, 0xa2bdbd},
	}},
	"dusk": {hour{0.9, -0.06, 0, 0.21}, [][11]uint32{{0x131a42, 0x4d437f, 0xe58f8c, 0xffe3c0, 0xb7788c, 0x4a4577, 0x0e1229, 0x24304a, 0x544a7c, 0xd0a8b4, 0x3a3c68}}},
	"night": {hour{1, 0.34, 1, 0}, [][11]uint32{
		{0x050a20, 0x10254c, 0x2f5480, 0xf6f1dc, 0x2a4a74, 0x1c3358, 0x060c1a, 0x12263a, 0x15305a, 0x7f97c4, 0x1d2f52}, {0x03121c, 0x0c3040, 0x2c6670, 0xf2f3df, 0x25535f, 0x163c4a, 0x040f14, 0x0e2c30, 0x0f3a48, 0x86b0b8, 0x163642},
	}},
	"storm": {hour{0.35, 0.34, 0, 0.05}, [][11]uint32{{0x1b232c, 0x3f4c57, 0x93a09f, 0xe6ebe2, 0x7f8d90, 0x4f5f68, 0x111c22, 0x23383a, 0x38525c, 0xaab6ba, 0x3a4a54}}},
	"fog": {hour{0, 0.34, 0.1, 0.11}, [][11]uint32{
		{0x9fb3bd, 0xc3d0d2, 0xe6e6dd, 0xfffaf0, 0xdfe3de, 0xaebcc0, 0x3a4c50, 0x5f7a70, 0x9bb2b8, 0xf0f2ee, 0x93a3a8}, {0xa9adbd, 0xccccd4, 0xebe5dd, 0xfffaf0, 0xe3dfdc, 0xb5b8c4, 0x43475a, 0x6c7683, 0xa7adbb, 0xf2efee, 0x9c9eac},
	}},
}

// light returns the time of day, or the weather, of the first of these things and tags that the words name.
func (b *wish) light(r *rand.Rand) string {
	instead := map[string]string{"rain": "storm", "star": "night", "moon": "night", "snow": "day", "autumn": "golden"}
	for t := range strings.FieldsSeq("storm night sunset sunrise dusk golden rain fog day star moon snow autumn") {
		if b.tags[t] || b.has(t) {
			return cmp.Or(instead[t], t)
		}
	}
	return []string{"day", "day", "golden", "sunrise", "sunset"}[r.IntN(5)]
}

func newPalette(b *wish, r *rand.Rand) palette {
	p := palette{time: b.light(r), lamp: hex(0xffd27a)}
	sky := skies[p.time]
	v := sky.palettes[r.IntN(len(sky.palettes))]
	p.hour = sky.hour
	for i, c := range p.all()[:len(v)] {
		*c = hex(v[i])
	}
	p.foliage2 = p.foliage.tone(0.06, 1.1, 0.35)
	switch {
	case b.tags["autumn"]:
		p.foliage, p.foliage2 = p.foliage.towards(hex(0xc8642a), 0.9), p.foliage.towards(hex(0xd9a02b), 0.9).tone(0.08, 1.2, 0)
	case b.tags["spring"]:
		p.foliage2 = p.foliage.towards(hex(0xf3a7c0), 0.8).tone(0.2, 1, 0)
	case b.tags["snow"]:
		p.far, p.foliage = p.far.mix(hex(0xeef4fa).under(p.light), 0.45), p.foliage.mix(hex(0x2d4a55), 0.5)
	}
	turn := (r.Float64() - 0.5) * 0.16
	for _, c := range p.all() {
		if p.time == "storm" && b.tags["night"] {
			*c = c.mix(hex(0x060c1a), 0.55)
		}
		for i, h := range b.hues {
			*c = c.towards(h, 0.35/float64(i+1))
		}
		*c = c.tone(0, 1, turn)
	}
	return p
}

func (p *palette) all() []*rgba {
	return []*rgba{&p.top, &p.mid, &p.low, &p.sun, &p.haze, &p.far, &p.near, &p.foliage, &p.water, &p.light, &p.shade, &p.foliage2}
}
