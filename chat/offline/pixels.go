package offline

import (
	"image"
	"image/color"
	"math"
)

// grid is the number of sample points along each side of a picture.
const grid = 96

// cells is the side of the brightness raster that likeness is computed from.
const cells = 12

// pixels holds what is measured from the pixels of a picture.
type pixels struct {
	// shares are the fractions of the visible area by colour name, 0 to 1; means are their mean colours.
	shares map[string]float64
	means  map[string][3]float64
	// light is the mean brightness and contrast its standard deviation, 0 to 1.
	light, contrast float64
	// clear is the transparent fraction.
	clear float64
	// raster is the mean brightness of cells × cells fields.
	raster [cells * cells]float64
}

func measure(img image.Image) pixels {
	s := pixels{shares: map[string]float64{}, means: map[string][3]float64{}}
	b := img.Bounds()
	var sum, squares, seen float64
	var filled [cells * cells]float64
	for gy := range grid {
		for gx := range grid {
			x, y := b.Min.X+gx*b.Dx()/grid, b.Min.Y+gy*b.Dy()/grid
			c, _ := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			if c.A < 32 {
				s.clear++
				continue
			}
			rgb := [3]float64{float64(c.R) / 255, float64(c.G) / 255, float64(c.B) / 255}
			light := 0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2]
			sum, squares, seen = sum+light, squares+light*light, seen+1
			name := colourName(rgb)
			m := s.means[name]
			for i := range m {
				m[i] += rgb[i]
			}
			s.means[name] = m
			s.shares[name]++
			cell := gy*cells/grid*cells + gx*cells/grid
			s.raster[cell] += light
			filled[cell]++
		}
	}
	s.clear /= grid * grid
	if seen == 0 {
		return s
	}
	s.light = sum / seen
	s.contrast = math.Sqrt(max(0, squares/seen-s.light*s.light))
	for name, n := range s.shares {
		m := s.means[name]
		for i := range m {
			m[i] /= n
		}
		s.means[name], s.shares[name] = m, n/seen
	}
	for i, n := range filled {
		if n > 0 {
			s.raster[i] /= n
		}
	}
	return s
}

func colourName(rgb [3]float64) string {
	high, low := max(rgb[0], rgb[1], rgb[2]), min(rgb[0], rgb[1], rgb[2])
	span := high - low
	switch {
	case high < 0.12:
		return "black"
	case span < 0.09 && high > 0.92:
		return "white"
	case span < 0.09 || span/high < 0.12:
		return "grey"
	}
	var hue float64
	switch high {
	case rgb[0]:
		hue = math.Mod((rgb[1]-rgb[2])/span+6, 6)
	case rgb[1]:
		hue = (rgb[2]-rgb[0])/span + 2
	default:
		hue = (rgb[0]-rgb[1])/span + 4
	}
	name := graded(hue*60, hues)
	if (name == "orange" || name == "red") && high < 0.62 && span/high < 0.85 && hue < 1 {
		return "brown"
	}
	return name
}

// grade is a word for numbers below a bound.
type grade struct {
	below float64
	word  string
}

// graded returns the word for a number. The grades are in ascending order, and the last has no bound.
func graded(v float64, grades []grade) string {
	for _, g := range grades[:len(grades)-1] {
		if v < g.below {
			return g.word
		}
	}
	return grades[len(grades)-1].word
}

var (
	lights     = []grade{{0.2, "very dark"}, {0.4, "dark"}, {0.6, "of medium brightness"}, {0.8, "bright"}, {1, "very bright"}}
	contrasts  = []grade{{0.06, "hardly any"}, {0.15, "little"}, {0.25, "medium"}, {1, "strong"}}
	likenesses = []grade{{0.5, "different"}, {0.75, "somewhat alike"}, {0.97, "alike"}, {1, "nearly the same"}}
	// hues are colour names by the end of their sector of the colour circle, in degrees.
	hues = []grade{{14, "red"}, {42, "orange"}, {68, "yellow"}, {160, "green"}, {200, "turquoise"}, {258, "blue"}, {292, "violet"}, {342, "pink"}, {360, "red"}}
)

// like returns the likeness of two pictures, 0 to 1: half from the arrangement of light and
// dark, half from their colours.
func (s pixels) like(t pixels) float64 {
	var colours float64
	for name, share := range s.shares {
		colours += min(share, t.shares[name])
	}
	var difference float64
	for i := range s.raster {
		difference += math.Abs(s.raster[i] - t.raster[i])
	}
	light := max(0, 1-4*difference/float64(len(s.raster)))
	return (colours + light) / 2
}
