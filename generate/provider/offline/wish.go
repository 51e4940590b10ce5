package offline

import (
	_ "embed"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

//go:embed vocabulary.txt
var vocabularyText string

// meaning is the kind and the name of a word's line in vocabulary.txt.
type meaning struct{ kind, name string }

// english and german hold the meanings of words and of phrases joined by underscores. They are read-only.
var english, german = readVocabulary(vocabularyText)

func readVocabulary(text string) (en, de map[string][]meaning) {
	en, de = map[string][]meaning{}, map[string][]meaning{}
	for line := range strings.Lines(text) {
		head, list, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		kind, name, _ := strings.Cut(head, " ")
		known := en
		for w := range strings.FieldsSeq(list) {
			if w == "|" {
				known = de
			} else {
				known[w] = append(known[w], meaning{kind, name})
			}
		}
	}
	return en, de
}

// word is a word or a phrase of a prompt, as written and in the form for look-up, with its meanings. A comma stands for
// every mark that ends a clause.
type word struct {
	written, folded string
	means           []meaning
}

var (
	umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss")
	clauses = strings.NewReplacer("can't", "can not", "can’t", "can not", "won't", "will not", "won’t", "will not", "n't", " not", "n’t", " not", ",", " , ", ".", " , ", ";", " , ", ":", " , ", "!", " , ", "?", " , ", "\n", " , ")
)

// split returns the words of a text, known phrases of up to four words as one.
func split(text string) (out []word) {
	var written, folded []string
	balance := 0 // of German words over English ones
	for _, w := range strings.FieldsFunc(clauses.Replace(norm.NFC.String(text)), func(r rune) bool { return r != ',' && !unicode.In(r, unicode.L, unicode.M, unicode.Nd) }) {
		f := umlauts.Replace(strings.ToLower(w))
		balance += btoi(german[f] != nil) - btoi(english[f] != nil)
		written, folded = append(written, w), append(folded, f)
	}
	for len(written) > 0 {
		var w word
		for n := min(4, len(written)); n > 0 && w.means == nil; n-- {
			w = word{strings.Join(written[:n], " "), strings.Join(folded[:n], "_"), find(strings.Join(folded[:n], "_"), balance >= 0)}
		}
		if w.means == nil {
			w.means = read(w.folded, balance >= 0)
		}
		n := strings.Count(w.folded, "_") + 1
		out, written, folded = append(out, w), written[n:], folded[n:]
	}
	return out
}

// find returns the meanings of a word or a phrase; in a German text also of German words.
func find(w string, inGerman bool) []meaning {
	known, ends := []map[string][]meaning{english}, []string{"", "s", "es"}
	if inGerman {
		known, ends = []map[string][]meaning{german, english}, append(ends, "e", "en", "er", "em", "n")
	}
	for _, k := range known {
		for _, end := range ends {
			if stem, ok := strings.CutSuffix(w, end); ok && (end == "" || len(stem) > 2) && k[stem] != nil {
				return k[stem]
			}
		}
	}
	return nil
}

// read returns the meanings of a word that find does not know: numbers, German words made of two known ones (Bergsee,
// Nachthimmel), and words with the ending of an adjective, an adverb or a participle, which name nothing that a picture
// could lack.
func read(w string, inGerman bool) []meaning {
	if n, _ := strconv.Atoi(w); n > 0 { // the maximum for a number that is too large
		return []meaning{{"count", strconv.Itoa(min(n, 99))}}
	} else if len(w) < 2 {
		return []meaning{{"plain", ""}}
	}
	endings := english
	if inGerman {
		endings = german
	}
	for k := 3; k < len(w)-1 && len(w) < 60; k++ { // no word is longer
		for _, joint := range []string{"", "s", "n", "en", "e"} {
			first, ok := strings.CutSuffix(w[:k], joint)
			head := find(w[k:], true)
			if ok && inGerman && len(first) > 2 && german[first] != nil && head != nil && among("thing tag part plain", head[0].kind) {
				return append(slices.Clone(german[first]), head...)
			}
		}
		if len(w) > 5 && endings["~"+w[k:]] != nil {
			return endings["~"+w[k:]]
		}
	}
	return nil
}

func among(list, name string) bool { return slices.Contains(strings.Fields(list), name) }

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Things that stand alone and can be counted or added to a picture; other things cover whole areas.
const (
	countable = "house tree lighthouse boat turbine bird flower eco"
	addable   = countable + " train sun moon star cloud"
	maxDrawn  = 12
)

// wish is what a prompt asks for. Things and tags have the names of vocabulary.txt.
type wish struct {
	things      map[string]int // number of each; 0 if the prompt does not say
	order       []string       // in order of mention
	tags        map[string]bool
	hues        []rgba            // colours of the whole picture
	tint        map[string][]rgba // one colour for each of them, as far as the prompt names them
	scale, side map[string]float64
	adds, turns bool        // an edit asks for something new, for another look of what is there
	shown       [][2]string // what the picture follows: a thing or tag, and its words in the prompt
	unknown     []string    // words for what it does not follow
}

func (b *wish) has(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { _, ok := b.things[n]; return ok })
}

