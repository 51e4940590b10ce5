package plan

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// words handles the words of the grammar that stand alone.
func (p *roles) words() Reason {
	for i, x := range p.Pieces {
		switch x.Kind {
		case speech.KindAsk:
			if reason := p.askWord(i); reason != "" {
				return reason
			}
		case speech.KindAgg:
			switch {
			case x.Arg == "share":
				p.share = true
			case x.Arg == "distinct":
				p.distinct = true
			case p.Aggregate == "" || p.Aggregate == x.Arg:
				p.Aggregate = x.Arg
			default:
				return ReasonUnclear // the total and the mean
			}
		case speech.KindSup:
			if p.Superlative != nil {
				return ReasonUnclear
			}
			p.Superlative = &p.Pieces[i]
		case speech.KindTrend:
			p.Trend = x.Arg
		case speech.KindNone: // out of stock
			f := p.View.StockField()
			switch {
			case x.Field != nil: // still open
				p.Filters = append(p.Filters, nullFilter(x.Field, p.Say("no value", "kein Wert")))
			case f == nil:
				return ReasonUnknown
			default:
				p.Filters = append(p.Filters, numberFilter(f, "<=", 0))
			}
		case speech.KindWhole:
			if !p.oneYear() {
				return ReasonUnclear
			}
		case speech.KindDiff:
			p.diff = true
		case speech.KindVersus:
			p.versus = true
		case speech.KindMore:
			if p.more != nil {
				return ReasonUnclear
			}
			p.more = &p.Pieces[i]
		default:
			continue
		}
		p.used[i] = true
	}
	if p.Asks == "which" && p.whatDo() {
		p.Asks = "much"
	}
	return ""
}

// whatDo reports whether a question begins like "what did we spend" and "was hat Anna", or is what something is worth: it
// asks for no name.
func (p *wording) whatDo() bool {
	ts := p.Text.Tokens
	switch {
	case len(ts) < 3 || p.Superlative != nil:
		return false
	case worth[ts[len(ts)-1].Fold] || p.has(func(x parse.Piece) bool { return x.Field != nil && x.Field.Product() }):
		return true
	}
	return ts[0].Fold == "what" && auxiliaries[ts[1].Fold] || p.Text.Lang == speech.German && ts[0].Fold == "was" && strings.HasPrefix(ts[1].Fold, "hat")
}

var worth = speech.Folded("worth wert")

// often reports whether the question is how often something happened.
func (p *wording) often() bool {
	return p.has(func(x parse.Piece) bool { return x.Kind == speech.KindAsk && x.Arg == "times" })
}

// oneYear reports whether the rows cover at most one year, or the question names a time.
func (p *wording) oneYear() bool {
	return p.has(func(x parse.Piece) bool { return x.Kind == speech.KindTime }) || !slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool {
		low, _ := f.Min.(string)
		high, _ := f.Max.(string)
		return f.Dated() && (len(low) < 4 || len(high) < 4 || low[:4] != high[:4]) || f.Yearly() && f.Distinct > 1
	})
}

// askWord handles a question word, with the number that it is about: how old.
func (p *roles) askWord(i int) Reason {
	x := p.Pieces[i]
	noun := p.word(x).Fold
	if x.Arg == "many" && (noun == "number" || noun == "anzahl" || noun == "count" || noun == "zahl") && p.has(func(o parse.Piece) bool { return o.Kind == speech.KindSup }) {
		return "" // it names what a ranking is by: by number of loans
	}
	if x.Arg == "people" || x.Arg == "times" {
		p.people, x.Arg = x.Arg == "people", "many"
	}
	if p.Asks == "" || p.Asks == "which" && (x.Arg == "many" || x.Arg == "much") || p.Asks == "list" {
		p.Asks = x.Arg
	}
	if x.About != "" {
		f := p.View.FieldOf(x.About)
		if f == nil && x.About == "length" {
			f = p.View.DurationField()
		}
		if f == nil {
			return ReasonUnknown
		}
		p.Measures = append(p.Measures, Measure{Field: f})
	}
	return ""
}

