package offline

import (
	"cmp"
	"strings"

	"atelier/chat/offline/question/answer"
	"atelier/chat/offline/question/speech"
	"atelier/internal/pattern"
)

// theTask is the source of the numbers that a task itself states.
const theTask = "the task"

var (
	// pair matches a name with a number: Aster 40 %, Bolt: 35, Cascade (25 %), Q1 $1,200.
	pair = pattern.Lazy(`^\s*(?:and\s+|und\s+)?(.{1,60}?)(?:\s*[:=(]\s*|\s+(?:(?:has|is|with)\s+)?)([$€£]?)([-−]?)([0-9]{1,3}(?: [0-9]{3})+|[0-9]+(?:[.,'’][0-9]+)*)\s*(%|percent\b|Prozent\b|[A-Za-z$€£/]{1,8})?\)?\s*$`)
	// listBreak separates the pairs of a list.
	listBreak = pattern.Lazy(`[,;]\s+|\s+(?:and|und)\s+`)
	lastName  = pattern.Lazy(`(?i)(?:^|[\s,:])(?:of|by|for|on|von|nach)\s+`)
)

// stated reads the numbers that a task gives: "market share: A 40 %, B 35 %, C 25 %". It
// requires at least two, the least that can be compared.
func stated(task string) (finding, bool) {
	w := wordsFor(task)
	for _, line := range strings.FieldsFunc(task, func(r rune) bool { return r == '\n' || r == '?' || r == '!' }) {
		for _, sentence := range strings.Split(line, ". ") {
			if a, ok := w.statedIn(strings.TrimRight(sentence, ". ")); ok {
				a.Paths = []string{w.Say(theTask, "die Aufgabe")}
				return a, true
			}
		}
	}
	return finding{}, false
}

func (w wording) statedIn(sentence string) (finding, bool) {
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
	a := finding{theTask, answer.Answer{Heading: name, Columns: []string{"", name}, Chart: c}}
	var parts []string
	for _, one := range listBreak().Split(list, -1) {
		m := pair().FindStringSubmatch(one)
		if m == nil {
			return finding{}, false
		}
		v, ok := speech.ParseNumber(strings.ReplaceAll(m[4], " ", ""), w.Language)
		if m[3] != "" {
			v = -v
		}
		unit := cmp.Or(m[2], strings.NewReplacer("percent", "%", "Prozent", "%").Replace(m[5]))
		if c.Unit = cmp.Or(c.Unit, unit); !ok || unit != "" && unit != c.Unit {
			return finding{}, false // numbers of different units share no axis
		}
		label, written := strings.TrimSpace(m[1]), m[2]+m[3]+m[4]
		if m[2] == "" && unit != "" {
			written += "\u00a0" + unit
		}
		c.Labels, c.Series[0].Values = append(c.Labels, label), append(c.Series[0].Values, &v)
		a.Cells = append(a.Cells, []string{label, written})
		parts = append(parts, label+" "+written)
	}
	a.Rows = len(a.Cells)
	a.Sentences = []string{name + ": " + strings.Join(parts, ", ") + "."}
	return a, a.Rows > 1
}
