package parse

import (
	"slices"
	"strings"

	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// LightDoers are words for people who do what is asked about, unless the question counts them.
var LightDoers = speech.Folded(`customers guests visitors clients patients shoppers people users members residents buyers passengers travellers staff
kunden kundinnen gäste besucher besucherinnen patienten leute nutzer mitglieder käufer fahrgäste personen menschen`)

var left, empty = speech.Folded("left leave leaves ließen"), speech.Folded("empty blank unanswered leer frei")

// works are stems of things that are published.
var works = speech.Stems("movie film book album song track single game app version product model report record show series title")

// paying are verbs beside a column that says how something was paid.
var paying = speech.Folded("pay pays paid paying bezahlt bezahlten zahlen zahlten")

// OfWords join a noun with what it belongs to.
var OfWords = speech.Folded("of von")

// fillersAt returns the ways in which a token may say nothing: small words, words for what was done or whose data it is.
func (r *Matcher) fillersAt(v *schema.View, i int) []Piece {
	t := r.Tokens[i]
	if t.Quoted {
		return nil
	}
	var out []Piece
	add := func(arg string, weight float64) {
		out = append(out, Piece{Kind: speech.KindFill, Arg: arg, From: i, To: i + 1, Weight: weight})
	}
	fill := r.Lex.Fillers[t.Fold] && !(t.Fold == "man" && r.Lang == speech.English)
	if len(t.Fold) == 1 && t.Num == nil { // a capital is a name: of D
		unit := i > 0 && r.Tokens[i-1].Num != nil && schema.UnitNames[t.Fold] != "" // 15 m are not 15 of anything
		fill = t.Fold != "%" && !unit && (t.Raw == t.Fold || t.Raw == "I" || i == 0 || strings.HasSuffix(r.Text[:t.From], "°"))
	}
	if i > 0 && (t.Fold == "time" || t.Fold == "zeit") && (r.Tokens[i-1].Fold == "much" || r.Tokens[i-1].Fold == "viel" || r.Tokens[i-1].Fold == "on") {
		fill = false // how much time; on time
	}
	passively := i > 0 && speech.Beings[r.Tokens[i-1].Fold]                                                                                                          // errors were logged on 4 May
	loggedIn := !passively && t.Fold == "logged" && i+1 < len(r.Tokens) && (r.Tokens[i+1].Fold == "in" || r.Tokens[i+1].Fold == "on" || r.Tokens[i+1].Fold == "out") // says which rows
	// Films are released, and so are animals.
	released := t.Fold == "released" && slices.ContainsFunc(v.Entity, func(w string) bool { return works[w] })
	if fill && !loggedIn || released {
		add("", 0)
	}
	sells := v.HasRevenue || slices.ContainsFunc(v.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Named("quantity") && f.Measure() })
	if sells && !(r.Counted(i) && r.Sales(t)) && schema.Selling[t.Fold] && t.Fold != "unit" && t.Fold != "list" {
		add("", map[bool]float64{true: 8}[t.Fold == "sell" || t.Fold == "sells"]) // the rows are sales
	}
	if left[t.Fold] && slices.ContainsFunc(r.Tokens, func(o speech.Token) bool { return empty[o.Fold] }) {
		add("", 0) // who left the field empty
	}
	if r.Lex.ActionVerbs[t.Fold] {
		add("deed", -2)
	}
	if r.Lex.Owners[t.Fold] && i > 0 {
		add("owner", -1)
	}
	named := r.Lang == speech.English && t.Raw[0] >= 'A' && t.Raw[0] <= 'Z' // a name in an English sentence
	if i == 0 || t.Part || named || r.AskedFor(i) {
		return out
	}
	if LightDoers[t.Fold] {
		add("deed", -3)
	}
	if speech.LightVerbs[t.Fold] || paying[t.Fold] && slices.ContainsFunc(v.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Text() && f.Named("payment") }) {
		add("light", -4)
	}
	return out
}

// substances are words for what numbers in some units measure: the electricity of a column Generation (GWh).
var substances = []struct{ words, units map[string]bool }{
	{speech.Folded("electricity power strom energy energie elektrizitat heizenergie"), speech.Folded("kwh mwh gwh twh wh")},
	{speech.Folded("water wasser"), speech.Folded("m3 l")},
}

var made = speech.Folded("generate generated produce produced erzeugt erzeugte produziert")

// substanceAt finds the only column in a unit that measures what a token names, if its name only says how much: consumption.
func (r *Tagger) substanceAt(v *schema.View, i int) *schema.Field {
	for _, s := range substances {
		if !s.words[r.Tokens[i].Fold] {
			continue
		}
		measures := func(f *schema.Field) bool { return f.Table == 0 && f.Measure() && s.units[f.UnitName()] }
		f := schema.Only(v.Fields, measures)
		if f == nil && slices.ContainsFunc(r.Tokens, func(t speech.Token) bool { return made[t.Fold] }) {
			f = schema.Only(v.Fields, func(f *schema.Field) bool { return measures(f) && (f.Named("generation") || f.Named("yield")) })
		}
		if f != nil && slices.ContainsFunc([]string{"consumption", "generation", "quantity", "amount", "yield"}, func(c string) bool { return r.Lex.Means(f.Head(), c) }) {
			return f
		}
	}
	return nil
}

