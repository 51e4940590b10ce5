package svg

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Canvas collects the parts of a drawing. The zero value is ready to use.
type Canvas struct{ bytes.Buffer }

// Point is a position in pixels from the upper left corner.
type Point struct{ X, Y float64 }

// String formats a point for a path.
func (p Point) String() string {
	var room [32]byte
	b := append(appendPx(room[:0], p.X), ' ')
	return string(appendPx(b, p.Y))
}

// To returns the point at fraction t of the way to q.
func (p Point) To(q Point, t float64) Point { return Point{p.X + (q.X-p.X)*t, p.Y + (q.Y-p.Y)*t} }

// Add returns p moved by q.
func (p Point) Add(q Point) Point { return Point{p.X + q.X, p.Y + q.Y} }

// Box is a rectangle in pixels.
type Box struct{ X, Y, W, H float64 }

// Right returns the x of the right side.
func (b Box) Right() float64 { return b.X + b.W }

// Bottom returns the y of the lower side.
func (b Box) Bottom() float64 { return b.Y + b.H }

// Center returns the centre of the box.
func (b Box) Center() Point { return Point{b.X + b.W/2, b.Y + b.H/2} }

// Move returns the box moved by p.
func (b Box) Move(p Point) Box { return Box{b.X + p.X, b.Y + p.Y, b.W, b.H} }

// Grow returns the box enlarged by d on every side.
func (b Box) Grow(d float64) Box { return Box{b.X - d, b.Y - d, b.W + 2*d, b.H + 2*d} }

// Overlaps reports whether two boxes overlap; a shared edge is not an overlap.
func (b Box) Overlaps(o Box) bool {
	return b.X < o.Right() && o.X < b.Right() && b.Y < o.Bottom() && o.Y < b.Bottom()
}

// Px formats a coordinate with at most one decimal, always the same way.
func Px(v float64) string {
	var room [24]byte
	return string(appendPx(room[:0], v))
}

func appendPx(b []byte, v float64) []byte {
	v = math.Round(v*10) / 10
	if v == 0 {
		v = 0 // no minus zero
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

// Escape makes text safe between tags and inside attributes.
func Escape(s string) string { return escaper.Replace(s) }

// Tag writes markup without escaping it; text in it must already be escaped.
func (s *Canvas) Tag(format string, args ...any) { fmt.Fprintf(&s.Buffer, format, args...) }

// Text writes one line. anchor is start, middle or end; start is the left side in every script.
func (s *Canvas) Text(x, y float64, class, anchor, str string) {
	s.Turned(x, y, 0, class, anchor, str)
}

// Turned writes one line rotated by angle degrees around its anchor.
func (s *Canvas) Turned(x, y, angle float64, class, anchor, str string) { //nolint:revive // six small values, one place
	r := ""
	if angle != 0 {
		r = fmt.Sprintf(` transform="rotate(%s %s %s)"`, Px(angle), Px(x), Px(y))
	}
	s.Tag(`<text x="%s" y="%s" class="%s"%s%s>%s</text>`, Px(x), Px(y), class, Anchor(anchor, RTL(str)), r, Escape(str))
}

// Anchor returns the attributes of a text that is anchored at its left side, its centre or its
// right side (start, middle, end), in either text direction.
func Anchor(anchor string, rtl bool) string {
	out := ""
	if rtl { // in SVG, a text starts where reading starts
		out = ` direction="rtl"`
		if anchor != "middle" {
			anchor = map[string]string{"start": "end", "end": "start"}[anchor]
		}
	}
	if anchor != "start" {
		out += ` text-anchor="` + anchor + `"`
	}
	return out
}

// Lines writes lines below each other; y is the baseline of the first.
func (s *Canvas) Lines(x, y, step float64, class, anchor string, lines []string) { //nolint:revive // six small values, one place
	rtl := RTL(strings.Join(lines, " "))
	for i, l := range lines {
		s.Tag(`<text x="%s" y="%s" class="%s"%s>%s</text>`, Px(x), Px(y+step*float64(i)), class, Anchor(anchor, rtl), Escape(l))
	}
}

// Block writes lines of running text into the room from x, aligned left, or right if the text runs from right to left.
func (s *Canvas) Block(x, room, y, step float64, class string, lines []string) { //nolint:revive // six small values, one place
	anchor := "start"
	if RTL(strings.Join(lines, " ")) {
		x, anchor = x+room, "end"
	}
	s.Lines(x, y, step, class, anchor, lines)
}

// Line draws a straight line.
func (s *Canvas) Line(x1, y1, x2, y2 float64, class string) {
	s.Tag(`<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`, Px(x1), Px(y1), Px(x2), Px(y2), class)
}

// Rect draws a rectangle; its corners are rounded if radius is above 0.
func (s *Canvas) Rect(b Box, class string, radius float64) {
	r := ""
	if radius > 0 {
		r = ` rx="` + Px(radius) + `"`
	}
	s.Tag(`<rect x="%s" y="%s" width="%s" height="%s" class="%s"%s/>`, Px(b.X), Px(b.Y), Px(b.W), Px(b.H), class, r)
}

// Circle draws a circle.
func (s *Canvas) Circle(p Point, r float64, class string) {
	s.Tag(`<circle cx="%s" cy="%s" r="%s" class="%s"/>`, Px(p.X), Px(p.Y), Px(r), class)
}

// Polygon draws a closed shape with straight sides.
func (s *Canvas) Polygon(class string, pts ...Point) {
	corners := make([]string, len(pts))
	for i, p := range pts {
		corners[i] = Px(p.X) + "," + Px(p.Y)
	}
	s.Tag(`<polygon points="%s" class="%s"/>`, strings.Join(corners, " "), class)
}
