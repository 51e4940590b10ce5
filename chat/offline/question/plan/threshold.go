package plan

import (
	"slices"
	"strconv"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// threshold bounds the total or the number of rows of a group: months with more than 30 orders.
type threshold struct {
	Op    string
	N     float64
	field *schema.Field // the column whose sum is bounded; nil if the rows are counted
	rows  string        // what the question calls the rows
}

// countBehind reads a number of rows after a comparison: more than 6 orders. It counts the
// rows of each customer or month; it is not an amount of one row.
func (p *conditions) countBehind(cmp, at int, n float64) (taken bool, reason Reason) {
	k := at + 1
	for k < len(p.Pieces) && p.Pieces[k].Kind == speech.KindValue && p.Pieces[k].From == p.Pieces[k-1].To {
		k++
	}
	if next := p.Pieces[k-1].To; k >= len(p.Pieces) || p.Pieces[k].From != next {
		// A noun that is read as a small word is still what is counted.
		return next < len(p.Text.Tokens) && p.counts(cmp) && (p.Text.Lex.Owners[p.Text.Tokens[next].Fold] || parse.LightDoers[p.Text.Tokens[next].Fold]), ReasonUnclear
	}
	x, rows := p.Pieces[k], p.View.Tables[0].RowCount
	word := p.Text.Tokens[x.From]
	noun := x.Kind == speech.KindField && !x.Field.Measure() || x.Kind == speech.KindEntity
	row := x.Rows() || noun && x.Field != nil && x.Field.Table == 0 && (x.Field.Key() || x.Field.Text()) && p.View.Unique(x.Field)
	switch {
	case p.Text.Sales(word), !row && !noun:
		return false, ""
	case !row:
		return p.counts(cmp), ReasonUnclear // more than 3 towns: not an amount
	}
	several := slices.ContainsFunc(p.View.Fields, func(f *schema.Field) bool {
		return f.Table == 0 && f.Key() && f.Words[0].Stem == word.Stem && f.Distinct < rows // several rows are one order
	})
	if p.Bound != nil || several || p.Pieces[cmp].About != "" {
		return true, ReasonUnclear
	}
	p.used[k] = true
	p.Bound = &threshold{Op: p.Pieces[cmp].Arg, N: n, rows: word.Raw}
	return true, ""
}

// counts reports whether a comparison is about a count.
func (p *explanation) counts(cmp int) bool {
	return counting[p.Text.Tokens[p.Pieces[cmp].From].Fold]
}

var counting = speech.Folded("more fewer less at mehr weniger mindestens höchstens wenigstens")

// boundSum turns a condition on an amount into one on its sum if the question asks for
// times or for names that have several rows: months with more than 60 mm of rain.
func (p *roles) boundSum() {
	if p.Bound != nil || p.hasRows() || p.Aggregate != "" && p.Aggregate != "sum" || len(p.Measures) > 1 {
		return
	}
	limited := func(f Filter) bool { return f.limit != nil }
	at := slices.IndexFunc(p.Filters, limited)
	if at < 0 {
		return
	}
	b, many := p.Filters[at].limit, slices.ContainsFunc(p.Filters[at+1:], limited)
	money := p.Target != nil && p.Target.Text() && p.Target.Table == 0 && !p.View.Unique(p.Target) && p.View.OfMoney(b.field)
	timed := p.Unit != "" || p.Tally != ""
	if many || b.Op == "=" || b.field.Table != 0 || p.Nature(b.field) != "sum" || !timed && !money || len(p.Measures) == 1 && p.Measures[0].Field != b.field {
		return
	}
	p.Bound = b
	p.Filters = slices.Delete(p.Filters, at, at+1)
}

// decideBound determines which groups a threshold applies to.
func (p *Plan) decideBound() Reason {
	b := p.Bound
	p.Measures = nil
	if b.field != nil {
		p.Measures = []Measure{{Field: b.field, How: "sum"}}
	}
	key := p.Target
	switch {
	case p.Tally != "":
		p.Unit, p.Tally = p.Tally, ""
	case p.Unit != "":
	case p.Asks == "many" && p.Counted != nil:
		key = p.Counted
	case p.Asks == "who" && key == nil:
		key = p.View.Person()
	case key == nil:
		key = p.askedFor
	}
	others := slices.ContainsFunc(p.attrs, func(f *schema.Field) bool { return f != key && f != p.Time })
	switch {
	case p.Unit == "" && key == nil, len(p.Groups) > 0, others, p.Counted != nil && p.Asks != "many":
		return ReasonUnclear
	case p.Unit == "" && key.Table == 0 && p.View.Unique(key):
		return ReasonUnclear
	case p.Unit == "" && p.View.NameFor(key) != nil:
		p.Groups = []*schema.Field{p.View.NameFor(key), key}
	case p.Unit == "":
		p.Groups = []*schema.Field{key}
	}
	p.Target, p.Counted, p.Op = nil, nil, OpGroups
	if p.Asks == "many" {
		p.Op = OpMany
	}
	name := b.rows
	p.Called = b.rows
	if b.field != nil {
		name = p.MeasureName(&p.Measures[0])
	}
	if reason := p.needTime(); reason != "" {
		return reason
	}
	of := b.field
	if of == nil && len(p.Groups) > 0 {
		of = p.Groups[0]
	} else if of == nil {
		of = p.Time
	}
	text := name + " " + b.Op + " " + strconv.FormatFloat(b.N, 'f', -1, 64)
	p.Filters = append(p.Filters, Filter{Field: of, Text: text, Condition: func(*Query) string { return "1 = 1" }}) // stated in the answer; the groups are what is bounded
	return ""
}
