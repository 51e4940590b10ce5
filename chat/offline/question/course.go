package question

import (
	"fmt"
	"slices"
	"strings"
)

// sayChange states what became of a value between two times.
func (p *plan) sayChange(a *Answer) Reason {
	m := p.first()
	k := len(p.groups)
	var f *field
	if m != nil {
		f = m.field
	}
	var parts []string
	rows := a.Result.Rows
	if k == 1 && (p.sup != nil || p.asks == "which" && p.target != nil) {
		rows = rows[:1] // which grew most
	}
	for _, row := range rows[:min(len(rows), 8)] {
		n0, _ := at(row, k+4)
		n1, _ := at(row, k+5)
		v0, ok := at(row, k)
		v1, ok2 := at(row, k+1)
		if !ok || !ok2 || n0 == 0 || n1 == 0 {
			if k == 0 {
				return ReasonEmpty
			}
			continue
		}
		if m != nil && (m.how == "" || m.how == "median") && (n0 > 1 || n1 > 1) {
			return ReasonAmbiguous
		}
		diff, _ := at(row, k+2)
		head := ""
		if k == 1 {
			head = p.cell(row[0], p.groups[0], "") + ": "
		}
		one := p.measuredOnce(m, n0 == 1 && n1 == 1)
		if k == 1 && len(parts) > 0 {
			one = ""
		}
		parts = append(parts, head+p.moved(one, v0, v1, diff, row[k+3], f))
	}
	if len(parts) == 0 {
		return ReasonEmpty
	}
	a.Sentences = []string{strings.Join(parts, "; ") + p.conds() + "."}
	if p.trend == "" && !p.diff && p.more == nil && !p.versus && p.asks != "change" && k == 0 {
		p.both(a, m)
	}
	a.Heading = p.title(p.measured(m)) + ", " + p.when(p.periods[0]) + p.say(" and ", " und ") + p.when(p.periods[1])
	p.changeChart(a, k)
	return ""
}

// both states the values of two times that the question only names.
func (p *plan) both(a *Answer, m *measure) {
	row := a.Result.Rows[0]
	v0, _ := at(row, 0)
	v1, _ := at(row, 1)
	n0, _ := at(row, 4)
	n1, _ := at(row, 5)
	var f *field
	if m != nil {
		f = m.field
	}
	s := fmt.Sprintf(p.say("%s%s is %s in %s and %s in %s", "%s%s: %s (%s) und %s (%s)"), p.measuredOnce(m, n0 == 1 && n1 == 1), p.conds(), p.amount(v0, f), p.when(p.periods[0]), p.amount(v1, f), p.when(p.periods[1]))
	if m == nil && p.counted == nil || m != nil && m.how == "sum" {
		s += p.say(", together ", ", zusammen ") + p.amount(v0+v1, f)
	}
	a.Sentences = append([]string{s + "."}, a.Sentences[0])
	a.Sentences[1] = upper(a.Sentences[1])
}

// measuredOnce names a measure; a single value is no total and no mean.
func (p *plan) measuredOnce(m *measure, once bool) string {
	if m != nil && once && m.field.factors == nil {
		m = &measure{field: m.field}
	}
	return p.measured(m)
}

