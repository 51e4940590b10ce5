package parse

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// unitAt finds the column that the unit at a token stands for: how many kWh.
func (r *Tagger) unitAt(v *schema.View, i int) []Piece {
	t := r.Tokens[i]
	if t.Quoted || len(t.Fold) < 2 {
		return nil
	}
	if f := v.InUnit(t.Fold); f != nil {
		return []Piece{{Kind: speech.KindField, Field: f, From: i, To: i + 1, Weight: 3.5}}
	}
	return nil
}

// moneyAt finds a word for money that stands for the only amount.
func (r *Tagger) moneyAt(v *schema.View, i int) []Piece {
	if v.Coins == nil || r.Tokens[i].Quoted || r.Tokens[i].Part || !slices.Contains(v.CoinWords, r.Tokens[i].Fold) {
		return nil
	}
	return []Piece{{Kind: speech.KindField, Field: v.Coins, From: i, To: i + 1, Weight: 3}}
}

var (
	// surveyed are the people whom a survey asks.
	surveyed = speech.Folded("people guest guests gast gaste visitors besucher users nutzer readers leser participants teilnehmer employees staff mitarbeiter mitarbeitenden")
	// LightWords are other words that restrict nothing.
	LightWords = speech.Folded(`single when while altogether total's ever yet via actually respectively per's using anybody anyone plate per-head sind's worth's door till counter
einzelne einzelner einzelnen einzelnes selber jeweils überhaupt`)
	// LightDoers are people who do what is asked for, where nothing says that they are counted.
	LightDoers = speech.Folded(`customers customer guests guest visitors visitor clients client patients patient shoppers people users user members member residents buyers passengers travellers staff
kunden kundinnen gäste besucher besucherinnen patienten leute nutzer mitglieder käufer fahrgäste personen menschen`)
	// settled are words of columns and values by which what is paid differs from what is not.
	settled = speech.Folded("paid unpaid outstanding overdue due bezahlt unbezahlt offen fällig überfällig ausstehend")
	// PayingVerbs say that money goes out.
	PayingVerbs = speech.Folded("pay pays paid paying bezahlt bezahlte bezahlten bezahlen zahlt zahlte zahlten zahlen gezahlt")
	// Beings are verbs of being; before a participle they make a passive.
	Beings = speech.Folded("are were")
	// parks are vehicles, which a car park names and does not count.
	parks = speech.Folded("car cars")
)

// lightAt reads a word that says nothing about which rows or which figure is meant.
func (r *Tagger) lightAt(v *schema.View, i int) []Piece {
	t := r.Tokens[i]
	if t.Quoted || t.Part || t.Num != nil || strings.ContainsFunc(t.Raw[:1], func(c rune) bool { return c >= 'A' && c <= 'Z' }) && i > 0 && r.Lang == speech.English {
		return nil
	}
	light := Piece{Kind: speech.KindFill, Arg: "light", From: i, To: i + 1, Weight: -4}
	switch {
	case LightWords[t.Fold]:
	case LightDoers[t.Fold]:
		if r.Counted(i) || i == 0 || r.AsksOf(i-1) {
			return nil
		}
		light.Arg, light.Weight = "deed", -3
	case speech.LightParticles[t.Fold]:
		if !slices.ContainsFunc(r.Tokens[:i], func(t speech.Token) bool {
			return speech.LightClasses[t.Fold] != nil || speech.Irregular[t.Fold] != "" || r.Lex.Deeds[t.Fold] || speech.Motion[t.Fold]
		}) {
			return nil
		}
	case speech.LightClasses[t.Fold] == nil, r.Counted(i), i > 0 && r.AsksOf(i-1):
		return nil
	case PayingVerbs[t.Fold] && v.Holds(settled):
		return nil // what is paid is not all that there is
	default:
		light.Arg = "verb"
	}
	return []Piece{light}
}

// thingAt reports whether a token is a noun for the rows that their table does not say: no
// column of another table or of this one is called so. It is counted only where each row
// is one.
func (r *Matcher) thingAt(v *schema.View, i int) (arg string, ok bool) {
	t := r.Tokens[i]
	arg = "rows"
	if !v.Single() {
		if arg = "topic"; i > 0 && (r.Counted(i) || r.Tokens[i-1].Fold == "which" || strings.HasPrefix(r.Tokens[i-1].Fold, "welche") || r.Superlative(i-1)) {
			return "", false
		}
	}
	return arg, !t.Quoted && !t.Part && r.thing(v, t)
}

func (r *Matcher) thing(v *schema.View, t speech.Token) bool {
	for _, o := range r.Views {
		if slices.Contains(o.Entity, t.Stem) || slices.ContainsFunc(o.Fields, func(f *schema.Field) bool {
			return slices.ContainsFunc(f.Words, func(w speech.Word) bool {
				return !(f.Unique(f.Rows) || f.First) && r.Level(t, w) > 2 && !(parks[t.Fold] && w.Stem != f.Head())
			})
		}) {
			return false
		}
	}
	for _, k := range schema.Things {
		if k.Nouns[t.Fold] && slices.ContainsFunc(v.Fields, func(f *schema.Field) bool {
			return f.Table == 0 && f.Has(k.Signs)
		}) {
			return true
		}
	}
	return false
}

// dimensionUnits are the words for what numbers in some units measure.
var dimensionUnits = []struct{ words, units map[string]bool }{
	{speech.Folded("electricity power strom energy energie elektrizitat"), speech.Folded("kwh mwh gwh twh wh")},
	{speech.Folded("heizenergie heizwarme"), speech.Folded("kwh mwh gwh wh")},
	{speech.Folded("water wasser"), speech.Folded("m3 l")},
	{speech.Folded("response latency antwortzeit ladezeit"), speech.Folded("ms s")},
	{speech.Folded("rain rainfall precipitation regen niederschlag"), speech.Folded("mm")},
}

