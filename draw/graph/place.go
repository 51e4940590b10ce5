package graph

import (
	"cmp"
	"math"
	"slices"

	"atelier/draw/svg"
)

// placeX moves every vertex towards its neighbours, in turns above, below and both, and keeps order
// and distances. Bends pull hardest, so that long edges run straight.
func (p *part) placeX() {
	for _, l := range p.layers {
		x := 0.0
		for i, k := range l {
			if i > 0 {
				x += p.minSeparation(l[i-1], k)
			}
			p.v[k].x = x
		}
		for _, k := range l {
			p.v[k].x -= x / 2
		}
	}
	rounds := 16
	if len(p.v) > 4000 {
		rounds = 6
	}
	for round := range rounds {
		mode := round % 3
		if round >= rounds-4 {
			mode = 2
		}
		if mode != 1 {
			for r := range p.layers {
				p.placeLayer(r, mode)
			}
		}
		if mode != 0 {
			for r := len(p.layers) - 1; r >= 0; r-- {
				p.placeLayer(r, mode)
			}
		}
	}
	for r := len(p.layers) - 1; r >= 0; r-- {
		p.placeLayer(r, 1) // finally, centre each vertex over its successors
	}
	left, right := math.Inf(1), math.Inf(-1)
	for _, v := range p.v {
		left, right = min(left, v.x-v.w/2), max(right, v.x+v.w/2)
	}
	for k := range p.v {
		p.v[k].x -= left
	}
	p.w = right - left
}

// minSeparation returns the minimum distance between the centres of two neighbours.
func (p *part) minSeparation(a, b int) float64 {
	gap := gapInLayer
	switch {
	case p.v[a].node < 0 && p.v[b].node < 0:
		gap = 10
	case p.v[a].node < 0 || p.v[b].node < 0:
		gap *= 0.7
	}
	return (p.v[a].w+p.v[b].w)/2 + gap
}

// pull returns the desired position of a vertex and its weight: the weighted mean of its neighbours
// above (mode 0), below (1) or both (2).
func (p *part) pull(k, mode int) (x, weight float64) {
	sum := 0.0
	take := func(near []int) {
		for _, n := range near {
			w := 1.0
			switch {
			case p.v[k].node < 0 && p.v[n].node < 0:
				w = 8
			case p.v[k].node < 0 || p.v[n].node < 0:
				w = 2
			}
			sum += w * p.v[n].x
			weight += w
		}
	}
	if mode != 1 {
		take(p.v[k].up)
	}
	if mode != 0 {
		take(p.v[k].dn)
	}
	if weight == 0 {
		return p.v[k].x, 0.01
	}
	return sum / weight, weight
}

// placeLayer places one layer as near to its desired positions as order and distances allow.
func (p *part) placeLayer(r, mode int) {
	l := p.layers[r]
	offset, wishes, weights := make([]float64, len(l)), make([]float64, len(l)), make([]float64, len(l))
	for i, k := range l {
		if i > 0 {
			offset[i] = offset[i-1] + p.minSeparation(l[i-1], k)
		}
		wishes[i], weights[i] = p.pull(k, mode)
		wishes[i] -= offset[i]
	}
	for i, x := range isotonic(wishes, weights) {
		p.v[l[i]].x = x + offset[i]
	}
}

// isotonic returns the ascending values that are nearest to the wishes by weighted least squares:
// neighbours that violate the order are pooled at their mean.
func isotonic(wishes, weights []float64) []float64 {
	type pool struct {
		sum, weight float64
		n           int
	}
	var stack []pool
	for i, x := range wishes {
		next := pool{x * weights[i], weights[i], 1}
		for len(stack) > 0 {
			top := stack[len(stack)-1]
			if top.sum/top.weight < next.sum/next.weight {
				break
			}
			next = pool{next.sum + top.sum, next.weight + top.weight, next.n + top.n}
			stack = stack[:len(stack)-1]
		}
		stack = append(stack, next)
	}
	out := make([]float64, 0, len(wishes))
	for _, p := range stack {
		out = append(out, slices.Repeat([]float64{p.sum / p.weight}, p.n)...)
	}
	return out
}

// placeY stacks the layers; the gap grows with the horizontal length of the edges.
func (p *part) placeY() {
	p.tops, p.heights = make([]float64, len(p.layers)), make([]float64, len(p.layers))
	y := 0.0
	base := p.spec.layerGap / float64(p.step())
	for r, l := range p.layers {
		for _, k := range l {
			p.heights[r] = max(p.heights[r], p.v[k].h)
		}
		if r > 0 {
			far := 0.0
			for _, k := range l {
				for _, n := range p.v[k].up {
					far = max(far, math.Abs(p.v[k].x-p.v[n].x))
				}
			}
			y += max(16, base) + min(60, far*0.12)
		}
		p.tops[r] = y
		y += p.heights[r]
	}
	p.h = y
}

// Pack places boxes in rows no wider than room if possible, the highest boxes first and each row
// centred. It returns their places and the size of the whole.
func Pack(sizes []Size, room, gap float64) (at []svg.Point, whole Size) {
	for _, s := range sizes {
		room = max(room, s.W)
	}
	order := Ranked(len(sizes), func(a, b int) int {
		if d := sizes[b].H - sizes[a].H; math.Abs(d) > 1 {
			return cmp.Compare(d, 0)
		}
		return 0
	})
	var rows [][]int
	var dims []Size
	for _, i := range order {
		s := sizes[i]
		if n := len(rows) - 1; n >= 0 && dims[n].W+gap+s.W <= room {
			rows[n] = append(rows[n], i)
			dims[n] = Size{dims[n].W + gap + s.W, max(dims[n].H, s.H)}
			continue
		}
		rows, dims = append(rows, []int{i}), append(dims, s)
	}
	for _, d := range dims {
		whole.W = max(whole.W, d.W)
	}
	at = make([]svg.Point, len(sizes))
	for r, row := range rows {
		if r > 0 {
			whole.H += gap
		}
		x := (whole.W - dims[r].W) / 2
		for _, i := range row {
			at[i] = svg.Point{X: x, Y: whole.H + (dims[r].H-sizes[i].H)/2}
			x += sizes[i].W + gap
		}
		whole.H += dims[r].H
	}
	return at, whole
}
