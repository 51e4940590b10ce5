// Package plan turns an explanation of a question into one query plan: what the words ask, the
// conditions on the rows, the roles of the columns, then the operation. Finally, a review refuses a
// plan that leaves out a part of the question. The package returns no errors: a plan that cannot be
// made has a Reason. Of the packages of question, it imports only speech, schema and parse.
package plan

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// Measure is a requested number: a column with its aggregate, or rows.
type Measure struct {
	Field *schema.Field
	// How is sum, avg, median, min or max; empty if the question leaves it open.
	How string
}

// Column returns the column of a measure; nil for rows.
func (m *Measure) Column() *schema.Field {
	if m == nil {
		return nil
	}
	return m.Field
}

// explanation is one explanation of a question by the tables of a view, with its pieces in order.
type explanation struct {
	speech.Language
	Text        *parse.Matcher
	View        *schema.View
	Pieces      []parse.Piece
	used        []bool // the pieces that have a role
	Weight      float64
	Superlative *parse.Piece
}

// wording is what the words of the grammar ask, before any column has a role.
type wording struct {
	explanation
	Asks      string // the first asking word: many, much, which, who, when, where, list, change
	Aggregate string
	Trend     string
	diff      bool
	more      *parse.Piece // more, warmer: a comparison of two
	versus    bool
	share     bool
	distinct  bool
	people    bool // how many people: a number of people, or rows that are people
	usedUp    bool // the question asks what was used up: for a counter
	judged    bool // the measure is a mark that people gave
}

// conditions are what the rows must meet, including times.
type conditions struct {
	wording
	Filters []Filter
	Periods []speech.Period
	Time    *schema.Field
	Either  *schema.Field // the column whose two values are compared
	Bound   *threshold    // the threshold for the rows of a group
}

// roles are the roles of the named columns in the question: measures, groups and targets.
type roles struct {
	conditions
	Op       string
	Measures []Measure
	// Counted is the column whose distinct values are counted; nil counts rows.
	Counted  *schema.Field
	Target   *schema.Field
	Unit     string // a unit of time as target or group
	Groups   []*schema.Field
	N        int
	attrs    []*schema.Field // text and date columns that are asked for
	PerRow   bool            // per order, where each row is an order
	perKey   *schema.Field   // the key of what a mean is per
	Tally    string          // the unit of time that is counted: on how many days
	Called   string          // what the question calls the things that are counted
	askedFor *schema.Field   // the column of times that is asked for: on which day
	one      bool            // one row is asked for by its amount
}

// Plan is an operation with everything that it needs.
type Plan struct {
	roles
	Outflow bool // the sum is of outgoing amounts, which are negative in the table
}

// New fills the slots from an explanation; a Reason says why it does not form a question.
func New(r *parse.Matcher, before *Plan, v *schema.View, c parse.Cover) (*Plan, Reason) {
	p := &Plan{}
	p.explanation = explanation{Language: r.Lang, Text: r, View: v, Weight: c.Weight}
	for _, x := range c.Pieces {
		switch x.Kind {
		case speech.KindFill:
			p.usedUp = p.usedUp || x.Arg == "deed" && r.Lex.Means(r.Tokens[x.From].Stem, "consumption")
			p.judged = p.judged || x.Arg == "rating"
			if x.Arg == "owner" && (!p.owned(c, x) || r.OfOtherRows(v, r.Tokens[x.From])) {
				return nil, ReasonUnknown
			}
			continue
		case speech.KindUnknown:
			return nil, ReasonUnknown
		case speech.KindField:
			switch {
			case x.Arg == "half" && !slices.ContainsFunc(c.Pieces, func(o parse.Piece) bool { return o.Kind == speech.KindField && o.Field == x.Field && o.Arg == "rest" }),
				x.Arg == "rest" && !slices.ContainsFunc(c.Pieces, func(o parse.Piece) bool {
					return o.Kind == speech.KindSup && o.About != "" && r.Lex.Means(x.Field.Head(), o.About) || // in purchase the most expensive
						o.Field == x.Field && (o.Kind == speech.KindField && o.Arg != "rest" || o.Kind == speech.KindValue && (o.To == x.From || x.To == o.From)) // casual riders
				}):
				return nil, ReasonUnknown
			case x.Arg == "rest":
				continue
			}
		case speech.KindNever:
			return nil, ReasonBeyond
		case speech.KindValue:
			if x.Field.Likert() && slices.ContainsFunc(c.Pieces, func(o parse.Piece) bool { return o.Kind == speech.KindField && o.Field != x.Field && o.Field.Likert() }) {
				return nil, ReasonUnknown // agreeing to one statement says nothing about another
			}
		}
		p.Pieces = append(p.Pieces, x)
	}
	p.used = make([]bool, len(p.Pieces))
	carry := func() Reason { return p.carry(before) }
	for _, step := range []func() Reason{p.words, p.joinNames, p.multiplied, p.timeWords, p.takeConditions, p.truths, p.targets, p.overBudget, p.checkUnusedPieces, p.totals, carry, p.decide} {
		if reason := step(); reason != "" {
			return nil, reason
		}
	}
	return p, (&review{p}).unansweredReason(c.Pieces)
}

