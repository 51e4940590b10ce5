package speech

import (
	"slices"
	"strings"
)

// Irregular maps word forms that no ending reveals to the first one of their line.
var Irregular = func() map[string]string {
	out := map[string]string{}
	for _, line := range []string{
		"sell sells sold selling", "buy buys bought buying", "lend lends lent lending", "catch catches caught catching", "grow grows grown growing",
		"drive drives drove driven driving", "eat eats ate eaten eating", "send sends sent sending", "lose loses lost losing", "win wins won winning",
		"fly flies flew flown flying", "night nights nightly", "hour hours hourly", "write writes wrote written writing", "speak speaks spoke spoken speaking",
		"verkaufen verkauft verkaufte verkauften", "kaufen kauft kaufte gekauft", "leihen leiht geliehen", "essen isst gegessen", "fangen fangt gefangen",
	} {
		ws := strings.Fields(line)
		for _, w := range ws {
			out[Fold(w)] = ws[0]
		}
	}
	return out
}()

// Utterance is one part of a question in tokens.
type Utterance struct {
	Lex        *Lexicon
	Lang       Language
	Vocabulary Vocabulary
	Tokens     []Token
	Text       string // the text of the tokens
}

// Tokenize splits the part into tokens, and compounds into their parts.
func (r *Utterance) Tokenize(part string) {
	r.Text = belowZero().ReplaceAllString(part, "${1}minus $2")
	r.Tokens = r.split(r.Text)
}

// split returns the tokens of a text, compounds in their parts.
func (r *Utterance) split(text string) []Token {
	var out []Token
	for _, t := range Tokens(text, r.Lang) {
		parts := []string{t.Fold}
		if t.Num == nil && !t.Quoted {
			parts = r.Vocabulary.Split(t.Fold)
		}
		if len(parts) == 1 {
			out = append(out, t)
			continue
		}
		for _, p := range parts {
			out = append(out, Token{Raw: p, Fold: p, Stem: Stem(p), Part: true, From: t.From, To: t.To})
		}
	}
	return out
}

// Level returns how well a token names a word: 4 the same, 3 a synonym, 2 the head of a
// compound, 1 a derived word, 0 not at all.
func (r *Utterance) Level(t Token, w Word) int {
	switch {
	case (t.Fold == "open" || t.Fold == "offen") && strings.HasPrefix(w.Fold, "open") && w.Fold != t.Fold:
		return 0 // what is open is not what was opened
	case SameWord(t, Token{Fold: w.Fold, Stem: w.Stem}):
		return 4
	case t.Quoted, r.Lang == English && (t.Fold == "pay" || t.Fold == "pays") && w.Fold != t.Fold && r.Lex.Means(w.Stem, "country"):
		return 0
	case r.Lang == German && strings.HasPrefix(t.Fold, "kind"):
		return 0 // children, not a kind of anything
	case Irregular[t.Fold] != "" && Irregular[t.Fold] == Irregular[w.Fold]:
		return 4
	case len(w.Fold) >= 3 && t.Fold == w.Fold+"ed":
		return 2
	case r.Lex.Shared(t.Stem, w.Stem) && !(w.Fold == "driver" && r.Lex.Means(t.Stem, "distance")):
		return 3
	case len(t.Stem) >= 4 && len(w.Fold) >= len(t.Stem)+3 && (strings.HasSuffix(w.Fold, t.Fold) || strings.HasSuffix(w.Stem, t.Stem)):
		return 2
	case t.kindOf && !w.Optional && len(w.Fold) >= 4 && len(t.Fold) >= len(w.Fold)+3 && (strings.HasSuffix(t.Fold, w.Fold) || strings.HasSuffix(t.Stem, w.Stem)):
		return 2 // which Apfelsorte: of the column Sorte
	case !w.Optional && Family(t.Fold, w.Fold):
		return 1
	}
	return 0
}

// Counted reports whether a token follows "how many", directly or with "more" between them.
func (r *Utterance) Counted(i int) bool {
	if i >= 1 && (r.Tokens[i-1].Fold == "more" || r.Tokens[i-1].Fold == "fewer") {
		i--
	}
	return i >= 2 && (r.Tokens[i-2].Fold == "how" && r.Tokens[i-1].Fold == "many" || r.Tokens[i-2].Fold == "wie" && strings.HasPrefix(r.Tokens[i-1].Fold, "viel") || r.Tokens[i-1].Fold == "wieviele") ||
		i >= 1 && r.Tokens[i-1].Fold == "anzahl"
}

// ValuePeriod reads a value as a time: 2024-03, March 2024, Q1 2024, Mar.
func (r *Utterance) ValuePeriod(s string) (Period, bool) {
	if p, ok := IsoPeriod(s); ok {
		return p, true
	}
	ts := Tokens(s, r.Lang)
	if len(ts) == 0 {
		return Period{}, false
	}
	p, n := TimeAt(ts, 0)
	return p, n == len(ts)
}

