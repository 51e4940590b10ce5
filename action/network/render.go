package network

import (
	"math"

	"atelier/action/internal/graph"
	"atelier/action/internal/svg"
)

const (
	nameSize = 11.5
	nameStep = 13.0
)

// mark is a node as it is drawn: a circle with its name below.
type mark struct {
	at   svg.Point // middle of the circle
	r    float64
	name []string
	w, h float64 // circle and name together
}

// marks measures the nodes.
func (d *drawing) marks() []mark {
	deg := d.graph.Degrees()
	size := func(i int) float64 {
		if v := d.graph.Nodes[i].Value; v > 0 {
			return v
		}
		return float64(deg[i])
	}
	sized, most := false, 1.0
	for i, n := range d.graph.Nodes {
		sized = sized || n.Value > 0
		most = max(most, size(i))
	}
	out := make([]mark, len(d.graph.Nodes))
	for i, n := range d.graph.Nodes {
		m := mark{r: 5 + 15*math.Sqrt(size(i)/most)}
		if sized && n.Value == 0 {
			m.r = 5
		}
		if len(out) > 200 {
			m.r *= 0.75
		}
		m.name = svg.Wrap(n.Label, nameSize, 116, 2)
		m.w = 2*m.r + 6
		for _, l := range m.name {
			m.w = max(m.w, svg.Width(l, nameSize)+6)
		}
		m.h = 2*m.r + nameStep*float64(len(m.name)) + 8
		out[i] = m
	}
	return out
}

// place lays the parts of the network out and packs them; it gives the whole size.
func (d *drawing) place(marks []mark, room float64) graph.Size {
	roots := d.graph.Roots()
	index := map[int]int{}
	var parts [][]int
	local := make([]int, len(marks))
	for i, r := range roots {
		k, ok := index[r]
		if !ok {
			k = len(parts)
			index[r] = k
			parts = append(parts, nil)
		}
		local[i] = len(parts[k])
		parts[k] = append(parts[k], i)
	}
	near := make([][]int, len(marks))
	for _, e := range d.graph.Edges {
		if e.From != e.To {
			near[e.From], near[e.To] = append(near[e.From], local[e.To]), append(near[e.To], local[e.From])
		}
	}
	sizes := make([]graph.Size, len(parts))
	for k, part := range parts {
		sizes[k] = placePart(part, near, marks)
	}
	at, whole := graph.Pack(sizes, room, 26)
	for k, part := range parts {
		for _, i := range part {
			marks[i].at.X += at[k].X
			marks[i].at.Y += at[k].Y
		}
	}
	return whole
}

// placePart lays one connected part out, from 0, 0.
func placePart(part []int, near [][]int, marks []mark) graph.Size {
	links := make([][]int, len(part))
	w, h := make([]float64, len(part)), make([]float64, len(part))
	for k, i := range part {
		links[k] = near[i]
		w[k], h[k] = marks[i].w, marks[i].h
	}
	// Small networks get long edges, with room for their texts; names are wider than
	// high, so large ones are drawn wide from the start.
	at := stress(links, max(74, 170-4*float64(len(part))))
	lie(at)
	if len(part) > 24 {
		for k := range at {
			at[k].X *= 1.7
		}
	}
	spread(at, w, h)
	lo, hi := svg.Point{X: math.Inf(1), Y: math.Inf(1)}, svg.Point{X: math.Inf(-1), Y: math.Inf(-1)}
	for k, p := range at {
		lo = svg.Point{X: min(lo.X, p.X-w[k]/2), Y: min(lo.Y, p.Y-h[k]/2)}
		hi = svg.Point{X: max(hi.X, p.X+w[k]/2), Y: max(hi.Y, p.Y+h[k]/2)}
	}
	for k, i := range part {
		marks[i].at = svg.Point{X: at[k].X - lo.X, Y: at[k].Y - lo.Y - h[k]/2 + marks[i].r + 2}
	}
	return graph.Size{W: hi.X - lo.X, H: hi.Y - lo.Y}
}

const css = ".j{font-size:11.5px}.q{stroke-opacity:.6}"

