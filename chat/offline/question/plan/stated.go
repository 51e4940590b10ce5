package plan

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

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