// receivers are words before a recipient: what was given to the hospital is not all that was given.
var receivers = speech.Folded("to for by towards an fur")

// owned reports whether a word like museum or team only says whose data it is, or of which kind a value is.
func (p *explanation) owned(c parse.Cover, x parse.Piece) bool {
	if speech.Articles[p.Text.Tokens[x.From-1].Fold] {
		w := p.Text.Tokens[x.From]
		named := p.Text.Lang == speech.English && w.Raw != "" && unicode.IsUpper([]rune(w.Raw)[0])                                // a name: given to the Hospital
		topic := slices.ContainsFunc(c.Pieces, func(o parse.Piece) bool { return o.Kind == speech.KindEntity && o.From == x.To }) // the shop refit
		return !named && (topic || x.From < 2 || !receivers[p.Text.Tokens[x.From-2].Fold])
	}
	return slices.ContainsFunc(c.Pieces, func(o parse.Piece) bool {
		return (o.Kind == speech.KindField || o.Kind == speech.KindValue) && o.To == x.From
	})
}

// words handles the words of the grammar that stand alone.
func (p *roles) words() Reason {
	for i, x := range p.Pieces {
		switch x.Kind {
		case speech.KindAsk:
			if reason := p.askWord(i); reason != "" {
				return reason
			}
		case speech.KindAgg:
			p.used[i] = true
			switch {
			case x.Arg == "share":
				p.share = true
			case x.Arg == "distinct":
				p.distinct = true
			case p.Aggregate == "" || p.Aggregate == x.Arg || p.Aggregate == "sum" && p.Pieces[0].Kind == speech.KindAgg:
				p.Aggregate = x.Arg // overall, what is the mean
			default:
				return ReasonUnclear // the total and the mean
			}
		case speech.KindSup:
			if p.Superlative != nil {
				return ReasonUnclear
			}
			p.Superlative, p.used[i] = &p.Pieces[i], true
		case speech.KindTrend:
			p.Trend, p.used[i] = x.Arg, true
		case speech.KindNone:
			f, ok := p.none(x.Arg)
			if !ok {
				return ReasonUnknown
			}
			p.Filters, p.used[i] = append(p.Filters, f), true
		case speech.KindDiff, speech.KindVersus, speech.KindAcross, speech.KindLeft, speech.KindOver:
			p.used[i] = true
			p.diff, p.versus = p.diff || x.Kind == speech.KindDiff, p.versus || x.Kind == speech.KindVersus
		case speech.KindNet:
			p.used[i] = true
			words := map[string]map[string]bool{"": untaxedWords, "gross": taxedWords}[x.Arg]
			if slices.ContainsFunc(p.Pieces, func(o parse.Piece) bool { return o.Kind == speech.KindField && o.Field.Has(words) }) {
				continue
			}
			f := schema.Only(p.View.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Measure() && f.Has(words) })
			if f == nil {
				return ReasonUnknown
			}
			p.Measures = append(p.Measures, Measure{Field: f})
		case speech.KindWhole:
			if p.used[i] = true; !p.oneYear() {
				return ReasonUnclear
			}
		case speech.KindMore:
			if p.more != nil {
				return ReasonUnclear
			}
			p.more, p.used[i] = &p.Pieces[i], true
		}
	}
	if p.Aggregate == "" && slices.ContainsFunc(p.Pieces, p.everyYear) && p.Superlative != nil && p.mostWord() {
		p.Aggregate = "sum"
	}
	return ""
}

