package offline

import (
	"image"
	"math"
	"slices"
)

// finish converts light to pixels: highlights roll off softly, corners darken, and grain hides the steps of eight bits.
func (s *stage) finish() image.Image {
	img := image.NewRGBA(image.Rect(0, 0, s.w, s.h))
	if s.b.tag("watercolor") {
		s.washes()
	}
	grain, vignette := 1.3, 0.2
	switch {
	case s.b.tag("sepia"):
		grain = 6
	case s.b.tag("watercolor"):
		grain, vignette = 3, 0
	case s.b.tag("flat"), s.b.tag("minimal"):
		grain, vignette = 0.8, 0.06
	}
	state := s.rnd.Uint32() | 1
	mono := s.b.tag("mono")
	for y := range s.h {
		dy := (float64(y)/s.H - 0.5) * 2
		for x := range s.w {
			dx := (float64(x)/s.W - 0.5) * 2
			d := dx*dx + dy*dy
			v := float32(1 - vignette*d*d*0.25)
			state ^= state << 13
			state ^= state >> 17
			state ^= state << 5
			g := (float64(state&0xffff) + float64(state>>16) - 65535) / 65535 * grain
			o := (y*s.w + x) * 3
			r, gr, b := toneMap(s.pix[o]*v), toneMap(s.pix[o+1]*v), toneMap(s.pix[o+2]*v)
			if mono {
				r = 0.3*r + 0.59*gr + 0.11*b
				gr, b = r, r
			}
			i := y*img.Stride + x*4
			img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = byteOf(r+g), byteOf(gr+g), byteOf(b+g), 255
		}
		s.yieldAfterPixels(s.w)
	}
	return img
}

func byteOf(v float64) uint8 { return uint8(min(255, max(0, v+0.5))) }

// toneMap converts light to a code value from 0 to 255; highlights roll off softly.
func toneMap(v float32) float64 {
	if v > 0.7 {
		v = 0.7 + 0.3*float32(1-math.Exp(-float64(v-0.7)/0.3))
	}
	return codes[int(math.Sqrt(max(0, float64(v)))*4096+0.5)]
}

// washes makes colours run: it samples the picture at displaced places, gathers pigment by a slow noise, and shows
// paper at the edges.
func (s *stage) washes() {
	src := slices.Clone(s.pix)
	k := 1 / s.S
	paper := hex(0xfaf6ec)
	for y := range s.h {
		for x := range s.w {
			u, v := float64(x)*k, float64(y)*k
			wx, wy := s.n.at(u*22, v*22), s.n.at(u*22+40, v*22+9)
			sx := min(s.w-1, max(0, x+int(wx*s.S*0.011)))
			sy := min(s.h-1, max(0, y+int(wy*s.S*0.011)))
			pigment := 1 + 0.16*s.n.at(u*5, v*5) + 0.09*wx
			edge := min(u, v, s.W*k-u, s.H*k-v) + 0.022*s.n.at(u*9+3, v*9) + 0.008*wy
			white := 1 - smooth(0.012, 0.045, edge)
			o, p := (y*s.w+x)*3, (sy*s.w+sx)*3
			for c, pap := range []float32{paper.r, paper.g, paper.b} {
				q := float32(math.Pow(float64(src[p+c]), pigment))*0.93 + 0.06*pap
				s.pix[o+c] = q + (pap-q)*float32(white)
			}
		}
		s.yieldAfterPixels(s.w)
	}
}
