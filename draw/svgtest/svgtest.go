// Package svgtest checks drawings: that they are well-formed and safe, that nothing is outside of the page, that no two
// texts touch, and that every text is readable on its background, in light and dark. It is for tests only.
package svgtest

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"atelier/draw/svg"
)

// Element is one element of a drawing, in drawing order.
type Element struct {
	Name, Text string
	Attrs      map[string]string
	dx, dy     float64     // from groups and nested drawings
	corners    []svg.Point // of polygons and paths
	hidden     float64     // scale of the group that is shown only if the file is small
}

// Drawing is a parsed file.
type Drawing struct {
	W, H     float64
	Elements []Element
	Narrow   *Drawing // what is shown if the file is small; nil if that is the same
	style    string
	light    map[string]map[string]string // properties by class
	night    map[string]map[string]string
}

var (
	scale     = regexp.MustCompile(`^scale\(([\d.]+)\)$`)
	badNumber = regexp.MustCompile(`NaN|Inf|\d[eE][+-]\d`)
	translate = regexp.MustCompile(`^translate\((-?[\d.]+)[ ,]+(-?[\d.]+)\)$`)
)

// Parse parses a file; markup that is malformed or unsafe fails the test.
func Parse(tb testing.TB, out []byte) Drawing {
	tb.Helper()
	d := xml.NewDecoder(strings.NewReader(string(out)))
	var page Drawing
	var open []int
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			tb.Fatalf("not well-formed: %v", err)
		}
		switch v := tok.(type) {
		case xml.StartElement:
			e := element(tb, v)
			if n := len(open); n > 0 {
				up := page.Elements[open[n-1]]
				e.dx, e.dy = e.dx+up.dx, e.dy+up.dy
				e.hidden = max(e.hidden, up.hidden)
			} else {
				page.W, page.H = e.Num("width"), e.Num("height")
			}
			open = append(open, len(page.Elements))
			page.Elements = append(page.Elements, e)
		case xml.CharData:
			if n := len(open); n > 0 {
				page.Elements[open[n-1]].Text += string(v)
			}
		case xml.EndElement:
			if e := page.Elements[open[len(open)-1]]; e.Name == "style" {
				page.style += e.Text
			}
			open = open[:len(open)-1]
		}
	}
	if page.W < 1 || page.H < 1 {
		tb.Fatalf("the page is %g × %g", page.W, page.H)
	}
	page.light, page.night = page.rules(false), page.rules(true)
	page.split()
	return page
}

// split moves what is shown only if the file is small into its own drawing.
func (d *Drawing) split() {
	small := Drawing{style: d.style, light: d.light, night: d.night}
	var seen []Element
	for _, e := range d.Elements {
		if e.hidden == 0 {
			seen = append(seen, e)
			continue
		}
		if small.W == 0 {
			small.W, small.H = d.W/e.hidden, d.H/e.hidden
			small.Elements = append(small.Elements, Element{Name: "rect", Attrs: map[string]string{"class": "b", "x": "0", "y": "0", "width": fmt.Sprint(small.W), "height": fmt.Sprint(small.H)}}) // the background
		}
		small.Elements = append(small.Elements, e)
	}
	d.Elements = seen
	if small.W > 0 {
		d.Narrow = &small
	}
}

func element(tb testing.TB, v xml.StartElement) Element {
	tb.Helper()
	e := Element{Name: v.Name.Local, Attrs: map[string]string{}}
	if strings.EqualFold(e.Name, "script") || e.Name == "foreignObject" || e.Name == "image" || e.Name == "a" {
		tb.Errorf("element %s", e.Name)
	}
	for _, a := range v.Attr {
		name := strings.ToLower(a.Name.Local)
		if strings.HasPrefix(name, "on") || name == "href" {
			tb.Errorf("attribute %s", a.Name.Local)
		}
		if name != "class" && badNumber.MatchString(a.Value) {
			tb.Errorf("%s has %s=%q", e.Name, a.Name.Local, a.Value)
		}
		e.Attrs[name] = a.Value
	}
	if e.Name == "polygon" || e.Name == "path" {
		e.corners = e.outline()
	}
	if m := translate.FindStringSubmatch(e.Attrs["transform"]); m != nil {
		e.dx, _ = strconv.ParseFloat(m[1], 64) // the pattern has matched
		e.dy, _ = strconv.ParseFloat(m[2], 64)
	}
	if m := scale.FindStringSubmatch(e.Attrs["transform"]); m != nil && e.Attrs["display"] == "none" {
		e.hidden, _ = strconv.ParseFloat(m[1], 64) // the pattern has matched
	}
	return e
}