// joinNames joins a value with the name of its column, a number with the key that it
// belongs to, and a number with a superlative: the top 5.
func (p *roles) joinNames() Reason {
	for i, x := range p.Pieces {
		b, n := p.near(i, -1), p.near(i, 1)
		switch x.Kind {
		case speech.KindField:
			asked := p.Asked(i)
			for _, v := range []parse.Piece{b, n} {
				if v.Kind == speech.KindValue && v.Field == x.Field && (asked == "" || asked == "much" || b.Kind == speech.KindValue) {
					p.used[i] = true
				}
			}
			num, known := n.Num, n.Kind == speech.KindNum
			if n.Kind == speech.KindTime && n.Period.Unit == "year" && x.Field.Key() && x.Field.Spans(float64(n.Period.Year)) {
				num, known = float64(n.Period.Year), true
			}
			joined := n.From == x.To || n.From == x.To+1 && parse.OfWords[p.Text.Tokens[x.To].Fold]
			if p.used[i] || !known || !joined || x.Field.Type != "integer" || !x.Field.Spans(num) || b.Kind == speech.KindCmp || p.near(i, 2).Kind == speech.KindCmp {
				continue // a satisfaction of 4 or more
			}
			p.Filters = append(p.Filters, numberFilter(x.Field, "=", num))
			p.used[i], p.used[i+1] = true, true
			if b.Kind == speech.KindField && b.Field == x.Field {
				p.used[i-1] = true // the stock on hand
			}
		case speech.KindNum:
			status := func(f *schema.Field) bool { return f.Table == 0 && f.Type == "integer" && f.HeadWord() == "status" }
			if f := schema.Only(p.View.Fields, status); f != nil && !p.used[i] && x.Num >= 100 && f.Spans(x.Num) && b.Kind != speech.KindCmp && b.Kind != speech.KindField {
				p.Filters, p.used[i] = append(p.Filters, numberFilter(f, "=", x.Num)), true // ended in a 404
			}
			if n.Kind == speech.KindField && n.Field.Measure() && n.From == x.To && !p.used[i] && p.Asks == "many" && b.Kind != speech.KindCmp && b.Kind != speech.KindJoin && b.Kind != speech.KindBound && i > 1 && n.Field.UnitName() == "" {
				p.Filters = append(p.Filters, numberFilter(n.Field, "=", x.Num)) // days with zero complaints
				p.used[i], p.used[i+1] = true, true
			}
			asks := b.Kind == speech.KindAsk && (b.Arg == "which" || b.Arg == "list") && p.Superlative != nil
			if !p.used[i] && x.Num >= 1 && x.Num <= 50 && (b.Kind == speech.KindSup || n.Kind == speech.KindSup || asks) {
				p.N, p.used[i] = int(x.Num), true
			}
		}
	}
	return ""
}

// targets determines what the question asks for, what it groups by and what it measures.
func (p *roles) targets() Reason {
	for i, x := range p.Pieces {
		asking := p.Asked(i)
		if p.whatDo() {
			asking = "" // what do people earn: not people
		}
		if x.Kind == speech.KindValue && p.Target == nil && p.Unit == "" && len(p.attrs) == 0 && p.subject(i) {
			p.Target = p.labelField(x)
		}
		if p.used[i] {
			continue
		}
		switch x.Kind {
		case speech.KindField:
			p.fieldRole(i, asking)
		case speech.KindUnit:
			if reason := p.unitRole(i, asking); reason != "" {
				return reason
			}
		case speech.KindEntity:
			p.used[i] = true
			b, n := p.near(i, -1), p.near(i, 1)
			switch {
			case x.Arg == "topic" || p.share || p.Superlative != nil && n.Kind == speech.KindField && n.From == x.To && n.Field.Text(): // frog species: species
			case p.isGroupedBy(i):
				p.PerRow = true
			case p.Target != nil:
			case (asking == "which" || asking == "who" || asking == "list") && p.Asks != "many", b.Kind == speech.KindSup && b.About == "" && p.Asks == "":
				p.Target = p.labelField(x)
			}
		}
	}
	return ""
}

// unitRole assigns a role to a unit of time: it is counted, or grouped by.
func (p *roles) unitRole(i int, asking string) Reason {
	x := p.Pieces[i]
	word := p.word(x).Fold
	adjective := word != "days" && strings.HasSuffix(word, "ly") || strings.HasSuffix(word, "lich")
	switch {
	case p.everyTime(x):
		p.used[i] = true
		p.sumUp()
	case asking == "many" && p.Asks == "many" && p.near(i, -1).Kind != speech.KindValue:
		p.Tally, p.used[i] = x.Arg, true
	case p.isGroupedBy(i) || asking != "" && asking != "many" && asking != "much" || p.Superlative != nil || p.Aggregate != "" || p.Trend != "" || adjective:
		if p.Unit != "" && p.Unit != x.Arg {
			return ReasonUnclear
		}
		p.Unit, p.used[i] = x.Arg, true
	}
	return ""
}

