// Package passage finds the sentences of documents, and the lines of logs, that answer a
// question. It returns no errors. Of the packages of question, it imports only speech.
package passage

import (
	"slices"
	"strings"
	"unicode"

	"atelier/chat/offline/question/speech"
	"atelier/internal/pattern"
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
	text             string
	words, headWords []speech.Token
}

const (
	// maxQuotes is the maximum number of quotes that answer one part.
	maxQuotes = 2
	// maxOfTopic is the maximum number of sentences that are quoted about a topic.
	maxOfTopic = 5
	// tooMany is the number of equally fitting sentences from which on none is an answer.
	tooMany = 4
)

// passages finds what documents say about an utterance.
type passages struct{ speech.Utterance }

// Quotes finds the sentences that contain every content word of a part of a question, best
// first. For a question about a number or a time, they must contain one.
func Quotes(part string, lang speech.Language, docs []Document) []Quote {
	lex := speech.DefaultLexicon()
	r := passages{speech.Utterance{Lex: lex, Lang: lang, Vocabulary: speech.NewVocabulary()}}
	r.Tokenize(part)
	want, figure, beyond := r.content()
	if len(want) == 0 || beyond {
		return nil
	}
	counted, change, span := r.counted(want), r.asksChange(), r.asksSpan()
	type scored struct {
		quote Quote
		score int
	}
	var found []scored
	for _, d := range docs {
		for _, s := range r.sentences(d.Text) {
			if score, ok := r.holds(s, want, figure); ok && r.numbers(s, counted) && (!change || has(s, sizes)) && (!span || has(s, units) && !has(s, often)) {
				found = append(found, scored{Quote{d.Path, d.Title, s.text}, score})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return b.score - a.score })
	if len(found) == 0 {
		return r.under(want, docs)
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
		if len(out) < maxQuotes && f.score >= found[0].score-10 && !slices.Contains(out, f.quote) {
			out = append(out, f.quote)
		}
	}
	return out
}

// counted returns the word whose number is asked for: how many volunteers. It is nil if there is none.
func (r *passages) counted(want []speech.Token) *speech.Token {
	if p, ok := r.PhraseAt(0, speech.KindAsk); !ok || p.Arg != "many" || want[0].From != r.Tokens[len(p.Words)].From {
		return nil
	}
	return &want[0]
}

// asksChange reports whether the size of a change is asked for: how much churn fell. A sentence that only says to what
// it fell does not answer.
func (r *passages) asksChange() bool {
	p, ok := r.PhraseAt(0, speech.KindAsk)
	return ok && p.Arg == "much" && slices.ContainsFunc(r.Tokens, func(t speech.Token) bool {
		return slices.ContainsFunc(r.Lex.Phrases[t.Fold], func(p speech.Phrase) bool { return p.Kind == speech.KindTrend })
	})
}

// asksSpan reports whether the question is how long something lasts. A sentence without a unit of time, or that says how
// often, does not answer.
func (r *passages) asksSpan() bool {
	p, ok := r.PhraseAt(0, speech.KindAsk)
	return ok && p.About == "length"
}

var often = speech.Folded("every each daily weekly monthly yearly alle jede jeden jedes")

var units = speech.Folded("second seconds minute minutes hour hours night nights day days daily week weeks month months year years sekunde sekunden minuten stunde stunden tag tage tagen nacht nächte nächten woche wochen monat monate monaten jahr jahre jahren")

// has reports whether a sentence has one of several words.
func has(s sentence, words map[string]bool) bool {
	return slices.ContainsFunc(s.words, func(t speech.Token) bool { return words[t.Fold] })
}

// sizes are the words before the size of a change, or before what it began with.
var sizes = speech.Folded("by of from um von")

// numbers reports whether a sentence gives the number of what is counted: up to three words before it, or behind it.
func (r *passages) numbers(s sentence, counted *speech.Token) bool {
	if counted == nil {
		return true
	}
	if has(s, there) && !slices.ContainsFunc(r.Tokens, func(t speech.Token) bool { return there[t.Fold] }) {
		return false // 23 members present are not all members
	}
	for i, w := range s.words {
		if i > 0 && single[s.words[i-1].Fold] {
			continue // a jar of 500 g
		}
		if r.among(*counted, []speech.Token{w}) > 0 && (hasFigure(s.words[max(0, i-3):i]) || hasFigure(s.words[i:min(len(s.words), i+2)])) {
			return true
		}
	}
	return false
}

var single = speech.Folded("a an ein eine einem einen per pro je each")

var there = speech.Folded("present absent attended anwesend anwesende abwesend entschuldigt")

// under finds the first sentences below the headings that contain every word of a topic. A
// heading does not answer a question.
func (r *passages) under(want []speech.Token, docs []Document) []Quote {
	for i := range r.Tokens {
		if _, asks := r.PhraseAt(i, speech.KindAsk); asks {
			return nil
		}
	}
	var out []Quote
	for _, d := range docs {
		for _, s := range r.sentences(d.Text) {
			missing := slices.ContainsFunc(want, func(w speech.Token) bool { return r.among(w, s.headWords) < 3 && !r.soft(w) })
			if !missing && len(out) < maxOfTopic {
				out = append(out, Quote{d.Path, d.Title, s.text})
			}
		}
	}
	return out
}

// content returns the words that a sentence must contain, and whether it must contain a number or cannot answer.
func (r *passages) content() (want []speech.Token, figure, beyond bool) {
	for i := 0; i < len(r.Tokens); i++ {
		t := r.Tokens[i]
		_, aggregates := r.PhraseAt(i, speech.KindAgg) // on average, in total
		figure = figure || aggregates
		if p, ok := r.PhraseAt(i, speech.KindAsk); ok {
			figure = figure || p.Arg == "many" || p.Arg == "much" || p.Arg == "people" || p.Arg == "when"
			i += len(p.Words) - 1
			continue
		}
		if p, _ := r.PhraseAt(i, speech.KindFill); len(p.Words) > 1 {
			i += len(p.Words) - 1 // run out
			continue
		}
		for _, p := range r.Lex.Phrases[t.Fold] {
			if p.Kind == speech.KindNever && len(p.Words) == 1 {
				beyond = true
			}
		}
		if t.Quoted || !r.Lex.Fillers[t.Fold] && !r.Empty(t) && (len(t.Fold) > 1 || t.Num != nil) || i > 0 && len(t.Raw) == 1 && t.Raw >= "A" && t.Raw <= "Z" && t.Raw != "I" { // bed A
			want = append(want, t)
		}
	}
	return want, figure, beyond
}

// holds returns how well a sentence fits, and reports whether it contains all wanted words.
func (r *passages) holds(s sentence, want []speech.Token, figure bool) (int, bool) {
	own, score := 0, 0
	for _, w := range want {
		switch l := r.among(w, s.words); {
		case l > 0:
			own++
			score += 10 * l
		case r.among(w, s.headWords) > 1:
			score += 5
		case r.Lex.Phrases[w.Fold] != nil && r.soft(w):
		default:
			return 0, false
		}
	}
	if own == 0 || own*2 < len(want) || figure && !hasFigure(s.words) {
		return 0, false
	}
	return score - len(s.words)/4, true
}

// soft reports whether a word only asks for a total or a trend.
func (r *passages) soft(w speech.Token) bool {
	return slices.ContainsFunc(r.Lex.Phrases[w.Fold], func(p speech.Phrase) bool {
		return p.Kind == speech.KindAgg && p.Arg == "sum" || p.Kind == speech.KindTrend
	})
}

// among returns how well a word matches one of others: 3 itself, 2 a synonym, 1 in a compound.
func (r *passages) among(w speech.Token, words []speech.Token) int {
	best := 0
	for _, o := range words {
		switch {
		case w.Stem == o.Stem || w.Fold == o.Fold:
			return 3
		case w.Num != nil && o.Num != nil && *w.Num == *o.Num:
			return 3
		case !w.Quoted && r.Lex.Shared(w.Stem, o.Stem):
			best = max(best, 2)
		case len(w.Stem) >= 5 && strings.Contains(o.Fold, w.Stem), len(o.Stem) >= 5 && strings.Contains(w.Fold, o.Stem):
			best = max(best, 1)
		case len(w.Stem) >= 5 && len(o.Stem) >= 5 && w.Stem[:5] == o.Stem[:5]:
			best = max(best, 1)
		}
	}
	return best
}

// hasFigure reports whether words contain a number or a time.
func hasFigure(words []speech.Token) bool {
	return slices.ContainsFunc(words, func(t speech.Token) bool {
		_, named := speech.NumberWords[t.Fold]
		_, month := speech.MonthNames[t.Fold]
		_, day := speech.WeekdayNames[strings.TrimSuffix(t.Fold, "s")]
		return named || t.Num != nil || strings.ContainsFunc(t.Raw, unicode.IsDigit) || month || day || t.Fold == "einem" || t.Fold == "einen" || t.Fold == "half" || t.Fold == "daily" || t.Fold == "taglich"
	})
}

var markdownLink = pattern.Lazy(`!?\[([^\]]*)\]\([^)]*\)`)

var markdownMark = pattern.Lazy("[*`]{1,3}|\\b_{1,3}\\B|\\B_{1,3}\\b")

var listItem = pattern.Lazy(`^(?:[-*+•–]|\d{1,2}[.)])\s+`)

var tableRule = pattern.Lazy(`^[|\s:-]+$`)

// sentences splits a text: sentences of paragraphs, items of lists, rows of tables.
func (r *passages) sentences(text string) []sentence {
	var out []sentence
	var headings [7]string
	paragraph, code := "", false
	lead := "" // what the current item is about: **Bristol office**:
	add := func(s string) {
		s = strings.TrimSpace(markdownMark().ReplaceAllString(markdownLink().ReplaceAllString(s, "$1"), ""))
		if n := len(strings.Fields(s)); n < 2 || n > 80 || strings.HasSuffix(s, "?") {
			return // a question answers nothing
		}
		heading := strings.TrimSpace(strings.Join(headings[:], " "))
		out = append(out, sentence{text: s, words: speech.Tokens(lead+s, r.Lang), headWords: speech.Tokens(heading, r.Lang)})
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
		case code, tableRule().MatchString(t) && t != "":
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
		case listItem().MatchString(t):
			flush()
			paragraph = listItem().ReplaceAllString(t, "")
		default:
			paragraph = strings.TrimSpace(paragraph + " " + t)
		}
	}
	flush()
	return out
}

// leadOf returns the name at the beginning of an item, before its colon.
func leadOf(s string) string {
	name, _, ok := strings.Cut(s, ":")
	if !ok || len(strings.Fields(name)) > 4 {
		return ""
	}
	return name + " "
}

var sentenceEnd = pattern.Lazy(`[.!?]["”“»')\]]*\s+`)

// wholeSentences splits a paragraph at the ends of its sentences.
func wholeSentences(p string) []string {
	var out []string
	from := 0
	for _, at := range sentenceEnd().FindAllStringIndex(p, -1) {
		if p[at[0]] == '.' && speech.Abbreviated(p[from:at[0]], p[at[1]:]) {
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

// ContentWords returns the words that say what a part is about, as written.
func ContentWords(part string, lang speech.Language) []string {
	r := passages{speech.Utterance{Lex: speech.DefaultLexicon(), Lang: lang, Tokens: speech.Tokens(part, lang)}}
	want, _, _ := r.content()
	var out []string
	for _, w := range want {
		out = append(out, w.Raw)
	}
	return out
}
