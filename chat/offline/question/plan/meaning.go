package plan

import (
	"cmp"
	"slices"
	"strings"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// fits reports whether a verb of one of some classes can be of what the plan asks.
func (p *review) fits(classes []string) bool {
	m := p.First()
	something := m != nil || p.hasRows() || len(p.Filters) > p.times() || p.Superlative != nil && p.Target != nil
	return len(classes) == 0 && something || slices.ContainsFunc(classes, func(class string) bool {
		switch class {
		case "any":
			return something
		case "spend", "earn":
			return m != nil && p.View.OfMoney(m.Field) && p.flows(m.Field, class) || slices.ContainsFunc(p.Filters, func(f Filter) bool { return f.Field.Named("payment") || f.Field.Named("method") })
		case "trade":
			return m != nil && m.Field.Named("price") || something && p.trading()
		}
		return m != nil && sizesOf[m.Field.UnitName()].kind == map[string]string{"trip": "length", "power": "energy", "talk": "time"}[class]
	})
}

// trading reports whether the rows are what was sold or bought: amounts of money with their dates.
func (p *wording) trading() bool {
	return (p.View.Takings || p.View.Coins != nil && !p.Text.Lex.Means(p.View.Coins.Head(), "price")) && slices.ContainsFunc(p.View.Fields, (*schema.Field).Dated)
}

// flows reports whether money of a column can be spent, or earned: nobody spends revenue.
func (p *explanation) flows(f *schema.Field, class string) bool {
	other := map[string][]string{"spend": {"revenue", "profit", "income", "donation"}, "earn": {"cost", "expense", "outflow"}, "trade": {"cost", "expense", "outflow"}}[class]
	return !slices.ContainsFunc(other, func(c string) bool {
		return p.Text.Lex.Means(f.Head(), c) && !p.Text.Lex.Means(f.Head(), "amount") && !p.Text.Lex.Means(f.Head(), "fee") && !p.Text.Lex.Means(f.Head(), "price")
	})
}

func (p *explanation) oftenAsked() bool {
	return slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
		w := p.Text.Tokens[x.To-1].Fold
		return x.Kind == speech.KindAsk && x.Arg == "many" && (w == "often" || w == "oft" || w == "times" || w == "male")
	})
}

var (
	// known good and bad of numbers, by concept: the best is the most of them, or the least.
	goodMost = strings.Fields("revenue profit yield generation score rating satisfaction goals win visitor quantity donation speed salary grade")
	earning  = speech.Folded("earn earns earned earning verdient verdiente verdienen verdienten")
	buying   = speech.Folded("buy bought purchase purchased gekauft kauften kaufen kauft")
	ours     = speech.Folded("we wir")
)

// otherDeed reports whether the question is of what the rows do not say: what somebody earned
// or was paid whose name only stands beside an amount, what we bought where we sell, and
// what we own where the rows are what happened.
func (p *review) otherDeed() bool {
	paidTo := func(verbs map[string]bool, next bool) bool {
		m := p.First()
		if m == nil || m.Field.Named("salary") {
			return false
		}
		return slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool {
			return x.Kind == speech.KindValue && x.Field.OfSomebody(next) && (!next && p.says(verbs) || next && p.behind(x.From, verbs))
		})
	}
	happened := p.says(ours) && slices.ContainsFunc(p.View.Fields, (*schema.Field).Dated)
	bought := p.says(buying) && !slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool {
		return f.Named("supplier") || f.Named("cost") || f.Has(map[string]bool{"shop": true, "store": true})
	})
	owned := p.Op == OpCount && p.says(map[string]bool{"own": true, "besitzen": true})
	return happened && (bought || owned) || paidTo(earning, false) || paidTo(parse.PayingVerbs, true) || p.wrongWay() || p.onlyHappened()
}

// behind reports whether one of some words stands before a token, over small ones: pay Dr. Petri.
func (p *explanation) behind(i int, words map[string]bool) bool {
	for i--; i > 0 && p.Text.Lex.Fillers[p.Text.Tokens[i].Fold]; i-- {
		continue
	}
	return i > 0 && words[p.Text.Tokens[i].Fold]
}

var (
	// moneyOrMass are units of which a change is one of the sums.
	moneyOrMass = speech.Folded("usd eur chf gbp t kg g l kwh mwh gwh twh m3 km")
	// denying stand before a value that a row does not have.
	denying     = speech.Folded("no without ohne kein keine keinen")
	popular     = speech.Folded("popular busiest beliebteste beliebtesten")
	crowds      = speech.Folded("attended attendees attendance booked bookings guests participants teilnehmer gaste zuschauer spectators passengers fahrgaste riders downloads views plays listens entries sold quantity qty menge anzahl count")
	trades      = speech.Folded("sell sells sold selling buy bought order ordered ship shipped verkauft verkauften verkaufen gekauft bestellt verschickt")
	heightWords = speech.Folded("hoch high is ist s sind are large big")
	gives       = speech.Folded("raise raises raised give gives gave given donate donated collect collected earn earned contribute contributed bring brought gespendet gesammelt eingenommen gegeben erlost")
)

