// Package patience tracks until when a provider asked not to be called. A wait that one call is
// asked for applies to other calls as well, so that they do not run into the same limit one by one.
// The gateway's calls and those of chat models share only this implementation, not the waits.
//
// It has no errors and imports only the standard library.
package patience

import (
	"regexp"
	"sync"
	"time"
)

// maxWait is the maximum time for which a provider's request applies to other calls: after that,
// one of them tries again.
const maxWait = time.Hour

// dayText matches the name of a daily quota.
var dayText = regexp.MustCompile(`(?i)\bper[ _-]?day\b|PerDay|\b[RT]PD\b|\bdaily (limit|quota)`)

// Daily reports whether a provider's message says that a daily quota is used up. Such a request to
// wait is followed at most once, because providers name seconds there too.
func Daily(message string) bool { return dayText.MatchString(message) }

// Waits holds the times until which a provider asked not to be called. The zero value is ready to
// use and has no waits. It is safe for concurrent use.
type Waits struct {
	mu    sync.Mutex // guards until
	until map[string]time.Time
}

// Ask records that a model, or all models of the provider if the name is empty, must not be called
// for some time, at most an hour. A longer earlier wait stays in effect.
func (w *Waits) Ask(model string, now time.Time, d time.Duration) {
	end := now.Add(min(d, maxWait))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.until == nil {
		w.until = map[string]time.Time{}
	}
	if w.until[model].Before(end) {
		w.until[model] = end
	}
}

// End returns when a model may be called; the zero time if there is no wait.
func (w *Waits) End(model string) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, own := w.until[""], w.until[model]
	if own.After(all) {
		return own
	}
	return all
}

// Remaining returns how long a call of a model still has to wait, and until when. It returns 0 for
// a call that has already waited until that time.
func (w *Waits) Remaining(model string, now, waited time.Time) (remaining time.Duration, until time.Time) {
	until = w.End(model)
	if until.Equal(waited) {
		return 0, until
	}
	return max(0, until.Sub(now)), until
}
