// Package parse explains every token of a question as a piece of its grammar, a column, a
// value, a number or a time. It returns the likeliest explanations, best first, and no
// errors. Of the packages of question, it imports only speech and schema.
package parse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// Piece is a run of tokens with its meaning.
type Piece struct {
	Kind     speech.Kind
	Arg      string
	About    string
	From, To int // tokens [from, to)
	Field    *schema.Field
	Values   []string
	Period   speech.Period
	Num      float64
	Weight   float64
}

// Rows reports whether a piece is a word for the rows of the table.
func (p Piece) Rows() bool { return p.Kind == speech.KindEntity && p.Arg == "rows" }

// Cover explains every token of a question as part of a piece.
type Cover struct {
	Pieces []Piece
	Weight float64
}

const (
	// maxCovers limits the explanations that are followed at each token.
	maxCovers = 48
	// MaxSpellings limits the spellings that are searched for.
	MaxSpellings = 12
	// maxName is the maximum number of tokens that name one column.
	maxName = 7
)

// Tagger finds what the tokens of an utterance mean from words and names of columns alone.
type Tagger struct{ speech.Utterance }

// Matcher finds everything that the tokens mean, including the values of tables.
type Matcher struct {
	Tagger
	Views []*schema.View
	// Found are the values that a probe found: table, column → values.
	Found map[[2]string][]string
}

// Covers returns the explanations of the question by a view, best first.
func (r *Matcher) Covers(v *schema.View) []Cover {
	at := make([][]Cover, len(r.Tokens)+1)
	at[0] = []Cover{{}}
	for i := range r.Tokens {
		if len(at[i]) == 0 {
			continue
		}
		slices.SortStableFunc(at[i], func(a, b Cover) int { return cmp.Compare(b.Weight, a.Weight) })
		at[i] = at[i][:min(len(at[i]), maxCovers)]
		for _, p := range r.PiecesAt(v, i) {
			for _, c := range at[i] {
				at[p.To] = append(at[p.To], Cover{append(slices.Clone(c.Pieces), p), c.Weight + p.Weight})
			}
		}
	}
	all := at[len(r.Tokens)]
	slices.SortStableFunc(all, func(a, b Cover) int { return cmp.Compare(b.Weight, a.Weight) })
	return all[:min(len(all), maxCovers)]
}

// PiecesAt returns every piece that begins at a token.
func (r *Matcher) PiecesAt(v *schema.View, i int) []Piece {
	out := append(r.GrammarAt(i), r.NumbersAt(i)...)
	if r.Tokens[i].Fold == "min" && slices.ContainsFunc(v.Fields, func(f *schema.Field) bool { return f.UnitName() == "min" }) {
		out = nil // minutes
	}
	for _, f := range v.Fields {
		out = append(out, r.fieldAt(v, f, i)...)
		if f.Text() {
			out = append(out, r.valuesAt(v, f, i)...)
			out = append(out, r.periodsAt(f, i)...)
		}
	}
	out = append(out, r.columnsAt(v, i)...)
	if p, ok := r.entityAt(v, i); ok {
		out = append(out, p)
	}
	out = append(out, r.fillersAt(v, i)...)
	return append(out, Piece{Kind: speech.KindUnknown, From: i, To: i + 1, Weight: -25})
}

// GrammarAt returns the words of questions that begin at a token: how many, on average, most.
func (r *Tagger) GrammarAt(i int) []Piece {
	var out []Piece
	if r.Tokens[i].Quoted {
		return nil
	}
	for _, p := range r.Lex.Phrases[r.Tokens[i].Fold] {
		n := len(p.Words)
		if i+n > len(r.Tokens) {
			continue
		}
		if !slices.EqualFunc(p.Words, r.Tokens[i:i+n], func(w string, t speech.Token) bool { return w == t.Fold && !t.Quoted }) {
			continue
		}
		if n == 1 && r.otherMeaning(p, i) {
			continue
		}
		weight := 3 * float64(n)
		if n > 1 && p.Kind == speech.KindAgg {
			weight += 2 // "in total", rather than "in" and a column "total"
		}
		out = append(out, Piece{Kind: p.Kind, Arg: p.Arg, About: p.About, From: i, To: i + n, Weight: weight})
	}
	return out
}

