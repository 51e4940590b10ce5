package chart

import (
	"math"
	"time"
)

// scale maps values from lo..hi to pixels from..to.
type scale struct{ lo, hi, from, to float64 }

func (s scale) at(v float64) float64 {
	if s.hi == s.lo {
		return (s.from + s.to) / 2
	}
	return s.from + (v-s.lo)/(s.hi-s.lo)*(s.to-s.from)
}

// tick is a position on an axis and its label.
type tick struct {
	v    float64
	text string
}

// niceStep returns the step of 1, 2, 2.5 or 5 times a power of ten that gives about n ticks.
func niceStep(span float64, n int) float64 {
	raw := span / float64(max(1, n))
	p := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, k := range []float64{1, 2, 2.5, 5} {
		if k*p >= raw*0.999999 {
			return k * p
		}
	}
	return 10 * p
}

// When an axis begins at zero: always, or if the values then leave at most this share of it empty.
const (
	zeroAlways = 1.0
	zeroNear   = 0.4
	zeroClose  = 0.12
)

// valueAxis widens lo..hi to round ends and returns them with the ticks.
func valueAxis(lo, hi, zero float64, n int, unit string) (float64, float64, []tick) {
	if lo > 0 && lo <= hi*zero || hi < 0 && hi >= lo*zero || zero >= 1 || lo == hi {
		lo, hi = min(0, lo), max(0, hi)
	}
	if hi-lo <= math.Abs(hi)*1e-12 {
		pad := max(math.Abs(hi)*0.1, 1e-9)
		if hi == 0 {
			pad = 1
		}
		lo, hi = lo-pad, hi+pad
	}
	step := niceStep(hi-lo, n)
	a, b := math.Floor(lo/step+1e-9), math.Ceil(hi/step-1e-9)
	format := tickFormat(step, max(math.Abs(a*step), math.Abs(b*step)))
	var out []tick
	for i := a; i <= b && len(out) < 50; i++ {
		out = append(out, tick{i * step, withUnit(format(i*step), short(unit))})
	}
	return a * step, b * step, out
}

// placeAxis returns the ticks of an x axis of numbers, years or times within lo..hi.
func placeAxis(kind xAxis, lo, hi float64, n int) []tick {
	if kind == axisTime {
		return timeTicks(lo, hi, n)
	}
	step := 0.0
	for fine := n; fine <= 4*n && (fine == n || within(lo, hi, step) < 2); fine++ { // one tick alone shows no scale
		step = niceStep(max(hi-lo, 1e-9), fine)
		if kind == axisYear {
			step = max(1, math.Floor(step)) // never every two and a half years
		}
	}
	format := tickFormat(step, max(math.Abs(lo), math.Abs(hi)))
	if kind == axisYear {
		format = func(v float64) string { return time.Date(int(v), 1, 1, 0, 0, 0, 0, time.UTC).Format("2006") }
	}
	var out []tick
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+step*1e-9 && len(out) < 60; i++ {
		out = append(out, tick{i * step, format(i * step)})
	}
	return out
}

// within returns the number of multiples of a step from lo to hi.
func within(lo, hi, step float64) int {
	return int(math.Floor(hi/step+1e-9)-math.Ceil(lo/step-1e-9)) + 1
}

// timeTicks returns ticks at the starts of years, months, days, hours or minutes, or on Mondays; lo and hi are days
// since 1970.
func timeTicks(lo, hi float64, n int) []tick {
	days := (hi - lo) / float64(max(1, n))
	switch {
	case days > 200:
		return monthTicks(lo, hi, 12*max(1, int(niceStep(days/365.25*float64(n), n*4/3))), "2006")
	case days > 120:
		return monthTicks(lo, hi, 6, "Jan 2006")
	case days > 50:
		return monthTicks(lo, hi, 3, "Jan 2006")
	case days > 20:
		return monthTicks(lo, hi, 1, "Jan 2006")
	}
	step, layout := 1.0, "2 Jan"
	for _, s := range []float64{1.0 / 1440, 5.0 / 1440, 15.0 / 1440, 1.0 / 24, 3.0 / 24, 6.0 / 24, 12.0 / 24, 1, 2, 7, 14, 28} {
		if step = s; s >= days {
			break
		}
	}
	if step < 1 {
		layout = "2 Jan 15:04"
	}
	const monday = 4 // 5 January 1970
	var out []tick
	for v := math.Ceil((lo-monday)/step-1e-9)*step + monday; v <= hi+1e-6 && len(out) < 60; v += step {
		out = append(out, tick{v, time.Unix(int64(math.Round(v*86400)), 0).UTC().Format(layout)})
	}
	return out
}

// TimeTick is a position on a time axis and its label.
type TimeTick struct {
	At   time.Time
	Text string
}

// TimeTicks returns about n ticks from lo to hi, at the starts of years, months, days, hours or minutes, or on Mondays.
func TimeTicks(lo, hi time.Time, n int) []TimeTick {
	days := func(t time.Time) float64 { return float64(t.Unix()) / 86400 }
	var out []TimeTick
	for _, t := range timeTicks(days(lo), days(hi), n) {
		out = append(out, TimeTick{time.Unix(int64(math.Round(t.v*86400)), 0), t.text})
	}
	return out
}

func monthTicks(lo, hi float64, months int, layout string) []tick {
	t := time.Unix(int64(lo*86400), 0).UTC()
	m := t.Year()*12 + int(t.Month()) - 1
	m -= m % months
	var out []tick
	for ; len(out) < 60; m += months {
		d := float64(time.Date(m/12, time.Month(m%12+1), 1, 0, 0, 0, 0, time.UTC).Unix()) / 86400
		if d > hi+1e-6 {
			break
		}
		if d >= lo-1e-6 {
			out = append(out, tick{d, time.Unix(int64(d*86400), 0).UTC().Format(layout)})
		}
	}
	return out
}