// untaxedWords are words of columns of amounts before tax.
var untaxedWords = speech.Folded("ht net netto nett")

// taxedWords are words of columns of amounts with tax.
var taxedWords = speech.Folded("ttc gross brutto")

// askWord handles a question word, with the number that it is about: how old.
func (p *roles) askWord(i int) Reason {
	x := p.Pieces[i]
	if x.Arg == "many" && x.To-x.From < 3 && slices.ContainsFunc(p.Pieces, func(o parse.Piece) bool { return o.Kind == speech.KindSup }) {
		switch p.Text.Tokens[x.From].Fold {
		case "number", "anzahl", "zahl", "count", "die":
			p.used[i] = true // it names what a ranking is by: by number of loans
			return ""
		}
	}
	if x.Arg == "people" {
		p.people, x.Arg = true, "many"
	}
	if p.Asks == "" || p.Asks == "which" && (x.Arg == "many" || x.Arg == "much") || p.Asks == "list" {
		p.Asks = x.Arg
	}
	if x.About != "" {
		f := p.longestOf(x.About)
		switch {
		case f != nil:
		case x.About == "length":
			f = cmp.Or(p.View.FieldOf("duration"), p.View.DurationField())
		case x.About == "price":
			f = p.View.SellingPrice()
		}
		if f == nil {
			return ReasonUnknown
		}
		p.Measures = append(p.Measures, Measure{Field: f})
	}
	p.used[i] = true
	return ""
}

// none returns the condition that words such as sold out, open, number one and frost days stand for.
func (p *roles) none(of string) (Filter, bool) {
	if of == "frost" || of == "wet" || of == "dry" { // these count days
		if p.Tally != "" {
			return Filter{}, false
		}
		p.Tally = "day"
	}
	frost := func(f *schema.Field) bool {
		return f.Table == 0 && f.Measure() && f.Temperature() && p.Nature(f) == "min"
	}
	if f := p.View.Ended(); of == "open" && f != nil {
		return nullFilter(f, p.Say("no value", "kein Wert")), true
	}
	is, ok := map[string]struct {
		f  *schema.Field
		op string
		n  float64
	}{
		"first": {p.View.FieldOf("rank"), "=", 1},
		"stock": {p.View.StockField(), "<=", 0},
		"frost": {schema.Only(p.View.Fields, frost), "<", 0},
		"wet":   {p.View.FieldOf("rain"), ">", 0},
		"dry":   {p.View.FieldOf("rain"), "=", 0},
	}[of]
	if !ok || is.f == nil {
		return Filter{}, false
	}
	return numberFilter(is.f, is.op, is.n), true
}

// near returns the piece at an offset from another one, including used pieces; the zero Piece if there is none.
func (p *explanation) near(i, step int) parse.Piece {
	if k := i + step; k >= 0 && k < len(p.Pieces) {
		return p.Pieces[k]
	}
	return parse.Piece{}
}

