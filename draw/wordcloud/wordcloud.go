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
	page, all, err := read(params)
	if err != nil {
		return svg.Drawing{}, err
	}
	area := svg.Box{X: page.Pad(), Y: page.Head(), W: page.W - 2*page.Pad(), H: max(40, page.H-page.Foot()-page.Head())}
	words := lay(all, area)
	if n := len(all) - len(words); n > 0 {
		page.Omit("Left out for want of room: " + graph.Count(n, "word") + ".")
	}
	// Reduce the page to the height that the words need.
	low, high := area.Bottom(), area.Y
	for _, w := range words {
		low, high = min(low, w.box.Y), max(high, w.box.Bottom())
	}
	lift := low - area.Y
	page.H = math.Ceil(page.H - lift - (area.Bottom() - high))
	var s svg.Canvas
	page.Begin(&s, svg.CSS()+".wd{font-weight:650}")
	page.Frame(&s)
	for i, w := range words {
		s.Tag(`<text x="%s" y="%s" font-size="%s" class="wd %s"%s%s>%s</text>`, svg.Px(w.box.X+w.box.W/2), svg.Px(w.box.Y-lift+gap/2+w.size*0.84), svg.Px(w.size), svg.FillClass(i%8), svg.Anchor("middle", svg.RTL(w.text)), w.length(), svg.Escape(w.text))
	}
	data := page.End(&s)
	var top []string
	for _, w := range words[:min(10, len(words))] {
		top = append(top, svg.Clip(w.text))
	}
	return page.Drawing("word cloud", data, map[string]any{"WordCount": len(words), "TopWords": top}), nil
}

// word is one entry with its type size and its place.
type word struct {
	text   string
	weight float64
	size   float64
	box    svg.Box
}

// read returns the page and the words, the heaviest first.
func read(p map[string]any) (svg.Page, []word, error) {
	page, err := svg.ReadPage(p, DefaultWidth, DefaultHeight)
	if err != nil {
		return page, nil, err
	}
	limit := float64(DefaultWords)
	if p["MaxWords"] != nil {
		v, ok := value.Number(p["MaxWords"])
		if !ok || !(v >= 1 && v <= MaxWords) {
			return page, nil, svg.Invalid("MaxWords is %s: give a number from 1 to %d", svg.Clip(value.Text(p["MaxWords"])), MaxWords)
		}
		limit = v
	}
	all, err := words(p["Words"], p["Text"])
	if err != nil {
		return page, nil, err
	}
	slices.SortStableFunc(all, func(a, b word) int { return cmp.Compare(b.weight, a.weight) })
	kept := all[:min(len(all), int(limit))]
	var list []string
	for _, w := range kept[:min(12, len(kept))] {
		list = append(list, svg.Clip(w.text)+" "+chart.Grouped(w.weight, "en"))
	}
	page.Alt = cmp.Or(page.Alt, fmt.Sprintf("Word cloud: %s. The heaviest words: %s.", strings.TrimRight(page.Title, ".!? "), strings.Join(list, ", ")))
	if len(all) > len(kept) {
		page.Omit(fmt.Sprintf("Shows the %d heaviest of %d words.", len(kept), len(all)))
	}
	return page, kept, nil
}
