package plan

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// Reason says why tables do not answer a part.
type Reason string

// The reasons.
const (
	// ReasonUnknown means that words of the question name nothing in the sources.
	ReasonUnknown Reason = "unknown"
	// ReasonBeyond means that the question asks for causes, forecasts or opinions.
	ReasonBeyond Reason = "beyond"
	// ReasonAmbiguous means that the question fits several columns or tables with different answers.
	ReasonAmbiguous Reason = "ambiguous"
	// ReasonUnclear means that the words are known but do not form a question that is understood.
	ReasonUnclear Reason = "unclear"
	// ReasonEmpty means that the query finds no row.
	ReasonEmpty Reason = "empty"
)

const (
	// MaxBars is the maximum number of bars of a chart that a reader can distinguish.
	MaxBars = 12
	// MaxSeries is the maximum number of lines of a chart.
	MaxSeries = 4
	// MaxRows limits the table of a result in a report.
	MaxRows = 12
)

// KeyOf returns the columns of the keys; nil stands for a unit of time.
func (p *Plan) KeyOf() []*schema.Field {
	var out []*schema.Field
	for _, g := range p.KeyFields() {
		if g == p.Time && p.Unit != "" {
			continue
		}
		out = append(out, g)
	}
	if p.Unit != "" {
		if p.Time != nil && !p.Time.Dated() {
			return append(out, p.Time)
		}
		out = append(out, nil)
	}
	return out
}

// OneEach reports whether each group is one row.
func (p *Plan) OneEach() bool {
	fs := p.KeyFields()
	return len(fs) == 1 && p.Unit == "" && fs[0].Table == 0 && p.View.Unique(fs[0])
}

// RowKey returns the key of things that have several rows each: the order of an order line.
func (p *roles) RowKey() *schema.Field {
	if p.perKey != nil {
		if p.View.Unique(p.perKey) {
			return nil
		}
		return p.perKey
	}
	for i, x := range p.Pieces {
		if x.Kind == speech.KindEntity && p.isGroupedBy(i) {
			return p.keyOfSeveral(x)
		}
	}
	return nil
}

// keyOfSeveral returns the key of the things that a word names if several rows are one of them.
func (p *explanation) keyOfSeveral(entity parse.Piece) *schema.Field {
	at := slices.IndexFunc(p.View.Fields, func(f *schema.Field) bool {
		return f.Table == 0 && f.Key() && len(f.Words) > 1 && f.Words[0].Stem == p.Text.Tokens[entity.From].Stem && f.Missing == 0 && !f.DistinctCapped && f.Distinct < p.View.Tables[0].RowCount
	})
	if at < 0 {
		return nil
	}
	return p.View.Fields[at]
}

// First returns the first measure; nil counts rows.
func (p *roles) First() *Measure {
	if len(p.Measures) == 0 {
		return nil
	}
	return &p.Measures[0]
}

// MeasureName returns the column heading of a measure.
func (p *roles) MeasureName(m *Measure) string {
	switch {
	case m == nil && p.Counted == nil:
		return p.RowsName()
	case m == nil:
		return p.Say("different ", "verschiedene ") + p.Counted.Label()
	}
	how := map[string]string{
		"sum": p.Say("total ", "Summe "), "avg": p.Say("mean ", "Mittelwert "), "median": "Median ",
		"max": p.Say("highest ", "höchster Wert "), "min": p.Say("lowest ", "niedrigster Wert "),
	}
	return how[m.How] + m.Field.Label()
}

// KeyFields returns the columns that rows are grouped by.
func (p *Plan) KeyFields() []*schema.Field {
	switch {
	case p.Op == OpCompare:
		return []*schema.Field{p.Either}
	case p.Op == OpRank && p.Target != nil && p.View.NameFor(p.Target) != nil:
		return append([]*schema.Field{p.View.NameFor(p.Target), p.Target}, p.Groups...)
	case p.Op == OpRank && p.Target != nil:
		if p.Target.Named("month") && p.Target.Type != "date" {
			// A month of several years is several months.
			for _, f := range p.View.Fields {
				if f.Table == p.Target.Table && f.Yearly() && f.Distinct > 1 && !p.filtered(f) {
					return []*schema.Field{f, p.Target}
				}
			}
		}
		return append([]*schema.Field{p.Target}, p.Groups...)
	}
	return p.Groups
}

