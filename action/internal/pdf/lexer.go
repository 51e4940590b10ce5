package pdf

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"
)

// The values of a PDF other than float64, bool and nil.
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
	left  int // values that may still be read
	// content is set if two numbers and R are not a reference.
	content bool
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

// skip skips white space and comments.
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

// end reports whether no value is left.
func (l *lexer) end() bool {
	l.skip()
	return l.pos >= len(l.data)
}

// next reads a value. It returns closing brackets as keywords and damage as nil or a keyword, and always consumes at
// least one byte. Beyond the limits it consumes everything.
func (l *lexer) next() any {
	if l.left--; l.left < 0 || l.depth > maxDepth {
		l.pos = len(l.data)
	}
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

var constants = map[string]any{"true": true, "false": false, "null": nil}

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
	if v, ok := constants[string(w)]; ok {
		return v
	}
	return keyword(w)
}

// run reads the bytes up to white space or a delimiter.
func (l *lexer) run() []byte {
	w := l.data[l.pos:]
	if n := bytes.IndexAny(w, " \n\r\t\f\x00()<>[]{}/%"); n >= 0 {
		w = w[:n]
	}
	l.pos += len(w)
	return w
}

// reference looks for "G R" after a whole number.
func (l *lexer) reference(w []byte) (ref, bool) {
	n, err := strconv.Atoi(string(w))
	if err != nil || n < 0 {
		return 0, false
	}
	at := l.pos
	l.skip()
	if gen := l.run(); len(gen) > 0 && len(gen) < 6 && len(bytes.Trim(gen, "0123456789")) == 0 {
		l.skip()
		if string(l.run()) == "R" {
			return ref(n), true
		}
	}
	l.pos = at
	return 0, false
}

func (l *lexer) array() any {
	l.depth++
	defer func() { l.depth-- }()
	out := array{}
	for !l.end() {
		v := l.next()
		k, ok := v.(keyword)
		if k == "]" || k == "endobj" || k == "endstream" {
			break
		}
		if !ok {
			out = append(out, v)
		}
	}
	return out
}

func (l *lexer) dict() any {
	l.depth++
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

// number reads a PDF number. It reads "--5" and "1.2.3", which some writers produce, as far as possible.
func number(w []byte) (float64, bool) {
	if len(w) == 0 || len(w) > 64 {
		return 0, false
	}
	digits := bytes.TrimLeft(w, "+-")
	point := false
	end := bytes.IndexFunc(digits, func(r rune) bool {
		first := r == '.' && !point
		point = point || r == '.'
		return !first && (r < '0' || r > '9')
	})
	if end < 0 {
		end = len(digits)
	} else if digits[end] != '-' && digits[end] != '.' {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(digits[:end]), 64)
	if bytes.IndexByte(w[:len(w)-len(digits)], '-') >= 0 {
		v = -v
	}
	return v, err == nil || len(w) == 1 && end == len(digits)
}

func (l *lexer) name() name {
	l.pos++
	w := l.run()
	if !bytes.ContainsRune(w, '#') {
		return name(w)
	}
	out := make([]byte, 0, len(w))
	for i := 0; i < len(w); i++ {
		c := w[i : i+1]
		if w[i] == '#' && i+2 < len(w) {
			if code, err := hex.DecodeString(string(w[i+1 : i+3])); err == nil {
				c = code
				i += 2
			}
		}
		out = append(out, c...)
	}
	return name(out)
}

// hex reads <48656C6C6F>.
func (l *lexer) hex() text {
	body, _, _ := bytes.Cut(l.data[l.pos+1:], []byte(">"))
	l.pos = min(len(l.data), l.pos+len(body)+2)
	digits := bytes.Map(func(r rune) rune {
		if strings.ContainsRune("0123456789abcdefABCDEF", r) {
			return r
		}
		return -1
	}, body)
	if len(digits)%2 == 1 {
		digits = append(digits, '0')
	}
	out := make(text, len(digits)/2)
	_, _ = hex.Decode(out, digits) // only digits
	return out
}

// literal reads (text with \( escapes \051 and (brackets)).
func (l *lexer) literal() text {
	l.pos++
	out := text{}
	for depth := 1; l.pos < len(l.data); {
		c := l.data[l.pos]
		l.pos++
		switch c {
		case '(':
			depth++
		case ')':
			depth--
			if depth == 0 {
				return out
			}
		case '\\':
			out = l.escape(out)
			continue
		case '\r':
			if l.pos < len(l.data) && l.data[l.pos] == '\n' {
				l.pos++
			}
			c = '\n'
		}
		out = append(out, c)
	}
	return out
}

func (l *lexer) escape(out text) text {
	if l.pos >= len(l.data) {
		return out
	}
	c := l.data[l.pos]
	l.pos++
	if i := strings.IndexByte("nrtbf", c); i >= 0 {
		return append(out, "\n\r\t\b\f"[i])
	}
	switch c {
	case '\n':
		return out
	case '\r':
		if l.pos < len(l.data) && l.data[l.pos] == '\n' {
			l.pos++
		}
		return out
	}
	if c < '0' || c > '7' {
		return append(out, c)
	}
	v := int(c - '0')
	for n := 0; n < 2 && l.pos < len(l.data) && l.data[l.pos] >= '0' && l.data[l.pos] <= '7'; n++ {
		v = v*8 + int(l.data[l.pos]-'0')
		l.pos++
	}
	return append(out, byte(v)) //nolint:gosec // the format drops high bits
}
