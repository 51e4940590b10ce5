package question

import (
	"slices"
	"strings"
	"unicode"
)

// measure is a number that is asked for: a column with its aggregate, or rows.
type measure struct {
	field *field
	// how is sum, avg, median, min, max; empty where the question leaves it open.
	how string
}

// plan is what a question asks, as slots.
type plan struct {
	r      *reader
	v      *view
	ps     []piece
	used   []bool
	weight float64

	op       string
	asks     string // the first asking word: many, much, which, who, when, where, list, change
	agg      string
	measures []measure
	// counted is the column whose different values are counted; nil counts rows.
	counted  *field
	target   *field
	unit     string // a unit of time as target or group
	time     *field
	groups   []*field
	filters  []filter
	periods  []period
	sup      *piece
	n        int
	trend    string
	diff     bool
	more     *piece // more, warmer: a comparison of two
	versus   bool
	share    bool
	distinct bool
	attrs    []*field // text and date columns that are asked for
	people   bool     // how many people: of a number of people, or of rows that are people
	perRow   bool     // per order, where each row is an order
	perKey   *field   // the key of what a mean is per
	tally    string   // the unit of time that is counted: on how many days
	either   *field   // the column of which two values are compared
	single   bool     // the figure is one value of the table
	called   string   // what the question calls the things that are counted
	askedFor *field   // the column of times that is asked for: on which day
	judged   bool     // the measure is a mark that people gave
	left     bool     // what is left of a budget
	over     bool     // what is over its budget
	across   bool     // the columns of a wide table are compared
	one      bool     // one row is asked for by its amount
	usedUp   bool     // the question asks what was used: of a counter
}

// newPlan fills the slots from an explanation; a reason says why it makes no question.
func newPlan(r *reader, v *view, c cover) (*plan, Reason) {
	p := &plan{r: r, v: v, weight: c.weight}
	deed := false
	var verbs []piece
	for _, x := range c.pieces {
		switch x.kind {
		case kindFill:
			deed = deed || x.arg == "deed"
			if x.arg == "verb" || x.arg == "light" {
				verbs = append(verbs, x)
			}
			p.usedUp = p.usedUp || x.arg == "deed" && r.lex.means(r.ts[x.from].stem, "consumption")
			p.judged = p.judged || x.arg == "rating"
			if x.arg == "owner" && !p.owned(c, x) {
				return nil, ReasonUnknown
			}
			continue
		case kindUnknown:
			return nil, ReasonUnknown
		case kindField:
			if x.arg == "half" && !slices.ContainsFunc(c.pieces, func(o piece) bool { return o.kind == kindField && o.field == x.field && o.arg == "rest" }) {
				return nil, ReasonUnknown
			}
			if x.arg != "rest" {
				break
			}
			if !slices.ContainsFunc(c.pieces, func(o piece) bool {
				return o.field == x.field && (o.kind == kindField && o.arg != "rest" || o.kind == kindValue && (o.to == x.from || x.to == o.from)) // casual riders
			}) {
				return nil, ReasonUnknown
			}
			continue
		case kindNever:
			return nil, ReasonBeyond
		}
		p.ps = append(p.ps, x)
	}
	p.used = make([]bool, len(p.ps))
	for _, step := range []func() Reason{p.words, p.joinNames, p.multiplied, p.timeWords, p.conditions, p.truths, p.targets, p.overBudget, p.rest, p.totals} {
		if why := step(); why != "" {
			return nil, why
		}
	}
	why := p.decide()
	if why == "" && p.judged && (p.first() == nil || !p.first().field.scale(r.lex)) {
		why = ReasonUnknown // no marks
	}
	if why == "" && p.otherDeed() {
		why = ReasonUnclear
	}
	if why == "" && slices.ContainsFunc(verbs, func(x piece) bool { return !p.fits(lightClasses[r.ts[x.from].fold]) }) {
		why = ReasonUnknown
	}
	if why == "" && deed && p.first() == nil && (p.sup == nil || p.sup.about != "rows") {
		why = ReasonUnknown
	}
	return p, why
}

var articles = folded("the our a an this my your their its that die der das dem den des unser unsere unserer unserem ein eine einer im am vom zum zur dieser diesem")

