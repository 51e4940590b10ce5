package plan

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// denying are words before a value that a row does not have.
var denying = speech.Folded("no without ohne kein keine keinen")

// moneyOrMass are units of amounts whose change is a change of sums.
var moneyOrMass = speech.Folded("usd eur chf gbp t kg g l kwh mwh gwh twh m3 km")

// untaxedWords are words of columns of amounts before tax.
var untaxedWords = speech.Folded("ht net netto nett")

// taxedWords are words of columns of amounts with tax.
var taxedWords = speech.Folded("ttc gross brutto")

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

// ByHow reports whether the question asks by how much something changed.
func (p *wording) ByHow() bool {
	for i := 0; i+1 < len(p.Text.Tokens); i++ {
		if a, b := p.Text.Tokens[i].Fold, p.Text.Tokens[i+1].Fold; (a == "by" && b == "how" || a == "um" && strings.HasPrefix(b, "wie")) && !p.share {
			return true
		}
	}
	return false
}

var coming = speech.Folded("come came comes enter entered arrive arrived arrivals kommen kamen gekommen ankommen angekommen anreisen")

var comingColumns = speech.Folded("entered entry arrival arrived arrive arrivals enter checkin ankunft anreise einfahrt eintritt")

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

// crowded reports whether the table counts attendance, so that "the most popular" and "the
// busiest" may mean the highest attendance.
func (p *wording) crowded() bool {
	if slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool { return x.Rows() && x.From == p.Superlative.To }) {
		return false
	}
	return popular[p.Text.Tokens[p.Superlative.To-1].Fold] && slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool {
		return f.Table == 0 && f.Type == "integer" && f.Measure() && (f.Named("visitor") || f.Has(crowds))
	})
}

var popular = speech.Folded("popular busiest beliebteste beliebtesten")

var crowds = speech.Folded("attended attendees attendance booked bookings guests participants teilnehmer gaste zuschauer spectators passengers fahrgaste riders downloads views plays listens entries sold quantity qty menge anzahl count")

var trades = speech.Folded("sell sells sold selling buy bought order ordered ship shipped verkauft verkauften verkaufen gekauft bestellt verschickt")

// traded reports whether the question is about sales or purchases.
func (p *explanation) traded() bool {
	return slices.ContainsFunc(p.Text.Tokens, func(t speech.Token) bool { return trades[t.Fold] })
}

// AsksHeight reports whether the question asks how high something is, or what it is, rather
// than how much of it there is.
func (p *explanation) AsksHeight() bool {
	return len(p.Text.Tokens) > 1 && heights[p.Text.Tokens[1].Fold]
}

var heights = speech.Folded("hoch high is ist s sind are large big")

var gives = speech.Folded("raise raises raised give gives gave given donate donated collect collected earn earned contribute contributed bring brought gespendet gesammelt eingenommen gegeben erlost")

// given returns the only amount of money of the table if the question says that it is given, earned or spent.
func (p *wording) given() *schema.Field {
	if p.View.MoneyField == nil || p.View.MoneyField.Mixed() || p.Nature(p.View.MoneyField) == "avg" || !slices.ContainsFunc(p.Text.Tokens, func(t speech.Token) bool {
		return gives[t.Fold] && p.flows(p.View.MoneyField, "earn") || slices.ContainsFunc(speech.LightClasses[t.Fold], func(class string) bool {
			return (class == "spend" || class == "earn" || class == "trade" && p.Asks == "much") && p.flows(p.View.MoneyField, class)
		})
	}) {
		return nil
	}
	return p.View.MoneyField
}
