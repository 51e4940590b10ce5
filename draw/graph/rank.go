package graph

import (
	"slices"
)

// breakCycles reverses the edges that close a cycle on a depth-first walk in the given order.
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
	ins, outs := make([][]int, len(p.v)), make([][]int, len(p.v))
	remaining := make([]int, len(p.v))
	for _, i := range p.edges {
		if p.loop(i) {
			continue
		}
		a, b := p.ends(i)
		outs[a], ins[b] = append(outs[a], b), append(ins[b], a)
		remaining[b]++
	}
	var queue []int
	for k := range p.v {
		if remaining[k] == 0 {
			queue = append(queue, k)
		}
	}
	for q := 0; q < len(queue); q++ {
		for _, to := range outs[queue[q]] {
			p.v[to].rank = max(p.v[to].rank, p.v[queue[q]].rank+step)
			if remaining[to]--; remaining[to] == 0 {
				queue = append(queue, to)
			}
		}
	}
	for _, k := range slices.Backward(queue) {
		if len(outs[k]) <= len(ins[k]) || len(outs[k]) == 0 {
			continue
		}
		late := p.v[outs[k][0]].rank
		for _, to := range outs[k] {
			late = min(late, p.v[to].rank)
		}
		p.v[k].rank = max(p.v[k].rank, late-step)
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