// otherMeaning reports whether a word of questions has another meaning at a token.
func (r *Tagger) otherMeaning(p speech.Phrase, i int) bool {
	raw, english := r.Tokens[i].Raw, r.Lang == speech.English
	return english && (p.Words[0] == "was" || p.Words[0] == "wo") || // a verb, not a German question word
		english && strings.ContainsFunc(raw, func(c rune) bool { return c >= 0x80 }) || // rosé is not rose
		i > 0 && p.Arg == "share" && r.Tokens[i-1].Num != nil || // a quota over 100 %
		i > 0 && (raw == "Max" || raw == "Will") || // a name
		i > 0 && p.Kind == speech.KindSup && r.Tokens[i-1].Fold == "at" && (p.Words[0] == "least" || p.Words[0] == "most") ||
		p.Kind == speech.KindTrend && falls[p.Words[0]] && slices.ContainsFunc(r.Tokens[:i], r.Falling) // what falls from the sky has not decreased
}

var falls = speech.Folded("fall fell fallen gefallen")

// NumbersAt returns the numbers and times that begin at a token.
func (r *Tagger) NumbersAt(i int) []Piece {
	var out []Piece
	t := r.Tokens[i]
	if t.Quoted {
		return nil
	}
	if p, n := speech.TimeAt(r.Tokens, i); n > 0 {
		out = append(out, Piece{Kind: speech.KindTime, Period: p, From: i, To: i + n, Weight: 8 * float64(n)})
	}
	if t.Fold == "minus" && i+1 < len(r.Tokens) && r.Tokens[i+1].Num != nil && r.Tokens[i+1].From-t.To <= 1 {
		out = append(out, Piece{Kind: speech.KindNum, Num: -*r.Tokens[i+1].Num, From: i, To: i + 2, Weight: 14})
	}
	v, ok := speech.NumberWords[t.Fold]
	if t.Num != nil {
		v, ok = *t.Num, true
	}
	if !ok {
		return out
	}
	n := 1
	if i+1 < len(r.Tokens) {
		switch r.Tokens[i+1].Fold {
		case "million", "millions", "mio", "millionen":
			v, n = v*1e6, 2
		case "thousand", "k", "tsd", "tausend":
			v, n = v*1e3, 2
		case "billion", "bn", "mrd", "milliarden":
			v, n = v*1e9, 2
		}
	}
	// A unit after a number belongs to it.
	if k := i + n; k < len(r.Tokens) && (len(r.Tokens[k].Fold) <= 4 && schema.UnitWords[r.Tokens[k].Fold] || longUnits[r.Tokens[k].Fold]) && !r.Lex.Fillers[r.Tokens[k].Fold] {
		out = append(out, Piece{Kind: speech.KindNum, Num: v, From: i, To: k + 1, Weight: 7})
	}
	return append(out, Piece{Kind: speech.KindNum, Num: v, From: i, To: i + n, Weight: 6 * float64(n)})
}

var longUnits = speech.Folded("pounds kilos degrees celsius grad euros dollar dollars percent prozent kilometer kilometers kilometres metres meters liters liter litres hours hour minutes minute seconds stunden stunde minuten sekunden")