// receivers stand before whom something is for: what was given to the hospital is not all that was given.
var receivers = folded("to for by towards an fur")

// owned says whether a word like museum or team stands where it says no more than whose
// data it is, or of which kind a value is.
func (p *plan) owned(c cover, x piece) bool {
	if articles[p.r.ts[x.from-1].fold] {
		w := p.r.ts[x.from]
		named := p.r.lang == English && w.raw != "" && unicode.IsUpper([]rune(w.raw)[0])                             // a name: given to the Hospital
		topic := slices.ContainsFunc(c.pieces, func(o piece) bool { return o.kind == kindEntity && o.from == x.to }) // the shop refit
		return !named && (topic || x.from < 2 || !receivers[p.r.ts[x.from-2].fold])
	}
	return slices.ContainsFunc(c.pieces, func(o piece) bool {
		return (o.kind == kindField || o.kind == kindValue) && o.to == x.from
	})
}

// words takes the words of the grammar that stand alone.
func (p *plan) words() Reason {
	for i, x := range p.ps {
		switch x.kind {
		case kindAsk:
			if why := p.askWord(i); why != "" {
				return why
			}
		case kindAgg:
			switch {
			case x.arg == "share":
				p.share = true
			case x.arg == "distinct":
				p.distinct = true
			case p.agg == "" || p.agg == x.arg:
				p.agg = x.arg
			}
			p.used[i] = true
		case kindSup:
			if p.sup != nil {
				return ReasonUnclear
			}
			p.sup, p.used[i] = &p.ps[i], true
		case kindTrend:
			p.trend, p.used[i] = x.arg, true
		case kindNone:
			f, ok := p.none(x.about)
			if x.arg != "" {
				f, ok = p.weather(x.arg)
			}
			if !ok {
				return ReasonUnknown
			}
			p.filters, p.used[i] = append(p.filters, f), true
		case kindDiff:
			p.diff, p.used[i] = true, true
		case kindVersus:
			p.versus, p.used[i] = true, true
		case kindAcross:
			p.across, p.used[i] = true, true
		case kindLeft:
			p.left, p.used[i] = true, true
		case kindNet:
			p.used[i] = true
			words := map[string]map[string]bool{"": untaxedWords, "gross": taxedWords}[x.arg]
			if f := p.onlyOf(words); !p.namesOne(words) && f != nil {
				p.measures = append(p.measures, measure{field: f})
			} else if !p.namesOne(words) {
				return ReasonUnknown
			}
		case kindOver:
			p.over, p.used[i] = true, true
		case kindWhole:
			if p.used[i] = true; !p.oneYear() {
				return ReasonUnclear
			}
		case kindMore:
			if p.more != nil {
				return ReasonUnclear
			}
			p.more, p.used[i] = &p.ps[i], true
		}
	}
	return ""
}

// askWord takes an asking word, with the number that it is about: how old.
func (p *plan) askWord(i int) Reason {
	x := p.ps[i]
	if x.arg == "many" && x.to-x.from < 3 && p.numberOf(i) {
		p.used[i] = true
		return ""
	}
	if x.arg == "people" {
		p.people, x.arg = true, "many"
	}
	if p.asks == "" || p.asks == "which" && (x.arg == "many" || x.arg == "much") || p.asks == "list" {
		p.asks = x.arg
	}
	if x.about != "" {
		f := p.fieldOf(x.about)
		switch {
		case f != nil:
		case x.about == "length":
			if f = p.fieldOf("duration"); f == nil {
				f = p.lasting()
			}
		case x.about == "price":
			f = p.sellingPrice()
		}
		if f != nil {
			p.measures = append(p.measures, measure{field: f})
		} else {
			return ReasonUnknown
		}
	}
	p.used[i] = true
	return ""
}

var selling = folded("selling sell sells sold sale sales retail list unit verkauf verkaufs verkauft verkaufen vk listen vente")

// none is the condition that words such as sold out, open and number one stand for.
func (p *plan) none(about string) (filter, bool) {
	switch about {
	case "first":
		if f := p.fieldOf("rank"); f != nil {
			return numberFilter(f, "=", 1), true
		}
	case "open":
		if f := p.ended(); f != nil {
			return nullFilter(f, p.say("no value", "kein Wert")), true
		}
	case "stock":
		if f := p.stockField(); f != nil {
			return numberFilter(f, "<=", 0), true
		}
	}
	return filter{}, false
}

