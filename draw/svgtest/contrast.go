package svgtest

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"atelier/draw/svg"
)

var (
	rule   = regexp.MustCompile(`([^{}]+)\{([^{}]*)\}`)
	number = regexp.MustCompile(`[A-Za-z]|-?\d+\.?\d*|-?\.\d+`)
)

// rules returns the properties of classes in one theme; later rules override earlier ones.
func (d Drawing) rules(dark bool) map[string]map[string]string {
	out := map[string]map[string]string{}
	style := d.style
	add := func(css string) {
		for _, m := range rule.FindAllStringSubmatch(css, -1) {
			for sel := range strings.SplitSeq(m[1], ",") {
				sel = strings.TrimPrefix(strings.TrimSpace(sel), ".")
				if out[sel] == nil {
					out[sel] = map[string]string{}
				}
				for p := range strings.SplitSeq(m[2], ";") {
					k, v, _ := strings.Cut(p, ":")
					out[sel][k] = v
				}
			}
		}
	}
	for {
		before, rest, found := strings.Cut(style, "@media (prefers-color-scheme:dark){")
		add(before)
		if !found {
			return out
		}
		block, after, _ := strings.Cut(rest, "}}")
		if dark {
			add(block + "}")
		}
		style = after
	}
}

// prop returns a property of an element: that of its classes, or else its attribute.
func prop(e Element, rules map[string]map[string]string, name string) string {
	v := e.Attrs[name]
	for _, c := range strings.Fields(e.Attrs["class"]) {
		if p, ok := rules[c][name]; ok {
			v = p
		}
	}
	return v
}

// size returns the font size of a text.
func (d Drawing) size(e Element) float64 {
	v, err := strconv.ParseFloat(strings.TrimSuffix(prop(e, d.light, "font-size"), "px"), 64)
	if err != nil {
		return 16
	}
	return v
}

// Readable fails for every text whose contrast with its background is below 4.5:1, in either theme.
func (d Drawing) Readable(tb testing.TB) {
	tb.Helper()
	for _, dark := range []bool{false, true} {
		rules := d.light
		if dark {
			rules = d.night
		}
		for i, e := range d.Elements {
			if e.Name != "text" || strings.HasPrefix(e.Attrs["transform"], "rotate") || strings.TrimSpace(e.Text) == "" {
				continue
			}
			b, _ := e.Box(d)
			under := prop(e, rules, "stroke") // a halo hides what lies under it
			if prop(e, rules, "paint-order") != "stroke" {
				under = d.under(i, b.Center(), rules)
			}
			fill := prop(e, rules, "fill")
			if !strings.HasPrefix(fill, "#") {
				tb.Errorf("text %q has fill %q", e.Text, fill)
				continue
			}
			if r := Contrast(fill, under); r < 4.5 {
				tb.Errorf("dark %v: text %q %s on %s: contrast %.2f, want 4.5", dark, e.Text, fill, under, r)
			}
		}
	}
}

// under returns the colour at a place before the element with index i is drawn.
func (d Drawing) under(i int, at svg.Point, rules map[string]map[string]string) string {
	colour := "#ffffff"
	for _, e := range d.Elements[:i] {
		fill := prop(e, rules, "fill")
		if !strings.HasPrefix(fill, "#") || !e.covers(d, at) {
			continue
		}
		opacity, err := strconv.ParseFloat(prop(e, rules, "fill-opacity"), 64)
		if err != nil {
			opacity = 1
		}
		colour = mix(colour, fill, opacity)
	}
	return colour
}

func (e Element) covers(d Drawing, at svg.Point) bool {
	b, ok := e.Box(d)
	if !ok || at.X < b.X || at.X > b.Right() || at.Y < b.Y || at.Y > b.Bottom() {
		return false
	}
	switch e.Name {
	case "rect":
		return true
	case "circle", "ellipse":
		c := b.Center()
		return math.Hypot((at.X-c.X)/b.W*2, (at.Y-c.Y)/b.H*2) <= 1
	case "polygon", "path":
		return within(svg.Point{X: at.X - e.dx, Y: at.Y - e.dy}, e.corners)
	}
	return false
}

// outline returns a polygon or path as corners; curves are reduced to their end points.
func (e Element) outline() []svg.Point {
	path := e.Attrs["d"]
	if e.Name == "polygon" {
		path = "M" + e.Attrs["points"]
	}
	var pts []svg.Point
	var cmd string
	var nums []float64
	flush := func() {
		at := svg.Point{}
		if len(pts) > 0 {
			at = pts[len(pts)-1]
		}
		n := len(nums)
		step := map[string]int{"M": 2, "L": 2, "C": 6, "Q": 4, "A": 7, "H": 1, "V": 1}[strings.ToUpper(cmd)]
		for k := step; step > 0 && k <= n; k += step {
			p := at
			switch strings.ToUpper(cmd) {
			case "H":
				p.X = nums[k-1] + rel(cmd, at.X)
			case "V":
				p.Y = nums[k-1] + rel(cmd, at.Y)
			default:
				p = svg.Point{X: nums[k-2] + rel(cmd, at.X), Y: nums[k-1] + rel(cmd, at.Y)}
			}
			pts, at = append(pts, p), p
		}
		nums = nums[:0]
	}
	for _, s := range number.FindAllString(path, -1) {
		if v, err := strconv.ParseFloat(s, 64); err == nil {
			nums = append(nums, v)
			continue
		}
		flush()
		cmd = s
	}
	flush()
	return pts
}

func rel(cmd string, at float64) float64 {
	if cmd == strings.ToLower(cmd) {
		return at
	}
	return 0
}

func bounds(pts []svg.Point) (svg.Box, bool) {
	if len(pts) == 0 {
		return svg.Box{}, false
	}
	lo, hi := pts[0], pts[0]
	for _, p := range pts {
		lo, hi = svg.Point{X: min(lo.X, p.X), Y: min(lo.Y, p.Y)}, svg.Point{X: max(hi.X, p.X), Y: max(hi.Y, p.Y)}
	}
	return svg.Box{X: lo.X, Y: lo.Y, W: hi.X - lo.X, H: hi.Y - lo.Y}, true
}

func within(p svg.Point, pts []svg.Point) bool {
	in := false
	for i, a := range pts {
		b := pts[(i+1)%len(pts)]
		if (a.Y > p.Y) != (b.Y > p.Y) && p.X < (b.X-a.X)*(p.Y-a.Y)/(b.Y-a.Y)+a.X {
			in = !in
		}
	}
	return in
}

func rgb(c string) (out [3]float64) {
	for i := range out {
		v, _ := strconv.ParseUint(c[1+2*i:3+2*i], 16, 8) // drawings contain only valid colours
		out[i] = float64(v)
	}
	return out
}

func mix(under, over string, share float64) string {
	a, b, out := rgb(under), rgb(over), "#"
	for i := range a {
		out += strconv.FormatInt(256+int64(a[i]*(1-share)+b[i]*share+0.5), 16)[1:]
	}
	return out
}

// Linear returns the linear light of the three channels of a colour, 0 to 1.
func Linear(c string) (out [3]float64) {
	for i, v := range rgb(c) {
		if f := v / 255; f <= 0.04045 {
			out[i] = f / 12.92
		} else {
			out[i] = math.Pow((f+0.055)/1.055, 2.4)
		}
	}
	return out
}

// Contrast returns the contrast ratio of WCAG 2.2.
func Contrast(a, b string) float64 {
	lum := func(c string) float64 { l := Linear(c); return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2] }
	x, y := lum(a)+0.05, lum(b)+0.05
	return max(x, y) / min(x, y)
}