// fieldAt finds the runs of tokens from i on that name a column.
func (r *Tagger) fieldAt(v *schema.View, f *schema.Field, i int) []Piece {
	var out []Piece
	if v.HasRevenue && (!f.Measure() || r.Counted(i) && f.Named("revenue")) && r.Sales(r.Tokens[i]) && !slices.ContainsFunc(f.Words, func(w speech.Word) bool { return w.Fold == r.Tokens[i].Fold }) {
		return nil // sales are amounts if there are any, not order numbers; but how many sales is not how much revenue
	}
	taken, gapless := make([]bool, len(f.Words)), true
	sum, required, matched, head := 0.0, 0, 0, false
	for _, w := range f.Words {
		if !w.Optional {
			required++
		}
	}
	if i > 0 { // the longest bill is one of bill length
		sup, ok := r.PhraseAt(i-1, speech.KindSup)
		head = ok && sup.About == f.Head()
	}
	for k := i; k < len(r.Tokens) && k < i+maxName; k++ {
		best, at := 0, -1
		if r.Tokens[k].Fold == "no" && r.Lang == speech.English && (k == i || !gapless) {
			break // members have no locker: not their numbers
		}
		if _, asks := r.PhraseAt(k, speech.KindAsk); asks && k == 0 && len(f.Words) == 1 {
			break // what did we spend: not a column What
		}
		if k == i && givenNames[r.Tokens[k].Fold] && (k+1 == len(r.Tokens) || !strings.HasPrefix(r.Tokens[k+1].Fold, "name")) && len(f.Words) > 1 {
			break // who joined last: not a last name
		}
		if r.Lang == speech.English && k > 0 && f.Text() && r.Tokens[k].Raw[0] <= 'Z' && slices.Contains(f.Values, any(r.Tokens[k].Raw)) {
			break // from Station to Park
		}
		for j, w := range f.Words {
			if t := r.Tokens[k]; t.Fold != w.Fold && slices.ContainsFunc(r.Lex.Phrases[t.Fold], func(p speech.Phrase) bool { return p.Kind == speech.KindAgg && len(p.Words) == 1 }) {
				continue // the total is no amount
			}
			if r.Lang == speech.English && strings.TrimSuffix(r.Tokens[k].Fold, "s")+"er" == w.Fold || w.Optional && r.Tokens[k].Num != nil {
				continue // calls are not callers, and a satisfaction of 5 is not the 5 of a column Satisfaction (1-5)
			}
			if l := r.Level(r.Tokens[k], w); !taken[j] && (l > best || l == best && l > 0 && f.Words[at].Optional && !w.Optional) {
				best, at = l, j
			}
		}
		if at < 0 {
			if k == i || !r.Lex.Fillers[r.Tokens[k].Fold] && !schema.Prepositions[r.Tokens[k].Fold] {
				break
			}
			gapless = false
			continue
		}
		taken[at] = true
		if !f.Words[at].Optional {
			matched++
			head = head || f.Words[at].Stem == f.Head() || f.OfUnit() // the quantity of a column Quantity Sold
		}
		sum += []float64{0, 3.5, 6, 7, 10}[best]
		if required > 0 && matched > 0 && !head || (matched == 0 && !f.Dated() || len(f.Words) == 1 && !r.Tokens[k].Quoted) && smallInQuestions[r.Tokens[k].Fold] {
			continue // "flipper" alone is not a flipper length, and "are" no "How satisfied are you?"
		}
		if f.Product() && matched == 0 {
			continue // the stock is not what it is worth
		}
		if matched < required && (f.Per() || slices.ContainsFunc(f.Words, func(w speech.Word) bool { return speech.MonthNames[w.Fold] > 0 }) && !monthIn(f, r.Tokens[i:k+1])) {
			continue // GDP alone is not GDP per capita, and visits are not the visits in May
		}
		p := Piece{Kind: speech.KindField, Field: f, From: i, To: k + 1, Weight: sum}
		r.weigh(v, &p, matched, required, best)
		out = append(out, p)
	}
	return out
}

var smallInQuestions = speech.Folded("how are is was were do did does you your we our us would will have has had to of the a an i it in on at by for from with out up off over wie sind ist sie haben hat")

// monthIn reports whether tokens contain a month of the column's name.
func monthIn(f *schema.Field, tokens []speech.Token) bool {
	return slices.ContainsFunc(f.Words, func(w speech.Word) bool {
		return speech.MonthNames[w.Fold] > 0 && slices.ContainsFunc(tokens, func(t speech.Token) bool { return speech.MonthNames[t.Fold] == speech.MonthNames[w.Fold] })
	})
}

