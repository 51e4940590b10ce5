// Package preview shows the message of a step while the model still writes the step. It has no errors
// and imports agent/contract.
package preview

import (
	"strings"
	"time"
	"unicode/utf8"

	"atelier/agent/contract"
)

const (
	// showEvery is the shortest time between two pieces: the eye does not see more.
	showEvery = 40 * time.Millisecond
	// longWord is how long a piece of text without blanks is shown while it grows: a longer one may
	// be media in base64, which is taken out of the whole answer.
	longWord = 40
	// mediaWord is the length from which a piece may hold media.
	mediaWord = 256
)

// Message shows what a model writes into the message of one step, in pieces. From the first
// thing that may be media on it shows nothing. It is not safe for concurrent use.
type Message struct {
	// Emit shows a piece; offset is how many characters were shown before it.
	Emit func(text string, offset int)
	Now  func() time.Time

	reader  contract.MessageReader
	pending string // not shown yet
	shown   strings.Builder
	offset  int
	at      time.Time // of the newest piece
	stopped bool
}

// Write takes the next part of the model's answer.
func (m *Message) Write(text string) {
	if m.stopped {
		return
	}
	m.pending += m.reader.Write(text)
	if now := m.Now(); now.Sub(m.at) >= showEvery || now.Before(m.at) {
		m.at = now
		m.show()
	}
}

// Shown is the text that was shown; that of nil is empty.
func (m *Message) Shown() string {
	if m == nil {
		return ""
	}
	return m.shown.String()
}

// show emits what can be shown.
func (m *Message) show() {
	word := strings.LastIndexFunc(m.pending, func(c rune) bool { return !isBase64(c) }) + 1
	size := len(m.pending) - word
	m.stopped = m.stopped || strings.Contains(m.pending, ";base64,") || size >= mediaWord
	if size < longWord {
		word = len(m.pending)
	}
	text := m.pending[:word]
	if m.stopped || text == "" || longest(text) >= mediaWord {
		return
	}
	m.Emit(text, m.offset)
	m.pending = m.pending[word:]
	m.shown.WriteString(text)
	m.offset += utf8.RuneCountInString(text)
}

// longest is the length of the longest piece that may be base64.
func longest(text string) (most int) {
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return !isBase64(c) }) {
		most = max(most, len(word))
	}
	return most
}

func isBase64(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("+/-_=", c)
}