// sumUp makes a ranking over all times one of totals.
func (p *roles) sumUp() {
	if p.Superlative != nil && p.mostWord() && p.Aggregate == "" {
		p.Aggregate = "sum"
	}
}

// everyTime reports whether a unit of time only says that all rows count: over all the years.
func (p *explanation) everyTime(x parse.Piece) bool {
	at := x.From - 1
	if at > 1 && p.Text.Tokens[at].Fold == "the" {
		at--
	}
	return at > 0 && allOf[p.Text.Tokens[at].Fold] && overWords[p.Text.Tokens[at-1].Fold]
}

var allOf = speech.Folded("all every alle allen aller sämtlicher")

var overWords = speech.Folded("over across über")

// fieldRole assigns a role to a named column.
func (p *roles) fieldRole(i int, asking string) {
	f, word := p.Pieces[i].Field, p.word(p.Pieces[i])
	p.used[i] = true
	b := p.near(i, -1)
	counted, verbal := asking == "many" && p.Asks == "many", speech.Verbal(word.Fold) || speech.Irregular[word.Fold] != "" || word.Fold == "left"
	if k := p.Pieces[i].From; k > 0 && f.Text() && asking == "" && !p.isGroupedBy(i) && allOf[p.Text.Tokens[k-1].Fold] {
		return // across all stores
	}
	if (f.Dated() || f.Yearly()) && p.everyTime(p.Pieces[i]) {
		p.sumUp()
		return
	}
	if i == 0 && f.Text() && p.askedAfter(i) {
		return // wines from which country
	}
	switch {
	case counted && f.Dated() && days[word.Fold] && b.Kind == speech.KindAsk: // no sick days
		p.Tally = "day"
	case p.isGroupedBy(i) && f.Measure() && (p.Superlative != nil || p.Asks == "list"):
		p.Measures = append(p.Measures, Measure{Field: f})
	case p.isGroupedBy(i) && f.Key() && p.Aggregate == "avg":
		p.PerRow, p.perKey = true, f
	case p.isGroupedBy(i):
		p.Groups = append(p.Groups, f)
	case f.Measure():
		if !slices.ContainsFunc(p.Measures, func(m Measure) bool { return m.Field == f }) {
			p.Measures = append(p.Measures, Measure{Field: f})
		}
	case counted && f.Dated() && verbal:
		p.Filters = append(p.Filters, knownFilter(f, p.Say("has a value", "hat einen Wert"))) // how many have left: those with a date
		p.attrs = append(p.attrs, f)
	case counted && (f.Dated() && !schema.TimeWords[word.Fold] && !schema.TimeWords[word.Stem] || !p.runsOn(i)):
		p.attrs = append(p.attrs, f) // trips are not their dates, and what Acme ordered is not counted by orders
	case counted:
		p.Counted, p.Called = f, word.Raw
	case f.Dated() && b.Kind == speech.KindSup && verbal:
		// the most borrowed tools: what they are like, not when
	case (asking == "which" || asking == "list") && p.Target == nil && (p.Superlative != nil || !f.Dated()) && !(f.Dated() && b.Kind == speech.KindEntity && verbal):
		p.Target = f
		p.attrs = append(p.attrs, f)
	case f.Dated() || f.Yearly():
		if f.Dated() && f.Missing > 0 && asking == "" && verbal {
			p.Filters = append(p.Filters, knownFilter(f, p.Say("has a value", "hat einen Wert"))) // who closed the most: of those that are closed
		}
		if p.Time == nil {
			p.Time = f
		}
		if asking != "" {
			p.asked = f
		}
		p.attrs = append(p.attrs, f)
	case p.Asks == "who" && b.Kind == speech.KindSup && b.About == "" && f != p.View.Person():
		p.attrs = append(p.attrs, f) // who borrowed the most tools
	case p.Superlative != nil && p.Target == nil && !p.askedAfter(i) && (b.Kind == speech.KindSup || p.Asks == "list" || p.Asks == "" || p.Asks == "which"):
		p.Target = f
	default:
		p.attrs = append(p.attrs, f)
	}
}

