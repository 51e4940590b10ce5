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
