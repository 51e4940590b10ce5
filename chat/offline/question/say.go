package question

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// answer states the result of the plan; a reason says why it states nothing.
func (p *plan) answer(res Result, paths []string) (*Answer, Reason) {
	if len(res.Rows) == 0 || res.Truncated && p.op != opList {
		return nil, ReasonEmpty
	}
	a := &Answer{Result: res, Paths: paths, figure: p.op == opValue && len(p.measures) == 1 || p.op == opCount || p.op == opMeter}
	p.sayConditions()
	if why := operations[p.op].say(p, a); why != "" {
		return nil, why
	}
	a.Sentences[0] = upper(a.Sentences[0])
	if s := p.caveat(); s != "" {
		a.Sentences = append(a.Sentences, s)
	}
	p.table(a)
	return a, ""
}

// sayConditions writes the conditions in the words of the question's language.
func (p *plan) sayConditions() {
	for i, f := range p.filters {
		p.filters[i].text = strings.Replace(f.text, ": ≠ ", p.say(" other than ", " außer "), 1)
		if p.r.lang == German && f.field != nil && f.field.boolean() {
			p.filters[i].text = strings.NewReplacer("= yes", "= ja", "= no", "= nein").Replace(f.text)
		}
	}
}

// caveat says which values of the measure are left out.
func (p *plan) caveat() string {
	m := p.first()
	if m == nil || m.field.factors != nil {
		return ""
	}
	f, t := m.field, p.v.tables[m.field.table]
	var parts []string
	if f.Unusable > 0 {
		parts = append(parts, choose(f.Unusable == 1, p.say("%s is unusable", "ist %s unbrauchbar"), p.say("%s are unusable", "sind %s unbrauchbar")))
		parts[0] = fmt.Sprintf(parts[0], Number(float64(f.Unusable), 0, p.r.lang))
	}
	if f.Missing > 0 {
		missing := choose(f.Missing == 1, p.say("%s is missing", "fehlt %s"), p.say("%s are missing", "fehlen %s"))
		parts = append(parts, fmt.Sprintf(missing, Number(float64(f.Missing), 0, p.r.lang)))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf(p.say("Of the %s values of %s in the table, %s; %s left out.", "Von den %s Werten von %s in der Tabelle %s; %s nicht mitgerechnet."),
		Number(float64(t.RowCount), 0, p.r.lang), p.named(f), p.enumerate(parts), choose(f.Unusable+f.Missing == 1, p.say("it is", "er ist"), p.say("these are", "sie sind")))
}

func at(row []any, i int) (float64, bool) {
	if i >= len(row) {
		return 0, false
	}
	if s, ok := row[i].(string); ok && strings.HasPrefix(s, "-") {
		v, ok := number(s[1:])
		return -v, ok
	}
	return number(row[i])
}

func (p *plan) sayValue(a *Answer) Reason {
	row := a.Result.Rows[0]
	n := len(p.measures)
	if count, ok := at(row, n); !ok || count == 0 {
		return ReasonEmpty
	}
	count, _ := at(row, n)
	least, _ := at(row, n+2)
	greatest, _ := at(row, n+3)
	var said []string
	for i := range p.measures {
		m := p.measures[i]
		v, ok := at(row, i)
		if !ok {
			return ReasonEmpty
		}
		open := p.agg == "" && p.asks != "many"
		p.single = count == 1 && m.field.factors == nil
		switch {
		case (open || m.how == "sum") && p.single, open && (m.how == "avg" || m.how == "") && least == greatest:
			m.how = ""
		case open && m.how == "":
			return ReasonAmbiguous
		case open && m.how == "sum" && count > 2 && least == greatest && least != 0 && p.asksHeight():
			return ReasonAmbiguous // the fee of each, or of all
		case open && m.how == "avg" && !p.overTime():
			return ReasonAmbiguous
		}
		subject, verb := p.amounts(&m)
		said = append(said, subject+p.conds()+" "+verb+" "+p.amount(v, m.field))
	}
	a.Heading = upper(p.name(&p.measures[0]))
	a.Sentences = []string{strings.Join(said, p.say(", and ", ", und ")) + p.rests(count) + "."}
	return ""
}

// rests says on how many values a figure rests.
func (p *plan) rests(count float64) string {
	if p.first() != nil && p.first().how == "avg" && count > 1 {
		return fmt.Sprintf(p.say(", from %s values", ", aus %s Werten"), Number(count, 0, p.r.lang))
	}
	return ""
}

// overTime says whether the question is about a stretch of time.
func (p *plan) overTime() bool {
	return slices.ContainsFunc(p.filters, func(f filter) bool { return f.period != nil && f.period.unit != "day" })
}

func (p *plan) sayCount(a *Answer) Reason {
	v, ok := at(a.Result.Rows[0], 0)
	if !ok {
		return ReasonEmpty
	}
	if v == 0 && p.outside() {
		return ReasonEmpty // the rows are of another time
	}
	n := Number(v, 0, p.r.lang)
	matches := p.say("match", "") + choose(v == 1, p.say("es", ""), "")
	a.Heading = p.say("Number of ", "Anzahl ") + p.noun()
	switch {
	case p.op == opUnusable:
		a.Heading = p.say("Rows without ", "Zeilen ohne ") + p.named(p.counted)
		a.Sentences = []string{p.unusable(p.counted) + p.say(", so ", "; ") + n + choose(v == 1, p.say(" of the rows has no value.", " der Zeilen hat also keinen Wert."), p.say(" of the rows have no value.", " der Zeilen haben also keinen Wert."))}
	case p.tally != "":
		units := map[string][2]string{"day": {"days", "Tage"}, "month": {"months", "Monate"}, "year": {"years", "Jahre"}, "week": {"weeks", "Wochen"}, "quarter": {"quarters", "Quartale"}, "hour": {"hours", "Stunden"}, "weekday": {"weekdays", "Wochentage"}}[p.tally]
		unit := p.say(units[0], units[1])
		a.Heading = p.say("Number of ", "Anzahl ") + unit
		if v == 1 {
			unit = map[string]string{"Tage": "Tag", "Monate": "Monat", "Jahre": "Jahr", "Wochen": "Woche", "Quartale": "Quartal", "Stunden": "Stunde", "Wochentage": "Wochentag"}[unit] + p.say(strings.TrimSuffix(units[0], "s"), "")
		}
		a.Sentences = []string{p.say("", choose(v == 1, "Es ist ", "Es sind ")) + n + " " + unit + p.say(" "+matches, "") + p.bracketed() + "."}
	case p.counted != nil:
		a.Heading = p.say("Different values of ", "Verschiedene Werte von ") + p.named(p.counted)
		a.Sentences = []string{p.say(choose(v == 1, "There is ", "There are "), "Es gibt ") + n + choose(v == 1, p.say(" value of ", " Wert von "), p.say(" different values of ", " verschiedene Werte von ")) + p.named(p.counted) + p.bracketed() + "."}
	case len(p.filters) == 0 && v == 1:
		a.Sentences = []string{p.say("There is 1 row.", "Es gibt 1 Zeile.")}
	case len(p.filters) == 0:
		a.Sentences = []string{fmt.Sprintf(p.say("There are %s %s: one row each.", "Es sind %s %s: je eine Zeile."), n, p.noun())}
	default:
		all := Number(float64(p.v.tables[0].RowCount), 0, p.r.lang)
		german := "Es sind " + n + " " + p.noun() + p.bracketed() + ", von insgesamt " + all + "."
		if v == 1 {
			german = "Es passt 1 von " + all + " Zeilen" + p.bracketed() + "."
		}
		a.Sentences = []string{p.say(n+" of "+all+" "+p.noun()+" "+matches+p.bracketed()+".", german)}
	}
	return ""
}

// unusable says how many values of a column are unusable and how many are missing.
func (p *plan) unusable(f *field) string {
	bad, none := Number(float64(f.Unusable), 0, p.r.lang), Number(float64(f.Missing), 0, p.r.lang)
	if p.r.lang == German {
		return bad + choose(f.Unusable == 1, " Wert von ", " Werte von ") + p.named(f) + choose(f.Unusable == 1, " ist", " sind") + " unbrauchbar und " + none + choose(f.Missing == 1, " fehlt", " fehlen")
	}
	return bad + choose(f.Unusable == 1, " value of ", " values of ") + p.named(f) + choose(f.Unusable == 1, " is", " are") + " unusable and " + none + choose(f.Missing == 1, " is", " are") + " missing"
}

// outside says whether the question asks of a time before or after that of all rows.
func (p *plan) outside() bool {
	return slices.ContainsFunc(p.filters, func(f filter) bool {
		if f.period == nil || f.field == nil || f.period.year == 0 {
			return false
		}
		low, high := fmt.Sprint(f.field.Min), fmt.Sprint(f.field.Max)
		first, last := f.period.first(), f.period.last()
		return last < low[:min(len(low), len(last))] || first > high[:min(len(high), len(first))]
	})
}

// noun is what the question calls the rows.
func (p *plan) noun() string {
	if p.called != "" {
		return p.called
	}
	for i, x := range p.ps {
		if x.kind == kindEntity && x.arg == "rows" && !p.r.ts[x.from].part && i > 0 && (p.ps[i-1].kind == kindAsk || p.ps[i-1].kind == kindValue && p.asked(i) != nil && x.from == p.ps[i-1].to) {
			return p.r.ts[x.from].raw
		}
	}
	return p.say("rows", "Zeilen")
}

// rowsCalled is the word of the question for the rows, wherever it stands.
func (p *plan) rowsCalled() string {
	if n := p.noun(); n != p.say("rows", "Zeilen") {
		return n
	}
	for _, x := range p.ps {
		if t := p.r.ts[x.from]; x.kind == kindEntity && x.arg == "rows" && !t.part && !strings.HasSuffix(t.fold, "ed") && slices.Contains(p.v.entity, t.stem) {
			return t.raw
		}
	}
	for _, x := range p.ps {
		if x.kind == kindField && x.field.key(p.r.lex) && x.field != p.target {
			return p.r.ts[x.from].raw
		}
	}
	return p.say("rows", "Zeilen")
}

// keyCount is how many columns of the result are keys.
func (p *plan) keyCount() int {
	q := newQuery(p.v, false)
	cols, _, _ := p.keys(q)
	return len(cols)
}

// key writes the keys of a row.
func (p *plan) key(row []any) string {
	var out []string
	for i, f := range p.keyOf() {
		unit := ""
		if f == nil {
			unit, f = p.unit, nil
		}
		out = append(out, p.cell(row[i], f, unit))
	}
	if len(out) == 2 && p.op == opRank && len(p.keyFields()) == 2 && p.keyFields()[0].yearly(p.r.lex) {
		return out[1] + " " + out[0]
	}
	if p.op == opRank && p.target != nil && p.nameFor(p.target) != nil && len(out) > 1 {
		return out[0] + " [" + out[1] + "]" + strings.Join(append([]string{""}, out[2:]...), ", ")
	}
	return strings.Join(out, ", ")
}

// keyOf are the columns of the keys; nil stands for a unit of time.
func (p *plan) keyOf() []*field {
	var out []*field
	for _, g := range p.keyFields() {
		if g == p.time && p.unit != "" {
			continue
		}
		out = append(out, g)
	}
	if p.unit != "" {
		if p.time != nil && !p.time.dated() {
			return append(out, p.time)
		}
		out = append(out, nil)
	}
	return out
}

func (p *plan) sayGroups(a *Answer) Reason {
	k := p.keyCount()
	for _, m := range p.measureList() {
		if m != nil && m.how == "" && !p.oneEach() {
			return ReasonAmbiguous
		}
	}
	if p.op == opCompare && len(a.Result.Rows) < 2 {
		return ReasonEmpty
	}
	if p.op == opGroups && k == 1 && p.temporal() {
		a.Result.Rows = slices.Clone(a.Result.Rows)
		slices.SortStableFunc(a.Result.Rows, func(x, y []any) int { return compareCells(x[0], y[0]) })
	}
	var parts []string
	rows := a.Result.Rows
	for _, row := range rows[:min(len(rows), 12)] {
		var vs []string
		for i, m := range p.measureList() {
			vs = append(vs, p.value(row, k+i, m))
		}
		parts = append(parts, p.key(row)+": "+strings.Join(vs, " / "))
	}
	var names []string
	for _, m := range p.measureList() {
		names = append(names, p.measured(m))
	}
	more := ""
	if len(rows) > 12 {
		more = fmt.Sprintf(p.say("; and %d more", "; und %d weitere"), len(rows)-12)
	}
	by := ""
	if p.op == opGroups {
		by = p.say(" by ", " nach ") + p.keyNames()
	}
	skip := -1
	if p.op == opCompare {
		skip = slices.IndexFunc(p.filters, func(f filter) bool { return f.field == p.either })
	}
	a.Sentences = []string{p.heading(p.enumerate(names)) + by + p.conds(skip) + " – " + strings.Join(parts, "; ") + more + "."}
	a.Heading = p.heading(p.enumerate(names)) + by
	p.compared(a, k)
	p.chart(a, k, len(p.measureList()))
	return ""
}

// oneEach says whether each group is one row.
func (p *plan) oneEach() bool {
	fs := p.keyFields()
	return len(fs) == 1 && p.unit == "" && fs[0].table == 0 && fs[0].unique(p.v.tables[0].RowCount)
}

// compared adds the difference of two values, or their sum.
func (p *plan) compared(a *Answer, k int) {
	rows := a.Result.Rows
	if p.op != opCompare || len(p.measureList()) != 1 {
		return
	}
	m := p.measureList()[0]
	if len(rows) == 2 {
		x, _ := at(rows[0], k)
		y, _ := at(rows[1], k)
		high, low := rows[0], rows[1]
		if y > x {
			high, low, x, y = rows[1], rows[0], y, x
		}
		if x == y {
			a.Sentences = append(a.Sentences, p.say("Both are equal.", "Beide sind gleich."))
			return
		}
		var f *field
		if m != nil {
			f = m.field
		}
		a.Sentences = append(a.Sentences, fmt.Sprintf(p.say("%s is %[3]s above %[2]s.", "%s liegt um %[3]s über %[2]s."), p.key(high), p.key(low), p.amount(x-y, f)))
	}
	if m == nil || m.how == "sum" {
		sum := 0.0
		for _, r := range rows {
			v, _ := at(r, k)
			sum += v
		}
		var f *field
		if m != nil {
			f = m.field
		}
		last := len(a.Sentences) - 1
		a.Sentences[last] = strings.TrimSuffix(a.Sentences[last], ".") + fmt.Sprintf(p.say("; together %s.", "; zusammen %s."), p.amount(sum, f))
	}
}

// value writes the number of a measure in a row.
func (p *plan) value(row []any, i int, m *measure) string {
	v, ok := at(row, i)
	switch {
	case m != nil && (m.field.dated() || m.field.text()):
		if i < len(row) {
			return p.cell(row[i], m.field, "")
		}
	case !ok:
		return "–"
	case m == nil:
		return Number(v, 2, p.r.lang)
	case m.how != "sum" && m.how != "avg" && v == math.Trunc(v) && v >= 1500 && v <= 2100 && namesYear(m.field):
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return p.amount(v, m.field)
}

// namesYear says that a name is that of a year, Baujahr or model year, which has no thousands sign.
func namesYear(f *field) bool {
	return slices.ContainsFunc(f.words, func(w word) bool { return w.fold == "year" || strings.HasSuffix(w.fold, "jahr") })
}

func (p *plan) keyNames() string {
	var out []string
	for _, f := range p.keyOf() {
		if f == nil {
			out = append(out, p.unitName())
			continue
		}
		out = append(out, p.named(f))
	}
	return p.enumerate(out)
}

func (p *plan) sayRank(a *Answer) Reason {
	k := p.keyCount()
	ways := p.rankBy()
	single := !slices.ContainsFunc(a.Result.Rows, func(row []any) bool { n, _ := at(row, len(row)-1); return n > 1 })
	if single && p.first() == nil && len(a.Result.Rows) > 1 {
		return ReasonAmbiguous // each has one row: nothing is ranked
	}
	var said []string
	for w, how := range ways {
		m := p.first()
		if m != nil {
			m = &measure{field: m.field, how: how}
			if single && m.field.factors == nil {
				m.how = "max" // one row each: neither a total nor a mean
			}
		}
		rows := slices.Clone(a.Result.Rows)
		slices.SortStableFunc(rows, func(x, y []any) int {
			c := compareCells(y[k+w], x[k+w])
			if p.sup.arg == "asc" {
				c = -c
			}
			return c
		})
		n := min(p.n, len(rows))
		for n < len(rows) && n < 20 && compareCells(rows[n][k+w], rows[n-1][k+w]) == 0 {
			n++ // those that are equal
		}
		if n > max(p.n, 1)+8 {
			return ReasonAmbiguous
		}
		var names []string
		for _, row := range rows[:n] {
			names = append(names, p.key(row))
		}
		if w > 0 && len(said) > 0 && strings.HasPrefix(said[0], p.enumerate(names)+"\x00") {
			continue // the same answer whichever is meant
		}
		if w > 0 && !p.mayBoth() {
			return ReasonAmbiguous
		}
		said = append(said, p.enumerate(names)+"\x00"+p.ranked(rows[:n], k+w, m))
		if w == 0 {
			a.Result.Rows = rows
		}
	}
	if len(said) > 2 {
		return ReasonAmbiguous
	}
	if p.first() == nil && p.counted == nil && single && len(a.Result.Rows) > 1 {
		return ReasonUnclear // one row each: nothing is the most
	}
	for i := range said {
		_, said[i], _ = strings.Cut(said[i], "\x00")
	}
	a.Sentences = said
	a.Heading = p.heading(p.measured(p.rankMeasure())) + p.say(" by ", " nach ") + p.keyNames()
	if len(a.Result.Rows) > 1 {
		p.chart(a, k, 1)
	}
	return ""
}

// mayBoth says whether a ranking by the extreme and one by the mean are both told.
func (p *plan) mayBoth() bool { return p.nature(p.first().field) == "rate" && p.n == 1 }

func (p *plan) rankMeasure() *measure {
	m := p.first()
	if m == nil {
		return nil
	}
	return &measure{field: m.field, how: p.rankBy()[0]}
}

// ranked states the first of a ranking.
func (p *plan) ranked(rows [][]any, i int, m *measure) string {
	low := p.sup.arg == "asc"
	one := len(rows) == 1
	var names []string
	for _, r := range rows {
		name := p.key(r)
		if p.timely() {
			name = p.during(name)
		}
		if !one {
			name += " (" + p.value(r, i, m) + ")"
		}
		names = append(names, name)
	}
	end := p.conds() + "."
	if one {
		end = p.conds() + ": " + p.value(rows[0], i, m) + "."
	}
	if p.timely() {
		return p.peaked(m, low, p.enumerate(names)) + end
	}
	return p.enumerate(names) + choose(one, p.say(" has ", " hat "), p.say(" have ", " haben ")) + p.possession(m, low) + end
}

func compareCells(x, y any) int {
	a, ok := at([]any{x}, 0)
	b, ok2 := at([]any{y}, 0)
	s, isText := x.(string)
	t, isText2 := y.(string)
	if isText && isText2 && len(s) > 7 && len(t) > 7 && strings.Contains(s, "-") {
		return strings.Compare(s, t)
	}
	switch {
	case ok && ok2:
		return cmp.Compare(a, b)
	case isText && isText2:
		return strings.Compare(s, t)
	case ok:
		return 1
	case ok2:
		return -1
	}
	return 0
}

func (p *plan) sayExtreme(a *Answer) Reason {
	f := p.measures[0].field
	rows := a.Result.Rows
	n := 1
	for n < len(rows) && compareCells(rows[n][0], rows[0][0]) == 0 {
		n++
	}
	if p.n > 1 {
		n = min(p.n, len(rows))
	}
	labels := p.extremeLabels()
	var names []string
	for _, row := range rows[:min(n, 5)] {
		var parts []string
		if p.n > 1 {
			parts = append(parts, p.cell(row[0], f, ""))
		}
		for i, l := range labels {
			parts = append(parts, p.cell(row[i+1], l, ""))
		}
		names = append(names, strings.Join(parts, ", "))
	}
	m := &measure{field: f, how: map[string]string{"asc": "min"}[p.sup.arg]}
	if m.how == "" {
		m.how = "max"
	}
	low, verb := p.sup.arg == "asc", p.is(p.quantityOf(f))
	if q := p.quantityOf(f); f.dated() || q.counts || p.r.lang == German && q.gender == "" {
		verb = p.say("is", "ist")
	}
	s := p.extreme(m, low) + p.conds() + " " + verb + " " + p.cell(rows[0][0], f, "")
	if len(labels) > 0 && n <= 5 {
		s += " (" + strings.Join(names, "; ") + ")"
	}
	a.Heading, a.Sentences = p.heading(p.extreme(m, low)), []string{s + "."}
	return ""
}

func (p *plan) sayShare(a *Answer) Reason {
	k := p.shareCond()
	what := p.say("rows", "Zeilen")
	if m := p.first(); m != nil {
		what = p.named(m.field)
	}
	a.Heading = p.say("Share of ", "Anteil an ") + what
	if len(p.groups) == 1 {
		i := 2
		if k >= 0 {
			i = 1
		}
		var parts []string
		rows := a.Result.Rows
		for _, row := range rows[:min(len(rows), 12)] {
			v, _ := at(row, i)
			parts = append(parts, p.cell(row[0], p.groups[0], "")+": "+p.percent(v))
		}
		if len(rows) > 12 {
			parts = append(parts, fmt.Sprintf(p.say("and %d more", "und %d weitere"), len(rows)-12))
		}
		a.Sentences = []string{fmt.Sprintf(p.say("Share of %s by %s%s – %s.", "Anteil an %s nach %s%s – %s."), what, p.named(p.groups[0]), p.conds(), strings.Join(parts, "; "))}
		p.chart(a, 1, 1)
		return ""
	}
	row := a.Result.Rows[0]
	v, ok := at(row, 0)
	if !ok {
		return ReasonEmpty
	}
	part, _ := at(row, 1)
	whole, _ := at(row, 2)
	var f *field
	if m := p.first(); m != nil {
		f = m.field
	}
	if f != nil && f.unit() != "" {
		what = "(" + what + ")"
	}
	a.Sentences = []string{fmt.Sprintf(p.say("%s makes up %s: %s of %s %s%s.", "Auf %s entfallen %s: %s von %s %s%s."), p.filters[k].text, p.percent(v), p.amount(part, f), p.amount(whole, f), what, p.conds(k))}
	return ""
}

func (p *plan) percent(v float64) string { return Number(v, 2, p.r.lang) + "\u00a0%" }
