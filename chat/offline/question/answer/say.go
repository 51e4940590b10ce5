package answer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"atelier/chat/offline/question/plan"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// phrases provides the words for what a plan is about.
type phrases struct {
	*plan.Plan
	places int // the decimals that figures keep; 2 if it is less
}

// ofRow is the number of decimals that a figure keeps if it is one value of the table, no total and no mean.
const ofRow = 6

// align keeps so many decimals of two values that their difference is that of the values as stated.
func (p *phrases) align(from, to float64) {
	round := func(v float64) float64 {
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'f', p.places, 64), 64)
		return v
	}
	if equal(from, to) {
		return
	}
	p.places = max(p.places, 2, speech.Places(from, 2), speech.Places(to, 2), speech.Places(to-from, 2))
	for p.places < 12 && round(round(to)-round(from)) != round(to-from) {
		p.places++
	}
}

// equal reports whether two values differ by no more than the error of their computation.
func equal(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b)) }

// reply states the result of a plan in sentences.
type reply struct {
	phrases
	total int // the number of rows of the result, at most Fetched; it may hold fewer
}

// partial reports whether a result holds only the first rows of its statement.
func (p *reply) partial(res schema.Result) bool { return len(res.Rows) < p.total || p.total >= Fetched }

// tied returns how many rows are the first n and those that are equal to the last of these in a column.
func tied(rows [][]any, column, n int) int {
	n = min(n, len(rows))
	for n < len(rows) && schema.CompareCells(rows[n][column], rows[n-1][column]) == 0 {
		n++
	}
	return n
}

// oneEach reports whether no row counts more than one in a column.
func oneEach(rows [][]any, column int) bool {
	return !slices.ContainsFunc(rows, func(row []any) bool { n, _ := schema.Figure(row, column); return n > 1 })
}

// rest says how many of all are not among the n that a sentence states.
func (p *reply) rest(n, all int) string {
	if all <= n {
		return ""
	}
	return fmt.Sprintf(p.Say("; and %s%d more", "; und %s%d weitere"), p.least(all), all-n)
}

// least returns "at least" for a number of rows that may be greater.
func (p *reply) least(rows int) string {
	return choose(rows >= Fetched, p.Say("at least ", "mindestens "), "")
}

// New states the result of a plan; a Reason says why it states nothing.
func New(of *plan.Plan, res schema.Result, paths []string) (*Answer, plan.Reason) {
	p := &reply{phrases: phrases{Plan: of}}
	if len(res.Rows) == 0 || res.Truncated && p.Op != plan.OpList {
		return nil, plan.ReasonEmpty
	}
	p.total = max(len(res.Rows), int(res.RowCount))
	if p.partial(res) && (p.Op == plan.OpTrend || p.Op == plan.OpCourse) {
		return nil, plan.ReasonAmbiguous // the last time is not among the rows
	}
	a := &Answer{Result: res, Paths: paths, OnlyFigure: p.Op == plan.OpValue && len(p.Measures) == 1 || p.Op == plan.OpCount || p.Op == plan.OpMeter}
	for i, f := range p.Filters { // the conditions in the words of the question's language
		p.Filters[i].Text = strings.Replace(f.Text, ": ≠ ", p.Say(" other than ", " außer "), 1)
		if p.Text.Lang == speech.German && f.Field != nil && f.Field.Boolean() {
			p.Filters[i].Text = strings.NewReplacer("= yes", "= ja", "= no", "= nein").Replace(p.Filters[i].Text)
		}
	}
	if reason := operations[p.Op].say(p, a); reason != "" {
		return nil, reason
	}
	a.Sentences[0] = speech.Upper(a.Sentences[0])
	a.Sentences = append(a.Sentences, p.caveats()...)
	p.table(a)
	return a, ""
}

