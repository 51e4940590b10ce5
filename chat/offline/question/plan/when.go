package plan

import (
	"fmt"
	"slices"

	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// timeWords turns the periods of the question, with the words that bound them, into
// conditions; two periods that are compared are left to the operation.
func (p *conditions) timeWords() Reason {
	var at []int
	for i, x := range p.Pieces {
		if x.Kind == speech.KindTime && !p.used[i] && p.near(i, -1).Kind != speech.KindCmp && !p.betweenNumbers(i) {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return ""
	}
	p.Time = p.timeField(at)
	if p.Time == nil {
		return ReasonUnknown
	}
	if slices.ContainsFunc(at, p.vague) {
		return ReasonUnclear
	}
	p.resolve(at)
	if len(at) == 2 {
		return p.twoTimes(at[0], at[1])
	}
	if len(at) > 2 {
		return ReasonUnclear
	}
	i := at[0]
	x := p.Pieces[i]
	bound := p.boundBefore(i)
	p.used[i] = true
	if n := p.near(i, -1); n.Kind == speech.KindUnit && n.To == x.From && p.Asked(i-1) != "which" {
		p.used[i-1] = true // the year 2020, but not which month 2020
	}
	f, ok := p.TimeFilter(x.Period, bound)
	if !ok {
		return ReasonUnknown
	}
	p.Filters, p.Periods = append(p.Filters, f), append(p.Periods, x.Period)
	return ""
}

// vague reports whether a time is only part of what is said: by 2023, at the end of 2023.
func (p *explanation) vague(i int) bool {
	from, b := p.Pieces[i].From, p.near(i, -1)
	end := from > 1 && p.Text.Tokens[from-1].Fold == "of" && p.Text.Tokens[from-2].Fold == "end" && b.To < from
	return end || b.Kind == speech.KindBy && b.To == from && p.Text.Tokens[b.From].Fold == "by"
}

// resolve gives a day without a year, and the ends of a span, the year of the other time,
// otherwise the only year of the table.
func (p *conditions) resolve(at []int) {
	year := 0
	for _, i := range at {
		if t := p.Pieces[i].Period; t.Year > 0 {
			year = t.Year
		}
	}
	low, _ := p.Time.Min.(string)
	high, _ := p.Time.Max.(string)
	if first, ok := speech.IsoPeriod(low[:min(len(low), 10)]); year == 0 && ok && len(high) > 3 && low[:4] == high[:4] {
		year = first.Year
	}
	if year == 0 {
		return
	}
	for _, i := range at {
		t := &p.Pieces[i].Period
		bound := p.near(i, -1)
		switch {
		case t.Unit == "dayOfYear":
			t.Unit, t.Year = "day", year
		case t.Unit == "monthOfYear" && (len(at) == 2 || bound.Kind == speech.KindBound && bound.Arg != "from" && bound.Arg != "to"):
			t.Unit, t.Year = "month", year
		case t.Unit == "quarterOfYear" && len(at) == 2:
			t.Unit, t.Year = "quarter", year
		}
	}
}

// betweenNumbers reports whether a year stands for a number: between 1000 and 2000.
func (p *explanation) betweenNumbers(i int) bool {
	b := p.near(i, -1)
	return p.Pieces[i].Period.Unit == "year" && (b.Arg == "between" && p.near(i, 2).Kind == speech.KindNum || b.Kind == speech.KindJoin && p.near(i, -2).Kind == speech.KindNum)
}

// boundBefore uses and returns the since, before, after or until before a time.
func (p *explanation) boundBefore(i int) string {
	for _, step := range []int{-1, -2} {
		n := p.near(i, step)
		if n.Kind == speech.KindBound && !p.used[i+step] {
			p.used[i+step] = true
			switch n.Arg {
			case "since", "before", "after", "until":
				return n.Arg
			}
			return ""
		}
		if n.Kind == speech.KindBy && p.Text.Tokens[n.From].Fold == "nach" {
			p.used[i+step] = true
			return "after"
		}
		if n.Kind != speech.KindUnit || n.To < p.Pieces[i].From {
			return "" // get through a month in 2024: not until 2024
		}
	}
	return ""
}

// twoTimes reads a change from one time to another, a comparison of them, or a span.
func (p *conditions) twoTimes(i, j int) Reason {
	a, b := p.Pieces[i].Period, p.Pieces[j].Period
	if a.Unit == "monthOfYear" && b.Unit == "month" {
		a = speech.Period{Unit: "month", Year: b.Year, N: a.N} // between January and March 2024
	}
	bound := func(k int) string {
		b := p.near(k, -1)
		if b.Kind == speech.KindBy && p.Text.Tokens[b.From].Fold == "nach" {
			return "after"
		}
		return b.Arg
	}
	first, last := bound(i), bound(j)
	change := p.Trend != "" || p.diff || p.versus || p.Asks == "change"
	open := first == "after" && (last == "before" || last == "until") || first == "since" && last == "before" // after June 2022 and before 2024
	switch {
	case open:
		change = false
	case first == "before" || first == "after" || last == "before" || last == "after", !change && (first == "until" || last == "since"):
		return ReasonUnclear // before 2022 and after 2024: no span, and no comparison of two times
	default:
		first, last = "since", "until"
	}
	span := open
	for k := max(0, i-2); k < j; k++ {
		if x := p.Pieces[k]; x.Kind == speech.KindBound || x.Kind == speech.KindJoin || x.Kind == speech.KindVersus || x.Kind == speech.KindBy || x.Kind == speech.KindUnit && k > i-2 {
			if x.Kind == speech.KindBound && (x.Arg == "between" || x.Arg == "from" || x.Arg == "to" || x.Arg == "until" || x.Arg == "since") {
				span = true
			}
			p.used[k] = true
		}
	}
	p.used[i], p.used[j] = true, true
	switch {
	case change || !span && a.Unit == b.Unit:
		p.Periods = []speech.Period{a, b}
		if later(a, b) && a.Year > 0 && b.Year > 0 {
			p.Periods = []speech.Period{b, a}
		}
		return ""
	case span && later(a, b):
		return ReasonUnclear
	case span:
		from, ok := p.TimeFilter(a, first)
		to, ok2 := p.TimeFilter(b, last)
		if !ok || !ok2 {
			return ReasonUnknown
		}
		if !open {
			from.Text, to.Text = p.When(a)+"–"+p.When(b), ""
		}
		p.Filters = append(p.Filters, from, to)
		return ""
	}
	return ReasonUnclear
}

// later reports whether a begins after b.
func later(a, b speech.Period) bool { return a.First() > b.First() }

// timeField returns the column of times: the one that the question names, otherwise the
// only one, otherwise the plain date of the rows.
func (p *wording) timeField(at []int) *schema.Field {
	var dates, years []*schema.Field
	for _, f := range p.View.Fields {
		switch {
		case f.Dated():
			dates = append(dates, f)
		case f.Yearly():
			years = append(years, f)
		}
	}
	for i, x := range p.Pieces {
		if x.Kind == speech.KindField && (x.Field.Dated() || x.Field.Yearly()) {
			if p.Asked(i) == "" && !p.isGroupedBy(i) {
				p.used[i] = true
			}
			return x.Field
		}
	}
	onlyYears := !slices.ContainsFunc(at, func(i int) bool { return p.Pieces[i].Period.Unit != "year" && p.Pieces[i].Period.Unit != "span" })
	if f := nearest(years); onlyYears && f != nil && (f.Table == 0 || nearest(dates) == nil || nearest(dates).Table > 0) {
		return f
	}
	dates = slices.DeleteFunc(dates, func(f *schema.Field) bool {
		return f.Has(besideDates)
	})
	if f := nearest(dates); f != nil {
		return f
	}
	return nearest(years)
}

// findTime reports whether there is a column of times, and sets it.
func (p *conditions) findTime() bool {
	if p.Time == nil {
		p.Time = p.timeField(nil)
	}
	return p.Time != nil
}

// besideDates are words of dates other than the date of the rows.
var besideDates = speech.Folded("due fällig fälligkeit valuta wertstellung wertstellungsdatum updated modified changed geändert exported last letzte letzter deadline frist expiry expires ablauf birth geburtsdatum")

// nearest returns the only field of the own table, otherwise the only field at all.
func nearest(fs []*schema.Field) *schema.Field {
	if f := schema.Only(fs, func(f *schema.Field) bool { return f.Table == 0 }); f != nil || len(fs) != 1 {
		return f
	}
	return fs[0]
}

// TimeFilter keeps the rows of a period, or those since, after, before or until it.
func (p *conditions) TimeFilter(t speech.Period, bound string) (Filter, bool) {
	f := p.Time
	text := map[string]string{"": "", "since": p.Say("since ", "seit "), "after": p.Say("after ", "nach "), "before": p.Say("before ", "vor "), "until": p.Say("until ", "bis ")}[bound] + p.When(t)
	one := Filter{Field: f, Text: text, Period: &t, Time: text}
	if bound == "" {
		one.Time = p.During(t)
	}
	if f.Yearly() {
		if t.Unit != "year" && t.Unit != "span" {
			return Filter{}, false
		}
		one.Condition = func(q *Query) string { return bounded(q.Col(f), t.First(), t.Last(), bound) }
		return one, true
	}
	switch t.Unit {
	case "dayOfYear":
		return Filter{}, false // the year is unknown
	case "monthOfYear", "quarterOfYear", "halfOfYear", "weekday":
		if bound != "" {
			return Filter{}, false
		}
		one.Condition = func(q *Query) string {
			switch t.Unit {
			case "weekday":
				return fmt.Sprintf("%s = %d", q.Bucket(f, "weekday"), t.N)
			case "monthOfYear":
				return fmt.Sprintf("substr(CAST(%s AS TEXT), 6, 2) = '%s'", q.Col(f), speech.TwoDigits(t.N))
			}
			months := 3
			if t.Unit == "halfOfYear" {
				months = 6
			}
			return fmt.Sprintf("substr(CAST(%s AS TEXT), 6, 2) BETWEEN '%s' AND '%s'", q.Col(f), speech.TwoDigits(t.N*months-months+1), speech.TwoDigits(t.N*months))
		}
		return one, true
	}
	one.Condition = func(q *Query) string {
		return bounded(q.Date(f, len(t.First())), speech.QuotedText(t.First()), speech.QuotedText(t.Last()), bound)
	}
	return one, true
}

// bounded returns an SQL comparison of an expression with the first and the last moment of a period.
func bounded(expr, first, last, bound string) string {
	switch bound {
	case "since":
		return expr + " >= " + first
	case "after":
		return expr + " > " + last
	case "before":
		return expr + " < " + first
	case "until":
		return expr + " <= " + last
	}
	if first == last {
		return expr + " = " + first
	}
	return expr + " BETWEEN " + first + " AND " + last
}
