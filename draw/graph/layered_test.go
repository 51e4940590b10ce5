package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"atelier/draw/graph"
	"atelier/draw/svg"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// anyGraph draws a random graph with cycles, loops, double edges and separate parts.
func anyGraph(t *rapid.T) *graph.Graph {
	g := &graph.Graph{}
	n := rapid.IntRange(1, 25).Draw(t, "nodes")
	shapes := graph.Shapes()
	for i := range n {
		k := g.Node(fmt.Sprint("node ", i))
		g.Nodes[k].Shape = graph.Shape(shapes[rapid.IntRange(0, len(shapes)-1).Draw(t, "shape")])
		g.Nodes[k].Note = rapid.SampledFrom([]string{"", "a note", "a note of more than one line, or so it seems"}).Draw(t, "note")
	}
	for range rapid.IntRange(0, 40).Draw(t, "edges") {
		g.Edges = append(g.Edges, graph.Edge{
			From: rapid.IntRange(0, n-1).Draw(t, "from"), To: rapid.IntRange(0, n-1).Draw(t, "to"), Head: graph.Arrow, Weight: 1,
			Label: rapid.SampledFrom([]string{"", "", "yes", "a longer text on the wire"}).Draw(t, "label"),
		})
	}
	return g
}

func TestNothingLiesOnAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(t)
		plan := graph.Plan{Direction: rapid.SampledFrom(graph.Directions()).Draw(t, "direction"), AvailableWidth: 900}
		p := graph.Arrange(g, plan)
		var all []svg.Box
		all = append(all, p.Layout.Nodes...)
		for i, b := range p.Layout.Labels {
			if e := g.Edges[i]; b.W > 0 && e.From != e.To {
				all = append(all, b)
			}
		}
		page := svg.Box{W: p.Layout.W, H: p.Layout.H}.Grow(0.5)
		for i, a := range all {
			if a.X < page.X || a.Y < page.Y || a.Right() > page.Right() || a.Bottom() > page.Bottom() {
				t.Fatalf("%+v is outside of %+v", a, page)
			}
			for _, b := range all[i+1:] {
				if a.Grow(-0.1).Overlaps(b.Grow(-0.1)) {
					t.Fatalf("%+v overlaps %+v", a, b)
				}
			}
		}
		for i, e := range g.Edges {
			ends(t, p.Layout.Routes[i], p.Layout.Nodes[e.From], p.Layout.Nodes[e.To])
		}
		again := graph.Arrange(g, plan)
		if d := cmp.Diff(p.Layout, again.Layout, cmpopts.EquateEmpty()); d != "" {
			t.Fatal("two layouts differ:", d)
		}
	})
}

// ends checks that a route begins and ends at the boxes of its nodes.
func ends(t *rapid.T, pts []svg.Point, from, to svg.Box) {
	if len(pts) < 2 {
		t.Fatalf("route of %d points", len(pts))
	}
	for _, c := range []struct {
		p svg.Point
		b svg.Box
	}{{pts[0], from}, {pts[len(pts)-1], to}} {
		b := c.b.Grow(0.5)
		if c.p.X < b.X || c.p.X > b.Right() || c.p.Y < b.Y || c.p.Y > b.Bottom() || math.IsNaN(c.p.X+c.p.Y) {
			t.Fatalf("route ends at %+v, not at %+v", c.p, c.b)
		}
	}
}

func TestEdgesPointTheSameWay(t *testing.T) {
	t.Parallel()
	g, err := graph.Read(nil, "a -> b\nb -> c\na -> c\nc -> d", graph.Arrow)
	if err != nil {
		t.Fatal(err)
	}
	for direction, ahead := range map[string]func(a, b svg.Point) bool{
		"down":  func(a, b svg.Point) bool { return a.Y < b.Y },
		"up":    func(a, b svg.Point) bool { return a.Y > b.Y },
		"right": func(a, b svg.Point) bool { return a.X < b.X },
		"left":  func(a, b svg.Point) bool { return a.X > b.X },
	} {
		l := graph.Arrange(g, graph.Plan{Direction: direction, AvailableWidth: 900}).Layout
		for _, e := range g.Edges {
			if !ahead(l.Nodes[e.From].Center(), l.Nodes[e.To].Center()) {
				t.Errorf("%s: %d → %d runs backwards", direction, e.From, e.To)
			}
		}
	}
}

