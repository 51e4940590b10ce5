package plan

import (
	"cmp"
	"slices"

	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// longestOf returns the column of a concept, or the one that a word of its name and a
// superlative name together: the longest flipper.
func (p *explanation) longestOf(concept string) *schema.Field {
	if f := p.View.FieldOf(concept); f != nil || !slices.ContainsFunc(p.Pieces, func(x parse.Piece) bool { return x.Kind == speech.KindSup && x.About == concept }) {
		return f
	}
	var found *schema.Field
	for _, x := range p.Pieces {
		if x.Kind != speech.KindField {
			continue
		}
		f := x.Field
		if !f.Measure() || !slices.ContainsFunc(schema.SplitName(f.Name), func(w string) bool { return p.Text.Lex.Means(speech.Stem(w), concept) }) || found != nil && found != f {
			return nil
		}
		found = f
	}
	return found
}

// decideCount determines what is counted.
func (p *Plan) decideCount() Reason {
	p.Op = OpCount
	if p.askedFor != nil || p.Asks == "who" || p.Asks == "where" || p.Asks == "when" {
		return ReasonUnclear
	}
	if f := p.units(); f != nil {
		p.Op, p.Measures = OpValue, []Measure{{Field: f, How: cmp.Or(p.Aggregate, "sum")}}
		return p.decideMean()
	}
	if p.Tally != "" {
		if !p.findTime() || p.Time.Yearly() && p.Tally != "year" || p.Counted != nil {
			return ReasonUnclear
		}
		return ""
	}
	if p.Counted == nil && p.distinct {
		if len(p.attrs) != 1 {
			return ReasonUnclear
		}
		p.Counted = p.attrs[0]
		return ""
	}
	if p.Counted != nil && p.oftenAsked() && !p.distinct {
		if p.Counted.Table != 0 || !speech.Verbal(speech.Fold(p.Called)) {
			return ReasonUnclear
		}
		p.Counted = nil // how often did Kühn work: the rows
	}
	if p.Counted != nil {
		own := !p.Counted.Key() && slices.ContainsFunc(p.Counted.Words, func(w speech.Word) bool { return slices.Contains(p.View.Entity, w.Stem) })
		if !own && !p.distinct && !p.View.Unique(p.Counted) && !p.Counted.Key() && p.Counted.Named("product") && p.View.Stocked() {
			return ReasonAmbiguous // articles of one name: how many names, or how many articles
		}
		if (p.View.Unique(p.Counted) || own || p.Counted == p.Either) && p.Counted.Table == 0 && !p.distinct {
			p.Counted = nil
		}
		return ""
	}
	if len(p.attrs) > 0 && !p.onlyTimes() || p.people && !p.View.OfPeople() {
		return ReasonUnclear
	}
	// Orders that span several rows are counted by their key.
	for _, x := range p.Pieces {
		if x.Rows() {
			p.Counted = p.keyOfSeveral(x)
			return ""
		}
	}
	// "How many are open" counts rows; "how many sick days" does not.
	if len(p.Filters) == 0 {
		return ReasonUnclear
	}
	return ""
}

// units returns the number of pieces in each row if products are counted by their names: how many desks did we sell.
func (p *roles) units() *schema.Field {
	if p.Counted != nil && !p.distinct && p.Counted.Named("product") && p.Tally == "" && p.traded() {
		if f := p.View.FieldOf("quantity"); f != nil {
			p.Counted = nil
			return f
		}
	}
	if p.Counted != nil || p.Tally != "" {
		return nil
	}
	x := p.countedValue()
	switch {
	case x == nil:
		return nil
	case p.traded():
		return cmp.Or(p.View.FieldOf("quantity"), p.pieces())
	case x.Field.Named("product"):
		return cmp.Or(p.View.StockField(), p.View.FieldOf("quantity"))
	case x.Field.Table == 0 && p.View.Unique(x.Field):
		return p.View.StockField()
	}
	return nil
}

// countedValue returns the value directly after how many.
func (p *explanation) countedValue() *parse.Piece {
	for i, x := range p.Pieces {
		if x.Kind == speech.KindValue && i > 0 && p.Pieces[i-1].Kind == speech.KindAsk && p.Pieces[i-1].Arg == "many" {
			return &p.Pieces[i]
		}
	}
	return nil
}

// pieces returns the only whole number of things in each row: cups.
func (p *wording) pieces() *schema.Field {
	if !p.trading() {
		return nil
	}
	return schema.Only(p.View.Fields, func(f *schema.Field) bool {
		return f.Table == 0 && f.Type == "integer" && f.Measure() && p.Nature(f) == "sum" && !p.View.OfMoney(f) && sizesOf[f.UnitName()].n <= 0
	})
}
