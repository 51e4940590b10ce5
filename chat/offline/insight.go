package offline

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// insights are the sentences that a table's numbers support, most telling first.
func insights(t *table) []string {
	var out []string
	parts, all := t.split()
	if !t.temporal() {
		if out = comparisons(t, parts); len(out) > 0 {
			return append(out, largestShares(t)...)
		}
		return totalsAndColumns(t)
	}
	if len(parts) > 1 && t.additive() {
		out = append(out, shareShift(parts)...)
	}
	moved := strongest(parts, 3)
	if all != nil {
		moved = append([]line{*all}, moved...)
	}
	for i, l := range moved {
		subject := title(l.Name)
		if i == 0 {
			subject = subjectOf(l, t) // the measure is named once
		}
		if s := trend(l, subject); s != "" {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return totalsAndColumns(t)
	}
	return append(out, largestShares(t)...)
}

// totalsAndColumns is what a table tells that has no time.
func totalsAndColumns(t *table) []string {
	if s := largestShares(t); len(s) > 0 {
		return s
	}
	return columnFacts(t)
}

func largestShares(t *table) []string {
	s := t.shares()
	if len(s) == 0 || !t.additive() {
		return nil
	}
	return []string{fmt.Sprintf("Over the whole table %s is the largest group with %s of %s, followed by %s with %s.",
		s[0].Group, percent(s[0].Share), measureName(t), s[1].Group, percent(s[1].Share))}
}

// comparisons says for each measure which of the names on the axis stand out. What is
// left over, such as Others, is no name.
func comparisons(t *table, parts []line) []string {
	var out []string
	for _, l := range parts[:min(4, len(parts))] {
		u := t.unit(l)
		l.Points = slices.DeleteFunc(slices.Clone(l.Points), func(p point) bool { return leftOver(p.X) })
		low, high, ok := l.extremes()
		switch {
		case !ok || len(l.Points) < 2:
		case *low.Y == *high.Y:
			out = append(out, fmt.Sprintf("%s is the same for all %d: %s.", title(l.Name), len(l.Points), with(*high.Y, u)))
		case t.XCount > 0: // the lowest are not here
			out = append(out, fmt.Sprintf("Of the %s values of %s, %s is highest for %s, at %s.",
				number(float64(t.XCount)), human(t.X), human(l.Name), high.X, with(*high.Y, u)))
		default:
			out = append(out, fmt.Sprintf("%s is highest for %s, at %s, and lowest for %s, at %s.",
				title(l.Name), high.X, with(*high.Y, u), low.X, with(*low.Y, u)))
		}
	}
	return out
}

// leftOver tells a name that stands for everything not named.
func leftOver(name string) bool {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "other", "others", "rest", "the rest", "all others", "(none)":
		return true
	}
	return false
}

func measureName(t *table) string {
	if t.Measure != "" {
		return human(t.Measure)
	}
	return "the total"
}

// trend says in one sentence how one series moved from its first to its last point,
// and where it was most extreme; "" if it has fewer than two points.
func trend(l line, subject string) string {
	first, last, ok := l.ends()
	if !ok {
		return ""
	}
	a, b := *first.Y, *last.Y
	verb, change := "stayed near", ""
	switch {
	case a > 0 && b/a >= 3:
		verb, change = "grew to "+number(b)+" from", fmt.Sprintf(", %s times as much", trim(math.Round(b/a*10)/10))
	case a > 0 && b > a*1.02:
		verb, change = "rose to "+number(b)+" from", fmt.Sprintf(", an increase of %s", percent(b/a-1))
	case a > 0 && b < a*0.98:
		verb, change = "fell to "+number(b)+" from", fmt.Sprintf(", a decrease of %s", percent(1-b/a))
	case a <= 0 && b != a:
		verb = map[bool]string{true: "rose to ", false: "fell to "}[b > a] + number(b) + " from"
	}
	out := fmt.Sprintf("%s %s %s between %s and %s%s", subject, verb, number(a), when(first.X), when(last.X), change)
	low, high, _ := l.extremes()
	if high.X != last.X && high.X != first.X && *high.Y > math.Max(a, b)*1.05 {
		out += fmt.Sprintf("; it peaked at %s in %s", number(*high.Y), when(high.X))
	}
	if low.X != last.X && low.X != first.X && *low.Y < math.Min(a, b)-0.05*math.Abs(math.Min(a, b)) && *low.Y != 0 {
		out += fmt.Sprintf("; it was lowest in %s, at %s", when(low.X), number(*low.Y))
	}
	return out + "."
}

