package parse

import (
	"slices"
	"strings"
	"unicode"

	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// surveyed are words for the people whom a survey asks.
var surveyed = speech.Folded("people guest guests gast gaste visitors besucher users nutzer readers leser participants teilnehmer employees staff mitarbeiter mitarbeitenden")

// LightWords are other words that restrict nothing.
var LightWords = speech.Folded(`single when while altogether ever yet via actually respectively using anybody anyone plate door till counter
einzelne einzelner einzelnen einzelnes selber jeweils überhaupt`)

// LightDoers are words for people who do what is asked about, unless the question counts them.
var LightDoers = speech.Folded(`customers customer guests guest visitors visitor clients client patients patient shoppers people users user members member residents buyers passengers travellers staff
kunden kundinnen gäste besucher besucherinnen patienten leute nutzer mitglieder käufer fahrgäste personen menschen`)

// settled are words of columns and values that distinguish what is paid from what is not.
var settled = speech.Folded("paid unpaid outstanding overdue due bezahlt unbezahlt offen fällig überfällig ausstehend")

// lightAt reads a word that does not say which rows or which figure is meant.
func (r *Tagger) lightAt(v *schema.View, i int) []Piece {
	t := r.Tokens[i]
	if t.Quoted || t.Part || t.Num != nil || strings.ContainsFunc(t.Raw[:1], func(c rune) bool { return c >= 'A' && c <= 'Z' }) && i > 0 && r.Lang == speech.English {
		return nil
	}
	light := Piece{Kind: speech.KindFill, Arg: "light", From: i, To: i + 1, Weight: -4}
	switch {
	case LightWords[t.Fold]:
	case LightDoers[t.Fold]:
		if i == 0 || r.AskedFor(i) {
			return nil
		}
		light.Arg, light.Weight = "deed", -3
	case speech.LightParticles[t.Fold]:
		if !slices.ContainsFunc(r.Tokens[:i], r.Doing) {
			return nil
		}
	case speech.LightClasses[t.Fold] == nil, r.AskedFor(i):
		return nil
	case PayingVerbs[t.Fold] && v.Holds(settled):
		return nil // what is paid is not all that there is
	case r.completes(v, t):
		return nil
	default:
		light.Arg = "verb"
	}
	return []Piece{light}
}

// completes reports whether a verb says which rows have a race time, if not all have one: who finished did not only start.
func (r *Tagger) completes(v *schema.View, t speech.Token) bool {
	return speech.Verbal(t.Fold) && slices.ContainsFunc(v.Fields, func(f *schema.Field) bool { return f.Clock() && f.Gaps() && r.Level(t, f.Words[0]) > 0 })
}

// PayingVerbs say that money goes out.
var PayingVerbs = speech.Folded("pay pays paid paying bezahlt bezahlte bezahlten bezahlen zahlt zahlte zahlten zahlen gezahlt")

var agreeing = speech.Folded("agree agrees agreed stimmen stimmt zustimmen zugestimmt")

var opposing = speech.Folded("disagree disagrees disagreed widersprechen ablehnen")

var intensity = speech.Folded("strongly fully completely totally somewhat slightly partly mostly tend neither rather voll vollig ganz eher teilweise teils gar uberhaupt weder kaum")

// likertAt finds all values of one side of a scale if a question says agree, but not how much.
func (r *Tagger) likertAt(f *schema.Field, i int) []Piece {
	t, to := r.Tokens[i], i+1
	side := map[bool]int{true: 1}[agreeing[t.Fold]]
	if opposing[t.Fold] {
		side = -1
	}
	word := func(k int) string {
		if k < 0 || k >= len(r.Tokens) {
			return ""
		}
		return r.Tokens[k].Fold
	}
	if word(to) == "nicht" {
		side, to = -side, to+1
	}
	if side == 0 || t.Quoted || intensity[word(i-1)] || intensity[word(to)] || !f.Likert() {
		return nil
	}
	var values []string
	for _, v := range f.Values {
		if s, _ := v.(string); schema.Stance(s) == side {
			values = append(values, s)
		}
	}
	return []Piece{{Kind: speech.KindValue, Arg: "side", Field: f, Values: values, From: i, To: to, Weight: 14 * float64(to-i)}}
}

// Beings are verbs of being; before a participle they make a passive.
var Beings = speech.Folded("are were")

// parks are words for vehicles that the name of a car park mentions and does not count.
var parks = speech.Folded("car cars")

// thingAt reports whether a token is a noun for the rows that their table does not state: no
// column of this or another table is called that. It is counted only if each row is one thing.
func (r *Matcher) thingAt(v *schema.View, i int) (arg string, ok bool) {
	t := r.Tokens[i]
	arg = "rows"
	if !v.Single() {
		arg = "topic"
		if r.AskedFor(i) {
			return "", false
		}
	}
	if t.Quoted || t.Part || slices.ContainsFunc(r.Views, func(o *schema.View) bool {
		return slices.Contains(o.Entity, t.Stem) || slices.ContainsFunc(o.Fields, func(f *schema.Field) bool {
			return slices.ContainsFunc(f.Words, func(w speech.Word) bool {
				return !(f.Unique(f.Rows) || f.First) && r.Level(t, w) > 2 && !(parks[t.Fold] && w.Stem != f.Head())
			})
		})
	}) {
		return "", false
	}
	return arg, slices.ContainsFunc(schema.Things, func(k schema.Thing) bool {
		return k.Nouns[t.Fold] && slices.ContainsFunc(v.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Has(k.Signs) })
	})
}

