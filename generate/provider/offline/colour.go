package offline

import "math"

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
