package question

import (
	"slices"
	"strings"
)

// lightVerbs say that something happens, and not to which rows: their place in a question
// is taken by the column or the rows that it names. A line is a class of verbs, and says of
// which figures they can be; see fits. Verbs of what becomes of something (cancel, fail,
// return, win) say which rows, and are none of them. A verb without a space is regular.
var lightVerbs = map[string]string{
	"any": `welcome serve draw attract yield file treat handle visit train host operate stage stay watch deal reach clock notch rack gain amass garner enter head carry settle account accumulate
ring turn add last process sign drop complete finish land conduct perform note track enrol enroll row claim reclaim score manage charge request visit
run ran running rang rung set sets setting bring brought see saw seen go goes went gone put puts putting get got sit sat stand stood keep kept hold held drew drawn grab book
erledigt erledigte erledigen behandelt behandelte behandelten behandeln bedient bediente bedienen startet startete starteten starten stellt stellte stellten stellen entfällt entfiel entfallen entfielen
trägt trug beiträgt bringt brachte brachten gebracht läuft lief liefen gelaufen besucht besuchte besuchten besuchen begrüßt begrüßte begrüßen leistet leistete leisteten leisten spielt spielte spielten spielen
arbeitet arbeitete arbeiteten gearbeitet sitzt saß sitzen saßen übernimmt übernahm übernahmen übernommen empfängt empfing betreut betreute betreuten betreuen schafft schaffte schafften geschafft
geht ging gingen gehen gegangen dauert dauerte dauerten dauern gedauert trainiert trainieren trainierte trainierten kommt kam kamen kommen gekommen übernachtet übernachteten übernachten
absolviert absolvierte absolvierten belegt belegte durchgeführte angefallen aufgenommen bearbeitete bearbeiteten abgewickelt entfallen`,
	"spend": `set pay paid paying spend spent cost costing use eat ate eaten swallow gobble absorb devour burn splash fork shell cough
bezahlt bezahlte bezahlten bezahlen zahlt zahlte zahlten zahlen gezahlt ausgegeben gibt gab ausgibt kostet kostete kosteten gekostet gelassen
verschlingt verschlang verschlungen gefressen nutzt nutzte nutzten genutzt aufgewendet aufgewandt`,
	"earn": `earn make made take took taken invoice bill rake collect eingenommen einnehmen nimmt nahm nahmen verdient verdiente verdienen verdienten
kassiert kassierte kassierten kassieren umgesetzt setzt setzte setzten abgerechnet gekommen`,
	"trade": `sell sold selling buy bought buying order purchase verkauft verkaufte verkauften verkaufen gekauft kauft kaufte kauften kaufen bestellt bestellte bestellten`,
	"loan":  `lend lent lending borrow take took taken loan check verleiht verlieh verliehen ausgeliehen ausleihen leiht lieh liehen entliehen`,
	"trip":  `cycle travel walk ride rode ridden drive drove driven swim swam swum fly flew flown row fährt fuhr fuhren gefahren geradelt gelaufen fliegt flog flogen geflogen`,
	"power": `generate produce erzeugt erzeugte erzeugten erzeugen produziert produzierte produzieren geliefert liefert lieferte gewonnen`,
	"talk":  `respond react answer load render resolve solve fix repair process talk chat phone speak spoke spoken telefoniert telefonierte telefonierten gesprochen`,
}

// lightParticles belong to a verb that stands before them; alone they say where things are.
var lightParticles = folded("up out off away down through over along via towards together rein raus herein heraus hinein hinaus ein ab auf los hinzu dazu weg")

// lightWords are other words that restrict nothing.
var lightWords = folded(`single when while altogether total's ever yet via actually respectively per's using anybody anyone plate per-head sind's worth's door till counter
einzelne einzelner einzelnen einzelnes selber jeweils überhaupt`)

// lightDoers are people who do what is asked for, where nothing says that they are counted.
var lightDoers = folded(`customers customer guests guest visitors visitor clients client patients patient shoppers people users user members member residents buyers passengers travellers staff
kunden kundinnen gäste besucher besucherinnen patienten leute nutzer mitglieder käufer fahrgäste personen menschen`)

