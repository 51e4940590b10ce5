package offline

import (
	"image"
	"math"
	"slices"
)

// adjustment is what words like "bluer" or "black and white" mean for pixels.
type adjustment struct {
	exposure   float64 // in stops
	contrast   float64 // 0 leaves it, 1 doubles it
	saturation float64 // -1 is grey
	warmth     float64
	hue        float64 // radians
	tint       rgba    // its a is how much
	invert     bool
	mirror     bool
	upside     bool
	blur       float64 // of the longer side
}

// effects are the adjustments by word.
func effects() map[string]adjustment {
	tint := func(c uint32) adjustment { return adjustment{tint: hex(c).alpha(0.55)} }
	m := map[string]adjustment{}
	for _, e := range []struct {
		words []string
		a     adjustment
	}{
		{[]string{"blue", "bluer", "bluish"}, tint(0x2f6fd0)},
		{[]string{"red", "redder", "reddish"}, tint(0xd0362f)},
		{[]string{"green", "greener", "greenish"}, tint(0x2f9d4a)},
		{[]string{"yellow", "yellower", "yellowish"}, tint(0xe6c229)},
		{[]string{"orange"}, tint(0xf08a24)},
		{[]string{"purple", "violet"}, tint(0x7a3fc0)},
		{[]string{"pink", "pinker"}, tint(0xf07ab0)},
		{[]string{"teal", "turquoise", "cyan"}, tint(0x1f9aa0)},
		{[]string{"golden", "gold", "sunset", "sunrise", "autumn"}, adjustment{warmth: 0.25, tint: hex(0xffb347).alpha(0.3)}},
		{[]string{"warm", "warmer"}, adjustment{warmth: 0.25}},
		{[]string{"cold", "colder", "cool", "cooler"}, adjustment{warmth: -0.25}},
		{[]string{"winter", "snow", "snowy", "icy"}, adjustment{warmth: -0.2, exposure: 0.35, saturation: -0.45}},
		{[]string{"dark", "darker", "dim", "dimmer"}, adjustment{exposure: -0.9}},
		{[]string{"night", "midnight"}, adjustment{exposure: -1.7, tint: hex(0x1d3a78).alpha(0.45)}},
		{[]string{"bright", "brighter", "light", "lighter"}, adjustment{exposure: 0.7}},
		{[]string{"stormy", "storm", "gloomy"}, adjustment{exposure: -0.7, saturation: -0.5, warmth: -0.1, contrast: 0.2}},
		{[]string{"foggy", "fog", "misty", "hazy"}, adjustment{exposure: 0.5, contrast: -0.55, saturation: -0.4}},
		{[]string{"contrast", "dramatic", "punchier"}, adjustment{contrast: 0.5}},
		{[]string{"soft", "softer", "faded", "pale", "paler"}, adjustment{contrast: -0.35, exposure: 0.15}},
		{[]string{"vivid", "colourful", "colorful", "saturated", "vibrant"}, adjustment{saturation: 0.7}},
		{[]string{"muted", "desaturated", "pastel", "duller"}, adjustment{saturation: -0.5}},
		{[]string{"monochrome", "grayscale", "greyscale", "grey", "gray"}, adjustment{saturation: -1}},
		{[]string{"sepia", "vintage", "antique"}, adjustment{saturation: -1, tint: hex(0xa8814f).alpha(0.7)}},
		{[]string{"invert", "inverted", "negative"}, adjustment{invert: true}},
		{[]string{"blur", "blurred", "blurry", "blurrier"}, adjustment{blur: 0.012}},
		{[]string{"mirror", "mirrored", "flip", "flipped"}, adjustment{mirror: true}},
		{[]string{"upside"}, adjustment{upside: true}},
	} {
		for _, w := range e.words {
			m[w] = e.a
		}
	}
	return m
}

// readAdjustment adds up what the words mean; false if none is known.
func readAdjustment(prompt string) (adjustment, bool) {
	var sum adjustment
	found := false
	table := effects()
	seen := map[adjustment]bool{}
	text := words(prompt)
	if hasWord(text, "black") && hasWord(text, "white") {
		text = append(text, "monochrome")
	}
	for _, w := range text {
		e, ok := table[w]
		if !ok || seen[e] {
			continue
		}
		seen[e], found = true, true
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
	return sum, found
}

// changesWhatIs tells words that ask for another look of what is there.
func changesWhatIs(prompt string) bool {
	return hasWord(words(prompt), "make", "turn", "more", "less", "change", "recolour", "recolor", "tint", "adjust")
}

// addsSomething tells words that ask for something new in the picture.
func addsSomething(prompt string) bool {
	return hasWord(words(prompt), "add", "insert", "put", "place", "include", "replace", "paint", "draw")
}

func hasWord(text []string, any ...string) bool {
	return slices.ContainsFunc(text, func(w string) bool { return slices.Contains(any, w) })
}

// apply makes an adjusted copy. Opacity stays.
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
			c := a.colour(linearAt(src.Pix[i:]), gain)
			store(out.Pix[o:], c)
			out.Pix[o+3] = src.Pix[i+3]
		}
	}
	if a.blur > 0 {
		blurred(out, max(1, int(a.blur*float64(max(w, h)))))
	}
	return out
}

// colour adjusts one colour in linear light.
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

// linear is sRGB code values as light. It does not change.
var linear = func() (t [256]float32) {
	for i := range t {
		t[i] = hex(uint32(i)).b
	}
	return t
}()

// linearAt reads a pixel's colour in linear light.
func linearAt(p []uint8) rgba { return rgba{linear[p[0]], linear[p[1]], linear[p[2]], 1} }

// store writes a colour to a pixel.
func store(p []uint8, c rgba) { p[0], p[1], p[2] = code(c.r), code(c.g), code(c.b) }

// codes are sRGB code values by the square root of light, which is denser in the dark.
// It does not change.
var codes = func() (t [4097]uint8) {
	for i := range t {
		v := float64(i) / 4096
		v *= v
		if v <= 0.0031308 {
			v *= 12.92
		} else {
			v = 1.055*math.Pow(v, 1/2.4) - 0.055
		}
		t[i] = uint8(v*255 + 0.5)
	}
	return t
}()

// code is light as an sRGB code value.
func code(v float32) uint8 {
	switch {
	case v <= 0:
		return 0
	case v >= 1:
		return 255
	}
	return codes[int(math.Sqrt(float64(v))*4096+0.5)]
}
