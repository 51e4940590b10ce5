package offline

import (
	"math"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"
)

var stop = strings.Fields(`a about above after again all also although an and any are as at be became because been before
being between both but by can could did do does doing down during each even every few first for from further had has have
having he her here him his how however i if in into is it its itself just like many may me might more most much must my no
nor not now of off on once one only or other our out over own same she should since so some such than that the their them
then there these they this those through to too two under until up us very was we were what when where which while who whom
why will with within without would you your yet create report research include showing please image illustration chart charts`)

// words lists the lower case content words of a text.
func words(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), notWord) {
		if len(w) > 2 && !slices.Contains(stop, w) {
			out = append(out, stem(w))
		}
	}
	return out
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// stem cuts the commonest English endings, enough to match singular and plural.
func stem(w string) string {
	for _, end := range []string{"ies", "ing", "es", "s"} {
		if len(w) > len(end)+3 && strings.HasSuffix(w, end) && !strings.HasSuffix(w, "ss") {
			return strings.TrimSuffix(w, end)
		}
	}
	return w
}

var (
	markdownImage = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	markdownLink  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	// An underscore inside a word is part of it: OPENAI_API_KEY.
	markdownMark = regexp.MustCompile("[*`]{1,3}|\\b_{1,3}\\B|\\B_{1,3}\\b")
	sentenceEnd  = regexp.MustCompile(`([.!?])["')\]]?\s+`)
)

// sentence is one sentence with the heading under which it stands.
type sentence struct {
	Text    string `json:"text"`
	Heading string `json:"heading,omitempty"`
}

// sentences splits prose. Headings, lists, tables and code are not sentences.
func sentences(text string) []sentence {
	var out []sentence
	heading, paragraph, code := "", "", false
	flush := func() {
		for _, s := range splitSentences(paragraph) {
			out = append(out, sentence{Text: s, Heading: heading})
		}
		paragraph = ""
	}
	for _, line := range strings.Split(text, "\n") {
		t := strings.TrimSpace(line)
		if strings.HasPrefix(t, "```") {
			code = !code
			continue
		}
		switch {
		case code:
		case t == "", strings.HasPrefix(t, "|"), strings.HasPrefix(t, "- "), strings.HasPrefix(t, "* "), stepLine.MatchString(t):
			flush()
		case strings.HasPrefix(t, "#"):
			flush()
			heading = strings.TrimSpace(strings.TrimLeft(t, "#"))
		default:
			paragraph += t + " "
		}
	}
	flush()
	return out
}

func splitSentences(p string) []string {
	p = markdownLink.ReplaceAllString(markdownImage.ReplaceAllString(p, ""), "$1")
	p = markdownMark.ReplaceAllString(p, "")
	var out []string
	for p = strings.TrimSpace(p); p != ""; {
		at := sentenceEnd.FindStringIndex(p)
		one := p
		if at != nil {
			one, p = strings.TrimSpace(p[:at[1]]), p[at[1]:]
		} else {
			p = ""
		}
		if n := len(strings.Fields(one)); n >= 5 && n <= 60 {
			out = append(out, one)
		}
	}
	return out
}

// keySentences ranks sentences by the weight of their words in the text, by what
// the task asks and by position, and returns the best in their own order.
func keySentences(text, task string, most int) []sentence {
	all := distinct(sentences(text))
	weight := map[string]float64{}
	for _, s := range all {
		for _, w := range unique(words(s.Text)) {
			weight[w]++
		}
	}
	want := words(task)
	score := make([]float64, len(all))
	for i, s := range all {
		ws := unique(words(s.Text + " " + s.Heading))
		for _, w := range ws {
			score[i] += math.Log1p(weight[w])
			if slices.Contains(want, w) {
				score[i] += 2
			}
		}
		score[i] /= math.Sqrt(float64(len(ws) + 4))
		if i == 0 || all[i-1].Heading != s.Heading {
			score[i] *= 1.15 // the first sentence of a section says what it is about
		}
		if strings.HasSuffix(s.Text, "?") {
			score[i] *= 0.5
		}
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return score[order[a]] > score[order[b]] })
	order = order[:min(most, len(order))]
	sort.Ints(order)
	out := make([]sentence, 0, len(order))
	for _, i := range order {
		out = append(out, all[i])
	}
	return out
}

// distinct leaves out sentences that were said before.
func distinct(all []sentence) []sentence {
	said := map[string]bool{}
	return slices.DeleteFunc(all, func(s sentence) bool {
		again := said[s.Text]
		said[s.Text] = true
		return again
	})
}

func unique(ws []string) []string {
	sorted := slices.Clone(ws)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// clip shortens text at a word.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := strings.ToValidUTF8(s[:most], "")
	if i := strings.LastIndexByte(cut, ' '); i > most/2 {
		cut = cut[:i]
	}
	return cut + "…"
}