func (p *conditions) filtered(f *schema.Field) bool {
	return slices.ContainsFunc(p.Filters, func(x Filter) bool { return x.Field == f && !x.Total })
}

// UnitName returns the unit of time of the groups in the language of the question.
func (p *roles) UnitName() string {
	names := map[string][2]string{"year": {"year", "Jahr"}, "quarter": {"quarter", "Quartal"}, "month": {"month", "Monat"}, "day": {"day", "Tag"}, "weekday": {"weekday", "Wochentag"}, "hour": {"hour", "Stunde"}}
	n := names[p.Unit]
	return p.Say(n[0], n[1])
}

// MeasureList returns the measures, or a single nil for the rows if there are none.
func (p *roles) MeasureList() []*Measure {
	if len(p.Measures) == 0 {
		return []*Measure{nil}
	}
	var out []*Measure
	for i := range p.Measures {
		out = append(out, &p.Measures[i])
	}
	return out
}

// HiddenKey returns the key of the rows if a ranking is by their names, which may be equal.
func (p *Plan) HiddenKey() *schema.Field {
	t := p.Target
	if t == nil || t.Table != 0 || t.Key() || p.View.Unique(t) || !t.Named("name") && t.Names == nil {
		return nil
	}
	for _, f := range p.View.Fields {
		if f.Table == 0 && f.Key() && p.View.Unique(f) {
			if slices.ContainsFunc([]string{"order", "invoice", "payment", "ticket", "loan", "donation", "trip", "event"}, func(c string) bool { return f.Named(c) }) {
				return nil // the number of an order does not distinguish customers
			}
			return f
		}
	}
	return nil
}

// RankBy returns the aggregates that a ranking may mean.
func (p *Plan) RankBy() []string {
	m := p.First()
	extreme := "max"
	if p.Superlative.Arg == "asc" {
		extreme = "min"
	}
	switch {
	case m == nil:
		return []string{""}
	case m.How != "":
		return []string{m.How}
	case m.Field.Dated() || m.Field.Yearly():
		return []string{extreme}
	case p.Target != nil && p.Target.Table == 0 && p.Unit == "" && (p.View.Unique(p.Target) || p.HiddenKey() != nil):
		return []string{extreme}
	}
	if p.View.Survey && m.Field.Scale() || p.judged {
		return []string{"avg"} // marks from many people
	}
	switch p.Nature(m.Field) {
	case "sum":
		return []string{"sum"}
	case "max", "min":
		return []string{extreme}
	case "avg":
		return []string{extreme, "avg"}
	}
	return []string{"sum", "avg", extreme}
}

// ExtremeLabels returns the columns with the name and the time of the row with an extreme value.
func (p *Plan) ExtremeLabels() []*schema.Field {
	var out []*schema.Field
	var l *schema.Field
	for _, x := range p.Pieces {
		if x.Rows() && l == nil {
			l = p.labelField(x)
		}
	}
	if p.Asks == "who" || l == nil && slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool { return f.Names != nil }) {
		l = p.View.Person()
	}
	if l == nil {
		l = p.View.NameField()
	}
	if l != nil {
		out = append(out, l)
	} else {
		for _, f := range p.View.Fields {
			if f.Table == 0 && f.Text() && !f.Clock() && f.Factors == nil && (f.Distinct*10 >= p.View.Tables[0].RowCount*9 || slices.Contains(p.View.Entity, f.Head())) {
				out = append(out, f)
				break
			}
		}
	}
	if len(out) == 0 {
		out = p.View.Described()
	}
	if t := p.timeField(nil); t != nil && t.Table == 0 && t != p.Measures[0].Field {
		out = append(out, t)
	}
	return out
}

// ShareCond returns the index of the condition whose share is asked for: the last one that is not a time.
func (p *Plan) ShareCond() int {
	at := -1
	for i, f := range p.Filters {
		if f.restricts() && f.Field != p.Time {
			at = i
		}
	}
	return at
}

// Listed returns the columns of a list or a lookup.
func (p *Plan) Listed() []*schema.Field {
	var out []*schema.Field
	if p.Op == OpList && p.Target != nil {
		if n := p.View.NameFor(p.Target); n != nil {
			out = append(out, n)
		}
		out = append(out, p.Target)
	}
	for _, f := range p.attrs {
		if f != p.Target && !(p.Op == OpList && p.filtered(f)) {
			out = append(out, f)
		}
	}
	for _, m := range p.Measures {
		out = append(out, m.Field)
	}
	return out
}

