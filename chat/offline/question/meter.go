package question

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// readings are two days, and what the reading of the second may stand on instead.
type readings struct{ first, last, or string }

// decideMeter settles what a counter counted: the difference of two of its readings.
func (p *plan) decideMeter() Reason {
	p.op = opMeter
	if p.time == nil {
		p.time = p.timeField(nil)
	}
	if p.time == nil || !p.time.dated() || len(p.groups)+len(p.attrs) > 0 || p.target != nil || p.unit != "" {
		return ReasonUnclear
	}
	if _, ok := p.betweenReadings(); !ok {
		return ReasonUnclear
	}
	return ""
}

// metered says whether the question asks how much a counter counted.
func (p *plan) metered() bool {
	return len(p.measures) == 1 && p.counter(p.measures[0].field) && (p.asks == "much" || p.asks == "many" || p.usedUp) && (p.agg == "" || p.agg == "sum") &&
		p.sup == nil && !p.share && !p.diff && p.trend == "" && !p.v.balance(p.measures[0].field)
}

// balance says whether a column is how much there is, not how much was counted.
func (v *view) balance(f *field) bool {
	name := fold(f.Name)
	return slices.ContainsFunc([]string{"kontost", "balance", "saldo", "solde"}, func(s string) bool { return strings.Contains(name, s) })
}

// betweenReadings are the days of the readings that bound the time of the question.
func (p *plan) betweenReadings() (readings, bool) {
	var times []period
	for i, x := range p.ps {
		if x.kind == kindTime {
			if b := p.near(i, -1); b != nil && b.kind == kindBound && (b.arg == "since" || b.arg == "before" || b.arg == "after") {
				return readings{}, false
			}
			times = append(times, x.period)
		}
	}
	day := func(v any) string {
		s, _ := v.(string)
		return s[:min(len(s), 10)]
	}
	switch len(times) {
	case 0:
		return readings{first: day(p.time.Min), last: day(p.time.Max)}, true
	case 1:
		from, _, ok := days(times[0])
		_, to, _ := days(times[0])
		return readings{first: from, last: nextDay(to), or: to}, ok && times[0].unit != "day"
	case 2:
		from, _, ok := days(times[0])
		_, to, ok2 := days(times[1])
		out := readings{first: from, last: to}
		if times[1].unit != "day" {
			out.last, out.or = nextDay(to), to
		}
		return out, ok && ok2
	}
	return readings{}, false
}

// days are the first and the last day of a period of one year.
func days(t period) (first, last string, ok bool) {
	first, last = t.first(), t.last()
	switch t.unit {
	case "day":
	case "month", "quarter", "half":
		end, err := time.Parse("2006-01", last)
		if err != nil {
			return "", "", false
		}
		first, last = first+"-01", end.AddDate(0, 1, -1).Format(time.DateOnly)
	case "year", "span":
		first, last = first+"-01-01", last+"-12-31"
	default:
		return "", "", false
	}
	return first, last, true
}

func nextDay(day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return t.AddDate(0, 0, 1).Format(time.DateOnly)
}

// ownFilters are the conditions that are no times.
func (p *plan) ownFilters() []filter {
	return slices.DeleteFunc(slices.Clone(p.filters), func(f filter) bool { return f.field == p.time })
}

// meterSQL is the difference of two readings, with both and how many stand on their days.
func (p *plan) meterSQL(q *query) string {
	r, _ := p.betweenReadings()
	f, d := q.col(p.measures[0].field), q.date(p.time, 10)
	on := func(how, day string) string {
		return fmt.Sprintf("%s(CASE WHEN %s = %s THEN %s END)", how, d, literal(day), f)
	}
	last, count := on("MAX", r.last), on("COUNT", r.last)
	if r.or != "" {
		last = "COALESCE(" + last + ", " + on("MAX", r.or) + ")"
		count = "CASE WHEN " + count + " > 0 THEN " + count + " ELSE " + on("COUNT", r.or) + " END"
	}
	return fmt.Sprintf("SELECT %s - %s AS %s, %s AS %s, %s AS %s, %s AS %s, %s AS %s", last, on("MAX", r.first), ident(p.say("difference", "Differenz")),
		on("MAX", r.first), ident(p.say("first reading", "erster Stand")), last, ident(p.say("last reading", "letzter Stand")),
		on("COUNT", r.first), ident(p.say("first readings", "erste Stände")), count, ident(p.say("last readings", "letzte Stände"))) + q.from(p.ownFilters())
}

// sayMeter states the difference of two readings.
func (p *plan) sayMeter(a *Answer) Reason {
	row := a.Result.Rows[0]
	diff, ok := at(row, 0)
	n0, _ := at(row, 3)
	n1, _ := at(row, 4)
	if !ok || n0 == 0 || n1 == 0 {
		return ReasonEmpty
	}
	if n0 > 1 || n1 > 1 || diff < 0 {
		return ReasonAmbiguous // several meters, or one that was changed
	}
	v0, _ := at(row, 1)
	v1, _ := at(row, 2)
	f := p.measures[0].field
	a.Heading = upper(f.label())
	a.Sentences = []string{fmt.Sprintf(p.say("The reading of %s%s went from %s to %s: %s", "Der Stand von %s%s ging von %s auf %s: %s"), p.named(f), p.conds(), p.amount(v0, f), p.amount(v1, f), p.amount(diff, f)) + "."}
	return ""
}