var days = speech.Folded("days tage tagen")

// askedAfter reports whether a later column is the one asked for: wines from which country.
func (p *wording) askedAfter(i int) bool {
	for k := i + 1; k < len(p.Pieces); k++ {
		if p.Pieces[k].Kind == speech.KindField && p.Asked(k) == "which" {
			return true
		}
	}
	return false
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

// subject reports whether a value takes the place of what is asked for, and no column
// follows it: which perennials, the cheapest tree.
func (p *wording) subject(i int) bool {
	x, b, n := p.Pieces[i], p.near(i, -1), p.near(i, 1)
	if p.Asks != "which" && p.Asks != "list" || b.To < x.From-1 || n.From == x.To && (n.Kind == speech.KindField || n.Kind == speech.KindEntity || n.Kind == speech.KindUnit) {
		return false
	}
	if b.Kind == speech.KindField && b.Field.Measure() && i > 1 {
		b = p.Pieces[i-2] // the most expensive tree
	}
	w := p.word(b).Fold
	return b.Kind == speech.KindSup || b.Kind == speech.KindAsk && strings.HasPrefix(w, "w") && b.To == x.From && w != "what" && w != "was"
}

// labelField returns the column that names the rows: a name, otherwise one that is unique in each.
func (p *explanation) labelField(entity parse.Piece) *schema.Field {
	rows := p.View.Tables[0].RowCount
	wanted := p.word(entity)
	var best *schema.Field
	score := 2
	for _, f := range p.View.Fields {
		if f.Table != 0 || !f.Text() && !f.Key() || f == entity.Field || f.Has(schema.TimeWords) {
			continue
		}
		s := 1
		switch {
		case f.Key():
			s--
		case f.Parts != nil:
			s += 9
		case f.Titled() && !slices.ContainsFunc(f.Words, func(w speech.Word) bool {
			return !w.Optional && !schema.NameWords[w.Stem] && !slices.Contains(p.View.Entity, w.Stem) && w.Stem != wanted.Stem && !p.Text.Lex.Shared(w.Stem, wanted.Stem)
		}): // the name of a customer does not name an order
			s += 8
		case f.HasLike(wanted):
			s += 7
		}
		if f.Distinct*10 >= rows*9 || f.DistinctCapped {
			s += 3
		}
		if s > score {
			best, score = f, s
		}
	}
	if best == nil && p.View.Figures() {
		return schema.Only(p.View.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Text() }) // the entities of disasters
	}
	if best != nil && best.Titled() && !best.Key() && !p.View.Unique(best) {
		if k := p.View.NumberOfRow(); k != nil {
			return k // several issues have one title
		}
	}
	return best
}

// checkUnusedPieces checks what is left over: a word without a role makes the reading doubtful.
func (p *roles) checkUnusedPieces() Reason {
	for i, x := range p.Pieces {
		switch {
		case p.used[i], x.Kind == speech.KindBy, x.Kind == speech.KindJoin:
		case x.Kind == speech.KindBound && (x.Arg == "from" || x.Arg == "to" || x.Arg == "between" && p.Either != nil || x.Arg == "until" && p.near(i, 1).Kind == speech.KindValue): // small words
		case x.Kind == speech.KindUnit && (len(p.Periods) > 0 || x.Arg == "day"): // in the year 2020, on the day; elsewhere it asks for something
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
		if f.Table != 0 || !f.Text() || p.filtered(f) {
			continue
		}
		other := false
		for _, x := range p.Filters {
			other = other || x.Field != f && x.Field.Text() && !x.Total
		}
		p.onlyTotal(f, !other && f != p.Target && f != p.Counted && !slices.Contains(p.Groups, f))
	}
	return ""
}

// onlyTotal restricts the rows to the one of all categories together, or else to the categories, if a column has both.
func (p *roles) onlyTotal(f *schema.Field, total bool) {
	at := slices.IndexFunc(f.Values, func(v any) bool {
		s, _ := v.(string)
		first, _, _ := strings.Cut(speech.Fold(s), " ")
		return totalWords[first]
	})
	if at >= 0 && len(f.Values) > 2 {
		x := p.valueFilter(f, []string{f.Values[at].(string)}, !total)
		x.Total = true
		p.Filters = append(p.Filters, x)
	}
}

var totalWords = speech.Folded("all total totals gesamt alle summe overall insgesamt")