// lightClasses are the classes of each form of a light verb.
var lightClasses = func() map[string][]string {
	out := map[string][]string{}
	for class, verbs := range lightVerbs {
		for _, v := range strings.Fields(verbs) {
			for _, w := range forms(v) {
				out[w] = append(out[w], class)
			}
		}
	}
	return out
}()

// forms are the forms of a regular English verb.
func forms(v string) []string {
	base, ies := strings.TrimSuffix(v, "e"), v
	if n := len(v) - 1; v[n] == 'y' && !strings.ContainsAny(v[n-1:n], "aeou") {
		ies = v[:n] + "ie"
	}
	return []string{fold(v), fold(ies + "s"), fold(v + "es"), fold(strings.TrimSuffix(ies, "e") + "ed"), fold(base + "ing"), fold(v + v[len(v)-1:] + "ed"), fold(v + v[len(v)-1:] + "ing")}
}

// fits says whether a verb of one of some classes can be of what the plan asks.
func (p *plan) fits(classes []string) bool {
	m := p.first()
	rows := p.hasRows() || len(p.filters) > p.times() || p.sup != nil && p.target != nil
	if len(classes) == 0 {
		return m != nil || rows
	}
	for _, class := range classes {
		ok := false
		switch class {
		case "any":
			ok = m != nil || rows
		case "spend", "earn":
			ok = m != nil && p.ofMoney(m.field) && p.flows(m.field, class) || slices.ContainsFunc(p.filters, func(f filter) bool { return f.field.named(p.r.lex, "payment") || f.field.named(p.r.lex, "method") })
		case "trade":
			ok = m != nil && m.field.named(p.r.lex, "price") || (m != nil || rows) && p.trading()
		case "loan":
			ok = (m != nil || rows) && p.v.about(p.r.lex, "loan")
		case "trip":
			ok = m != nil && sizesOf[m.field.unitName()].kind == "length" || (m != nil || rows) && p.v.about(p.r.lex, "trip")
		case "power":
			ok = m != nil && sizesOf[m.field.unitName()].kind == "energy"
		case "talk":
			ok = m != nil && sizesOf[m.field.unitName()].kind == "time"
		}
		if ok {
			return true
		}
	}
	return false
}

// trading says whether the rows are what was sold or bought: amounts of money with their dates.
func (p *plan) trading() bool {
	return (p.v.takings || p.v.coins != nil && !p.r.lex.means(p.v.coins.head(), "price")) && slices.ContainsFunc(p.v.fields, (*field).dated)
}

// about says whether the rows are things of a kind: trips, loans.
func (v *view) about(l *lexicon, kind string) bool {
	if slices.ContainsFunc(append(slices.Clone(v.entity), v.topics...), func(e string) bool { return l.means(e, kind) }) {
		return true
	}
	return slices.ContainsFunc(things, func(k struct{ nouns, signs map[string]bool }) bool {
		return k.nouns[kind] && slices.ContainsFunc(v.fields, func(f *field) bool {
			return f.table == 0 && slices.ContainsFunc(f.words, func(w word) bool { return k.signs[w.fold] })
		})
	})
}

// ofMoney says whether a column holds amounts of money.
func (p *plan) ofMoney(f *field) bool {
	return f == p.v.coins || moneyUnits[f.unitName()] || slices.ContainsFunc(f.words, func(w word) bool { return moneyWords[w.fold] }) ||
		slices.ContainsFunc(strings.Fields("amount price cost fee tax revenue profit budget salary rent donation discount spent payment"), func(c string) bool { return f.named(p.r.lex, c) && !f.named(p.r.lex, "quantity") })
}

