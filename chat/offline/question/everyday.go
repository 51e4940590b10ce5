package question

import (
	"regexp"
	"slices"
	"strings"
)

// irregular are the forms of verbs that no ending shows, each with the first of its line.
var irregular = func() map[string]string {
	out := map[string]string{}
	for _, line := range []string{
		"sell sells sold selling", "buy buys bought buying", "lend lends lent lending", "catch catches caught catching", "grow grows grown growing",
		"drive drives drove driven driving", "eat eats ate eaten eating", "send sends sent sending", "lose loses lost losing", "win wins won winning",
		"fly flies flew flown flying", "night nights nightly", "hour hours hourly", "write writes wrote written writing", "speak speaks spoke spoken speaking",
		"verkaufen verkauft verkaufte verkauften", "kaufen kauft kaufte gekauft", "leihen leiht geliehen", "essen isst gegessen", "fangen fangt gefangen",
	} {
		ws := strings.Fields(line)
		for _, w := range ws {
			out[fold(w)] = ws[0]
		}
	}
	return out
}()

var (
	// denying stand before a value that a row does not have.
	denying = folded("no without ohne kein keine keinen")
	// moneyOrMass are units of which a change is one of the sums.
	moneyOrMass = folded("usd eur chf gbp t kg g l kwh mwh gwh twh m3 km")
	// untaxedWords are words of columns of amounts before tax.
	untaxedWords = folded("ht net netto nett")
	// taxedWords are words of columns of amounts with tax.
	taxedWords = folded("ttc gross brutto")
)

// namesOne says whether a column is asked for whose name has one of some words.
func (p *plan) namesOne(words map[string]bool) bool {
	return slices.ContainsFunc(p.ps, func(x piece) bool {
		return x.kind == kindField && slices.ContainsFunc(x.field.words, func(w word) bool { return words[w.fold] })
	})
}

// onlyOf is the only amount whose name has one of some words.
func (p *plan) onlyOf(words map[string]bool) *field {
	var found *field
	for _, f := range p.v.fields {
		if f.table != 0 || !f.measure(p.r.lex) || !slices.ContainsFunc(f.words, func(w word) bool { return words[w.fold] }) {
			continue
		}
		if found != nil {
			return nil
		}
		found = f
	}
	return found
}

// joinedAt finds a column whose name is written in one word and asked in several: PM2.5 for
// pm25, e-mail for email.
func (r *reader) joinedAt(v *view, i int) []piece {
	var out []piece
	said := r.ts[i].fold
	for k := i + 1; k < len(r.ts) && k < i+3 && !r.ts[i].quoted; k++ {
		if r.ts[k].from > r.ts[k-1].to+1 || r.ts[k].from < r.ts[k-1].to {
			break
		}
		if said += r.ts[k].fold; !strings.ContainsAny(said, "0123456789") && !strings.Contains(r.text[r.ts[i].from:r.ts[k].to], "-") {
			continue
		}
		for _, f := range v.fields {
			name := strings.Join(splitName(brackets.ReplaceAllString(f.Name, "")), "")
			if f.factors == nil && len(said) > 2 && (name == said || strings.TrimSuffix(name, fold(f.Unit)) == said) {
				out = append(out, piece{kind: kindField, field: f, from: i, to: k + 1, weight: 11 * float64(k+1-i)})
			}
		}
	}
	return out
}

// masses are what amounts in some units are of.
var masses = []struct{ words, units map[string]bool }{
	{folded("water wasser gas"), folded("m3 l")},
	{folded("electricity power energy strom energie heizenergie heating heat warme"), folded("kwh mwh gwh twh wh")},
	{folded("rain rainfall regen snow schnee"), folded("mm")},
}

// massAt finds what an amount is of, behind its unit: cubic metres of water. It says nothing
// where the table has one amount in that unit.
func (r *reader) massAt(v *view, i int) []piece {
	t := r.ts[i]
	if t.quoted || i < 2 || r.ts[i-1].fold != "of" && unitNames[r.ts[i-1].fold] == "" {
		return nil
	}
	for _, m := range masses {
		if !m.words[t.fold] {
			continue
		}
		var found []*field
		for _, f := range v.fields {
			if u := f.unitName(); f.table == 0 && f.factors == nil && f.measure(r.lex) && (m.units[u] || m.units[spelledUnit(f.Name)]) {
				found = append(found, f)
			}
		}
		if len(found) == 1 && r.neutral(found[0]) {
			return []piece{{kind: kindFill, from: i, to: i + 1}}
		}
	}
	return nil
}

// spelledUnit is the unit that the name of a column spells out: Cubic metres.
func spelledUnit(name string) string {
	switch strings.Join(splitName(name), " ") {
	case "cubic metres", "cubic meters", "kubikmeter":
		return "m3"
	}
	return ""
}

