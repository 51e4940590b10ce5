package question

import (
	"cmp"
	"slices"
	"strings"
)

// piece is a stretch of a question with its meaning.
type piece struct {
	kind     kind
	arg      string
	about    string
	from, to int // tokens [from, to)
	field    *field
	values   []string
	period   period
	num      float64
	weight   float64
}

// cover explains every token of a question by a piece.
type cover struct {
	pieces []piece
	weight float64
}

const (
	// mostCovers bounds the explanations that are followed at each token.
	mostCovers = 48
	// mostForms bounds the spellings that are looked for.
	mostForms = 12
	// longestName is how many words of a question name one column or value.
	longestName = 7
)

// reader reads one part of a question.
type reader struct {
	lex   *lexicon
	lang  Language
	src   *Source
	views []*view
	ts    []token
	text  string // what the tokens stand in
	// found are the values that probing found: table, column → values.
	found map[[2]string][]string
	vocab vocabulary
}

// tokenize splits the part into tokens, compounds into theirs.
func (r *reader) tokenize(part string) {
	r.vocab = r.src.vocabulary(r.lex)
	r.text = clockTimes(fullTime(part))
	if r.lang == German {
		r.text = stillOpen.ReplaceAllString(r.text, "$1 offen")
	}
	for _, t := range tokens(r.text, r.lang) {
		parts := []string{t.fold}
		if t.num == nil && !t.quoted {
			parts = r.vocab.split(r.lex, t.fold)
		}
		if len(parts) == 1 {
			r.ts = append(r.ts, t)
			continue
		}
		for _, p := range parts {
			r.ts = append(r.ts, token{raw: p, fold: p, stem: stem(p), part: true, from: t.from, to: t.to})
		}
	}
}

func fullTime(s string) string {
	return strings.NewReplacer("full-time", "fulltime", "Full-time", "Fulltime", "Full-Time", "Fulltime", "full time", "fulltime", "Full time", "Fulltime", "part-time", "parttime", "Part-time", "Parttime", "Part-Time", "Parttime", "part time", "parttime", "Part time", "Parttime").Replace(s)
}

// covers are the explanations of the question by a view, best first.
func (r *reader) covers(v *view) []cover {
	at := make([][]cover, len(r.ts)+1)
	at[0] = []cover{{}}
	for i := range r.ts {
		if len(at[i]) == 0 {
			continue
		}
		slices.SortStableFunc(at[i], func(a, b cover) int { return cmp.Compare(b.weight, a.weight) })
		at[i] = at[i][:min(len(at[i]), mostCovers)]
		for _, p := range r.piecesAt(v, i) {
			for _, c := range at[i] {
				at[p.to] = append(at[p.to], cover{append(slices.Clone(c.pieces), p), c.weight + p.weight})
			}
		}
	}
	all := at[len(r.ts)]
	slices.SortStableFunc(all, func(a, b cover) int { return cmp.Compare(b.weight, a.weight) })
	return all[:min(len(all), mostCovers)]
}