// caveats states which rows are left out because they have no value of a measure or of what is grouped by.
func (p *phrases) caveats() []string {
	var fields []*schema.Field
	if m := p.First(); m != nil && m.Field.Factors != nil {
		fields = append(fields, m.Field.Factors...)
	} else if m != nil {
		fields = append(fields, m.Field)
	}
	keys := p.KeyFields()
	switch {
	case p.Op == plan.OpCompare:
		keys = nil // two values are compared
	case p.Op == plan.OpShare && !p.ofMissing(p.Filters[p.ShareCond()]):
		keys = []*schema.Field{p.Filters[p.ShareCond()].Field}
	}
	if p.Unit != "" {
		keys = append(slices.Clip(keys), p.Time)
	}
	for _, f := range keys {
		if f.Table == 0 && !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	var out []string
	for _, f := range fields {
		if s := p.caveat(f); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// ofMissing reports whether a condition is that a value is missing.
func (p *phrases) ofMissing(f plan.Filter) bool {
	return strings.HasSuffix(f.Condition(plan.NewQuery(p.View, false)), "IS NULL")
}

// caveat says how many values of a column are unusable or missing, and that they are left out.
func (p *phrases) caveat(f *schema.Field) string {
	none, number := f.Unusable+f.Missing, func(n int64) string { return speech.Number(float64(n), 0, p.Text.Lang) }
	var parts []string
	if f.Unusable > 0 {
		parts = append(parts, fmt.Sprintf(choose(f.Unusable == 1, p.Say("%s is unusable", "ist %s unbrauchbar"), p.Say("%s are unusable", "sind %s unbrauchbar")), number(f.Unusable)))
	}
	if f.Missing > 0 {
		parts = append(parts, fmt.Sprintf(choose(f.Missing == 1, p.Say("%s is missing", "fehlt %s"), p.Say("%s are missing", "fehlen %s")), number(f.Missing)))
	}
	if none == 0 {
		return ""
	}
	return fmt.Sprintf(p.Say("Of the %s values of %s in the table, %s; %s left out.", "Von den %s Werten von %s in der Tabelle %s; %s nicht mitgerechnet."),
		number(p.View.Tables[f.Table].RowCount), p.named(f), p.Enumerate(parts), choose(none == 1, p.Say("it is", "er ist"), p.Say("these are", "sie sind")))
}

func (p *reply) sayValue(a *Answer) plan.Reason {
	row := a.Result.Rows[0]
	n := len(p.Measures)
	count, ok := schema.Figure(row, n)
	if !ok || count == 0 {
		return plan.ReasonEmpty
	}
	least, _ := schema.Figure(row, n+2)
	greatest, _ := schema.Figure(row, n+3)
	overTime := slices.ContainsFunc(p.Filters, func(f plan.Filter) bool { return f.Period != nil && f.Period.Unit != "day" })
	var parts []string
	for i := range p.Measures {
		m := p.Measures[i]
		v, ok := schema.Figure(row, i)
		if !ok {
			return plan.ReasonEmpty
		}
		open := p.Aggregate == "" && p.Asks != "many"
		once := count == 1 && m.Field.Factors == nil
		p.places = choose(once, ofRow, 0)
		switch {
		case (open || m.How == "sum") && once, open && (m.How == "avg" || m.How == "") && least == greatest:
			m.How = ""
		case open && m.How == "":
			return plan.ReasonAmbiguous
		case open && m.How == "sum" && count > 2 && least == greatest && least != 0 && p.AsksHeight():
			return plan.ReasonAmbiguous // the fee of each, or of all
		case open && m.How == "avg" && !overTime:
			return plan.ReasonAmbiguous
		}
		subject, verb := p.amounts(&m)
		parts = append(parts, subject+p.conds()+" "+verb+" "+p.amount(v, m.Field))
	}
	a.Heading = speech.Upper(p.MeasureName(&p.Measures[0]))
	rests := ""
	if p.Measures[0].How == "avg" && count > 1 {
		rests = fmt.Sprintf(p.Say(", from %s values", ", aus %s Werten"), speech.Number(count, 0, p.Text.Lang))
	}
	a.Sentences = []string{strings.Join(parts, p.Say(", and ", ", und ")) + rests + "."}
	return ""
}

func (p *reply) sayCount(a *Answer) plan.Reason {
	v, ok := schema.Figure(a.Result.Rows[0], 0)
	if !ok {
		return plan.ReasonEmpty
	}
	if v == 0 && p.outside() {
		return plan.ReasonEmpty // the rows are of another time
	}
	n := speech.Number(v, 0, p.Text.Lang)
	matches := p.Say("match", "") + choose(v == 1, p.Say("es", ""), "")
	a.Heading = p.Say("Number of ", "Anzahl ") + p.noun()
	switch {
	case p.Op == plan.OpUnusable:
		a.Heading = p.Say("Rows without ", "Zeilen ohne ") + p.named(p.Counted)
		a.Sentences = []string{p.unusable(p.Counted) + p.Say(", so ", "; ") + n + choose(v == 1, p.Say(" of the rows has no value.", " der Zeilen hat also keinen Wert."), p.Say(" of the rows have no value.", " der Zeilen haben also keinen Wert."))}
	case p.Tally != "":
		german := map[string]string{"day": "Tag|e", "month": "Monat|e", "year": "Jahr|e", "week": "Woche|n", "quarter": "Quartal|e", "hour": "Stunde|n", "weekday": "Wochentag|e"}
		one, ending, _ := strings.Cut(p.Say(p.Tally+"|s", german[p.Tally]), "|")
		a.Heading = p.Say("Number of ", "Anzahl ") + one + ending
		unit := choose(v == 1, one, one+ending)
		a.Sentences = []string{p.Say("", choose(v == 1, "Es ist ", "Es sind ")) + n + " " + unit + p.Say(" "+matches, "") + p.bracketed() + "."}
	case p.Counted != nil:
		a.Heading = p.Say("Different values of ", "Verschiedene Werte von ") + p.named(p.Counted)
		a.Sentences = []string{p.Say(choose(v == 1, "There is ", "There are "), "Es gibt ") + n + choose(v == 1, p.Say(" value of ", " Wert von "), p.Say(" different values of ", " verschiedene Werte von ")) + p.named(p.Counted) + p.bracketed() + "."}
	case len(p.Filters) == 0 && v == 1:
		a.Sentences = []string{p.Say("There is 1 row.", "Es gibt 1 Zeile.")}
	case len(p.Filters) == 0:
		a.Sentences = []string{fmt.Sprintf(p.Say("There are %s %s: one row each.", "Es sind %s %s: je eine Zeile."), n, p.noun())}
	default:
		all := speech.Number(float64(p.View.Tables[0].RowCount), 0, p.Text.Lang)
		german := "Es sind " + n + " " + p.noun() + p.bracketed() + ", von insgesamt " + all + "."
		if v == 1 {
			german = "Es passt 1 von " + all + " Zeilen" + p.bracketed() + "."
		}
		a.Sentences = []string{p.Say(n+" of "+all+" "+p.noun()+" "+matches+p.bracketed()+".", german)}
	}
	return ""
}

// unusable says how many values of a column are unusable and how many are missing.
func (p *phrases) unusable(f *schema.Field) string {
	bad, none := speech.Number(float64(f.Unusable), 0, p.Text.Lang), speech.Number(float64(f.Missing), 0, p.Text.Lang)
	if p.Text.Lang == speech.German {
		return bad + choose(f.Unusable == 1, " Wert von ", " Werte von ") + p.named(f) + choose(f.Unusable == 1, " ist", " sind") + " unbrauchbar und " + none + choose(f.Missing == 1, " fehlt", " fehlen")
	}
	return bad + choose(f.Unusable == 1, " value of ", " values of ") + p.named(f) + choose(f.Unusable == 1, " is", " are") + " unusable and " + none + choose(f.Missing == 1, " is", " are") + " missing"
}

// outside reports whether the question asks about a time before or after that of all rows.
func (p *reply) outside() bool {
	return slices.ContainsFunc(p.Filters, func(f plan.Filter) bool {
		if f.Period == nil || f.Field == nil || f.Period.Year == 0 {
			return false
		}
		low, high := fmt.Sprint(f.Field.Min), fmt.Sprint(f.Field.Max)
		first, last := f.Period.First(), f.Period.Last()
		return last < low[:min(len(low), len(last))] || first > high[:min(len(high), len(first))]
	})
}

// noun returns what the question calls the rows.
func (p *phrases) noun() string {
	if p.Called != "" {
		return p.Called
	}
	for i, x := range p.Pieces {
		if x.Rows() && !p.Text.Tokens[x.From].Part && i > 0 && (p.Pieces[i-1].Kind == speech.KindAsk || p.Pieces[i-1].Kind == speech.KindValue && p.Asked(i) != "" && x.From == p.Pieces[i-1].To) {
			return p.Text.Tokens[x.From].Raw
		}
	}
	return p.Say("rows", "Zeilen")
}

// rowsCalled returns the question's word for the rows, wherever it occurs.
func (p *phrases) rowsCalled() string {
	if n := p.noun(); n != p.Say("rows", "Zeilen") {
		return n
	}
	for _, x := range p.Pieces {
		if t := p.Text.Tokens[x.From]; x.Rows() && !t.Part && !strings.HasSuffix(t.Fold, "ed") && slices.Contains(p.View.Entity, t.Stem) {
			return t.Raw
		}
	}
	for _, x := range p.Pieces {
		if x.Kind == speech.KindField && x.Field.Key() && x.Field != p.Target {
			return p.Text.Tokens[x.From].Raw
		}
	}
	return p.Say("rows", "Zeilen")
}

// key formats the keys of a row.
func (p *phrases) key(row []any) string {
	var out []string
	for i, f := range p.KeyOf() {
		unit := ""
		if f == nil {
			unit = p.Unit
		}
		out = append(out, p.cell(row[i], f, unit))
	}
	if len(out) == 2 && p.Op == plan.OpRank && len(p.KeyFields()) == 2 && p.KeyFields()[0].Yearly() {
		return out[1] + " " + out[0]
	}
	if p.Op == plan.OpRank && p.Target != nil && p.View.NameFor(p.Target) != nil && len(out) > 1 {
		return out[0] + " [" + out[1] + "]" + strings.Join(append([]string{""}, out[2:]...), ", ")
	}
	return strings.Join(out, ", ")
}

func (p *reply) sayGroups(a *Answer) plan.Reason {
	k := len(p.KeyOf())
	for _, m := range p.MeasureList() {
		if m != nil && !p.OneEach() && (m.How == "" || m.How == "avg" && p.Asks == "much" && p.Aggregate == "" && p.View.OfMoney(m.Field)) {
			return plan.ReasonAmbiguous // what a dish costs: its ingredients together, or one of them on average
		}
	}
	if p.Op == plan.OpCompare && len(a.Result.Rows) < 2 {
		return plan.ReasonEmpty
	}
	if p.Op == plan.OpGroups && k == 1 && p.temporal() {
		a.Result.Rows = slices.Clone(a.Result.Rows)
		slices.SortStableFunc(a.Result.Rows, func(x, y []any) int { return schema.CompareCells(x[0], y[0]) })
	}
	var parts []string
	rows := a.Result.Rows
	if p.Op == plan.OpCompare && len(rows) == 2 {
		x, _ := schema.Figure(rows[0], k)
		y, _ := schema.Figure(rows[1], k)
		p.align(x, y)
	}
	for _, row := range rows[:min(len(rows), 12)] {
		var vs []string
		for i, m := range p.MeasureList() {
			vs = append(vs, p.value(row, k+i, m))
		}
		parts = append(parts, p.key(row)+": "+strings.Join(vs, " / "))
	}
	var names []string
	for _, m := range p.MeasureList() {
		names = append(names, p.measured(m))
	}
	by := ""
	if p.Op == plan.OpGroups {
		by = p.Say(" by ", " nach ") + p.keyNames()
	}
	skip := -1
	if p.Op == plan.OpCompare {
		skip = slices.IndexFunc(p.Filters, func(f plan.Filter) bool { return f.Field == p.Either })
	}
	a.Sentences = []string{p.Heading(p.Enumerate(names)) + by + p.conds(skip) + " – " + strings.Join(parts, "; ") + p.rest(12, p.total) + "."}
	a.Heading = p.Heading(p.Enumerate(names)) + by
	p.compared(a, k)
	p.chart(a, k, len(p.MeasureList()))
	return ""
}

// compared adds the difference of two values, or their sum.
func (p *reply) compared(a *Answer, k int) {
	rows := a.Result.Rows
	if p.Op != plan.OpCompare || len(p.MeasureList()) != 1 {
		return
	}
	m := p.MeasureList()[0]
	if len(rows) == 2 {
		x, ok := schema.Figure(rows[0], k)
		y, ok2 := schema.Figure(rows[1], k)
		if !ok || !ok2 {
			return // a value that is missing is not zero
		}
		high, low := rows[0], rows[1]
		if y > x {
			high, low, x, y = rows[1], rows[0], y, x
		}
		if equal(x, y) {
			a.Sentences = append(a.Sentences, p.Say("Both are equal.", "Beide sind gleich."))
			return
		}
		a.Sentences = append(a.Sentences, fmt.Sprintf(p.Say("%s is %[3]s above %[2]s.", "%s liegt um %[3]s über %[2]s."), p.key(high), p.key(low), p.difference(x-y, m.Column())))
	}
	if m == nil || m.How == "sum" {
		sum := 0.0
		for _, r := range rows {
			v, _ := schema.Figure(r, k)
			sum += v
		}
		last := len(a.Sentences) - 1
		a.Sentences[last] = strings.TrimSuffix(a.Sentences[last], ".") + fmt.Sprintf(p.Say("; together %s.", "; zusammen %s."), p.amount(sum, m.Column()))
	}
}

// value formats the number of a measure in a row.
func (p *phrases) value(row []any, i int, m *plan.Measure) string {
	v, ok := schema.Figure(row, i)
	switch {
	case m != nil && (m.Field.Dated() || m.Field.Text()):
		if i < len(row) {
			return p.cell(row[i], m.Field, "")
		}
	case !ok:
		return "–"
	case m == nil:
		return speech.Number(v, 2, p.Text.Lang)
	case m.How != "sum" && m.How != "avg" && v == math.Trunc(v) && v >= 1500 && v <= 2100 && namesYear(m.Field):
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return p.amount(v, m.Field)
}

// namesYear reports whether a name is that of a year, Baujahr or model year, which has no thousands separator.
func namesYear(f *schema.Field) bool {
	return f.Yearly() || slices.ContainsFunc(f.Words, func(w speech.Word) bool { return w.Fold == "year" || strings.HasSuffix(w.Fold, "jahr") })
}

func (p *phrases) keyNames() string {
	var out []string
	for _, f := range p.KeyOf() {
		if f == nil {
			out = append(out, p.UnitName())
			continue
		}
		out = append(out, p.named(f))
	}
	return p.Enumerate(out)
}

func (p *reply) sayRank(a *Answer) plan.Reason {
	k := len(p.KeyOf())
	ways := p.RankBy()
	single := oneEach(a.Result.Rows, len(a.Result.Columns)-1)
	if single && p.First() == nil && len(a.Result.Rows) > 1 {
		return plan.ReasonAmbiguous // each has one row: nothing is ranked
	}
	if len(ways) > 1 && p.partial(a.Result) {
		return plan.ReasonAmbiguous // the result holds the first by one way only
	}
	first := "" // the names that the first way finds
	for w, how := range ways {
		m := p.First()
		if m != nil {
			m = &plan.Measure{Field: m.Field, How: how}
			if single && m.Field.Factors == nil {
				m.How = "max" // one row each: neither a total nor a mean
			}
		}
		rows := slices.Clone(a.Result.Rows)
		slices.SortStableFunc(rows, func(x, y []any) int {
			c := schema.CompareCells(y[k+w], x[k+w])
			if p.Superlative.Arg == "asc" {
				c = -c
			}
			return c
		})
		n := tied(rows, k+w, p.N)
		if n > p.N+8 || m == nil && p.Counted == nil && p.Superlative.About == "rows" && n == len(rows) && n > 1 {
			return plan.ReasonAmbiguous // every hour has one row for each day: nothing says which is the busiest
		}
		p.places = choose(m != nil && (m.How == "max" || m.How == "min"), ofRow, 0)
		var names []string
		for _, row := range rows[:n] {
			names = append(names, p.key(row))
		}
		switch found := p.Enumerate(names); {
		case w == 0:
			first, a.Result.Rows = found, rows
		case found == first:
			continue // the same answer whichever is meant
		case p.Nature(p.First().Field) != "avg" || p.N != 1:
			return plan.ReasonAmbiguous // by the extreme, or by the mean
		}
		a.Sentences = append(a.Sentences, p.ranked(rows[:n], k+w, m))
	}
	m := p.First()
	if m != nil {
		m = &plan.Measure{Field: m.Field, How: ways[0]}
	}
	a.Heading = p.Heading(p.measured(m)) + p.Say(" by ", " nach ") + p.keyNames()
	if len(a.Result.Rows) > 1 {
		p.chart(a, k, 1)
	}
	return ""
}

// ranked states the first of a ranking.
func (p *reply) ranked(rows [][]any, i int, m *plan.Measure) string {
	low := p.Superlative.Arg == "asc"
	one := len(rows) == 1
	var names []string
	for _, r := range rows {
		name := p.key(r)
		if t, ok := p.Text.ValuePeriod(name); ok && p.timely() {
			name = p.During(t)
		} else if p.timely() {
			name = p.Say("in ", "im ") + name
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
		return p.peaked(m, low, p.Enumerate(names)) + end
	}
	return p.Enumerate(names) + choose(one, p.Say(" has ", " hat "), p.Say(" have ", " haben ")) + p.possession(m, low) + end
}

func (p *reply) sayExtreme(a *Answer) plan.Reason {
	f := p.Measures[0].Field
	p.places = ofRow
	rows := a.Result.Rows
	n := tied(rows, 0, 1)
	if p.N > 1 {
		n = min(p.N, len(rows))
	}
	labels := p.ExtremeLabels()
	if f.Difference && len(labels) == 0 {
		return plan.ReasonUnclear // by how much in one row, but not of what
	}
	if p.Asks == "who" && (n > 5 || len(labels) == 0) {
		return plan.ReasonAmbiguous // a figure is not a name
	}
	var names []string
	for _, row := range rows[:min(n, 5)] {
		var parts []string
		if p.N > 1 {
			parts = append(parts, p.cell(row[0], f, ""))
		}
		for i, l := range labels {
			parts = append(parts, p.cell(row[i+1], l, ""))
		}
		names = append(names, strings.Join(parts, ", "))
	}
	low, q := p.Superlative.Arg == "asc", p.quantityOf(f)
	m := &plan.Measure{Field: f, How: choose(low, "min", "max")}
	verb := p.is(q)
	if f.Dated() || q.counts || p.Text.Lang == speech.German && q.gender == "" {
		verb = p.Say("is", "ist")
	}
	s := p.extreme(m, low) + p.conds() + " " + verb + " " + p.cell(rows[0][0], f, "")
	if len(labels) > 0 && n <= 5 {
		s += " (" + strings.Join(names, "; ") + ")"
	}
	a.Heading, a.Sentences = p.Heading(p.extreme(m, low)), []string{s + "."}
	return ""
}

func (p *reply) sayShare(a *Answer) plan.Reason {
	k := p.ShareCond()
	what := p.Say("rows", "Zeilen")
	if m := p.First(); m != nil {
		what = p.named(m.Field)
	}
	a.Heading = p.Say("Share of ", "Anteil an ") + what
	row := a.Result.Rows[0]
	v, ok := schema.Figure(row, 0)
	if !ok {
		return plan.ReasonEmpty
	}
	part, _ := schema.Figure(row, 1)
	whole, _ := schema.Figure(row, 2)
	f := p.First().Column()
	if f != nil && f.UnitSymbol() != "" {
		what = "(" + what + ")"
	}
	a.Sentences = []string{fmt.Sprintf(p.Say("%s makes up %s: %s of %s %s%s.", "Auf %s entfallen %s: %s von %s %s%s."), p.Filters[k].Text, p.Percent(v), p.amount(part, f), p.amount(whole, f), what, p.conds(k))}
	return ""
}
