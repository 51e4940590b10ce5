package answer

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"atelier/chat/offline/question/plan"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// sayChange states how a value changed between two times.
func (p *reply) sayChange(a *Answer) plan.Reason {
	m, k := p.First(), len(p.Groups)
	rows := slices.DeleteFunc(slices.Clone(a.Result.Rows), func(row []any) bool { return pointer(row, k+2) == nil }) // a value of one time has not changed
	if k == 1 && len(rows) > 0 && (p.Superlative != nil || p.Asks == "which" && p.Target != nil) {
		if rows = rows[:tied(rows, k+2, 1)]; len(rows) > 8 { // which grew most
			return plan.ReasonAmbiguous
		}
		if diff, _ := schema.Figure(rows[0], k+2); p.Trend == "up" && diff < 0 || p.Trend == "down" && diff > 0 {
			return plan.ReasonEmpty // none fell
		}
	}
	var parts []string
	for _, row := range rows[:min(len(rows), 8)] {
		n0, _ := schema.Figure(row, k+4)
		n1, _ := schema.Figure(row, k+5)
		if n0 == 0 || n1 == 0 {
			continue // nothing to count is no count that changed
		}
		if m != nil && m.How == "" && (n0 > 1 || n1 > 1) {
			return plan.ReasonAmbiguous
		}
		once := n0 == 1 && n1 == 1
		p.places = choose(once, ofRow, 0)
		head := p.onceMeasured(m, once)
		if k == 1 {
			head = p.cell(row[0], p.Groups[0], "") + ":" + choose(len(parts) > 0, "", " "+strings.Replace(head, "The ", "the ", 1))
		}
		parts = append(parts, strings.TrimSpace(head+" "+p.moved(row[k:], m.Column())))
	}
	if len(parts) == 0 {
		return plan.ReasonEmpty
	}
	a.Sentences = []string{strings.Join(parts, "; ") + p.rest(8, len(rows)) + p.conds() + "."}
	a.Heading = speech.Upper(p.measured(m)) + ", " + p.When(p.Periods[0]) + p.Say(" and ", " und ") + p.When(p.Periods[1])
	if k == 1 && len(rows) > 1 && len(a.Result.Rows) <= maxBars {
		a.Chart = p.bars(a, m, p.When(p.Periods[0]), p.When(p.Periods[1]))
	}
	return ""
}

// onceMeasured names a measure; a single value is neither a total nor a mean.
func (p *phrases) onceMeasured(m *plan.Measure, once bool) string {
	if m != nil && once {
		m = &plan.Measure{Field: m.Field}
	}
	return p.the(m)
}

// moved states from what to what a value changed: the values, their difference and the percentage of a row.
func (p *reply) moved(row []any, f *schema.Field) string {
	v0, _ := schema.Figure(row, 0)
	v1, _ := schema.Figure(row, 1)
	diff := max(v1-v0, v0-v1)
	if diff <= 1e-12*max(v0, -v0) {
		return p.Say("was ", "betrug beide Male ") + p.amount(v0, f) + p.Say(" at both times", "")
	}
	rate := ""
	if percent, ok := schema.Figure(row, 3); ok && v0 > 0 && (f == nil || !f.Named("temperature")) {
		rate = ", " + p.percent(percent)
	}
	p.align(v0, v1)
	span := fmt.Sprintf(p.Say("from %s %s to %s %s", "von %s %s auf %s %s"), p.amount(v0, f), p.at(p.Periods[0]), p.amount(v1, f), p.at(p.Periods[1]))
	if p.ByHow() {
		return p.verb(v0, v1) + p.Say(" by ", " um ") + p.difference(diff, f) + ", " + span + rate
	}
	return p.verb(v0, v1) + " " + span + " (" + choose(v1 < v0, "−", "+") + p.difference(diff, f) + rate + ")"
}

// percent formats a change in percent, with its sign.
func (p *reply) percent(v float64) string {
	return choose(v < 0, "−", "+") + p.Percent(max(v, -v))
}

func (p *reply) verb(from, to float64) string {
	if from == to {
		return p.Say("went", "ging")
	}
	return p.Say(choose(to < from, "fell", "rose"), choose(to < from, "sank", "stieg"))
}

// at returns a time as it follows a value: in 2024, on 3 March 2024; in brackets in German.
func (p *reply) at(t speech.Period) string { return p.Say(p.During(t), "("+p.When(t)+")") }

// sayTrend states the first, the last, the highest and the lowest value over time.
func (p *reply) sayTrend(a *Answer) plan.Reason {
	m, rows, k := p.First(), a.Result.Rows, len(p.Groups)
	once := oneEach(rows, k+2)
	if p.partial(a.Result) || !once && m != nil && m.How == "" {
		return plan.ReasonAmbiguous // the last time is not among the rows; or several values are of one time
	}
	left := ""
	if m == nil || m.How == "sum" { // totals of a month that has just begun tell nothing
		rows, left = p.whole(rows)
	}
	p.places = choose(once, ofRow, 0)
	series, labels := p.series(rows)
	var parts []string
	for _, s := range series[:min(len(series), maxSeries)] {
		if t := p.course(s, labels); t != "" {
			parts = append(parts, t)
		}
	}
	if len(parts) == 0 || len(labels) < 2 {
		return plan.ReasonEmpty
	}
	what := p.onceMeasured(m, once)
	a.Heading = strings.TrimPrefix(what, "The ") + p.Say(" by ", " nach ") + p.UnitName()
	if k == 1 {
		what += p.Say(" of ", " von ")
		a.Heading = strings.TrimPrefix(p.onceMeasured(m, once), "The ") + p.Say(" by ", " nach ") + p.named(p.Groups[0])
	}
	a.Heading = speech.Upper(a.Heading) + ", " + labels[0] + "–" + labels[len(labels)-1]
	a.Sentences = []string{strings.TrimSpace(what) + choose(k == 0, p.conds(), "") + " " + strings.Join(parts, p.Say("; that of ", "; von ")) + p.rest(maxSeries, len(series)) + choose(k == 1, p.conds(), "") + "."}
	if left != "" {
		a.Sentences = append(a.Sentences, left)
	}
	a.Chart = &Chart{Kind: "line", Title: a.Heading, Labels: labels, Series: series[:min(len(series), maxSeries)], XLabel: p.UnitName()}
	a.Chart.measure(m)
	return ""
}

