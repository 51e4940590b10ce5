package wire

import "bytes"

// This file discards the rest of a failed item, which is not text.

// drop discards what belongs to a failed item: all of the string if its field is declared to hold media, and only
// base64 in other strings.
func (s *scanner) drop(b []byte) []byte {
	n, known := s.rest(b)
	if !known {
		s.esc = append(s.esc, b[n:]...)
		return nil
	}
	if n == len(b) {
		return nil
	}
	s.state, s.txt = text, textState{}
	switch b[n] {
	case '\n', '\r':
		s.state = cutOff
	case '\\':
		if quote := bytes.IndexByte(b[n:], '"'); quote > 0 && closes(b[n:]) { // the end of a nested string
			s.pass(b[n : n+quote])
			n += quote
		}
	}
	return b[n:]
}

// rest returns the end of the item. known is false if more bytes are needed to decide about those at n.
func (s *scanner) rest(b []byte) (n int, known bool) {
	for n < len(b) {
		k, ends, known := s.restPart(b[n:])
		if !known || ends {
			return n, known
		}
		n += k
	}
	return n, true
}

// restPart reads one character or escape of the discarded text. ends means that the item ends before it.
func (s *scanner) restPart(b []byte) (n int, ends, known bool) {
	switch c := b[0]; {
	case c == '"' || c == '\n' || c == '\r':
		return 0, true, true
	case c == '\\' && s.cand.kind == fieldMedia:
		return s.restSlashes(b)
	case s.cand.kind == fieldMedia || classes[c] != 0 || c == '=':
		return 1, false, true
	case !opens(c):
		return 0, true, true
	}
	_, n, fold, ok := unescape(b)
	switch {
	case ok && n == 0:
		return 0, false, false
	case !ok && b[0] == '%':
		return 1, false, true
	case !ok:
		return 0, true, true
	case !fold:
		return n, false, true
	}
	skip, known := skipFolds(b, false)
	if !known {
		return 0, false, false
	}
	line, _, known := readLine(b[skip:], false)
	return skip, line.chars < sigChars || line.signed(), known
}

// restSlashes distinguishes the quote that ends a string of nested JSON, which has one backslash, from a quote inside a
// string.
func (s *scanner) restSlashes(b []byte) (n int, ends, known bool) {
	for n < len(b) && b[n] == '\\' {
		n++
	}
	switch {
	case n == len(b):
		return n, false, n >= 2*maxSlashes
	case b[n] != '"':
		return n, false, true
	case n%2 == 0:
		return n, false, true
	case s.quoted && n%4 == 1:
		return 0, true, true
	}
	return n + 1, false, true
}

// cutOff handles the input after an item that a raw line break cut off. An event stream that splits an item over
// several lines continues it in the next lines.
func (s *scanner) cutOff(b []byte) []byte {
	const field = "data:"
	breaks := len(b) - len(bytes.TrimLeft(b, "\r\n"))
	s.out = append(s.out, b[:breaks]...)
	s.outer.last = 0
	if b = b[breaks:]; len(b) == 0 {
		return nil
	}
	line := b
	if bytes.HasPrefix(b, []byte(field)) {
		line = bytes.TrimLeft(b[len(field):], " ")
	}
	started, _, known := readLine(line, false)
	switch {
	case !known || len(b) < len(field) && bytes.HasPrefix([]byte(field), b):
		s.esc = append(s.esc, b...)
		return nil
	case started.chars < sigChars:
		s.state = outside
		return b
	}
	s.out = append(s.out, b[:len(b)-len(line)]...)
	s.state = cutLine
	return line
}

// cutLine discards a line of an item that was cut off.
func (s *scanner) cutLine(b []byte) []byte {
	for i, c := range b {
		if classes[c] == 0 && c != '=' && c != '\\' && c != '%' {
			s.state = outside
			if c == '\n' || c == '\r' {
				s.state = cutOff
			}
			return b[i:]
		}
	}
	return nil
}
