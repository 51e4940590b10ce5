package contract

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// MessageReader reads a step's message while the model writes the step. It reads nothing from an answer that begins
// with anything other than a step or a code fence, because that may be thoughts, which may contain drafts.
type MessageReader struct {
	began     bool // the first character of the answer was read
	depth     int
	text      bool   // inside a string
	key       bool   // the next string is a key of the step
	name      []byte // the current key
	inMessage bool   // the current or next string is the message
	slash     bool   // the previous byte escapes this one
	// raw is the part of the message that was read but not decoded; ended reports whether the message has ended.
	raw   []byte
	ended bool
}

// Write takes the next part of the answer and returns the next part of the message.
func (m *MessageReader) Write(text string) string {
	for i := range len(text) {
		switch {
		case m.ended:
		case m.text:
			m.inside(text[i])
		default:
			m.outside(text[i])
		}
	}
	// No incomplete escape, character or placeholder is decoded.
	for cut := m.ready(); cut > 0; cut-- {
		var decoded string
		whole := m.raw[:cut]
		if (cut == len(m.raw) || utf8.RuneStart(m.raw[cut])) && json.Unmarshal(bytes.Join([][]byte{[]byte(`"`), whole, []byte(`"`)}, nil), &decoded) == nil {
			m.raw = bytes.Clone(m.raw[cut:])
			return decoded
		}
		if len(m.raw)-cut > 12 { // longer than a surrogate pair: not an incomplete escape
			break
		}
	}
	return ""
}

func (m *MessageReader) outside(c byte) {
	if !m.began && c > ' ' {
		m.began, m.ended = true, c != '{' && c != '`'
	}
	switch c {
	case '{', '[':
		m.depth++
		m.key, m.inMessage = c == '{' && m.depth == 1, false
	case '}', ']':
		m.depth--
		m.ended = m.depth == 0
	case ',':
		m.key, m.inMessage = m.depth == 1, false
	case ':':
		m.inMessage, m.key = m.key && string(m.name) == "message", false
	case '"':
		m.text = m.depth > 0
		m.name = m.name[:0]
	}
}

func (m *MessageReader) inside(c byte) {
	if !m.slash && c == '"' {
		m.text, m.ended = false, m.inMessage
		return
	}
	m.slash = !m.slash && c == '\\'
	switch {
	case m.inMessage && c < ' ': // a raw line break, which parsing tolerates
		b, _ := json.Marshal(string(rune(c))) // encoding a string cannot fail
		m.raw = append(m.raw, bytes.Trim(b, `"`)...)
	case m.inMessage:
		m.raw = append(m.raw, c)
	case m.key && len(m.name) < 32:
		m.name = append(m.name, c)
	}
}

// ready returns the number of bytes of raw that may be decoded.
func (m *MessageReader) ready() int {
	cut := len(m.raw)
	if m.ended {
		return cut
	}
	if r, size := utf8.DecodeLastRune(m.raw); r == utf8.RuneError && size == 1 { // an incomplete character
		for cut--; cut > 0 && !utf8.RuneStart(m.raw[cut]); cut-- {
		}
	}
	// An incomplete escape waits for its end, a high surrogate for the low one.
	for i := max(0, len(m.raw)-11); i < cut; i++ {
		if e := bytes.ToLower(m.raw[i:]); bytes.HasPrefix(e, []byte(`\u`)) && (len(e) < 6 || e[2] == 'd' && e[3] >= '8' && e[3] <= 'b') {
			cut = i
		}
	}
	if i := bytes.LastIndexByte(m.raw, '$'); i >= 0 && len(m.raw)-i < 64 && !bytes.ContainsAny(m.raw[i:], "} ") {
		cut = min(cut, i)
	}
	return cut
}
