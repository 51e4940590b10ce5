package answer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"atelier/chat/offline/question/plan"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// reply states the result of a plan in sentences.
type reply struct {
	phrases
	total int // the number of rows of the result, at most Fetched; it may hold fewer
}

// New states the result of a plan; a Reason says why it states nothing.
func New(of *plan.Plan, res schema.Result, paths []string) (*Answer, plan.Reason) {
	p := &reply{phrases: phrases{Plan: of}}
	if len(res.Rows) == 0 || res.Truncated && p.Op != plan.OpList {
		return nil, plan.ReasonEmpty
	}
	p.total = max(len(res.Rows), int(res.RowCount))
	a := &Answer{Result: res, Paths: paths, OnlyFigure: p.Op == plan.OpValue && len(p.Measures) == 1 || p.Op == plan.OpCount}
	if reason := operations[p.Op].say(p, a); reason != "" {
		return nil, reason
	}
	a.Sentences[0] = speech.Upper(a.Sentences[0])
	a.Sentences = append(a.Sentences, p.caveats()...)
	p.table(a)
	return a, ""
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
	return fmt.Sprintf(p.Say("; and %s%d more", "; und %s%d weitere"), choose(all >= Fetched, p.Say("at least ", "mindestens "), ""), all-n)
}

func (p *reply) sayValue(a *Answer) plan.Reason {
	row, n := a.Result.Rows[0], len(p.Measures)
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
		open := p.Aggregate == "" && p.Asks != "many"
		once := count == 1
		p.places = choose(once, ofRow, 0)
		switch {
		case (open || m.How == "sum") && once, open && m.How == "avg" && least == greatest:
			m.How = ""
		case open && (m.How == "" || m.How == "avg" && !overTime), open && m.How == "sum" && count > 2 && least == greatest && least != 0 && !p.Totals():
			return plan.ReasonAmbiguous // the fee of each, or of all
		}
		the := p.the(&m)
		if article, what, _ := strings.Cut(the, " "); i > 0 && (article == "The" || article == "Die" || article == "Der") {
			the = strings.ToLower(article) + " " + what
		}
		parts = append(parts, the+p.conds()+p.Say(" is ", " beträgt ")+p.cell(row[i], m.Field, ""))
	}
	rests := ""
	if p.Measures[0].How == "avg" && count > 1 {
		rests = fmt.Sprintf(p.Say(", from %s values", ", aus %s Werten"), p.number(count))
	}
	a.Heading = speech.Upper(p.MeasureName(&p.Measures[0]))
	a.Sentences = []string{strings.Join(parts, p.Say(", and ", ", und ")) + rests + "."}
	return ""
}

func (p *reply) sayCount(a *Answer) plan.Reason {
	v, ok := schema.Figure(a.Result.Rows[0], 0)
	if !ok || v == 0 && p.outside() {
		return plan.ReasonEmpty // the rows are of another time
	}
	if rows, ok := schema.Figure(a.Result.Rows[0], 1); ok && rows != v && p.Repeats() {
		return plan.ReasonAmbiguous // how many books were borrowed: how many titles, or how often one
	}
	n, all := p.number(v), p.number(float64(p.View.Tables[0].RowCount))
	matches := p.Say(choose(v == 1, " matches", " match"), "")
	a.Heading = speech.Upper(p.measured(nil))
	switch german := map[string]string{"day": "Tage", "month": "Monate", "year": "Jahre", "quarter": "Quartale", "hour": "Stunden", "weekday": "Wochentage"}[p.Tally]; {
	case p.Tally != "":
		unit := p.Say(p.Tally+choose(v == 1, "", "s"), german)
		a.Sentences = []string{n + " " + unit + matches + p.conds() + "."}
	case p.Counted != nil:
		a.Sentences = []string{p.Say(choose(v == 1, "There is ", "There are "), "Es gibt ") + n + p.Say(choose(v == 1, " value of ", " different values of "), " verschiedene Werte von ") + p.named(p.Counted) + p.conds() + "."}
	case len(p.Filters) == 0:
		a.Sentences = []string{fmt.Sprintf(p.Say("There are %s %s: one row each.", "Es sind %s %s: je eine Zeile."), n, p.rowsCalled())}
	default:
		german := "Es sind " + n + " " + p.rowsCalled() + p.bracketed() + ", von insgesamt " + all + "."
		if v == 1 {
			german = "Es passt 1 von " + all + " Zeilen" + p.bracketed() + "."
		}
		a.Sentences = []string{p.Say(n+" of "+all+" "+p.rowsCalled()+matches+p.bracketed()+".", german)}
	}
	return ""
}

// bracketed returns the conditions, including times, in brackets.
func (p *phrases) bracketed() string {
	var out []string
	for _, f := range p.Filters {
		if f.Text != "" {
			out = append(out, f.Text)
		}
	}
	return " (" + strings.Join(out, "; ") + ")"
}

