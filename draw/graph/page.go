package graph

import (
	"slices"

	"atelier/draw/svg"
)

// Page draws a picture of a graph on a page of the height that it needs, with a legend of the groups. The page keeps
// its width if the caller fixed it; otherwise it is as wide as the picture needs.
func (p Picture) Page(page svg.Page, css string, draw func(s *svg.Canvas, at svg.Point)) []byte {
	names := p.Graph.Groups
	if len(names) == 1 && !slices.ContainsFunc(p.Graph.Nodes, func(n Node) bool { return n.Group < 0 }) {
		names = nil
	}
	return OnPage(page, css, names, Size{p.Layout.W, p.Layout.H + 20}, func(s *svg.Canvas, at svg.Point) { draw(s, at.Add(svg.Point{Y: 10})) })
}

// maxLegendEntries is the maximum number of groups in a legend.
const maxLegendEntries = 16

// OnPage returns a page around a drawing of the given size, with a legend of the named groups; draw
// draws with its upper left corner at at.
func OnPage(page svg.Page, css string, groups []string, size Size, draw func(s *svg.Canvas, at svg.Point)) []byte {
	pad := page.Pad()
	page.W = page.Around(size.W + 2*pad)
	var keys svg.Canvas
	left, top, room, high := page.Pad(), page.Head(), page.W-2*pad, 0.0
	if len(groups) > 0 { // names in the colours of their groups, in rows
		x, y := 0.0, 6.0
		for i, n := range groups[:min(maxLegendEntries, len(groups))] {
			n = svg.Fit(n, rowSize, min(220, room-24))
			w := svg.Width(n, rowSize) + 34
			if x > 0 && x+w-14 > room {
				x, y = 0, y+20
			}
			keys.Rect(svg.Box{X: left + x, Y: top + y, W: 12, H: 12}, svg.NodeClass(i), 3)
			keys.Text(left+x+18, top+y+10.5, "k i", "start", n)
			x += w
		}
		high = y + 18
	}
	page.H = top + high + size.H + page.Foot()
	var s svg.Canvas
	page.Begin(&s, svg.CSS()+svg.ShapeCSS()+css)
	b := page.Frame(&s)
	_, _ = s.Write(keys.Bytes()) // a buffer does not fail
	draw(&s, svg.Point{X: b.X + (b.W-size.W)/2, Y: b.Y + high})
	return page.End(&s)
}
