package plan

import (
	"cmp"
	"slices"
	"strings"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// takeConditions reads comparisons with numbers and columns, missing values and values.
func (p *roles) takeConditions() Reason {
	for i, x := range p.Pieces {
		if p.used[i] && x.Kind != speech.KindMore {
			continue
		}
		var reason Reason
		switch x.Kind {
		case speech.KindCmp:
			reason = p.compareNumber(i)
		case speech.KindBound:
			if x.Arg == "between" {
				reason = p.between(i)
			}
		case speech.KindNot:
			if n := p.near(i, 1); n.Kind == speech.KindField && n.Field.Dated() && n.Field.Missing > 0 && n.Field.Table == 0 && speech.Verbal(p.Text.Tokens[n.From].Fold) {
				p.used[i], p.used[i+1] = true, true // not returned yet
				p.Filters = append(p.Filters, nullFilter(n.Field, p.Say("no value", "kein Wert")))
			}
		case speech.KindMore:
			reason = p.moreThan(i)
		case speech.KindMissing, speech.KindUnusable:
			reason = p.missing(i)
		case speech.KindValue:
			if p.deniesBoth(i) {
				return ReasonAmbiguous
			}
			p.takeValue(i)
		}
		if reason != "" {
			return reason
		}
	}
	return ""
}

// deniesBoth reports whether one "not" may apply to two values that stand together: not shipped to the UK.
func (p *explanation) deniesBoth(i int) bool {
	if p.near(i, -1).Kind != speech.KindNot {
		return false
	}
	k := i + 1
	for slices.Contains([]speech.Kind{speech.KindEntity, speech.KindField, speech.KindBound}, p.near(k, 0).Kind) {
		k++
	}
	x, n := p.Pieces[i], p.near(k, 0)
	return n.Kind == speech.KindValue && n.Field != x.Field && slices.ContainsFunc(p.Text.Tokens[x.To:n.From], func(t speech.Token) bool { return toPlace[t.Fold] })
}

var toPlace = speech.Folded("to from by for with nach an von bei fur")

// takeValue turns a value into a condition; a second value of the same column joins that condition.
func (p *conditions) takeValue(i int) {
	x := p.Pieces[i]
	p.used[i] = true
	not := p.denied(i)
	if b := p.near(i, -1); b.Kind == speech.KindNot || b.Kind == speech.KindBy {
		p.used[i-1] = true // by Anna
	}
	for k, f := range p.Filters {
		if f.Field == x.Field && len(f.values) > 0 && !not && slices.Equal(f.values, x.Values) {
			return // unpaid, with the status "Unpaid"
		}
		if f.Field == x.Field && len(f.values) > 0 && !not && !f.not {
			values := append(slices.Clone(f.values), x.Values...)
			p.Filters[k] = valueFilter(x.Field, values, false)
			p.Either = x.Field
			return
		}
	}
	if x.Arg == "side" && len(x.Values) > 1 && p.Asks == "many" && !p.share && !not {
		p.Either = x.Field // the values of one side of a scale are counted separately
	}
	f := valueFilter(x.Field, x.Values, not)
	f.at = x.From
	p.Filters = append(p.Filters, f)
}

// denied reports whether a "not" precedes a value, or the values of its column that it is
// listed with: except the South and the West.
func (p *explanation) denied(i int) bool {
	k := i - 1
	if b := p.near(i, -1); b.Kind == speech.KindJoin && (b.Arg == "and" || b.Arg == "or") {
		k--
	}
	switch {
	case k < 0:
		return false
	case p.Pieces[k].Kind == speech.KindNot, p.Pieces[k].Kind == speech.KindMissing && denying[p.Text.Tokens[p.Pieces[k].From].Fold]:
		return true
	}
	return p.Pieces[k].Kind == speech.KindValue && p.Pieces[k].Field == p.Pieces[i].Field && p.denied(k)
}

// numAt returns the number at a piece, including one that looks like a year.
func (p *explanation) numAt(i int) (float64, bool) {
	if i < 0 || i >= len(p.Pieces) || p.used[i] {
		return 0, false
	}
	switch x := p.Pieces[i]; {
	case x.Kind == speech.KindNum:
		return x.Num, true
	case x.Kind == speech.KindTime && x.Period.Unit == "year":
		return float64(x.Period.Year), true
	}
	return 0, false
}

func (p *roles) compareNumber(i int) Reason {
	x := p.Pieces[i]
	p.used[i] = true
	if b := p.near(i, -1); b.Kind == speech.KindAsk && b.To == x.From && (b.Arg == "much" || b.Arg == "many") && (x.Arg == "<" || x.Arg == ">") {
		return ReasonUnclear // how much less than budgeted
	}
	at := i + 1
	n, ok := p.numAt(at)
	if !ok && (x.Arg == ">=" || x.Arg == "<=") {
		at = i - 1
		n, ok = p.numAt(at)
	}
	if n := p.near(i, 1); !ok && n.Kind == speech.KindValue && p.Text.Tokens[n.From].Num != nil {
		return "" // over 100 m freestyle
	}
	if !ok {
		return p.compareColumns(i)
	}
	p.used[at] = true
	if taken, reason := p.countBehind(i, at, n); taken {
		return reason
	}
	f := cmp.Or(p.comparedField(x, i, max(i, at)+1), p.aged(i, n))
	if f == nil {
		return ReasonUnclear
	}
	if u := p.near(at, 1); u.Kind == speech.KindUnit && (u.Arg == "month" && f.PerMonth() || u.Arg == "year" && u.From == p.Pieces[at].To && f.Named("age")) {
		p.used[at+1] = true // more than 25 a month, older than 30 years
	}
	if n, ok = p.inUnitOf(f, at, n); !ok || p.View.HoldsGrades(f) {
		return ReasonUnclear
	}
	op, n, ok := p.signed(f, x.Arg, n)
	if !ok {
		return ReasonAmbiguous
	}
	p.Filters = append(p.Filters, numberFilter(f, op, n))
	return ""
}

// signed converts a comparison of spending to amounts as a bank writes them, with a minus.
// For amounts of both directions, the question must say which it means.
func (p *wording) signed(f *schema.Field, op string, n float64) (string, float64, bool) {
	high, ok := schema.NumberOf(f.Max)
	outflows := ok && high <= 0 && p.View.OfMoney(f)
	switch {
	case n <= 0 || !f.Mixed() && !outflows || f.Mixed() && !p.View.OfMoney(f):
		return op, n, true
	case !outflows && !p.weSpend() && !p.spending():
		return op, n, p.weEarn()
	}
	if op == "<" || op == "<=" {
		return op, n, false // a smaller expense: income would match too
	}
	return map[string]string{">": "<", ">=": "<=", "=": "="}[op], -n, true
}

// comparedField returns the column that a number is compared with: the one that the
// comparison names, the one after the number, the one before the comparison, or the only one.
func (p *conditions) comparedField(x parse.Piece, before, after int) *schema.Field {
	switch x.About {
	case "":
	case "length":
		return cmp.Or(p.View.FieldOf("length"), p.View.FieldOf("duration"), p.View.DurationField())
	case "temperature":
		return p.temperatureOf(x.Arg)
	default:
		return p.View.FieldOf(x.About)
	}
	for k := before; k < after && k < len(p.Pieces); k++ {
		if p.Pieces[k].Kind != speech.KindNum || p.Pieces[k].To-p.Pieces[k].From < 2 {
			continue
		}
		if f := p.View.InUnit(p.Text.Tokens[p.Pieces[k].To-1].Fold); f != nil {
			p.takeNext(f, before, after)
			return f
		}
	}
	for after < len(p.Pieces) && p.Pieces[after].Kind == speech.KindValue {
		after++ // more than 70 vegetarian meals
	}
	if after < len(p.Pieces) && p.Pieces[after].Kind == speech.KindField && !p.used[after] && p.Pieces[after].Field.Measure() {
		p.used[after] = true
		return p.Pieces[after].Field
	}
	for k := before - 1; k >= 0; k-- {
		if f := p.Pieces[k].Field; p.Pieces[k].Kind == speech.KindField && f.Measure() && !p.comparedBy(f) {
			// The column is asked for as well, unless it only serves the comparison.
			if before-k == 1 || p.Asked(k) == "" {
				p.used[k] = true
			}
			return f
		}
	}
	if f := p.View.OnlyMeasure(); f != nil {
		return f
	}
	for _, x := range p.Pieces {
		if x.Rows() && (p.Text.Lex.Means(p.Text.Tokens[x.From].Stem, "order") || p.Text.Lex.Means(p.Text.Tokens[x.From].Stem, "invoice")) {
			return cmp.Or(p.View.FieldOf("amount"), p.View.FieldOf("revenue")) // invoices over 1,000
		}
	}
	return nil
}

// aged returns the age column for a bare number after over or under if people are asked for: women over 60.
func (p *wording) aged(i int, n float64) *schema.Field {
	b := p.near(i, -1)
	people := limits[p.Text.Tokens[p.Pieces[i].From].Fold] && b.To == p.Pieces[i].From && (b.Rows() && p.View.OfPeople() || b.Kind == speech.KindValue && b.Field.Named("gender"))
	if f := p.View.FieldOf("age"); people && f != nil && f.Spans(n) {
		return f
	}
	return nil
}

var limits = speech.Folded("over under über unter")

// temperatureOf returns the only temperature; of two, the daily highest for "warmer than"
// and the daily lowest for "colder than".
func (p *wording) temperatureOf(op string) *schema.Field {
	var all []*schema.Field
	for _, f := range p.View.Fields {
		if f.Table == 0 && f.Measure() && f.Temperature() {
			all = append(all, f)
		}
	}
	if len(all) == 2 {
		want := map[string]string{">": "max", "<": "min"}[op]
		other := map[string]string{"max": "min", "min": "max"}[want]
		all = slices.DeleteFunc(all, func(f *schema.Field) bool { return p.Nature(f) == other })
		if len(all) == 1 && p.Nature(all[0]) != want {
			return nil
		}
	}
	if len(all) != 1 {
		return nil
	}
	return all[0]
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
	for _, c := range []string{"stock", "quantity", "actual"} {
		for _, f := range p.View.Fields {
			if left == nil && f != n.Field && f.Table == 0 && f.Measure() && f.Named(c) {
				left = f
			}
		}
	}
	if left == nil || left == n.Field {
		return ReasonUnclear
	}
	p.Filters = append(p.Filters, fieldFilter(left, p.Pieces[i].Arg, n.Field))
	if p.Superlative != nil && len(p.Measures) == 0 && p.Superlative.From > n.From {
		a, b := left, n.Field
		if p.Pieces[i].Arg == "<" {
			a, b = b, a
		}
		p.Measures = append(p.Measures, Measure{Field: minus(a, b)})
	}
	return ""
}

// moreThan reads "less in stock than the reorder level", "more inflow than outflow".
func (p *conditions) moreThan(i int) Reason {
	if i+3 >= len(p.Pieces) || p.Pieces[i+1].Kind != speech.KindField || p.Pieces[i+2].Arg != "than" || p.Pieces[i+3].Kind != speech.KindField || p.Pieces[i].About != "" {
		return ""
	}
	a, b := p.Pieces[i+1].Field, p.Pieces[i+3].Field
	if a == b || !a.Measure() || !b.Measure() {
		return ReasonUnclear
	}
	for k := i; k <= i+3; k++ {
		p.used[k] = true
	}
	p.more = nil
	p.Filters = append(p.Filters, fieldFilter(a, map[string]string{"desc": ">", "asc": "<"}[p.Pieces[i].Arg], b))
	return ""
}

// between reads "between 10 and 20"; timeWords reads two times.
func (p *conditions) between(i int) Reason {
	low, ok := p.numAt(i + 1)
	high, ok2 := 0.0, false
	if p.near(i, 2).Kind == speech.KindJoin {
		high, ok2 = p.numAt(i + 3)
	}
	if !ok || !ok2 {
		return ""
	}
	f := p.comparedField(p.Pieces[i], i, i+4)
	if f == nil || p.View.HoldsGrades(f) {
		return ReasonUnclear
	}
	unit := i + 1 // where the unit of the first number is: after it, or after both
	if first, last := p.Pieces[i+1], p.Pieces[i+3]; first.To-first.From < 2 {
		unit = i + 3
		if n := p.Text.Tokens[last.From].Num; last.Kind == speech.KindNum && n != nil && *n != 0 {
			low *= last.Num / *n // between 1 and 2 million
		}
	}
	low, ok = p.inUnitOf(f, unit, low)
	high, ok2 = p.inUnitOf(f, i+3, high)
	_, signed, ok3 := p.signed(f, ">=", high)
	switch {
	case !ok || !ok2 || low > high:
		return ReasonUnclear
	case !ok3:
		return ReasonAmbiguous
	case signed != high:
		low, high = -high, -low // spending, which is negative in the table
	}
	for k := i; k < i+4; k++ {
		p.used[k] = true
	}
	p.Filters = append(p.Filters, numberFilter(f, ">=", low), numberFilter(f, "<=", high))
	return ""
}

// missing reads "no email", "the email is missing", "without a phone number".
func (p *roles) missing(i int) Reason {
	if n := p.near(i, 1); n.Kind == speech.KindNum || n.Kind == speech.KindUnit {
		return ReasonUnclear // orders that do not have 2 pieces, or no date
	}
	for _, step := range []int{1, -1, -2} {
		n := p.near(i, step)
		if n.Kind == "" || p.used[i+step] {
			continue
		}
		if n.Kind == speech.KindValue && step == 1 {
			if n.From != p.Pieces[i].To || !denying[p.Text.Tokens[p.Pieces[i].From].Fold] {
				continue // missing at the harbour
			}
			p.used[i], p.used[i+1] = true, true
			p.Filters = append(p.Filters, valueFilter(n.Field, n.Values, true))
			return ""
		}
		if step == 1 && n.Kind == speech.KindEntity && denying[p.Text.Tokens[p.Pieces[i].To-1].Fold] {
			return ReasonUnclear // customers without orders are in no row of orders
		}
		if n.Kind != speech.KindField || step < 0 && p.Pieces[i].Kind == speech.KindMissing && (p.Text.Tokens[p.Pieces[i].From].Fold == "ohne" || p.Text.Tokens[p.Pieces[i].From].Fold == "without") {
			continue
		}
		f := n.Field
		p.used[i], p.used[i+step] = true, true
		switch {
		case p.Pieces[i].Kind == speech.KindUnusable:
			p.Counted, p.Op = f, OpUnusable
		case f.Key() && f.Unique(f.Rows):
			return ReasonUnclear
		case f.Boolean() || yesNo(f):
			p.Filters = append(p.Filters, boolFilter(f, false))
		case f.Key() && step < 0:
			return ReasonUnclear // people said no: not people without a number
		case f.Missing+f.Unusable == 0 && f.Numeric():
			p.Filters = append(p.Filters, numberFilter(f, "=", 0))
		default:
			p.Filters = append(p.Filters, nullFilter(f, p.Say("no value", "kein Wert")))
		}
		return ""
	}
	return ReasonUnclear
}

// denying are words before a value that a row does not have.
var denying = speech.Folded("no without ohne kein keine keinen")

// truths turns columns of yes and no into conditions: "are active", "would recommend us".
func (p *conditions) truths() Reason {
	for i, x := range p.Pieces {
		if x.Kind != speech.KindField || p.used[i] || !x.Field.Boolean() && !yesNo(x.Field) || p.isGroupedBy(i) {
			continue
		}
		if a := p.Asked(i); a == "which" && !p.share || a == "much" || a == "change" {
			continue
		}
		not := false
		if b := p.near(i, -1); b.Kind == speech.KindNot {
			p.used[i-1], not = true, true
		}
		p.used[i] = true
		f := boolFilter(x.Field, !not)
		f.at = x.From
		p.Filters = append(p.Filters, f)
	}
	return ""
}

// takeNext marks the column beside a comparison as used if it is the compared one.
func (p *explanation) takeNext(f *schema.Field, before, after int) {
	for _, k := range []int{after, before - 1} {
		if k >= 0 && k < len(p.Pieces) && p.Pieces[k].Kind == speech.KindField && p.Pieces[k].Field == f && p.Asked(k) == "" {
			p.used[k] = true
		}
	}
}

// carry adds the conditions of the previous question to those of this one.
func (p *conditions) carry(b *Plan) Reason {
	if b == nil {
		return ""
	}
	if p.View != b.View || slices.ContainsFunc(b.Filters, func(f Filter) bool { return !f.Total && p.filtered(f.Field) }) {
		return ReasonUnclear
	}
	for _, f := range b.Filters {
		if !f.Total {
			p.Filters = append(p.Filters, f)
		}
	}
	if p.Time == nil {
		p.Time = b.Time
	}
	return ""
}

// sizesOf gives the size of each unit in a base unit of its kind.
var sizesOf = map[string]struct {
	kind string
	n    float64
}{
	"s": {"time", 1}, "min": {"time", 60}, "h": {"time", 3600}, "ms": {"time", 0.001},
	"g": {"mass", 1}, "kg": {"mass", 1000}, "t": {"mass", 1e6},
	"mm": {"length", 1}, "cm": {"length", 10}, "m": {"length", 1000}, "km": {"length", 1e6},
	"wh": {"energy", 1}, "kwh": {"energy", 1e3}, "mwh": {"energy", 1e6}, "gwh": {"energy", 1e9},
}

// measuredBy are the concepts that the units of a kind measure.
var measuredBy = map[string][]string{
	"mass":   strings.Fields("weight quantity stock yield amount"),
	"length": strings.Fields("distance length height width size rain level"), "energy": strings.Fields("consumption generation electricity yield"),
}

// inUnitOf converts a number with a unit to the unit of a column: half an hour in minutes.
// It returns false if the column's unit is of another kind.
func (p *explanation) inUnitOf(f *schema.Field, at int, n float64) (float64, bool) {
	x := p.Pieces[at]
	if x.Kind != speech.KindNum || x.To-x.From < 2 {
		return n, true
	}
	size := sizesOf[schema.UnitNames[p.Text.Tokens[x.To-1].Fold]]
	unit := f.UnitName()
	if unit == "" {
		unit = schema.UnitNames[f.HeadWord()]
	}
	own := sizesOf[unit]
	switch {
	case size.n == 0:
		return n, parse.HalfAt(p.Text.Tokens, x.From) == 0
	case own.n == 0:
		return n, parse.HalfAt(p.Text.Tokens, x.From) == 0 && unit == "" && size.kind != "time" && slices.ContainsFunc(measuredBy[size.kind], func(c string) bool { return f.Named(c) })
	}
	return n * size.n / own.n, size.kind == own.kind
}
