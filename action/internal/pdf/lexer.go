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
	ref     int // the number of an indirect object; generations are not told apart
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

// end tells whether nothing is left.
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

func isDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// number reads what PDF calls one; "--5" and "1.2.3", which writers produce, are
// read as far as they go.
func number(w []byte) (float64, bool) {
	if len(w) == 0 || len(w) > 64 || w[0] != '-' && w[0] != '+' && w[0] != '.' && (w[0] < '0' || w[0] > '9') {
		return 0, false
	}
	sign, i := 1.0, 0
	for i < len(w) && (w[i] == '-' || w[i] == '+') {
		if w[i] == '-' {
			sign = -1
		}
		i++
	}
	value, scale, digits := 0.0, 0.0, 0
	for ; i < len(w); i++ {
		switch c := w[i]; {
		case c >= '0' && c <= '9':
			digits++
			if scale > 0 {
				value += float64(c-'0') * scale
				scale /= 10
			} else {
				value = value*10 + float64(c-'0')
			}
		case c == '.' && scale == 0:
			scale = 0.1
		case c == '-' || c == '.':
			return sign * value, digits > 0
		default:
			return 0, false
		}
	}
	return sign * value, digits > 0 || len(w) == 1
}

func (l *lexer) name() name {
	l.pos++
	w := l.run()
	if !bytes.ContainsRune(w, '#') {
		return name(w)
	}
	out := make([]byte, 0, len(w))
	for i := 0; i < len(w); i++ {
		if w[i] == '#' && i+2 < len(w) && hexValue(w[i+1]) >= 0 && hexValue(w[i+2]) >= 0 {
			out = append(out, byte(hexValue(w[i+1])<<4|hexValue(w[i+2]))) //nolint:gosec // two digits fit a byte
			i += 2
			continue
		}
		out = append(out, w[i])
	}
	return name(out)
}

// hexValue is a digit's value or -1.
func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// hex reads <48656C6C6F>.
func (l *lexer) hex() text {
	l.pos++
	out, half := text{}, -1
	for l.pos < len(l.data) {
		c := l.data[l.pos]
		l.pos++
		if c == '>' {
			break
		}
		v := hexValue(c)
		switch {
		case v < 0:
		case half < 0:
			half = v
		default:
			out = append(out, byte(half<<4|v)) //nolint:gosec // two digits fit a byte
			half = -1
		}
	}
	if half >= 0 {
		out = append(out, byte(half<<4)) //nolint:gosec // one digit
	}
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
	switch c {
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
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
	return append(out, byte(v)) //nolint:gosec // high bits are dropped, as the format says
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