// moved says from what to what a value went.
func (p *plan) moved( //nolint:revive // two values, their difference, and how it is told
	what string, v0, v1, diff float64, percent any, f *field,
) string {
	verb := p.say("rose", "stieg")
	sign := "+"
	switch {
	case v1 < v0:
		verb, sign = p.say("fell", "sank"), "−"
	case v1 == v0:
		return strings.TrimSpace(fmt.Sprintf(p.say("%s was %s at both times", "%s betrug beide Male %s"), what, p.amount(v0, f)))
	}
	if diff < 0 {
		diff = -diff
	}
	rate := ""
	if pc, ok := at([]any{percent}, 0); ok && v0 > 0 && (f == nil || !f.named(p.r.lex, "temperature")) {
		if pc < 0 {
			pc = -pc
		}
		rate = fmt.Sprintf(", %s%s", sign, p.percent(pc))
	}
	if p.byHow() {
		return strings.TrimSpace(fmt.Sprintf(p.say("%s %s by %s, from %s in %s to %s in %s%s", "%s %s um %s, von %s (%s) auf %s (%s)%s"),
			what, verb, p.amount(diff, f), p.amount(v0, f), p.when(p.periods[0]), p.amount(v1, f), p.when(p.periods[1]), rate))
	}
	return strings.TrimSpace(fmt.Sprintf(p.say("%s %s from %s in %s to %s in %s (%s%s%s)", "%s %s von %s (%[4]s) auf %[5]s (%[6]s): %[7]s%[8]s%[9]s"),
		what, verb, p.amount(v0, f), p.when(p.periods[0]), p.amount(v1, f), p.when(p.periods[1]), sign, p.amount(diff, f), rate))
}

func (p *plan) changeChart(a *Answer, k int) {
	if k != 1 || len(a.Result.Rows) < 2 || len(a.Result.Rows) > mostBars {
		return
	}
	c := &Chart{Kind: "bar", Title: a.Heading, XLabel: p.groups[0].label()}
	var before, after Series
	before.Name, after.Name = p.when(p.periods[0]), p.when(p.periods[1])
	for _, row := range a.Result.Rows {
		c.Labels = append(c.Labels, p.cell(row[0], p.groups[0], ""))
		before.Values, after.Values = append(before.Values, pointer(row, 1)), append(after.Values, pointer(row, 2))
	}
	c.Series = []Series{before, after}
	if m := p.first(); m != nil {
		c.Unit, c.YLabel = m.field.unit(), m.field.label()
	}
	a.Chart = c
}

func pointer(row []any, i int) *float64 {
	if v, ok := at(row, i); ok {
		return &v
	}
	return nil
}

// sayTrend states the first, the last, the highest and the lowest value over time.
func (p *plan) sayTrend(a *Answer) Reason {
	m := p.first()
	rows := a.Result.Rows
	k := 1 + len(p.groups)
	single := !slices.ContainsFunc(rows, func(r []any) bool { n, _ := at(r, k+1); return n > 1 })
	if m != nil && m.how == "" && !single {
		return ReasonAmbiguous
	}
	series, labels := p.series(rows)
	if len(labels) < 2 {
		return ReasonEmpty
	}
	var parts []string
	for _, s := range series {
		if t := p.course(s, labels, p.lastChange(rows, s.Name)); t != "" {
			parts = append(parts, t)
		}
	}
	if len(parts) == 0 {
		return ReasonEmpty
	}
	what := p.measuredOnce(m, single)
	if len(series) == 1 {
		a.Sentences = []string{upper(what) + p.conds() + " " + parts[0] + "."}
	} else {
		parts = parts[:min(len(parts), mostSeries)]
		a.Sentences = []string{upper(what) + p.say(" of ", " von ") + strings.Join(parts, p.say("; that of ", "; von ")) + p.conds() + "."}
	}
	a.Heading = p.title(what) + p.say(" by ", " nach ") + p.unitName()
	if len(p.groups) == 1 {
		a.Heading = p.title(what) + p.say(" by ", " nach ") + p.named(p.groups[0])
	}
	if first, last := labels[0], labels[len(labels)-1]; len(first) == 4 {
		a.Heading += ", " + first + "–" + last
	}
	c := &Chart{Kind: "line", Title: a.Heading, Labels: labels, Series: series[:min(len(series), mostSeries)], XLabel: p.unitName()}
	if m != nil {
		c.Unit, c.YLabel = m.field.unit(), m.field.label()
	}
	a.Chart = c
	return ""
}

// lastChange is the change from the first to the last value of a line in %, as queried.
func (p *plan) lastChange(rows [][]any, name string) *float64 {
	k := 3 + len(p.groups)
	for _, row := range slices.Backward(rows) {
		if len(p.groups) == 0 || p.cell(row[1], p.groups[0], "") == name {
			return pointer(row, k)
		}
	}
	return nil
}