var givenNames = speech.Folded("first last")

// weigh sets how surely a run of tokens names a column, some of whose words are matched.
func (r *Tagger) weigh(v *schema.View, p *Piece, matched, required, level int) {
	f, tokens := p.Field, r.Tokens[p.From:p.To]
	share := 0.0
	if required > 0 {
		share = float64(matched) / float64(required)
	}
	p.Weight *= 0.5 + 0.5*share
	if f.Key() && !slices.ContainsFunc(tokens, func(t speech.Token) bool { return speech.IDWords[t.Fold] }) {
		p.Weight -= 1 // the name rather than the number
	}
	if f.Dated() && slices.Contains(v.Entity, f.Head()) && !slices.ContainsFunc(tokens, func(t speech.Token) bool { return schema.TimeWords[t.Stem] || schema.TimeWords[t.Fold] }) {
		p.Weight -= 6 // orders are not their dates
	}
	if f.Table == 0 && level > 1 && slices.Contains(v.Topics, f.Head()) {
		p.Weight += 1.5 // the customers of customers.csv
	}
	if f.Table > 0 {
		p.Weight -= 2
	}
}

// valueConcepts are the concepts by which a word names a value that is spelled differently.
var valueConcepts = speech.Folded(`female male fulltime parttime yes no germany france austria switzerland italy spain poland netherlands belgium uk usa north south east west
vertrieb finance hr engineering purchasing logistics red blue green black white color open close cancel active churn error warn return late unpaid maths biology physics chemistry history geography`)

// valuesAt finds the runs of tokens from i on that name values of a text column.
func (r *Matcher) valuesAt(v *schema.View, f *schema.Field, i int) []Piece {
	var out []Piece
	partial := map[int][]string{}
	whole := map[int][]string{}
	synonym := []string{}
	for _, value := range r.valuesOf(v, f) {
		vt := r.ValueTokens(value)
		if len(vt) == 0 || r.smallWord(f, vt, i) || f.Key() && len(vt) == 1 && r.bareNumber(v, f, i) {
			continue
		}
		if n := r.SameRun(vt, i); n == len(vt) {
			if !r.cut(f, i, n) && !r.partOf(f, value, i, n) && (r.Spelled(vt, i) || !r.exact(i, n)) { // Heath is a place, not heather
				whole[n] = append(whole[n], value)
			}
			continue
		}
		if len(vt) == 1 && !r.Tokens[i].Quoted && r.valueSynonym(f, r.Tokens[i], vt[0]) && !r.exact(i, 1) {
			synonym = append(synonym, value)
		}
		words := speech.Tokens(value, r.Lang)
		if (r.Counted(i) || i > 0 && r.Superlative(i-1)) && slices.ContainsFunc(bodies, f.Named) {
			continue // runners are not the members of the club Fjord Runners
		}
		for k := range words {
			if n := r.SameRun(words[k:], i); n > 0 && n < len(words) && len(words) < 4 && !r.partOf(f, "", i, n) && r.Informative(i, n) && (r.Spelled(words[k:k+n], i) || k+n == len(words) && r.Tokens[i+n-1].Fold == words[k+n-1].Fold+"s") { // croissants: butter croissant
				for m := 1; m <= n; m++ {
					partial[m] = append(partial[m], value)
				}
				break
			}
		}
	}
	extra := 0.0
	if f.Table > 0 {
		extra = -2
	}
	for n, vs := range whole {
		if sign := r.signAfter(i + n - 1); sign != "" { // O+ is not O-
			vs = slices.DeleteFunc(vs, func(v string) bool { return strings.ContainsAny(v[len(v)-1:], signs) && !strings.HasSuffix(v, sign) })
		}
		if len(vs) == 0 {
			continue
		}
		w := 12*float64(n) + extra
		if n == 1 && r.Counted(i) && r.Lex.Means(r.Tokens[i].Stem, "employee") {
			w = 2 // how many people: the rows, not the department People
		}
		out = append(out, Piece{Kind: speech.KindValue, Field: f, Values: vs, From: i, To: i + n, Weight: w})
		if k := i + n; k < len(r.Tokens) && slices.ContainsFunc(f.Words, func(x speech.Word) bool { return x.Stem != f.Head() && r.Level(r.Tokens[k], x) > 3 }) {
			out = append(out, Piece{Kind: speech.KindValue, Field: f, Values: vs, From: i, To: k + 1, Weight: w + 4}) // student tickets, of a ticket type
		}
	}
	if len(synonym) > 0 && len(whole[1]) == 0 {
		out = append(out, Piece{Kind: speech.KindValue, Field: f, Values: synonym, From: i, To: i + 1, Weight: 7 + extra})
	}
	// Whether all values that a partial name may match are known.
	complete := !f.DistinctCapped && f.Distinct <= int64(len(f.Values)) || r.Found != nil
	for n, vs := range partial {
		if len(whole[n]) == 0 && len(vs) <= 6 && complete {
			out = append(out, Piece{Kind: speech.KindValue, Arg: "partial", Field: f, Values: vs, From: i, To: i + n, Weight: 6*float64(n) + extra - float64(len(vs))})
		}
	}
	return out
}