// ValueTokens returns the tokens of a value, compounds in their parts; nil for a text of more than 120 bytes.
func (r *Utterance) ValueTokens(value string) []Token {
	if len(value) > 120 {
		return nil
	}
	return r.split(value)
}

// SameRun returns the number of tokens from i on that are the same as those of a value.
func (r *Utterance) SameRun(vt []Token, i int) int {
	n := 0
	for n < len(vt) && i+n < len(r.Tokens) && (vt[n].Fold == r.Tokens[i+n].Fold || vt[n].Num == nil && sameValue(vt[n], r.Tokens[i+n]) && !r.otherWord(vt[n], r.Tokens[i+n])) {
		n++
	}
	return n
}

// otherWord reports whether two words that differ by an ending are different words in
// English, whose adjectives have no endings: heath and heather, bake and baker.
func (r *Utterance) otherWord(a, b Token) bool {
	long, little := a.Fold, b.Fold
	if len(long) < len(little) {
		long, little = little, long
	}
	rest, ok := strings.CutPrefix(long, little)
	return r.Lang == English && ok && (rest == "er" || rest == "e" || rest == "n" || rest == "en")
}

// Spelled reports whether the tokens from i on are exactly those of a value.
func (r *Utterance) Spelled(vt []Token, i int) bool {
	return i+len(vt) <= len(r.Tokens) && slices.EqualFunc(vt, r.Tokens[i:i+len(vt)], func(a, b Token) bool { return a.Fold == b.Fold })
}

// Sales reports whether a word means both what is sold and its revenue.
func (r *Utterance) Sales(t Token) bool {
	return r.Lex.Means(t.Stem, "revenue") && r.Lex.Means(t.Stem, "order")
}

// PhraseAt returns the longest phrase of a kind at a token.
func (r *Utterance) PhraseAt(i int, of Kind) (Phrase, bool) {
	for _, p := range r.Lex.Phrases[r.Tokens[i].Fold] {
		n := len(p.Words)
		if p.Kind == of && i+n <= len(r.Tokens) && slices.EqualFunc(p.Words, r.Tokens[i:i+n], func(w string, t Token) bool { return w == t.Fold }) {
			return p, true
		}
	}
	return Phrase{}, false
}

// Empty reports whether a word of a question need not occur in an answer.
func (r *Utterance) Empty(t Token) bool {
	for _, p := range r.Lex.Phrases[t.Fold] {
		switch p.Kind {
		case KindJoin, KindBound, KindBy, KindVersus, KindAsk:
			if len(p.Words) == 1 {
				return true
			}
		}
	}
	return Articles[t.Fold]
}

// LiteralGrams returns the runs of words around unknown ones, as values may be written, in a quoted list.
func (r *Utterance) LiteralGrams(unknown []int) string {
	var out []string
	l, ts := r.Lex, r.Tokens
	add := func(g string) {
		if !slices.Contains(out, QuotedText(g)) {
			out = append(out, QuotedText(g))
		}
	}
	for _, at := range unknown {
		for from := max(0, at-2); from <= at; from++ {
			for to := at + 1; to <= min(len(ts), at+3); to++ {
				if l.Small(ts[from]) || l.Small(ts[to-1]) {
					continue // no name begins or ends with "how many"
				}
				var ws []string
				for _, t := range ts[from:to] {
					ws = append(ws, strings.ToLower(t.Raw))
				}
				add(strings.Join(ws, " "))
				if from, to := ts[from].From, ts[to-1].To; from < to && to <= len(r.Text) {
					add(strings.ToLower(r.Text[from:to])) // INV-2024-011
				}
			}
		}
	}
	return strings.Join(out, ", ")
}

// Small reports whether a word belongs to questions and not to names.
func (l *Lexicon) Small(t Token) bool {
	return !t.Quoted && t.Num == nil && (l.Fillers[t.Fold] || l.Phrases[t.Fold] != nil)
}

// Informative reports whether a run of tokens contains more than small words and words of questions.
func (r *Utterance) Informative(i, n int) bool {
	for _, t := range r.Tokens[i : i+n] {
		if t.Part {
			return false
		}
		if t.Quoted || len(t.Fold) > 2 && !r.Lex.Fillers[t.Fold] && r.Lex.Phrases[t.Fold] == nil && t.Num == nil && MonthNames[t.Fold] == 0 {
			return true
		}
	}
	return false
}

// Falling reports whether a token is what falls from the sky.
func (r *Utterance) Falling(t Token) bool {
	return r.Lex.Means(t.Stem, "rain") || t.Fold == "snow" || t.Fold == "snowfall" || t.Fold == "schnee" || t.Fold == "hail" || t.Fold == "hagel"
}

// Superlative reports whether a token begins a superlative such as most, highest or least.
func (r *Utterance) Superlative(i int) bool {
	return slices.ContainsFunc(r.Lex.Phrases[r.Tokens[i].Fold], func(p Phrase) bool { return p.Kind == KindSup })
}
