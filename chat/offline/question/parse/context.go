package parse

import (
	"slices"

	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// context says what words mean beside certain other words or in certain tables: a column that they do not name, or nothing.
type context struct {
	words map[string]bool
	// after, before and beside are the words of which one precedes, follows or is anywhere in the question; nil allows all.
	after, before, beside map[string]bool
	// last means that only the last word of a question means it.
	last bool
	// when reports whether the words mean it in a table; nil means in all.
	when func(v *schema.View) bool
	// field is the column that the words stand for; nil means that they say nothing.
	field func(v *schema.View) *schema.Field
	// arg and weight are those of the piece.
	arg    string
	weight float64
}

// contexts are the words that depend on others, or on the table.
var contexts = []context{
	// body mass
	{words: speech.Folded("body"), before: speech.Folded("weight weights mass length height temperature temp size")},
	// who left the field empty
	{words: speech.Folded("left leave leaves gelassen lassen ließen"), beside: speech.Folded("empty blank unanswered leer frei")},
	// arrived late
	{words: speech.Folded("arrived arrive arrives delivered angekommen geliefert"), before: speech.Folded("late early damaged on verspätet pünktlich")},
	// quantity times price worth
	{words: speech.Folded("worth"), beside: speech.Folded("times multiplied")},
	// than to a 2D one
	{words: speech.Folded("one ones"), last: true, weight: 7},
	// how many wheelbarrows have we got left
	{words: speech.Folded("left übrig"), after: speech.Folded("got have are noch is"), last: true, when: func(v *schema.View) bool { return v.StockField() != nil }},
	// vegetarian meals
	{words: speech.Folded("meal meals lunch lunches dinner dinners portion portions essen gerichte mahlzeiten portionen"), after: speech.Folded("vegetarian vegan vegetarisch meat fleisch fish fisch halal")},
	// the rating of the workload, if a column Workload holds marks
	{words: speech.Folded("rating ratings rated rate rates stars score scores bewertung bewertungen bewertet bewerten points grade grades mark marks note noten punkte punktzahl scored bewerten satisfaction satisfied happy zufriedenheit zufrieden"), arg: "rating", weight: -1, when: func(v *schema.View) bool {
		return slices.ContainsFunc(v.Fields, (*schema.Field).Scale) && !slices.ContainsFunc(v.Fields, func(f *schema.Field) bool {
			return f.Table == 0 && f.Measure() && (f.Named("rating") || f.Named("score"))
		})
	}},
	// how many people come, if a column Audience counts them
	{words: speech.Folded("people persons leute menschen personen"), weight: 4, when: func(v *schema.View) bool { return !v.OfPeople() }, field: func(v *schema.View) *schema.Field {
		return schema.Only(v.Fields, func(f *schema.Field) bool {
			return f.Table == 0 && f.Type == "integer" && f.Measure() && f.Named("visitor")
		})
	}},
	// how high the water stood
	{words: speech.Folded("wasser water river fluss"), beside: speech.Folded("stand stands stood steht standen rose höchsten niedrigsten tiefsten high highest low lowest"), weight: 9, field: func(v *schema.View) *schema.Field {
		return schema.Only(v.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Measure() && f.Named("level") })
	}},
	// the only number in a unit of time
	{words: speech.Folded("lasted last lasts dauerte dauerten dauert dauern gedauert"), weight: 3, when: func(v *schema.View) bool { return v.FieldOf("duration") == nil }, field: (*schema.View).DurationField},
	// what orders are worth
	{words: speech.Folded("worth wert"), weight: 6, when: func(v *schema.View) bool {
		return v.MoneyField != nil && !v.MoneyField.Mixed() && !speech.DefaultLexicon().Means(v.MoneyField.Head(), "price") && v.StockField() == nil
	}, field: func(v *schema.View) *schema.Field { return v.MoneyField }},
}

// contextAt returns what a word means by the words around it and by the table.
func (r *Tagger) contextAt(v *schema.View, i int) []Piece {
	t := r.Tokens[i]
	if t.Quoted {
		return nil
	}
	word := func(words map[string]bool, k int) bool {
		return words == nil || k >= 0 && k < len(r.Tokens) && words[r.Tokens[k].Fold]
	}
	var out []Piece
	for _, c := range contexts {
		if !c.words[t.Fold] || !word(c.after, i-1) || !word(c.before, i+1) || c.last && (i < len(r.Tokens)-1 || i < 2) || c.when != nil && !c.when(v) ||
			c.beside != nil && !slices.ContainsFunc(r.Tokens, func(o speech.Token) bool { return c.beside[o.Fold] }) {
			continue
		}
		if c.field == nil {
			out = append(out, Piece{Kind: speech.KindFill, Arg: c.arg, From: i, To: i + 1, Weight: c.weight})
			continue
		}
		out = append(out, fieldPiece(c.field(v), i, c.weight)...)
	}
	if len(t.Fold) > 1 {
		out = append(out, fieldPiece(v.InUnit(t.Fold), i, 3.5)...) // how many kWh
	}
	if v.MoneyField != nil && !t.Part && slices.Contains(v.MoneyWords, t.Fold) {
		out = append(out, fieldPiece(v.MoneyField, i, 3)...)
	}
	if vessels[t.Fold] && r.Counted(i) && i+1 < len(r.Tokens) && (OfWords[r.Tokens[i+1].Fold] || r.Lang == speech.German) && v.StockField() != nil {
		out = append(out, Piece{Kind: speech.KindFill, From: i, To: i + 1})
	}
	return out
}

// vessels are what pieces come in: how many tins of paint.
var vessels = speech.Folded("tin tins can cans box boxes bottle bottles bag bags jar jars pack packs packet packets roll rolls tub tubs crate crates sack sacks tube tubes carton cartons dose dosen flasche flaschen kiste kisten packung packungen sacke rolle rollen karton kartons tuben glas glaser")