// signs end grades and groups: A-, O+.
const signs = "+-"

// signAfter returns the sign directly behind a token; empty if there is none.
func (r *Matcher) signAfter(i int) string {
	if rest := r.Text[r.Tokens[i].To:]; rest != "" && strings.ContainsAny(rest[:1], signs) {
		return rest[:1]
	}
	return ""
}

// smallWord reports whether a small word of the question is not the code that is spelled like it: in is not India, IN,
// and a is not the class A, unless the column is named before it.
func (r *Matcher) smallWord(f *schema.Field, vt []speech.Token, i int) bool {
	t, v := r.Tokens[i], vt[0]
	if len(vt) > 1 || t.Quoted || t.Fold != v.Fold && t.Fold != "us" || len(t.Fold) > 3 || !r.Lex.Small(t) || v.Raw != strings.ToUpper(v.Raw) && len(v.Raw) > 1 {
		return false
	}
	if i > 0 && slices.ContainsFunc(f.Words, func(w speech.Word) bool { return r.Level(r.Tokens[i-1], w) > 2 }) {
		return false // class A
	}
	if t.Fold == "no" && slices.ContainsFunc(f.Values, func(x any) bool { return r.Lex.Shared(speech.Stem(speech.Fold(fmt.Sprint(x))), "yes") }) {
		return false
	}
	written := t.Raw == v.Raw && r.Text != strings.ToUpper(r.Text)
	return !written || len(t.Raw) == 1 && (t.Raw == strings.ToLower(t.Raw) || t.Raw == "I" || i == 0)
}

// bareNumber reports whether no word for the rows or for their numbers precedes a small number: 3 stores, but not sale 3
// and sales 2 and 3.
func (r *Matcher) bareNumber(v *schema.View, f *schema.Field, i int) bool {
	t, k := r.Tokens[i], max(i-1, 0)
	for k > 0 && (r.Tokens[k].Num != nil || slices.ContainsFunc(r.Lex.Phrases[r.Tokens[k].Fold], func(p speech.Phrase) bool { return p.Kind == speech.KindJoin })) {
		k--
	}
	_, rows := r.entityAt(v, k)
	named := rows || speech.IDWords[r.Tokens[k].Fold] || slices.ContainsFunc(f.Words, func(w speech.Word) bool { return r.Level(r.Tokens[k], w) > 2 })
	return !named && !t.Quoted && t.Num != nil && len(t.Fold) <= 3
}

// bodies are the concepts of columns whose values are the names of a group or a place, not of a kind of rows.
var bodies = strings.Fields("team department customer supplier store employee publisher author city region country")

