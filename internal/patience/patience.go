// Package patience knows until when a provider asked to be left alone: what one call is asked to
// wait for, others wait for as well, instead of running into the same limit one by one. The
// gateway's calls and those of chat models share how that is counted, and nothing else.
//
// It has no errors and imports the standard library only.
package patience

import (
	"regexp"
	"sync"
	"time"
)

// longest is the most that a provider's wish holds for calls that have not heard it themselves:
// then one of them asks again.
const longest = time.Hour

// dayText names a quota of a day.
var dayText = regexp.MustCompile(`(?i)\bper[ _-]?day\b|PerDay|\b[RT]PD\b|\bdaily (limit|quota)`)

// Daily reports whether a provider's message says that a quota of a day is used up. A wait that it
// asks for is kept once at most: providers name seconds there, too.
func Daily(message string) bool { return dayText.MatchString(message) }

// Waits are the times until which a provider asked not to be called. The zero value is ready: nobody
// asked. It is safe for concurrent use.
type Waits struct {
	mu    sync.Mutex // guards until
	until map[string]time.Time
}

// Ask notes that from now on a model, or with an empty name all of the provider's, is left alone for
// some time, an hour at most. What was asked before holds on where it is longer.
func (w *Waits) Ask(model string, now time.Time, d time.Duration) {
	end := now.Add(min(d, longest))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.until == nil {
		w.until = map[string]time.Time{}
	}
	if w.until[model].Before(end) {
		w.until[model] = end
	}
}

// End is when a model may be called; the zero time if nobody asked.
func (w *Waits) End(model string) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, own := w.until[""], w.until[model]
	if own.After(all) {
		return own
	}
	return all
}

// Remaining tells how long a call of a model has still to wait, and until when; nothing for one that has
// waited until then.
func (w *Waits) Remaining(model string, now, waited time.Time) (remaining time.Duration, until time.Time) {
	until = w.End(model)
	if until.Equal(waited) {
		return 0, until
	}
	return max(0, until.Sub(now)), until
}
