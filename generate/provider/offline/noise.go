package offline

import (
	"math"
	"math/rand/v2"
)

// noise is seeded gradient noise.
type noise struct{ perm [512]uint8 }

func newNoise(r *rand.Rand) *noise {
	var n noise
	for i, v := range r.Perm(256) {
		b := uint8(v) //nolint:gosec // Perm(256) returns 0 to 255
		n.perm[i], n.perm[i+256] = b, b
	}
	return &n
}

// gradients are eight directions of equal length.
var gradients = [8][2]float64{{1, 0}, {0.7071, 0.7071}, {0, 1}, {-0.7071, 0.7071}, {-1, 0}, {-0.7071, -0.7071}, {0, -1}, {0.7071, -0.7071}}

func (n *noise) grad(ix, iy int, x, y float64) float64 {
	g := &gradients[n.perm[int(n.perm[ix&255])+iy&255]&7]
	return g[0]*x + g[1]*y
}

// at returns smooth noise, about -1 to 1, with features one unit wide.
func (n *noise) at(x, y float64) float64 {
	fx, fy := math.Floor(x), math.Floor(y)
	ix, iy := int(fx), int(fy)
	x, y = x-fx, y-fy
	u, v := x*x*x*(x*(x*6-15)+10), y*y*y*(y*(y*6-15)+10)
	a, b := n.grad(ix, iy, x, y), n.grad(ix+1, iy, x-1, y)
	c, d := n.grad(ix, iy+1, x, y-1), n.grad(ix+1, iy+1, x-1, y-1)
	a += (b - a) * u
	c += (d - c) * u
	return 1.5 * (a + (c-a)*v)
}

// fbm returns the sum of octaves of noise.
func (n *noise) fbm(x, y float64, octaves int) float64 {
	sum, amp := 0.0, 0.5
	for range octaves {
		sum += amp * n.at(x, y)
		x, y, amp = x*2.03+17.1, y*2.03+5.7, amp/2
	}
	return sum
}

// ridged returns the sum of folded octaves, sharp at its crests, 0 to about 1.
func (n *noise) ridged(x, y float64, octaves int) float64 {
	sum, amp := 0.0, 0.5
	for range octaves {
		v := 1 - math.Abs(n.at(x, y))
		sum += amp * v * v
		x, y, amp = x*2.1+3.1, y*2.1+11.3, amp/2
	}
	return sum
}

// smooth returns 0 below a, 1 above b and a smooth transition between them.
func smooth(a, b, x float64) float64 {
	t := min(1, max(0, (x-a)/(b-a)))
	return t * t * (3 - 2*t)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func lerp(a, b, t float64) float64 { return a + (b-a)*t }
