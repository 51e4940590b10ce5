package offline

import (
	"slices"
	"strconv"
	"strings"
)

// thing is something that can be drawn, named as in vocabulary.txt.
type thing = string

// Things that stand alone and can be counted or added to a picture; other things cover whole areas.
const (
	countable = "house tree lighthouse boat turbine pylon factory balloon bird flower eco"
	addable   = countable + " train sun moon star cloud"
	maxDrawn  = 12
	// plurals are words for several things without a number or a plural ending.
	plurals = "harbour harbor hafen village flock grove flower_meadow flower_field wind_farm windpark dorf doerfer haeuser vogelschwarm voegel baeume " +
		"leuchttuerme windraeder strommasten blumenwiese"
)

func among(list, name string) bool { return slices.Contains(strings.Fields(list), name) }

// wording is what a prompt asks for.
type wording struct {
	things  map[thing]int // number of each; 0 if the prompt does not say
	order   []thing       // in order of mention
	tags    map[string]bool
	edits   map[string]bool  // changes of an edit other than tags and hues
	hues    []rgba           // colours of the whole picture
	tint    map[thing][]rgba // one colour for each of them, as far as the prompt names them
	scale   map[thing]float64
	side    map[thing]float64 // -1 left, 1 right
	adds    bool              // an edit asks for something new
	turns   bool              // an edit asks for another look of existing things
	shown   []phrase          // what the picture follows
	unknown []string          // words for things that are not drawn
}

// phrase is a part of a prompt, as written, and the thing or tag that it names.
type phrase struct{ name, words string }

func (b *wording) has(names ...thing) bool {
	return slices.ContainsFunc(names, func(n thing) bool { _, ok := b.things[n]; return ok })
}

func (b *wording) tag(t string) bool { return b.tags[t] }

// reader reads a prompt from left to right.
type reader struct {
	*wording
	german  bool
	edit    bool
	avoid   int    // remaining words that a negation covers
	negated bool   // whether the previous word was negated
	less    string // the word before that asks for less
	pending pending
	last    thing
	at      int  // remaining words that name a place rather than a thing to add
	missed  bool // whether the previous word was unknown
}

// pending holds the words that describe the next thing.
type pending struct {
	said      map[string]string // name of the meaning by kind: count, hue, size
	words     string
	remaining int // remaining words within which its thing must follow
}

func newWording() *wording {
	return &wording{
		things: map[thing]int{}, tags: map[string]bool{}, edits: map[string]bool{},
		tint: map[thing][]rgba{}, scale: map[thing]float64{}, side: map[thing]float64{},
	}
}

// readDrawing reads what to draw. It omits what the prompt negates and what the negative prompt names.
func readDrawing(prompt, negative, style string) *wording {
	b := newWording()
	b.read(prompt+", "+style, false)
	avoid := newWording()
	avoid.read(negative, false)
	for t := range avoid.things {
		b.removeThing(t)
	}
	for t := range avoid.tags {
		b.remove(t)
	}
	switch {
	case b.seascape():
		b.hide("train road river field solar")
		if b.things["flower"] == 0 {
			b.hide("flower")
		}
	case b.has("river"):
		b.hide("road")
	}
	return b
}

// hide makes words for things that the picture does not show unknown.
func (b *wording) hide(names string) {
	for _, p := range b.shown {
		if among(names, p.name) {
			b.addUnknown(p.words)
		}
	}
	b.shown = slices.DeleteFunc(b.shown, func(p phrase) bool { return among(names, p.name) })
}

// seascape reports whether a place is drawn by the sea rather than on land.
func (b *wording) seascape() bool {
	return b.has("sea", "beach", "boat") || b.has("lighthouse") && !b.has("mountain", "hill", "forest", "field", "desert", "city")
}

func readEdit(prompt string) *wording {
	b := newWording()
	b.read(prompt, true)
	return b
}

func (b *wording) removeThing(t thing) {
	b.remove(t)
	b.tags["no-"+t] = true
}

// remove removes a thing or a tag.
func (b *wording) remove(name string) {
	delete(b.things, name)
	delete(b.tags, name)
	b.order = slices.DeleteFunc(b.order, func(o thing) bool { return o == name })
	b.shown = slices.DeleteFunc(b.shown, func(p phrase) bool { return p.name == name })
}

func (b *wording) read(text string, edit bool) {
	all := tokens(text)
	r := &reader{wording: b, german: speaksGerman(all), edit: edit, pending: pending{said: map[string]string{}}}
	for len(all) > 0 {
		m, n := longestPhrase(all, r.german)
		var written, folded []string
		for _, t := range all[:n] {
			written, folded = append(written, t.written), append(folded, t.folded)
		}
		r.word(strings.Join(written, " "), strings.Join(folded, "_"), m)
		all = all[n:]
	}
	r.discardPending()
}

// word handles one word or phrase.
func (r *reader) word(written, folded string, all []meaning) {
	if r.pending.remaining--; r.pending.remaining == 0 {
		r.discardPending()
	}
	r.at--
	if r.negated && among("or nor oder noch", folded) {
		r.avoid = 3
		return
	}
	r.negated = false
	if r.avoid--; r.avoid >= 0 {
		for _, m := range all {
			switch m.kind {
			case "thing":
				r.removeThing(m.name)
				r.avoid, r.negated = 0, true
			case "tag":
				r.remove(m.name)
				r.negated = true
			case "not":
				r.avoid = 3
			}
		}
		return
	}
	if n := number(folded); n > 0 {
		all = []meaning{{"count", strconv.Itoa(n)}}
	}
	if all == nil {
		if !looksLikeModifier(folded, r.german) && number(folded) == 0 && folded != "0" && len(folded) > 1 {
			if n := len(r.unknown); r.missed && n > 0 {
				written, r.unknown = r.unknown[n-1]+" "+written, r.unknown[:n-1]
			}
			r.addUnknown(written)
			r.discardPending()
			r.missed = true
		}
		return
	}
	r.missed = false
	many := among(plurals, folded)
	for _, m := range all {
		r.applyMeaning(written, m, many || vocabulary.english[folded] == nil && vocabulary.german[folded] == nil)
	}
}

