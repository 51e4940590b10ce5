package wordcloud

import (
	"fmt"
	"math"
	"strings"

	"atelier/draw/svg"
)

const (
	largest  = 84.0
	smallest = 9.0
	gap      = 3.0
)

// lay gives every word a size and a place in the area. Sizes follow the square root of the weights. If not all words
// fit, all of them become smaller; words that do not fit at the smallest sizes are omitted.
func lay(words []word, area svg.Box) (placed []word) {
	top := largest * math.Sqrt(area.W*area.H/(900*440))
	for range 23 {
		if placed = attempt(words, area, top, false); placed != nil {
			return placed
		}
		top *= 0.9
	}
	return attempt(words, area, top, true)
}

// attempt places words on a spiral from the centre, the heaviest first. If a word does not fit,
// attempt omits it if some is true, and returns nil otherwise.
func attempt(words []word, area svg.Box, top float64, some bool) []word {
	var out []word
	var taken []svg.Box
	most := words[0].weight
	for _, w := range words {
		w.size = max(min(smallest, top), math.Round(top*math.Sqrt(w.weight/most)*10)/10)
		if long := svg.Width(w.text, w.size*svg.Bold); long > area.W*0.6 { // shrink a long word rather than shorten it
			w.size = max(min(11, w.size), math.Floor(w.size*area.W*0.6/long))
		}
		w.text = svg.Fit(w.text, w.size*svg.Bold, area.W*0.96)
		wide := svg.Width(w.text, w.size*svg.Bold) + 2*gap
		high := w.size*1.08 + gap
		if b, ok := spiral(taken, area, wide, high); ok {
			w.box = b
			taken, out = append(taken, b), append(out, w)
		} else if !some {
			return nil
		}
	}
	return out
}

// spiral searches near the centre for a place that overlaps no taken one. It moves the box that it
// last overlapped to the front, because the next places are likely to overlap it as well.
func spiral(taken []svg.Box, area svg.Box, w, h float64) (svg.Box, bool) {
	if w > area.W || h > area.H {
		return svg.Box{}, false
	}
	c := area.Center()
	flat := area.H / area.W
	far := math.Hypot(area.W, area.H/flat) / 2
	for t := 0.0; 2.2*t <= far; t += min(0.35, 6/(1+t*2.2)) {
		r := 2.2 * t
		sin, cos := math.Sincos(t)
		b := svg.Box{X: c.X + r*cos - w/2, Y: c.Y + r*sin*flat - h/2, W: w, H: h}
		if b.X < area.X || b.Y < area.Y || b.Right() > area.Right() || b.Bottom() > area.Bottom() {
			continue
		}
		met := 0
		for met < len(taken) && !b.Overlaps(taken[met]) { // not slices.IndexFunc: this is most of a cloud's time
			met++
		}
		if met == len(taken) {
			return b, true
		}
		taken[0], taken[met] = taken[met], taken[0]
	}
	return svg.Box{}, false
}

// length returns attributes that fix the width of a word in Latin letters, because typefaces differ
// in width. The width of other scripts is estimated on the safe side.
func (w word) length() string {
	if len(w.text) < 2 || strings.ContainsFunc(w.text, func(r rune) bool { return r > 0x24f }) {
		return ""
	}
	const natural = 0.92 // of the estimate: about the width in common typefaces
	return fmt.Sprintf(` textLength="%s" lengthAdjust="spacingAndGlyphs"`, svg.Px((w.box.W-2*gap)*natural))
}