// remove removes a thing or a tag.
func (b *wish) remove(name string) {
	delete(b.things, name)
	delete(b.tags, name)
	b.order = slices.DeleteFunc(b.order, func(o string) bool { return o == name })
	b.shown = slices.DeleteFunc(b.shown, func(p [2]string) bool { return p[0] == name })
	b.tags["no-"+name] = true
}

func (b *wish) addUnknown(words string) {
	if !slices.Contains(b.unknown, words) {
		b.unknown = append(b.unknown, words)
	}
}

// readDrawing reads what to draw. It omits what the prompt negates and what the negative prompt names.
func readDrawing(prompt, negative, style string) *wish {
	b, avoid := readWish(prompt+", "+style, false), readWish(negative, false)
	for _, name := range append(avoid.order, slices.Collect(maps.Keys(avoid.tags))...) {
		b.remove(name)
	}
	return b
}

// reader reads a prompt from left to right.
type reader struct {
	*wish
	edit   bool
	avoid  bool              // a negation covers the words
	said   map[string]string // the count, hue and size said of the next thing
	saying string            // their words
	last   string            // the last thing
	at     int               // remaining words that name a place rather than a thing to add
}

// readWish reads a drawing or an edit.
func readWish(text string, edit bool) *wish {
	b := &wish{things: map[string]int{}, tags: map[string]bool{}, tint: map[string][]rgba{}, scale: map[string]float64{}, side: map[string]float64{}}
	r, missed := &reader{wish: b, edit: edit, said: map[string]string{}}, false
	for _, w := range split(text) {
		r.at--
		lost := len(w.means) == 0 || w.means[0].kind == "unknown"
		if w.folded == "," || !lost && w.means[0].kind == "at" || among("and but with und aber mit", w.folded) {
			r.avoid = false
		}
		switch n := len(b.unknown); {
		case w.folded == ",":
			r.settle()
			r.at = 0
		case r.avoid:
			r.negate(w, lost)
		case lost && missed: // Van Gogh
			b.unknown[n-1] += " " + w.written
		case lost:
			r.settle()
			b.addUnknown(w.written)
		}
		for _, m := range w.means {
			if !r.avoid {
				r.follow(w, m)
			}
		}
		missed = lost && !r.avoid && len(b.unknown) > 0
	}
	r.settle()
	return b
}

// negate leaves out what a word names; an edit cannot do that.
func (r *reader) negate(w word, lost bool) {
	for _, m := range w.means {
		if among("thing things tag", m.kind) {
			r.remove(m.name)
		}
	}
	if r.edit && (lost || among("thing things tag hue", w.means[0].kind)) {
		r.addUnknown(w.written)
	}
}

