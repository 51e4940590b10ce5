package svg_test

import (
	"math"
	"testing"

	"atelier/draw/svg"
	"atelier/draw/svgtest"
)

func TestContrast(t *testing.T) {
	t.Parallel()
	for name, th := range map[string]svg.Theme{"light": svg.Light(), "dark": svg.Dark()} {
		for i, c := range th.Series {
			if r := svgtest.Contrast(c, th.Back); r < 4.5 {
				t.Errorf("%s series %d %s: contrast %.2f, want 4.5", name, i, c, r)
			}
		}
		for i, c := range th.Series {
			if r := svgtest.Contrast(th.Ink, th.Tint(i, 0.13)); r < 4.5 {
				t.Errorf("%s text on the tint of %s: contrast %.2f, want 4.5", name, c, r)
			}
			if r := svgtest.Contrast(c, th.Tint(i, 0.13)); r < 3 {
				t.Errorf("%s edge of the tint of %s: contrast %.2f, want 3", name, c, r)
			}
		}
		if r := svgtest.Contrast(th.Axis, th.Back); r < 3 {
			t.Errorf("%s frame: contrast %.2f, want 3", name, r)
		}
		for _, c := range []string{th.Ink, th.Soft} {
			if r := svgtest.Contrast(c, th.Back); r < 4.5 {
				t.Errorf("%s text %s: contrast %.2f, want 4.5", name, c, r)
			}
		}
		for i, a := range th.Series {
			for _, b := range th.Series[i+1:] {
				if d := distance(a, b); d < 0.12 {
					t.Errorf("%s: %s and %s are too alike: %.3f", name, a, b, d)
				}
			}
		}
	}
}

// distance returns the smaller difference of two colours, in cube roots of light, as seen with normal vision and as
// seen without red or green cones (Viénot 1999).
func distance(a, b string) float64 {
	least := math.Inf(1)
	for _, m := range [][9]float64{{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0.1124, 0.8876, 0, 0.1124, 0.8876, 0, 0.004, -0.004, 1}, {0.2927, 0.7073, 0, 0.2927, 0.7073, 0, -0.0223, 0.0223, 1}} {
		see := func(c string) (o [3]float64) {
			l := svgtest.Linear(c)
			for i := range o {
				o[i] = math.Cbrt(max(0, m[3*i]*l[0]+m[3*i+1]*l[1]+m[3*i+2]*l[2]))
			}
			return o
		}
		p, q := see(a), see(b)
		least = min(least, math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2]))
	}
	return least
}