// whole returns the rows without those of a first or last period that the data cover only in part, and a sentence that
// names it.
func (p *reply) whole(rows [][]any) ([][]any, string) {
	var left []string
	for _, row := range [][]any{rows[0], rows[len(rows)-1]} {
		label := fmt.Sprint(row[0])
		if t, ok := p.Text.ValuePeriod(label); ok && p.cut(t) && !slices.Contains(left, p.When(t)) {
			left = append(left, p.When(t))
			rows = slices.DeleteFunc(slices.Clone(rows), func(r []any) bool { return fmt.Sprint(r[0]) == label })
		}
	}
	if len(left) == 0 {
		return rows, ""
	}
	return rows, fmt.Sprintf(p.Say("%s left out: the data cover only a part.", "%s: ausgelassen, die Daten decken nur einen Teil ab."), p.Enumerate(left)+p.Say(choose(len(left) == 1, " is", " are"), ""))
}

// cut reports whether the dates of the table begin, or end, so far within a period that its total is one of a part: a
// quarter of its length, and more than the usual gaps between dates.
func (p *reply) cut(t speech.Period) bool {
	if !p.Time.Dated() || t.Unit != "year" && t.Unit != "quarter" && t.Unit != "month" {
		return false
	}
	day := func(text string) time.Time {
		d, _ := time.Parse(time.DateOnly, (text + "-01-01")[:10]) // the dates are ISO
		return d
	}
	next := func(d time.Time, monthly bool) time.Time {
		return d.AddDate(0, choose(monthly, 1, 0), choose(monthly, 0, 1))
	}
	low, high := fmt.Sprint(p.Time.Min), fmt.Sprint(p.Time.Max)
	first, last := day(low), next(day(high), p.Time.Monthly())
	start, end := day(t.First()), next(day(t.Last()), true)
	if t.Unit == "year" {
		end = start.AddDate(1, 0, 0)
	}
	gap := last.Sub(first) / time.Duration(max(p.Time.Distinct, 1))
	missing := max(first.Sub(start), 0)
	if last.Before(end) {
		missing += end.Sub(last)
	}
	return missing < end.Sub(start) && missing > max(end.Sub(start)/4, 3*gap)
}

// series arranges the rows of a trend into lines, the largest first.
func (p *reply) series(rows [][]any) ([]Series, []string) {
	var labels []string
	for _, row := range rows {
		if l := fmt.Sprint(row[0]); !slices.Contains(labels, l) {
			labels = append(labels, l)
		}
	}
	k := 1 + len(p.Groups)
	var out []Series
	for _, row := range rows {
		name := p.RowsName()
		if len(p.Groups) == 1 {
			name = p.cell(row[1], p.Groups[0], "")
		} else if m := p.First(); m != nil {
			name = m.Field.Label()
		}
		i := slices.IndexFunc(out, func(s Series) bool { return s.Name == name })
		if i < 0 {
			i = len(out)
			out = append(out, Series{Name: name, Values: make([]*float64, len(labels))})
		}
		out[i].Values[slices.Index(labels, fmt.Sprint(row[0]))] = pointer(row, k)
	}
	top := func(s Series) (best float64) {
		for _, v := range s.Values {
			if v != nil && *v > best {
				best = *v
			}
		}
		return best
	}
	slices.SortStableFunc(out, func(x, y Series) int { return schema.CompareCells(top(y), top(x)) })
	return out, labels
}

// course states how a line develops.
func (p *reply) course(s Series, labels []string) string {
	f := p.First().Column()
	first, last, high, low := -1, -1, -1, -1
	for i, v := range s.Values {
		if v == nil {
			continue
		}
		if last = i; first < 0 {
			first, high, low = i, i, i
		}
		if *v > *s.Values[high] {
			high = i
		}
		if *v < *s.Values[low] {
			low = i
		}
	}
	if first < 0 || first == last {
		return ""
	}
	at := func(i int) string {
		if t, ok := p.Text.ValuePeriod(labels[i]); ok {
			return p.amount(*s.Values[i], f) + " " + p.at(t)
		}
		return p.amount(*s.Values[i], f) + " (" + labels[i] + ")"
	}
	from, to := *s.Values[first], *s.Values[last]
	text := choose(len(p.Groups) == 1, s.Name+" ", "") + p.verb(from, to) + p.Say(" from ", " von ") + at(first) + p.Say(" to ", " auf ") + at(last)
	if from > 0 && to != from && (f == nil || !f.Named("temperature") && f.UnitSymbol() != "%") {
		text += " (" + p.percent(100*(to-from)/from) + ")"
	}
	if len(p.Groups) == 0 {
		text += p.Say("; the highest value is ", "; der höchste Wert ist ") + at(high) + p.Say(", the lowest ", ", der niedrigste ") + at(low)
	}
	return text
}
