package offline

import (
	"regexp"
	"strconv"
	"strings"
)

// theTask is the source of what a task itself states.
const theTask = "the task"

var (
	// pair is a name with a number: Aster 40 %, Bolt: 35, Cascade (25 %).
	pair = regexp.MustCompile(`^\s*(?:and\s+)?(.{1,60}?)\s*(?:[:=]|\bhas\b|\bis\b|\bwith\b|\()?\s*(-?[0-9][0-9 ,]*(?:\.[0-9]+)?)\s*(%|percent\b|[A-Za-z$€£/]{1,8})?\)?\s*$`)
	// commaInNumber keeps 1,200 in one piece.
	commaInNumber = regexp.MustCompile(`([0-9]),([0-9]{3})\b`)
	lastName      = regexp.MustCompile(`(?i)(?:^|[\s,:])(?:of|share|shares|by|for)\s+`)
)

// stated reads the numbers that a task gives: "market share: A 40 %, B 35 %, C 25 %".
// Two are the least that can be compared.
func stated(task string) (*table, bool) {
	text := commaInNumber.ReplaceAllString(task, "$1$2")
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '?' || r == '!' }) {
		for _, sentence := range strings.Split(line, ". ") {
			if t, ok := statedIn(strings.TrimRight(sentence, ". ")); ok {
				return t, true
			}
		}
	}
	return nil, false
}

func statedIn(sentence string) (*table, bool) {
	head, list, found := strings.Cut(sentence, ": ")
	if !found {
		return nil, false
	}
	var points []point
	unit := ""
	for _, one := range listBreak.Split(list, -1) {
		m := pair.FindStringSubmatch(one)
		if m == nil {
			return nil, false
		}
		v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(m[2]), " ", ""), 64)
		if err != nil {
			return nil, false
		}
		if unit == "" {
			unit = m[3]
		}
		points = append(points, point{X: strings.TrimSpace(m[1]), Y: &v})
	}
	if len(points) < 2 {
		return nil, false
	}
	if at := lastName.FindAllStringIndex(head, -1); len(at) > 0 {
		if rest := head[at[len(at)-1][1]:]; rest != "" {
			head = rest
		}
	}
	measure := strings.TrimSpace(head)
	if words := strings.Fields(measure); len(words) > 4 {
		measure = strings.Join(words[len(words)-4:], " ")
	}
	if unit == "percent" {
		unit = "%"
	}
	return &table{
		Name: capital(measure), Unit: unit, RowCount: int64(len(points)), X: "name", Aggregation: "none",
		Columns: []column{{Name: "name", Type: "text"}, {Name: measure, Type: "number"}},
		Series:  []line{{Name: measure, Measure: measure, Points: points}},
	}, true
}

// unit is what the values of a series are counted in, as far as its name tells.
func (t *table) unit(l line) string {
	if t.Unit != "" {
		return t.Unit
	}
	n := strings.ToLower(l.Name + " " + l.Measure)
	switch {
	case strings.Contains(n, "percent"), strings.Contains(n, "pct"), strings.Contains(n, "%"):
		return "%"
	case strings.Contains(n, "share") && wholes(l):
		return "%"
	}
	return ""
}

// wholes tells whether the values are percentages of one whole.
func wholes(l line) bool {
	for _, p := range l.Points {
		if p.Y == nil || *p.Y < 0 || *p.Y > 100 {
			return false
		}
	}
	s := l.sum()
	return s > 98.5 && s < 101.5
}

// with writes a value with its unit.
func with(v float64, unit string) string {
	if unit == "" {
		return number(v)
	}
	return number(v) + "\u00a0" + unit
}
