package plan

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

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

func (p *explanation) traded() bool {
	return p.says(trades)
}

// AsksHeight reports whether the question asks how high something is, or what it is, rather
// than how much of it there is.
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