func (r *reader) piecesAt(v *view, i int) []piece {
	out := r.grammarAt(i)
	out = append(out, r.numbersAt(i)...)
	for _, f := range v.fields {
		out = append(out, r.fieldAt(v, f, i)...)
		if f.text() && !f.free {
			out = append(out, r.valuesAt(v, f, i)...)
			out = append(out, r.periodsAt(f, i)...)
		}
	}
	out = append(out, r.unitAt(v, i)...)
	out = append(out, r.joinedAt(v, i)...)
	out = append(out, r.massAt(v, i)...)
	out = append(out, r.attachedAt(v, i)...)
	out = append(out, r.peopleAt(v, i)...)
	out = append(out, r.levelAt(v, i)...)
	out = append(out, r.lastingAt(v, i)...)
	out = append(out, r.mealsAt(v, i)...)
	out = append(out, r.compoundAt(v, i)...)
	if r.pronounAt(i) {
		out = append(out, piece{kind: kindFill, from: i, to: i + 1, weight: 7})
	}
	out = append(out, r.moneyAt(v, i)...)
	out = append(out, r.acrossAt(v, i)...)
	out = append(out, r.dimensionAt(v, i)...)
	out = append(out, r.placeAt(v, i)...)
	out = append(out, r.budgetAt(v, i)...)
	out = append(out, r.ratingAt(v, i)...)
	out = append(out, r.countsAt(v, i)...)
	if p, ok := r.entityAt(v, i); ok {
		out = append(out, p)
	}
	t := r.ts[i]
	loggedIn := t.fold == "logged" && i+1 < len(r.ts) && (r.ts[i+1].fold == "in" || r.ts[i+1].fold == "on" || r.ts[i+1].fold == "out")
	if !t.quoted && !loggedIn && (r.lex.fill[t.fold] && !(t.fold == "man" && r.lang == English) || len(t.fold) == 1 && t.num == nil && t.fold != "%") {
		out = append(out, piece{kind: kindFill, from: i, to: i + 1})
	}
	if r.bodily(i) || r.leftEmpty(i) || r.arrived(i) || r.timesAt(i) {
		out = append(out, piece{kind: kindFill, from: i, to: i + 1})
	}
	if !t.quoted && selling[t.fold] && t.fold != "unit" && t.fold != "list" && (v.takings || slices.ContainsFunc(v.fields, func(f *field) bool { return f.table == 0 && f.named(r.lex, "quantity") && f.measure(r.lex) }) ||
		slices.ContainsFunc(v.topics, func(w string) bool { return r.lex.means(w, "order") && (t.fold == "sold" || t.fold == "verkauft") })) {
		out = append(out, piece{kind: kindFill, from: i, to: i + 1, weight: map[bool]float64{true: 8}[t.fold == "sell" || t.fold == "sells"]}) // the rows are sales
	}
	if !t.quoted && r.lex.deeds[t.fold] {
		out = append(out, piece{kind: kindFill, arg: "deed", from: i, to: i + 1, weight: -2})
	}
	if !t.quoted && r.lex.owners[t.fold] && i > 0 {
		out = append(out, piece{kind: kindFill, arg: "owner", from: i, to: i + 1, weight: -1})
	}
	if r.headed(v, i) {
		out = append(out, piece{kind: kindFill, from: i, to: i + 1, weight: -1})
	}
	out = append(out, r.lightAt(v, i)...)
	return append(out, piece{kind: kindUnknown, from: i, to: i + 1, weight: -25})
}

func (r *reader) grammarAt(i int) []piece {
	var out []piece
	if r.ts[i].quoted {
		return nil
	}
	for _, p := range r.lex.phrases[r.ts[i].fold] {
		n := len(p.words)
		if i+n > len(r.ts) {
			continue
		}
		if !slices.EqualFunc(p.words, r.ts[i:i+n], func(w string, t token) bool { return w == t.fold && !t.quoted }) {
			continue
		}
		if n == 1 && r.lang == English && (p.words[0] == "was" || p.words[0] == "wo") {
			continue // a verb here, and no German what
		}
		if n == 1 && r.lang == English && strings.ContainsFunc(r.ts[i].raw, func(c rune) bool { return c >= 0x80 }) {
			continue // rosé is no rise
		}
		if n == 1 && i > 0 && (r.ts[i].raw == "Max" || r.ts[i].raw == "Mark" || r.ts[i].raw == "Will" || r.ts[i].raw == "May") {
			continue // a name
		}
		weight := 3 * float64(n)
		if n > 1 && p.kind == kindAgg {
			weight += 2 // in total, rather than in and a column total
		}
		if p.kind == kindNet {
			weight = 8 * float64(n)
		}
		out = append(out, piece{kind: p.kind, arg: p.arg, about: p.about, from: i, to: i + n, weight: weight})
	}
	return out
}

