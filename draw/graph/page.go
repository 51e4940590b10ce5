package graph

import (
	"slices"

	"atelier/draw/svg"
)

// Page draws a picture on a page as high as it must be, with a legend of the groups.
// The page is as wide as it says if the caller fixed that, else as the picture needs.
func (p Picture) Page(page svg.Page, alt, css string) []byte {
	return p.PageWith(page, alt, css, p.Draw)
}

// PageWith is Page with a pen of the caller's own: draw writes everything that the
// layout has, moved by at.
func (p Picture) PageWith(page svg.Page, alt, css string, draw func(s *svg.Canvas, at svg.Point)) []byte {
	pad := page.Pad()
	page.W = page.Around(p.Layout.W + 2*pad)
	names := p.Graph.Groups
	if len(names) == 1 && !slices.ContainsFunc(p.Graph.Nodes, func(n Node) bool { return n.Group < 0 }) {
		names = nil
	}
	keys := Legend(names, page.W-2*pad)
	page.H = page.Head() + keys.H + 10 + p.Layout.H + 10 + page.Foot()
	var s svg.Canvas
	page.Begin(&s, alt, css)
	b := page.Frame(&s)
	keys.Draw(&s, b.X, b.Y)
	draw(&s, svg.Point{X: b.X + (b.W-p.Layout.W)/2, Y: b.Y + keys.H + 10})
	return page.End(&s)
}

// Keys is a legend: names in the colours of their groups, in rows.
type Keys struct {
	H     float64
	names []string
	at    []svg.Point
}

// mostKeys is how many groups a legend names.
const mostKeys = 16

// Legend lays out the names of groups in rows no wider than room.
func Legend(names []string, room float64) Keys {
	var k Keys
	x, y := 0.0, 6.0
	for i, n := range names {
		if i == mostKeys {
			break
		}
		n = svg.Fit(n, rowSize, min(220, room-24))
		w := svg.Width(n, rowSize) + 34
		if x > 0 && x+w-14 > room {
			x, y = 0, y+20
		}
		k.names, k.at = append(k.names, n), append(k.at, svg.Point{X: x, Y: y})
		x += w
	}
	if len(k.names) > 0 {
		k.H = y + 18
	}
	return k
}

// Draw writes the legend with its upper left corner at a place.
func (k Keys) Draw(s *svg.Canvas, x, y float64) {
	for i, n := range k.names {
		s.Rect(svg.Box{X: x + k.at[i].X, Y: y + k.at[i].Y, W: 12, H: 12}, svg.NodeClass(i), 3)
		s.Text(x+k.at[i].X+18, y+k.at[i].Y+10.5, "k i", "start", n)
	}
}