// series puts the rows of a development into lines, the largest first.
func (p *plan) series(rows [][]any) ([]Series, []string) {
	var labels []string
	for _, row := range rows {
		if l := fmt.Sprint(p.timeLabel(row[0])); !slices.Contains(labels, l) {
			labels = append(labels, l)
		}
	}
	k := 1 + len(p.groups)
	var out []Series
	for _, row := range rows {
		name := ""
		if len(p.groups) == 1 {
			name = p.cell(row[1], p.groups[0], "")
		} else if m := p.first(); m != nil {
			name = m.field.label()
		} else {
			name = p.rowsName()
		}
		i := slices.IndexFunc(out, func(s Series) bool { return s.Name == name })
		if i < 0 {
			i = len(out)
			out = append(out, Series{Name: name, Values: make([]*float64, len(labels))})
		}
		out[i].Values[slices.Index(labels, fmt.Sprint(p.timeLabel(row[0])))] = pointer(row, k)
	}
	slices.SortStableFunc(out, func(x, y Series) int { return compareCells(top(y), top(x)) })
	return out, labels
}

func top(s Series) any {
	best := 0.0
	for _, v := range s.Values {
		if v != nil && *v > best {
			best = *v
		}
	}
	return best
}

// timeLabel is a time as an axis of a chart reads it.
func (p *plan) timeLabel(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if keys := p.keyOf(); p.op != opTrend && p.op != opCourse && len(keys) > 0 && keys[0] != nil {
		return p.cell(v, keys[0], "")
	}
	return p.cell(v, p.time, p.unit)
}

// course says how a line runs.
func (p *plan) course(s Series, labels []string, percent *float64) string {
	var f *field
	if m := p.first(); m != nil {
		f = m.field
	}
	first, last, high, low := -1, -1, -1, -1
	for i, v := range s.Values {
		if v == nil {
			continue
		}
		if first < 0 {
			first, high, low = i, i, i
		}
		if *v > *s.Values[high] {
			high = i
		}
		if *v < *s.Values[low] {
			low = i
		}
		last = i
	}
	if first < 0 || first == last {
		return ""
	}
	head := ""
	if len(p.groups) == 1 {
		head = s.Name + " "
	}
	when := func(i int) string {
		if t, ok := isoPeriod(labels[i]); ok {
			return p.when(t)
		}
		return labels[i]
	}
	from, to := *s.Values[first], *s.Values[last]
	verb := p.say("rose", "stieg")
	if to < from {
		verb = p.say("fell", "sank")
	} else if to == from {
		verb = p.say("went", "ging")
	}
	text := head + fmt.Sprintf(p.say("%s from %s in %s to %s in %s", "%s von %s (%s) auf %s (%s)"), verb, p.amount(from, f), when(first), p.amount(to, f), when(last))
	if from > 0 && to != from && percent != nil && (f == nil || !f.named(p.r.lex, "temperature")) {
		change := *percent
		sign := "+"
		if change < 0 {
			sign, change = "−", -change
		}
		text += " (" + sign + p.percent(change) + ")"
	}
	if len(p.groups) == 0 && (high != first && high != last || low != first && low != last) {
		text += fmt.Sprintf(p.say("; the highest value is %s in %s, the lowest %s in %s", "; der höchste Wert ist %s (%s), der niedrigste %s (%s)"), p.amount(*s.Values[high], f), when(high), p.amount(*s.Values[low], f), when(low))
	}
	return text
}