// dimensionAt finds the only column whose unit is of what a token names and whose name says
// nothing else: the electricity of a column "Generation (GWh)".
func (r *Tagger) dimensionAt(v *schema.View, i int) []Piece {
	t := r.Tokens[i]
	if t.Quoted {
		return nil
	}
	var out []Piece
	for _, d := range dimensionUnits {
		if !d.words[t.Fold] {
			continue
		}
		var found []*schema.Field
		for _, f := range v.Fields {
			if f.Table == 0 && f.Factors == nil && f.Measure() && d.units[f.UnitName()] {
				found = append(found, f)
			}
		}
		if len(found) == 1 && r.neutral(found[0]) {
			out = append(out, Piece{Kind: speech.KindField, Field: found[0], From: i, To: i + 1, Weight: 6})
		}
	}
	return out
}

// neutral reports whether the name of a column says nothing but how much: consumption, generation.
func (r *Tagger) neutral(f *schema.Field) bool {
	return !slices.ContainsFunc(f.Words, func(w speech.Word) bool {
		if w.Optional || schema.UnitNames[w.Fold] != "" {
			return false
		}
		for _, c := range []string{"consumption", "generation", "quantity", "amount", "entry", "delivery", "sum"} {
			if r.Lex.Means(w.Stem, c) {
				return false
			}
		}
		return true
	})
}

// ratingAt finds words for a judgement that stand beside the name of what is judged: the
// rating of the workload, where a column Workload holds marks.
func (r *Tagger) ratingAt(v *schema.View, i int) []Piece {
	t := r.Tokens[i]
	if t.Quoted || !(r.Lex.Means(t.Stem, "rating") || r.Lex.Means(t.Stem, "score")) {
		return nil
	}
	scales := 0
	for _, f := range v.Fields {
		if f.Table == 0 && f.Measure() && (f.Named("rating") || f.Named("score")) {
			return nil
		}
		if f.Scale() {
			scales++
		}
	}
	if scales == 0 {
		return nil
	}
	return []Piece{{Kind: speech.KindFill, Arg: "rating", From: i, To: i + 1, Weight: -1}}
}

// entityAt finds the word for the rows of a table, or another word of its name.
func (r *Matcher) entityAt(v *schema.View, i int) (Piece, bool) {
	t := r.Tokens[i]
	p := Piece{Kind: speech.KindEntity, From: i, To: i + 1}
	switch {
	case v.Takings && !r.Counted(i) && r.Sales(t):
		p.Arg, p.Weight = "rows", 1 // sales are amounts where there are some
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
	case !t.Part && slices.ContainsFunc(v.Names, func(n string) bool { return speech.Family(t.Fold, n) }):
		p.Arg, p.Weight = "topic", 2 // charged, of charging.csv
	default:
		arg, ok := r.thingAt(v, i)
		p.Arg, p.Weight = arg, 2
		return p, ok
	}
	return p, true
}

// attachedAt finds the name of another table that the rows lead to, where it is not counted:
// spent on fuel for the vehicles of the depot.
func (r *Tagger) attachedAt(v *schema.View, i int) []Piece {
	t := r.Tokens[i]
	if t.Quoted || t.Part || i == 0 || r.Counted(i) || r.SuperlativeWord(i-1) || strings.HasPrefix(r.Tokens[i-1].Fold, "which") || strings.HasPrefix(r.Tokens[i-1].Fold, "welche") {
		return nil
	}
	for _, o := range v.Tables[1:] {
		if slices.ContainsFunc(schema.SplitName(o.Name), func(w string) bool { return len(w) > 3 && speech.Stem(w) == t.Stem }) {
			return []Piece{{Kind: speech.KindEntity, Arg: "topic", From: i, To: i + 1, Weight: 2}}
		}
	}
	return nil
}

// cut reports whether n tokens from i on are only a part of a word with hyphens: the double of
// double-booked. What names the column of the value is no other word: high-priority.
func (r *Tagger) cut(f *schema.Field, i, n int) bool {
	names := func(t speech.Token) bool {
		return slices.ContainsFunc(f.Words, func(w speech.Word) bool { return speech.SameWord(t, speech.Token{Fold: w.Fold, Stem: w.Stem}) })
	}
	joined := func(a, b speech.Token) bool {
		return !names(a) && !names(b) && !a.Quoted && !b.Quoted && a.To+1 == b.From && b.From <= len(r.Text) && r.Text[a.To:b.From] == "-"
	}
	return r.Lang == speech.English && (i > 0 && joined(r.Tokens[i-1], r.Tokens[i]) || i+n < len(r.Tokens) && joined(r.Tokens[i+n-1], r.Tokens[i+n]))
}

// doer reports whether one word is who does what the other says: call and caller.
func doer(a, b string) bool {
	return a+"er" == b || b+"er" == a || a+"r" == b && len(a) > 3 || b+"r" == a && len(b) > 3
}

// OfOtherRows reports whether a word that seems to say whose data it is names the rows of
// another table: orders, in a list of customers.
func (r *Matcher) OfOtherRows(v *schema.View, t speech.Token) bool {
	in := func(o *schema.View) bool {
		return slices.Contains(o.Entity, t.Stem) || slices.Contains(o.Topics, t.Stem)
	}
	return !in(v) && slices.ContainsFunc(r.Views, in)
}
