// Package preview shows the message of a step while the model is still writing the step. It has no
// errors and imports agent/contract.
package preview

import (
	"slices"
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
	at      time.Time // time of the most recent attempt to show a piece
	stopped bool
}

// Write takes the next part of the model's answer, and emits what can be shown if enough time has passed since the last
// piece.
func (m *Message) Write(text string) {
	if m.stopped {
		return
	}
	m.pending += m.reader.Write(text)
	now := m.Now()
	if now.Sub(m.at) < showEvery && !now.Before(m.at) {
		return
	}
	m.at = now
	apart := func(c rune) bool { return !isBase64(c) }
	word := strings.LastIndexFunc(m.pending, apart) + 1
	size := len(m.pending) - word
	m.stopped = strings.Contains(m.pending, ";base64,") || size >= mediaWord
	if size < longWord {
		word = len(m.pending)
	}
	ready := m.pending[:word]
	if m.stopped || ready == "" || slices.ContainsFunc(strings.FieldsFunc(ready, apart), func(w string) bool { return len(w) >= mediaWord }) {
		return
	}
	m.Emit(ready, m.offset)
	m.pending = m.pending[word:]
	m.shown.WriteString(ready)
	m.offset += utf8.RuneCountInString(ready)
}

// Shown returns the text shown so far; empty for nil.
func (m *Message) Shown() string {
	if m == nil {
		return ""
	}
	return m.shown.String()
}

func isBase64(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("+/-_=", c)
}