// sayCourse states the first and the last value of each number.
func (p *plan) sayCourse(a *Answer) Reason {
	var labels, said []string
	for _, row := range a.Result.Rows {
		labels = append(labels, p.timeLabel(row[0]))
	}
	if len(labels) < 2 {
		return ReasonEmpty
	}
	c := &Chart{Kind: "line", Title: upper(strings.Join(splitName(p.v.tables[0].Name), " ")), Labels: labels, XLabel: p.time.label()}
	measures := p.measures
	for i, m := range measures {
		s := Series{Name: m.field.label()}
		for _, row := range a.Result.Rows {
			s.Values = append(s.Values, pointer(row, i+1))
		}
		c.Series = append(c.Series, s)
		p.measures = measures[i : i+1]
		if t := p.course(s, labels, nil); t != "" {
			said = append(said, p.named(m.field)+" "+t)
		}
		c.Unit = m.field.unit()
		if m.field.unit() != measures[0].field.unit() {
			return ReasonUnclear // numbers of different units share no axis
		}
	}
	p.measures = measures
	if len(said) == 0 {
		return ReasonEmpty
	}
	a.Heading, a.Chart = c.Title, c
	a.Sentences = []string{strings.Join(said, "; ") + "."}
	return ""
}

// sayList states what a list or a lookup finds.
func (p *plan) sayList(a *Answer) Reason {
	fs := p.listed()
	rows := a.Result.Rows
	var parts []string
	for _, row := range rows[:min(len(rows), 20)] {
		var cells []string
		for i, f := range fs {
			cells = append(cells, p.cell(row[i], f, ""))
		}
		one := cells[0]
		if len(cells) > 1 {
			one += " (" + strings.Join(cells[1:], ", ") + ")"
		}
		parts = append(parts, one)
	}
	a.Heading = upper(p.named(fs[0]))
	if p.op == opLookup {
		if len(rows) > 6 {
			return ReasonAmbiguous
		}
		a.Sentences = []string{fmt.Sprintf(p.say("%s%s: %s.", "%s%s: %s."), upper(p.named(fs[0])), p.conds(), strings.Join(parts, "; "))}
		return ""
	}
	if len(rows) == 1 {
		a.Sentences = []string{fmt.Sprintf(p.say("%s%s: %s.", "%s%s: %s."), upper(p.named(fs[0])), p.conds(), parts[0])}
		return ""
	}
	if a.Result.Truncated || len(rows) >= fetched {
		return ReasonAmbiguous
	}
	more := ""
	if len(rows) > 20 {
		more = fmt.Sprintf(p.say(" and %d more", " und %d weitere"), len(rows)-20)
	}
	a.Sentences = []string{fmt.Sprintf(p.say("%s %s match%s: %s%s.", "%s Werte von %s passen%s: %s%s."), Number(float64(len(rows)), 0, p.r.lang), p.say("values of "+p.named(fs[0]), p.named(fs[0])), p.conds(), strings.Join(parts, "; "), more)}
	return ""
}

const (
	// mostBars is how many bars a reader tells apart, mostSeries how many lines.
	mostBars   = 12
	mostSeries = 4
	// mostRows bounds the table of a result in a report.
	mostRows = 12
)

// chart draws the groups of a result: a line over time, bars of names.
func (p *plan) chart(a *Answer, k, series int) {
	rows := a.Result.Rows
	keys := p.keyOf()
	timed := k == 1 && p.op != opShare && (p.unit != "" && p.unit != "weekday" && p.unit != "hour" || len(keys) == 1 && keys[0] != nil && (keys[0].yearly(p.r.lex) || keys[0].dated()))
	if len(rows) < 2 || k > 2 {
		return
	}
	c := &Chart{Kind: "bar", Title: a.Heading, XLabel: p.keyNamesOr()}
	if timed {
		c.Kind = "line"
		rows = slices.Clone(rows)
		slices.SortStableFunc(rows, func(x, y []any) int { return compareCells(x[0], y[0]) })
	} else if len(rows) > mostBars {
		rows = rows[:mostBars]
		c.Title += fmt.Sprintf(p.say(", the first %d of %d", ", die ersten %d von %d"), mostBars, len(a.Result.Rows))
	}
	for _, row := range rows {
		if timed {
			c.Labels = append(c.Labels, p.timeLabel(row[0]))
		} else if p.op == opShare {
			c.Labels = append(c.Labels, p.cell(row[0], p.groups[0], ""))
		} else {
			c.Labels = append(c.Labels, p.key(row))
		}
	}
	ms := p.measureList()
	for i := range min(series, mostSeries) {
		s := Series{Name: a.Result.Columns[min(k+i, len(a.Result.Columns)-1)]}
		for _, row := range rows {
			s.Values = append(s.Values, pointer(row, k+i))
		}
		if !slices.ContainsFunc(s.Values, func(v *float64) bool { return v != nil }) {
			return
		}
		if i < len(ms) && ms[i] != nil {
			c.Unit, c.YLabel = ms[i].field.unit(), ms[i].field.label()
		}
		c.Series = append(c.Series, s)
	}
	a.Chart = c
}

