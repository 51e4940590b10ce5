package sketch

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"atelier/draw/graph"
	"atelier/draw/svg"
)

// css sets a handwriting typeface for text in the drawing and the width of a felt pen for lines.
const css = `.hand text{font-family:"Comic Neue","Segoe Print","Bradley Hand","Chalkboard SE","Comic Sans MS","Marker Felt",system-ui,sans-serif}` +
	`.ink{fill:none;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}.hatch{fill:none;stroke-width:1.1;stroke-opacity:.3;stroke-linecap:round}.wash{stroke:none}`

// pen draws wobbly lines; the wobble comes from a fixed seed.
type pen struct {
	s   *svg.Canvas
	rnd *rand.Rand
}

// off returns a random offset of at most by in either direction.
func (k pen) off(by float64) float64 { return (k.rnd.Float64()*2 - 1) * by }

// stroke returns the path of a line that bows slightly and misses its ends slightly.
func (k pen) stroke(a, b svg.Point, miss float64) string {
	long := math.Hypot(b.X-a.X, b.Y-a.Y)
	bow := min(4, 0.8+long*0.012)
	near := func(p svg.Point, by float64) svg.Point { return svg.Point{X: p.X + k.off(by), Y: p.Y + k.off(by)} }
	return "M" + near(a, miss).String() + "C" + near(a.To(b, 0.35), bow).String() + " " + near(a.To(b, 0.7), bow).String() + " " + near(b, miss).String()
}

// curve returns a smooth path through points that misses each of them slightly.
func (k pen) curve(pts []svg.Point, miss float64) string {
	q := make([]svg.Point, len(pts))
	for i, p := range pts {
		q[i] = svg.Point{X: p.X + k.off(miss), Y: p.Y + k.off(miss)}
	}
	var d strings.Builder
	d.WriteString("M" + q[0].String())
	for i := 0; i+1 < len(q); i++ { // a Catmull–Rom spline as Bézier curves
		a, b, c, e := q[max(0, i-1)], q[i], q[i+1], q[min(len(q)-1, i+2)]
		from, to := svg.Point{X: b.X + (c.X-a.X)/6, Y: b.Y + (c.Y-a.Y)/6}, svg.Point{X: c.X - (e.X-b.X)/6, Y: c.Y - (e.Y-b.Y)/6}
		d.WriteString("C" + from.String() + " " + to.String() + " " + c.String())
	}
	return d.String()
}

func (k pen) hatch(pts []svg.Point, class string) {
	const gap, lean = 9.0, 0.9
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range pts {
		lo, hi = min(lo, p.Y+p.X*lean), max(hi, p.Y+p.X*lean)
	}
	var d strings.Builder
	for c := lo + gap*0.7; c < hi; c += gap + k.off(1.2) {
		var cuts []svg.Point
		for i, a := range pts {
			b := pts[(i+1)%len(pts)]
			fa, fb := a.Y+a.X*lean-c, b.Y+b.X*lean-c
			if (fa < 0) != (fb < 0) {
				cuts = append(cuts, a.To(b, fa/(fa-fb)))
			}
		}
		if len(cuts) == 2 {
			d.WriteString(k.stroke(cuts[0], cuts[1], 0.8))
		}
	}
	k.s.Tag(`<path d="%s" class="hatch %s"/>`, d.String(), class)
}

func (k pen) node(n graph.Node, f graph.Face, b svg.Box, class string) {
	series := strings.TrimPrefix(class, "n n")
	pts := graph.Outline(n.Shape, b)
	k.s.Polygon(class+" wash", pts...)
	k.hatch(pts, "s"+series)
	var d strings.Builder
	for range 2 { // people draw an outline twice
		if len(pts) > 8 {
			d.WriteString(k.curve(append(slices.Clone(pts), pts[0], pts[1]), 1.2))
			continue
		}
		for i, p := range pts {
			d.WriteString(k.stroke(p, pts[(i+1)%len(pts)], 1.4))
		}
	}
	k.s.Tag(`<path d="%s" class="ink s%s"/>`, d.String(), series)
	if n.Shape == graph.Cylinder {
		y := b.Y + 10
		k.s.Tag(`<path d="%s" class="ink s%s"/>`, k.curve([]svg.Point{{X: b.X, Y: b.Y + 1}, {X: b.X + b.W*0.25, Y: y - 1}, {X: b.X + b.W*0.75, Y: y}, {X: b.Right(), Y: b.Y + 1}}, 1), series)
	}
	f.Text(k.s, n.Shape, b)
}

func (k pen) wire(e graph.Edge, pts []svg.Point, across bool) {
	if len(pts) < 2 {
		return
	}
	trace := pts
	if e.From != e.To {
		trace = graph.Trace(pts, across)
	}
	var sparse []svg.Point // the ends and every third point, so that the wobble shows
	for i, p := range trace {
		if i == 0 || i >= len(trace)-2 || i%3 == 0 || len(trace) < 8 {
			sparse = append(sparse, p)
		}
	}
	k.s.Tag(`<path d="%s" class="ink %s"/>`, k.curve(sparse, 0.9), e.Class())
	k.head(e.Head, trace[len(trace)-1], trace[len(trace)-2])
	k.head(e.Tail, trace[0], trace[1])
}

func (k pen) head(h graph.Head, tip, before svg.Point) {
	if h == graph.NoHead {
		return
	}
	dx, dy := tip.X-before.X, tip.Y-before.Y
	long := max(1e-6, math.Hypot(dx, dy))
	dx, dy = dx/long, dy/long
	side := func(s float64) string {
		return k.stroke(svg.Point{X: tip.X - dx*11 - dy*s, Y: tip.Y - dy*11 + dx*s}, tip, 0.7)
	}
	k.s.Tag(`<path d="%s%s" class="ink e"/>`, side(5), side(-5))
}
