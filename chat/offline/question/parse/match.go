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

// columnNouns are nouns for the columns of a wide table: one column for each party.
var columnNouns = speech.Folded(`party parties partei parteien candidate candidates kandidat kandidaten liste list channel channels kanal kanale medium media
subject subjects fach facher source sources quelle quellen energietrager energiequelle fuel fuels technology
category categories kategorie kategorien product products produkt produkte item items sorte sorten type types
question questions frage fragen aspect aspects aspekt aspekte criterion criteria kriterium`)

// ballots are what the columns of parties count.
var ballots = speech.Folded("vote votes stimme stimmen seats sitze")

// acrossAt finds a noun for the columns of a wide table.
func (r *Tagger) acrossAt(v *schema.View, i int) []Piece {
	t := r.Tokens[i]
	if t.Quoted || v.Wide == nil || !columnNouns[t.Fold] || slices.ContainsFunc(v.Fields, func(f *schema.Field) bool {
		return slices.ContainsFunc(f.Words, func(w speech.Word) bool { return r.Level(t, w) > 2 })
	}) {
		return nil
	}
	return []Piece{{Kind: speech.KindAcross, Arg: "noun", From: i, To: i + 1, Weight: 5}}
}

// countsAt finds what the columns of a wide table count: the votes of the parties.
func (r *Tagger) countsAt(v *schema.View, i int) []Piece {
	if r.Tokens[i].Quoted || v.Wide == nil || !v.Ballot() || !ballots[r.Tokens[i].Fold] {
		return nil
	}
	return []Piece{{Kind: speech.KindEntity, Arg: "topic", From: i, To: i + 1, Weight: 4}}
}

// budgetAt finds words for what is left of a budget and for what is spent, if the table has a budget.
func (r *Tagger) budgetAt(v *schema.View, i int) []Piece {
	if r.Tokens[i].Quoted {
		return nil
	}
	only := func(concept string) *schema.Field {
		return schema.Only(v.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Factors == nil && f.Measure() && f.Named(concept) })
	}
	actual := only("actual")
	if actual == nil || only("budget") == nil || v.FieldOf("remaining") != nil {
		return nil
	}
	switch r.Tokens[i].Fold {
	case "left", "remaining", "unspent", "ubrig", "verbleibt", "verbleibend", "verfugbar":
		return []Piece{{Kind: speech.KindLeft, From: i, To: i + 1, Weight: 4}}
	case "spend", "spent", "spending", "spends", "expenses", "expenditure", "ausgegeben", "ausgaben":
		return fieldPiece(actual, i, 5)
	}
	return nil
}

// worthAt reads what a stock is worth: its pieces times the cost of one, or times the price
// that the question names. If it names none, one cost must be the only price of the table.
func (r *Tagger) worthAt(v *schema.View, i int) []Piece {
	if r.Tokens[i].Quoted || r.Tokens[i].Fold != "worth" && r.Tokens[i].Fold != "wert" && r.Tokens[i].Fold != "valu" {
		return nil
	}
	quantity := v.StockField()
	words, n := r.PriceAt(i + 1)
	if quantity == nil || words == nil && r.Tokens[i].Fold != "worth" {
		return nil
	}
	var prices, measured []*schema.Field
	for _, f := range v.Fields {
		if f.Table != 0 || f.Factors != nil || !f.Measure() || f == quantity || !f.Named("price") && !f.Named("cost") {
			continue
		}
		if f.Has(totalWords) {
			return nil // the column holds the total of a row
		}
		prices = append(prices, f)
		if slices.ContainsFunc(f.Words, func(w speech.Word) bool { return words[w.Fold] || words == nil && speech.BuyingPrice[w.Fold] }) {
			measured = append(measured, f)
		}
	}
	if len(measured) != 1 || words == nil && len(prices) != 1 {
		return nil
	}
	f := &schema.Field{Column: schema.Column{Name: "value", Type: "number", Unit: measured[0].UnitSymbol()}, Factors: []*schema.Field{quantity, measured[0]}, Words: []speech.Word{{Fold: "amount", Stem: speech.Stem("amount")}}}
	return []Piece{{Kind: speech.KindTimes, Field: f, From: i, To: i + 1 + n, Weight: 9 * float64(1+n)}}
}