// gerund reports whether two words are a verb and its -ing form: move, moving.
func gerund(a, b string) bool {
	if strings.HasSuffix(a, "ing") {
		a, b = b, a
	}
	base, ok := strings.CutSuffix(b, "ing")
	return ok && len(base) > 2 && (a == base || a == base+"e")
}

// dimensionUnits are words for what numbers in some units measure, and words that say so only after a unit: m³ of gas.
var dimensionUnits = []struct{ words, ofUnit, units map[string]bool }{
	{speech.Folded("electricity power strom energy energie elektrizitat heizenergie heizwarme"), speech.Folded("heating heat warme"), speech.Folded("kwh mwh gwh twh wh")},
	{speech.Folded("water wasser"), speech.Folded("gas"), speech.Folded("m3 l")},
	{speech.Folded("response latency antwortzeit ladezeit"), nil, speech.Folded("ms s")},
	{speech.Folded("rain rainfall precipitation regen niederschlag"), speech.Folded("snow schnee"), speech.Folded("mm")},
}

// dimensionAt finds the only column whose unit measures what a token names and whose name
// says nothing else: the electricity of a column "Generation (GWh)".
func (r *Tagger) dimensionAt(v *schema.View, i int) []Piece {
	t := r.Tokens[i]
	if t.Quoted {
		return nil
	}
	var out []Piece
	for _, d := range dimensionUnits {
		if !d.words[t.Fold] && (!d.ofUnit[t.Fold] || i < 2 || r.Tokens[i-1].Fold != "of" && schema.UnitNames[r.Tokens[i-1].Fold] == "") {
			continue
		}
		var found []*schema.Field
		for _, f := range v.Fields {
			if f.Table == 0 && f.Factors == nil && f.Measure() && (d.units[f.UnitName()] || d.units[spelledUnit(f.Name)]) {
				found = append(found, f)
			}
		}
		if len(found) > 1 {
			found = slices.DeleteFunc(found, func(f *schema.Field) bool { return !r.produced(f) })
		}
		if len(found) == 1 && (r.neutral(found[0]) || r.produced(found[0])) {
			out = append(out, Piece{Kind: speech.KindField, Field: found[0], From: i, To: i + 1, Weight: 6})
		}
	}
	return out
}

// produced reports whether a column and the question are both about what is generated.
func (r *Tagger) produced(f *schema.Field) bool {
	return (f.Named("generation") || f.Named("yield")) && slices.ContainsFunc(r.Tokens, func(t speech.Token) bool { return slices.Contains(speech.LightClasses[t.Fold], "power") })
}

