package visual

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// describe tells the chart's data in a few sentences.
func describe(c *chart) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s.", c.words().kinds[c.kind], strings.TrimRight(c.Title, ".!? "))
	if c.Subtitle != "" {
		fmt.Fprintf(&b, " %s.", strings.TrimRight(c.Subtitle, ". "))
	}
	if c.parts() {
		c.describeParts(&b)
	} else {
		c.describeSeries(&b)
	}
	if c.reduced != "" {
		b.WriteString(" " + c.reduced)
	}
	return b.String()
}

func (c *chart) describeParts(b *strings.Builder) {
	total := 0.0
	for _, v := range c.series[0].y {
		total += v
	}
	var list []string
	for i, v := range c.series[0].y {
		list = append(list, c.labels[i]+" "+c.local(percent(v/total)))
	}
	fmt.Fprintf(b, c.words().parts, c.amount(total, c.unit), strings.Join(list, ", "))
}

// described is how many series are told one by one.
const described = 6

func (c *chart) describeSeries(b *strings.Builder) {
	for k, v := range c.series {
		if k == described {
			fmt.Fprintf(b, c.words().more, len(c.series)-described, names(c.series[described:]))
			return
		}
		lo, hi, first, last := -1, -1, -1, -1
		for i, y := range v.y {
			if math.IsNaN(y) {
				continue
			}
			if first < 0 {
				first, lo, hi = i, i, i
			}
			last = i
			if y < v.y[lo] {
				lo = i
			}
			if y > v.y[hi] {
				hi = i
			}
		}
		val := func(i int) string { return c.amount(v.y[i], c.unit) }
		name := ""
		if len(c.series) > 1 || v.name != c.Title {
			name = v.name + ": "
		}
		switch {
		case first < 0:
			fmt.Fprintf(b, c.words().none, name)
		case c.kind == kindScatter:
			x0, x1 := spanOf(v.x)
			fmt.Fprintf(b, c.words().points, name, len(v.y), c.xText(x0), c.xText(x1), val(lo), val(hi))
		case first == last || v.y[lo] == v.y[hi]:
			fmt.Fprintf(b, c.words().one, name, val(first), c.where(v, first))
		default:
			fmt.Fprintf(b, c.words().span, name, val(lo), c.where(v, lo), val(hi), c.where(v, hi))
			if c.axis != axisCategory || ordered(c.labels) {
				fmt.Fprintf(b, c.words().fromTo, val(first), c.where(v, first), val(last), c.where(v, last), c.local(change(v.y[first], v.y[last])))
			}
			b.WriteByte('.')
		}
	}
}

// change tells by how much the last value differs from the first: in whole percent, or finer where
// rounding would say that nothing or everything changed.
func change(from, to float64) string {
	if from <= 0 || to < 0 {
		return ""
	}
	p := (to/from - 1) * 100
	if math.Abs(p) > 100_000 {
		return ""
	}
	for places := range 7 {
		text := fmt.Sprintf("%+.*f", places, p)
		if told, err := strconv.ParseFloat(text, 64); err != nil || (told == 0) != (p == 0) || (told == -100) != (to == 0) {
			continue
		}
		return fmt.Sprintf(" (%s%%)", strings.Replace(text, "-", "−", 1))
	}
	return ""
}

func names(list []series) string {
	var out []string
	for _, s := range list {
		out = append(out, s.name)
	}
	return strings.Join(out, ", ")
}

// where names the place of a value.
func (c *chart) where(v series, i int) string {
	if c.axis == axisCategory {
		return c.labels[int(v.x[i])]
	}
	return c.xText(v.x[i])
}

func (c *chart) xText(x float64) string {
	switch c.axis {
	case axisYear:
		return fmt.Sprintf("%.0f", x)
	case axisTime:
		return c.local(dayText(x, c.monthly()))
	default:
		return c.amount(x, "")
	}
}

// monthly reports whether every label is a month rather than a day.
func (c *chart) monthly() bool {
	for _, l := range c.labels {
		if len(l) > 8 || strings.Count(l, "-") > 1 {
			return false
		}
	}
	return true
}

func spanOf(v []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, x := range v {
		lo, hi = min(lo, x), max(hi, x)
	}
	return lo, hi
}