// outside reports whether the question asks about a time before or after that of all rows.
func (p *reply) outside() bool {
	return slices.ContainsFunc(p.Filters, func(f plan.Filter) bool {
		if f.Period == nil || f.Period.Year == 0 {
			return false
		}
		low, high := fmt.Sprint(f.Field.Min), fmt.Sprint(f.Field.Max)
		first, last := f.Period.First(), f.Period.Last()
		return last < low[:min(len(low), len(last))] || first > high[:min(len(high), len(first))]
	})
}

func (p *reply) sayGroups(a *Answer) plan.Reason {
	k, rows := len(p.KeyOf()), a.Result.Rows
	var names, parts []string
	for _, m := range p.MeasureList() {
		if m != nil && !p.OneEach() && (m.How == "" || m.How == "avg" && p.Asks == "much" && p.Aggregate == "" && p.View.OfMoney(m.Field)) {
			return plan.ReasonAmbiguous // what a dish costs: its ingredients together, or one of them on average
		}
		names = append(names, p.measured(m))
	}
	compare := p.Op == plan.OpCompare
	if compare && len(rows) < 2 {
		return plan.ReasonEmpty
	}
	if compare && len(rows) == 2 {
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
	a.Heading = speech.Upper(p.Enumerate(names)) + choose(compare, "", p.Say(" by ", " nach ")+p.keyNames())
	but := slices.IndexFunc(p.Filters, func(f plan.Filter) bool { return compare && f.Field == p.Either })
	a.Sentences = []string{a.Heading + p.conds(but) + " – " + strings.Join(parts, "; ") + p.rest(12, p.total) + "."}
	if len(p.MeasureList()) == 1 && compare {
		p.compared(a, k)
	}
	p.chart(a, k, len(p.MeasureList()))
	return ""
}

// compared adds the difference of two values, or the sum of several.
func (p *reply) compared(a *Answer, k int) {
	rows, m := a.Result.Rows, p.First()
	sum := 0.0
	for _, r := range rows {
		v, ok := schema.Figure(r, k)
		if !ok {
			return // a value that is missing is not zero
		}
		sum += v
	}
	text := ""
	if len(rows) == 2 {
		x, _ := schema.Figure(rows[0], k)
		y, _ := schema.Figure(rows[1], k)
		high, low := rows[0], rows[1]
		if y > x {
			high, low = low, high
		}
		text = fmt.Sprintf(p.Say("%s is %s above %s", "%s liegt um %s über %s"), p.key(high), p.difference(math.Abs(x-y), m.Column()), p.key(low))
		if x == y {
			text = p.Say("Both are equal", "Beide sind gleich")
		}
	}
	if m == nil || m.How == "sum" {
		text += choose(text == "", "", "; ") + p.Say("together ", "zusammen ") + p.amount(sum, m.Column())
	}
	if text != "" {
		a.Sentences = append(a.Sentences, speech.Upper(text)+".")
	}
}

// value formats the number of a measure in a row.
func (p *phrases) value(row []any, i int, m *plan.Measure) string {
	if m != nil {
		return p.cell(row[i], m.Field, "")
	}
	return p.cell(row[i], nil, "")
}

func (p *reply) sayRank(a *Answer) plan.Reason {
	k, ways := len(p.KeyOf()), p.RankBy()
	if p.Repeats() {
		ways = []string{"", ""} // the most titles, or the most often: the next column is the number of rows
	}
	single := oneEach(a.Result.Rows, len(a.Result.Columns)-1)
	if single && p.First() == nil && len(a.Result.Rows) > 1 || len(ways) > 1 && p.partial(a.Result) {
		return plan.ReasonAmbiguous // each has one row: nothing is ranked; or the result holds the first by one way only
	}
	first := "" // the names that the first way finds
	for w, how := range ways {
		m := p.First()
		if m != nil {
			m = &plan.Measure{Field: m.Field, How: how}
			if single {
				m.How = "" // one row each: neither a total nor a mean
			}
		}
		rows := slices.Clone(a.Result.Rows)
		slices.SortStableFunc(rows, func(x, y []any) int {
			return choose(p.Superlative.Arg == "asc", -1, 1) * schema.CompareCells(y[k+w], x[k+w])
		})
		n := tied(rows, k+w, p.N)
		if n > p.N+8 || m == nil && p.Counted == nil && n == len(rows) && n > 1 {
			return plan.ReasonAmbiguous // every hour has one row for each day: nothing says which is the busiest
		}
		if label, ok := rows[0][0].(string); ok && p.Unit != "" && p.Superlative.Arg == "asc" && (m == nil || m.How == "sum") {
			if t, ok := p.Text.ValuePeriod(label); ok && p.cut(t) {
				return plan.ReasonAmbiguous // the lowest month is one that has just begun
			}
		}
		p.places = choose(m != nil && m.How != "sum" && m.How != "avg", ofRow, 0)
		var names []string
		for _, row := range rows[:n] {
			names = append(names, p.key(row))
		}
		switch found := p.Enumerate(names); {
		case w == 0:
			first, a.Result.Rows = found, rows
		case found == first:
			continue // the same answer whichever is meant
		default:
			return plan.ReasonAmbiguous // by the extreme, or by the mean
		}
		a.Sentences = append(a.Sentences, p.ranked(rows[:n], k+w, m))
	}
	m := p.First()
	if m != nil {
		m = &plan.Measure{Field: m.Field, How: ways[0]}
	}
	a.Heading = speech.Upper(p.MeasureName(m)) + p.Say(" by ", " nach ") + p.keyNames()
	p.chart(a, k, 1)
	return ""
}

// ranked states the first of a ranking.
func (p *reply) ranked(rows [][]any, i int, m *plan.Measure) string {
	low, one := p.Superlative.Arg == "asc", len(rows) == 1
	timely := p.temporal() && m != nil && !m.Field.Dated()
	var names []string
	for _, r := range rows {
		name := p.key(r)
		if t, ok := p.Text.ValuePeriod(name); ok && timely {
			name = p.During(t)
		} else if timely {
			name = p.Say("in ", "im ") + name
		}
		names = append(names, name+choose(one, "", " ("+p.value(r, i, m)+")"))
	}
	end := p.conds() + choose(one, ": "+p.value(rows[0], i, m), "") + "."
	has := p.Say(choose(one, " has the ", " have the "), choose(one, " hat ", " haben "))
	if m == nil {
		what := p.rowsCalled()
		if p.Counted != nil {
			what = p.Say("different values of ", "verschiedenen Werte von ") + p.named(p.Counted)
		}
		return p.Enumerate(names) + has + p.Say(choose(low, "fewest ", "most "), choose(low, "die wenigsten ", "die meisten ")) + what + end
	}
	extreme := m.How == "max" || m.How == "min"
	if extreme && p.Superlative.About != "" {
		end = strings.TrimSuffix(end, ".") + p.Say(", a single value.", ", ein einzelner Wert.") // the warmest station, of several days
	}
	n := p.measured(choose(extreme, &plan.Measure{Field: m.Field}, m))
	adverb := map[string]string{"sum": "insgesamt ", "avg": "im Mittel "}[m.How]
	switch {
	case p.Text.Lang == speech.German && timely:
		return "Bei " + p.named(m.Field) + " liegt " + adverb + "der " + p.degree(m.Field, low) + " Wert " + p.Enumerate(names) + end
	case p.Text.Lang == speech.German:
		return p.Enumerate(names) + has + adverb + "bei " + p.named(m.Field) + " den " + p.degree(m.Field, low) + "n Wert" + end
	case timely && p.things(m):
		return speech.Upper(p.named(m.Field)) + " were " + p.degree(m.Field, low) + " " + p.Enumerate(names) + end
	case timely:
		return speech.Upper(n) + " was " + p.degree(m.Field, low) + " " + p.Enumerate(names) + end
	case p.things(m) && m.How != "avg":
		return p.Enumerate(names) + has + choose(low, "fewest ", "most ") + p.named(m.Field) + end
	}
	return p.Enumerate(names) + has + p.degree(m.Field, low) + " " + n + end
}

func (p *reply) sayShare(a *Answer) plan.Reason {
	k, row, f := p.ShareCond(), a.Result.Rows[0], p.First().Column()
	what := p.RowsName()
	if f != nil {
		what = p.named(f)
	}
	v, ok := schema.Figure(row, 0)
	if !ok {
		return plan.ReasonEmpty
	}
	part, _ := schema.Figure(row, 1)
	whole, _ := schema.Figure(row, 2)
	a.Heading = p.Say("Share of ", "Anteil an ") + what
	if f != nil && f.UnitSymbol() != "" {
		what = "(" + what + ")"
	}
	a.Sentences = []string{fmt.Sprintf(p.Say("%s makes up %s: %s of %s %s%s.", "Auf %s entfallen %s: %s von %s %s%s."), p.Filters[k].Text, p.Percent(v), p.amount(part, f), p.amount(whole, f), what, p.conds(k))}
	return ""
}

// sayList states what a list or a lookup finds.
func (p *reply) sayList(a *Answer) plan.Reason {
	fs, rows := p.Listed(), a.Result.Rows
	if p.Op == plan.OpLookup && len(rows) > 6 || p.Op == plan.OpList && p.partial(a.Result) {
		return plan.ReasonAmbiguous
	}
	var parts []string
	for _, row := range rows[:min(len(rows), 20)] {
		var cells []string
		for i, f := range fs {
			cells = append(cells, p.cell(row[i], f, ""))
		}
		parts = append(parts, cells[0]+choose(len(cells) > 1, " ("+strings.Join(cells[1:], ", ")+")", ""))
	}
	a.Heading = speech.Upper(p.named(fs[0]))
	what := a.Heading + p.conds()
	if p.Op == plan.OpList && len(rows) > 1 {
		what = p.number(float64(len(rows))) + p.Say(" values of "+p.named(fs[0])+" match", " Werte von "+p.named(fs[0])+" passen") + p.conds()
	}
	a.Sentences = []string{what + ": " + strings.Join(parts, "; ") + p.rest(20, len(rows)) + "."}
	return ""
}