// columnsAt finds the only columns that a token names by a unit, by a general word for money, or by what is measured.
func (r *Tagger) columnsAt(v *schema.View, i int) []Piece {
	var out []Piece
	add := func(f *schema.Field, weight float64) {
		if f != nil {
			out = append(out, Piece{Kind: speech.KindField, Field: f, From: i, To: i + 1, Weight: weight})
		}
	}
	t := r.Tokens[i]
	if t.Quoted || len(t.Fold) < 2 {
		return nil
	}
	add(v.InUnit(t.Fold), 3.5) // how many kWh
	add(r.substanceAt(v, i), 6)
	ours := v.Incoming && t.Fold != "money" && t.Fold != "geld" && slices.ContainsFunc(r.Tokens, func(o speech.Token) bool { return Ourselves[o.Fold] })
	if !t.Part && !ours && slices.Contains(v.MoneyWords, t.Fold) {
		add(v.MoneyField, 3)
	}
	undone := schema.Only(v.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Dated() && f.Missing > 0 && f.Has(closings) })
	if undone != nil && opens[t.Fold] { // what has no date of closing is open
		out = append(out, Piece{Kind: speech.KindNone, Field: undone, From: i, To: i + 1, Weight: 6})
	}
	if crowd[t.Fold] && !v.OfPeople() {
		add(schema.Only(v.Fields, func(f *schema.Field) bool {
			return f.Table == 0 && f.Type == "integer" && f.Measure() && f.Named("visitor")
		}), 4) // how many people come, if a column Audience counts them
	}
	return out
}

// Ourselves are words for those who ask.
var Ourselves = speech.Folded("we i us our my wir ich uns unser unsere unserem unseren mein meine")

var closings = speech.Folded("paid bezahlt beglichen closed resolved completed finished solved geschlossen erledigt gelöst abgeschlossen")

var opens = speech.Folded("open outstanding unpaid unbezahlt unresolved offen ungelöst")

var crowd = speech.Folded("people persons leute menschen personen")

// entityAt finds the word for the rows of a table, or another word of its name.
func (r *Matcher) entityAt(v *schema.View, i int) (Piece, bool) {
	t := r.Tokens[i]
	p := Piece{Kind: speech.KindEntity, From: i, To: i + 1}
	switch {
	case v.HasRevenue && !r.Counted(i) && r.Sales(t):
		p.Arg, p.Weight = "rows", 1 // sales are amounts if there are any
	case speech.Verbal(t.Fold) && slices.ContainsFunc(v.Fields, func(f *schema.Field) bool {
		return f.Text() && f.Has(schema.TimeWords) && r.Level(t, f.Words[0]) > 0
	}):
		return p, false // who finished has a time, and did not only start
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
	case t.Part:
		return p, false
	case slices.ContainsFunc(v.Topics, func(e string) bool {
		return len(e) >= 4 && len(t.Stem) <= len(e)+5 && strings.HasPrefix(t.Stem, e) && !strings.ContainsAny(t.Stem, "0123456789")
	}):
		p.Arg, p.Weight = "rows", 3 // Tankungen of the Tankbuch
	case slices.ContainsFunc(v.Names, func(n string) bool { return speech.Family(t.Fold, n) }), r.attached(v, i):
		p.Arg, p.Weight = "topic", 2 // charged, of charging.csv
	default:
		arg, ok := r.thingAt(v, i)
		p.Arg, p.Weight = arg, 2
		return p, ok
	}
	return p, true
}

// attached reports whether a token only names another table that the rows refer to: spent on fuel for the vehicles of
// the depot.
func (r *Matcher) attached(v *schema.View, i int) bool {
	if i == 0 || r.AskedFor(i) && r.Tokens[i-1].Fold != "the" {
		return false
	}
	return slices.ContainsFunc(v.Tables[1:], func(o *schema.Table) bool {
		return slices.ContainsFunc(schema.SplitName(o.Name), func(w string) bool { return len(w) > 3 && speech.Stem(w) == r.Tokens[i].Stem })
	})
}

// thingAt reports whether a token is a noun for the rows that their table does not state: no
// column of this or another table is called that. It is counted only if each row is one thing.
func (r *Matcher) thingAt(v *schema.View, i int) (arg string, ok bool) {
	t := r.Tokens[i]
	arg = "rows"
	if !v.Single() {
		if arg = "topic"; r.AskedFor(i) {
			return "", false
		}
	}
	if slices.ContainsFunc(r.Views, func(o *schema.View) bool {
		return slices.Contains(o.Entity, t.Stem) || slices.ContainsFunc(o.Fields, func(f *schema.Field) bool {
			return !f.Unique(f.Rows) && !f.First && slices.ContainsFunc(f.Words, func(w speech.Word) bool { return r.Level(t, w) > 2 })
		})
	}) {
		return "", false
	}
	dated := slices.ContainsFunc(v.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Dated() })
	return arg, slices.ContainsFunc(schema.Things, func(k schema.Thing) bool {
		return k.Nouns[t.Fold] && !(k.Lasting && dated && v.StockField() == nil) && slices.ContainsFunc(v.Fields, func(f *schema.Field) bool { return f.Table == 0 && f.Has(k.Signs) })
	})
}

// OfOtherRows reports whether a word that seems to say whose data it is names the rows of
// another table: orders, in a list of customers.
func (r *Matcher) OfOtherRows(v *schema.View, t speech.Token) bool {
	in := func(o *schema.View) bool {
		return slices.Contains(o.Entity, t.Stem) || slices.Contains(o.Topics, t.Stem)
	}
	return !in(v) && slices.ContainsFunc(r.Views, in)
}