// flows reports whether money of a column can be spent, or earned: nobody spends revenue.
func (p *plan) flows(f *field, class string) bool {
	other := map[string][]string{"spend": {"revenue", "profit", "income", "donation"}, "earn": {"cost", "expense", "outflow"}, "trade": {"cost", "expense", "outflow"}}[class]
	return !slices.ContainsFunc(other, func(c string) bool {
		return p.r.lex.means(f.head(), c) && !p.r.lex.means(f.head(), "amount") && !p.r.lex.means(f.head(), "fee") && !p.r.lex.means(f.head(), "price")
	})
}

var moneyWords = folded("net gross brutto netto tip tips trinkgeld takings fare toll premium deposit ht ttc")

// settled are words of columns and values by which what is paid differs from what is not.
var settled = folded("paid unpaid outstanding overdue due bezahlt unbezahlt offen fällig überfällig ausstehend")

// lightAt reads a word that says nothing about which rows or which figure is meant.
func (r *reader) lightAt(v *view, i int) []piece {
	t := r.ts[i]
	if t.quoted || t.part || t.num != nil || strings.ContainsFunc(t.raw[:1], func(c rune) bool { return c >= 'A' && c <= 'Z' }) && i > 0 && r.lang == English {
		return nil
	}
	light := piece{kind: kindFill, arg: "light", from: i, to: i + 1, weight: -4}
	switch {
	case lightWords[t.fold]:
	case lightDoers[t.fold]:
		if r.counted(i) || i == 0 || r.asksOf(i-1) {
			return nil
		}
		light.arg, light.weight = "deed", -3
	case lightParticles[t.fold]:
		if !slices.ContainsFunc(r.ts[:i], r.doing) {
			return nil
		}
	case lightClasses[t.fold] == nil, r.counted(i), i > 0 && r.asksOf(i-1):
		return nil
	case payingVerbs[t.fold] && v.holds(settled):
		return nil // what is paid is not all that there is
	default:
		light.arg = "verb"
	}
	return []piece{light}
}

var payingVerbs = folded("pay pays paid paying bezahlt bezahlte bezahlten bezahlen zahlt zahlte zahlten zahlen gezahlt")

// doing says whether a word may be a verb that a particle belongs to.
func (r *reader) doing(t token) bool {
	return lightClasses[t.fold] != nil || irregular[t.fold] != "" || r.lex.deeds[t.fold] || motion[t.fold]
}

var motion = folded("come comes came coming take takes took taken give gives gave given make makes made kam kamen kommt kommen nahm nimmt")

// asksOf says whether a token is one of which, most and best: what follows is asked for.
func (r *reader) asksOf(i int) bool {
	return r.superlative(i) || strings.HasPrefix(r.ts[i].fold, "which") || strings.HasPrefix(r.ts[i].fold, "welche")
}

// means are words of columns of how something was paid.
var means = folded("with by via method mode mit per wie womit")

// holds says whether a column or a value of the own table is one of some words.
func (v *view) holds(words map[string]bool) bool {
	return slices.ContainsFunc(v.fields, func(f *field) bool {
		return f.table == 0 && (slices.ContainsFunc(f.words, func(w word) bool { return words[w.fold] }) && !slices.ContainsFunc(f.words, func(w word) bool { return means[w.fold] }) ||
			slices.ContainsFunc(f.Values, func(x any) bool { s, _ := x.(string); return words[fold(s)] }))
	})
}

// oftenAsked says whether the question asks how often something is the case.
func (p *plan) oftenAsked() bool {
	return slices.ContainsFunc(p.ps, func(x piece) bool {
		w := p.r.ts[x.to-1].fold
		return x.kind == kindAsk && x.arg == "many" && (w == "often" || w == "oft" || w == "times" || w == "male")
	})
}

// known good and bad of numbers, by concept: the best is the most of them, or the least.
var goodMost = strings.Fields("revenue profit yield generation score rating satisfaction goals win visitor quantity donation speed salary grade")

// bestUnclear says whether more of a measure is neither better nor worse as far as is known.
func (p *plan) bestUnclear(f *field) bool {
	return !f.clock() && !slices.ContainsFunc(goodMost, func(c string) bool { return f.named(p.r.lex, c) }) && !p.v.takings && f != p.v.coins
}