// opposites maps a tag to the meaning of "less" of it.
var opposites = map[string]string{"dark": "bright", "bright": "dark", "warm": "cool", "cool": "warm", "vivid": "pastel", "pastel": "vivid"}

func (r *reader) applyMeaning(written string, m meaning, many bool) {
	switch m.kind {
	case "thing":
		r.thing(written, m.name, many)
	case "tag", "edit":
		_, changes := effects[m.name]
		opposite, followed := opposites[m.name], true
		switch {
		case m.kind == "edit":
			r.edits[m.name] = true
			if followed = r.edit; !followed && among("invert blur upside", m.name) {
				r.addUnknown(written)
			}
		case r.edit && !changes, r.less != "" && opposite == "":
			followed = false
			r.addUnknown(written)
		case r.less == "":
			r.tags[m.name] = true
		default:
			r.tags[opposite] = true
		}
		r.discardPending()
		if followed {
			r.shown = append(r.shown, phrase{m.name, strings.TrimSpace(r.less + " " + written)})
		}
		r.less = ""
	case "hue", "size", "count":
		if m.kind == "hue" && r.less != "" {
			r.addUnknown(written)
			r.less = ""
			return
		}
		if m.kind == "hue" && r.pending.said["hue"] != "" {
			r.discardPending()
		}
		r.pending.said[m.kind] = m.name
		r.pending.words, r.pending.remaining = strings.TrimSpace(r.pending.words+" "+written), 4
	case "verb":
		r.adds, r.turns = r.adds || m.name == "add", r.turns || m.name == "turn"
	case "at":
		r.at = 3
	case "less":
		if r.edit {
			r.less = written
		}
	case "not":
		if r.edit {
			r.addUnknown(written)
		} else {
			r.avoid = 3
		}
	case "part":
		switch {
		case r.edit && !r.adds:
			r.addUnknown(written)
		case m.name == "left":
			r.side[r.last] = -1
		case m.name == "right":
			r.side[r.last] = 1
		}
	}
}

// discardPending discards pending words; a colour without a thing applies to the picture.
func (r *reader) discardPending() {
	if hue := r.pending.said["hue"]; hue != "" {
		r.hues, r.shown = append(r.hues, hueOf(hue)), append(r.shown, phrase{"", r.pending.words})
	}
	r.pending = pending{said: map[string]string{}}
}

// hueOf returns a colour of vocabulary.txt.
func hueOf(name string) rgba {
	v, _ := strconv.ParseUint(name, 16, 32) // the file is part of the program
	return hex(uint32(v))
}

// thing adds a thing with the pending words before it.
func (r *reader) thing(written string, name thing, many bool) {
	if r.edit && (!r.adds || !among(addable, name)) {
		if !r.adds || r.at < 0 {
			r.addUnknown(written)
		}
		return
	}
	p := &r.pending
	if size := p.said["size"]; size != "" {
		r.scale[name], _ = strconv.ParseFloat(size, 64)
	}
	n, hue := number(p.said["count"]), p.said["hue"]
	switch most := maxCount(name); {
	case n > most:
		r.addUnknown(p.words + " " + written)
		n = most
	case n == 0 && !many && among(countable, name):
		n = 1
	}
	total := max(n, r.things[name])
	switch {
	case hue == "":
	case accents[name] == 0:
		r.hues = append(r.hues, hueOf(hue))
	default: // a red boat and a white boat are two boats, each with its colour
		total = max(total, len(r.tint[name])+n)
		for range max(1, n) {
			r.tint[name] = append(r.tint[name], hueOf(hue))
		}
	}
	p.said["hue"] = ""
	if !r.has(name) {
		r.order = append(r.order, name)
	}
	r.shown = append(r.shown, phrase{name, strings.TrimSpace(p.words + " " + written)})
	r.things[name] = min(maxCount(name), total)
	r.last = name
	r.discardPending()
}

// maxCount returns the maximum number of a thing to draw on request.
func maxCount(name thing) int {
	if among(countable, name) {
		return maxDrawn
	}
	return 1
}

func (b *wording) addUnknown(word string) {
	if !slices.Contains(b.unknown, word) {
		b.unknown = append(b.unknown, word)
	}
}

// Painter reports what the driver draws and changes, without drawing. The zero value is ready to use.
type Painter struct{}

// UnknownWords returns the words of a prompt, English or German, that name what the driver cannot draw, as written:
// cats, sofa; a number with its thing if it cannot draw that many. Words for light, weather, colour and style that it
// follows, and words without visible content, are known.
func (Painter) UnknownWords(prompt string) []string { return readDrawing(prompt, "", "").unknown }

// UnknownChanges returns the words of an edit that the driver cannot apply to a whole picture: things that it cannot
// add, parts that cannot be changed alone. If it knows no change in the text, it returns the text itself.
func (Painter) UnknownChanges(change string) []string {
	b := readEdit(change)
	if len(b.unknown)+len(b.tags)+len(b.edits)+len(b.hues)+len(b.things) == 0 {
		return []string{change}
	}
	return b.unknown
}
