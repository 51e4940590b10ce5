package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

func describe(c *chart) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s.", c.locale.say(string(c.kind)), strings.TrimRight(c.Title, ".!? "))
	if c.Subtitle != "" {
		fmt.Fprintf(&b, " %s.", strings.TrimRight(c.Subtitle, ". "))
	}
	if c.parts() {
		total := 0.0
		for _, v := range c.series[0].y {
			total += v
		}
		var list []string
		for i, v := range c.series[0].y {
			list = append(list, c.labels[i]+" "+c.locale.local(percent(v/total)))
		}
		fmt.Fprintf(&b, c.locale.say("parts"), c.locale.amount(total, c.unit), strings.Join(list, ", "))
	} else {
		c.describeSeries(&b)
	}
	if c.reduced != "" {
		b.WriteString(" " + c.reduced)
	}
	return b.String()
}

// described is the maximum number of series that are described one by one.
const described = 6

func (c *chart) describeSeries(b *strings.Builder) {
	d := c.full
	for k, v := range d.series {
		if k == described {
			var names []string
			for _, s := range d.series[described:] {
				names = append(names, s.name)
			}
			fmt.Fprintf(b, c.locale.say("more"), len(names), strings.Join(names, ", "))
			return
		}
		given := v.given()
		val := func(i int) string { return c.locale.amount(v.y[i], c.unit) }
		name := ""
		if len(d.series) > 1 || v.name != c.Title {
			name = v.name + ": "
		}
		if len(given) == 0 {
			fmt.Fprintf(b, c.locale.say("none"), name)
			continue
		}
		byValue := func(a, b int) int { return cmp.Compare(v.y[a], v.y[b]) }
		lo, hi := slices.MinFunc(given, byValue), slices.MaxFunc(given, byValue)
		switch first, last := given[0], given[len(given)-1]; {
		case c.kind == kindScatter:
			x0, x1 := spanOf(slices.Values(v.pick(given).x))
			fmt.Fprintf(b, c.locale.say("points"), name, len(given), d.xText(x0), d.xText(x1), val(lo), val(hi))
		case first < last && v.y[lo] == v.y[hi]:
			fmt.Fprintf(b, c.locale.say("even"), name, val(first))
		case first == last:
			fmt.Fprintf(b, c.locale.say("one"), name, val(first), d.where(v, first))
		default:
			fmt.Fprintf(b, c.locale.say("span"), name, val(lo), d.where(v, lo), val(hi), d.where(v, hi))
			if d.axis != axisCategory || ordered(d.labels) {
				rate := change(v.y[first], v.y[last])
				if c.unit == "%" || strings.HasPrefix(c.unit, "°") {
					rate = "" // a percentage of percentages or degrees would mislead
				}
				fmt.Fprintf(b, c.locale.say("from to"), val(first), d.where(v, first), val(last), d.where(v, last), c.locale.local(rate))
			}
			b.WriteByte('.')
		}
	}
}

// change returns the change from the first value to the last in whole percent, or with more
// decimals if rounding would suggest that nothing or everything changed.
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
		if rounded, err := strconv.ParseFloat(text, 64); err != nil || (rounded == 0) != (p == 0) || (rounded == -100) != (to == 0) {
			continue
		}
		return fmt.Sprintf(" (%s%%)", strings.Replace(text, "-", "−", 1))
	}
	return ""
}