// joinNames joins a value with the name of its column, a number with the key that it
// belongs to, and a number with a superlative: the top 5.
func (p *roles) joinNames() Reason {
	for i, x := range p.Pieces {
		switch x.Kind {
		case speech.KindField:
			for _, step := range []int{-1, 1} {
				if n := p.near(i, step); n.Kind == speech.KindValue && n.Field == x.Field && (p.Asked(i) == "" || p.Asked(i) == "much" || p.near(i, -1).Kind == speech.KindValue) {
					p.used[i] = true
				}
			}
			n := p.near(i, 1)
			if b := p.near(i, -1); b.Kind == speech.KindNum && !p.used[i-1] && p.numbered(i) {
				p.Filters = append(p.Filters, numberFilter(x.Field, "=", b.Num))
				p.used[i-1], p.used[i] = true, true
				continue
			}
			if p.used[i] || n.From != x.To && !(n.From == x.To+1 && parse.OfWords[p.Text.Tokens[x.To].Fold]) {
				continue
			}
			num := n.Num
			if n.Kind == speech.KindTime && n.Period.Unit == "year" && x.Field.Key() && x.Field.Spans(float64(n.Period.Year)) {
				num = float64(n.Period.Year)
			} else if n.Kind != speech.KindNum {
				continue
			}
			if c := p.near(i, 2); c.Kind == speech.KindCmp && (c.Arg == ">=" || c.Arg == "<=") && c.From == n.To && p.near(i, 3).Kind == "" {
				continue // a satisfaction of 4 or more
			}
			if before := p.near(i, -1); x.Field.Type == "integer" && before.Kind != speech.KindCmp {
				p.Filters = append(p.Filters, numberFilter(x.Field, "=", num))
				p.used[i], p.used[i+1] = true, true
				if before.Kind == speech.KindField && before.Field == x.Field {
					p.used[i-1] = true // the stock on hand
				}
			}
		case speech.KindNum:
			if f := p.inOwnUnit(i); f != nil {
				p.Filters = append(p.Filters, numberFilter(f, "=", x.Num))
				p.used[i] = true
				continue
			}
			for _, step := range []int{-1, 1} {
				if n := p.near(i, step); (n.Kind == speech.KindSup || step < 0 && n.Kind == speech.KindAsk && (n.Arg == "which" || n.Arg == "list")) && !p.used[i] && x.Num >= 1 && x.Num <= 50 && (n.Kind == speech.KindSup || p.Superlative != nil) {
					p.N, p.used[i] = int(x.Num), true
				}
			}
		}
	}
	return ""
}

// numbered reports whether a number before a column is its value: a flat with 3 rooms.
func (p *explanation) numbered(i int) bool {
	x, b := p.Pieces[i], p.Pieces[i-1]
	if x.Field.Type != "integer" || !x.Field.Measure() || b.To != x.From || b.To-b.From > 1 || i < 2 || x.Field.Rows > 0 && !x.Field.Spans(b.Num) {
		return false
	}
	if from, to := p.Text.Tokens[b.From].To, p.Text.Tokens[x.From].From; from < to && p.Text.Text[from:to] == "-" {
		return true // a three-bedroom flat
	}
	switch p.Text.Tokens[b.From-1].Fold {
	case "with", "mit", "having", "of", "von", "has", "have", "hat", "haben", "had":
		return p.Pieces[i-2].Kind != speech.KindSup && p.Pieces[i-2].Kind != speech.KindCmp
	}
	return false
}

// inOwnUnit returns the column of which a number with its unit is a value: Sage Green in 2.5L.
func (p *wording) inOwnUnit(i int) *schema.Field {
	x := p.Pieces[i]
	if x.To-x.From != 2 || p.Asks != "many" && p.Asks != "much" && p.Asks != "which" || p.Superlative != nil || i == 0 {
		return nil
	}
	f := p.View.InUnit(p.Text.Tokens[x.To-1].Fold)
	if f == nil || sizesOf[f.UnitName()].kind == "time" || !f.Spans(x.Num) || slices.ContainsFunc(p.Pieces, func(o parse.Piece) bool {
		return o.Kind == speech.KindCmp || o.Kind == speech.KindBound || o.Kind == speech.KindField && o.Field == f
	}) || p.Nature(f) == "sum" {
		return nil
	}
	return f
}

// Asked returns what the question word before a piece asks, skipping superlatives, numbers, aggregates and values;
// empty if there is none.
func (p *explanation) Asked(i int) string {
	for k := i - 1; k >= 0; k-- {
		switch p.Pieces[k].Kind {
		case speech.KindAsk:
			if p.Pieces[k].Arg == "people" {
				return "" // what follows is not what is counted
			}
			return p.Pieces[k].Arg
		case speech.KindSup, speech.KindNum, speech.KindAgg, speech.KindValue:
		case speech.KindEntity:
			if p.Superlative == nil || k+1 != i {
				return "" // the three most borrowed tools
			}
		default:
			return ""
		}
	}
	return ""
}