func (r *reader) numbersAt(i int) []piece {
	var out []piece
	t := r.ts[i]
	if t.quoted {
		return nil
	}
	if p, n := timeAt(r.ts, i); n > 0 {
		out = append(out, piece{kind: kindTime, period: p, from: i, to: i + n, weight: 8 * float64(n)})
	}
	if n := halfAt(r.ts, i); n > 0 {
		out = append(out, piece{kind: kindNum, num: 0.5, from: i, to: i + n, weight: 14})
	}
	v, ok := numberWords[t.fold]
	if t.num != nil {
		v, ok = *t.num, true
	}
	if !ok {
		return out
	}
	n := 1
	if i+1 < len(r.ts) {
		switch r.ts[i+1].fold {
		case "million", "millions", "mio", "millionen":
			v, n = v*1e6, 2
		case "thousand", "k", "tsd", "tausend":
			v, n = v*1e3, 2
		case "billion", "bn", "mrd", "milliarden":
			v, n = v*1e9, 2
		}
	}
	// A unit behind a number belongs to it.
	if k := i + n; k < len(r.ts) && (len(r.ts[k].fold) <= 4 && unitWords[r.ts[k].fold] || longUnits[r.ts[k].fold]) && !r.lex.fill[r.ts[k].fold] {
		out = append(out, piece{kind: kindNum, num: v, from: i, to: k + 1, weight: 7})
	}
	return append(out, piece{kind: kindNum, num: v, from: i, to: i + n, weight: 6 * float64(n)})
}

var longUnits = folded("degrees celsius grad euros dollar dollars percent prozent kilometer kilometers kilometres metres meters liters liter litres hours hour minutes minute seconds stunden stunde minuten sekunden")

// level says how well a token names a word: 4 the same, 3 a synonym, 2 the head of a
// compound, 1 a word made from it.
func (r *reader) level(t token, w word) int {
	switch {
	case (t.fold == "open" || t.fold == "offen") && strings.HasPrefix(w.fold, "open") && w.fold != t.fold:
		return 0 // what is open is not what was opened
	case sameWord(t, token{fold: w.fold, stem: w.stem}):
		return 4
	case t.quoted, r.lang == English && (t.fold == "pay" || t.fold == "pays") && w.fold != t.fold && r.lex.means(w.stem, "country"):
		return 0
	case r.lang == German && strings.HasPrefix(t.fold, "kind"):
		return 0 // children, and no kind of anything
	case irregular[t.fold] != "" && irregular[t.fold] == irregular[w.fold]:
		return 4
	case len(w.fold) >= 3 && t.fold == w.fold+"ed":
		return 2
	case r.lex.shared(t.stem, w.stem) && !(w.fold == "driver" && r.lex.means(t.stem, "distance")):
		return 3
	case len(t.stem) >= 4 && len(w.fold) >= len(t.stem)+3 && (strings.HasSuffix(w.fold, t.fold) || strings.HasSuffix(w.stem, t.stem)):
		return 2
	case t.kindOf && !w.optional && len(w.fold) >= 4 && len(t.fold) >= len(w.fold)+3 && (strings.HasSuffix(t.fold, w.fold) || strings.HasSuffix(t.stem, w.stem)):
		return 2 // which Apfelsorte: of the column Sorte
	case !w.optional && (derived(t.fold, w.fold) || family(t.fold, w.fold)):
		return 1
	}
	return 0
}

// derived says whether a word is made from another: directed, director.
func derived(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if rest, ok := strings.CutPrefix(b, a); ok && n >= 5 {
		switch rest {
		case "heit", "keit", "ung", "ungen", "ness", "tion", "ment", "schaft":
			return true // zufrieden, Zufriedenheit
		}
	}
	return n >= 6 && n*10 >= 7*max(len(a), len(b)) && !strings.HasPrefix(a, b)
}