func TestAPlanarLadderHasNoCrossing(t *testing.T) {
	t.Parallel()
	g, err := graph.Read(nil, "r -> a\nr -> b\nr -> c\na -> a1\na -> a2\nb -> b1\nb -> b2\nc -> c1\nc -> c2", graph.Arrow)
	if err != nil {
		t.Fatal(err)
	}
	l := graph.Arrange(g, graph.Plan{Direction: "down", AvailableWidth: 900}).Layout
	x := func(id string) float64 { return l.Nodes[g.Node(id)].Center().X }
	for _, p := range []string{"a", "b", "c"} {
		mid := (x(p+"1") + x(p+"2")) / 2
		if math.Abs(mid-x(p)) > 4 {
			t.Errorf("%s is at %g, its children around %g", p, x(p), mid)
		}
	}
	if math.Abs(x("r")-(x("a")+x("b")+x("c"))/3) > 6 {
		t.Errorf("the root is at %g", x("r"))
	}
}

func random(n, m int) *graph.Graph {
	rnd := rand.New(rand.NewPCG(1, 2))
	g := &graph.Graph{}
	for i := range n {
		g.Node(fmt.Sprint("node ", i))
	}
	for range m {
		g.Edges = append(g.Edges, graph.Edge{From: rnd.IntN(n), To: rnd.IntN(n), Label: "l", Weight: 1})
	}
	return g
}

func BenchmarkLayered(b *testing.B) {
	for _, n := range []int{20, 100, 250} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			g := random(n, 2*n)
			b.ReportAllocs()
			for b.Loop() {
				graph.Arrange(g, graph.Plan{Direction: "down", AvailableWidth: 900})
			}
		})
	}
}

// TestLongEdgesStaySmall: an edge that runs straight past many layers is one line, so that the file stays small.
func TestLongEdgesStaySmall(t *testing.T) {
	t.Parallel()
	g := &graph.Graph{}
	for i := range 240 {
		g.Edges = append(g.Edges, graph.Edge{From: g.Node(fmt.Sprint("n", i)), To: g.Node(fmt.Sprint("n", i+1)), Label: "l", Weight: 1})
	}
	for i := range 350 {
		g.Edges = append(g.Edges, graph.Edge{From: i % 40, To: 239 - i%37, Head: graph.Arrow, Weight: 1})
	}
	var s svg.Canvas
	graph.Arrange(g, graph.Plan{Direction: "down", AvailableWidth: 900}).Draw(&s, svg.Point{})
	if n := s.Len(); n > 400<<10 {
		t.Errorf("%d bytes", n)
	}
}

// TestLoopsTouchTheirNodes: the ends of a loop are on the outline of the node, not in the air beside it.
func TestLoopsTouchTheirNodes(t *testing.T) {
	t.Parallel()
	for _, shape := range graph.Shapes() {
		for _, direction := range []string{"down", "right"} {
			g := &graph.Graph{}
			g.Nodes = append(g.Nodes, graph.Node{ID: "a", Label: "a label of a node", Note: "and a note", Shape: graph.Shape(shape), Group: -1})
			g.Edges = []graph.Edge{{Head: graph.Arrow, Label: "a long label of the loop", Weight: 1}}
			l := graph.Arrange(g, graph.Plan{Direction: direction, AvailableWidth: 900}).Layout
			if b := l.Labels[0]; b.X < -0.5 || b.Right() > l.W+0.5 || b.Y < -0.5 || b.Bottom() > l.H+0.5 {
				t.Errorf("%s %s: the label at %+v is outside of %g × %g", shape, direction, b, l.W, l.H)
			}
			outline := graph.Outline(graph.Shape(shape), l.Nodes[0])
			for _, p := range []svg.Point{l.Routes[0][0], l.Routes[0][3]} {
				if far := distance(p, outline); far > 3 && shape != "pill" && shape != "cylinder" {
					t.Errorf("%s %s: the loop ends %.1f px from the outline", shape, direction, far)
				}
			}
		}
	}
}

// distance returns the distance of p from the sides of a polygon.
func distance(p svg.Point, pts []svg.Point) float64 {
	least := math.Inf(1)
	for i, a := range pts {
		b := pts[(i+1)%len(pts)]
		dx, dy := b.X-a.X, b.Y-a.Y
		u := max(0, min(1, ((p.X-a.X)*dx+(p.Y-a.Y)*dy)/max(1e-9, dx*dx+dy*dy)))
		least = min(least, math.Hypot(p.X-a.X-u*dx, p.Y-a.Y-u*dy))
	}
	return least
}
