package contract

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
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
	ready := len(m.raw)
	if i := bytes.LastIndexByte(m.raw, '$'); !m.ended && i >= 0 && len(m.raw)-i < 64 && !bytes.ContainsAny(m.raw[i:], "} ") {
		ready = i // an incomplete placeholder waits for its end
	}
	// So does an incomplete character or escape, which is at most as long as a surrogate pair.
	for cut := ready; cut > 0 && ready-cut <= 12; cut-- {
		var decoded string
		err := json.Unmarshal(slices.Concat([]byte(`"`), m.raw[:cut], []byte(`"`)), &decoded)
		if err == nil && (m.ended || !strings.HasSuffix(decoded, string(utf8.RuneError))) {
			m.raw = bytes.Clone(m.raw[cut:])
			return decoded
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