// fieldAt finds the stretches from a token on that name a column.
func (r *reader) fieldAt(v *view, f *field, i int) []piece {
	var out []piece
	if v.takings && !f.measure(r.lex) && r.sales(r.ts[i]) && !slices.ContainsFunc(f.words, func(w word) bool { return w.fold == r.ts[i].fold }) {
		return nil // sales are amounts where there are some, not order numbers
	}
	taken := make([]bool, len(f.words))
	sum, required, matched, head := 0.0, 0, 0, false
	for _, w := range f.words {
		if !w.optional {
			required++
		}
	}
	for k := i; k < len(r.ts) && k < i+longestName; k++ {
		best, at := 0, -1
		if r.lang == English && k > 0 && f.text() && r.ts[k].raw[0] <= 'Z' && slices.Contains(f.Values, any(r.ts[k].raw)) {
			break // from Station to Park
		}
		for j, w := range f.words {
			if r.lang == English && slices.Contains(v.entity, r.ts[k].stem) && doer(strings.TrimSuffix(r.ts[k].fold, "s"), w.fold) {
				continue // calls are no callers
			}
			if l := r.level(r.ts[k], w); !taken[j] && (l > best || l == best && l > 0 && f.words[at].optional && !w.optional) {
				best, at = l, j
			}
		}
		if at < 0 {
			if k == i || !r.lex.fill[r.ts[k].fold] && !prepositions[r.ts[k].fold] {
				break
			}
			continue
		}
		taken[at] = true
		if !f.words[at].optional {
			matched++
			head = head || f.words[at].stem == f.head()
		}
		sum += []float64{0, 3.5, 6, 7, 10}[best]
		if required > 0 && matched > 0 && !head {
			// flipper alone is no flipper length; it can say which length.
			if k == i && r.lex.phrases[r.ts[k].fold] == nil {
				out = append(out, piece{kind: kindField, arg: "rest", field: f, from: i, to: k + 1, weight: sum - 4})
			}
			continue
		}
		if !slices.ContainsFunc(r.ts[i:k+1], func(t token) bool { return !lightParticles[t.fold] }) {
			continue // lent out names no days out
		}
		p := piece{kind: kindField, field: f, from: i, to: k + 1, weight: sum}
		r.weigh(v, &p, matched, required, best)
		out = append(out, p)
	}
	return out
}

// weigh says how surely a stretch names a column, of whose words some are matched.
func (r *reader) weigh(v *view, p *piece, matched, required, level int) {
	f, said := p.field, r.ts[p.from:p.to]
	share := 0.0
	if required > 0 {
		share = float64(matched) / float64(required)
	}
	p.weight *= 0.5 + 0.5*share
	if matched < required && f.per(r.lex) {
		p.arg = "half" // GDP alone is no GDP per capita
	}
	if f.key(r.lex) && !slices.ContainsFunc(said, func(t token) bool { return idWords[t.fold] }) {
		p.weight -= 1 // the name rather than the number
	}
	if f.dated() && slices.Contains(v.entity, f.head()) && !slices.ContainsFunc(said, func(t token) bool { return timeWords[t.stem] || timeWords[t.fold] }) {
		p.weight -= 6 // orders are not their dates
	}
	if f.table == 0 && level > 1 && slices.Contains(v.topics, f.head()) {
		p.weight += 1.5 // the customers of customers.csv
	}
	if f.table > 0 {
		p.weight -= 2
	}
	if f.factors != nil {
		p.weight -= 1
	}
	if d := f.direction(); d != "" && (r.heading(p.from) == d || r.heads(p.to) == d) {
		p.weight += 3
	}
}

// valueConcepts are the concepts by which a word names a value of another spelling.
var valueConcepts = folded(`female male fulltime parttime yes no germany france austria switzerland italy spain poland netherlands belgium uk usa north south east west
vertrieb finance hr engineering purchasing logistics red blue green black white color open close cancel active churn error warn return paid late unpaid maths biology physics chemistry history geography`)

