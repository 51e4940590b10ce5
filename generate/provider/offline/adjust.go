package offline

import (
	"image"
	"maps"
	"math"
	"slices"
)

// adjustment is the effect of words like "bluer" or "black and white" on pixels.
type adjustment struct {
	exposure   float64 // in stops
	contrast   float64 // 0 keeps it, 1 doubles it
	saturation float64 // -1 is grey
	warmth     float64
	hue        float64 // radians
	tint       rgba    // its a is the strength
	invert     bool
	mirror     bool
	upside     bool
	blur       float64 // fraction of the longer side
}

// effects are the effects of words for light, mood and finish on an existing picture, by their names in vocabulary.txt.
var effects = map[string]adjustment{
	"sunrise": {warmth: 0.25, tint: hex(0xffb347).alpha(0.3)}, "sunset": {warmth: 0.25, exposure: -0.15, tint: hex(0xff9a50).alpha(0.35)},
	"golden": {warmth: 0.25, tint: hex(0xffb347).alpha(0.3)}, "autumn": {warmth: 0.25, tint: hex(0xd98a3c).alpha(0.3)},
	"dusk": {exposure: -0.8, tint: hex(0x5a4a8a).alpha(0.4)}, "night": {exposure: -1.7, tint: hex(0x1d3a78).alpha(0.45)},
	"day": {exposure: 0.6}, "bright": {exposure: 0.7}, "dark": {exposure: -0.9},
	"warm": {warmth: 0.25}, "cool": {warmth: -0.25}, "snow": {warmth: -0.2, exposure: 0.35, saturation: -0.45},
	"storm": {exposure: -0.7, saturation: -0.5, warmth: -0.1, contrast: 0.2}, "gloomy": {exposure: -0.7, saturation: -0.5, warmth: -0.1, contrast: 0.2},
	"fog": {exposure: 0.5, contrast: -0.55, saturation: -0.4}, "dramatic": {contrast: 0.5},
	"pastel": {contrast: -0.35, exposure: 0.15, saturation: -0.35}, "vivid": {saturation: 0.7}, "mono": {saturation: -1},
	"sepia": {saturation: -1, tint: hex(0xa8814f).alpha(0.7)}, "invert": {invert: true}, "blur": {blur: 0.012},
	"mirror": {mirror: true}, "upside": {upside: true},
}

// adjustment returns the sum of an edit's effects; found is false if it has none on the existing picture.
func (b *wording) adjustment() (sum adjustment, found bool) {
	var all []adjustment
	for _, name := range slices.Sorted(maps.Keys(effects)) {
		if b.tags[name] || b.edits[name] {
			all = append(all, effects[name])
		}
	}
	for _, h := range b.hues {
		all = append(all, adjustment{tint: h.alpha(0.55)})
	}
	for _, e := range all {
		sum.exposure += e.exposure
		sum.contrast += e.contrast
		sum.saturation += e.saturation
		sum.warmth += e.warmth
		sum.blur += e.blur
		sum.invert, sum.mirror, sum.upside = sum.invert || e.invert, sum.mirror || e.mirror, sum.upside || e.upside
		if e.tint.a > 0 {
			if sum.tint.a > 0 {
				e.tint = sum.tint.mix(e.tint, 0.5)
			}
			sum.tint = e.tint
		}
	}
	return sum, len(all) > 0
}

// apply returns an adjusted copy. Opacity is kept.
func (a adjustment) apply(src *image.NRGBA) *image.NRGBA {
	out := image.NewNRGBA(src.Rect)
	gain := float32(math.Exp2(a.exposure))
	w, h := src.Rect.Dx(), src.Rect.Dy()
	for y := range h {
		for x := range w {
			sx, sy := x, y
			if a.mirror {
				sx = w - 1 - x
			}
			if a.upside {
				sx, sy = w-1-sx, h-1-y
			}
			i, o := src.PixOffset(sx, sy), out.PixOffset(x, y)
			store(out.Pix[o:], a.colour(linearAt(src.Pix[i:]), gain))
			out.Pix[o+3] = src.Pix[i+3]
		}
	}
	if a.blur > 0 { // scaled down and up again
		radius := max(2, int(a.blur*float64(max(w, h))))
		return crop(crop(out, max(1, w/radius), max(1, h/radius), view{1, 0.5, 0.5}), w, h, view{1, 0.5, 0.5})
	}
	return out
}

func (a adjustment) colour(c rgba, gain float32) rgba {
	if a.invert {
		c = rgba{1 - c.r, 1 - c.g, 1 - c.b, 1}
	}
	c.r *= gain * float32(1+a.warmth)
	c.g *= gain
	c.b *= gain * float32(1-a.warmth)
	c.r, c.g, c.b = min(1, c.r), min(1, c.g), min(1, c.b)
	q := c.lab()
	k := max(0, 1+a.saturation)
	sin, cos := math.Sincos(a.hue)
	q = lab{0.5 + (q.l-0.5)*max(0.1, 1+a.contrast), k * (q.a*cos - q.b*sin), k * (q.a*sin + q.b*cos)}
	if a.tint.a > 0 {
		t, s := a.tint.lab(), float64(a.tint.a)
		q.a, q.b = q.a+(t.a-q.a)*s, q.b+(t.b-q.b)*s
		q.l += (t.l - q.l) * s * 0.25
	}
	return q.rgba(1)
}

// linear maps sRGB code values to linear light. It is read-only.
var linear = func() (t [256]float32) {
	for i := range t {
		t[i] = hex(uint32(i)).b
	}
	return t
}()

func linearAt(p []uint8) rgba { return rgba{linear[p[0]], linear[p[1]], linear[p[2]], 1} }

func store(p []uint8, c rgba) { p[0], p[1], p[2] = code(c.r), code(c.g), code(c.b) }

// codes maps the square root of light, which is denser in the dark, to sRGB code values. It is read-only.
var codes = func() (t [4097]float64) {
	for i := range t {
		v := float64(i) / 4096
		if v *= v; v <= 0.0031308 {
			t[i] = 255 * 12.92 * v
		} else {
			t[i] = 255 * (1.055*math.Pow(v, 1/2.4) - 0.055)
		}
	}
	return t
}()

// code converts light to an sRGB code value.
func code(v float32) uint8 { return byteOf(codes[int(math.Sqrt(float64(min(1, max(0, v))))*4096+0.5)]) }
