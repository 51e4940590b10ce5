package chart

import (
	"math"
	"strconv"
	"strings"
)

// Grouped formats a number with all its digits as charts of a language do: 1,234.5, or 1.234,5 in German.
func Grouped(v float64, language string) string {
	if a := math.Abs(v); a >= 1e15 || a < 1e-4 {
		return locale(language).amount(v, "")
	}
	return locale(language).local(groupDigits(strconv.FormatFloat(math.Abs(v), 'f', -1, 64), v < 0))
}

// grouped formats a number with thousands separators: four significant digits below 1, two decimals
// below 100, one below 10,000, none above, without trailing zeros.
func grouped(v float64) string {
	a := math.Abs(v)
	if v == 0 {
		return "0"
	}
	if a >= 1e15 || a < 1e-4 {
		return powers(v, 3)
	}
	dec := 0
	switch {
	case a < 1:
		dec = 3 - int(math.Floor(math.Log10(a)))
	case a < 100:
		dec = 2
	case a < 10_000:
		dec = 1
	}
	return groupDigits(trimZeros(strconv.FormatFloat(a, 'f', dec, 64)), v < 0)
}

// powers formats a number with a power of ten, 1.99 × 10³⁰, with at most dec decimals.
func powers(v float64, dec int) string {
	if v == 0 {
		return "0"
	}
	m, e, _ := strings.Cut(strconv.FormatFloat(math.Abs(v), 'e', dec, 64), "e")
	n, _ := strconv.Atoi(e) // FormatFloat writes a whole number
	up := strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").Replace(strconv.Itoa(n))
	out := trimZeros(m) + " × 10" + up
	if v < 0 {
		out = "−" + out
	}
	return out
}

func trimZeros(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

func groupDigits(s string, neg bool) string {
	whole, frac, dot := strings.Cut(s, ".")
	var b strings.Builder
	if neg && strings.Trim(s, "0.") != "" {
		b.WriteString("−")
	}
	for i, r := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	if dot {
		b.WriteString("." + frac)
	}
	return b.String()
}

// withUnit formats a value with its unit as people write it: $5, 12%, 3 GWh.
func withUnit(num, unit string) string {
	switch unit {
	case "":
		return num
	case "%":
		return num + "%"
	case "$", "€", "£", "¥", "US$":
		if neg, ok := strings.CutPrefix(num, "−"); ok {
			return "−" + unit + neg
		}
		return unit + num
	}
	return num + " " + unit
}

// short returns a unit that fits on every tick, and "" for all others.
func short(unit string) string {
	switch unit {
	case "%", "$", "€", "£", "¥", "US$":
		return unit
	}
	return ""
}

// tickFormat returns one format for all ticks of an axis: plain below 10,000 and with k, M, B or T above.
func tickFormat(step, most float64) func(float64) string {
	div, suffix := 1.0, ""
	for _, s := range []struct {
		v float64
		s string
	}{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "k"}} {
		if most >= 10*s.v || s.v > 1e3 && most >= s.v {
			div, suffix = s.v, s.s
			break
		}
	}
	if most >= 1e16 || most < 1e-4 {
		return func(v float64) string { return powers(v, 2) }
	}
	dec := 0
	if st := step / div; st < 1 {
		dec = min(8, int(math.Ceil(-math.Log10(st)-1e-9)))
	}
	if st := step / div * math.Pow10(dec); math.Abs(st-math.Round(st)) > 1e-6 {
		dec++
	}
	return func(v float64) string {
		if v == 0 {
			return "0"
		}
		return groupDigits(strconv.FormatFloat(math.Abs(v/div), 'f', dec, 64), v < 0) + suffix
	}
}
