package question

import (
	"regexp"
	"slices"
	"strings"
)

// decideSup settles what a superlative ranks, and by what.
func (p *plan) decideSup() Reason {
	if why := p.supMeasure(); why != "" {
		return why
	}
	if len(p.measures) == 0 && (p.agg == "avg" || p.agg == "median") {
		return ReasonUnclear // rows have no mean
	}
	if p.sup.about == "rows" && p.crowded() {
		return ReasonAmbiguous // the rows, or those who came
	}
	if p.mostSales() {
		return ReasonAmbiguous // the most of them, or those of the highest value
	}
	if p.unsureBest() {
		return ReasonAmbiguous
	}
	if p.asks == "who" && p.target != nil && !p.target.named(p.r.lex, "name") && p.target.names == nil && p.target != p.person() {
		return ReasonAmbiguous // who borrowed the most tools: how many loans, or how many different tools
	}
	p.n = max(p.n, 1)
	if p.asks == "many" {
		return ReasonUnclear
	}
	p.expenses()
	if p.one && (p.target == nil || p.target == p.person()) {
		p.op, p.target = opExtreme, nil
		return ""
	}
	p.supTarget()
	if p.counted != nil && p.counted == p.target {
		return ReasonUnclear // who travelled the most
	}
	if p.target == nil && p.unit == "" && p.sup.about == "quantity" {
		if p.target = p.sold(); p.target == nil {
			return ReasonUnclear
		}
	}
	if p.unit != "" {
		if why := p.needTime(); why != "" {
			return why
		}
	}
	if p.target == nil && p.unit == "" {
		if len(p.measures) == 0 {
			return ReasonUnclear
		}
		if p.asks == "who" && p.person() == nil {
			return ReasonUnclear // a figure is no person
		}
		p.op = opExtreme
		if p.n > 1 && !slices.ContainsFunc(p.ps, func(x piece) bool { return x.kind == kindEntity && x.arg == "rows" }) {
			return ReasonUnclear // the three best of what
		}
		if p.spending() && p.asks != "much" {
			return ReasonUnclear // on what: no column is named
		}
		if p.agg == "sum" || p.agg == "avg" {
			return ReasonUnclear
		}
		return ""
	}
	p.op = opRank
	if p.agg == "median" {
		return ReasonUnclear
	}
	return ""
}

// supMeasure finds the number that a superlative goes by.
func (p *plan) supMeasure() Reason {
	switch {
	case p.sup.about == "rows":
		p.measures = nil
	case p.sup.about != "":
		f := p.supField(p.sup.about)
		if p.sup.about == "length" && len(p.measures) == 1 && slices.ContainsFunc([]string{"distance", "duration", "length", "wait"}, func(c string) bool {
			return p.measures[0].field.named(p.r.lex, c) || sizesOf[p.measures[0].field.unitName()].kind == "length"
		}) {
			f = p.measures[0].field // the longest distance
		}
		if f == nil && len(p.measures) == 1 && (p.sup.about == "length" || p.sup.about == "date") {
			f = p.measures[0].field // the longest waiting time
		}
		if f == nil {
			return ReasonUnknown
		}
		if len(p.measures) > 0 && p.measures[0].field != f {
			return ReasonUnclear
		}
		p.measures = []measure{{field: f, how: p.agg}}
	case len(p.measures) == 1:
		p.measures[0].how = p.agg
		if f := p.measures[0].field; p.agg == "" && p.mostWord() && p.target != nil && p.nature(f) == "" && p.ofMoney(f) && !p.target.unique(p.v.tables[0].RowCount) {
			p.measures[0].how = "sum" // the most in fees
		}
	case len(p.measures) == 0 && p.counted == nil:
		if why := p.supWithout(); why != "" {
			return why
		}
	case len(p.measures) > 1:
		return ReasonUnclear
	}
	return ""
}

// mostSales says whether the question asks for the most sales, which may be counted or added.
func (p *plan) mostSales() bool {
	return p.mostWord() && p.v.takings && slices.ContainsFunc(p.ps, func(x piece) bool {
		return x.from == p.sup.to && x.to == x.from+1 && p.r.sales(p.r.ts[x.from])
	})
}

// mostWord says whether the superlative is of how much there is.
func (p *plan) mostWord() bool {
	switch p.r.ts[p.sup.to-1].fold {
	case "most", "fewest", "least", "meisten", "wenigsten":
		return true
	}
	return false
}

