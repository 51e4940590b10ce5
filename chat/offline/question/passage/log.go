package passage

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"atelier/chat/offline/question/speech"
)

// LogSearch returns the regular expression for the lines of a log that a part of a question counts: "how
// many ERROR lines", "how many requests had status 404", "how many payments were declined on 9 May 2024".
// Words are what it searches for, all in one line. Both are empty if the question says more than that. If
// stamped, the counted lines begin with a date and a time, as those of a log in a file of any name do.
func LogSearch(part string, lang speech.Language, stamped bool) (pattern, words string) {
	s := logSearch{Utterance: speech.Utterance{Lex: speech.DefaultLexicon(), Lang: lang, Tokens: speech.Tokens(part, lang)}}
	for i := 0; i < len(s.Tokens); {
		n := s.take(i)
		if n == 0 {
			return "", ""
		}
		i += n
	}
	if !s.counts || s.status && !s.code || len(s.terms) == 0 || len(s.terms) > maxTerms {
		return "", ""
	}
	between := ".*"
	if s.subject {
		between = `[^\]]*` // a failed backup is not a failure that the part [backup] reports
	}
	pattern = anyOrder(s.terms, between)
	if stamped {
		pattern = `^\W?(?:` + cmp.Or(s.day, stamp) + `)[T ,]+\d?\d:\d\d.*` + pattern
	} else if s.day != "" {
		pattern = "(?:" + s.day + ").*" + pattern
	}
	return pattern, strings.Join(s.words, " ")
}

// stamp matches a date as the lines of logs begin with.
const stamp = `\d{4}[-/.]\d\d[-/.]\d\d|\d\d?[./]\d\d?[./]\d\d(?:\d\d)?|\pL{3} +\d\d?|\d\d? \pL{3} \d{4}`

// maxTerms limits the terms that are searched for in one line: they may occur in any order.
const maxTerms = 3

// logSearch collects what a line must contain.
type logSearch struct {
	speech.Utterance
	counts       bool
	status, code bool // the question mentions a status; it says which one
	terms, words []string
	day          string
	subject      bool // the first word says what is counted, another one what happened to it
}

// take reads what begins at a token and returns its number of tokens; 0 means that the
// question says something that no line can show.
func (s *logSearch) take(i int) int {
	t := s.Tokens[i]
	if p, ok := s.PhraseAt(i, speech.KindAsk); ok {
		n, counts := len(p.Words), p.Arg == "many"
		if s.counts = s.counts || counts; counts && i+n < len(s.Tokens) && logActors[s.Tokens[i+n].Fold] {
			return 0 // how many users: not how many lines
		}
		return n
	}
	if p, n := speech.TimeAt(s.Tokens, i); n > 0 && !t.Quoted && s.day == "" && (p.Unit == "day" || p.Unit == "month") {
		month := speech.MonthsEnglish[p.N-1][:3]
		day, plain := `\d\d`, `[ \d]\d`
		if p.Unit == "day" {
			day, plain = speech.TwoDigits(p.Day), strconv.Itoa(p.Day)
		}
		// A day or a month as logs write it.
		s.day = fmt.Sprintf(`\b%d[-/]%s[-/]%s|\b%s/%s/%d|\b%s\.%s\.(?:%d|%02d)\b|^%s +%s\b`, p.Year, speech.TwoDigits(p.N), day, day, month, p.Year, day, speech.TwoDigits(p.N), p.Year, p.Year%100, month, plain)
		s.words = append(s.words, s.Lang.When(p))
		return n
	}
	switch {
	case t.Quoted && i > 0 && s.Tokens[i-1].Quoted && len(s.terms) > 0:
		last := len(s.terms) - 1
		s.terms[last] += `\W+` + regexp.QuoteMeta(t.Raw)
		s.words = append(s.words, t.Raw)
	case t.Quoted:
		s.add(regexp.QuoteMeta(t.Raw), t.Raw)
	case t.Fold == "status" || t.Fold == "code" || t.Fold == "http" || t.Fold == "statuscode":
		s.status = true
	case t.Num != nil && len(t.Raw) == 3 && len(s.terms) == 0:
		s.add(`" `+t.Raw+`(?:\s|$)`, "status "+t.Raw)
		s.status, s.code = true, true
	case t.Num != nil || s.asksMore(t):
		return 0
	case levels[t.Fold] != "":
		s.add(`\b`+levels[t.Fold]+`\b`, strings.ToUpper(strings.TrimSuffix(t.Fold, "s")))
	case logNoise[t.Fold] || s.Lex.Fillers[t.Fold] || s.Empty(t):
	case len(t.Raw) > 2 && t.Raw == strings.ToUpper(t.Raw):
		s.add(`\b`+regexp.QuoteMeta(t.Raw)+`\b`, t.Raw)
	case len(t.Fold) > 3:
		s.subject = s.subject || len(s.terms) == 0 && s.Counted(i)
		s.add(`(?i:\b`+regexp.QuoteMeta(speech.Trunk(strings.ToLower(t.Raw), "ing", "ed", "es", "s", "e"))+`(?:s|es|e|ed|d|t|n|en|ing|ure|ures)?\b)`, t.Raw)
	default:
		return 0
	}
	return 1
}

func (s *logSearch) add(term, word string) {
	s.terms, s.words = append(s.terms, term), append(s.words, word)
}

// asksMore reports whether a word belongs to a question that counting lines does not answer.
func (s *logSearch) asksMore(t speech.Token) bool {
	for _, p := range s.Lex.Phrases[t.Fold] {
		switch p.Kind {
		case speech.KindAgg, speech.KindSup, speech.KindNot, speech.KindMissing, speech.KindUnusable, speech.KindCmp, speech.KindDiff, speech.KindUnit, speech.KindNever, speech.KindMore, speech.KindVersus, speech.KindNone, speech.KindWhole:
			if len(p.Words) == 1 && !logNoise[t.Fold] {
				return true
			}
		case speech.KindBound:
			if p.Arg != "from" && p.Arg != "to" {
				return true
			}
		}
	}
	return false
}

// anyOrder returns a pattern for terms in any order, with a pattern between them.
func anyOrder(terms []string, between string) string {
	if len(terms) == 1 {
		return terms[0]
	}
	var out []string
	for i := range terms {
		rest := append(append([]string{}, terms[:i]...), terms[i+1:]...)
		out = append(out, terms[i]+between+anyOrder(rest, between))
	}
	return "(?:" + strings.Join(out, "|") + ")"
}

var logNoise = speech.Folded("times time occasion occasions line lines entry entries log logs message messages event events request requests anfragen zeile zeilen eintrage eintrag meldungen answered returned responses appear appears there level server application app ended end protokoll enthalt stehen beantwortet")

// logActors are words for things that one line does not stand for.
var logActors = speech.Folded("user users ip ips address addresses host hosts client clients customer customers server servers session sessions people visitor visitors days hours minutes nutzer benutzer adressen kunden tage stunden minuten different unique distinct verschiedene")

var levels = map[string]string{"error": "ERROR", "errors": "ERROR", "fehler": "ERROR", "warning": "WARN(?:ING)?", "warnings": "WARN(?:ING)?", "warn": "WARN(?:ING)?", "warnungen": "WARN(?:ING)?", "fatal": "FATAL", "info": "INFO", "debug": "DEBUG", "critical": "CRITICAL"}
