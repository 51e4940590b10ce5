package question

import (
	"regexp"
	"strings"
)

// LogSearch is the regular expression for the lines of a log that a part of a question
// counts: "how many ERROR lines", "how many requests had status 404". Words are what it
// looks for. It is empty where the question says more than that.
func LogSearch(part string, lang Language) (pattern, words string) {
	r := reader{lex: newLexicon(), lang: lang, src: &Source{}}
	r.ts = tokens(part, lang)
	counts, status := false, false
	for i := 0; i < len(r.ts); i++ {
		t := r.ts[i]
		if p, n := r.countAt(i); n > 0 {
			counts, i = counts || p, i+n-1
			continue
		}
		switch {
		case t.quoted:
			pattern, words = join(pattern, regexp.QuoteMeta(t.raw)), strings.TrimSpace(words+" "+t.raw)
		case t.fold == "status" || t.fold == "code" || t.fold == "http" || t.fold == "statuscode":
			status = true
		case logNoise[t.fold] || r.lex.fill[t.fold] || r.empty(t):
		case pattern != "":
			return "", "" // one thing is looked for
		case t.num != nil && len(t.raw) == 3:
			pattern, words = `" `+t.raw+`(?:\s|$)`, "status "+t.raw
			status = true
		case levels[t.fold] != "":
			pattern, words = `\b`+levels[t.fold]+`\b`, strings.ToUpper(strings.TrimSuffix(t.fold, "s"))
		case len(t.raw) > 2 && t.raw == strings.ToUpper(t.raw) && t.num == nil:
			pattern, words = `\b`+regexp.QuoteMeta(t.raw)+`\b`, t.raw
		default:
			return "", ""
		}
	}
	if !counts || status && !strings.HasPrefix(words, "status ") {
		return "", ""
	}
	return pattern, words
}

func join(pattern, next string) string {
	if pattern == "" {
		return next
	}
	return pattern + `\W+` + next
}

var (
	logNoise = folded("line lines entry entries log logs message messages event events request requests anfragen zeile zeilen eintrage eintrag meldungen answered returned responses appear appears there level server application app ended end protokoll enthalt stehen beantwortet")
	levels   = map[string]string{"error": "ERROR", "errors": "ERROR", "fehler": "ERROR", "warning": "WARN(?:ING)?", "warnings": "WARN(?:ING)?", "warn": "WARN(?:ING)?", "warnungen": "WARN(?:ING)?", "fatal": "FATAL", "info": "INFO", "debug": "DEBUG", "critical": "CRITICAL"}
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
