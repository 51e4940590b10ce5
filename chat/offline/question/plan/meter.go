package plan

import (
	"time"

	"atelier/chat/offline/question/speech"
)

// readings are the days of two readings; Or is an alternative day for the second.
type readings struct{ First, Last, Or string }

// decideMeter plans what a counter counted: the difference between two of its readings.
func (p *Plan) decideMeter() Reason {
	p.Op = OpMeter
	if !p.findTime() || !p.Time.Dated() || len(p.Groups)+len(p.attrs) > 0 || p.Target != nil || p.Unit != "" {
		return ReasonUnclear
	}
	if _, ok := p.BetweenReadings(); !ok {
		return ReasonUnclear
	}
	return ""
}

// metered reports whether the question asks how much a counter counted.
func (p *Plan) metered() bool {
	return len(p.Measures) == 1 && p.View.Counter(p.Measures[0].Field) && (p.Asks == "much" || p.Asks == "many" || p.usedUp) && (p.Aggregate == "" || p.Aggregate == "sum") &&
		p.Superlative == nil && !p.share && !p.diff && p.Trend == "" && !p.Measures[0].Field.Balance()
}

// BetweenReadings returns the days of the readings that bound the time of the question.
func (p *conditions) BetweenReadings() (readings, bool) {
	var times []speech.Period
	for i, x := range p.Pieces {
		if x.Kind == speech.KindTime {
			if b := p.near(i, -1); b.Kind == speech.KindBound && (b.Arg == "since" || b.Arg == "before" || b.Arg == "after") {
				return readings{}, false
			}
			times = append(times, x.Period)
		}
	}
	day := func(v any) string {
		s, _ := v.(string)
		return s[:min(len(s), 10)]
	}
	switch len(times) {
	case 0:
		return readings{First: day(p.Time.Min), Last: day(p.Time.Max)}, true
	case 1:
		from, to, ok := days(times[0])
		return readings{First: from, Last: nextDay(to), Or: to}, ok && times[0].Unit != "day"
	case 2:
		from, _, ok := days(times[0])
		_, to, ok2 := days(times[1])
		out := readings{First: from, Last: to}
		if times[1].Unit != "day" {
			out.Last, out.Or = nextDay(to), to
		}
		return out, ok && ok2
	}
	return readings{}, false
}

// days returns the first and the last day of a period.
func days(t speech.Period) (first, last string, ok bool) {
	switch first, last = t.First(), t.Last(); len(first) {
	case len("2006"):
		return first + "-01-01", last + "-12-31", t.Unit == "year" || t.Unit == "span"
	case len("2006-01"):
		end, err := time.Parse("2006-01", last)
		return first + "-01", end.AddDate(0, 1, -1).Format(time.DateOnly), err == nil
	}
	return first, last, t.Unit == "day"
}

func nextDay(day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return t.AddDate(0, 0, 1).Format(time.DateOnly)
}
