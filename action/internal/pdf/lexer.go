package pdf

import (
	"bytes"
	"strconv"
)

// The values of a PDF beside float64, bool and nil.
type (
	name    string
	text    []byte // a string: bytes in some encoding
	keyword string // an operator, or obj, endobj, R …
	array   []any
	dict    map[name]any
	ref     int // the number of an indirect object; generations are not distinguished
	stream  struct {
		dict dict
		raw  []byte
	}
)

// lexer reads values from bytes.
type lexer struct {
	data  []byte
	pos   int
	depth int
	// content says that two numbers and R are no reference.
	content bool
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func isDelimiter(c byte) bool {
	switch c {
	case '(', ')', '<', '>', '[', ']', '{', '}', '/', '%':
		return true
	}
	return false
}

// skip passes over white space and comments.
func (l *lexer) skip() {
	for l.pos < len(l.data) {
		c := l.data[l.pos]
		switch {
		case c == '%':
			n := bytes.IndexAny(l.data[l.pos:], "\r\n")
			if n < 0 {
				l.pos = len(l.data)
				return
			}
			l.pos += n
		case isSpace(c):
			l.pos++
		default:
			return
		}
	}
}

// end reports whether nothing is left.
func (l *lexer) end() bool {
	l.skip()
	return l.pos >= len(l.data)
}

// next reads a value. Closing brackets come as keywords; damage as nil or a keyword,
// and at least one byte is always used up.
func (l *lexer) next() any {
	if l.end() {
		return nil
	}
	switch c := l.data[l.pos]; c {
	case '/':
		return l.name()
	case '(':
		return l.literal()
	case '<':
		if l.pos+1 < len(l.data) && l.data[l.pos+1] == '<' {
			l.pos += 2
			return l.dict()
		}
		return l.hex()
	case '[':
		l.pos++
		return l.array()
	case '>':
		if l.pos+1 < len(l.data) && l.data[l.pos+1] == '>' {
			l.pos += 2
			return keyword(">>")
		}
		l.pos++
		return keyword(">")
	case ']', '{', '}', ')':
		l.pos++
		return keyword(c)
	}
	return l.word()
}

// word reads a number, a reference, true, false, null or a keyword.
func (l *lexer) word() any {
	w := l.run()
	if f, ok := number(w); ok {
		if !l.content {
			if r, ok := l.reference(w); ok {
				return r
			}
		}
		return f
	}
	switch string(w) {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	return keyword(w)
}

// run takes the bytes up to white space or a delimiter.
func (l *lexer) run() []byte {
	from := l.pos
	for l.pos < len(l.data) && !isSpace(l.data[l.pos]) && !isDelimiter(l.data[l.pos]) {
		l.pos++
	}
	return l.data[from:l.pos]
}

// reference looks for "G R" behind a whole number.
func (l *lexer) reference(w []byte) (ref, bool) {
	n, err := strconv.Atoi(string(w))
	if err != nil || n < 0 {
		return 0, false
	}
	at := l.pos
	l.skip()
	if gen := l.run(); len(gen) > 0 && len(gen) < 6 && isDigits(gen) {
		l.skip()
		if string(l.run()) == "R" {
			return ref(n), true
		}
	}
	l.pos = at
	return 0, false
}

func (l *lexer) array() any {
	if l.depth++; l.depth > maxDepth {
		l.pos = len(l.data)
		return nil
	}
	defer func() { l.depth-- }()
	out := array{}
	for !l.end() {
		v := l.next()
		if k, ok := v.(keyword); ok {
			if k == "]" {
				break
			}
			if k == "endobj" || k == "endstream" {
				break
			}
			continue
		}
		out = append(out, v)
	}
	return out
}

func (l *lexer) dict() any {
	if l.depth++; l.depth > maxDepth {
		l.pos = len(l.data)
		return nil
	}
	defer func() { l.depth-- }()
	out := dict{}
	for !l.end() {
		k := l.next()
		if w, ok := k.(keyword); ok && (w == ">>" || w == "endobj" || w == "stream") {
			break
		}
		key, ok := k.(name)
		if !ok {
			continue
		}
		at := l.pos
		v := l.next()
		if w, ok := v.(keyword); ok {
			l.pos = at // a key without a value
			if w != ">>" {
				l.next()
			}
			continue
		}
		out[key] = v
	}
	return out
}