// attachedAt finds the name of another table that the rows lead to, where it is not counted:
// spent on fuel for the vehicles of the depot.
func (r *reader) attachedAt(v *view, i int) []piece {
	t := r.ts[i]
	if t.quoted || t.part || i == 0 || r.counted(i) || r.superlativeWord(i-1) || strings.HasPrefix(r.ts[i-1].fold, "which") || strings.HasPrefix(r.ts[i-1].fold, "welche") {
		return nil
	}
	for _, o := range v.tables[1:] {
		if slices.ContainsFunc(splitName(o.Name), func(w string) bool { return len(w) > 3 && stem(w) == t.stem }) {
			return []piece{{kind: kindEntity, arg: "topic", from: i, to: i + 1, weight: 2}}
		}
	}
	return nil
}

// leadsTo says whether a column is the key by which another table is reached.
func (p *plan) leadsTo(f, other *field) bool {
	if f.table != 0 || other.table == 0 {
		return false
	}
	j := p.v.on[other.table]
	return j.from == 0 && j.ownKey == f.Name
}

// halfAt counts the tokens of half an hour.
func halfAt(ts []token, i int) int {
	if i+2 < len(ts) && ts[i].fold == "half" && (ts[i+1].fold == "an" || ts[i+1].fold == "a") && unitNames[ts[i+2].fold] != "" {
		return 3
	}
	if i+1 < len(ts) && (ts[i].fold == "halbe" || ts[i].fold == "halben") && unitNames[ts[i+1].fold] != "" {
		return 2
	}
	return 0
}

// sizesOf are units in the least one of their kind.
var sizesOf = map[string]struct {
	kind string
	n    float64
}{
	"s": {"time", 1}, "min": {"time", 60}, "h": {"time", 3600}, "ms": {"time", 0.001},
	"g": {"mass", 1}, "kg": {"mass", 1000}, "t": {"mass", 1e6},
	"mm": {"length", 1}, "cm": {"length", 10}, "m": {"length", 1000}, "km": {"length", 1e6},
	"wh": {"energy", 1}, "kwh": {"energy", 1e3}, "mwh": {"energy", 1e6}, "gwh": {"energy", 1e9},
}

// inUnitOf writes a number with a unit in the unit of a column: half an hour in minutes. A
// column in a unit of another kind is not compared with it.
func (p *plan) inUnitOf(f *field, at int, n float64) (float64, bool) {
	x := p.ps[at]
	if x.kind != kindNum || x.to-x.from < 2 {
		return n, true
	}
	said := sizesOf[unitNames[p.r.ts[x.to-1].fold]]
	unit := f.unitName()
	if unit == "" {
		unit = unitNames[f.head()]
	}
	own := sizesOf[unit]
	switch {
	case said.n == 0:
		return n, halfAt(p.r.ts, x.from) == 0
	case own.n == 0:
		return n, halfAt(p.r.ts, x.from) == 0
	}
	return n * said.n / own.n, said.kind == own.kind
}

// byHow says whether the question asks by how much something changed.
func (p *plan) byHow() bool {
	for i := 0; i+1 < len(p.r.ts); i++ {
		if a, b := p.r.ts[i].fold, p.r.ts[i+1].fold; (a == "by" && b == "how" || a == "um" && strings.HasPrefix(b, "wie")) && !p.share {
			return true
		}
	}
	return false
}

// arrivals is the one date of those given on which things come, where the question says so.
func (p *plan) arrivals(dates []*field) *field {
	if !slices.ContainsFunc(p.r.ts, func(t token) bool { return coming[t.fold] }) {
		return nil
	}
	var found *field
	for _, f := range dates {
		if f.table != 0 || !slices.ContainsFunc(f.words, func(w word) bool { return comingColumns[w.fold] }) {
			continue
		}
		if found != nil {
			return nil
		}
		found = f
	}
	return found
}

var (
	coming        = folded("come came comes enter entered arrive arrived arrivals kommen kamen gekommen ankommen angekommen anreisen")
	comingColumns = folded("entered entry arrival arrived arrive arrivals enter checkin ankunft anreise einfahrt eintritt")
	// joinedVerbs are the beginnings of German verbs that say that something comes in.
	joinedVerbs = []string{"ein", "an", "auf"}
)

// paidIn is a German participle without its beginning: eingezahlt, gezahlt.
func paidIn(w string) string {
	for _, p := range joinedVerbs {
		if rest, ok := strings.CutPrefix(w, p); ok && strings.HasPrefix(rest, "ge") && len(rest) > 6 {
			return rest
		}
	}
	return ""
}