// Num returns an attribute as a number, or 0 if it is not one.
func (e Element) Num(name string) float64 {
	v, _ := strconv.ParseFloat(e.Attrs[name], 64) // 0 if it is not one
	return v
}

// Has reports whether the element has a class.
func (e Element) Has(class string) bool {
	return slices.Contains(strings.Fields(e.Attrs["class"]), class)
}

// Check parses a file and runs all checks except [Drawing.NoOverlap].
func Check(tb testing.TB, out []byte) Drawing {
	tb.Helper()
	page := Parse(tb, out)
	page.inside(tb)
	page.Readable(tb)
	if page.Narrow != nil {
		page.Narrow.inside(tb)
		page.Narrow.Readable(tb)
	}
	for _, want := range []string{`role="img"`, `aria-label="`, `<title>`, `<desc>`, "prefers-color-scheme:dark", "viewBox="} {
		if !strings.Contains(string(out), want) {
			tb.Errorf("%s is missing", want)
		}
	}
	if body := string(out); strings.Count(body, "http") != strings.Count(body, "http://www.w3.org/2000/svg") && strings.Contains(body, "url(") {
		tb.Error("an outside address")
	}
	return page
}

// inside fails for every shape and text that is outside of the page.
func (d Drawing) inside(tb testing.TB) {
	tb.Helper()
	for _, e := range d.Elements {
		b, ok := e.Box(d)
		if !ok || strings.HasPrefix(e.Attrs["transform"], "rotate") {
			continue
		}
		if b.X < -1 || b.Y < -1 || b.Right() > d.W+1 || b.Bottom() > d.H+1 {
			tb.Errorf("%s %q at %+v lies outside of %g × %g", e.Name, e.Text, b, d.W, d.H)
		}
	}
}

// Texts returns the text elements of a class, or all of them if class is empty.
func (d Drawing) Texts(class string) []Element {
	var out []Element
	for _, e := range d.Elements {
		if e.Name == "text" && (class == "" || e.Has(class)) {
			out = append(out, e)
		}
	}
	return out
}

// NoOverlap fails if two texts touch. Texts are measured as the drawing measures them.
func (d Drawing) NoOverlap(tb testing.TB) {
	tb.Helper()
	list := d.Texts("")
	for i, a := range list {
		for _, b := range list[i+1:] {
			p, _ := a.Box(d)
			q, _ := b.Box(d)
			if p.Grow(-1).Overlaps(q.Grow(-1)) {
				tb.Errorf("%q %+v lies over %q %+v", a.Text, p, b.Text, q)
			}
		}
	}
}

// Box returns the place of an element; ok is false for elements without one.
func (e Element) Box(d Drawing) (b svg.Box, ok bool) {
	switch e.Name {
	case "rect":
		b = svg.Box{X: e.Num("x"), Y: e.Num("y"), W: e.Num("width"), H: e.Num("height")}
	case "circle":
		b = svg.Box{X: e.Num("cx"), Y: e.Num("cy")}.Grow(e.Num("r"))
	case "ellipse":
		b = svg.Box{X: e.Num("cx") - e.Num("rx"), Y: e.Num("cy") - e.Num("ry"), W: 2 * e.Num("rx"), H: 2 * e.Num("ry")}
	case "polygon", "path":
		if b, ok = bounds(e.corners); !ok {
			return b, false
		}
	case "text":
		size := d.size(e)
		w := svg.Width(e.Text, size) / 1.16 // without the margin for wide typefaces
		b = svg.Box{X: e.Num("x"), Y: e.Num("y") - 0.75*size, W: w, H: size * 0.95}
		anchor, rtl := e.Attrs["text-anchor"], e.Attrs["direction"] == "rtl"
		switch {
		case anchor == "middle":
			b.X -= w / 2
		case (anchor == "end") != rtl: // a right-to-left text starts at its right
			b.X -= w
		}
	default:
		return b, false
	}
	b.X, b.Y = b.X+e.dx, b.Y+e.dy
	return b, true
}