// numberOf says whether "number of" names what a ranking goes by: by number of loans.
func (p *plan) numberOf(i int) bool {
	first := p.r.ts[p.ps[i].from].fold
	if first != "number" && first != "anzahl" && first != "zahl" && first != "count" && first != "die" && first != "the" && first != "der" {
		return false
	}
	return slices.ContainsFunc(p.ps, func(x piece) bool { return x.kind == kindSup })
}

// near finds the piece before or after another one, words that are used included.
func (p *plan) near(i, step int) *piece {
	if k := i + step; k >= 0 && k < len(p.ps) {
		return &p.ps[k]
	}
	return nil
}

// joinNames joins a value with the name of its column, a number with the key it is of,
// and a number with a superlative: the top 5.
func (p *plan) joinNames() Reason {
	for i, x := range p.ps {
		switch x.kind {
		case kindField:
			for _, step := range []int{-1, 1} {
				if n := p.near(i, step); n != nil && n.kind == kindValue && n.field == x.field && (p.asked(i) == nil || p.asked(i).arg == "much" || i > 0 && p.ps[i-1].kind == kindValue) {
					p.used[i] = true
				}
			}
			n := p.near(i, 1)
			if b := p.near(i, -1); b != nil && b.kind == kindNum && !p.used[i-1] && p.numbered(i) {
				p.filters = append(p.filters, numberFilter(x.field, "=", b.num))
				p.used[i-1], p.used[i] = true, true
				continue
			}
			if n == nil || p.used[i] || n.from != x.to && !(n.from == x.to+1 && ofWords[p.r.ts[x.to].fold]) {
				continue
			}
			num := n.num
			if n.kind == kindTime && n.period.unit == "year" && x.field.key(p.r.lex) && x.field.spans(float64(n.period.year)) {
				num = float64(n.period.year)
			} else if n.kind != kindNum {
				continue
			}
			if before := p.near(i, -1); x.field.Type == "integer" && (before == nil || before.kind != kindCmp) {
				p.filters = append(p.filters, numberFilter(x.field, "=", num))
				p.used[i], p.used[i+1] = true, true
				if before != nil && before.kind == kindField && before.field == x.field {
					p.used[i-1] = true // the stock on hand
				}
			}
		case kindNum:
			for _, step := range []int{-1, 1} {
				if n := p.near(i, step); n != nil && (n.kind == kindSup || step < 0 && n.kind == kindAsk && (n.arg == "which" || n.arg == "list")) && !p.used[i] && x.num >= 1 && x.num <= 50 && (n.kind == kindSup || p.sup != nil) {
					p.n, p.used[i] = int(x.num), true
				}
			}
		}
	}
	return ""
}

var ofWords = folded("of von")

// asked finds the asking word directly before a piece, over superlatives, numbers and aggregates.
func (p *plan) asked(i int) *piece {
	for k := i - 1; k >= 0; k-- {
		switch p.ps[k].kind {
		case kindAsk:
			if p.ps[k].arg == "people" {
				return nil // what follows is not what is counted
			}
			return &p.ps[k]
		case kindSup, kindNum, kindAgg, kindValue:
		case kindEntity:
			if p.sup == nil || k+1 != i {
				return nil // the three most borrowed tools
			}
		default:
			return nil
		}
	}
	return nil
}

// askedAfter reports whether a later column is the one asked for: wines from which country.
func (p *plan) askedAfter(i int) bool {
	for k := i + 1; k < len(p.ps); k++ {
		if a := p.asked(k); p.ps[k].kind == kindField && a != nil && a.arg == "which" {
			return true
		}
	}
	return false
}

// by says whether a piece is what a result is grouped by.
func (p *plan) by(i int) bool {
	for k := i - 1; k >= 0; k-- {
		switch p.ps[k].kind {
		case kindBy:
			return true
		case kindJoin:
			// by region and product
			if k > 0 && (p.ps[k-1].kind == kindField || p.ps[k-1].kind == kindUnit) {
				return p.by(k - 1)
			}
			return false
		case kindAgg:
		default:
			return false
		}
	}
	return false
}

