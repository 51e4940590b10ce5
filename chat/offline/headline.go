package offline

import (
	"regexp"
	"strconv"
	"strings"
)

// headline makes a title of a task.
func headline(task string) string {
	t := negated.ReplaceAllString(strings.TrimSpace(task), "")
	if i := strings.IndexAny(t, "?!\n"); i > 0 {
		t = strings.TrimSpace(t[:i+1])
	} else if i := strings.Index(t, ". "); i > 0 {
		t = t[:i]
	}
	t = strings.TrimRight(t, ".! ")
	if short := makeIt.ReplaceAllString(t, ""); short != "" {
		t = short
	}
	if at := reportOn.FindStringIndex(t); at != nil && at[1] < len(t) {
		t = t[at[1]:]
	} else if short := leadVisual.ReplaceAllString(t, ""); short != "" {
		t = short
	}
	if short := withVisual.ReplaceAllString(t, ""); short != "" {
		t = short
	}
	if short := strings.TrimSpace(strings.TrimSuffix(t, " report")); short != "" && !kindOfWork.MatchString(t) {
		t = short
	}
	if kindOfWork.MatchString(t) {
		return ""
	}
	t = beforeChain(article.ReplaceAllString(t, ""))
	return capital(clip(strings.Trim(t, " .!:,"), 120))
}

// beforeChain leaves out parts that a task spells out with arrows: they are no title.
func beforeChain(t string) string {
	at := arrow.FindStringIndex(t)
	if at == nil {
		return t
	}
	words := strings.Fields(t[:at[0]])
	return strings.TrimRight(strings.Join(words[:max(0, len(words)-1)], " "), " :,")
}

// capital begins a text with a capital and leaves the rest as it is.
func capital(s string) string {
	for i, r := range s {
		return s[:i] + strings.ToUpper(string(r)) + s[i+len(string(r)):]
	}
	return s
}

var countDigits = regexp.MustCompile(`(?i)\b([1-9][0-9]{0,2})(?:\s*(?:-|–|to|or)\s*([1-9][0-9]{0,2}))?\s+(?:[a-z-]+\s+){0,3}(?:image|picture|photo|illustration|drawing|painting|variant|variation|version)s?\b`)

var countWords = map[string]int{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12}

// pictures reads how many pictures are asked for: "two illustrations", "2-3 images",
// "two or three pictures". Of two numbers the greater counts; without one it is one.
func pictures(task string) int {
	if m := countDigits.FindStringSubmatch(task); m != nil {
		n, err := strconv.Atoi(m[1])
		if more, err2 := strconv.Atoi(m[2]); err2 == nil {
			n = more
		}
		if err == nil {
			return n
		}
	}
	words := strings.Fields(strings.ToLower(task))
	best := 0
	for i, w := range words {
		n, ok := countWords[strings.TrimRight(w, ",")]
		next := strings.Join(words[i:min(i+6, len(words))], " ")
		if ok && (wantsPicture.MatchString(next) || variation.MatchString(next)) {
			best = max(best, n)
		}
	}
	if best > 0 {
		return best
	}
	return 1
}
