// Package preview shows the message of a step while the model is still writing the step. It has no
// errors and imports agent/contract.
package preview

import (
	"strings"
	"time"
	"unicode/utf8"

	"atelier/agent/contract"
)

const (
	// showEvery is the minimum time between two pieces; the eye perceives no faster changes.
	showEvery = 40 * time.Millisecond
	// longWord is the maximum length of text without blanks that is shown while it grows. Longer
	// text may be base64 media, which is replaced once the answer is complete.
	longWord = 40
	// mediaWord is the minimum length of text that may contain media.
	mediaWord = 256
)

// Message shows the message of one step in pieces while a model writes it. It stops at the first
// text that may be media. It is not safe for concurrent use.
type Message struct {
	// Emit shows a piece; offset is the number of characters shown before it.
	Emit func(text string, offset int)
	Now  func() time.Time

	reader  contract.MessageReader
	pending string // not yet shown
	shown   strings.Builder
	offset  int
	at      time.Time // time of the most recent piece
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

// Shown returns the text shown so far; empty for nil.
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
	if m.stopped || text == "" || longestBase64Run(text) >= mediaWord {
		return
	}
	m.Emit(text, m.offset)
	m.pending = m.pending[word:]
	m.shown.WriteString(text)
	m.offset += utf8.RuneCountInString(text)
}

// longestBase64Run returns the length of the longest part that may be base64.
func longestBase64Run(text string) (most int) {
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return !isBase64(c) }) {
		most = max(most, len(word))
	}
	return most
}

func isBase64(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("+/-_=", c)
}
