package main

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// abbreviations end with a period that ends no sentence. Single letters need no entry.
var abbreviations = []string{
	"e.g", "i.e", "approx", "vs", "dr", "mr", "mrs", "ms", "st", "inc", "ltd", "co", "fig", "incl", "excl", "max", "min", "avg", "dept",
	"nr", "z.b", "d.h", "u.a", "o.ä", "ca", "bzw", "inkl", "exkl", "zzgl", "evtl", "ggf", "sog", "vgl", "str", "tsd", "mio", "mrd", "usw", "prof", "std", "abs", "jan", "feb", "aug", "sept", "okt", "nov", "dez",
}

// closers may stand between the period of a sentence and the space after it.
const closers = "\"'”“’»«)]*_`"

// afterOrdinal matches what follows a German ordinal number: 31. Dezember, 2. Quartal.
var afterOrdinal = regexp.MustCompile(`^(Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Quartal|Halbjahr|Platz|Woche|Tag|Klasse|Etage|Spieltag)`)

// firstTwo returns the first two sentences of a message. A blank line, a heading and a list item end a sentence, too.
func firstTwo(message string) string {
	text := []rune(strings.TrimSpace(strings.ReplaceAll(message, "\r\n", "\n")))
	ended := 0
	for i := range text {
		if !endsSentence(text, i) {
			continue
		}
		if ended++; ended == 2 {
			end := i + 1
			for end < len(text) && strings.ContainsRune(closers, text[end]) {
				end++
			}
			return string(text[:end])
		}
	}
	return string(text)
}

// endsSentence reports whether a sentence ends with the rune at i.
func endsSentence(text []rune, i int) bool {
	rest := text[i+1:]
	if text[i] == '\n' {
		return endsLine(text[:i], rest)
	}
	if !strings.ContainsRune(".!?", text[i]) {
		return false
	}
	for len(rest) > 0 && strings.ContainsRune(closers, rest[0]) {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return true
	}
	if !unicode.IsSpace(rest[0]) {
		return false
	}
	next := strings.TrimSpace(string(rest))
	return text[i] != '.' || next == "" || !pointInside(lastWord(text[:i]), next)
}

// endsLine reports whether the line break between two texts ends a sentence that has no period. A list after a colon
// belongs to the sentence before it.
func endsLine(before, after []rune) bool {
	s := strings.TrimRight(string(before), " \t\n"+closers)
	if len(after) == 0 || s == "" || before[len(before)-1] == '\n' || strings.ContainsAny(s[len(s)-1:], ".!?:,;") {
		return false
	}
	if strings.ContainsRune("-*•", after[0]) {
		paragraph := s[strings.LastIndex(s, "\n\n")+1:]
		return !strings.Contains(paragraph, ":\n")
	}
	line := s[strings.LastIndex(s, "\n")+1:]
	return after[0] == '\n' || after[0] == '#' || after[0] == '|' || strings.HasPrefix(line, "#")
}

func lastWord(text []rune) string {
	from := len(text)
	for from > 0 && !unicode.IsSpace(text[from-1]) && !strings.ContainsRune(`("'„“*_[`, text[from-1]) {
		from--
	}
	return string(text[from:])
}

// pointInside reports whether the period between a word and what follows ends no sentence.
func pointInside(word, next string) bool {
	first := []rune(next)[0]
	letters := []rune(word)
	lower := strings.ToLower(word)
	switch {
	case unicode.IsLower(first):
		return true
	case lower == "no":
		return unicode.IsDigit(first)
	case len(letters) == 1 && unicode.IsLetter(letters[0]):
		return true
	case len(letters) <= 2 && len(letters) > 0 && strings.Trim(word, "0123456789") == "":
		return afterOrdinal.MatchString(next)
	}
	return slices.Contains(abbreviations, lower)
}

// reportText returns the text of a report below its title, with one paragraph per block.
func reportText(page string) (string, error) {
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
			return
		case n.DataAtom == atom.Head || n.DataAtom == atom.H1:
			return
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
		if slices.Contains([]atom.Atom{atom.P, atom.H2, atom.Blockquote, atom.Li, atom.Caption, atom.Tr, atom.Figure}, n.DataAtom) {
			b.WriteString("\n\n")
		}
	}
	walk(root)
	return strings.TrimSpace(b.String()), nil
}