// askedAfter reports whether a later column is the one asked for: wines from which country.
func (p *explanation) askedAfter(i int) bool {
	for k := i + 1; k < len(p.Pieces); k++ {
		if p.Pieces[k].Kind == speech.KindField && p.Asked(k) == "which" {
			return true
		}
	}
	return false
}

// isGroupedBy reports whether the result is grouped by a piece.
func (p *explanation) isGroupedBy(i int) bool {
	for k := i - 1; k >= 0; k-- {
		switch p.Pieces[k].Kind {
		case speech.KindBy:
			return true
		case speech.KindJoin:
			// by region and product
			if k > 0 && (p.Pieces[k-1].Kind == speech.KindField || p.Pieces[k-1].Kind == speech.KindUnit) {
				return p.isGroupedBy(k - 1)
			}
			return false
		case speech.KindAgg:
		default:
			return false
		}
	}
	return false
}

// targets determines what the question asks for, what it groups by and what it measures.
func (p *roles) targets() Reason {
	for i, x := range p.Pieces {
		asking := p.Asked(i)
		if x.Kind == speech.KindValue && p.Target == nil && p.Unit == "" && len(p.attrs) == 0 && p.subject(i) {
			p.Target = p.rowName(x)
		}
		if p.used[i] {
			continue
		}
		switch x.Kind {
		case speech.KindField:
			p.fieldRole(i, asking)
		case speech.KindUnit:
			if p.everyYear(x) {
				p.used[i] = true
				continue
			}
			if asking == "many" && p.Asks == "many" {
				p.Tally, p.used[i] = x.Arg, true
				continue
			}
			if p.isGroupedBy(i) || asking != "" && asking != "many" && asking != "much" || p.Superlative != nil || p.Aggregate != "" || p.Trend != "" || p.Text.Tokens[x.From].Fold != "days" && strings.HasSuffix(p.Text.Tokens[x.From].Fold, "ly") || strings.HasSuffix(p.Text.Tokens[x.From].Fold, "lich") {
				if p.Unit != "" && p.Unit != x.Arg {
					return ReasonUnclear
				}
				p.Unit, p.used[i] = x.Arg, true
			}
		case speech.KindEntity:
			p.used[i] = true
			if n := p.near(i, 1); x.Arg == "topic" || n.Kind == speech.KindField && n.From == x.To && n.Field.Text() && p.Superlative != nil {
				continue // frog species: species
			}
			before := p.near(i, -1)
			switch {
			case p.isGroupedBy(i):
				p.PerRow = true
			case p.share || p.Target != nil:
			case (asking == "which" || asking == "who" || asking == "list") && p.Asks != "many", before.Kind == speech.KindSup && before.About == "" && p.Asks == "":
				p.Target = p.labelField(x)
			}
		}
	}
	return ""
}

