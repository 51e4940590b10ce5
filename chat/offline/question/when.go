package question

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// timeWords takes the periods of the question, with the words that bound them, and makes
// conditions of them; two periods that are compared stay for the operation.
func (p *plan) timeWords() Reason {
	if why := p.clockWords(); why != "" {
		return why
	}
	var at []int
	for i, x := range p.ps {
		if x.kind == kindTime && x.period.unit != "clock" && !p.used[i] && !(p.near(i, -1) != nil && p.near(i, -1).kind == kindCmp) && !p.betweenNumbers(i) {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return ""
	}
	p.time = p.timeField(at)
	if p.time == nil {
		return ReasonUnknown
	}
	p.resolve(at)
	if len(at) == 2 {
		return p.twoTimes(at[0], at[1])
	}
	if len(at) > 2 {
		return p.manyTimes(at)
	}
	i := at[0]
	x := p.ps[i]
	bound := p.boundBefore(i)
	p.used[i] = true
	if n := p.near(i, -1); n != nil && n.kind == kindUnit && n.to == x.from {
		p.used[i-1] = true // the year 2020
	}
	if n := p.near(i, 1); n != nil && n.kind == kindUnit && x.period.unit != "year" && x.to == n.from {
		p.used[i+1] = true
	}
	f, ok := p.timeFilter(x.period, bound)
	if !ok {
		return ReasonUnknown
	}
	p.filters, p.periods = append(p.filters, f...), append(p.periods, x.period)
	return ""
}

// resolve gives a day without a year, and the ends of a span, the year of the other time,
// else the only year of the table.
func (p *plan) resolve(at []int) {
	year := 0
	for _, i := range at {
		if t := p.ps[i].period; t.year > 0 {
			year = t.year
		}
	}
	low, _ := p.time.Min.(string)
	high, _ := p.time.Max.(string)
	if first, ok := isoPeriod(low[:min(len(low), 10)]); year == 0 && ok && len(high) > 3 && low[:4] == high[:4] {
		year = first.year
	}
	if year == 0 {
		return
	}
	for _, i := range at {
		t := &p.ps[i].period
		bound := p.near(i, -1)
		switch {
		case t.unit == "dayOfYear":
			t.unit, t.year = "day", year
		case t.unit == "monthOfYear" && (len(at) == 2 || bound != nil && bound.kind == kindBound && bound.arg != "from" && bound.arg != "to"):
			t.unit, t.year = "month", year
		case t.unit == "quarterOfYear" && len(at) == 2:
			t.unit, t.year = "quarter", year
		}
	}
}

// betweenNumbers says whether a year stands for a number: between 1000 and 2000.
func (p *plan) betweenNumbers(i int) bool {
	if p.ps[i].period.unit != "year" {
		return false
	}
	for _, step := range []int{-1, -2, -3, 1, 2} {
		if n := p.near(i, step); n != nil && n.kind == kindNum {
			if b := p.near(i, -1); b != nil && (b.arg == "between" || b.kind == kindJoin) {
				return true
			}
		}
	}
	return false
}

// boundBefore takes since, before, after or until in front of a time.
func (p *plan) boundBefore(i int) string {
	for _, step := range []int{-1, -2} {
		n := p.near(i, step)
		if n == nil {
			return ""
		}
		if n.kind == kindBound && !p.used[i+step] {
			p.used[i+step] = true
			switch n.arg {
			case "since", "before", "after", "until":
				return n.arg
			}
			return ""
		}
		if n.kind == kindBy && p.r.ts[n.from].fold == "nach" {
			p.used[i+step] = true
			return "after"
		}
		if n.kind == kindUnit {
			continue
		}
		return ""
	}
	return ""
}

// twoTimes reads a change from one time to another, a comparison of them, or a span.
func (p *plan) twoTimes(i, j int) Reason {
	a, b := p.ps[i].period, p.ps[j].period
	if a.unit == "monthOfYear" && b.unit == "month" {
		a = period{unit: "month", year: b.year, n: a.n} // between January and March 2024
	}
	span := false
	for k := max(0, i-2); k < j; k++ {
		if x := p.ps[k]; x.kind == kindBound || x.kind == kindJoin || x.kind == kindVersus || x.kind == kindBy || x.kind == kindUnit && k > i-2 {
			if x.kind == kindBound && (x.arg == "between" || x.arg == "from" || x.arg == "to" || x.arg == "until" || x.arg == "since") {
				span = true
			}
			p.used[k] = true
		}
	}
	p.used[i], p.used[j] = true, true
	change := p.trend != "" || p.diff || p.versus || p.asks == "change"
	switch {
	case change || !span && a.unit == b.unit:
		p.periods = []period{a, b}
		if later(a, b) && a.year > 0 && b.year > 0 {
			p.periods = []period{b, a}
		}
		return ""
	case span && later(a, b):
		return ReasonUnclear
	case span:
		first, ok := p.timeFilter(a, "since")
		last, ok2 := p.timeFilter(b, "until")
		if !ok || !ok2 {
			return ReasonUnknown
		}
		both := append(first, last...)
		words := p.when(a) + "–" + p.when(b)
		for k := range both {
			both[k].text = words
			words = ""
		}
		p.filters = append(p.filters, both...)
		return ""
	case a.unit == "month" || a.unit == "year" || a.unit == "monthOfYear":
		// 5 March and Monday, March of 2024 in two pieces: both hold.
		first, ok := p.timeFilter(a, "")
		second, ok2 := p.timeFilter(b, "")
		if !ok || !ok2 {
			return ReasonUnknown
		}
		p.filters = append(append(p.filters, first...), second...)
		p.periods = []period{b}
		return ""
	}
	return ReasonUnclear
}

// later says whether a begins after b.
func later(a, b period) bool { return a.first() > b.first() }

// manyTimes reads "in 2021, 2022 and 2023" as the years together by year.
func (p *plan) manyTimes(at []int) Reason {
	var conds [][]filter
	for _, i := range at {
		f, ok := p.timeFilter(p.ps[i].period, "")
		if !ok || p.ps[i].period.unit != p.ps[at[0]].period.unit {
			return ReasonUnclear
		}
		p.used[i] = true
		conds = append(conds, f)
	}
	for k := at[0]; k < at[len(at)-1]; k++ {
		p.used[k] = p.used[k] || p.ps[k].kind == kindJoin
	}
	var texts []string
	for _, c := range conds {
		texts = append(texts, c[0].text)
	}
	p.unit = p.ps[at[0]].period.unit
	p.filters = append(p.filters, filter{field: p.time, text: strings.Join(texts, ", "), cond: func(q *query) string {
		var out []string
		for _, c := range conds {
			out = append(out, c[0].cond(q))
		}
		return "(" + strings.Join(out, " OR ") + ")"
	}})
	return ""
}

// timeField chooses the column of the times: the one that the question names, else the
// only one, else the plain date of the rows.
func (p *plan) timeField(at []int) *field {
	var dates, years []*field
	for _, f := range p.v.fields {
		switch {
		case f.dated():
			dates = append(dates, f)
		case f.yearly(p.r.lex):
			years = append(years, f)
		}
	}
	for i, x := range p.ps {
		if x.kind == kindField && (x.field.dated() || x.field.yearly(p.r.lex)) {
			if a := p.asked(i); a == nil {
				p.used[i] = true
			}
			return x.field
		}
	}
	onlyYears := !slices.ContainsFunc(at, func(i int) bool { return p.ps[i].period.unit != "year" && p.ps[i].period.unit != "span" })
	if f := nearest(years); onlyYears && f != nil && (f.table == 0 || nearest(dates) == nil || nearest(dates).table > 0) {
		return f
	}
	dates = slices.DeleteFunc(dates, func(f *field) bool {
		return slices.ContainsFunc(f.words, func(w word) bool { return besideDates[w.fold] })
	})
	if f := nearest(dates); f != nil {
		return f
	}
	var plain *field
	for _, f := range dates {
		required := 0
		for _, w := range f.words {
			if !w.optional && !slices.Contains(p.v.entity, w.stem) && !slices.ContainsFunc(p.v.entity, func(e string) bool { return p.r.lex.shared(e, w.stem) }) {
				required++
			}
		}
		if required == 0 && f.table == 0 && plain == nil {
			plain = f
		}
	}
	if plain != nil {
		return plain
	}
	if f := p.arrivals(dates); f != nil {
		return f
	}
	return nearest(years)
}

// besideDates are words of dates that stand beside the date of the rows.
var besideDates = folded("due fällig fälligkeit valuta wertstellung wertstellungsdatum updated modified changed geändert exported last letzte letzter deadline frist expiry expires ablauf birth geburtsdatum")

// oneYear says whether the rows are of one year at most, or the question names it.
func (p *plan) oneYear() bool {
	for _, x := range p.ps {
		if x.kind == kindTime {
			return true
		}
	}
	for _, f := range p.v.fields {
		low, _ := f.Min.(string)
		high, _ := f.Max.(string)
		if f.dated() && (len(low) < 4 || len(high) < 4 || low[:4] != high[:4]) || f.yearly(p.r.lex) && f.Distinct > 1 {
			return false
		}
	}
	return true
}

// nearest is the only field of the own table, else the only one at all.
func nearest(fs []*field) *field {
	var own []*field
	for _, f := range fs {
		if f.table == 0 {
			own = append(own, f)
		}
	}
	switch {
	case len(own) == 1:
		return own[0]
	case len(own) == 0 && len(fs) == 1:
		return fs[0]
	}
	return nil
}

// timeFilter keeps the rows of a period, or since, after, before or until it.
func (p *plan) timeFilter(t period, bound string) ([]filter, bool) {
	f := p.time
	text := map[string]string{"": "", "since": p.say("since ", "seit "), "after": p.say("after ", "nach "), "before": p.say("before ", "vor "), "until": p.say("until ", "bis ")}[bound] + p.when(t)
	one := filter{field: f, text: text, period: &t, when: p.inTime(t, bound, text)}
	if f.yearly(p.r.lex) {
		if t.unit != "year" && t.unit != "span" {
			return p.monthOf(t, bound)
		}
		one.cond = func(q *query) string { return bounded(q.col(f), t.first(), t.last(), bound) }
		return []filter{one}, true
	}
	switch t.unit {
	case "dayOfYear":
		return nil, false // of which year
	case "monthOfYear", "quarterOfYear", "halfOfYear", "weekday":
		if bound != "" {
			return nil, false
		}
		one.cond = func(q *query) string {
			switch t.unit {
			case "weekday":
				return fmt.Sprintf("%s = %d", q.bucket(f, "weekday"), t.n)
			case "monthOfYear":
				return fmt.Sprintf("substr(CAST(%s AS TEXT), 6, 2) = '%s'", q.col(f), two(t.n))
			}
			months := 3
			if t.unit == "halfOfYear" {
				months = 6
			}
			return fmt.Sprintf("substr(CAST(%s AS TEXT), 6, 2) BETWEEN '%s' AND '%s'", q.col(f), two(t.n*months-months+1), two(t.n*months))
		}
		return []filter{one}, true
	}
	one.cond = func(q *query) string {
		return bounded(q.date(f, len(t.first())), literal(t.first()), literal(t.last()), bound)
	}
	return []filter{one}, true
}

// inTime is a time as a sentence has it.
func (p *plan) inTime(t period, bound, text string) string {
	switch {
	case bound != "":
		return text
	case t.unit == "weekday":
		return p.say("on ", "am ") + text + p.say("s", "")
	case t.unit == "day":
		return p.say("on ", "am ") + text
	case p.r.lang == German && t.unit == "year":
		return "im Jahr " + text
	}
	return p.say("in ", "im ") + text
}

// bounded compares an expression with the first and the last moment of a period.
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

// monthOf reads a month where the table has a column of years and one of months.
func (p *plan) monthOf(t period, bound string) ([]filter, bool) {
	if t.unit != "month" || bound != "" {
		return nil, false
	}
	for _, f := range p.v.fields {
		if f.table != p.time.table || f.Type != "integer" || !f.named(p.r.lex, "month") {
			continue
		}
		year := p.time
		return []filter{{field: year, text: p.when(t), period: &t, cond: func(q *query) string {
			return fmt.Sprintf("%s = %d AND %s = %d", q.col(year), t.year, q.col(f), t.n)
		}}}, true
	}
	return nil, false
}

var (
	monthsEnglish   = strings.Fields("January February March April May June July August September October November December")
	monthsGerman    = strings.Fields("Januar Februar März April Mai Juni Juli August September Oktober November Dezember")
	weekdaysEnglish = strings.Fields("Sunday Monday Tuesday Wednesday Thursday Friday Saturday")
	weekdaysGerman  = strings.Fields("Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag")
)

// when writes a period for readers.
func (p *plan) when(t period) string { return whenIn(t, p.r.lang) }

func whenIn(t period, lang Language) string {
	months, days := monthsEnglish, weekdaysEnglish
	quarter := "Q"
	if lang == German {
		months, days = monthsGerman, weekdaysGerman
	}
	switch t.unit {
	case "half":
		if lang == German {
			return fmt.Sprintf("%d. Halbjahr %d", t.n, t.year)
		}
		return fmt.Sprintf("H%d %d", t.n, t.year)
	case "quarter":
		return fmt.Sprintf("%s%d %d", quarter, t.n, t.year)
	case "halfOfYear":
		if lang == German {
			return fmt.Sprintf("%d. Halbjahr", t.n)
		}
		return fmt.Sprintf("H%d", t.n)
	case "quarterOfYear":
		return fmt.Sprintf("%s%d", quarter, t.n)
	case "month":
		return fmt.Sprintf("%s %d", months[t.n-1], t.year)
	case "monthOfYear":
		return months[t.n-1]
	case "dayOfYear":
		if lang == German {
			return fmt.Sprintf("%d. %s", t.day, months[t.n-1])
		}
		return fmt.Sprintf("%d %s", t.day, months[t.n-1])
	case "weekday":
		return days[t.n]
	case "day":
		if lang == German {
			return fmt.Sprintf("%d. %s %d", t.day, months[t.n-1], t.year)
		}
		return fmt.Sprintf("%d %s %d", t.day, months[t.n-1], t.year)
	case "span":
		return fmt.Sprintf("%d–%d", t.year, t.until)
	}
	return strconv.Itoa(t.year)
}

// isoPeriod reads 2024, 2024-03, 2024-Q1, 2024-03-31 and 2024-03-31 13:45:00.
func isoPeriod(s string) (period, bool) {
	day, rest, timed := strings.Cut(s, " ")
	if timed && rest != "00:00:00" {
		return period{}, false
	}
	parts := strings.Split(day, "-")
	y, err := strconv.Atoi(parts[0])
	if err != nil || len(parts[0]) != 4 {
		return period{}, false
	}
	if len(parts) == 1 {
		return period{unit: "year", year: y}, true
	}
	if q, ok := strings.CutPrefix(parts[1], "Q"); ok && len(parts) == 2 {
		n, err := strconv.Atoi(q)
		return period{unit: "quarter", year: y, n: n}, err == nil && n >= 1 && n <= 4
	}
	m, err := strconv.Atoi(parts[1])
	if err != nil || m < 1 || m > 12 {
		return period{}, false
	}
	if len(parts) == 2 {
		return period{unit: "month", year: y, n: m}, true
	}
	d, err := strconv.Atoi(parts[2])
	return period{unit: "day", year: y, n: m, day: d}, err == nil && len(parts) == 3
}
