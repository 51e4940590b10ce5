package question

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// LogSearch is the regular expression for the lines of a log that a part of a question
// counts: "how many ERROR lines", "how many requests had status 404", "how many payments
// were declined on 9 May 2024". Words are what it looks for, all in one line. It is empty
// where the question says more than that.
func LogSearch(part string, lang Language) (pattern, words string) {
	s := logSearch{r: reader{lex: newLexicon(), lang: lang, src: &Source{}}}
	s.r.ts = tokens(part, lang)
	for i := 0; i < len(s.r.ts); {
		n := s.take(i)
		if n == 0 {
			return "", ""
		}
		i += n
	}
	if !s.counts || s.status && !s.code || len(s.terms) == 0 || len(s.terms) > mostTerms {
		return "", ""
	}
	pattern = anyOrder(s.terms)
	if s.day != "" {
		pattern = "(?:" + s.day + ").*" + pattern
	}
	return pattern, strings.Join(s.words, " ")
}

// mostTerms bounds what is looked for in one line: it may stand in any order.
const mostTerms = 3

// logSearch collects what a line must hold.
type logSearch struct {
	r            reader
	counts       bool
	status, code bool // the question says status; it says which
	terms, words []string
	day          string
}

// take reads what stands at a token and gives how many tokens that is; 0 means that the
// question says what no line can show.
func (s *logSearch) take(i int) int {
	r, t := &s.r, s.r.ts[i]
	if p, n := r.countAt(i); n > 0 {
		if s.counts = s.counts || p; p && i+n < len(r.ts) && logActors[r.ts[i+n].fold] {
			return 0 // how many users: not how many lines
		}
		return n
	}
	if p, n := timeAt(r.ts, i); n > 0 && !t.quoted && s.day == "" && (p.unit == "day" || p.unit == "month") {
		s.day = linesOf(p)
		s.words = append(s.words, whenIn(p, r.lang))
		return n
	}
	switch {
	case t.quoted && i > 0 && r.ts[i-1].quoted && len(s.terms) > 0:
		last := len(s.terms) - 1
		s.terms[last] += `\W+` + regexp.QuoteMeta(t.raw)
		s.words = append(s.words, t.raw)
	case t.quoted:
		s.add(regexp.QuoteMeta(t.raw), t.raw)
	case t.fold == "status" || t.fold == "code" || t.fold == "http" || t.fold == "statuscode":
		s.status = true
	case t.num != nil && len(t.raw) == 3 && len(s.terms) == 0:
		s.add(`" `+t.raw+`(?:\s|$)`, "status "+t.raw)
		s.status, s.code = true, true
	case t.num != nil || r.asksMore(t):
		return 0
	case levels[t.fold] != "":
		s.add(`\b`+levels[t.fold]+`\b`, strings.ToUpper(strings.TrimSuffix(t.fold, "s")))
	case logNoise[t.fold] || r.lex.fill[t.fold] || r.empty(t):
	case len(t.raw) > 2 && t.raw == strings.ToUpper(t.raw):
		s.add(`\b`+regexp.QuoteMeta(t.raw)+`\b`, t.raw)
	case len(t.fold) > 3:
		s.add(`(?i:\b`+regexp.QuoteMeta(wordRoot(strings.ToLower(t.raw)))+`(?:s|es|e|ed|d|t|n|en|ing|ure|ures)?\b)`, t.raw)
	default:
		return 0
	}
	return 1
}

func (s *logSearch) add(term, word string) {
	s.terms, s.words = append(s.terms, term), append(s.words, word)
}

// wordRoot is what is common to the forms of a regular verb or noun.
func wordRoot(w string) string {
	for _, end := range []string{"ing", "ed", "es", "s", "e"} {
		if base, ok := strings.CutSuffix(w, end); ok && len(base) > 3 {
			return base
		}
	}
	return w
}

// asksMore says whether a word belongs to a question that counting lines does not answer.
func (r *reader) asksMore(t token) bool {
	for _, p := range r.lex.phrases[t.fold] {
		switch p.kind {
		case kindAgg, kindSup, kindNot, kindMissing, kindUnusable, kindCmp, kindDiff, kindUnit, kindNever, kindMore, kindVersus, kindNone, kindWhole:
			if len(p.words) == 1 && !logNoise[t.fold] {
				return true
			}
		case kindBound:
			if p.arg != "from" && p.arg != "to" {
				return true
			}
		}
	}
	return false
}

// anyOrder is a pattern for terms in any order.
func anyOrder(terms []string) string {
	if len(terms) == 1 {
		return terms[0]
	}
	var out []string
	for i := range terms {
		rest := append(append([]string{}, terms[:i]...), terms[i+1:]...)
		out = append(out, terms[i]+".*"+anyOrder(rest))
	}
	return "(?:" + strings.Join(out, "|") + ")"
}

// linesOf is how logs write a day or a month.
func linesOf(p period) string {
	month := monthsEnglish[p.n-1][:3]
	day, plain := `\d\d`, `[ \d]\d`
	if p.unit == "day" {
		day, plain = two(p.day), strconv.Itoa(p.day)
	}
	return fmt.Sprintf(`\b%d[-/]%s[-/]%s|\b%s/%s/%d|\b%s\.%s\.%d|^%s +%s\b`, p.year, two(p.n), day, day, month, p.year, day, two(p.n), p.year, month, plain)
}

var (
	logNoise = folded("times time occasion occasions line lines entry entries log logs message messages event events request requests anfragen zeile zeilen eintrage eintrag meldungen answered returned responses appear appears there level server application app ended end protokoll enthalt stehen beantwortet")
	// logActors are what one line does not stand for.
	logActors = folded("user users ip ips address addresses host hosts client clients customer customers server servers session sessions people visitor visitors days hours minutes nutzer benutzer adressen kunden tage stunden minuten different unique distinct verschiedene")
	levels    = map[string]string{"error": "ERROR", "errors": "ERROR", "fehler": "ERROR", "warning": "WARN(?:ING)?", "warnings": "WARN(?:ING)?", "warn": "WARN(?:ING)?", "warnungen": "WARN(?:ING)?", "fatal": "FATAL", "info": "INFO", "debug": "DEBUG", "critical": "CRITICAL"}
)

// countAt reads how many at a token, and other words of questions.
func (r *reader) countAt(i int) (counts bool, n int) {
	for _, p := range r.lex.phrases[r.ts[i].fold] {
		if i+len(p.words) > len(r.ts) || p.kind != kindAsk {
			continue
		}
		ok := true
		for k, w := range p.words {
			ok = ok && r.ts[i+k].fold == w
		}
		if ok {
			return p.arg == "many", len(p.words)
		}
	}
	return false, 0
}