// valuesAt finds the stretches from a token on that name values of a text column.
func (r *reader) valuesAt(v *view, f *field, i int) []piece {
	var out []piece
	if d := f.direction(); d != "" && r.heading(i) != "" && r.heading(i) != d {
		return nil // from the station, and not to it
	}
	partial := map[int][]string{}
	whole := map[int][]string{}
	synonym := []string{}
	for _, value := range r.valuesOf(v, f) {
		vt := r.valueTokens(value)
		if len(vt) == 0 {
			continue
		}
		if n := r.sameRun(vt, i); n == len(vt) && r.cut(f, i, n) {
			continue
		} else if n == len(vt) {
			if !r.spelled(vt, i) && r.exact(i, n) {
				continue // Heath is a place, and no heather
			}
			whole[n] = append(whole[n], value)
			continue
		}
		if len(vt) == 1 && !r.ts[i].quoted && r.valueSynonym(f, r.ts[i], vt[0]) && !r.exact(i, 1) {
			synonym = append(synonym, value)
		}
		words := tokens(fullTime(value), r.lang)
		for k := range words {
			if n := r.sameRun(words[k:], i); n > 0 && n < len(words) && r.telling(i, n) && (r.spelled(words[k:k+n], i) || !r.exact(i, n)) {
				for m := 1; m <= n; m++ {
					partial[m] = append(partial[m], value)
				}
				break
			}
		}
	}
	extra := 0.0
	if f.table > 0 {
		extra = -2
	}
	for n, vs := range whole {
		w := 12*float64(n) + extra
		if n == 1 && r.counted(i) && r.lex.means(r.ts[i].stem, "employee") {
			w = 2 // how many people: the rows, not the department People
		}
		out = append(out, piece{kind: kindValue, field: f, values: vs, from: i, to: i + n, weight: w})
	}
	if len(synonym) > 0 && len(whole[1]) == 0 {
		out = append(out, piece{kind: kindValue, field: f, values: synonym, from: i, to: i + 1, weight: 7 + extra})
	}
	for n, vs := range partial {
		if len(whole[n]) == 0 && len(vs) <= 6 && r.complete(f) {
			out = append(out, piece{kind: kindValue, arg: "partial", field: f, values: vs, from: i, to: i + n, weight: 6*float64(n) + extra - float64(len(vs))})
		}
	}
	return out
}

// counted says whether a token stands directly behind how many.
func (r *reader) counted(i int) bool {
	return i >= 2 && (r.ts[i-2].fold == "how" && r.ts[i-1].fold == "many" || r.ts[i-2].fold == "wie" && strings.HasPrefix(r.ts[i-1].fold, "viel") || r.ts[i-1].fold == "wieviele") ||
		i >= 1 && r.ts[i-1].fold == "anzahl"
}

// periodsAt finds the values of a text column that are the time at a token, or in it: the
// quarters of 2024.
func (r *reader) periodsAt(f *field, i int) []piece {
	asked, n := timeAt(r.ts, i)
	if n == 0 || asked.unit == "weekday" || r.ts[i].quoted || len(f.Values) == 0 {
		return nil
	}
	var fits []string
	for _, x := range f.Values {
		s, _ := x.(string)
		p, ok := r.valuePeriod(s)
		if !ok {
			return nil
		}
		if p == asked || asked.unit == "year" && p.year == asked.year {
			fits = append(fits, s)
		}
	}
	if len(fits) == 0 {
		return nil
	}
	return []piece{{kind: kindValue, arg: "period", field: f, values: fits, from: i, to: i + n, weight: 8*float64(n) + 1}}
}

// valuePeriod reads a value as a time: 2024-03, March 2024, Q1 2024, Mar.
func (r *reader) valuePeriod(s string) (period, bool) {
	if p, ok := isoPeriod(s); ok {
		return p, true
	}
	ts := tokens(s, r.lang)
	if len(ts) == 0 {
		return period{}, false
	}
	p, n := timeAt(ts, 0)
	return p, n == len(ts)
}

// complete says whether all values of a column that a partial name fits are known.
func (r *reader) complete(f *field) bool {
	return !f.DistinctCapped && f.Distinct <= int64(len(f.Values)) || r.found != nil
}