// stated returns the columns of names and times whose values the answer states.
func stated(p *Plan) []*schema.Field {
	switch p.Op {
	case OpRank, OpGroups, OpCompare:
		return p.KeyFields()
	case OpExtreme:
		return append(p.ExtremeLabels(), p.Measures[0].Field)
	case OpList, OpLookup:
		return p.Listed()
	}
	return nil
}

// finer lists the units of time that state a unit: itself and all finer ones.
var finer = map[string][]string{"year": {"year", "quarter", "month", "day"}, "quarter": {"quarter", "month", "day"}, "month": {"month", "day"}}

// SaysTime reports whether the answer states a time in a unit or, if unit is empty, in any unit.
func (p *Plan) SaysTime(unit string) bool {
	if u := p.Unit; u != "" && (unit == "" || unit == u || slices.Contains(finer[unit], u)) {
		return true
	}
	return slices.ContainsFunc(stated(p), func(f *schema.Field) bool {
		switch {
		case f.Dated():
			return unit == "" || unit == "day" || finer[unit] != nil
		case f.Yearly():
			return unit == "" || unit == "year"
		}
		return !f.Measure() && (f.Named(unit) || unit == "" && slices.ContainsFunc([]string{"year", "quarter", "month", "week", "hour"}, func(u string) bool { return f.Named(u) }))
	})
}

// SaysWho reports whether the answer names a person.
func (p *Plan) SaysWho() bool {
	who := p.View.Person()
	return who != nil && p.Asks != "who" && slices.Contains(stated(p), who)
}

// SaysWhere reports whether the answer names a place.
func (p *Plan) SaysWhere() bool {
	return slices.ContainsFunc(stated(p), func(f *schema.Field) bool {
		return f.Text() && (f.Named("city") || f.Named("country") || f.Has(places))
	})
}

var places = speech.Folded("place location site venue street address room region district where ort platz straße adresse raum standort gegend bezirk strecke route")

// LeavesUncovered reports whether a word names a column, and none that the answer covers.
func (p *Plan) LeavesUncovered(words []speech.Token) bool {
	return slices.ContainsFunc(words, func(t speech.Token) bool {
		named, known := false, p.Text.Lex.Small(t)
		for _, f := range p.View.Fields {
			if slices.ContainsFunc(f.Words, func(w speech.Word) bool {
				return !w.Optional && speech.SameWord(t, speech.Token{Fold: w.Fold, Stem: w.Stem})
			}) {
				named = true
				known = known || p.inMeasure(f) || p.filtered(f) || f == p.Counted || slices.Contains(stated(p), f)
			}
		}
		return named && !known
	})
}

// Subject returns the only name whose row is looked up.
func (p *Plan) Subject() string {
	if p.Op != OpLookup && p.Op != OpList || len(p.Filters) != 1 || !p.View.Unique(p.Filters[0].Field) || len(p.Filters[0].values) != 1 || p.Filters[0].not {
		return ""
	}
	return p.Filters[0].values[0]
}

// everyYear reports whether a unit or a column of time only says that all rows count: over all the years.
func (p *explanation) everyYear(x parse.Piece) bool {
	at := x.From - 1
	if at > 1 && p.Text.Tokens[at].Fold == "the" {
		at--
	}
	return at > 0 && (x.Kind == speech.KindUnit || x.Kind == speech.KindField && (x.Field.Yearly() || x.Field.Dated())) && allOf[p.Text.Tokens[at].Fold] && overWords[p.Text.Tokens[at-1].Fold]
}

var overWords = speech.Folded("over across über")

// ByHow reports whether the question asks by how much something changed.
func (p *wording) ByHow() bool {
	for i := 0; i+1 < len(p.Text.Tokens); i++ {
		if a, b := p.Text.Tokens[i].Fold, p.Text.Tokens[i+1].Fold; (a == "by" && b == "how" || a == "um" && strings.HasPrefix(b, "wie")) && !p.share {
			return true
		}
	}
	return false
}

// AsksHeight reports whether the question asks how high something is, or what it is, rather
// than how much of it there is.
func (p *explanation) AsksHeight() bool {
	return len(p.Text.Tokens) > 1 && heights[p.Text.Tokens[1].Fold]
}

var heights = speech.Folded("hoch high is ist s sind are large big")