func (d *drawing) render() []byte {
	marks := d.marks()
	pad := d.page.Pad()
	size := d.place(marks, d.page.W-2*pad)
	if d.page.W < size.W+2*pad {
		d.page.W = size.W + 2*pad
	}
	names := d.graph.Groups
	if len(names) < 2 {
		names = nil
	}
	keys := graph.Legend(names, d.page.W-2*pad)
	d.page.H = d.page.Head() + keys.H + 8 + size.H + 12 + d.page.Foot()
	var s svg.Canvas
	d.page.Begin(&s, d.alt, svg.CSS()+svg.ShapeCSS()+css)
	b := d.page.Frame(&s)
	keys.Draw(&s, b.X, b.Y)
	off := svg.Point{X: b.X + (b.W-size.W)/2, Y: b.Y + keys.H + 8}
	for i := range marks {
		marks[i].at.X += off.X
		marks[i].at.Y += off.Y
	}
	d.wires(&s, marks)
	for i, m := range marks {
		n := d.graph.Nodes[i]
		s.Circle(m.at, m.r, svg.FillClass(d.colour(n))+" p")
		s.Lines(m.at.X, m.at.Y+m.r+11, nameStep, "y i j", "middle", m.name)
	}
	d.wireTexts(&s, marks)
	return d.page.End(&s)
}

func (d *drawing) colour(n graph.Node) int {
	if n.Group < 0 && len(d.graph.Groups) > 0 {
		return 6
	}
	return max(0, n.Group)
}

// wires draws the relations, wider the heavier they are.
func (d *drawing) wires(s *svg.Canvas, marks []mark) {
	most := 1.0
	for _, e := range d.graph.Edges {
		most = max(most, e.Weight)
	}
	for _, e := range d.graph.Edges {
		a, b := marks[e.From], marks[e.To]
		wide := svg.Px(1 + 3*e.Weight/most*min(1, most-1))
		if e.From == e.To {
			s.Tag(`<path d="M%s %sC%s %s %s %s %s %s" class="e q"/>`, svg.Px(a.at.X+a.r*0.7), svg.Px(a.at.Y-a.r*0.7), svg.Px(a.at.X+a.r+18), svg.Px(a.at.Y-a.r-14), svg.Px(a.at.X+a.r+18), svg.Px(a.at.Y+8), svg.Px(a.at.X+a.r), svg.Px(a.at.Y+2))
			continue
		}
		dx, dy := b.at.X-a.at.X, b.at.Y-a.at.Y
		dist := max(1e-9, math.Hypot(dx, dy))
		ux, uy := dx/dist, dy/dist
		end := b.r
		if e.Head != graph.NoHead {
			end += 7
		}
		s.Tag(`<path d="M%s %sL%s %s" class="e q" style="stroke-width:%s"/>`, svg.Px(a.at.X+ux*a.r), svg.Px(a.at.Y+uy*a.r), svg.Px(b.at.X-ux*end), svg.Px(b.at.Y-uy*end), wide)
		if e.Head != graph.NoHead {
			tip := svg.Point{X: b.at.X - ux*(b.r+1), Y: b.at.Y - uy*(b.r+1)}
			s.Polygon("h", tip, svg.Point{X: tip.X - ux*8 - uy*3.8, Y: tip.Y - uy*8 + ux*3.8}, svg.Point{X: tip.X - ux*8 + uy*3.8, Y: tip.Y - uy*8 - ux*3.8})
		}
	}
}

// mostTexts is how many relations can be named without clutter.
const mostTexts = 60

// wireTexts names relations in their middle where there is room.
func (d *drawing) wireTexts(s *svg.Canvas, marks []mark) {
	if len(d.graph.Edges) > mostTexts {
		return
	}
	var taken []svg.Box
	for _, m := range marks {
		taken = append(taken, svg.Box{X: m.at.X - m.w/2, Y: m.at.Y - m.r - 2, W: m.w, H: m.h})
	}
	for _, e := range d.graph.Edges {
		if e.Label == "" || e.From == e.To {
			continue
		}
		text := svg.Fit(e.Label, 11, 110)
		w := svg.Width(text, 11)
		for _, t := range []float64{0.5, 0.4, 0.6, 0.3, 0.7} {
			x, y := marks[e.From].at.X+(marks[e.To].at.X-marks[e.From].at.X)*t, marks[e.From].at.Y+(marks[e.To].at.Y-marks[e.From].at.Y)*t
			b := svg.Box{X: x - w/2, Y: y - 7, W: w, H: 14}
			if meetsAny(b, taken) {
				continue
			}
			taken = append(taken, b)
			s.Text(x, y+4, "y m c", "middle", text)
			break
		}
	}
}

func meetsAny(b svg.Box, list []svg.Box) bool {
	for _, o := range list {
		if b.Meets(o) {
			return true
		}
	}
	return false
}