func (p *plan) keyNamesOr() string {
	if p.op == opShare {
		return p.groups[0].label()
	}
	return upper(p.keyNames())
}

// table writes the result for readers.
func (p *plan) table(a *Answer) {
	if len(a.Result.Rows) == 1 && len(a.Result.Columns) < 3 {
		return
	}
	k := 0
	keys := []*field{}
	if p.op == opGroups || p.op == opCompare || p.op == opRank {
		keys = p.keyOf()
		k = len(keys)
	}
	if p.op == opTrend && len(p.groups) == 1 && a.Chart != nil {
		p.pivot(a)
		return
	}
	a.Rows = len(a.Result.Rows)
	shown := p.shownColumns(a.Result)
	for _, i := range shown {
		a.Columns = append(a.Columns, a.Result.Columns[i])
	}
	most := mostRows
	if p.op == opRank {
		most = 10
	}
	rows := a.Result.Rows
	if n := len(rows); (p.op == opTrend || p.op == opCourse) && n > most {
		rows = [][]any{rows[0], rows[n-1]}
	}
	for _, row := range rows[:min(len(rows), most)] {
		var cells []string
		for _, i := range shown {
			cells = append(cells, p.columnCell(row[i], i, k, keys))
		}
		a.Cells = append(a.Cells, cells)
	}
}

// pivot writes a development of several lines with a column for each.
func (p *plan) pivot(a *Answer) {
	a.Columns, a.Rows = []string{p.unitName()}, len(a.Chart.Labels)
	for _, s := range a.Chart.Series {
		a.Columns = append(a.Columns, s.Name)
	}
	var f *field
	if m := p.first(); m != nil {
		f = m.field
	}
	for i, l := range a.Chart.Labels {
		if n := len(a.Chart.Labels); n > mostRows && i > 0 && i < n-1 {
			continue // the chart shows the course; the table its ends
		}
		cells := []string{l}
		for _, s := range a.Chart.Series {
			c := "–"
			if s.Values[i] != nil {
				c = p.amount(*s.Values[i], f)
			}
			cells = append(cells, c)
		}
		a.Cells = append(a.Cells, cells)
	}
}

// shownColumns leaves out the columns that only count one row each, and those that only help.
func (p *plan) shownColumns(res Result) []int {
	var out []int
	for i := range res.Columns {
		last := p.op == opRank && i == len(res.Columns)-1 || p.op == opTrend && i == 1+len(p.groups)+1 || p.op == opChange && i >= len(p.groups)+4
		ones := !slices.ContainsFunc(res.Rows, func(row []any) bool { n, ok := at(row, i); return !ok || n != 1 })
		if last && ones || p.op == opTrend && i == len(res.Columns)-1 || p.op == opValue && i >= len(p.measures) && i != len(p.measures) {
			continue
		}
		out = append(out, i)
	}
	return out
}

// columnCell writes a cell as its column is to be read.
func (p *plan) columnCell(v any, i, k int, keys []*field) string {
	switch {
	case i < k && keys[i] == nil:
		return p.cell(v, nil, p.unit)
	case i < k:
		return p.cell(v, keys[i], "")
	case (p.op == opTrend || p.op == opCourse) && i == 0:
		return p.cell(v, p.time, p.unit)
	case p.op == opList || p.op == opLookup:
		return p.cell(v, p.listed()[i], "")
	case p.op == opExtreme && i > 0:
		return p.cell(v, p.extremeLabels()[i-1], "")
	}
	return p.cell(v, nil, "")
}