func (r *reader) valuesOf(v *view, f *field) []string {
	var out []string
	for _, x := range f.Values {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	for _, s := range r.found[[2]string{v.tables[f.table].Name, f.Name}] {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func (r *reader) valueTokens(value string) []token {
	if len(value) > 120 {
		return nil
	}
	var out []token
	for _, t := range tokens(fullTime(value), r.lang) {
		if t.num == nil {
			if parts := r.vocab.split(r.lex, t.fold); len(parts) > 1 {
				for _, p := range parts {
					out = append(out, token{raw: p, fold: p, stem: stem(p)})
				}
				continue
			}
		}
		out = append(out, t)
	}
	return out
}

// sameRun counts the tokens from i on that are the same as those of a value.
func (r *reader) sameRun(vt []token, i int) int {
	n := 0
	for n < len(vt) && i+n < len(r.ts) && (vt[n].fold == r.ts[i+n].fold || vt[n].num == nil && sameValue(vt[n], r.ts[i+n]) && !r.otherWord(vt[n], r.ts[i+n])) {
		n++
	}
	return n
}

// otherWord says whether two words that differ by an ending are two in English, where no
// adjective has one: heath and heather, bake and baker.
func (r *reader) otherWord(a, b token) bool {
	long, little := a.fold, b.fold
	if len(long) < len(little) {
		long, little = little, long
	}
	rest, ok := strings.CutPrefix(long, little)
	return r.lang == English && ok && (rest == "er" || rest == "e" || rest == "n" || rest == "en")
}

// spelled says whether the tokens from i on are those of a value as it is written.
func (r *reader) spelled(vt []token, i int) bool {
	for k, t := range vt {
		if i+k >= len(r.ts) || t.fold != r.ts[i+k].fold {
			return false
		}
	}
	return true
}

// exact says whether n tokens from i on are a whole value of any table as it is written.
func (r *reader) exact(i, n int) bool {
	for _, v := range r.views {
		for _, f := range v.fields {
			if f.table != 0 || !f.text() || f.free {
				continue
			}
			for _, value := range r.valuesOf(v, f) {
				if vt := r.valueTokens(value); len(vt) == n && r.spelled(vt, i) {
					return true
				}
			}
		}
	}
	return false
}

// telling says whether a stretch is more than small words and words of questions.
func (r *reader) telling(i, n int) bool {
	for _, t := range r.ts[i : i+n] {
		if t.part {
			return false
		}
		if t.quoted || len(t.fold) > 2 && !r.lex.fill[t.fold] && r.lex.phrases[t.fold] == nil && t.num == nil && monthNames[t.fold] == 0 {
			return true
		}
	}
	return false
}

func (r *reader) valueSynonym(f *field, t, value token) bool {
	if len(f.Values) <= 6 && len(value.fold) >= 4 && value.fold != "open" && verbal(t.fold) && strings.HasPrefix(t.fold, value.fold) && family(t.fold, value.fold) {
		return true // failed, of fail
	}
	if base, ok := strings.CutSuffix(t.fold, "s"); ok && len(base) > 3 && len(f.Values) <= 6 && (base+"ed" == value.fold || base+"d" == value.fold) && value.fold != "opened" {
		return true // fails, of failed
	}
	if t.fold == "man" && r.lang == German {
		return false // one, in general
	}
	for _, c := range r.lex.concepts[t.stem] {
		if !slices.ContainsFunc(r.lex.concepts[value.stem], func(o string) bool { return o == c }) {
			continue
		}
		for w := range valueConcepts {
			if stem(w) == c && (c != stem("female") && c != stem("male") || f.named(r.lex, "gender") || len(value.fold) > 1) {
				return true
			}
		}
	}
	return false
}

// sales says whether a word stands for what is sold as well as for what it brings.
func (r *reader) sales(t token) bool {
	return r.lex.means(t.stem, "revenue") && r.lex.means(t.stem, "order")
}