// unsureBest says whether best and worst may mean the least: of school grades 1 is best in
// one country and worst in another.
func (p *plan) unsureBest() bool {
	switch p.r.ts[p.sup.from].fold {
	case "best", "worst", "beste", "besten", "bester", "bestes", "schlechteste", "schlechtesten", "schlechtester":
	default:
		return false
	}
	if len(p.measures) != 1 {
		return false
	}
	f := p.measures[0].field
	if f.schoolGrade() {
		p.sup.arg = map[string]string{"asc": "desc", "desc": "asc"}[p.sup.arg] // 1 is the best
		return false
	}
	if !p.judged && !f.scale(p.r.lex) && p.bestUnclear(f) && f.table == 0 && f.factors == nil && !f.dated() && !p.r.lex.means(f.head(), "temperature") {
		return true
	}
	graded := f.named(p.r.lex, "score") || slices.ContainsFunc(p.ps, func(x piece) bool { return x.kind == kindEntity && p.r.lex.means(p.r.ts[x.from].stem, "score") })
	high, ok := number(f.Max)
	return graded && ok && high <= 6
}

// sold is the only column of what is sold.
func (p *plan) sold() *field {
	var found *field
	for _, f := range p.v.fields {
		if f.table == 0 && f.text() && !f.key(p.r.lex) && f.named(p.r.lex, "product") {
			if found != nil {
				return nil
			}
			found = f
		}
	}
	return found
}

// schoolGrade is a German grade: from 1, the best, to 6.
func (f *field) schoolGrade() bool {
	low, ok := number(f.Min)
	high, ok2 := number(f.Max)
	return ok && ok2 && low >= 0.66 && high <= 6 && slices.ContainsFunc(f.words, func(w word) bool {
		switch w.fold {
		case "note", "noten", "schulnote", "zensur", "endnote", "zeugnisnote", "abschlussnote":
			return true
		}
		return false
	})
}

// supWithout settles a superlative that names no number: the most orders, the most customers.
func (p *plan) supWithout() Reason {
	others := slices.DeleteFunc(slices.Clone(p.attrs), func(f *field) bool {
		return f == p.target || f.dated() || p.filtered(f) || slices.Contains(p.groups, f)
	})
	if len(others) == 1 && others[0].named(p.r.lex, "product") && p.v.stocked(p.r.lex) || len(others) == 1 && others[0].unique(p.v.tables[0].RowCount) && p.fieldOf("stock") != nil {
		return ReasonAmbiguous // the most kinds of plants, or the most plants
	}
	if len(others) == 1 {
		p.counted = others[0]
		if p.counted.unique(p.v.tables[0].RowCount) {
			p.counted = nil
		}
		return ""
	}
	if len(others) > 1 {
		return ReasonUnclear
	}
	for i, x := range p.ps {
		if x.kind == kindEntity && x.arg == "rows" && !(p.asked(i) != nil && p.asked(i).arg == "which" && p.target != nil && p.target == p.labelField(x)) {
			if p.v.stocked(p.r.lex) && p.fieldOf("stock") != nil {
				return ReasonAmbiguous // the most kinds of plants, or the most plants
			}
			return ""
		}
	}
	if f := p.implied(); f != nil {
		p.measures = []measure{{field: f, how: p.agg}}
		return ""
	}
	if p.biggest() {
		p.one = true
		p.measures = []measure{{field: p.v.coins, how: p.agg}}
		return ""
	}
	if f := p.given(); f != nil && p.asks != "many" {
		p.measures = []measure{{field: f, how: p.agg}}
		return ""
	}
	if p.mostOfValue() || p.mostDone() {
		return ""
	}
	return ReasonUnclear
}

// mostOfValue says whether the rows with a value are what there is most of, in a table that
// has no amounts: the most errors, of a log.
func (p *plan) mostOfValue() bool {
	if p.unit == "" && p.target == nil || !p.mostWord() || slices.ContainsFunc(p.v.fields, func(f *field) bool { return f.table == 0 && f.measure(p.r.lex) }) {
		return false
	}
	return slices.ContainsFunc(p.ps, func(x piece) bool { return x.kind == kindValue && x.from == p.sup.to })
}

// mostDone says whether the rows of a value are what there is most of, as a verb says that
// somebody did: who treated the most cats. Of goods there may be several in a row.
func (p *plan) mostDone() bool {
	if p.target == nil && p.asks != "who" || p.traded() {
		return false
	}
	return slices.ContainsFunc(p.ps, func(x piece) bool {
		return x.kind == kindValue && x.from == p.sup.to && !x.field.named(p.r.lex, "product")
	}) && slices.ContainsFunc(p.r.ts, func(t token) bool { return slices.Contains(lightClasses[t.fold], "any") }) &&
		!slices.ContainsFunc(p.v.fields, func(f *field) bool { return f.table == 0 && f.measure(p.r.lex) && f.named(p.r.lex, "quantity") })
}

// biggest says whether one row is asked for by its only amount of money: the biggest expense.
func (p *plan) biggest() bool {
	if !bigWords[p.r.ts[p.sup.from].fold] && !bigWords[p.r.ts[p.sup.to-1].fold] || p.v.coins == nil || p.v.coins.mixed() {
		return false
	}
	return slices.ContainsFunc(p.ps, func(x piece) bool {
		return x.from >= p.sup.to && x.from <= p.sup.to+1 && (x.kind == kindValue || x.kind == kindEntity && x.arg == "rows")
	})
}