// neutral reports whether the name of a column only says how much: consumption, generation.
func (r *Tagger) neutral(f *schema.Field) bool {
	if spelledUnit(f.Name) != "" {
		return true
	}
	return !slices.ContainsFunc(f.Words, func(w speech.Word) bool {
		if w.Optional || schema.UnitNames[w.Fold] != "" {
			return false
		}
		for _, c := range []string{"consumption", "generation", "quantity", "amount", "entry", "delivery"} {
			if r.Lex.Means(w.Stem, c) {
				return false
			}
		}
		return true
	})
}

var placeWords = speech.Folded("city cities town towns stadt stadte stadten ort orte orten")

var placeColumns = speech.Folded("location locations site sites standort standorte place places station stations venue office offices buro hub depot")

// placeAt finds the column of places whose known values can all be names of towns.
func (r *Tagger) placeAt(v *schema.View, i int) []Piece {
	if r.Tokens[i].Quoted || !placeWords[r.Tokens[i].Fold] {
		return nil
	}
	var found *schema.Field
	for _, f := range v.Fields {
		if f.Table != 0 || !f.Text() || f.Names != nil || f.Key() {
			continue
		}
		if slices.ContainsFunc(f.Words, func(w speech.Word) bool { return r.Lex.Means(w.Stem, "city") && w.Fold != "ort" }) {
			return nil
		}
		if f.Has(placeColumns) {
			if found != nil || !properNames(f.Values) {
				return nil
			}
			found = f
		}
	}
	return fieldPiece(found, i, 3)
}

// properNames reports whether all values begin with a capital and contain no digits.
func properNames(values []any) bool {
	return len(values) > 0 && !slices.ContainsFunc(values, func(x any) bool {
		s, _ := x.(string)
		return s == "" || !unicode.IsUpper([]rune(s)[0]) || strings.ContainsFunc(s, unicode.IsDigit)
	})
}

// entityAt finds the word for the rows of a table, or another word of its name.
func (r *Matcher) entityAt(v *schema.View, i int) (Piece, bool) {
	t := r.Tokens[i]
	p := Piece{Kind: speech.KindEntity, From: i, To: i + 1}
	switch {
	case r.completes(v, t):
		return p, false
	case v.HasRevenue && !r.Counted(i) && r.Sales(t):
		p.Arg, p.Weight = "rows", 1 // sales are amounts if there are any
	case slices.Contains(v.Entity, t.Stem):
		p.Arg, p.Weight = "rows", 5
	case slices.Contains(v.Topics, t.Stem) || slices.Contains(v.Topics, t.Fold):
		p.Arg, p.Weight = "topic", 5
	case t.Quoted:
		return p, false
	case slices.ContainsFunc(v.Entity, func(e string) bool { return r.Lex.Shared(e, t.Stem) }):
		p.Arg, p.Weight = "rows", 4
	case r.Lex.Means(t.Stem, "entry"):
		p.Arg, p.Weight = "rows", 3
	case slices.ContainsFunc(v.Topics, func(e string) bool {
		return len(e) >= 4 && !r.Tokens[i].Part && len(t.Stem) <= len(e)+5 && strings.HasPrefix(t.Stem, e) && !strings.ContainsAny(t.Stem, "0123456789")
	}):
		p.Arg, p.Weight = "rows", 3 // Tankungen of the Tankbuch
	case v.Survey && (r.Lex.Means(t.Stem, "customer") || surveyed[t.Fold]):
		p.Arg, p.Weight = "topic", 1 // our customers, who were asked
	case !r.Tokens[i].Part && slices.ContainsFunc(v.Names, func(n string) bool { return speech.Family(t.Fold, n) || speech.Family(paidIn(t.Fold), n) }):
		p.Arg, p.Weight = "topic", 2 // charged, of charging.csv
	case !r.Tokens[i].Part && slices.ContainsFunc(v.Names, func(n string) bool { return gerund(t.Fold, n) }):
		p.Arg, p.Weight = "topic", 2 // our move, of moving.csv
	default:
		arg, ok := r.thingAt(v, i)
		p.Arg, p.Weight = arg, 2
		return p, ok
	}
	return p, true
}