// sizesOf are units in the least one of their kind.
var sizesOf = map[string]struct {
	kind string
	n    float64
}{
	"s": {"time", 1}, "min": {"time", 60}, "h": {"time", 3600}, "ms": {"time", 0.001},
	"g": {"mass", 1}, "kg": {"mass", 1000}, "t": {"mass", 1e6},
	"mm": {"length", 1}, "cm": {"length", 10}, "m": {"length", 1000}, "km": {"length", 1e6},
	"wh": {"energy", 1}, "kwh": {"energy", 1e3}, "mwh": {"energy", 1e6}, "gwh": {"energy", 1e9},
}

// measuredBy are the concepts of what units of a kind measure.
var measuredBy = map[string][]string{
	"mass":   strings.Fields("weight quantity stock yield amount"),
	"length": strings.Fields("distance length height width size rain level"), "energy": strings.Fields("consumption generation electricity yield"),
}

// inUnitOf writes a number with a unit in the unit of a column: half an hour in minutes. A
// column in a unit of another kind is not compared with it.
func (p *explanation) inUnitOf(f *schema.Field, at int, n float64) (float64, bool) {
	x := p.Pieces[at]
	if x.Kind != speech.KindNum || x.To-x.From < 2 {
		return n, true
	}
	said := sizesOf[schema.UnitNames[p.Text.Tokens[x.To-1].Fold]]
	unit := f.UnitName()
	if unit == "" {
		unit = schema.UnitNames[f.HeadWord()]
	}
	own := sizesOf[unit]
	switch {
	case said.n == 0:
		return n, true
	case own.n == 0:
		return n, unit == "" && said.kind != "time" && slices.ContainsFunc(measuredBy[said.kind], func(c string) bool { return f.Named(c) })
	}
	return n * said.n / own.n, said.kind == own.kind
}

// ByHow reports whether the question asks by how much something changed.
func (p *wording) ByHow() bool {
	for i := 0; i+1 < len(p.Text.Tokens); i++ {
		if a, b := p.Text.Tokens[i].Fold, p.Text.Tokens[i+1].Fold; (a == "by" && b == "how" || a == "um" && strings.HasPrefix(b, "wie")) && !p.share {
			return true
		}
	}
	return false
}

// crowded reports whether the table counts those who came, so that the most popular and the
// busiest may be the one with the most of them.
func (p *wording) crowded() bool {
	rows := slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool { return x.Rows() && x.From == p.Superlative.To })
	return !rows && popular[p.Text.Tokens[p.Superlative.To-1].Fold] && slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool {
		return f.Table == 0 && f.Type == "integer" && f.Measure() && (f.Named("visitor") || f.Has(crowds))
	})
}

func (p *explanation) traded() bool { return p.says(trades) }

// AsksHeight reports whether the question asks how high something is, or what it is, rather than how much of it there is.
func (p *explanation) AsksHeight() bool {
	return len(p.Text.Tokens) > 1 && heightWords[p.Text.Tokens[1].Fold]
}

// given is the only amount of money of the table, where the question says that it is given or earned.
func (p *wording) given() *schema.Field {
	if p.View.Coins == nil || p.View.Coins.Mixed() || p.Nature(p.View.Coins) == "rate" || !slices.ContainsFunc(p.Text.Tokens, func(t speech.Token) bool {
		return gives[t.Fold] && p.flows(p.View.Coins, "earn") || slices.ContainsFunc(speech.LightClasses[t.Fold], func(class string) bool {
			return (class == "spend" || class == "earn" || class == "trade" && p.Asks == "much") && p.flows(p.View.Coins, class)
		})
	}) {
		return nil
	}
	return p.View.Coins
}

func minus(a, b *schema.Field) *schema.Field {
	return schema.Computed(a.Label()+" − "+b.Label(), a, b, true)
}

// overBudget reads "went over budget": a condition, or what it is over by.
func (p *roles) overBudget() Reason {
	if !p.over {
		return ""
	}
	budget, actual := p.View.FieldOf("budget"), cmp.Or(p.View.FieldOf("actual"), p.View.FieldOf("spent"))
	if budget == nil || actual == nil || budget == actual {
		return ReasonUnknown
	}
	p.Measures = slices.DeleteFunc(p.Measures, func(m Measure) bool { return m.Field == budget || m.Field == actual })
	switch {
	case len(p.Measures) > 0:
		return ReasonUnclear
	case p.Superlative != nil || p.diff || p.Asks == "much":
		p.diff, p.Measures = false, []Measure{{Field: minus(actual, budget)}}
	default:
		p.Filters = append(p.Filters, fieldFilter(actual, ">", budget))
	}
	return ""
}

// worth takes what a stock is worth; the stock is no other figure beside it.
func (p *roles) worth() Reason {
	at := slices.IndexFunc(p.Pieces, func(x parse.Piece) bool { return x.Kind == speech.KindTimes })
	if at < 0 {
		return ""
	}
	f := p.Pieces[at].Field
	p.Measures = append(p.Measures, Measure{Field: f})
	first := p.Text.Tokens[0].Fold
	for k, y := range p.Pieces {
		asked := y.Kind == speech.KindEntity && (first == "what" || first == "was" || first == "how" || first == "wie")
		p.used[k] = p.used[k] || k == at || asked || y.Kind == speech.KindField && (slices.Contains(f.Factors, y.Field) || slices.Equal(y.Field.Factors, f.Factors))
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
	return p.Text.Tokens[b.From-1].Is("with mit having of von has have hat haben had") && p.Pieces[i-2].Kind != speech.KindSup && p.Pieces[i-2].Kind != speech.KindCmp
}