// subject says whether a value stands where what is asked for stands: which perennials, the
// cheapest tree. What follows it is no column that is asked for.
func (p *plan) subject(i int) bool {
	b, n := p.near(i, -1), p.near(i, 1)
	if b == nil || p.asks != "which" && p.asks != "list" || b.to < p.ps[i].from-1 || n != nil && n.from == p.ps[i].to && (n.kind == kindField || n.kind == kindEntity || n.kind == kindUnit) {
		return false
	}
	if b.kind == kindField && b.field.measure(p.r.lex) && i > 1 {
		b = &p.ps[i-2] // the most expensive tree
	}
	w := p.r.ts[b.from].fold
	return b.kind == kindSup || b.kind == kindAsk && strings.HasPrefix(w, "w") && b.to == p.ps[i].from && w != "what" && w != "was"
}

// monthlyFigure drops per month where the figure that is asked for is one of a month: the
// monthly fee, rents.
func (p *plan) monthlyFigure() {
	if p.unit != "month" || p.agg == "avg" {
		return
	}
	monthly := slices.ContainsFunc(p.measures, func(m measure) bool {
		return slices.ContainsFunc(m.field.words, func(w word) bool { return strings.HasPrefix(w.fold, "month") || strings.HasPrefix(w.fold, "monat") }) ||
			!slices.ContainsFunc(p.v.fields, (*field).dated) && (m.field.named(p.r.lex, "rent") || m.field.named(p.r.lex, "salary"))
	})
	if monthly {
		p.unit = ""
	}
}

var (
	earning = folded("earn earns earned earning verdient verdiente verdienen verdienten")
	buying  = folded("buy bought purchase purchased gekauft kauften kaufen kauft")
	ours    = folded("we wir")
)

// otherDeed says whether the question is of what the rows do not say: what somebody earned
// or was paid whose name only stands beside an amount, what we bought where we sell, and
// what we own where the rows are what happened.
func (p *plan) otherDeed() bool {
	has := func(words map[string]bool) bool {
		return slices.ContainsFunc(p.r.ts, func(t token) bool { return words[t.fold] && !t.quoted })
	}
	paidTo := func(verbs map[string]bool, next bool) bool {
		m := p.first()
		if m == nil || m.field.named(p.r.lex, "salary") {
			return false
		}
		return slices.ContainsFunc(p.ps, func(x piece) bool {
			return x.kind == kindValue && x.field.ofSomebody(p.r.lex, next) && (!next && has(verbs) || next && p.behind(x.from, verbs))
		})
	}
	bought := has(buying) && has(ours) && !slices.ContainsFunc(p.v.fields, func(f *field) bool {
		return f.named(p.r.lex, "supplier") || f.named(p.r.lex, "cost") || slices.ContainsFunc(f.words, func(w word) bool { return w.fold == "shop" || w.fold == "store" })
	}) && slices.ContainsFunc(p.v.fields, (*field).dated)
	owned := p.op == opCount && slices.ContainsFunc(p.v.fields, (*field).dated) && slices.ContainsFunc(p.r.ts[1:], func(t token) bool { return t.fold == "own" || t.fold == "besitzen" }) && has(ours)
	return bought || owned || paidTo(earning, false) || paidTo(payingVerbs, true)
}

// ofSomebody says whether a column names those who work, or also those who buy.
func (f *field) ofSomebody(l *lexicon, buyers bool) bool {
	return f.named(l, "employee") || f.named(l, "salesperson") || buyers && (f.named(l, "customer") || f.named(l, "member") || f.table > 0 && f.named(l, "name")) ||
		slices.ContainsFunc(f.words, func(w word) bool { return people[w.fold] || w.fold == "engineer" })
}

// behind says whether one of some words stands before a token, over small ones: pay Dr. Petri.
func (p *plan) behind(i int, words map[string]bool) bool {
	for i--; i > 0 && p.r.lex.fill[p.r.ts[i].fold]; i-- {
		continue
	}
	return i > 0 && words[p.r.ts[i].fold]
}