// subjectOf names a series as the subject of a sentence.
func subjectOf(l line, t *table) string {
	m := l.Measure
	if m == "" {
		m = t.Measure
	}
	if m == "" || strings.EqualFold(m, l.Name) || t.GroupBy == "" {
		return title(l.Name)
	}
	return fmt.Sprintf("%s (%s)", title(l.Name), human(m))
}

// shareShift says which group gained and which lost most of the whole.
func shareShift(parts []line) []string {
	type shift struct {
		name        string
		from, to    float64
		first, last string
	}
	var firstSum, lastSum float64
	var shifts []shift
	for _, l := range parts {
		a, b, ok := l.ends()
		if !ok || *a.Y < 0 || *b.Y < 0 {
			return nil
		}
		firstSum, lastSum = firstSum+*a.Y, lastSum+*b.Y
		shifts = append(shifts, shift{l.Name, *a.Y, *b.Y, a.X, b.X})
	}
	same := !slices.ContainsFunc(shifts, func(s shift) bool { return s.first != shifts[0].first || s.last != shifts[0].last })
	if len(shifts) < 2 || firstSum == 0 || lastSum == 0 || !same {
		return nil
	}
	slices.SortStableFunc(shifts, func(a, b shift) int {
		return int(math.Copysign(1, (b.to/lastSum-b.from/firstSum)-(a.to/lastSum-a.from/firstSum)))
	})
	up, down := shifts[0], shifts[len(shifts)-1]
	if up.to/lastSum-up.from/firstSum < 0.02 {
		return nil
	}
	return []string{fmt.Sprintf("The share of %s grew from %s in %s to %s in %s, while %s went from %s to %s.",
		up.name, percent(up.from/firstSum), when(up.first), percent(up.to/lastSum), when(up.last),
		down.name, percent(down.from/firstSum), percent(down.to/lastSum))}
}

// strongest picks the series that changed most in relation to their size.
func strongest(parts []line, most int) []line {
	out := slices.DeleteFunc(slices.Clone(parts), func(l line) bool { return l.Name == "(none)" })
	slices.SortStableFunc(out, func(a, b line) int { return int(math.Copysign(1, move(b)-move(a))) })
	return out[:min(most, len(out))]
}

func move(l line) float64 {
	a, b, ok := l.ends()
	if !ok {
		return -1
	}
	return math.Abs(*b.Y-*a.Y) / (math.Abs(*a.Y) + math.Abs(*b.Y) + 1e-9) * math.Log1p(math.Abs(l.sum()))
}

// columnFacts describes a table that has neither time nor groups.
func columnFacts(t *table) []string {
	var out []string
	for _, c := range t.Columns {
		switch {
		case c.Type == "number" && c.Mean != nil && value(c.Min) == value(c.Max):
			out = append(out, fmt.Sprintf("%s is %s.", title(c.Name), value(c.Max)))
		case c.Type == "number" && c.Mean != nil:
			out = append(out, fmt.Sprintf("%s ranges from %s to %s, with a mean of %s.", title(c.Name), value(c.Min), value(c.Max), number(*c.Mean)))
		case len(c.Top) > 1 && c.Top[0].Count > 1:
			out = append(out, fmt.Sprintf("The most frequent %s is %s (%s), then %s (%s).", human(c.Name), value(c.Top[0].Value),
				count(int(c.Top[0].Count), "row"), value(c.Top[1].Value), count(int(c.Top[1].Count), "row")))
		}
		if len(out) == 5 {
			break
		}
	}
	return out
}

func value(v any) string {
	switch x := v.(type) {
	case float64:
		return number(x)
	case string:
		return x
	}
	return "unknown"
}