var bigWords = folded("biggest largest highest smallest lowest größte größten größter höchste höchsten höchster kleinste kleinsten kleinster niedrigste niedrigsten")

// supField is the number that a superlative compares: the price of the cheapest.
func (p *plan) supField(concept string) *field {
	if concept == "date" && p.time != nil {
		return p.time
	}
	if f := p.fieldOf(concept); f != nil {
		return f
	}
	switch concept {
	case "price":
		if p.v.coins != nil && !p.v.coins.mixed() {
			return p.v.coins
		}
	case "temperature":
		return p.extremeTemperature()
	case "length":
		if f := p.fieldOf("duration"); f != nil {
			return f
		}
		if f := p.lasting(); f != nil {
			return f
		}
		return p.fieldOf("distance")
	case "fastest", "slowest":
		return p.pace(concept == "fastest")
	case "hire":
		for _, f := range p.v.fields {
			if (f.dated() || f.yearly(p.r.lex)) && f.named(p.r.lex, "hire") {
				return f
			}
		}
	case "age":
		for _, f := range p.v.fields {
			if f.dated() && f.named(p.r.lex, "birth") {
				// The oldest was born first.
				p.sup.arg = map[string]string{"desc": "asc", "asc": "desc"}[p.sup.arg]
				return f
			}
		}
		return p.beginning()
	}
	return nil
}

// beginning is the date from which things that are no people are old: when an issue was opened.
func (p *plan) beginning() *field {
	if p.v.ofPeople(p.r.lex) {
		return nil
	}
	f := p.timeField(nil)
	if f == nil {
		var begun []*field
		for _, o := range p.v.fields {
			if o.table == 0 && o.dated() && slices.ContainsFunc(o.words, func(w word) bool { return beginnings[w.fold] }) {
				begun = append(begun, o)
			}
		}
		f = nearest(begun)
	}
	if f != nil && (f.dated() || f.yearly(p.r.lex)) {
		p.sup.arg = map[string]string{"desc": "asc", "asc": "desc"}[p.sup.arg]
		return f
	}
	return nil
}

var beginnings = folded("created opened reported submitted filed raised started received entered added built founded planted published made eröffnet gemeldet erstellt eingegangen angelegt begonnen gebaut baujahr gegründet gepflanzt")

// extremeTemperature is the highest temperature of each day for the hottest one, the lowest
// for the coldest.
func (p *plan) extremeTemperature() *field {
	want := map[string]string{"desc": "max", "asc": "min"}[p.sup.arg]
	var found *field
	for _, f := range p.v.fields {
		if f.table == 0 && f.factors == nil && f.measure(p.r.lex) && f.named(p.r.lex, "temperature") && p.nature(f) == want {
			if found != nil {
				return nil
			}
			found = f
		}
	}
	return found
}

// supTarget finds whose number is compared where the question says who, when or where.
func (p *plan) supTarget() {
	if p.target != nil || p.unit != "" {
		return
	}
	if len(p.groups) == 1 {
		p.target, p.groups = p.groups[0], nil
		return
	}
	switch p.asks {
	case "who":
		p.target = p.person()
	case "when":
		if p.time == nil {
			p.time = p.timeField(nil)
		}
		if p.time != nil && len(p.measures) == 1 && p.measures[0].field != p.time {
			p.unit = p.finest()
		}
	case "where":
		for _, c := range []string{"city", "country", "region", "state", "store", "island", "station", "address"} {
			for _, f := range p.v.fields {
				if p.target == nil && f.text() && f.named(p.r.lex, c) {
					p.target = f
				}
			}
		}
	}
	if p.target == nil && p.unit == "" && len(p.attrs) == 1 && p.attrs[0].text() {
		p.target = p.attrs[0]
	}
	if p.target == nil && p.unit == "" && p.sup.about != "" && p.asks != "" && p.asks != "when" && p.asks != "much" {
		for _, x := range p.ps {
			if x.kind == kindEntity && x.arg == "rows" {
				p.target = p.labelField(x)
			}
		}
	}
}

// finest is the unit of time in which the rows stand.
func (p *plan) finest() string {
	if p.time.yearly(p.r.lex) {
		return "year"
	}
	return "day"
}

// nameField is the only column of names of the own table.
func (p *plan) nameField() *field {
	var found *field
	for _, f := range p.v.fields {
		if f.table == 0 && f.text() && f.names == nil && !f.key(p.r.lex) && nameWords[f.words[len(f.words)-1].stem] {
			if found != nil {
				return nil
			}
			found = f
		}
	}
	return found
}

