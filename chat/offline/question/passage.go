package question

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Document is a text that sentences are quoted from.
type Document struct {
	Path, Title, Text string
}

// Quote is whole sentences of a document, word for word.
type Quote struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// sentence is one sentence, list item or row of a text, with the headings above it.
type sentence struct {
	text, heading string
	words         []token
	headWords     []token
}

const (
	// mostQuotes is how many quotes answer one part.
	mostQuotes = 2
	// mostOfTopic is how many sentences tell of a topic.
	mostOfTopic = 5
	// tooMany sentences that fit alike answer nothing.
	tooMany = 4
)

// Quotes finds the sentences that hold every content word of a part of a question, the
// fitting ones first. A question for a number or a time takes sentences with one.
func Quotes(part string, lang Language, docs []Document) []Quote {
	r := reader{lex: newLexicon(), lang: lang, src: &Source{}}
	r.tokenize(part)
	want, figure, beyond := r.content()
	if len(want) == 0 || beyond {
		return nil
	}
	type scored struct {
		quote Quote
		score int
	}
	var found []scored
	for _, d := range docs {
		for _, s := range r.sentences(d.Text) {
			if score, ok := r.holds(s, want, figure); ok {
				found = append(found, scored{Quote{d.Path, d.Title, s.text}, score})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return b.score - a.score })
	if len(found) == 0 {
		if qs := r.under(want, docs); len(qs) > 0 {
			return qs
		}
		return r.nearly(want, figure, docs)
	}
	best := 0
	for best < len(found) && found[best].score == found[0].score {
		best++
	}
	if best >= tooMany || len(want) == 1 && len(found) >= tooMany {
		return nil
	}
	var out []Quote
	for _, f := range found {
		if len(out) < mostQuotes && f.score >= found[0].score-10 && !slices.Contains(out, f.quote) {
			out = append(out, f.quote)
		}
	}
	return out
}

// nearly finds the one sentence that has all words but one of at least three, the rarest
// of them included: who do I call when the coffee machine is broken.
func (r *reader) nearly(want []token, figure bool, docs []Document) []Quote {
	if len(want) < 3 {
		return nil
	}
	seen := make([]int, len(want))
	for _, d := range docs {
		for _, s := range r.sentences(d.Text) {
			for i, w := range want {
				if r.among(w, s.words) > 0 {
					seen[i]++
				}
			}
		}
	}
	var out []Quote
	for _, d := range docs {
		for _, s := range r.sentences(d.Text) {
			missing, rare := 0, false
			for i, w := range want {
				switch {
				case r.among(w, s.words) > 0:
					rare = rare || seen[i] == 1
				case w.num != nil || w.quoted:
					missing = len(want) // a number is never beside the point
				default:
					missing++
				}
			}
			if missing == 1 && rare && (!figure || hasFigure(s.words)) {
				out = append(out, Quote{d.Path, d.Title, s.text})
			}
		}
	}
	if len(out) != 1 {
		return nil
	}
	return out
}

// under finds what stands first under the headings that have every word of a topic; a
// question is not answered by a heading.
func (r *reader) under(want []token, docs []Document) []Quote {
	for i := range r.ts {
		if r.asksAt(i) > 0 {
			return nil
		}
	}
	var out []Quote
	for _, d := range docs {
		for _, s := range r.sentences(d.Text) {
			missing := slices.ContainsFunc(want, func(w token) bool { return r.among(w, s.headWords) < 3 && !r.soft(w) })
			if !missing && len(out) < mostOfTopic {
				out = append(out, Quote{d.Path, d.Title, s.text})
			}
		}
	}
	return out
}

// content are the words that a sentence must hold; figure asks for a number in it.
func (r *reader) content() (want []token, figure, beyond bool) {
	for i := 0; i < len(r.ts); i++ {
		t := r.ts[i]
		figure = figure || r.aggregateAt(i)
		if n := r.asksAt(i); n > 0 {
			figure = figure || r.figureAt(i, n)
			i += n - 1
			continue
		}
		if n := r.idleAt(i); n > 1 {
			i += n - 1
			continue
		}
		for _, p := range r.lex.phrases[t.fold] {
			if p.kind == kindNever && len(p.words) == 1 {
				beyond = true
			}
		}
		if t.quoted || !r.lex.fill[t.fold] && !r.empty(t) && (len(t.fold) > 1 || t.num != nil) {
			want = append(want, t)
		}
	}
	return want, figure, beyond
}

// idleAt is the length of the phrase at a token that says nothing of its own: run out.
func (r *reader) idleAt(i int) int {
	for _, p := range r.lex.phrases[r.ts[i].fold] {
		if n := len(p.words); p.kind == kindFill && i+n <= len(r.ts) && slices.EqualFunc(p.words, r.ts[i:i+n], func(w string, t token) bool { return w == t.fold }) {
			return n
		}
	}
	return 0
}

// aggregateAt reports whether words of aggregation stand at a token: on average, in total. What they ask
// for is a number.
func (r *reader) aggregateAt(i int) bool {
	return slices.ContainsFunc(r.lex.phrases[r.ts[i].fold], func(p phrase) bool {
		return p.kind == kindAgg && i+len(p.words) <= len(r.ts) && slices.EqualFunc(p.words, r.ts[i:i+len(p.words)], func(w string, t token) bool { return w == t.fold })
	})
}

// figureAt says whether an asking phrase wants a number or a time.
func (r *reader) figureAt(i, n int) bool {
	return slices.ContainsFunc(r.lex.phrases[r.ts[i].fold], func(p phrase) bool {
		return p.kind == kindAsk && len(p.words) == n && p.words[n-1] == r.ts[i+n-1].fold && (p.arg == "many" || p.arg == "much" || p.arg == "people" || p.arg == "when")
	})
}

// asksAt is the length of the asking phrase at a token.
func (r *reader) asksAt(i int) int {
	for _, p := range r.lex.phrases[r.ts[i].fold] {
		if p.kind != kindAsk || i+len(p.words) > len(r.ts) {
			continue
		}
		if slices.EqualFunc(p.words, r.ts[i:i+len(p.words)], func(w string, t token) bool { return w == t.fold }) {
			return len(p.words)
		}
	}
	return 0
}

// empty are words of questions that need not stand in an answer.
func (r *reader) empty(t token) bool {
	for _, p := range r.lex.phrases[t.fold] {
		switch p.kind {
		case kindJoin, kindBound, kindBy, kindVersus, kindAsk:
			if len(p.words) == 1 {
				return true
			}
		}
	}
	return articles[t.fold]
}

// holds says whether a sentence has all words that are wanted, and how well it fits.
func (r *reader) holds(s sentence, want []token, figure bool) (int, bool) {
	own, score := 0, 0
	for _, w := range want {
		switch l := r.among(w, s.words); {
		case l > 0:
			own++
			score += 10 * l
		case r.among(w, s.headWords) > 1:
			score += 5
		case r.lex.phrases[w.fold] != nil && r.soft(w):
		default:
			return 0, false
		}
	}
	if own == 0 || own*2 < len(want) || figure && !hasFigure(s.words) {
		return 0, false
	}
	return score - len(s.words)/4, true
}

// soft are words that stand for how a question counts: total, average, per year, maximum.
func (r *reader) soft(w token) bool {
	return slices.ContainsFunc(r.lex.phrases[w.fold], func(p phrase) bool {
		return p.kind == kindAgg && p.arg == "sum" || p.kind == kindTrend
	})
}

// among is how well a word is found among others: 3 itself, 2 a synonym, 1 in a compound.
func (r *reader) among(w token, words []token) int {
	best := 0
	for _, o := range words {
		switch {
		case w.stem == o.stem || w.fold == o.fold:
			return 3
		case w.num != nil && o.num != nil && *w.num == *o.num:
			return 3
		case !w.quoted && r.lex.shared(w.stem, o.stem):
			best = max(best, 2)
		case len(w.stem) >= 5 && strings.Contains(o.fold, w.stem), len(o.stem) >= 5 && strings.Contains(w.fold, o.stem):
			best = max(best, 1)
		case len(w.stem) >= 5 && len(o.stem) >= 5 && w.stem[:5] == o.stem[:5]:
			best = max(best, 1)
		}
	}
	return best
}

// hasFigure says whether words hold a number.
func hasFigure(words []token) bool {
	return slices.ContainsFunc(words, func(t token) bool {
		_, named := numberWords[t.fold]
		_, month := monthNames[t.fold]
		_, day := weekdayNames[strings.TrimSuffix(t.fold, "s")]
		return named || t.num != nil || strings.ContainsFunc(t.raw, unicode.IsDigit) || month || day || t.fold == "einem" || t.fold == "einen" || t.fold == "half" || t.fold == "daily" || t.fold == "taglich"
	})
}

var (
	markdownLink = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	markdownMark = regexp.MustCompile("[*`]{1,3}|\\b_{1,3}\\B|\\B_{1,3}\\b")
	listItem     = regexp.MustCompile(`^(?:[-*+•–]|\d{1,2}[.)])\s+`)
	tableRule    = regexp.MustCompile(`^[|\s:-]+$`)
)

// sentences splits a text: sentences of paragraphs, items of lists, rows of tables.
func (r *reader) sentences(text string) []sentence {
	var out []sentence
	var headings [7]string
	paragraph, code := "", false
	lead := "" // what the item at hand is about: **Bristol office**:
	add := func(s string) {
		s = strings.TrimSpace(markdownMark.ReplaceAllString(markdownLink.ReplaceAllString(s, "$1"), ""))
		if n := len(strings.Fields(s)); n < 2 || n > 80 || strings.HasSuffix(s, "?") {
			return // a question answers nothing
		}
		heading := strings.TrimSpace(strings.Join(headings[:], " "))
		out = append(out, sentence{text: s, heading: heading, words: tokens(fullTime(lead+s), r.lang), headWords: tokens(fullTime(heading), r.lang)})
	}
	flush := func() {
		for i, s := range wholeSentences(paragraph) {
			if add(s); i == 0 {
				lead = leadOf(s)
			}
		}
		paragraph, lead = "", ""
	}
	for _, line := range strings.Split(text, "\n") {
		t := strings.TrimSpace(line)
		if strings.HasPrefix(t, "```") {
			code = !code
			continue
		}
		switch {
		case code, tableRule.MatchString(t) && t != "":
		case t == "":
			flush()
		case strings.HasPrefix(t, "#"):
			flush()
			n := min(len(t)-len(strings.TrimLeft(t, "#")), 6)
			headings[n] = strings.TrimSpace(strings.TrimLeft(t, "#"))
			clear(headings[n+1:])
		case strings.HasPrefix(t, "|"):
			flush()
			add(strings.Join(strings.FieldsFunc(t, func(c rune) bool { return c == '|' }), "·"))
		case listItem.MatchString(t):
			flush()
			paragraph = listItem.ReplaceAllString(t, "")
		default:
			paragraph = strings.TrimSpace(paragraph + " " + t)
		}
	}
	flush()
	return out
}

// leadOf is the name at the beginning of an item, before its colon.
func leadOf(s string) string {
	name, _, ok := strings.Cut(s, ":")
	if !ok || len(strings.Fields(name)) > 4 {
		return ""
	}
	return name + " "
}

var sentenceEnd = regexp.MustCompile(`[.!?]["”“»')\]]*\s+`)

// wholeSentences splits a paragraph at the ends of its sentences.
func wholeSentences(p string) []string {
	var out []string
	from := 0
	for _, at := range sentenceEnd.FindAllStringIndex(p, -1) {
		if p[at[0]] == '.' && abbreviated(p[from:at[0]], p[at[1]:]) {
			continue
		}
		if next := p[at[1]:]; next != "" && unicode.IsLower([]rune(next)[0]) {
			continue
		}
		out = append(out, strings.TrimSpace(p[from:at[1]]))
		from = at[1]
	}
	return append(out, strings.TrimSpace(p[from:]))
}

// ContentWords are the words of a part that say what it is about, as they are written.
func ContentWords(part string, lang Language) []string {
	r := reader{lex: newLexicon(), lang: lang, src: &Source{}}
	r.ts = append(r.ts, tokens(part, lang)...)
	want, _, _ := r.content()
	var out []string
	for _, w := range want {
		out = append(out, w.raw)
	}
	return out
}
