package answer

import (
	"fmt"
	"slices"

	"atelier/chat/offline/question/plan"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

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

// bars returns a chart of the rows of a result: one series for each name, from the columns after the keys.
func (p *reply) bars(a *Answer, m *plan.Measure, names ...string) *Chart {
	rows, k := a.Result.Rows, 1
	if p.Op != plan.OpChange {
		k = len(p.KeyOf())
	}
	c := &Chart{Kind: "bar", Title: a.Heading, XLabel: speech.Upper(p.keyNames())}
	if p.temporal() && p.Unit != "weekday" && p.Unit != "hour" {
		c.Kind = "line"
		rows = slices.Clone(rows)
		slices.SortStableFunc(rows, func(x, y []any) int { return schema.CompareCells(x[0], y[0]) })
	} else if len(rows) > maxBars {
		rows = rows[:maxBars]
		c.Title += fmt.Sprintf(p.Say(", the first %d of %d", ", die ersten %d von %d"), maxBars, p.total)
	}
	for _, row := range rows {
		label := p.key(row[:k])
		if t, ok := row[0].(string); ok && c.Kind == "line" {
			label = t
		}
		c.Labels = append(c.Labels, label)
	}
	for i, name := range names {
		s := Series{Name: name}
		for _, row := range rows {
			s.Values = append(s.Values, pointer(row, k+i))
		}
		if !slices.ContainsFunc(s.Values, func(v *float64) bool { return v != nil }) {
			return nil
		}
		c.Series = append(c.Series, s)
	}
	c.measure(m)
	return c
}

// chart draws the groups of a result: a line over time, or bars of names.
func (p *reply) chart(a *Answer, k, series int) {
	m := p.First()
	if len(a.Result.Rows) < 2 || k > 2 || p.temporal() && p.partial(a.Result) || m != nil && namesYear(m.Field) {
		return // the height of a year means nothing
	}
	a.Chart = p.bars(a, m, a.Result.Columns[k:min(k+series, k+maxSeries)]...)
}

// table writes the result for readers, without auxiliary columns.
func (p *reply) table(a *Answer) {
	k := len(p.KeyOf())
	var fields []*schema.Field
	var units []string
	add := func(unit string, fs ...*schema.Field) {
		for _, f := range fs {
			fields, units = append(fields, f), append(units, unit)
		}
	}
	switch p.Op {
	case plan.OpGroups, plan.OpCompare, plan.OpRank:
		for _, f := range p.KeyOf() {
			add(choose(f == nil, p.Unit, ""), f)
		}
		for _, m := range p.MeasureList() {
			add("", m.Column())
		}
	case plan.OpChange:
		f := p.First().Column()
		add("", append(slices.Clone(p.Groups), f, f, f, nil)...)
	case plan.OpTrend:
		add(p.Unit, p.Time)
		add("", append(slices.Clone(p.Groups), p.First().Column())...)
	case plan.OpList, plan.OpLookup:
		add("", p.Listed()...)
	}
	rows := a.Result.Rows
	if len(fields) == 0 || len(rows) == 1 && len(fields) < 3 || k > 2 {
		return
	}
	a.Rows, a.Columns = p.total, a.Result.Columns[:len(fields)]
	if n := len(rows); p.Op == plan.OpTrend && n > maxRows && len(p.Groups) == 0 {
		rows = [][]any{rows[0], rows[n-1]} // the chart shows the course; the table its ends
	}
	for _, row := range rows[:min(len(rows), maxRows)] {
		var cells []string
		for i, f := range fields {
			cells = append(cells, p.cell(row[i], f, units[i]))
		}
		a.Cells = append(a.Cells, cells)
	}
}