var totalWords = speech.Folded("total gesamt sum summe amount betrag montant")

// headed reports whether a token is a verb of leaving or reaching, in a table that has a column for each.
func (r *Tagger) headed(v *schema.View, i int) bool {
	t := r.Tokens[i]
	if t.Quoted || r.Counted(i) || !speech.Leaving[t.Fold] && !speech.Reaching[t.Fold] {
		return false
	}
	heads := func(to string) bool {
		return slices.ContainsFunc(v.Fields, func(f *schema.Field) bool { return f.Direction() == to })
	}
	return heads("from") && heads("to")
}

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
	out := r.GrammarAt(i)
	out = append(out, r.NumbersAt(i)...)
	for _, f := range v.Fields {
		out = append(out, r.fieldAt(v, f, i)...)
		if f.Text() && !f.Free {
			out = append(out, r.valuesAt(v, f, i)...)
			out = append(out, r.likertAt(f, i)...)
			out = append(out, r.periodsAt(f, i)...)
		}
	}
	for _, find := range []func(*schema.View, int) []Piece{
		r.contextAt, r.joinedAt, r.attachedAt, r.compoundAt, r.acrossAt, r.dimensionAt, r.placeAt, r.budgetAt, r.worthAt, r.countsAt,
	} {
		out = append(out, find(v, i)...)
	}
	if r.YearsOld(i) {
		out = append(out, Piece{Kind: speech.KindFill, From: i, To: i + 2, Weight: 12})
	}
	if p, ok := r.entityAt(v, i); ok {
		out = append(out, p)
	}
	t := r.Tokens[i]
	passively := i > 0 && (Beings[r.Tokens[i-1].Fold] || r.Tokens[i-1].Fold == "is" || r.Tokens[i-1].Fold == "was") // logged on 4 May
	loggedIn := t.Fold == "logged" && !passively && i+1 < len(r.Tokens) && (r.Tokens[i+1].Fold == "in" || r.Tokens[i+1].Fold == "on" || r.Tokens[i+1].Fold == "out")
	fill := r.Lex.Fillers[t.Fold] && !(t.Fold == "man" && r.Lang == speech.English)
	if len(t.Fold) == 1 && t.Num == nil { // a capital is a name: of D
		unit := i > 0 && r.Tokens[i-1].Num != nil && schema.UnitNames[t.Fold] != "" // 15 m are not 15 of anything
		fill = t.Fold != "%" && !unit && (t.Raw == t.Fold || t.Raw == "I" || i == 0 || strings.HasSuffix(r.Text[:t.From], "°"))
	}
	onTime := t.Fold == "time" && i > 0 && r.Tokens[i-1].Fold == "on" // says which rows
	if !t.Quoted && !loggedIn && !onTime && fill {
		out = append(out, Piece{Kind: speech.KindFill, From: i, To: i + 1})
	}
	if r.aboutAt(v, i) {
		out = append(out, Piece{Kind: speech.KindFill, From: i, To: i + 1})
	}
	if !t.Quoted && !(r.Counted(i) && r.Sales(t)) && schema.Selling[t.Fold] && t.Fold != "unit" && t.Fold != "list" && (v.HasRevenue || slices.ContainsFunc(v.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Named("quantity") && f.Measure() }) ||
		slices.ContainsFunc(v.Topics, func(w string) bool { return r.Lex.Means(w, "order") && (t.Fold == "sold" || t.Fold == "verkauft") })) {
		out = append(out, Piece{Kind: speech.KindFill, From: i, To: i + 1, Weight: map[bool]float64{true: 8}[t.Fold == "sell" || t.Fold == "sells"]}) // the rows are sales
	}
	if !t.Quoted && r.Lex.ActionVerbs[t.Fold] {
		out = append(out, Piece{Kind: speech.KindFill, Arg: "deed", From: i, To: i + 1, Weight: -2})
	}
	if !t.Quoted && r.Lex.Owners[t.Fold] && i > 0 {
		out = append(out, Piece{Kind: speech.KindFill, Arg: "owner", From: i, To: i + 1, Weight: -1})
	}
	if r.headed(v, i) {
		out = append(out, Piece{Kind: speech.KindFill, From: i, To: i + 1, Weight: -1})
	}
	out = append(out, r.lightAt(v, i)...)
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
		if p.Kind == speech.KindNet {
			weight = 8 * float64(n)
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
	if n := HalfAt(r.Tokens, i); n > 0 {
		out = append(out, Piece{Kind: speech.KindNum, Num: 0.5, From: i, To: i + n, Weight: 14})
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

var longUnits = speech.Folded("degrees celsius grad euros dollar dollars percent prozent kilometer kilometers kilometres metres meters liters liter litres hours hour minutes minute seconds stunden stunde minuten sekunden")

// fieldAt finds the runs of tokens from i on that name a column.
func (r *Tagger) fieldAt(v *schema.View, f *schema.Field, i int) []Piece {
	var out []Piece
	if v.HasRevenue && (!f.Measure() || r.Counted(i) && f.Named("revenue")) && r.Sales(r.Tokens[i]) && !slices.ContainsFunc(f.Words, func(w speech.Word) bool { return w.Fold == r.Tokens[i].Fold }) {
		return nil // sales are amounts if there are any, not order numbers; but how many sales is not how much revenue
	}
	taken := make([]bool, len(f.Words))
	sum, required, matched, head := 0.0, 0, 0, false
	for _, w := range f.Words {
		if !w.Optional {
			required++
		}
	}
	for k := i; k < len(r.Tokens) && k < i+maxName; k++ {
		best, at := 0, -1
		if k == i && givenNames[r.Tokens[k].Fold] && (k+1 == len(r.Tokens) || !strings.HasPrefix(r.Tokens[k+1].Fold, "name")) && len(f.Words) > 1 {
			break // who joined last: not a last name
		}
		if r.Lang == speech.English && k > 0 && f.Text() && r.Tokens[k].Raw[0] <= 'Z' && slices.Contains(f.Values, any(r.Tokens[k].Raw)) {
			break // from Station to Park
		}
		for j, w := range f.Words {
			if r.Lang == speech.English && slices.Contains(v.Entity, r.Tokens[k].Stem) && doer(strings.TrimSuffix(r.Tokens[k].Fold, "s"), w.Fold) {
				continue // calls are not callers
			}
			if l := r.Level(r.Tokens[k], w); !taken[j] && (l > best || l == best && l > 0 && f.Words[at].Optional && !w.Optional) {
				best, at = l, j
			}
		}
		if at < 0 {
			if k == i || !r.Lex.Fillers[r.Tokens[k].Fold] && !schema.Prepositions[r.Tokens[k].Fold] {
				break
			}
			continue
		}
		taken[at] = true
		if !f.Words[at].Optional {
			matched++
			head = head || f.Words[at].Stem == f.Head() || f.OfUnit() // the quantity of a column Quantity Sold
		}
		sum += []float64{0, 3.5, 6, 7, 10}[best]
		if required > 0 && matched > 0 && !head {
			// "flipper" alone is not a flipper length; it can say which length.
			if k == i && r.Lex.Phrases[r.Tokens[k].Fold] == nil {
				out = append(out, Piece{Kind: speech.KindField, Arg: "rest", Field: f, From: i, To: k + 1, Weight: sum - 4})
			}
			continue
		}
		if !slices.ContainsFunc(r.Tokens[i:k+1], func(t speech.Token) bool { return !speech.LightParticles[t.Fold] }) {
			continue // "lent out" does not name days out
		}
		p := Piece{Kind: speech.KindField, Field: f, From: i, To: k + 1, Weight: sum}
		r.weigh(v, &p, matched, required, best)
		out = append(out, p)
	}
	return out
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
	if matched < required && f.Per() {
		p.Arg = "half" // GDP alone is not GDP per capita
	}
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
	if f.Factors != nil {
		p.Weight -= 1
	}
	if d := f.Direction(); d != "" && (r.Heading(p.From) == d || r.Heads(p.To) == d) {
		p.Weight += 3
	}
}

// valueConcepts are the concepts by which a word names a value that is spelled differently.
var valueConcepts = speech.Folded(`female male fulltime parttime yes no germany france austria switzerland italy spain poland netherlands belgium uk usa north south east west
vertrieb finance hr engineering purchasing logistics red blue green black white color open close cancel active churn error warn return late unpaid maths biology physics chemistry history geography`)

// valuesAt finds the runs of tokens from i on that name values of a text column.
func (r *Matcher) valuesAt(v *schema.View, f *schema.Field, i int) []Piece {
	var out []Piece
	if d := f.Direction(); d != "" && r.Heading(i) != "" && r.Heading(i) != d {
		return nil // from the station, not to it
	}
	partial := map[int][]string{}
	whole := map[int][]string{}
	synonym := []string{}
	for _, value := range r.valuesOf(v, f) {
		vt := r.ValueTokens(value)
		if len(vt) == 0 || r.smallWord(f, vt, i) || f.Key() && len(vt) == 1 && r.bareNumber(v, f, i) {
			continue
		}
		if n := r.SameRun(vt, i); n == len(vt) {
			if !r.cut(f, i, n) && (r.Spelled(vt, i) || !r.exact(i, n)) { // Heath is a place, not heather
				whole[n] = append(whole[n], value)
			}
			continue
		}
		if len(vt) == 1 && r.Phrasal(vt[0].Fold, i) {
			whole[2] = append(whole[2], value)
			continue
		}
		if len(vt) == 1 && !r.Tokens[i].Quoted && r.valueSynonym(f, r.Tokens[i], vt[0]) && !r.exact(i, 1) {
			synonym = append(synonym, value)
		}
		words := speech.Tokens(speech.FullTime(value), r.Lang)
		if (r.Counted(i) || i > 0 && r.Superlative(i-1)) && slices.ContainsFunc(bodies, f.Named) {
			continue // runners are not the members of the club Fjord Runners
		}
		for k := range words {
			if n := r.SameRun(words[k:], i); n > 0 && n < len(words) && r.Informative(i, n) && (r.Spelled(words[k:k+n], i) || !r.exact(i, n)) {
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
		w := 12*float64(n) + extra
		if n == 1 && r.Counted(i) && r.Lex.Means(r.Tokens[i].Stem, "employee") {
			w = 2 // how many people: the rows, not the department People
		}
		out = append(out, Piece{Kind: speech.KindValue, Field: f, Values: vs, From: i, To: i + n, Weight: w})
	}
	if len(synonym) > 0 && len(whole[1]) == 0 {
		out = append(out, Piece{Kind: speech.KindValue, Field: f, Values: synonym, From: i, To: i + 1, Weight: 7 + extra})
	}
	// Whether all values that a partial name may match are known.
	complete := !f.DistinctCapped && f.Distinct <= int64(len(f.Values)) || r.Found != nil
	for n, vs := range partial {
		if len(whole[n]) == 0 && len(vs) <= 6 && complete && !f.Likert() {
			out = append(out, Piece{Kind: speech.KindValue, Arg: "partial", Field: f, Values: vs, From: i, To: i + n, Weight: 6*float64(n) + extra - float64(len(vs))})
		}
	}
	return out
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
			if f.Table != 0 || !f.Text() || f.Free {
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

// OfWords join a noun with what it belongs to.
var OfWords = speech.Folded("of von")
