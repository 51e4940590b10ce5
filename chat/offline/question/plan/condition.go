package plan

import (
	"slices"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// takeConditions reads comparisons with numbers and columns, missing values and values.
func (p *roles) takeConditions() Reason {
	for i, x := range p.Pieces {
		if p.used[i] {
			continue
		}
		var reason Reason
		switch {
		case x.Kind == speech.KindCmp:
			reason = p.compareNumber(i)
		case x.Kind == speech.KindBound && x.Arg == "between":
			reason = p.between(i)
		case x.Kind == speech.KindMissing:
			reason = p.missing(i)
		case x.Kind == speech.KindValue:
			reason = p.takeValue(i)
		case x.Kind == speech.KindNot:
			p.notYet(i)
		}
		if reason != "" {
			return reason
		}
	}
	return ""
}

// notYet reads "not yet returned": the rows without a date of it.
func (p *roles) notYet(i int) {
	n := p.near(i, 1)
	if n.Kind == speech.KindField && !p.used[i+1] && n.Field.Dated() && n.Field.Missing > 0 {
		p.used[i], p.used[i+1] = true, true
		p.Filters = append(p.Filters, nullFilter(n.Field, p.Say("no value", "kein Wert")))
	}
}

// takeValue turns a value into a condition; a second value of the same column joins that condition.
func (p *conditions) takeValue(i int) Reason {
	x := p.Pieces[i]
	p.used[i] = true
	not := p.denied(i)
	if b := p.near(i, -1); b.Kind == speech.KindNot || b.Kind == speech.KindBy {
		p.used[i-1] = true // by Anna
		k := i + 1
		for n := p.near(k, 0); n.Kind == speech.KindBound || n.Kind == speech.KindField || n.Kind == speech.KindEntity; n = p.near(k, 0) {
			k++
		}
		if n := p.near(k, 0); b.Kind == speech.KindNot && n.Kind == speech.KindValue && n.Field != x.Field && n.From > x.To {
			return ReasonAmbiguous // not shipped to the UK: one "not" for both
		}
	}
	for k, f := range p.Filters {
		if f.Field != x.Field || len(f.values) == 0 || not || f.not {
			continue
		}
		if !slices.Equal(f.values, x.Values) { // otherwise: unpaid, with the status "Unpaid"
			p.Filters[k] = p.valueFilter(x.Field, append(slices.Clone(f.values), x.Values...), false)
			p.Either = x.Field
		}
		return ""
	}
	f := p.valueFilter(x.Field, x.Values, not)
	f.at = x.From
	p.Filters = append(p.Filters, f)
	return ""
}

// denied reports whether a "not" precedes a value, or the values of its column that it is
// listed with: except the South and the West.
func (p *explanation) denied(i int) bool {
	b := p.near(i, -1)
	if b.Kind == speech.KindJoin && b.Arg != "than" {
		b = p.near(i, -2)
		return b.Kind == speech.KindValue && b.Field == p.Pieces[i].Field && p.denied(i-2)
	}
	if b.Kind == speech.KindValue && b.Field == p.Pieces[i].Field {
		return p.denied(i - 1)
	}
	return b.Kind == speech.KindNot || b.Kind == speech.KindMissing && denying[p.word(b).Fold]
}

// denying are words before a value that a row does not have.
var denying = speech.Folded("no without ohne kein keine keinen")

// numAt returns the number at a piece, including one that looks like a year.
func (p *explanation) numAt(i int) (float64, bool) {
	switch x := p.near(i, 0); {
	case x.Kind == "" || p.used[i]:
	case x.Kind == speech.KindNum:
		return x.Num, true
	case x.Kind == speech.KindTime && x.Period.Unit == "year":
		return float64(x.Period.Year), true
	}
	return 0, false
}

// compareNumber reads "more than 30 minutes", "30 or more".
func (p *roles) compareNumber(i int) Reason {
	x := p.Pieces[i]
	p.used[i] = true
	if b := p.near(i, -1); b.Kind == speech.KindAsk && (b.Arg == "much" || b.Arg == "many") && x.Arg != "=" {
		return ReasonUnclear // how much less than budgeted
	}
	at := i + 1
	n, ok := p.numAt(at)
	if !ok && (x.Arg == ">=" || x.Arg == "<=") {
		at = i - 1
		n, ok = p.numAt(at)
	}
	switch next := p.near(i, 1); {
	case ok:
	case next.Kind == speech.KindValue && p.word(next).Num != nil:
		return "" // over 100 m freestyle
	default:
		return p.compareColumns(i)
	}
	p.used[at] = true
	f := p.comparedField(x, i, max(i, at)+1)
	switch {
	case p.countBehind(at) || f == nil || !p.inUnitOf(f, at) || p.Text.Lang == speech.German && !p.View.Survey && f.Graded():
		return ReasonUnclear
	case p.View.OfMoney(f) && f.Mixed() || p.spent(f):
		return ReasonAmbiguous // amounts of both directions: more may be less
	}
	p.Filters = append(p.Filters, numberFilter(f, x.Arg, n))
	return ""
}

// spent reports whether a column holds outgoing amounts with a minus.
func (p *explanation) spent(f *schema.Field) bool {
	high, ok := schema.NumberOf(f.Max)
	return ok && high <= 0 && p.View.OfMoney(f)
}

// countBehind reports whether a number is followed, after values, by a noun that is counted and not measured.
func (p *conditions) countBehind(at int) bool {
	k := at + 1
	for k < len(p.Pieces) && p.Pieces[k].Kind == speech.KindValue && p.Pieces[k].From == p.Pieces[k-1].To {
		k++
	}
	next, x := p.Pieces[k-1].To, p.near(k, 0)
	if x.Kind == "" || x.From != next {
		return next < len(p.Text.Tokens) && (p.Text.Lex.Owners[p.Text.Tokens[next].Fold] || parse.LightDoers[p.Text.Tokens[next].Fold])
	}
	return x.Kind == speech.KindEntity || x.Kind == speech.KindField && !x.Field.Measure()
}

// comparedField returns the column that a number is compared with: the one that the comparison names or whose unit
// follows the number, the one after the number, the one before the comparison, or the only one.
func (p *conditions) comparedField(x parse.Piece, before, after int) *schema.Field {
	if x.About != "" {
		f := p.View.FieldOf(x.About)
		if f == nil && x.About == "length" {
			f = p.View.DurationField() // films longer than 120 minutes
		}
		return f
	}
	take := func(k int) *schema.Field {
		if f := p.near(k, 0).Field; p.near(k, 0).Kind == speech.KindField && f.Measure() {
			return f
		}
		return nil
	}
	for k := before; k < after && k < len(p.Pieces); k++ {
		if n := p.Pieces[k]; n.Kind == speech.KindNum && n.To-n.From > 1 {
			if f := p.View.InUnit(p.Text.Tokens[n.To-1].Fold); f != nil {
				for _, at := range []int{after, before - 1} {
					if take(at) == f && p.Asked(at) == "" {
						p.used[at] = true
					}
				}
				return f
			}
		}
	}
	if f := take(after); f != nil && !p.used[after] {
		p.used[after] = true
		return f
	}
	for k := before - 1; k >= 0; k-- {
		if f := take(k); f != nil && !p.comparedBy(f) {
			// The column is asked for as well, unless it only serves the comparison.
			if before-k == 1 || p.Asked(k) == "" {
				p.used[k] = true
			}
			return f
		}
	}
	f := p.View.OnlyMeasure()
	for k := before; k < after && f != nil; k++ {
		if n := p.near(k, 0); n.Kind == speech.KindNum && !f.Spans(n.Num) {
			return nil // under 30: years, not marks
		}
	}
	return f
}

// comparedBy reports whether a condition compares a field with a number: trips with more than 10 minutes of delay.
func (p *conditions) comparedBy(f *schema.Field) bool {
	return slices.ContainsFunc(p.Filters, func(x Filter) bool { return x.Field == f && x.limit != "" })
}

// compareColumns reads "below the reorder level".
func (p *roles) compareColumns(i int) Reason {
	n := p.near(i, 1)
	if n.Kind != speech.KindField || p.used[i+1] || !n.Field.Measure() {
		return ReasonUnclear
	}
	p.used[i+1] = true
	var left *schema.Field
	for k := i - 1; k >= 0 && left == nil; k-- {
		if p.Pieces[k].Kind == speech.KindField && p.Pieces[k].Field.Measure() {
			left, p.used[k] = p.Pieces[k].Field, true
		}
	}
	switch {
	case left != nil:
	case n.Field.Named("budget"):
		left = p.View.FieldOf("actual") // over budget
	default:
		left = p.View.StockField()
	}
	if left == nil || left == n.Field || left.UnitName() != n.Field.UnitName() {
		return ReasonUnclear
	}
	p.Filters = append(p.Filters, fieldFilter(left, p.Pieces[i].Arg, n.Field))
	return ""
}

// between reads "between 10 and 20"; timeWords reads two times.
func (p *conditions) between(i int) Reason {
	low, ok := p.numAt(i + 1)
	high, ok2 := p.numAt(i + 3)
	if !ok || !ok2 || p.near(i, 2).Kind != speech.KindJoin {
		return ""
	}
	f := p.comparedField(p.Pieces[i], i, i+4)
	scaled := p.Pieces[i+1].To-p.Pieces[i+1].From != p.Pieces[i+3].To-p.Pieces[i+3].From && p.Text.Tokens[p.Pieces[i+3].From].Num != nil && *p.Text.Tokens[p.Pieces[i+3].From].Num != high
	if f == nil || !p.inUnitOf(f, i+1) || !p.inUnitOf(f, i+3) || low > high || scaled || p.View.OfMoney(f) && f.Mixed() || p.spent(f) {
		return ReasonUnclear // between 1 and 2 million
	}
	for k := i; k < i+4; k++ {
		p.used[k] = true
	}
	p.Filters = append(p.Filters, numberFilter(f, ">=", low), numberFilter(f, "<=", high))
	return ""
}

// missing reads "no email", "the email is missing", "without a phone number".
func (p *roles) missing(i int) Reason {
	denies := denying[p.Text.Tokens[p.Pieces[i].To-1].Fold]
	for _, step := range []int{1, -1, -2} {
		n := p.near(i, step)
		switch {
		case step == 1 && (n.Kind == speech.KindNum || n.Kind == speech.KindUnit || n.Kind == speech.KindEntity && denies):
			return ReasonUnclear // orders that do not have 2 pieces; customers without orders are in no row of orders
		case n.Kind == "" || p.used[i+step] || n.Kind == speech.KindValue && (step != 1 || n.From != p.Pieces[i].To || !denies):
			continue // missing at the harbour
		case n.Kind == speech.KindValue:
			p.Filters = append(p.Filters, p.valueFilter(n.Field, n.Values, true))
		case n.Kind != speech.KindField || step < 0 && denies:
			continue
		case n.Field.Key() && (n.Field.Unique(n.Field.Rows) || step < 0):
			return ReasonUnclear // people said no: not people without a number
		case (n.Field.Boolean() || yesNo(n.Field)) && n.Field.Missing > 0:
			return ReasonAmbiguous // no, or not known
		case n.Field.Boolean() || yesNo(n.Field):
			p.Filters = append(p.Filters, p.boolFilter(n.Field, false))
		case n.Field.Numeric() && denies && n.Field.Missing > 0 && n.Field.Spans(0):
			return ReasonAmbiguous // no rain: none fell, or nobody measured it
		case n.Field.Missing+n.Field.Unusable == 0 && n.Field.Numeric():
			p.Filters = append(p.Filters, numberFilter(n.Field, "=", 0))
		default:
			p.Filters = append(p.Filters, nullFilter(n.Field, p.Say("no value", "kein Wert")))
		}
		p.used[i], p.used[i+step] = true, true
		return ""
	}
	return ReasonUnclear
}

// yesNo reports whether a text column holds yes and no.
func yesNo(f *schema.Field) bool {
	yes, no := false, false
	for _, v := range f.Values {
		s, _ := v.(string)
		yes, no = yes || truth(s), no || untruth(s)
	}
	return f.Text() && yes && no
}

// truths turns columns of yes and no into conditions: "are active", "would recommend us".
func (p *roles) truths() Reason {
	for i, x := range p.Pieces {
		if x.Kind != speech.KindField || p.used[i] || !x.Field.Boolean() && !yesNo(x.Field) || p.isGroupedBy(i) {
			continue
		}
		if a := p.Asked(i); a == "which" && !p.share || a == "much" || a == "change" {
			continue
		}
		not := p.near(i, -1).Kind == speech.KindNot
		if not {
			p.used[i-1] = true
		}
		if not && x.Field.Missing > 0 {
			return ReasonAmbiguous // no, or not known
		}
		p.used[i] = true
		f := p.boolFilter(x.Field, !not)
		f.at = x.From
		p.Filters = append(p.Filters, f)
	}
	return ""
}

// inUnitOf reports whether a number has no unit, or that of a column.
func (p *explanation) inUnitOf(f *schema.Field, at int) bool {
	x := p.Pieces[at]
	if x.Kind != speech.KindNum || x.To-x.From < 2 {
		return true
	}
	unit := schema.UnitNames[p.Text.Tokens[x.To-1].Fold]
	own := f.UnitName()
	if own == "" {
		own = schema.UnitNames[f.HeadWord()]
	}
	return unit == "" || unit == own || own == "" && p.View.OfMoney(f) == schema.MoneyUnits[unit] && !schema.TimeUnits[unit]
}
