package database

import (
	"slices"
	"strings"
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
	s := scanner{text: text, dollars: a.dollars}
	end := len(text)
	for s.next() {
		if s.token == ";" && end == len(text) {
			end = s.from
		} else if s.token != ";" && end < len(text) {
			return "", media.Errorf(media.CodeInvalid, "give one statement at a time: there is more after the semicolon")
		}
	}
	first := strings.ToUpper(s.first)
	switch {
	case first == "":
		return "", media.Errorf(media.CodeInvalid, "the SQL is empty: give one SELECT")
	case s.open:
		return "", media.Errorf(media.CodeInvalid, "the SQL has a quotation mark or comment that is not closed")
	case !slices.Contains(a.words, first) && first != "(":
		return "", media.Errorf(media.CodeForbidden, "the database is read-only: %s is not allowed, use one SELECT", clip(first, 30))
	}
	return text[:end], nil
}

// scanner splits SQL into words, quoted parts and symbols. It skips comments.
type scanner struct {
	text    string
	dollars bool // $tag$ quotes
	pos     int
	from    int
	token   string
	first   string
	open    bool // a quoted part or comment is not closed
}

func (s *scanner) next() bool {
	for s.pos < len(s.text) {
		s.from = s.pos
		rest := s.text[s.pos:]
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r) || r == '\ufeff':
			s.pos += size
			continue
		case strings.HasPrefix(rest, "--"):
			s.pos += until(rest, 2, "\n", false, nil)
			continue
		case strings.HasPrefix(rest, "/*"):
			s.pos += until(rest, 2, "*/", false, &s.open)
			continue
		case r == '\'' || r == '"' || r == '`':
			s.pos += until(rest, 1, string(r), true, &s.open)
		case r == '[' && !s.dollars:
			s.pos += until(rest, 1, "]", false, &s.open)
		case r == '$' && s.dollars && s.dollar(rest):
		case unicode.IsLetter(r) || r == '_':
			n := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
			if n < 0 {
				n = len(rest)
			}
			s.pos += n
		default:
			s.pos += size
		}
		s.token = s.text[s.from:s.pos]
		if s.first == "" && s.token != ";" {
			s.first = s.token
		}
		return true
	}
	return false
}

// until returns the length of a part that begins at 0 and ends with mark. With doubled, a doubled mark does not end it.
// Without an end, until sets open.
func until(s string, from int, mark string, doubled bool, open *bool) int {
	for i := from; ; {
		n := strings.Index(s[i:], mark)
		if n < 0 {
			if open != nil {
				*open = true
			}
			return len(s)
		}
		i += n + len(mark)
		if !doubled || !strings.HasPrefix(s[i:], mark) {
			return i
		}
		i += len(mark)
	}
}

// dollar skips $tag$ … $tag$. It reports whether rest begins with such a tag.
func (s *scanner) dollar(rest string) bool {
	n := strings.IndexByte(rest[1:], '$')
	if n < 0 || strings.ContainsFunc(rest[1:n+1], func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		return false
	}
	s.pos += until(rest, n+2, rest[:n+2], false, &s.open)
	return true
}

// Names returns the words and quoted names of a statement, without their quotation marks.
func Names(text string) (out []string) {
	s := scanner{text: text}
	for s.next() {
		t := s.token
		if r, _ := utf8.DecodeRuneInString(t); len(t) > 2 && strings.ContainsRune("\"`[", r) {
			out = append(out, strings.ReplaceAll(t[1:len(t)-1], string(r)+string(r), string(r)))
		} else if unicode.IsLetter(r) || r == '_' {
			out = append(out, t)
		}
	}
	return out
}
