// Package wordcloud draws words in sizes that follow their weights, packed around the centre. The same input returns
// the same bytes, and no two words touch; words in Latin letters have a fixed width, so this holds in every typeface.
//
// Errors are media.Error values with code media.CodeInvalid whose message names the parameter. The package may import
// media and the other packages of draw.
package wordcloud

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"atelier/draw/chart"
	"atelier/draw/graph"
	"atelier/draw/internal/value"
	"atelier/draw/svg"
)

// DefaultWidth and DefaultHeight are the size of a page, in pixels, if none is requested.
const (
	DefaultWidth  = 800
	DefaultHeight = 450
)

const (
	maxEntries = 200_000
	maxText    = 2 << 20
)

// The default and the maximum number of words that are drawn.
const (
	DefaultWords = 100
	MaxWords     = 250
)

// Draw returns the drawing that the parameters describe, in any of the forms in which models write
// them; action/visual documents them. The error has code media.CodeInvalid.
func Draw(params map[string]any) (svg.Drawing, error) {
	d, err := read(params)
	if err != nil {
		return svg.Drawing{}, err
	}
	area := svg.Box{X: d.page.Pad(), Y: d.page.Head(), W: d.page.W - 2*d.page.Pad(), H: max(40, d.page.H-d.page.Foot()-d.page.Head())}
	all := len(d.words)
	d.words = lay(d.words, area)
	if n := all - len(d.words); n > 0 {
		d.page.Omit("Left out for want of room: " + graph.Count(n, "word") + ".")
	}
	// Reduce the page to the height that the words need.
	low, high := area.Bottom(), area.Y
	for _, w := range d.words {
		low, high = min(low, w.box.Y), max(high, w.box.Bottom())
	}
	lift := low - area.Y
	d.page.H = math.Ceil(d.page.H - lift - (area.Bottom() - high))
	var s svg.Canvas
	d.page.Begin(&s, svg.CSS()+".wd{font-weight:650}")
	d.page.Frame(&s)
	for i, w := range d.words {
		s.Tag(`<text x="%s" y="%s" font-size="%s" class="wd %s"%s%s>%s</text>`, svg.Px(w.box.X+w.box.W/2), svg.Px(w.box.Y-lift+gap/2+w.size*0.84), svg.Px(w.size), svg.FillClass(i%8), svg.Anchor("middle", svg.RTL(w.text)), w.length(), svg.Escape(w.text))
	}
	data := d.page.End(&s)
	var top []string
	for _, w := range d.words[:min(10, len(d.words))] {
		top = append(top, svg.Clip(w.text))
	}
	return d.page.Drawing("word cloud", data, map[string]any{"WordCount": len(d.words), "TopWords": top}), nil
}

// word is one entry with its type size and its place.
type word struct {
	text   string
	weight float64
	size   float64
	box    svg.Box
}

// drawing is a checked request; words are in descending order of weight.
type drawing struct {
	page  svg.Page
	words []word
}

func read(p map[string]any) (*drawing, error) {
	page, err := svg.ReadPage(p, DefaultWidth, DefaultHeight)
	if err != nil {
		return nil, err
	}
	d := &drawing{page: page}
	limit := float64(DefaultWords)
	if p["MaxWords"] != nil {
		v, ok := value.Number(p["MaxWords"])
		if !ok || !(v >= 1 && v <= MaxWords) {
			return nil, svg.Invalid("MaxWords is %s: give a number from 1 to %d", svg.Clip(value.Text(p["MaxWords"])), MaxWords)
		}
		limit = v
	}
	if d.words, err = words(p["Words"], p["Text"]); err != nil {
		return nil, err
	}
	slices.SortStableFunc(d.words, func(a, b word) int { return cmp.Compare(b.weight, a.weight) })
	all := len(d.words)
	d.words = d.words[:min(all, int(limit))]
	var list []string
	for _, w := range d.words[:min(12, len(d.words))] {
		list = append(list, svg.Clip(w.text)+" "+chart.Grouped(w.weight, "en"))
	}
	d.page.Alt = cmp.Or(page.Alt, fmt.Sprintf("Word cloud: %s. The heaviest words: %s.", strings.TrimRight(page.Title, ".!? "), strings.Join(list, ", ")))
	if all > len(d.words) {
		d.page.Omit(fmt.Sprintf("Shows the %d heaviest of %d words.", len(d.words), all))
	}
	return d, nil
}
