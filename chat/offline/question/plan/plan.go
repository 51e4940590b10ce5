// Package plan turns an explanation of a question into one query plan: what the words ask, the
// conditions on the rows, the roles of the columns, then the operation. Finally, a review refuses a
// plan that leaves out a part of the question. The package returns no errors: a plan that cannot be
// made has a Reason. Of the packages of question, it imports only speech, schema and parse.
package plan

import (
	"slices"

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

// The operations of plans.
const (
	OpValue   = "value"
	OpGroups  = "groups"
	OpRank    = "rank"
	OpCount   = "count"
	OpShare   = "share"
	OpChange  = "change"
	OpTrend   = "trend"
	OpCompare = "compare"
	OpLookup  = "lookup"
	OpList    = "list"
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
	Text   *parse.Matcher
	View   *schema.View
	Pieces []parse.Piece
	used   []bool // the pieces that have a role
	Weight float64
}

// wording is what the words of the grammar ask, before any column has a role.
type wording struct {
	explanation
	Asks        string // the first asking word: many, much, which, who, when, where, list, change
	Aggregate   string
	Trend       string
	Superlative *parse.Piece
	more        *parse.Piece // more, warmer: a comparison of two
	diff        bool
	versus      bool
	share       bool
	distinct    bool
	people      bool // how many people: rows that are people
}

// conditions are what the rows must meet, including times.
type conditions struct {
	wording
	Filters []Filter
	Periods []speech.Period
	Time    *schema.Field
	Either  *schema.Field // the column whose two values are compared
}

// roles are the roles of the named columns in the question: measures, groups and targets.
type roles struct {
	conditions
	Op       string
	Measures []Measure
	// Counted is the column whose distinct values are counted; nil counts rows.
	Counted *schema.Field
	Target  *schema.Field
	Unit    string // a unit of time as target or group
	Groups  []*schema.Field
	N       int
	attrs   []*schema.Field // text and date columns that are asked for
	PerRow  bool            // per order, where each row is an order
	perKey  *schema.Field   // the key of what a mean is per
	Tally   string          // the unit of time that is counted: on how many days
	Called  string          // what the question calls the things that are counted
	asked   *schema.Field   // the column of times that is asked for: on which day
}

// Plan is an operation with everything that it needs.
type Plan struct {
	roles
	Outflow bool // the sum is of outgoing amounts, which are negative in the table
}

// New fills the slots from an explanation; a Reason says why it does not form a question.
func New(r *parse.Matcher, v *schema.View, c parse.Cover) (*Plan, Reason) {
	p := &Plan{}
	p.explanation = explanation{Language: r.Lang, Text: r, View: v, Weight: c.Weight}
	for _, x := range c.Pieces {
		switch x.Kind {
		case speech.KindUnknown:
			return nil, ReasonUnknown
		case speech.KindNever:
			return nil, ReasonBeyond
		case speech.KindFill:
			if x.Arg == "owner" && !p.owned(c, x) {
				return nil, ReasonUnknown
			}
		default:
			p.Pieces = append(p.Pieces, x)
		}
	}
	p.used = make([]bool, len(p.Pieces))
	for _, step := range []func() Reason{p.words, p.joinNames, p.timeWords, p.takeConditions, p.truths, p.targets, p.checkUnusedPieces, p.totals, p.decide} {
		if reason := step(); reason != "" {
			return nil, reason
		}
	}
	return p, (&review{p}).unanswered(c.Pieces)
}

// receivers are words before a recipient: what was given to the hospital is not all that was given.
var receivers = speech.Folded("to for by towards an fur")

// owned reports whether a word like museum or team only says whose data it is, or of which kind a value is.
func (p *explanation) owned(c parse.Cover, x parse.Piece) bool {
	switch {
	case p.Text.OfOtherRows(p.View, p.word(x)):
		return false
	case p.Text.Lex.Means(p.word(x).Stem, "amount") && p.View.HoldsMoney() && !slices.ContainsFunc(c.Pieces, func(o parse.Piece) bool {
		return o.To == x.From && o.Field != nil && p.View.OfMoney(o.Field)
	}):
		return false // the value of a stock is no number of pieces
	case speech.Articles[p.Text.Tokens[x.From-1].Fold]:
		return x.From < 2 || !receivers[p.Text.Tokens[x.From-2].Fold]
	}
	return slices.ContainsFunc(c.Pieces, func(o parse.Piece) bool {
		return (o.Kind == speech.KindField || o.Kind == speech.KindValue) && o.To == x.From
	})
}

// near returns the piece at an offset from another one, including used pieces; the zero Piece if there is none.
func (p *explanation) near(i, step int) parse.Piece {
	if k := i + step; k >= 0 && k < len(p.Pieces) {
		return p.Pieces[k]
	}
	return parse.Piece{}
}

// word returns the first word of a piece.
func (p *explanation) word(x parse.Piece) speech.Token { return p.Text.Tokens[x.From] }

// says reports whether the question contains one of some words.
func (p *explanation) says(words map[string]bool) bool {
	return slices.ContainsFunc(p.Text.Tokens, func(t speech.Token) bool { return words[t.Fold] && !t.Quoted })
}

func (p *explanation) has(is func(parse.Piece) bool) bool { return slices.ContainsFunc(p.Pieces, is) }

func (p *explanation) hasRows() bool { return p.has(parse.Piece.Rows) }

// Asked returns what the question word before a piece asks, skipping superlatives, numbers, aggregates and values;
// empty if there is none.
func (p *wording) Asked(i int) string {
	for k := i - 1; k >= 0; k-- {
		switch p.Pieces[k].Kind {
		case speech.KindAsk:
			if p.Pieces[k].Arg == "people" || p.Pieces[k].Arg == "times" {
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

// isGroupedBy reports whether the result is grouped by a piece.
func (p *explanation) isGroupedBy(i int) bool {
	for k := i - 1; k >= 0; k-- {
		switch p.Pieces[k].Kind {
		case speech.KindBy:
			return true
		case speech.KindJoin:
			// by region and product
			return k > 0 && (p.Pieces[k-1].Kind == speech.KindField || p.Pieces[k-1].Kind == speech.KindUnit) && p.isGroupedBy(k-1)
		case speech.KindAgg:
		default:
			return false
		}
	}
	return false
}

// First returns the first measure; nil counts rows.
func (p *roles) First() *Measure {
	if len(p.Measures) == 0 {
		return nil
	}
	return &p.Measures[0]
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

// UnitName returns the unit of time of the groups in the language of the question.
func (p *roles) UnitName() string {
	n := map[string][2]string{"year": {"year", "Jahr"}, "quarter": {"quarter", "Quartal"}, "month": {"month", "Monat"}, "day": {"day", "Tag"}, "weekday": {"weekday", "Wochentag"}, "hour": {"hour", "Stunde"}}[p.Unit]
	return p.Say(n[0], n[1])
}

// KeyFields returns the columns that rows are grouped by.
func (p *Plan) KeyFields() []*schema.Field {
	switch {
	case p.Op == OpCompare:
		return []*schema.Field{p.Either}
	case p.Op != OpRank || p.Target == nil:
		return p.Groups
	case p.View.NameFor(p.Target) != nil:
		return []*schema.Field{p.View.NameFor(p.Target), p.Target}
	case p.Target.Named("month") && p.Target.Type != "date":
		// A month of several years is several months.
		for _, f := range p.View.Fields {
			if f.Table == p.Target.Table && f.Yearly() && f.Distinct > 1 && !p.filtered(f) {
				return []*schema.Field{f, p.Target}
			}
		}
	}
	return []*schema.Field{p.Target}
}

// KeyOf returns the columns of the keys; nil stands for a unit of time.
func (p *Plan) KeyOf() []*schema.Field {
	var out []*schema.Field
	for _, g := range p.KeyFields() {
		if g != p.Time || p.Unit == "" {
			out = append(out, g)
		}
	}
	switch {
	case p.Unit == "":
	case p.Time != nil && !p.Time.Dated():
		out = append(out, p.Time)
	default:
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
func (p *Plan) RowKey() *schema.Field {
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
		return f.Table == 0 && f.Key() && len(f.Words) > 1 && f.Words[0].Stem == p.word(entity).Stem && f.Missing == 0 && !f.DistinctCapped && f.Distinct < p.View.Tables[0].RowCount
	})
	if at < 0 {
		return nil
	}
	return p.View.Fields[at]
}

// nameOfSeveral returns the column that names the things of a word if each has several rows: the countries of countries.csv,
// with a row for each year.
func (p *explanation) nameOfSeveral(entity parse.Piece) *schema.Field {
	return schema.Only(p.View.Fields, func(f *schema.Field) bool {
		return f.Text() && f.Head() == p.word(entity).Stem && p.severalRowsEach(f)
	})
}

// severalRowsEach reports whether each value of a column has two rows or more on average.
func (p *explanation) severalRowsEach(f *schema.Field) bool {
	first := ""
	if len(f.Values) > 0 {
		first, _ = f.Values[0].(string)
	}
	_, isPeriod := p.Text.ValuePeriod(first) // the months of several years
	return f.Table == 0 && !isPeriod && !f.DistinctCapped && 2*f.Distinct <= p.View.Tables[0].RowCount
}

// filtered reports whether a condition is about a column.
func (p *conditions) filtered(f *schema.Field) bool {
	return slices.ContainsFunc(p.Filters, func(x Filter) bool { return x.Field == f && !x.Total })
}

// times returns the number of conditions that are times.
func (p *conditions) times() int {
	n := 0
	for _, f := range p.Filters {
		if f.Period != nil {
			n++
		}
	}
	return n
}

// inMeasure reports whether a column is a measure or a factor of one.
func (p *roles) inMeasure(f *schema.Field) bool {
	return slices.ContainsFunc(p.Measures, func(m Measure) bool { return m.Field == f })
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
		if f != p.Target && !(p.Op == OpList && (p.filtered(f) || f.Key() && p.says(trades))) { // who bought it: not their orders
			out = append(out, f)
		}
	}
	for _, m := range p.Measures {
		out = append(out, m.Field)
	}
	return out
}

// States reports whether the answer of a ranking states what some words ask for.
func (p *Plan) States(words []speech.Token) bool {
	if p.Superlative == nil || p.Op != OpRank && p.Op != OpValue {
		return false
	}
	fields := slices.Clone(p.KeyFields())
	if m := p.First(); m != nil {
		fields = append(fields, m.Field)
	}
	return !slices.ContainsFunc(words, func(t speech.Token) bool {
		how := slices.IndexFunc(p.Text.Lex.Phrases[t.Fold], func(x speech.Phrase) bool { return x.Kind == speech.KindAgg && len(x.Words) == 1 })
		if how >= 0 && (p.First() == nil || p.Text.Lex.Phrases[t.Fold][how].Arg != p.First().How) {
			return true
		}
		return !p.Text.Lex.Small(t) && !schema.Selling[t.Fold] && !slices.ContainsFunc(fields, func(f *schema.Field) bool {
			return f.UnitName() != "" && f.UnitName() == schema.UnitNames[t.Fold] || slices.ContainsFunc(f.Words, func(w speech.Word) bool { return p.Text.Level(t, w) > 2 })
		})
	})
}

// ByHow reports whether the question asks by how much something changed.
func (p *wording) ByHow() bool {
	for i := 1; i < len(p.Text.Tokens); i++ {
		if a, b := p.Text.Tokens[i-1].Fold, p.Text.Tokens[i].Fold; a == "by" && b == "how" || a == "um" && (b == "wie" || b == "wieviel") {
			return true
		}
	}
	return false
}

// Repeats reports whether one of the counted things may count several times: a book, each time that it is borrowed.
func (p *roles) Repeats() bool {
	return p.Counted != nil && !p.distinct && (p.Counted.Named("product") || p.Counted.Named("book"))
}

// Restricts reports whether the plan has a condition.
func (p *Plan) Restricts() bool {
	return slices.ContainsFunc(p.Filters, func(f Filter) bool { return !f.Total })
}
