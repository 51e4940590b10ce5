package offline

import (
	"strconv"
	"strings"

	"atelier/chat/offline/question/answer"
	"atelier/chat/offline/question/speech"
	"atelier/internal/pattern"
)

// theTask is the source of the numbers that a task itself states.
const theTask = "the task"

var (
	// pair matches a name with a number: Aster 40 %, Bolt: 35, Cascade (25 %).
	pair = pattern.Lazy(`^\s*(?:and\s+|und\s+)?(.{1,60}?)\s*(?:[:=]|\bhas\b|\bis\b|\bwith\b|\()?\s*(-?[0-9][0-9 ,]*(?:\.[0-9]+)?)\s*(%|percent\b|[A-Za-z$€£/]{1,8})?\)?\s*$`)
	// listBreak separates the pairs of a list.
	listBreak = pattern.Lazy(`[,;]\s+|\s+(?:and|und)\s+`)
	// commaInNumber matches the thousands separator in 1,200.
	commaInNumber = pattern.Lazy(`([0-9]),([0-9]{3})\b`)
	lastName      = pattern.Lazy(`(?i)(?:^|[\s,:])(?:of|by|for|on|von|nach)\s+`)
)

// stated reads the numbers that a task gives: "market share: A 40 %, B 35 %, C 25 %". It
// requires at least two, the least that can be compared.
func stated(task string) (finding, bool) {
	from := wordsFor(task).Say(theTask, "die Aufgabe")
	text := commaInNumber().ReplaceAllString(task, "$1$2")
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '?' || r == '!' }) {
		for _, sentence := range strings.Split(line, ". ") {
			if a, ok := statedIn(strings.TrimRight(sentence, ". ")); ok {
				a.Paths = []string{from}
				return a, true
			}
		}
	}
	return finding{}, false
}

func statedIn(sentence string) (finding, bool) {
	head, list, found := strings.Cut(sentence, ": ")
	if !found {
		return finding{}, false
	}
	if at := lastName().FindAllStringIndex(head, -1); len(at) > 0 {
		if rest := head[at[len(at)-1][1]:]; rest != "" {
			head = rest
		}
	}
	words := strings.Fields(head)
	name := speech.Upper(strings.Join(words[max(0, len(words)-4):], " "))
	c := &answer.Chart{Kind: "bar", Title: name, Series: []answer.Series{{Name: name}}}
	a := finding{Part: theTask, Heading: name, Columns: []string{"", name}, Chart: c}
	var parts []string
	for _, one := range listBreak().Split(list, -1) {
		m := pair().FindStringSubmatch(one)
		if m == nil {
			return finding{}, false
		}
		v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(m[2]), " ", ""), 64)
		if err != nil {
			return finding{}, false
		}
		if m[3] == "percent" {
			m[3] = "%"
		}
		if c.Unit == "" {
			c.Unit = m[3]
		}
		label, written := strings.TrimSpace(m[1]), strings.TrimSpace(m[2])
		if m[3] != "" {
			written += "\u00a0" + m[3]
		}
		c.Labels, c.Series[0].Values = append(c.Labels, label), append(c.Series[0].Values, &v)
		a.Cells = append(a.Cells, []string{label, written})
		parts = append(parts, label+" "+written)
	}
	a.Rows = len(a.Cells)
	a.Sentences = []string{name + ": " + strings.Join(parts, ", ") + "."}
	return a, a.Rows > 1
}