// person is the column of names of people, else the names of the rows.
func (p *plan) person() *field {
	for _, f := range p.v.fields {
		if f.names != nil {
			return f
		}
	}
	for _, c := range []string{"name", "employee", "customer", "student", "player", "member", "salesperson", "author", "donor", "manager"} {
		for _, f := range p.v.fields {
			if f.text() && f.named(p.r.lex, c) && f.table == 0 && !f.key(p.r.lex) {
				return f
			}
		}
	}
	var found *field
	for _, f := range p.v.fields {
		if f.table != 0 || !f.text() || f.names != nil || f.key(p.r.lex) || !people[f.words[len(f.words)-1].fold] {
			continue
		}
		if found != nil {
			return nil
		}
		found = f
	}
	return found
}

// people are columns that name people by what they do.
var people = folded("tierarzt tierarztin arzt arztin vet doctor dentist nurse therapist barista mechanic mechaniker instructor clerk cashier waiter stylist technician techniker assignee inspector referee kellner friseur sachbearbeiter berater advisor consultant tutor swimmer schwimmer player spieler athlete rower skater driver rider guest teacher reader backer volunteer patient runner user owner tenant pilot coach sender visitor chef cook borrower child resident speaker artist fahrer gast lehrer leser helfer besitzer mieter patient pilot trainer absender besucher koch ausleiher kind bewohner referent spender")

// decideMore reads more, fewer, warmer: of two values it compares, else it ranks.
func (p *plan) decideMore() Reason {
	if p.more == nil {
		return ""
	}
	if f := p.more.about; f != "" && len(p.measures) == 0 {
		m := p.fieldOf(f)
		if m == nil {
			return ReasonUnknown
		}
		p.measures = []measure{{field: m}}
	}
	switch {
	case p.either != nil:
		p.versus = true
		if len(p.measures) == 0 && len(p.attrs) == 1 && p.counted == nil {
			p.counted, p.attrs = p.attrs[0], nil // more customers in Berlin or Paris
		}
	case p.target != nil && p.sup == nil:
		p.sup = p.more
	case p.diff || len(p.periods) == 2:
	default:
		return ReasonUnclear
	}
	return ""
}

// lasting is the only number of the own table in a unit of time.
func (p *plan) lasting() *field {
	var found *field
	for _, f := range p.v.fields {
		if f.table != 0 || !f.measure(p.r.lex) || f.factors != nil {
			continue
		}
		switch unit := unitNames[f.head()]; {
		case f.unitName() == "min", f.unitName() == "h", f.unitName() == "s", f.unitName() == "ms", unit == "min", unit == "h", unit == "s", strings.HasPrefix(f.head(), "minut"), strings.HasPrefix(f.head(), "sekund"), strings.HasPrefix(f.head(), "second"),
			f.Type == "integer" && slices.ContainsFunc(f.words, func(w word) bool { return inDays[w.fold] }):
			if found != nil {
				return nil
			}
			found = f
		}
	}
	return found
}

// inDays are words of columns of how many days something took.
var inDays = folded("days nights weeks months tage nachte wochen monate")

// pace is the column that the fastest have the most or the least of: a speed, or a time as it
// is run.
func (p *plan) pace(fast bool) *field {
	p.sup.arg = "asc"
	if !fast {
		p.sup.arg = "desc"
	}
	if f := p.fieldOf("speed"); f != nil {
		p.sup.arg = map[string]string{"asc": "desc", "desc": "asc"}[p.sup.arg]
		return f
	}
	var clocks []*field
	for _, f := range p.v.fields {
		if f.table == 0 && f.clock() {
			clocks = append(clocks, f)
		}
	}
	if len(clocks) == 1 {
		return clocks[0]
	}
	if len(clocks) > 1 {
		return nil
	}
	return nil
}

var (
	clockShape = regexp.MustCompile(`^\d{1,2}(?::\d{2}){1,2}(?:[.,]\d{1,3})?$`)
	wordShape  = regexp.MustCompile(`^\p{L}+$`)
)

// clock says whether a column of text holds times as they are run, all of one shape, but for
// words such as DNF.
func (f *field) clock() bool {
	if !f.text() || f.names != nil || f.Distinct < 3 || !slices.ContainsFunc(f.words, func(w word) bool {
		return timeWords[w.stem] || timeWords[w.fold] || w.fold == "finish" || w.fold == "result" || w.fold == "laufzeit" || w.fold == "endzeit"
	}) {
		return false
	}
	colons, words := -1, 0
	for _, v := range f.Values {
		s, _ := v.(string)
		n := strings.Count(s, ":")
		switch {
		case wordShape.MatchString(s):
			words++
		case !clockShape.MatchString(s), colons >= 0 && n != colons:
			return false
		default:
			colons = n
		}
	}
	return colons > 0 && words <= 3
}