// yesNo is a text column of yes and no.
func yesNo(f *field) bool {
	yes, no := false, false
	for _, v := range f.Values {
		s, _ := v.(string)
		yes, no = yes || truth(s), no || untruth(s)
	}
	return f.text() && yes && no
}

// targets finds what the question asks for, what it groups by and what it measures.
func (p *plan) targets() Reason {
	for i, x := range p.ps {
		asked := p.asked(i)
		if x.kind == kindValue && p.target == nil && p.unit == "" && len(p.attrs) == 0 && p.subject(i) {
			p.target = p.rowName(x)
		}
		if p.used[i] {
			continue
		}
		switch x.kind {
		case kindField:
			p.fieldRole(i, asked)
		case kindUnit:
			if asked != nil && asked.arg == "many" && p.asks == "many" {
				p.tally, p.used[i] = x.arg, true
				continue
			}
			if p.by(i) || asked != nil && asked.arg != "many" && asked.arg != "much" || p.sup != nil || p.agg != "" || p.trend != "" || p.r.ts[x.from].fold != "days" && strings.HasSuffix(p.r.ts[x.from].fold, "ly") || strings.HasSuffix(p.r.ts[x.from].fold, "lich") {
				if p.unit != "" && p.unit != x.arg {
					return ReasonUnclear
				}
				p.unit, p.used[i] = x.arg, true
			}
		case kindEntity:
			p.used[i] = true
			if x.arg == "topic" {
				continue
			}
			before := p.near(i, -1)
			switch {
			case p.by(i):
				p.perRow = true
			case p.share:
			case asked != nil && (asked.arg == "which" || asked.arg == "who" || asked.arg == "list") && p.target == nil && p.asks != "many":
				p.target = p.labelField(x)
			case p.sup != nil && before != nil && before == p.sup && p.sup.about == "" && p.target == nil && p.asks == "":
				p.target = p.labelField(x)
			}
		}
	}
	return ""
}

// fieldRole gives a named column its role.
func (p *plan) fieldRole(i int, asked *piece) {
	f := p.ps[i].field
	p.used[i] = true
	isMeasure := f.measure(p.r.lex)
	if k := p.ps[i].from; k > 0 && !isMeasure && f.text() && asked == nil && !p.by(i) {
		switch p.r.ts[k-1].fold {
		case "all", "aller", "alle", "allen", "samtlicher", "every":
			return // across all stores
		}
	}
	switch {
	case p.by(i) && isMeasure && (p.sup != nil || p.asks == "list"):
		p.measures = append(p.measures, measure{field: f})
	case p.by(i) && f.key(p.r.lex) && p.agg == "avg":
		p.perRow, p.perKey = true, f
	case p.by(i):
		p.groups = append(p.groups, f)
	case isMeasure && slices.ContainsFunc(p.measures, func(m measure) bool { return m.field == f }):
	case isMeasure:
		p.measures = append(p.measures, measure{field: f})
	case asked != nil && asked.arg == "many" && p.asks == "many" && f.dated() && (verbal(p.r.ts[p.ps[i].from].fold) || irregular[p.r.ts[p.ps[i].from].fold] != ""):
		p.filters = append(p.filters, knownFilter(f)) // how many have left: those with a date
		p.attrs = append(p.attrs, f)
	case asked != nil && asked.arg == "many" && p.asks == "many" && (f.dated() && !timeWords[p.r.ts[p.ps[i].from].fold] && !timeWords[p.r.ts[p.ps[i].from].stem] || !p.runsOn(i)):
		p.attrs = append(p.attrs, f) // trips are not their dates, and what Acme ordered is not counted by orders
	case asked != nil && asked.arg == "many" && p.asks == "many":
		p.counted = f
		p.called = p.r.ts[p.ps[i].from].raw
	case f.dated() && p.sup != nil && i > 0 && p.ps[i-1].kind == kindSup && verbal(p.r.ts[p.ps[i].from].fold):
		// the most borrowed tools: how they are, not when
	case asked != nil && (asked.arg == "which" || asked.arg == "list") && p.target == nil && (p.sup != nil || !f.dated()) && !(f.dated() && p.ps[i-1].kind == kindEntity && verbal(p.r.ts[p.ps[i].from].fold)):
		p.target = f
		p.attrs = append(p.attrs, f)
	case f.dated() || f.yearly(p.r.lex):
		if f.dated() && f.Missing > 0 && asked == nil && verbal(p.r.ts[p.ps[i].from].fold) {
			p.filters = append(p.filters, knownFilter(f)) // who closed the most: of those that are closed
		}
		if p.time == nil {
			p.time = f
		}
		if asked != nil {
			p.askedFor = f
		}
		p.attrs = append(p.attrs, f)
	case p.asks == "who" && p.sup != nil && p.sup.about == "" && f != p.person() && p.ps[max(0, i-1)].kind == kindSup:
		p.attrs = append(p.attrs, f) // who borrowed the most tools
	case p.sup != nil && p.target == nil && !p.askedAfter(i) && (p.ps[max(0, i-1)].kind == kindSup || p.asks == "list" || p.asks == "" || p.asks == "which"):
		p.target = f
	default:
		p.attrs = append(p.attrs, f)
	}
}

