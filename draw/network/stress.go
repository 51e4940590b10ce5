package network

import (
	"math"
	"math/rand/v2"

	"atelier/draw/svg"
)

// rounds is the number of times that every pair of nodes is moved.
const rounds = 40

// stress places connected nodes so that distances on the page follow distances in the graph: stochastic gradient
// descent on the stress of all pairs (Zheng, Pawar and Goodman 2018), with a fixed seed, so that the same graph gets
// the same places. near lists each node's neighbours; length is that of one edge.
func stress(near [][]int, length float64) []svg.Point {
	n := len(near)
	rnd := rand.New(rand.NewPCG(7, uint64(n))) //nolint:gosec // a fixed seed is the point
	at := make([]svg.Point, n)
	for i := range at {
		at[i] = svg.Point{X: rnd.Float64() * length * math.Sqrt(float64(n)), Y: rnd.Float64() * length * math.Sqrt(float64(n))}
	}
	type pair struct {
		a, b int
		d    float64
	}
	var pairs []pair
	far := 1
	for a := range near {
		for b, d := range hops(near, a) {
			if b > a && d > 0 {
				pairs = append(pairs, pair{a, b, float64(d)})
				far = max(far, d)
			}
		}
	}
	// The step size decays from one that moves the farthest pair fully to a small one.
	first, last := float64(far*far), 0.1
	decay := math.Log(first/last) / float64(rounds-1)
	for r := range rounds {
		eta := first * math.Exp(-decay*float64(r))
		rnd.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		for _, p := range pairs {
			mu := min(1, eta/(p.d*p.d))
			dx, dy := at[p.a].X-at[p.b].X, at[p.a].Y-at[p.b].Y
			dist := max(1e-9, math.Hypot(dx, dy))
			m := mu * (dist - p.d*length) / 2 / dist
			at[p.a].X, at[p.a].Y = at[p.a].X-m*dx, at[p.a].Y-m*dy
			at[p.b].X, at[p.b].Y = at[p.b].X+m*dx, at[p.b].Y+m*dy
		}
	}
	return at
}

// hops returns the number of edges from one node to all others; 0 for itself and unreachable nodes.
func hops(near [][]int, from int) []int {
	d := make([]int, len(near))
	queue := []int{from}
	for q := 0; q < len(queue); q++ {
		for _, k := range near[queue[q]] {
			if k != from && d[k] == 0 {
				d[k] = d[queue[q]] + 1
				queue = append(queue, k)
			}
		}
	}
	return d
}

// alignHorizontally rotates places so that their longest extent is horizontal.
func alignHorizontally(at []svg.Point) {
	var c svg.Point
	for _, p := range at {
		c.X, c.Y = c.X+p.X/float64(len(at)), c.Y+p.Y/float64(len(at))
	}
	var xx, yy, xy float64
	for _, p := range at {
		dx, dy := p.X-c.X, p.Y-c.Y
		xx, yy, xy = xx+dx*dx, yy+dy*dy, xy+dx*dy
	}
	sin, cos := math.Sincos(-math.Atan2(2*xy, xx-yy) / 2)
	for i, p := range at {
		dx, dy := p.X-c.X, p.Y-c.Y
		at[i] = svg.Point{X: dx*cos - dy*sin, Y: dx*sin + dy*cos}
	}
}

// spread moves boxes of the given sizes, centred at the places, until none overlap: it pushes pairs
// apart and, if that does not end, scales everything up.
func spread(at []svg.Point, w, h []float64) {
	for range 60 {
		for range 80 {
			if !push(at, w, h) {
				return
			}
		}
		for i := range at {
			at[i].X, at[i].Y = at[i].X*1.1, at[i].Y*1.1
		}
	}
}

// push moves every overlapping pair apart along the shorter way and reports whether any overlapped.
func push(at []svg.Point, w, h []float64) bool {
	moved := false
	for i := range at {
		for j := i + 1; j < len(at); j++ {
			dx, dy := at[j].X-at[i].X, at[j].Y-at[i].Y
			ox, oy := (w[i]+w[j])/2-math.Abs(dx), (h[i]+h[j])/2-math.Abs(dy)
			if ox <= 0.01 || oy <= 0.01 {
				continue
			}
			moved = true
			if ox < oy {
				d := math.Copysign(ox/2+0.05, dx)
				at[i].X, at[j].X = at[i].X-d, at[j].X+d
			} else {
				d := math.Copysign(oy/2+0.05, dy)
				at[i].Y, at[j].Y = at[i].Y-d, at[j].Y+d
			}
		}
	}
	return moved
}