// peopleAt finds people who are the number of a column: how many people come, where a column
// Audience counts them.
func (r *reader) peopleAt(v *view, i int) []piece {
	switch r.ts[i].fold {
	case "people", "persons", "leute", "menschen", "personen":
	default:
		return nil
	}
	if r.ts[i].quoted || v.ofPeople(r.lex) {
		return nil
	}
	var found []*field
	for _, f := range v.fields {
		if f.table == 0 && f.Type == "integer" && f.measure(r.lex) && f.named(r.lex, "visitor") {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return []piece{{kind: kindField, field: found[0], from: i, to: i + 1, weight: 4}}
}

var (
	meals     = folded("meal meals lunch lunches dinner dinners portion portions essen gerichte mahlzeiten portionen")
	mealSigns = folded("vegetarian vegan vegetarisch meat fleisch fish fisch halal")
)

// mealsAt finds the meals behind the column of their kind: vegetarian meals.
func (r *reader) mealsAt(v *view, i int) []piece {
	if i == 0 || r.ts[i].quoted || !meals[r.ts[i].fold] || !mealSigns[r.ts[i-1].fold] {
		return nil
	}
	if !slices.ContainsFunc(v.fields, func(f *field) bool {
		return f.table == 0 && f.measure(r.lex) && slices.ContainsFunc(f.words, func(w word) bool { return w.fold == r.ts[i-1].fold })
	}) {
		return nil
	}
	return []piece{{kind: kindFill, from: i, to: i + 1}}
}

// compoundAt finds a German compound of a value and what the rows are: Sturmeinsätze, the
// rows of the value Sturm.
func (r *reader) compoundAt(v *view, i int) []piece {
	t := r.ts[i]
	if r.lang != German || t.quoted || t.part || len(t.fold) < 9 {
		return nil
	}
	for _, e := range append(slices.Clone(v.entity), v.topics...) {
		at := strings.LastIndex(t.fold, e)
		if len(e) < 4 || at < 3 || len(t.fold)-at-len(e) > 2 {
			continue
		}
		said := t.fold[:at]
		for _, f := range v.fields {
			if f.table != 0 || !f.text() || f.free {
				continue
			}
			for _, value := range r.valuesOf(v, f) {
				if w := fold(value); len(w) > 3 && (said == w || said == w+"s" || said == w+"n" || said+"e" == w) {
					return []piece{{kind: kindValue, field: f, values: []string{value}, from: i, to: i + 1, weight: 12}}
				}
			}
		}
	}
	return nil
}

// timesAt says whether worth only says that two numbers are multiplied.
func (r *reader) timesAt(i int) bool {
	return r.ts[i].fold == "worth" && slices.ContainsFunc(r.ts, func(t token) bool { return t.fold == "times" || t.fold == "multiplied" })
}

// pronounAt says whether one stands for what was named before: than to a 2D one.
func (r *reader) pronounAt(i int) bool {
	t := r.ts[i]
	return (t.fold == "one" || t.fold == "ones") && !t.quoted && i == len(r.ts)-1 && i > 2 && r.ts[i-1].fold != "number"
}

// levelAt finds the column of a water level, where the water stands high or low.
func (r *reader) levelAt(v *view, i int) []piece {
	t := r.ts[i]
	if t.quoted || t.fold != "wasser" && t.fold != "water" && t.fold != "river" && t.fold != "fluss" {
		return nil
	}
	if !slices.ContainsFunc(r.ts, func(o token) bool { return standing[o.fold] }) {
		return nil
	}
	var found []*field
	for _, f := range v.fields {
		if f.table == 0 && f.measure(r.lex) && f.named(r.lex, "level") {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return []piece{{kind: kindField, field: found[0], from: i, to: i + 1, weight: 9}}
}

var standing = folded("stand stands stood steht standen rose hochsten niedrigsten tiefsten high highest low lowest")

// asideShape is what a question leaves out before it begins: leaving cancelled orders aside.
var asideShape = regexp.MustCompile(`(?i)^(?:leaving|setting|putting)\s+(?:aside\s+)?([^,]{2,60}?)(?:\s+(?:aside|out))?,\s+|^(?:excluding|not counting|without counting|ignoring|except for|apart from|disregarding|without|abgesehen von|ausgenommen|außer|ohne)\s+([^,]{2,60}),\s+`)

// asideLast puts what a question leaves out at its end.
func asideLast(s string) string {
	at := asideShape.FindStringSubmatch(s)
	if at == nil {
		return s
	}
	word := " excluding "
	if LanguageOf(s) == German {
		word = " außer "
	}
	return strings.TrimRight(s[len(at[0]):], " ?.!") + word + at[1] + at[2]
}

// superlativeWord says whether one token alone is a superlative: most, and not the.
func (r *reader) superlativeWord(i int) bool {
	return slices.ContainsFunc(r.lex.phrases[r.ts[i].fold], func(p phrase) bool { return p.kind == kindSup && len(p.words) == 1 })
}

// numbered says whether a number before a column is its value: a flat with 3 rooms.
func (p *plan) numbered(i int) bool {
	x, b := p.ps[i], p.ps[i-1]
	if x.field.Type != "integer" || !x.field.measure(p.r.lex) || b.to != x.from || b.to-b.from > 1 || i < 2 || x.field.rows > 0 && !x.field.spans(b.num) {
		return false
	}
	if from, to := p.r.ts[b.from].to, p.r.ts[x.from].from; from < to && p.r.text[from:to] == "-" {
		return true // a three-bedroom flat
	}
	switch p.r.ts[b.from-1].fold {
	case "with", "mit", "having", "of", "von", "has", "have", "hat", "haben", "had":
		return p.ps[i-2].kind != kindSup && p.ps[i-2].kind != kindCmp
	}
	return false
}

// crowded says whether the table counts those who came, so that the most popular and the
// busiest may be the one with the most of them.
func (p *plan) crowded() bool {
	if slices.ContainsFunc(p.ps, func(x piece) bool { return x.kind == kindEntity && x.arg == "rows" && x.from == p.sup.to }) {
		return false
	}
	switch p.r.ts[p.sup.to-1].fold {
	case "popular", "busiest", "beliebteste", "beliebtesten":
	default:
		return false
	}
	return slices.ContainsFunc(p.v.fields, func(f *field) bool {
		return f.table == 0 && f.Type == "integer" && f.measure(p.r.lex) && (f.named(p.r.lex, "visitor") || slices.ContainsFunc(f.words, func(w word) bool { return crowds[w.fold] }))
	})
}

var (
	crowds = folded("attended attendees attendance booked bookings guests participants teilnehmer gaste zuschauer spectators passengers fahrgaste riders downloads views plays listens entries sold quantity qty menge anzahl count")
	trades = folded("sell sells sold selling buy bought order ordered ship shipped verkauft verkauften verkaufen gekauft bestellt verschickt")
)

// traded says whether the question is of what is sold or bought.
func (p *plan) traded() bool {
	return slices.ContainsFunc(p.r.ts, func(t token) bool { return trades[t.fold] })
}

// asksHeight says whether the question asks how high something is, or what it is, rather
// than how much of it there is.
func (p *plan) asksHeight() bool {
	if len(p.r.ts) < 2 {
		return false
	}
	switch p.r.ts[1].fold {
	case "hoch", "high", "is", "ist", "s", "sind", "are", "large", "big":
		return true
	}
	return false
}

// cut says whether n tokens from i on are only a part of a word with hyphens: the double of
// double-booked. What names the column of the value is no other word: high-priority.
func (r *reader) cut(f *field, i, n int) bool {
	names := func(t token) bool {
		return slices.ContainsFunc(f.words, func(w word) bool { return sameWord(t, token{fold: w.fold, stem: w.stem}) })
	}
	joined := func(a, b token) bool {
		return !names(a) && !names(b) && !a.quoted && !b.quoted && a.to+1 == b.from && b.from <= len(r.text) && r.text[a.to:b.from] == "-"
	}
	return r.lang == English && (i > 0 && joined(r.ts[i-1], r.ts[i]) || i+n < len(r.ts) && joined(r.ts[i+n-1], r.ts[i+n]))
}

var gives = folded("raise raises raised give gives gave given donate donated collect collected earn earned contribute contributed bring brought gespendet gesammelt eingenommen gegeben erlost")

// given is the only amount of money of the table, where the question says that it is given or earned.
func (p *plan) given() *field {
	if p.v.coins == nil || p.v.coins.mixed() || p.nature(p.v.coins) == "rate" || !slices.ContainsFunc(p.r.ts, func(t token) bool {
		return gives[t.fold] && p.flows(p.v.coins, "earn") || slices.ContainsFunc(lightClasses[t.fold], func(class string) bool {
			return (class == "spend" || class == "earn" || class == "trade" && p.asks == "much") && p.flows(p.v.coins, class)
		})
	}) {
		return nil
	}
	return p.v.coins
}

// lastingAt finds the only number of minutes or hours, for what lasted.
func (r *reader) lastingAt(v *view, i int) []piece {
	switch r.ts[i].fold {
	case "lasted", "last", "lasts", "dauerte", "dauerten", "dauert", "dauern", "gedauert":
	default:
		return nil
	}
	p := &plan{r: r, v: v}
	if f := p.lasting(); f != nil && !r.ts[i].quoted && p.fieldOf("duration") == nil {
		return []piece{{kind: kindField, field: f, from: i, to: i + 1, weight: 3}}
	}
	return nil
}

// doer says whether one word is who does what the other says: call and caller.
func doer(a, b string) bool {
	return a+"er" == b || b+"er" == a || a+"r" == b && len(a) > 3 || b+"r" == a && len(b) > 3
}