// fieldRole assigns a role to a named column.
func (p *roles) fieldRole(i int, asking string) {
	f, word := p.Pieces[i].Field, p.Text.Tokens[p.Pieces[i].From]
	p.used[i] = true
	isMeasure, counted, verbal := f.Measure(), asking == "many" && p.Asks == "many", speech.Verbal(word.Fold) || speech.Irregular[word.Fold] != "" || word.Fold == "left"
	if k := p.Pieces[i].From; k > 0 && !isMeasure && f.Text() && asking == "" && !p.isGroupedBy(i) && allOf[p.Text.Tokens[k-1].Fold] {
		return // across all stores
	}
	switch {
	case p.isGroupedBy(i) && isMeasure && (p.Superlative != nil || p.Asks == "list"):
		p.Measures = append(p.Measures, Measure{Field: f})
	case p.isGroupedBy(i) && f.Key() && p.Aggregate == "avg":
		p.PerRow, p.perKey = true, f
	case p.isGroupedBy(i):
		p.Groups = append(p.Groups, f)
	case isMeasure && slices.ContainsFunc(p.Measures, func(m Measure) bool { return m.Field == f }):
	case isMeasure:
		p.Measures = append(p.Measures, Measure{Field: f})
	case counted && f.Dated() && verbal:
		p.Filters = append(p.Filters, knownFilter(f)) // how many have left: those with a date
		p.attrs = append(p.attrs, f)
	case counted && (f.Dated() && !schema.TimeWords[word.Fold] && !schema.TimeWords[word.Stem] || !p.runsOn(i)):
		p.attrs = append(p.attrs, f) // trips are not their dates, and what Acme ordered is not counted by orders
	case counted:
		p.Counted, p.Called = f, word.Raw
	case f.Dated() && p.Superlative != nil && i > 0 && p.Pieces[i-1].Kind == speech.KindSup && verbal:
		// the most borrowed tools: what they are like, not when
	case (asking == "which" || asking == "list") && p.Target == nil && (p.Superlative != nil || !f.Dated()) && !(f.Dated() && p.Pieces[i-1].Kind == speech.KindEntity && verbal):
		p.Target = f
		p.attrs = append(p.attrs, f)
	case f.Dated() || f.Yearly():
		if f.Dated() && f.Missing > 0 && asking == "" && verbal {
			p.Filters = append(p.Filters, knownFilter(f)) // who closed the most: of those that are closed
		}
		if p.Time == nil {
			p.Time = f
		}
		if asking != "" {
			p.askedFor = f
		}
		p.attrs = append(p.attrs, f)
	case p.Asks == "who" && p.Superlative != nil && p.Superlative.About == "" && f != p.View.Person() && p.Pieces[max(0, i-1)].Kind == speech.KindSup:
		p.attrs = append(p.attrs, f) // who borrowed the most tools
	case p.Superlative != nil && p.Target == nil && !p.askedAfter(i) && (p.Pieces[max(0, i-1)].Kind == speech.KindSup || p.Asks == "list" || p.Asks == "" || p.Asks == "which"):
		p.Target = f
	default:
		p.attrs = append(p.attrs, f)
	}
}

// runsOn reports whether a column directly follows the values that say which of it are counted: cancelled orders.
func (p *explanation) runsOn(i int) bool {
	for k := i; k > 0 && p.Pieces[k-1].Kind == speech.KindValue; k-- {
		if p.Pieces[k-1].To != p.Pieces[k].From {
			return false
		}
	}
	return true
}

// checkUnusedPieces checks what is left over: a word without a role makes the reading doubtful.
func (p *conditions) checkUnusedPieces() Reason {
	for i, x := range p.Pieces {
		if p.used[i] {
			continue
		}
		switch {
		case x.Kind == speech.KindBy || x.Kind == speech.KindJoin:
		case x.Kind == speech.KindBound && (x.Arg == "from" || x.Arg == "to" || x.Arg == "between" && p.Either != nil || x.Arg == "until" && p.near(i, 1).Kind == speech.KindValue): // small words: through the portal
		case x.Kind == speech.KindUnit && (len(p.Periods) > 0 || x.Arg == "day"): // "in the year 2020", "on the day"; elsewhere it asks for something
		default:
			return ReasonUnclear
		}
	}
	return ""
}

// totals restricts the rows to those of all categories together, or to the categories, if a
// table has both: "All disasters" beside "Flood".
func (p *roles) totals() Reason {
	for _, f := range p.View.Fields {
		if f.Table != 0 || !f.Text() || len(f.Values) < 3 || slices.ContainsFunc(p.Filters, func(x Filter) bool { return x.Field == f }) {
			continue
		}
		for _, v := range f.Values {
			s, _ := v.(string)
			first, _, _ := strings.Cut(speech.Fold(s), " ")
			switch first {
			case "all", "total", "gesamt", "alle", "summe", "overall", "insgesamt", "totals":
			default:
				continue
			}
			other := slices.ContainsFunc(p.Filters, func(x Filter) bool { return x.Field != f && x.Field.Text() && !x.Total })
			grouped := other || slices.Contains(p.Groups, f) || p.Target == f || p.Counted == f
			x := valueFilter(f, []string{s}, grouped)
			x.Total = true
			p.Filters = append(p.Filters, x)
			break
		}
	}
	return ""
}