// runsOn reports whether nothing stands between a column and the values that say which of
// it are counted: cancelled orders.
func (p *plan) runsOn(i int) bool {
	for k := i; k > 0 && p.ps[k-1].kind == kindValue; k-- {
		if p.ps[k-1].to != p.ps[k].from {
			return false
		}
	}
	return true
}

// rest says what is left over: a word that has no place makes the reading doubtful.
func (p *plan) rest() Reason {
	for i, x := range p.ps {
		if p.used[i] {
			continue
		}
		switch x.kind {
		case kindBy, kindJoin:
		case kindBound:
			if n := p.near(i, 1); n != nil && n.kind == kindValue && x.arg == "until" {
				continue // through the portal
			}
			if x.arg == "from" || x.arg == "to" || x.arg == "between" && p.either != nil {
				continue // small words
			}
			return ReasonUnclear
		case kindUnit:
			// "in the year 2020", "on the day"; elsewhere it asks for something.
			if len(p.periods) > 0 || x.arg == "day" {
				continue
			}
			return ReasonUnclear
		default:
			return ReasonUnclear
		}
	}
	return ""
}

// totals keeps to the rows of all categories together, or to the categories, where a
// table has both: "All disasters" beside "Flood".
func (p *plan) totals() Reason {
	for _, f := range p.v.fields {
		if f.table != 0 || !f.text() || len(f.Values) < 3 || slices.ContainsFunc(p.filters, func(x filter) bool { return x.field == f }) {
			continue
		}
		for _, v := range f.Values {
			s, _ := v.(string)
			first, _, _ := strings.Cut(fold(s), " ")
			switch first {
			case "all", "total", "gesamt", "alle", "summe", "overall", "insgesamt", "totals":
			default:
				continue
			}
			other := slices.ContainsFunc(p.filters, func(x filter) bool { return x.field != f && x.field.text() && !x.total })
			grouped := other || slices.Contains(p.groups, f) || p.target == f || p.counted == f
			x := valueFilter(f, []string{s}, grouped)
			x.total = true
			p.filters = append(p.filters, x)
			break
		}
	}
	return ""
}

// fieldOf finds the one number or date with a concept: of its head word, else of any word.
func (p *plan) fieldOf(concept string) *field {
	for _, own := range []bool{true, false} {
		for _, head := range []bool{true, false} {
			var found []*field
			for _, f := range p.v.fields {
				fits := f.measure(p.r.lex) && (p.r.lex.means(f.head(), concept) || !head && f.named(p.r.lex, concept))
				if concept == "date" {
					fits = f.dated() || f.yearly(p.r.lex)
				}
				if fits && (f.table == 0) == own {
					found = append(found, f)
				}
			}
			switch len(found) {
			case 0:
				continue
			case 1:
				return found[0]
			}
			return nil
		}
	}
	return nil
}

// onlyMeasure is the one number of the table, if there is one only.
func (p *plan) onlyMeasure() *field {
	var found *field
	for _, f := range p.v.fields {
		if f.table == 0 && f.factors == nil && f.measure(p.r.lex) {
			if found != nil {
				return nil
			}
			found = f
		}
	}
	return found
}

func (p *plan) say(en, de string) string {
	if p.r.lang == German {
		return de
	}
	return en
}
