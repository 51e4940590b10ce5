package pdf

import (
	"bytes"
)

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
