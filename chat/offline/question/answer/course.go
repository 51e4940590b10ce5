package answer

import (
	"fmt"
	"slices"
	"strings"

	"atelier/chat/offline/question/plan"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// sayChange states how a value changed between two times.
func (p *reply) sayChange(a *Answer) plan.Reason {
	m := p.First()
	k := len(p.Groups)
	f := m.Column()
	var parts []string
	rows := slices.DeleteFunc(slices.Clone(a.Result.Rows), func(row []any) bool { return pointer(row, k+2) == nil }) // a value of one time has not changed
	if len(rows) == 0 {
		return plan.ReasonEmpty
	}
	if k == 1 && (p.Superlative != nil || p.Asks == "which" && p.Target != nil) {
		if rows = rows[:tied(rows, k+2, 1)]; len(rows) > 8 { // which grew most
			return plan.ReasonAmbiguous
		}
		if diff, _ := schema.Figure(rows[0], k+2); p.Trend == "up" && diff < 0 || p.Trend == "down" && diff > 0 {
			return plan.ReasonEmpty // none fell
		}
	}
	for _, row := range rows[:min(len(rows), 8)] {
		n0, _ := schema.Figure(row, k+4)
		n1, _ := schema.Figure(row, k+5)
		v0, _ := schema.Figure(row, k)
		v1, _ := schema.Figure(row, k+1)
		if n0 == 0 || n1 == 0 {
			continue // nothing to count is no count that changed
		}
		if m != nil && (m.How == "" || m.How == "median") && (n0 > 1 || n1 > 1) {
			return plan.ReasonAmbiguous
		}
		diff, _ := schema.Figure(row, k+2)
		head := ""
		if k == 1 {
			head = p.cell(row[0], p.Groups[0], "") + ": "
		}
		once := n0 == 1 && n1 == 1
		p.places = choose(once, ofRow, p.places)
		p.align(v0, v1)
		one := p.measuredOnce(m, once)
		if k == 1 && len(parts) > 0 {
			one = ""
		}
		parts = append(parts, head+p.moved(one, v0, v1, diff, row[k+3], f))
	}
	if len(parts) == 0 {
		return plan.ReasonEmpty
	}
	a.Sentences = []string{strings.Join(parts, "; ") + p.rest(8, len(rows)) + p.conds() + "."}
	a.Heading = p.Title(p.measured(m)) + ", " + p.When(p.Periods[0]) + p.Say(" and ", " und ") + p.When(p.Periods[1])
	p.changeChart(a, k)
	return ""
}

// measuredOnce names a measure; a single value is neither a total nor a mean.
func (p *phrases) measuredOnce(m *plan.Measure, once bool) string {
	if m != nil && once && m.Field.Factors == nil {
		m = &plan.Measure{Field: m.Field}
	}
	return p.measured(m)
}

// moved states from what to what a value changed.
func (p *reply) moved( //nolint:revive // two values, their difference, and how it is stated
	what string, v0, v1, diff float64, percent any, f *schema.Field,
) string {
	verb := p.Say("rose", "stieg")
	sign := "+"
	switch {
	case equal(v1, v0):
		return strings.TrimSpace(fmt.Sprintf(p.Say("%s was %s at both times", "%s betrug beide Male %s"), what, p.amount(v0, f)))
	case v1 < v0:
		verb, sign = p.Say("fell", "sank"), "−"
	}
	diff = max(diff, -diff)
	rate := ""
	if pc, ok := schema.Figure([]any{percent}, 0); ok && v0 > 0 && (f == nil || !f.Named("temperature")) {
		rate = fmt.Sprintf(", %s%s", sign, p.Percent(max(pc, -pc)))
	}
	if p.ByHow() {
		return strings.TrimSpace(fmt.Sprintf(p.Say("%s %s by %s, from %s %s to %s %s%s", "%s %s um %s, von %s %s auf %s %s%s"),
			what, verb, p.difference(diff, f), p.amount(v0, f), p.at(p.Periods[0]), p.amount(v1, f), p.at(p.Periods[1]), rate))
	}
	return strings.TrimSpace(fmt.Sprintf(p.Say("%s %s from %s %s to %s %s (%s%s%s)", "%s %s von %s %s auf %s %s: %s%s%s"),
		what, verb, p.amount(v0, f), p.at(p.Periods[0]), p.amount(v1, f), p.at(p.Periods[1]), sign, p.difference(diff, f), rate))
}

// at returns a time as it follows a value: in 2024, on 3 March 2024; in brackets in German.
func (p *reply) at(t speech.Period) string { return p.Say(p.During(t), "("+p.When(t)+")") }

func (p *reply) changeChart(a *Answer, k int) {
	if k != 1 || len(a.Result.Rows) < 2 || len(a.Result.Rows) > plan.MaxBars {
		return
	}
	c := &Chart{Kind: "bar", Title: a.Heading, XLabel: p.Groups[0].Label()}
	var before, after Series
	before.Name, after.Name = p.When(p.Periods[0]), p.When(p.Periods[1])
	for _, row := range a.Result.Rows {
		c.Labels = append(c.Labels, p.cell(row[0], p.Groups[0], ""))
		before.Values, after.Values = append(before.Values, pointer(row, 1)), append(after.Values, pointer(row, 2))
	}
	c.Series = []Series{before, after}
	c.measure(p.First())
	a.Chart = c
}

// measure names the unit and the axis of the values after a measure, if they are not numbers of rows.
func (c *Chart) measure(m *plan.Measure) {
	if m != nil {
		c.Unit, c.YLabel = m.Field.UnitSymbol(), m.Field.Label()
	}
}

func pointer(row []any, i int) *float64 {
	if v, ok := schema.Figure(row, i); ok {
		return &v
	}
	return nil
}

// sayTrend states the first, the last, the highest and the lowest value over time.
func (p *reply) sayTrend(a *Answer) plan.Reason {
	m := p.First()
	rows := a.Result.Rows
	k := 1 + len(p.Groups)
	once := oneEach(rows, k+1)
	if once {
		p.places = ofRow
	} else if m != nil && m.How == "" {
		return plan.ReasonAmbiguous
	}
	series, labels := p.series(rows)
	if len(labels) < 2 {
		return plan.ReasonEmpty
	}
	var parts []string
	for _, s := range series {
		if t := p.course(s, labels, p.lastChange(rows, s.Name)); t != "" {
			parts = append(parts, t)
		}
	}
	if len(parts) == 0 {
		return plan.ReasonEmpty
	}
	what := p.measuredOnce(m, once)
	if len(series) == 1 {
		a.Sentences = []string{speech.Upper(what) + p.conds() + " " + parts[0] + "."}
	} else {
		all := len(parts)
		parts = parts[:min(len(parts), plan.MaxSeries)]
		a.Sentences = []string{speech.Upper(what) + p.Say(" of ", " von ") + strings.Join(parts, p.Say("; that of ", "; von ")) + p.rest(plan.MaxSeries, all) + p.conds() + "."}
	}
	a.Heading = p.Title(what) + p.Say(" by ", " nach ") + p.UnitName()
	if len(p.Groups) == 1 {
		a.Heading = p.Title(what) + p.Say(" by ", " nach ") + p.named(p.Groups[0])
	}
	if first, last := labels[0], labels[len(labels)-1]; len(first) == 4 {
		a.Heading += ", " + first + "–" + last
	}
	c := &Chart{Kind: "line", Title: a.Heading, Labels: labels, Series: series[:min(len(series), plan.MaxSeries)], XLabel: p.UnitName()}
	c.measure(m)
	a.Chart = c
	return ""
}

// lastChange returns the change from the first to the last value of a line in %, as queried.
func (p *reply) lastChange(rows [][]any, name string) *float64 {
	k := 3 + len(p.Groups)
	for _, row := range slices.Backward(rows) {
		if len(p.Groups) == 0 || p.cell(row[1], p.Groups[0], "") == name {
			return pointer(row, k)
		}
	}
	return nil
}

// series arranges the rows of a trend into lines, the largest first.
func (p *reply) series(rows [][]any) ([]Series, []string) {
	var labels []string
	for _, row := range rows {
		if l := p.timeLabel(row[0]); !slices.Contains(labels, l) {
			labels = append(labels, l)
		}
	}
	k := 1 + len(p.Groups)
	var out []Series
	for _, row := range rows {
		name := ""
		if len(p.Groups) == 1 {
			name = p.cell(row[1], p.Groups[0], "")
		} else if m := p.First(); m != nil {
			name = m.Field.Label()
		} else {
			name = p.RowsName()
		}
		i := slices.IndexFunc(out, func(s Series) bool { return s.Name == name })
		if i < 0 {
			i = len(out)
			out = append(out, Series{Name: name, Values: make([]*float64, len(labels))})
		}
		out[i].Values[slices.Index(labels, p.timeLabel(row[0]))] = pointer(row, k)
	}
	slices.SortStableFunc(out, func(x, y Series) int { return schema.CompareCells(top(y), top(x)) })
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

// timeLabel returns a time as a label on an axis of a chart.
func (p *reply) timeLabel(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if keys := p.KeyOf(); p.Op != plan.OpTrend && p.Op != plan.OpCourse && len(keys) > 0 && keys[0] != nil {
		return p.cell(v, keys[0], "")
	}
	return p.cell(v, p.Time, p.Unit)
}

// course states how a line develops.
func (p *reply) course(s Series, labels []string, percent *float64) string {
	f := p.First().Column()
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
	if len(p.Groups) == 1 {
		head = s.Name + " "
	}
	when := func(i int) string {
		if t, ok := p.Text.ValuePeriod(labels[i]); ok {
			return p.at(t)
		}
		return p.Say("in "+labels[i], "("+labels[i]+")")
	}
	from, to := *s.Values[first], *s.Values[last]
	verb := p.Say("rose", "stieg")
	if to < from {
		verb = p.Say("fell", "sank")
	} else if to == from {
		verb = p.Say("went", "ging")
	}
	text := head + fmt.Sprintf(p.Say("%s from %s %s to %s %s", "%s von %s %s auf %s %s"), verb, p.amount(from, f), when(first), p.amount(to, f), when(last))
	if from > 0 && to != from && percent != nil && (f == nil || !f.Named("temperature") && f.UnitSymbol() != "%") {
		change := *percent
		sign := "+"
		if change < 0 {
			sign, change = "−", -change
		}
		text += " (" + sign + p.Percent(change) + ")"
	}
	if len(p.Groups) == 0 && (high != first && high != last || low != first && low != last) {
		text += fmt.Sprintf(p.Say("; the highest value is %s %s, the lowest %s %s", "; der höchste Wert ist %s %s, der niedrigste %s %s"), p.amount(*s.Values[high], f), when(high), p.amount(*s.Values[low], f), when(low))
	}
	return text
}

// sayCourse states the first and the last value of each number.
func (p *reply) sayCourse(a *Answer) plan.Reason {
	var labels, parts []string
	for _, row := range a.Result.Rows {
		labels = append(labels, p.timeLabel(row[0]))
	}
	if len(labels) < 2 {
		return plan.ReasonEmpty
	}
	c := &Chart{Kind: "line", Title: speech.Upper(strings.Join(schema.SplitName(p.View.Tables[0].Name), " ")), Labels: labels, XLabel: p.Time.Label()}
	measures := p.Measures
	defer func() { p.Measures = measures }()
	for i, m := range measures {
		s := Series{Name: m.Field.Label()}
		for _, row := range a.Result.Rows {
			s.Values = append(s.Values, pointer(row, i+1))
		}
		c.Series = append(c.Series, s)
		p.Measures = measures[i : i+1]
		if t := p.course(s, labels, nil); t != "" {
			parts = append(parts, p.named(m.Field)+" "+t)
		}
		c.Unit = m.Field.UnitSymbol()
		if m.Field.UnitSymbol() != measures[0].Field.UnitSymbol() {
			return plan.ReasonUnclear // numbers of different units share no axis
		}
	}
	if len(parts) == 0 {
		return plan.ReasonEmpty
	}
	a.Heading, a.Chart = c.Title, c
	a.Sentences = []string{strings.Join(parts, "; ") + "."}
	return ""
}

// sayList states what a list or a lookup finds.
func (p *reply) sayList(a *Answer) plan.Reason {
	fs := p.Listed()
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
	a.Heading = speech.Upper(p.named(fs[0]))
	if p.Op == plan.OpLookup && len(rows) > 6 {
		return plan.ReasonAmbiguous
	}
	if p.Op == plan.OpLookup || len(rows) == 1 {
		a.Sentences = []string{a.Heading + p.conds() + ": " + strings.Join(parts, "; ") + "."}
		return ""
	}
	if p.partial(a.Result) {
		return plan.ReasonAmbiguous
	}
	a.Sentences = []string{fmt.Sprintf(p.Say("%s %s match%s: %s%s.", "%s Werte von %s passen%s: %s%s."), speech.Number(float64(len(rows)), 0, p.Text.Lang), p.Say("values of "+p.named(fs[0]), p.named(fs[0])), p.conds(), strings.Join(parts, "; "), p.rest(20, len(rows)))}
	return ""
}

// chart draws the groups of a result: a line over time, or bars of names.
func (p *reply) chart(a *Answer, k, series int) {
	rows := a.Result.Rows
	keys := p.KeyOf()
	timed := k == 1 && (p.Unit != "" && p.Unit != "weekday" && p.Unit != "hour" || len(keys) == 1 && keys[0] != nil && (keys[0].Yearly() || keys[0].Dated()))
	if m := p.First(); len(rows) < 2 || k > 2 || timed && p.partial(a.Result) || m != nil && namesYear(m.Field) {
		return // the height of a year means nothing
	}
	c := &Chart{Kind: "bar", Title: a.Heading, XLabel: speech.Upper(p.keyNames())}
	if timed {
		c.Kind = "line"
		rows = slices.Clone(rows)
		slices.SortStableFunc(rows, func(x, y []any) int { return schema.CompareCells(x[0], y[0]) })
	} else if len(rows) > plan.MaxBars {
		rows = rows[:plan.MaxBars]
		c.Title += fmt.Sprintf(p.Say(", the first %d of %s%d", ", die ersten %d von %s%d"), plan.MaxBars, p.least(p.total), p.total)
	}
	for _, row := range rows {
		if timed {
			c.Labels = append(c.Labels, p.timeLabel(row[0]))
		} else {
			c.Labels = append(c.Labels, p.key(row))
		}
	}
	ms := p.MeasureList()
	for i := range min(series, plan.MaxSeries) {
		s := Series{Name: a.Result.Columns[min(k+i, len(a.Result.Columns)-1)]}
		for _, row := range rows {
			s.Values = append(s.Values, pointer(row, k+i))
		}
		if !slices.ContainsFunc(s.Values, func(v *float64) bool { return v != nil }) {
			return
		}
		if i < len(ms) {
			c.measure(ms[i])
		}
		c.Series = append(c.Series, s)
	}
	a.Chart = c
}

// table writes the result for readers.
func (p *reply) table(a *Answer) {
	if len(a.Result.Rows) == 1 && len(a.Result.Columns) < 3 {
		return
	}
	var keys []*schema.Field
	if p.Op == plan.OpGroups || p.Op == plan.OpCompare || p.Op == plan.OpRank {
		keys = p.KeyOf()
	}
	if p.Op == plan.OpTrend && len(p.Groups) == 1 && a.Chart != nil {
		p.pivot(a)
		return
	}
	a.Rows = p.total
	var shown []int // without columns that only count one row each, and auxiliary ones
	for i, c := range a.Result.Columns {
		last := p.Op == plan.OpRank && i == len(a.Result.Columns)-1 || p.Op == plan.OpTrend && i == 1+len(p.Groups)+1 || p.Op == plan.OpChange && i >= len(p.Groups)+4
		ones := !slices.ContainsFunc(a.Result.Rows, func(row []any) bool { n, ok := schema.Figure(row, i); return !ok || n != 1 })
		if last && ones || p.Op == plan.OpTrend && i == len(a.Result.Columns)-1 || p.Op == plan.OpValue && i > len(p.Measures) {
			continue
		}
		shown, a.Columns = append(shown, i), append(a.Columns, c)
	}
	most := plan.MaxRows
	if p.Op == plan.OpRank {
		most = 10
	}
	rows := a.Result.Rows
	if n := len(rows); (p.Op == plan.OpTrend || p.Op == plan.OpCourse) && n > most {
		rows = [][]any{rows[0], rows[n-1]}
	}
	for _, row := range rows[:min(len(rows), most)] {
		var cells []string
		for _, i := range shown {
			cells = append(cells, p.columnCell(row[i], i, keys))
		}
		a.Cells = append(a.Cells, cells)
	}
}

// pivot writes a trend of several lines with a column for each.
func (p *reply) pivot(a *Answer) {
	a.Columns, a.Rows = []string{p.UnitName()}, len(a.Chart.Labels)
	for _, s := range a.Chart.Series {
		a.Columns = append(a.Columns, s.Name)
	}
	f := p.First().Column()
	for i, l := range a.Chart.Labels {
		if n := len(a.Chart.Labels); n > plan.MaxRows && i > 0 && i < n-1 {
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

// columnCell formats a cell according to its column.
func (p *reply) columnCell(v any, i int, keys []*schema.Field) string {
	switch {
	case i < len(keys) && keys[i] == nil:
		return p.cell(v, nil, p.Unit)
	case i < len(keys):
		return p.cell(v, keys[i], "")
	case p.Op == plan.OpChange && i == len(p.Groups)+3: // in %
		return (&phrases{Plan: p.Plan}).cell(v, nil, "")
	case (p.Op == plan.OpTrend || p.Op == plan.OpCourse) && i == 0:
		return p.cell(v, p.Time, p.Unit)
	case p.Op == plan.OpList || p.Op == plan.OpLookup:
		return p.cell(v, p.Listed()[i], "")
	case p.Op == plan.OpExtreme && i > 0:
		return p.cell(v, p.ExtremeLabels()[i-1], "")
	}
	return p.cell(v, nil, "")
}
