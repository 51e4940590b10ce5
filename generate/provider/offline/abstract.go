package offline

import (
	"math"
	"slices"
)

// pattern draws a picture without a place.
type pattern struct{ *stage }

// hues returns n harmonious colours, those that the prompt names first.
func (s pattern) hues(n int) []rgba {
	sets := [][]uint32{
		{0x12355b, 0x1f7a8c, 0xf2c14e, 0xf78154, 0xb4436c, 0xf4e8d0},
		{0x0b3954, 0x087e8b, 0xbfd7ea, 0xff5a5f, 0xf6ae2d, 0xfdf3e4},
		{0x264653, 0x2a9d8f, 0xe9c46a, 0xf4a261, 0xe76f51, 0xfaf0dc},
		{0x3d2c8d, 0x916bbf, 0xf2a1c4, 0xffc97f, 0x4fb8c9, 0xf8edf4},
	}
	set := sets[s.rnd.IntN(len(sets))]
	out := slices.Clone(s.b.hues)
	for _, h := range s.b.hues {
		out = append(out, h.tone(0.17, 0.75, 0.12), h.tone(-0.17, 1, -0.15), h.tone(0.08, 1.1, 0.35))
	}
	for len(out) < n {
		c := hex(set[len(out)%len(set)])
		if len(s.b.hues) > 0 {
			c = c.towards(s.b.hues[0], 0.6)
		}
		out = append(out, c)
	}
	for i, c := range out {
		out[i] = s.b.finish(c)
	}
	return out[:n]
}

// ribbons draws sheets of light that flow across the picture.
func (s pattern) ribbons() {
	h := s.hues(5)
	dark := h[0].mix(hex(0x0a0e20), 0.72)
	s.fill(rect(0, 0, s.W, s.H), across(pt{0, 0}, pt{s.W * 0.4, s.H}, dark, dark.mix(h[1], 0.32)))
	s.glow(s.focus, s.H*0.45, s.S*0.75, h[1].alpha(0.28))
	ox := s.rnd.Float64() * 20
	for i := range 46 {
		t := float64(i) / 45
		var q []pt
		for k := range 70 {
			u := float64(k) / 69
			wave := s.n.at(u*1.7+ox, t*1.3) + 0.35*s.n.at(u*3.9+ox, t*2.2+7)
			pinch := 0.2 + 0.8*math.Pow(math.Abs(u-0.5-0.16*s.side)*1.7, 1.25)
			q = append(q, pt{lerp(-0.05, 1.05, u) * s.W, s.H*0.5 + (t-0.5)*s.S*0.85*pinch + wave*s.S*0.24})
		}
		c := h[1].mix(h[2], smooth(0, 0.5, t)).mix(h[3], smooth(0.4, 0.8, t)).mix(h[4], smooth(0.75, 1, t))
		w := s.S * s.between(0.008, 0.05)
		r := newRamp(c.tone(-0.1, 1, 0).alpha(0.05), c.alpha(0.62), c.tone(0.12, 1, 0.1).alpha(0.8), c.alpha(0.1))
		s.fill(ribbon(q, func(u float64) float64 { return w * (0.25 + math.Sin(math.Pi*u)) }), func(x, _ float64) rgba { return r.at(x/s.W + 0.06*s.n.at(x/s.S*3, t*9)) })
		s.flat(ribbon(q, func(float64) float64 { return s.S * 0.0013 }), c.tone(0.25, 0.8, 0).alpha(0.55))
	}
	for range 70 {
		s.glow(s.rnd.Float64()*s.W, s.H*0.5+s.rnd.NormFloat64()*s.S*0.22, s.S*s.between(0.003, 0.014), h[3].mix(h[2], s.rnd.Float64()).alpha(0.8))
	}
}

// tiles draws a grid of quarter circles, discs, stripes and triangles.
func (s pattern) tiles() {
	h := append(s.hues(5), hex(0xf5ecd9))
	size := max(s.W, s.H) / float64(4+s.rnd.IntN(3)) * (1 + 0.5*float64(btoi(s.b.tag("minimal"))))
	nx, ny := int(math.Ceil(s.W/size)), int(math.Ceil(s.H/size))
	ox, oy := (s.W-float64(nx)*size)/2, (s.H-float64(ny)*size)/2
	for i := range nx * ny {
		s.tile(ox+float64(i%nx)*size, oy+float64(i/nx)*size, size, h)
	}
}

func (s pattern) tile(x, y, w float64, h []rgba) {
	i := s.rnd.IntN(len(h))
	back, front, third := h[i], h[(i+1+s.rnd.IntN(len(h)-1))%len(h)], h[(i+2+s.rnd.IntN(len(h)-2))%len(h)]
	cell := func(p path, c rgba) {
		for _, poly := range p {
			for k, q := range poly {
				poly[k] = pt{min(x+w, max(x, q.x)), min(y+w, max(y, q.y))}
			}
		}
		s.fill(p, across(pt{x, y}, pt{x + w, y + w}, c.tone(0.03, 1, 0), c.tone(-0.03, 1, 0)))
	}
	cell(rect(x, y, w, w), back)
	cx, cy := x+w*float64(s.rnd.IntN(2)), y+w*float64(s.rnd.IntN(2))
	switch s.rnd.IntN(4) {
	case 0:
		cell(circle(cx, cy, w), front)
		cell(circle(cx, cy, w*0.5), third)
	case 1:
		for k := range 4 {
			cell(rect(x, y+w*(float64(k)+0.25)/4, w, w/8), front)
		}
	case 2:
		cell(poly(pt{x, y + w}, pt{x + w, y + w}, pt{x + w, y}), front)
		cell(circle(x+w*0.27, y+w*0.27, w*0.14), third)
	default:
		cell(circle(x+w/2, y+w/2, w*0.36), front)
		cell(circle(x+w/2, y+w/2, w*0.16), third)
	}
}
