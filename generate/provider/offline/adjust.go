package offline

import (
	"image"
	"maps"
	"math"
	"runtime"
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
	mirror     bool
}

// effects are the effects of words for light, mood and finish on an existing picture, by their names in vocabulary.txt.
var effects = map[string]adjustment{
	"sunrise": {warmth: 0.25, tint: hex(0xffb347).alpha(0.3)}, "sunset": {warmth: 0.25, exposure: -0.15, tint: hex(0xff9a50).alpha(0.35)},
	"golden": {warmth: 0.25, tint: hex(0xffb347).alpha(0.3)}, "autumn": {warmth: 0.25, tint: hex(0xd98a3c).alpha(0.3)},
	"dusk": {exposure: -0.8, tint: hex(0x5a4a8a).alpha(0.4)}, "night": {exposure: -1.7, tint: hex(0x1d3a78).alpha(0.45)},
	"day": {exposure: 0.6}, "bright": {exposure: 0.7}, "dark": {exposure: -0.9},
	"warm": {warmth: 0.25}, "cool": {warmth: -0.25}, "snow": {warmth: -0.2, exposure: 0.35, saturation: -0.45},
	"storm": {exposure: -0.7, saturation: -0.5, warmth: -0.1, contrast: 0.2}, "fog": {exposure: 0.5, contrast: -0.55, saturation: -0.4},
	"dramatic": {contrast: 0.5}, "pastel": {contrast: -0.2, exposure: 0.35, saturation: -0.3}, "vivid": {saturation: 0.7}, "mono": {saturation: -1},
	"sepia": {saturation: -1, tint: hex(0xa8814f).alpha(0.7)}, "mirror": {mirror: true},
}

// finishes are the effects that also finish a drawing; the others decide how it is drawn.
const finishes = "bright dark warm cool dramatic pastel vivid mono sepia"

// adjustments returns the effects of an edit, or of the finish of a drawing, in a fixed order.
func (b *wish) adjustments(edit bool) (all []adjustment) {
	for _, name := range slices.Sorted(maps.Keys(effects)) {
		if b.tags[name] && (edit || among(finishes, name)) {
			all = append(all, effects[name])
		}
	}
	for _, h := range b.hues[:len(b.hues)*btoi(edit)] { // a drawing has them in its palette
		all = append(all, adjustment{tint: h.alpha(0.55)})
	}
	return all
}

// adjust applies them.
func (b *wish) adjust(img *image.NRGBA, edit bool) *image.NRGBA {
	for _, a := range b.adjustments(edit) {
		img = a.apply(img)
	}
	return img
}

// apply returns an adjusted copy. Opacity is kept.
func (a adjustment) apply(src *image.NRGBA) *image.NRGBA {
	out, gain := image.NewNRGBA(src.Rect), float32(math.Exp2(a.exposure))
	for y := range src.Rect.Dy() {
		for x := range src.Rect.Dx() {
			i, o := src.PixOffset(x, y), out.PixOffset(x, y)
			if a.mirror {
				o = out.PixOffset(src.Rect.Dx()-1-x, y)
			}
			p := src.Pix[i : i+4 : i+4]
			c := a.colour(rgba{linear[p[0]], linear[p[1]], linear[p[2]], 1}, gain)
			out.Pix[o], out.Pix[o+1], out.Pix[o+2], out.Pix[o+3] = code(c.r, 0), code(c.g, 0), code(c.b, 0), p[3]
		}
		runtime.Gosched()
	}
	return out
}

func (a adjustment) colour(c rgba, gain float32) rgba {
	c = rgba{min(1, c.r*gain*float32(1+a.warmth)), min(1, c.g*gain), min(1, c.b*gain*float32(1-a.warmth)), 1}
	q := c.lab().turned(max(0, 1+a.saturation), a.hue)
	q.l = 0.5 + (q.l-0.5)*(1+a.contrast)
	if a.tint.a > 0 {
		t, s := a.tint.lab(), float64(a.tint.a)
		q = lab{lerp(q.l, t.l, s*0.25), lerp(q.a, t.a, s), lerp(q.b, t.b, s)}
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

// code converts light to an sRGB code value, plus grain.
func code(v float32, grain float64) uint8 {
	return uint8(min(255, max(0, codes[int(math.Sqrt(float64(min(1, max(0, v))))*4096+0.5)]+grain+0.5)))
}
