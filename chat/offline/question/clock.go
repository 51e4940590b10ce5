package question

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// hourShape is an hour as questions say it: 6 pm, 8:30 a.m., 18 Uhr; noonShape names one.
var (
	hourShape = regexp.MustCompile(`(?i)\b(\d{1,2})(?:[:.](\d{2}))?\s*(?:(a\.?m\b\.?|p\.?m\b\.?)|(?:Uhr\b|o['’]clock\b))`)
	noonShape = regexp.MustCompile(`(?i)\b(before|after|until|since|by|vor|nach|bis|ab)\s+(?:12\s+)?(?:noon|midday|lunchtime|zwölf Uhr mittags|mittags)\b`)
)

// stillOpen finds what is not paid yet: wie viel Geld steht noch aus.
var stillOpen = regexp.MustCompile(`(?i)(\b(?:steht|stehen|stand|standen)\b.*)\baus(\s*\??)$`)

// clockTimes writes times of day as 18:00.
func clockTimes(s string) string {
	s = noonShape.ReplaceAllString(s, "$1 12:00")
	return hourShape.ReplaceAllStringFunc(s, func(said string) string {
		m := hourShape.FindStringSubmatch(said)
		hour, _ := strconv.Atoi(m[1])
		half := strings.ToLower(strings.ReplaceAll(m[3], ".", ""))
		switch {
		case half != "" && hour > 12 || hour > 23:
			return said
		case half == "pm" && hour < 12:
			hour += 12
		case half == "am" && hour == 12:
			hour = 0
		}
		if m[2] == "" {
			m[2] = "00"
		}
		return two(hour) + ":" + m[2]
	})
}

// clockWords makes conditions of the times of day: before noon, between 8 and 10 o'clock.
func (p *plan) clockWords() Reason {
	var at []int
	for i, x := range p.ps {
		if x.kind == kindTime && x.period.unit == "clock" {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return ""
	}
	f := p.clockField()
	if f == nil {
		return ReasonUnknown
	}
	bounds := []string{p.boundBefore(at[0])}
	if len(at) == 2 && at[1] == at[0]+2 && at[0] > 0 && p.ps[at[0]-1].kind == kindBound {
		bounds = []string{"since", "before"}
		p.used[at[0]-1], p.used[at[0]+1] = true, true
	} else if len(at) > 1 {
		return ReasonUnclear
	}
	for k, i := range at {
		op := map[string]string{"since": ">=", "after": ">=", "before": "<", "until": "<="}[bounds[k]]
		if op == "" {
			return ReasonUnclear // at six: the minute, or the hour
		}
		p.used[i] = true
		p.filters = append(p.filters, clockFilter(f, op, p.ps[i].period))
	}
	return ""
}

// clockFilter compares the time of day of a column.
func clockFilter(f *field, op string, t period) filter {
	said := two(t.n) + ":" + two(t.day)
	return filter{field: f, number: true, text: f.label() + " " + op + " " + said, cond: func(q *query) string {
		if f.dated() {
			return fmt.Sprintf("substr(CAST(%s AS TEXT), 12, 5) %s %s", q.plain(f), op, literal(said))
		}
		c := q.plain(f)
		return fmt.Sprintf("substr('0' || %s, CASE WHEN substr(%s, 2, 1) = ':' THEN 1 ELSE 2 END, 5) %s %s", c, c, op, literal(said))
	}}
}

// clockField is the only column of times of day, else of moments.
func (p *plan) clockField() *field {
	var clocks, moments []*field
	for _, f := range p.v.fields {
		switch {
		case f.table != 0:
		case f.text() && timesOfDay(f):
			clocks = append(clocks, f)
		case f.Type == "datetime":
			moments = append(moments, f)
		}
	}
	if len(clocks) == 1 {
		return clocks[0]
	}
	if len(clocks) == 0 && len(moments) == 1 {
		return moments[0]
	}
	return nil
}

var timeOfDay = regexp.MustCompile(`^(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$`)

// timesOfDay says whether all known values are times of day, under a name that is one of times.
func timesOfDay(f *field) bool {
	return len(f.Values) > 0 && !slices.ContainsFunc(f.Values, func(v any) bool { s, _ := v.(string); return !timeOfDay.MatchString(s) }) &&
		slices.ContainsFunc(f.words, func(w word) bool { return dayTimes[w.fold] })
}

var dayTimes = folded("time uhrzeit zeit beginn start started starttime hour slot arrived arrival departed departure called ankunft abfahrt")
