package graph

import (
	"cmp"
	"slices"
)

// orderLayers orders each layer so that few edges cross: it starts with a depth-first walk, then
// sorts the layers repeatedly by the positions of their neighbours.
func (p *part) orderLayers() {
	last := 0
	for _, v := range p.v {
		last = max(last, v.rank)
	}
	p.layers = make([][]int, last+1)
	p.walk()
	sweeps := 24
	if len(p.v) > 4000 {
		sweeps = 4
	}
	best, fewest := p.snapshot(), p.crossings()
	for k := 0; k < sweeps && fewest > 0; k++ {
		if k%2 == 0 {
			for r := 1; r < len(p.layers); r++ {
				p.sortLayer(r, true)
			}
		} else {
			for r := len(p.layers) - 2; r >= 0; r-- {
				p.sortLayer(r, false)
			}
		}
		if n := p.crossings(); n < fewest {
			best, fewest = p.snapshot(), n
		}
	}
	p.layers = best
	p.number()
	if len(p.v) <= 4000 {
		p.swap()
	}
}

func (p *part) number() {
	for _, l := range p.layers {
		for i, k := range l {
			p.v[k].order = i
		}
	}
}

func (p *part) snapshot() [][]int {
	out := make([][]int, len(p.layers))
	for i, l := range p.layers {
		out[i] = slices.Clone(l)
	}
	return out
}

// walk fills the layers in depth-first order, which keeps families together.
func (p *part) walk() {
	seen := make([]bool, len(p.v))
	var visit func(k int)
	visit = func(k int) {
		if seen[k] {
			return
		}
		seen[k] = true
		p.layers[p.v[k].rank] = append(p.layers[p.v[k].rank], k)
		for _, n := range p.v[k].dn {
			visit(n)
		}
		for _, n := range p.v[k].up {
			visit(n)
		}
	}
	for k := range p.v {
		if len(p.v[k].up) == 0 {
			visit(k)
		}
	}
	p.number()
}

// sortLayer sorts a layer by the mean position of its neighbours above or below. A vertex without any stays in place.
func (p *part) sortLayer(r int, down bool) {
	l := p.layers[r]
	mean := make(map[int]float64, len(l))
	for i, k := range l {
		near := p.v[k].dn
		if down {
			near = p.v[k].up
		}
		if len(near) == 0 {
			mean[k] = float64(i)
			continue
		}
		sum := 0.0
		for _, n := range near {
			sum += float64(p.v[n].order)
		}
		mean[k] = sum / float64(len(near))
	}
	slices.SortStableFunc(l, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
	for i, k := range l {
		p.v[k].order = i
	}
}

func (p *part) crossings() int {
	n := 0
	for r := 1; r < len(p.layers); r++ {
		n += p.between(r)
	}
	return n
}

// between counts the crossings above layer r with a Fenwick tree.
func (p *part) between(r int) int {
	tree := make([]int, len(p.layers[r])+1)
	n, total := 0, 0
	var ends []int
	for _, k := range p.layers[r-1] {
		ends = ends[:0]
		for _, to := range p.v[k].dn {
			ends = append(ends, p.v[to].order)
		}
		for _, o := range ends {
			before := 0
			for i := o + 1; i > 0; i -= i & -i {
				before += tree[i]
			}
			n += total - before
		}
		for _, o := range ends {
			total++
			for i := o + 1; i < len(tree); i += i & -i {
				tree[i]++
			}
		}
	}
	return n
}

// swap exchanges adjacent vertices as long as that removes crossings.
func (p *part) swap() {
	for range 8 {
		better := false
		for _, l := range p.layers {
			for i := 1; i < len(l); i++ {
				a, b := l[i-1], l[i]
				if p.cross(a, b) > p.cross(b, a) {
					l[i-1], l[i] = b, a
					p.v[a].order, p.v[b].order = i, i-1
					better = true
				}
			}
		}
		if !better {
			return
		}
	}
}

// cross counts the crossings between the edges of two adjacent vertices when a is before b.
func (p *part) cross(a, b int) int {
	n := 0
	count := func(x, y []int) {
		for _, i := range x {
			for _, j := range y {
				if p.v[i].order > p.v[j].order {
					n++
				}
			}
		}
	}
	count(p.v[a].up, p.v[b].up)
	count(p.v[a].dn, p.v[b].dn)
	return n
}
