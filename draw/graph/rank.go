package graph

import (
	"slices"
)

// breakCycles reverses the edges that close a cycle on a depth-first walk in the given order. It sorts the vertices:
// each stands after all to which its edges lead.
func (p *part) breakCycles() {
	out := make([][]int, len(p.v))
	incoming := make([]int, len(p.v))
	for _, i := range p.edges {
		if !p.loop(i) {
			a, b := p.ends(i)
			out[a] = append(out[a], i)
			incoming[b]++
		}
	}
	const (
		fresh = iota
		open  // on the current path
		done
	)
	state := make([]uint8, len(p.v))
	var visit func(k int)
	visit = func(k int) {
		state[k] = open
		for _, i := range out[k] {
			switch _, to := p.ends(i); state[to] {
			case fresh:
				visit(to)
			case open:
				p.turned[i] = true
			}
		}
		state[k] = done
		p.sorted = append(p.sorted, k)
	}
	for _, most := range []int{0, len(p.edges)} { // start with nodes without incoming edges
		for k := range p.v {
			if state[k] == fresh && incoming[k] <= most {
				visit(k)
			}
		}
	}
}

// step returns how many layers an edge spans at least: two if labels need a layer of their own.
func (p *part) step() int {
	if slices.ContainsFunc(p.edges, func(i int) bool { return p.spec.labels[i].W > 0 && !p.loop(i) }) {
		return 2
	}
	return 1
}

// rankNodes assigns a layer to every node: as early as its predecessors allow, then as late as its
// successors allow if it has more of those.
func (p *part) rankNodes() {
	step := p.step()
	outs, incoming := make([][]int, len(p.v)), make([]int, len(p.v))
	for _, i := range p.edges {
		if !p.loop(i) {
			a, b := p.ends(i)
			outs[a] = append(outs[a], b)
			incoming[b]++
		}
	}
	for _, k := range slices.Backward(p.sorted) {
		for _, to := range outs[k] {
			p.v[to].rank = max(p.v[to].rank, p.v[k].rank+step)
		}
	}
	for _, k := range p.sorted {
		if len(outs[k]) > incoming[k] {
			next := slices.MinFunc(outs[k], func(a, b int) int { return p.v[a].rank - p.v[b].rank })
			p.v[k].rank = max(p.v[k].rank, p.v[next].rank-step)
		}
	}
}

// addBends gives long edges a vertex in each layer that they cross, one of them for the label.
func (p *part) addBends() {
	for _, i := range p.edges {
		if p.loop(i) {
			continue
		}
		a, b := p.ends(i)
		label := p.spec.turn(p.spec.labels[i])
		chain := []int{a}
		span := p.v[b].rank - p.v[a].rank
		for r := p.v[a].rank + 1; r < p.v[b].rank; r++ {
			v := vertex{node: -1, rank: r, w: 6}
			if label.W > 0 && r == p.v[a].rank+(span/2|1) {
				v.label, v.w, v.h = true, label.W+8, label.H+6
			}
			chain = append(chain, len(p.v))
			p.v = append(p.v, v)
		}
		chain = append(chain, b)
		for k := 1; k < len(chain); k++ {
			u, w := chain[k-1], chain[k]
			p.v[u].dn, p.v[w].up = append(p.v[u].dn, w), append(p.v[w].up, u)
		}
		p.chains[i] = chain
	}
}
