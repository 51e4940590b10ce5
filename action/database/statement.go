package database

import (
	"cmp"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"atelier/media"
)

// statement checks that text is one query and returns it without the semicolon and what follows. The check only
// provides good messages; the protection is the read-only connection.
func statement(text string, a about) (string, error) {
	if len(text) > maxSQL {
		return "", media.Errorf(media.CodeInvalid, "the SQL is longer than %d kB: shorten it", maxSQL>>10)
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", media.Errorf(media.CodeInvalid, "the SQL is not valid text")
	}
	end, first, open := len(text), "", false
	for t := range tokens(text, a.dollars) {
		switch {
		case t.text == ";" && end == len(text):
			end = t.at
		case t.text != ";" && end < len(text):
			return "", media.Errorf(media.CodeInvalid, "give one statement at a time: there is more after the semicolon")
		case t.text != ";":
			first = cmp.Or(first, strings.ToUpper(t.text))
		}
		open = open || t.open
	}
	switch {
	case first == "":
		return "", media.Errorf(media.CodeInvalid, "the SQL is empty: give one SELECT")
	case open:
		return "", media.Errorf(media.CodeInvalid, "the SQL has a quotation mark or comment that is not closed")
	case !slices.Contains(a.words, first) && first != "(":
		return "", media.Errorf(media.CodeForbidden, "the database is read-only: %s is not allowed, use one SELECT", clip(first, 30))
	}
	return text[:end], nil
}

// token is a word, a quoted part or a symbol of SQL. It is open if the quoted part, or a comment, is not closed.
type token struct {
	text string
	at   int
	open bool
}

// parts returns what matches a comment, a quoted part, a word or a symbol at the start of a text. A mark that begins a part
// and does not end it is a symbol.
func parts(quoted string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:\s+|--[^\n]*|(?s:/\*.*?\*/)|/\*|'(?:[^']|'')*'|"(?:[^"]|"")*"|` + "`(?:[^`]|``)*`" + `|[\pL_][\pL\p{Nd}_]*|` + quoted + `|(?s:.))`)
	})
}

// The parts of the dialects: square brackets quote in SQLite, $tag$ in PostgreSQL.
var (
	partsSQLite   = parts(`\[[^\]]*\]`)
	partsPostgres = parts(`\$[\pL\p{Nd}_]*\$`)
)

// tokens splits SQL and skips comments. dollars reports whether $tag$ quotes.
func tokens(text string, dollars bool) iter.Seq[token] {
	parts := partsSQLite()
	if dollars {
		parts = partsPostgres()
	}
	return func(yield func(token) bool) {
		for at := 0; at < len(text); {
			t := token{text: parts.FindString(text[at:]), at: at}
			at += len(t.text)
			switch t.text {
			case "'", `"`, "`", "/*":
				t.open = true
			case "[":
				t.open = !dollars
			}
			if dollars && len(t.text) > 1 && t.text[0] == '$' {
				n := strings.Index(text[at:], t.text)
				t.open = n < 0
				at += max(0, n) + len(t.text)
			}
			comment := strings.HasPrefix(t.text, "--") || strings.HasPrefix(t.text, "/*") && !t.open
			space := strings.TrimSpace(t.text) == "" || t.text == "\ufeff"
			if !comment && !space && !yield(t) || t.open {
				return
			}
		}
	}
}

// Names returns the words and quoted names of a statement, without their quotation marks.
func Names(text string) (out []string) {
	for t := range tokens(text, false) {
		switch r, _ := utf8.DecodeRuneInString(t.text); {
		case len(t.text) > 2 && strings.ContainsRune("\"`[", r):
			out = append(out, strings.ReplaceAll(t.text[1:len(t.text)-1], string(r)+string(r), string(r)))
		case unicode.IsLetter(r) || r == '_':
			out = append(out, t.text)
		}
	}
	return out
}