// periodsAt finds the values of a text column that are the time at a token, or lie within it: the quarters of 2024.
func (r *Tagger) periodsAt(f *schema.Field, i int) []Piece {
	wanted, n := speech.TimeAt(r.Tokens, i)
	if n == 0 || wanted.Unit == "weekday" || r.Tokens[i].Quoted || len(f.Values) == 0 {
		return nil
	}
	var fits []string
	for _, x := range f.Values {
		s, _ := x.(string)
		p, ok := r.ValuePeriod(s)
		if !ok {
			return nil
		}
		if p == wanted || wanted.Unit == "year" && p.Year == wanted.Year {
			fits = append(fits, s)
		}
	}
	if len(fits) == 0 {
		return nil
	}
	return []Piece{{Kind: speech.KindValue, Arg: "period", Field: f, Values: fits, From: i, To: i + n, Weight: 8*float64(n) + 1}}
}

func (r *Matcher) valuesOf(v *schema.View, f *schema.Field) []string {
	var out []string
	for _, x := range f.Values {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	for _, s := range r.Found[[2]string{v.Tables[f.Table].Name, f.Name}] {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// exact reports whether n tokens from i on spell a whole value of any table exactly.
func (r *Matcher) exact(i, n int) bool {
	for _, v := range r.Views {
		for _, f := range v.Fields {
			if f.Table != 0 || !f.Text() {
				continue
			}
			for _, value := range r.valuesOf(v, f) {
				if vt := r.ValueTokens(value); len(vt) == n && r.Spelled(vt, i) {
					return true
				}
			}
		}
	}
	return false
}

func (r *Tagger) valueSynonym(f *schema.Field, t, value speech.Token) bool {
	if len(f.Values) <= 6 && len(value.Fold) >= 4 && value.Fold != "open" && speech.Verbal(t.Fold) && strings.HasPrefix(t.Fold, value.Fold) && speech.Family(t.Fold, value.Fold) {
		return true // failed, of fail
	}
	if base, ok := strings.CutSuffix(t.Fold, "s"); ok && len(base) > 3 && len(f.Values) <= 6 && (base+"ed" == value.Fold || base+"d" == value.Fold) && value.Fold != "opened" {
		return true // fails, of failed
	}
	if t.Fold == "man" && r.Lang == speech.German {
		return false // one, in general
	}
	for _, c := range r.Lex.Concepts[t.Stem] {
		if !slices.Contains(r.Lex.Concepts[value.Stem], c) {
			continue
		}
		for w := range valueConcepts {
			if speech.Stem(w) == c && (c != speech.Stem("female") && c != speech.Stem("male") || f.Named("gender") || len(value.Fold) > 1) {
				return true
			}
		}
	}
	return false
}

// partOf reports whether a word in lower case that is a value of a column is also a part of another one: agree, beside
// Strongly agree. Without a value, it reports whether it is one.
func (r *Tagger) partOf(f *schema.Field, value string, i, n int) bool {
	return n == 1 && r.Tokens[i].Raw == r.Tokens[i].Fold && slices.ContainsFunc(f.Values, func(x any) bool {
		s, _ := x.(string)
		if value == "" {
			return strings.EqualFold(s, r.Tokens[i].Raw)
		}
		return s != value && strings.HasSuffix(strings.ToLower(s), " "+strings.ToLower(value))
	})
}

// cut reports whether n tokens from i on are only a part of a hyphenated word: the double of
// double-booked. A part that names the column of the value does not count: high-priority.
func (r *Tagger) cut(f *schema.Field, i, n int) bool {
	names := func(t speech.Token) bool {
		return slices.ContainsFunc(f.Words, func(w speech.Word) bool { return speech.SameWord(t, speech.Token{Fold: w.Fold, Stem: w.Stem}) })
	}
	joined := func(a, b speech.Token) bool {
		return !names(a) && !names(b) && !a.Quoted && !b.Quoted && a.To+1 == b.From && b.From <= len(r.Text) && r.Text[a.To:b.From] == "-"
	}
	return r.Lang == speech.English && (i > 0 && joined(r.Tokens[i-1], r.Tokens[i]) || i+n < len(r.Tokens) && joined(r.Tokens[i+n-1], r.Tokens[i+n]))
}