// follow does what a word says.
func (r *reader) follow(w word, m meaning) {
	_, changes := effects[m.name]
	switch m.kind {
	case "thing", "things":
		r.thing(w, m)
	case "tag", "edit":
		r.settle()
		if r.edit && (changes || m.kind == "edit") || !r.edit && m.kind == "tag" {
			r.tags[m.name] = true
			r.shown = append(r.shown, [2]string{m.name, w.written})
		} else if r.edit || changes {
			r.addUnknown(w.written)
		}
	case "hue", "size", "count":
		if m.kind == "hue" && r.said["hue"] != "" {
			r.settle()
		}
		r.said[m.kind], r.saying = m.name, strings.TrimSpace(r.saying+" "+w.written)
	case "verb":
		r.settle()
		r.adds, r.turns = r.adds || m.name == "add", r.turns || m.name == "turn"
	case "at":
		r.at = 3
	case "not":
		if r.avoid = true; r.edit {
			r.addUnknown(w.written)
		}
	case "part":
		if r.edit && !r.adds {
			r.addUnknown(w.written)
		}
		r.side[r.last] = map[string]float64{"left": -1, "right": 1}[m.name]
	}
}

// settle ends what is said of the next thing; a colour without a thing applies to the picture.
func (r *reader) settle() {
	if hue := r.said["hue"]; hue != "" {
		r.hues, r.shown = append(r.hues, hueOf(hue)), append(r.shown, [2]string{"", r.saying})
	}
	r.said, r.saying = map[string]string{}, ""
}

// hueOf returns a colour of vocabulary.txt.
func hueOf(name string) rgba {
	v, _ := strconv.ParseUint(name, 16, 32) // the file is part of the program
	return hex(uint32(v))
}

// thing adds a thing with what is said of it.
func (r *reader) thing(w word, m meaning) {
	if r.edit && (!r.adds || !among(addable, m.name)) {
		if !r.adds || r.at < 0 {
			r.addUnknown(w.written)
		}
		return
	}
	n, _ := strconv.Atoi(r.said["count"]) // 0 if it is not said
	most := 1
	if among(countable, m.name) {
		if most = maxDrawn; n == 0 && m.kind == "thing" && (english[w.folded] != nil || german[w.folded] != nil) {
			n = 1
		}
	}
	if n > most {
		r.addUnknown(r.saying + " " + w.written)
	}
	n = min(n, most)
	total := max(n, r.things[m.name])
	if hue := r.said["hue"]; hue != "" && singles[m.name].accent != 0 { // a red boat and a white boat are two boats
		total = min(max(total, len(r.tint[m.name])+n), most)
		for range max(1, n) {
			r.tint[m.name] = append(r.tint[m.name], hueOf(hue))
		}
	} else if hue != "" {
		r.hues = append(r.hues, hueOf(hue))
	}
	if size := r.said["size"]; size != "" {
		r.scale[m.name], _ = strconv.ParseFloat(size, 64)
	}
	if !r.has(m.name) {
		r.order = append(r.order, m.name)
	}
	r.shown = append(r.shown, [2]string{m.name, strings.TrimSpace(r.saying + " " + w.written)})
	r.things[m.name], r.last, r.said, r.saying = total, m.name, map[string]string{}, ""
}

// Painter reports what the driver draws and changes, without drawing. The zero value is ready to use.
type Painter struct{}

// UnknownWords returns the words of a prompt, English or German, that name what the driver cannot draw, as written:
// cats, sofa; a number with its thing if it cannot draw that many. Words for light, weather and colour that it
// follows, and words without visible content, are known.
func (Painter) UnknownWords(prompt string) []string { return readDrawing(prompt, "", "").unknown }

// UnknownChanges returns the words of an edit that the driver cannot apply to a whole picture: things that it cannot
// add, parts that cannot be changed alone. If it knows no change in the text, it returns the text itself.
func (Painter) UnknownChanges(change string) []string {
	b := readWish(change, true)
	if len(b.unknown)+len(b.tags)+len(b.hues)+len(b.things) == 0 {
		return []string{change}
	}
	return b.unknown
}
